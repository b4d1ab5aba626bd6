/* SPDX-License-Identifier: BSD-3-Clause */
#include "rest/rest_files.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define NAME_LENGTH_MAX 128u

static bool is_plain(const char *name)
{
	static const char letters[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
		"._-+=@";
	size_t n = strlen(name);

	return n > 0 && n <= NAME_LENGTH_MAX && *name != '.' && *name != '-' &&
	       strspn(name, letters) == n;
}

const char *rest_file_name(const char *path)
{
	static const char *const places[] = {REST_FILES_PATH, "/tmp/"};

	if (!strncmp(path, "file:", 5))
		path += 5;
	while (!strncmp(path, "//", 2))
		path++;
	for (size_t i = 0; i < sizeof(places) / sizeof(*places); i++)
		if (!strncmp(path, places[i], strlen(places[i]))) {
			path += strlen(places[i]);
			break;
		}
	return is_plain(path) ? path : NULL;
}

/* The user's directory, made if it is missing. */
static int area_open(const char *dir, const char *user)
{
	char name[300];
	int all, own;

	if (!dir)
		return -EOPNOTSUPP;
	if (strchr(user, '/') || snprintf(name, sizeof(name), "user-%s", user) >= (int)sizeof(name))
		return -EINVAL;
	all = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (all < 0)
		return -errno;
	if (mkdirat(all, name, 0700) && errno != EEXIST) {
		own = -errno;
	} else {
		own = openat(all, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		own = own < 0 ? -errno : own;
	}
	close(all);
	return own;
}

struct usage {
	uint64_t bytes;
	unsigned files;
};

/* What the user has, but for one file. */
static int area_usage(int area, const char *but, struct usage *out)
{
	int fd = openat(area, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *d = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *entry;
	struct stat st;

	*out = (struct usage){0};
	if (!d) {
		if (fd >= 0)
			close(fd);
		return -errno;
	}
	while ((entry = readdir(d))) {
		if (*entry->d_name == '.' || !strcmp(entry->d_name, but) ||
			fstatat(area, entry->d_name, &st, AT_SYMLINK_NOFOLLOW))
			continue;
		out->bytes += (uint64_t)st.st_size;
		out->files++;
	}
	closedir(d);
	return 0;
}

static int may_begin(int area, const char *name, uint64_t size)
{
	struct usage usage;
	int rc = area_usage(area, name, &usage);

	if (rc)
		return rc;
	return usage.bytes + size > REST_FILES_QUOTA || usage.files >= REST_FILES_EACH ? -EDQUOT
										       : 0;
}

static int write_all(int fd, const char *bytes, size_t length)
{
	while (length > 0) {
		ssize_t n = write(fd, bytes, length);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		bytes += n;
		length -= (size_t)n;
	}
	return 0;
}

static int piece_write(
	int area, const char *name, uint64_t offset, const char *bytes, size_t length)
{
	int flags = O_WRONLY | O_NOFOLLOW | O_CLOEXEC | O_APPEND | (offset ? 0 : O_CREAT | O_TRUNC);
	int fd = openat(area, name, flags, 0600);
	struct stat st;
	int rc = 0;

	if (fd < 0)
		return errno == ENOENT ? -ERANGE : -errno;
	if (fstat(fd, &st))
		rc = -errno;
	else if (!S_ISREG(st.st_mode) || (uint64_t)st.st_size != offset)
		rc = -ERANGE;
	if (rc == 0)
		rc = write_all(fd, bytes, length);
	if (close(fd) && rc == 0)
		rc = -errno;
	return rc;
}

int rest_file_write(const char *dir, const char *user, const char *name, uint64_t offset,
	uint64_t size, const char *bytes, size_t length)
{
	int area, rc = 0;

	if (size > REST_FILE_MAX)
		return -EFBIG;
	if (offset > size || length > size - offset)
		return -ERANGE;
	area = area_open(dir, user);
	if (area < 0)
		return area;
	if (offset == 0)
		rc = may_begin(area, name, size);
	if (rc == 0)
		rc = piece_write(area, name, offset, bytes, length);
	close(area);
	return rc;
}

static int read_all(int fd, size_t max, char **text, size_t *length)
{
	struct stat st;
	size_t n = 0;

	if (fstat(fd, &st))
		return -errno;
	if (!S_ISREG(st.st_mode))
		return -EINVAL;
	if ((uint64_t)st.st_size > max)
		return -EFBIG;
	*text = malloc((size_t)st.st_size + 1);
	if (!*text)
		return -ENOMEM;
	while (n < (size_t)st.st_size) {
		ssize_t got = read(fd, *text + n, (size_t)st.st_size - n);

		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			break;
		n += (size_t)got;
	}
	(*text)[n] = '\0';
	*length = n;
	return 0;
}

int rest_file_read(const char *dir, const char *user, const char *name, size_t max, char **text,
	size_t *length)
{
	int area = area_open(dir, user), fd, rc;

	if (area < 0)
		return area;
	fd = openat(area, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	rc = fd < 0 ? -errno : read_all(fd, max, text, length);
	if (fd >= 0)
		close(fd);
	close(area);
	return rc;
}

int rest_file_remove(const char *dir, const char *user, const char *name)
{
	int area = area_open(dir, user), rc = 0;

	if (area < 0)
		return area;
	if (unlinkat(area, name, 0))
		rc = -errno;
	close(area);
	return rc;
}

int rest_file_rename(const char *dir, const char *user, const char *from, const char *to)
{
	int area = area_open(dir, user), rc = 0;

	if (area < 0)
		return area;
	if (renameat(area, from, area, to))
		rc = -errno;
	close(area);
	return rc;
}

static int by_name(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static json_t *names_read(DIR *d)
{
	const char *name[REST_FILES_EACH];
	json_t *unsorted = json_array(), *sorted = json_array(), *each;
	struct dirent *entry;
	unsigned count = 0;
	size_t i;

	while ((entry = readdir(d)) && count < REST_FILES_EACH)
		if (is_plain(entry->d_name) &&
			!json_array_append_new(unsorted, json_string(entry->d_name)))
			count++;
	json_array_foreach(unsorted, i, each)
	{
		name[i] = json_string_value(each);
	}
	qsort(name, count, sizeof(*name), by_name);
	for (unsigned n = 0; n < count; n++)
		json_array_append_new(sorted, json_string(name[n]));
	json_decref(unsorted);
	return sorted;
}

json_t *rest_file_list(const char *dir, const char *user)
{
	int area = area_open(dir, user);
	DIR *d = area < 0 ? NULL : fdopendir(area);
	json_t *names = d ? names_read(d) : json_array();

	if (d)
		closedir(d);
	else if (area >= 0)
		close(area);
	return names;
}
