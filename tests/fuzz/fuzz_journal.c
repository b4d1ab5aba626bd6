/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A journal of any content: a start, readers both ways, verify and an append end, and what is appended can be read.
 * The first byte says which files get the rest: one segment, two, with head, with incidents.
 */
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "event/journal.h"
#include "event/journal_scan.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char dir[] = "/tmp/fuzz_journal.XXXXXX";
static char buf[JOURNAL_SLICE];

static void put(const char *name, const uint8_t *data, size_t size)
{
	char path[400];

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	unlink(path);
	int fd = data ? open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600) : -1;
	if (fd < 0)
		return;
	if (write(fd, data, size) != (ssize_t)size)
		abort();
	close(fd);
}

static bool all_read(const struct journal_store *s, bool back)
{
	struct journal_filter filter = {.level = -1};
	struct journal_place at = back ? journal_store_end(s) : journal_store_begin(s);
	bool found = false;
	ssize_t n;

	while ((n = journal_store_read(s, &at, back, buf))) {
		const char *line = buf, *end;

		for (; n > 0 && (end = memchr(line, '\n', (size_t)(buf + n - line)));
			line = end + 1) {
			uint64_t seq;
			json_t *row =
				journal_filter_take(&filter, line, (size_t)(end - line), &seq);

			found |= row && seq == journal_store_newest(s);
			json_decref(row);
		}
	}
	return found;
}

static void clean(void)
{
	char name[64];

	for (uint64_t n = 0; n < 64; n++) {
		snprintf(name, sizeof(name), "%020" PRIu64 ".log", n);
		put(name, NULL, 0);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const uint8_t key[JOURNAL_KEY_BYTES] = {1};
	struct journal_verify verify;
	struct journal j;

	if (!size || (dir[strlen(dir) - 1] == 'X' && !mkdtemp(dir)))
		return 0;
	clean();
	put("00000000000000000001.log", data + 1, size - 1);
	put("00000000000000000009.log", data[0] & 1 ? data + 1 : NULL, size - 1);
	put("head", data[0] & 2 ? data + 1 : NULL, size - 1);
	put("incidents", data[0] & 4 ? data + 1 : NULL, size - 1);
	if (journal_open(&j, dir, key, NULL, NULL))
		abort();
	if (!all_read(j.store, false) || !all_read(j.store, true))
		abort();
	journal_verify_begin(j.store, &verify);
	while (journal_verify_step(j.store, &verify, buf))
		;
	journal_close(&j);
	clean();
	return 0;
}
