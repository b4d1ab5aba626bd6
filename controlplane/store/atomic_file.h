/* SPDX-License-Identifier: BSD-3-Clause */
/* Whole files: read, and replaced so that a crash leaves the old or the new one, never half of it. */
#ifndef WEIR_STORE_ATOMIC_FILE_H
#define WEIR_STORE_ATOMIC_FILE_H

#include <stddef.h>
#include <sys/types.h>

#define FILE_LENGTH_MAX (1u << 30)

/* Reads path; *data (NUL behind it, to be freed) and *length. 0 or -errno. */
int file_read(const char *path, char **data, size_t *length);

/*
 * Writes a new file beside path, flushes it to the disk, renames it to path and flushes the folder. An
 * existing file's permissions are kept, a new one gets mode; of a symbolic link, the file that it names is
 * replaced. 0 or -errno; path is untouched then.
 */
int file_replace(const char *path, const void *data, size_t length, mode_t mode);

/* write(2) until all is written. 0 or -errno. */
int file_write_all(int fd, const void *data, size_t length);

/* Flushes the folder that path lies in. 0 or -errno. */
int file_sync_folder(const char *path);

#endif
