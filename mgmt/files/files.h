/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Files that clients send and fetch. Each user has an area of his own, a folder of plain files with plain names:
 * no folders, no links, nothing that begins with a dot. What is not complete yet has no name.
 * All functions may be called by any number of threads. They return 0 or a negative errno and give the reason.
 */
#ifndef WEIR_FILES_FILES_H
#define WEIR_FILES_FILES_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FILES_NAME_MAX 128u   /* bytes */
#define FILES_REASON_MAX 256u /* bytes of a reason, with its NUL */

struct files;

struct files_limits {
	uint64_t area_bytes; /* of one user's area */
	uint64_t all_bytes;
	unsigned area_files;
};

/* A piece of a file: bytes start to end of total; end is the last one's place. */
struct files_range {
	uint64_t start, end, total;
};

/* dir is made when it is first needed. NULL: no memory. */
struct files *files_new(const char *dir, const struct files_limits *limits);
void files_free(struct files *f);

/* Letters, digits and a few marks, none that means something to a path or a shell; no dot or dash first. */
bool files_name_ok(const char *name);

/* "0-99/100" as clients write Content-Range, "bytes 0-99/100" too. Its order is not checked. */
bool files_range_parse(const char *text, struct files_range *range);

/*
 * Takes the next piece; the first begins at 0 and may replace a file of that name or start it anew. When the
 * last one is there the file has its name. -EINVAL: a wrong name or piece, -EDQUOT: it does not fit.
 */
int files_put(struct files *f, const char *user, const char *name, const struct files_range *range,
	const void *data, bool *complete, char reason[FILES_REASON_MAX]);

/* The whole file at once, by what writes it; seen by nobody before. */
int files_write(struct files *f, const char *user, const char *name,
	int (*write)(void *ctx, int fd, char reason[FILES_REASON_MAX]), void *ctx,
	char reason[FILES_REASON_MAX]);

/* A descriptor to read it, and its size. -ENOENT: there is none. */
int files_open(struct files *f, const char *user, const char *name, uint64_t *size,
	char reason[FILES_REASON_MAX]);

/* The whole text, NUL-terminated, to be freed. -EFBIG: it has more than max bytes. */
int files_read(struct files *f, const char *user, const char *name, size_t max, char **data,
	size_t *length, char reason[FILES_REASON_MAX]);

int files_remove(
	struct files *f, const char *user, const char *name, char reason[FILES_REASON_MAX]);

/* To another name or area, of another struct files too; what has that name is replaced. */
int files_move(struct files *from, const char *user, const char *name, struct files *to,
	const char *to_user, const char *to_name, char reason[FILES_REASON_MAX]);

/* Names of the areas there are, as an array; NULL: no memory. An unreadable place has none. */
json_t *files_areas(struct files *f);

/* Removes an area with all that is in it; nothing happens if there is none. */
void files_forget(struct files *f, const char *user);

/* Array of {"name", "size", "modified": seconds since 1970}, by name; NULL: no memory or unreadable. */
json_t *files_list(struct files *f, const char *user);

#endif
