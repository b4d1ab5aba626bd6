/* SPDX-License-Identifier: BSD-3-Clause */
/* The startup file: weir.conf, which people edit too. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "store/atomic_file.h"
#include "store/difference.h"
#include "store/store_internal.h"

#define DIFFERENCE_LINES 200u

static int saved_note(struct store *s, const struct model *m)
{
	struct record r = {.type = RECORD_SAVED,
		.generation = model_generation(m),
		.author = "",
		.address = "",
		.what = ""};

	return store_log_add(s, &r, true);
}

int store_startup_loaded(struct store *s, const struct model *m, const char *data, size_t length)
{
	int rc = file_replace(s->startup, data, length, 0600);

	return rc ? rc : saved_note(s, m);
}

/* Whether the file at path is not what we read or wrote last. */
static int startup_changed(const struct store *s, const char *path, struct text *difference)
{
	char *now = NULL, *known = NULL;
	size_t now_length, known_length = 0;
	int rc = file_read(path, &now, &now_length);

	if (rc == -ENOENT)
		return 0;
	if (rc)
		return rc;
	rc = file_read(s->startup, &known, &known_length);
	if (rc == 0 && (now_length != known_length || memcmp(now, known, now_length)))
		rc = -EEXIST;
	else if (rc == -ENOENT)
		rc = -EEXIST;
	if (rc == -EEXIST && difference)
		difference_lines(known ? known : "", now, DIFFERENCE_LINES, difference);
	free(now);
	free(known);
	return rc;
}

int store_save(struct store *s, const struct model *m, const char *path, bool force,
	struct text *difference)
{
	struct text text = {0};
	int rc = force ? 0 : startup_changed(s, path, difference);

	if (rc)
		return rc;
	model_print(m, 0, &text);
	if (text.failed)
		rc = -ENOMEM;
	else
		rc = file_replace(path, text.data ? text.data : "", text.len, 0640);
	if (rc == 0)
		rc = file_replace(s->startup, text.data ? text.data : "", text.len, 0600);
	text_fini(&text);
	return rc ? rc : saved_note(s, m);
}
