/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What clients' paths stand for. What a user sends is in an area of his own, by his identity, which clients know as
 * /var/config/rest/downloads and /tmp, the same here; archives are in one for all, /var/local/ucs.
 */
#ifndef WEIR_REST_REST_FILES_H
#define WEIR_REST_REST_FILES_H

#include "files/files.h"
#include "rest/rest_call.h"

#define REST_FILES_QUOTA (256u << 20)	 /* bytes of a user */
#define REST_FILES_ALL (1024u << 20)	 /* of all users */
#define REST_FILES_EACH 256u		 /* files of a user */
#define REST_ARCHIVES_QUOTA (512u << 20) /* bytes */
#define REST_FILES_PATH "/var/config/rest/downloads/"
#define REST_ARCHIVES_PATH "/var/local/ucs/"
#define REST_ARCHIVES_AREA "all"

struct rest_file {
	struct files *files;
	const char *area, *name; /* live as long as user and path */
};

/* Makes the places for files below dir; NULL: none are taken. -ENOMEM. */
int rest_files_init(struct rest *rest, const char *dir);
void rest_files_fini(struct rest *rest);

/* Removes the files of users who are gone; looks once in ten seconds at most. */
void rest_files_keep(struct rest *rest, const struct rest_backend *backend);

/* The file that a path names, "file:" may be before it. False, and why: there can be none. */
bool rest_file_find(const struct rest *rest, const char *user, const char *path,
	struct rest_file *file, char why[FILES_REASON_MAX]);

/* A plain name of an archive, its folder may be before it. */
bool rest_archive_find(const struct rest *rest, const char *path, struct rest_file *file,
	char why[FILES_REASON_MAX]);

/* The text of one of the user's own, to be freed; larger than max is -EFBIG. Archives are -EACCES. */
int rest_file_read(const struct rest *rest, const char *user, const char *path, size_t max,
	char **text, size_t *length, char why[FILES_REASON_MAX]);

#endif
