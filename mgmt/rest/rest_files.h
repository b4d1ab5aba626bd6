/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Files that clients send before they name them: each user has an area of his own, of plain names alone, with a
 * quota. Clients know it as /var/config/rest/downloads and /tmp, which are the same here.
 */
#ifndef WEIR_REST_REST_FILES_H
#define WEIR_REST_REST_FILES_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define REST_FILE_MAX (64u << 20)     /* bytes */
#define REST_FILES_QUOTA (256u << 20) /* bytes of a user */
#define REST_FILES_EACH 256u	      /* of a user */
#define REST_FILES_PATH "/var/config/rest/downloads/"

/* The plain name that a client's path stands for ("file:" may be before it). NULL: there is none. */
const char *rest_file_name(const char *path);

/*
 * dir: of all areas; NULL: there are none, -EOPNOTSUPP. Names are plain. All give 0 or -errno: -EDQUOT more than
 * the user may have, -EFBIG, -ENOENT.
 */

/* Bytes of a file that has size in the end, at offset; they come in order: -ERANGE. */
int rest_file_write(const char *dir, const char *user, const char *name, uint64_t offset,
	uint64_t size, const char *bytes, size_t length);

/* *text is NUL-terminated behind its length, to be freed. max: bytes; larger is -EFBIG. */
int rest_file_read(const char *dir, const char *user, const char *name, size_t max, char **text,
	size_t *length);

int rest_file_remove(const char *dir, const char *user, const char *name);
int rest_file_rename(const char *dir, const char *user, const char *from, const char *to);

/* An array of names in order; a new reference. NULL: no memory. */
json_t *rest_file_list(const char *dir, const char *user);

#endif
