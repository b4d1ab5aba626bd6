/* SPDX-License-Identifier: BSD-3-Clause */
/* Runs a fuzz target once on every file of a corpus folder: "fuzz_NAME FOLDER". */
#include <dirent.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

/* Exactly as large as the file, so that a sanitizer sees a read behind its end. */
static int replay_file(const char *path)
{
	FILE *f = fopen(path, "rb");
	uint8_t *data;
	long len;

	if (!f)
		return -errno;
	fseek(f, 0, SEEK_END);
	len = ftell(f);
	rewind(f);
	data = len < 0 ? NULL : malloc((size_t)len ? (size_t)len : 1);
	if (!data || fread(data, 1, (size_t)len, f) != (size_t)len) {
		free(data);
		fclose(f);
		return -EIO;
	}
	fclose(f);
	LLVMFuzzerTestOneInput(data, (size_t)len);
	free(data);
	return 0;
}

int main(int argc, char **argv)
{
	char path[4096];
	struct dirent *entry;
	unsigned files = 0;
	DIR *dir = argc == 2 ? opendir(argv[1]) : NULL;

	if (!dir) {
		fprintf(stderr, "usage: %s FOLDER (of a corpus)\n", argv[0]);
		return 2;
	}
	while ((entry = readdir(dir))) {
		if (entry->d_name[0] == '.')
			continue;
		snprintf(path, sizeof(path), "%s/%s", argv[1], entry->d_name);
		int r = replay_file(path);
		if (r < 0) {
			fprintf(stderr, "%s: %s\n", path, strerror(-r));
			return 1;
		}
		files++;
	}
	closedir(dir);
	printf("%u inputs\n", files);
	return files ? 0 : 1; /* an empty corpus tests nothing */
}
