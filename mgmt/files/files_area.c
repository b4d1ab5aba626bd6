/* SPDX-License-Identifier: BSD-3-Clause */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "files/files_internal.h"

#define UNFINISHED_SECONDS 86400

int files_refuse(int rc, char reason[FILES_REASON_MAX], const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(reason, FILES_REASON_MAX, format, args);
	va_end(args);
	return rc;
}

bool files_name_ok(const char *name)
{
	static const char marks[] = "._-+@=";
	size_t n = strlen(name);

	if (n == 0 || n > FILES_NAME_MAX || *name == '.' || *name == '-')
		return false;
	for (; *name; name++)
		if (!((*name >= 'a' && *name <= 'z') || (*name >= 'A' && *name <= 'Z') ||
			    (*name >= '0' && *name <= '9') || strchr(marks, *name)))
			return false;
	return true;
}

int area_open(struct files *f, const char *user, bool make, char reason[FILES_REASON_MAX])
{
	int top, area, rc = 0;

	if (!files_name_ok(user))
		return files_refuse(
			-EINVAL, reason, "a user of the name '%.64s' has no place for files", user);
	if (make && mkdir(f->dir, 0700) && errno != EEXIST)
		return files_refuse(
			-errno, reason, "the place for files cannot be made: %s", strerror(errno));
	top = open(f->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (top < 0 && errno == ENOENT)
		return -ENOENT;
	if (top < 0)
		return files_refuse(-errno, reason, "the place for files cannot be opened: %s",
			strerror(errno));
	if (make && mkdirat(top, user, 0700) && errno != EEXIST)
		rc = -errno;
	area = rc ? rc : openat(top, user, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (rc == 0 && area < 0)
		area = -errno;
	close(top);
	if (area < 0 && area != -ENOENT)
		files_refuse(area, reason, "files of user %s cannot be reached: %s", user,
			strerror(-area));
	return area;
}

int area_file(int area, const char *name, int flags, uint64_t *size)
{
	struct stat st;
	int fd = openat(area, name, flags | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0600);
	int rc = 0;

	if (fd < 0)
		return -errno;
	if (fstat(fd, &st))
		rc = -errno;
	else if (!S_ISREG(st.st_mode))
		rc = -EINVAL;
	if (rc) {
		close(fd);
		return rc;
	}
	*size = (uint64_t)st.st_size;
	return fd;
}

static void count(int area, const char *name, time_t now, struct area_use *use)
{
	struct stat st;

	if (fstatat(area, name, &st, AT_SYMLINK_NOFOLLOW) || !S_ISREG(st.st_mode))
		return;
	if (*name == '.' && now - st.st_mtime > UNFINISHED_SECONDS && unlinkat(area, name, 0) == 0)
		return;
	use->bytes += (uint64_t)st.st_size;
	use->files++;
}

int area_use(int area, struct area_use *use)
{
	int fd = openat(area, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *entry;

	*use = (struct area_use){0};
	if (!dir) {
		int rc = -errno;

		if (fd >= 0)
			close(fd);
		return rc;
	}
	while ((entry = readdir(dir)))
		count(area, entry->d_name, time(NULL), use);
	closedir(dir);
	return 0;
}

/* Of all areas. */
static int whole_use(struct files *f, uint64_t *bytes)
{
	DIR *dir = opendir(f->dir);
	struct dirent *entry;
	char reason[FILES_REASON_MAX];

	*bytes = 0;
	if (!dir)
		return -errno;
	while ((entry = readdir(dir))) {
		struct area_use use;
		int area = *entry->d_name == '.' ? -1 : area_open(f, entry->d_name, false, reason);

		if (area < 0)
			continue;
		if (area_use(area, &use) == 0)
			*bytes += use.bytes;
		close(area);
	}
	closedir(dir);
	return 0;
}

json_t *files_areas(struct files *f)
{
	json_t *names = json_array();
	DIR *dir = opendir(f->dir);
	struct dirent *entry;

	while (names && dir && (entry = readdir(dir)))
		if (files_name_ok(entry->d_name))
			json_array_append_new(names, json_string(entry->d_name));
	if (dir)
		closedir(dir);
	return names;
}

void files_forget(struct files *f, const char *user)
{
	char reason[FILES_REASON_MAX];
	struct dirent *entry;
	int area, top;
	DIR *dir;

	pthread_mutex_lock(&f->lock);
	area = area_open(f, user, false, reason);
	dir = area < 0 ? NULL : fdopendir(area);
	while (dir && (entry = readdir(dir)))
		unlinkat(area, entry->d_name, 0);
	top = open(f->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (dir && top >= 0)
		unlinkat(top, user, AT_REMOVEDIR);
	if (dir)
		closedir(dir);
	else if (area >= 0)
		close(area);
	if (top >= 0)
		close(top);
	pthread_mutex_unlock(&f->lock);
}

static bool is_there(int area, const char *name)
{
	return faccessat(area, name, F_OK, AT_SYMLINK_NOFOLLOW) == 0;
}

int files_room(
	struct files *f, int area, const char *name, uint64_t more, char reason[FILES_REASON_MAX])
{
	struct area_use use;
	uint64_t all;
	bool fresh = !is_there(area, name) && !(*name == '.' && is_there(area, name + 1));
	int rc = area_use(area, &use);

	if (rc == 0)
		rc = whole_use(f, &all);
	if (rc)
		return files_refuse(rc, reason, "files cannot be counted: %s", strerror(-rc));
	if (more > f->limits.area_bytes || use.bytes > f->limits.area_bytes - more)
		return files_refuse(-EDQUOT, reason,
			"%llu bytes more do not fit: your files have %llu of %llu bytes; delete "
			"some",
			(unsigned long long)more, (unsigned long long)use.bytes,
			(unsigned long long)f->limits.area_bytes);
	if (more > f->limits.all_bytes || all > f->limits.all_bytes - more)
		return files_refuse(-EDQUOT, reason,
			"%llu bytes more do not fit: everybody's files have %llu of %llu",
			(unsigned long long)more, (unsigned long long)all,
			(unsigned long long)f->limits.all_bytes);
	if (fresh && use.files >= f->limits.area_files)
		return files_refuse(-EDQUOT, reason,
			"you have %u files already, the most there may be; delete some", use.files);
	return 0;
}
