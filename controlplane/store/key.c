/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "store/atomic_file.h"
#include "store/store.h"

static int key_make(const char *path, uint8_t key[MODEL_KEY_BYTES])
{
	if (getrandom(key, MODEL_KEY_BYTES, 0) != MODEL_KEY_BYTES)
		return -EIO;
	return file_replace(path, key, MODEL_KEY_BYTES, 0600);
}

int store_key(const char *folder, uint8_t key[MODEL_KEY_BYTES], bool *made)
{
	char *path, *data = NULL;
	size_t length;
	int rc;

	*made = false;
	if (asprintf(&path, "%s/machine-key", folder) < 0)
		return -ENOMEM;
	rc = file_read(path, &data, &length);
	if (rc == -ENOENT) {
		*made = true;
		rc = key_make(path, key);
	} else if (rc == 0 && length == MODEL_KEY_BYTES) {
		memcpy(key, data, MODEL_KEY_BYTES);
	} else if (rc == 0) {
		rc = -EBADMSG;
	}
	if (data)
		explicit_bzero(data, length);
	free(data);
	free(path);
	return rc;
}
