/* SPDX-License-Identifier: BSD-3-Clause */
/* What a receiver of incidents has told, in a file of its own. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>

#include "base/log.h"
#include "notify/alert.h"
#include "store/atomic_file.h"

static int token_make(struct alert *a)
{
	uint64_t random;

	if (getrandom(&random, sizeof(random), 0) != sizeof(random))
		return -EIO;
	snprintf(a->token, sizeof(a->token), "%016llx", (unsigned long long)random);
	return 0;
}

/* A name of letters and digits for each name of a receiver. */
static int path_make(struct alert *a)
{
	const char *name = receiver_name(a->receiver);
	int at = snprintf(a->path, sizeof(a->path), "%s/alert", receiver_state_dir(a->receiver));

	if (at < 0 || (size_t)at >= sizeof(a->path) || (mkdir(a->path, 0700) && errno != EEXIST))
		return errno ? -errno : -ENAMETOOLONG;
	a->path[at++] = '/';
	for (const unsigned char *p = (const unsigned char *)name; *p; p++) {
		bool plain = (*p >= '0' && *p <= '9') || (*p >= 'a' && *p <= 'z') ||
			     (*p >= 'A' && *p <= 'Z');

		if ((size_t)at + 4 >= sizeof(a->path))
			return -ENAMETOOLONG;
		at += snprintf(
			a->path + at, sizeof(a->path) - (size_t)at, plain ? "%c" : "_%02x", *p);
	}
	a->path[at] = 0;
	return 0;
}

static int state_take(struct alert *a, const char *data, size_t length)
{
	json_t *state = json_loadb(data, length, 0, NULL);
	const char *token = json_string_value(json_object_get(state, "token"));
	int rc = token && strlen(token) == sizeof(a->token) - 1
			 ? digest_load(&a->digest, json_object_get(state, "digest"))
			 : -EINVAL;

	if (rc == 0)
		snprintf(a->token, sizeof(a->token), "%s", token);
	json_decref(state);
	return rc;
}

int alert_state_load(struct alert *a)
{
	char *data = NULL;
	size_t length;
	int rc = path_make(a);

	if (rc == 0)
		rc = file_read(a->path, &data, &length);
	if (rc == 0)
		rc = state_take(a, data, length);
	free(data);
	if (rc && rc != -ENOENT)
		log_error("%s: %s: %s", receiver_name(a->receiver), a->path, strerror(-rc));
	if (rc == -EINVAL || rc == -ENOENT)
		rc = token_make(a);
	a->saved_seq = a->digest.seen;
	return rc;
}

int alert_state_save(struct alert *a)
{
	json_t *state =
		json_pack("{s:s,s:o}", "token", a->token, "digest", digest_save(&a->digest));
	char *text = state ? json_dumps(state, JSON_COMPACT) : NULL;
	int rc = text ? file_replace(a->path, text, strlen(text), 0600) : -ENOMEM;

	free(text);
	json_decref(state);
	if (rc) {
		log_error("%s: %s: %s", receiver_name(a->receiver), a->path, strerror(-rc));
		return rc;
	}
	a->dirty = false;
	a->saved_seq = a->digest.seen;
	return 0;
}
