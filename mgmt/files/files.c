/* SPDX-License-Identifier: BSD-3-Clause */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "files/files_internal.h"

#define HIDDEN_MAX (FILES_NAME_MAX + 2) /* of a file that is not complete: a dot before its name */

struct files *files_new(const char *dir, const struct files_limits *limits)
{
	struct files *f = calloc(1, sizeof(*f));

	if (!f)
		return NULL;
	f->limits = *limits;
	f->dir = strdup(dir);
	pthread_mutex_init(&f->lock, NULL);
	if (!f->dir) {
		files_free(f);
		return NULL;
	}
	return f;
}

void files_free(struct files *f)
{
	if (!f)
		return;
	pthread_mutex_destroy(&f->lock);
	free(f->dir);
	free(f);
}

bool files_range_parse(const char *text, struct files_range *range)
{
	uint64_t *const numbers[] = {&range->start, &range->end, &range->total};
	static const char ends[] = "-/";

	if (!strncmp(text, "bytes ", 6))
		text += 6;
	for (unsigned i = 0; i < 3; i++) {
		char *end;

		if (*text < '0' || *text > '9' || strspn(text, "0123456789") > 18)
			return false;
		*numbers[i] = strtoull(text, &end, 10);
		if (*end != ends[i])
			return false;
		text = end + 1;
	}
	return true;
}

static int name_check(const char *name, char reason[FILES_REASON_MAX])
{
	if (files_name_ok(name))
		return 0;
	return files_refuse(-EINVAL, reason,
		"'%.64s' is no name for a file: letters, digits and ._-+@=,:~%% are, %u at most, "
		"no dot first",
		name, FILES_NAME_MAX);
}

/* The area of a file that may be made in it. */
static int place(struct files *f, const char *user, const char *name, char reason[FILES_REASON_MAX])
{
	int rc = name_check(name, reason);

	return rc ? rc : area_open(f, user, true, reason);
}

static int no_file(int rc, const char *name, char reason[FILES_REASON_MAX])
{
	if (rc == -ENOENT || rc == -ELOOP || rc == -EINVAL)
		return files_refuse(-ENOENT, reason, "there is no file %s", name);
	return files_refuse(rc, reason, "file %s cannot be opened: %s", name, strerror(-rc));
}

static int write_all(int fd, const char *data, size_t length, uint64_t at)
{
	while (length > 0) {
		ssize_t n = pwrite(fd, data, length, (off_t)at);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		data += n;
		at += (uint64_t)n;
		length -= (size_t)n;
	}
	return 0;
}

/* ---- pieces ---- */

static int range_check(const struct files_range *r, char reason[FILES_REASON_MAX])
{
	if (r->start <= r->end && r->end < r->total)
		return 0;
	return files_refuse(-EINVAL, reason,
		"bytes %" PRIu64 "-%" PRIu64 " are no part of a file of %" PRIu64, r->start, r->end,
		r->total);
}

/* Room for the whole is asked for with the first piece; a client that tells less meets the limit later. */
static int piece_room(struct files *f, int area, const char *hidden, const struct files_range *r,
	uint64_t have, char reason[FILES_REASON_MAX])
{
	uint64_t length = r->end - r->start + 1;

	if (r->start && r->start != have)
		return files_refuse(-EINVAL, reason,
			"the next byte of this file is %" PRIu64 ", not %" PRIu64, have, r->start);
	return files_room(f, area, hidden, r->start ? length : r->total, reason);
}

static int piece_take(struct files *f, int area, const char *hidden, const struct files_range *r,
	const void *data, char reason[FILES_REASON_MAX])
{
	uint64_t have = 0;
	int rc, fd;

	if (!r->start)
		unlinkat(area, hidden, 0);
	fd = area_file(area, hidden, O_WRONLY, &have);
	if (fd == -ENOENT)
		have = 0;
	else if (fd < 0)
		return no_file(fd, hidden + 1, reason);
	rc = piece_room(f, area, hidden, r, have, reason);
	if (rc == 0 && fd < 0)
		fd = area_file(area, hidden, O_WRONLY | O_CREAT | O_EXCL, &have);
	if (rc == 0 && fd < 0)
		rc = no_file(fd, hidden + 1, reason);
	if (rc == 0) {
		rc = write_all(fd, data, (size_t)(r->end - r->start + 1), r->start);
		if (rc)
			files_refuse(rc, reason, "file %s cannot be written: %s", hidden + 1,
				strerror(-rc));
	}
	if (fd >= 0)
		close(fd);
	return rc;
}

static int name_give(int area, const char *hidden, const char *name, char reason[FILES_REASON_MAX])
{
	int rc = renameat(area, hidden, area, name) || fsync(area) ? -errno : 0;

	return rc ? files_refuse(rc, reason, "file %s cannot be kept: %s", name, strerror(-rc)) : 0;
}

int files_put(struct files *f, const char *user, const char *name, const struct files_range *range,
	const void *data, bool *complete, char reason[FILES_REASON_MAX])
{
	char hidden[HIDDEN_MAX];
	int rc = range_check(range, reason), area;

	*complete = false;
	if (rc)
		return rc;
	area = place(f, user, name, reason);
	if (area < 0)
		return area;
	snprintf(hidden, sizeof(hidden), ".%s", name);
	pthread_mutex_lock(&f->lock);
	rc = piece_take(f, area, hidden, range, data, reason);
	if (rc == 0 && range->end + 1 == range->total) {
		rc = name_give(area, hidden, name, reason);
		*complete = rc == 0;
	}
	pthread_mutex_unlock(&f->lock);
	close(area);
	return rc;
}

/* ---- whole files ---- */

static int write_hidden(int area, const char *hidden, int (*write)(void *ctx, int fd, char *reason),
	void *ctx, char reason[FILES_REASON_MAX])
{
	uint64_t size;
	int rc, fd;

	unlinkat(area, hidden, 0);
	fd = area_file(area, hidden, O_WRONLY | O_CREAT | O_EXCL, &size);
	if (fd < 0)
		return no_file(fd, hidden + 1, reason);
	rc = write(ctx, fd, reason);
	if (rc == 0 && fsync(fd))
		rc = files_refuse(-errno, reason, "file %s cannot be written: %s", hidden + 1,
			strerror(errno));
	close(fd);
	return rc;
}

int files_write(struct files *f, const char *user, const char *name,
	int (*write)(void *ctx, int fd, char reason[FILES_REASON_MAX]), void *ctx,
	char reason[FILES_REASON_MAX])
{
	char hidden[HIDDEN_MAX];
	int rc, area = place(f, user, name, reason);

	if (area < 0)
		return area;
	snprintf(hidden, sizeof(hidden), ".%s", name);
	pthread_mutex_lock(&f->lock);
	rc = files_room(f, area, hidden, 0, reason);
	if (rc == 0)
		rc = write_hidden(area, hidden, write, ctx, reason);
	if (rc == 0)
		rc = files_room(f, area, hidden, 0, reason); /* what it turned out to be */
	if (rc == 0)
		rc = name_give(area, hidden, name, reason);
	if (rc)
		unlinkat(area, hidden, 0);
	pthread_mutex_unlock(&f->lock);
	close(area);
	return rc;
}

int files_open(struct files *f, const char *user, const char *name, uint64_t *size,
	char reason[FILES_REASON_MAX])
{
	int rc = name_check(name, reason), area, fd;

	if (rc)
		return rc;
	area = area_open(f, user, false, reason);
	if (area < 0)
		return area == -ENOENT ? no_file(area, name, reason) : area;
	fd = area_file(area, name, O_RDONLY, size);
	close(area);
	return fd < 0 ? no_file(fd, name, reason) : fd;
}

static int read_all(int fd, char *data, size_t length)
{
	size_t n = 0;

	while (n < length) {
		ssize_t got = read(fd, data + n, length - n);

		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return got ? -errno : -EIO;
		n += (size_t)got;
	}
	data[n] = 0;
	return 0;
}

int files_read(struct files *f, const char *user, const char *name, size_t max, char **data,
	size_t *length, char reason[FILES_REASON_MAX])
{
	uint64_t size;
	int rc = 0, fd = files_open(f, user, name, &size, reason);

	*data = NULL;
	if (fd < 0)
		return fd;
	if (size > max)
		rc = files_refuse(-EFBIG, reason, "file %s has %" PRIu64 " bytes; %zu is the most",
			name, size, max);
	else if (!(*data = malloc((size_t)size + 1)))
		rc = files_refuse(-ENOMEM, reason, "no memory for file %s", name);
	else if ((rc = read_all(fd, *data, (size_t)size)))
		files_refuse(rc, reason, "file %s cannot be read: %s", name, strerror(-rc));
	close(fd);
	if (rc) {
		free(*data);
		*data = NULL;
	} else {
		*length = (size_t)size;
	}
	return rc;
}

/* ---- names ---- */

int files_remove(struct files *f, const char *user, const char *name, char reason[FILES_REASON_MAX])
{
	int rc = name_check(name, reason), area;

	if (rc)
		return rc;
	area = area_open(f, user, false, reason);
	if (area < 0)
		return area == -ENOENT ? no_file(area, name, reason) : area;
	if (unlinkat(area, name, 0))
		rc = no_file(-errno, name, reason);
	close(area);
	return rc;
}

/* Under the receiver's lock. */
static int move(int area, const char *name, struct files *to, int to_area, const char *to_name,
	bool same, char reason[FILES_REASON_MAX])
{
	uint64_t size;
	int rc = 0, fd = area_file(area, name, O_RDONLY, &size);

	if (fd < 0)
		return no_file(fd, name, reason);
	close(fd);
	if (!same)
		rc = files_room(to, to_area, to_name, size, reason);
	if (rc == 0 && renameat(area, name, to_area, to_name))
		rc = files_refuse(
			-errno, reason, "file %s cannot be moved: %s", name, strerror(errno));
	return rc;
}

int files_move(struct files *from, const char *user, const char *name, struct files *to,
	const char *to_user, const char *to_name, char reason[FILES_REASON_MAX])
{
	int rc = name_check(name, reason), area, to_area;

	if (rc)
		return rc;
	area = area_open(from, user, false, reason);
	if (area < 0)
		return area == -ENOENT ? no_file(area, name, reason) : area;
	to_area = place(to, to_user, to_name, reason);
	if (to_area >= 0) {
		pthread_mutex_lock(&to->lock);
		rc = move(area, name, to, to_area, to_name, from == to && !strcmp(user, to_user),
			reason);
		pthread_mutex_unlock(&to->lock);
		close(to_area);
	}
	close(area);
	return to_area < 0 ? to_area : rc;
}

static int row_add(json_t *rows, int area, const char *name)
{
	struct stat st;

	if (!files_name_ok(name) || fstatat(area, name, &st, AT_SYMLINK_NOFOLLOW) ||
		!S_ISREG(st.st_mode))
		return 0;
	return json_array_append_new(
		rows, json_pack("{s:s,s:I,s:I}", "name", name, "size", (json_int_t)st.st_size,
			      "modified", (json_int_t)st.st_mtime));
}

json_t *files_list(struct files *f, const char *user)
{
	char reason[FILES_REASON_MAX], path[4096];
	json_t *rows = json_array();
	struct dirent **names;
	int area = area_open(f, user, false, reason), count, rc = 0;

	if (area < 0)
		return rows;
	snprintf(path, sizeof(path), "%s/%s", f->dir, user);
	count = scandir(path, &names, NULL, alphasort);
	for (int i = 0; i < count; i++) {
		if (rc == 0)
			rc = row_add(rows, area, names[i]->d_name);
		free(names[i]);
	}
	if (count >= 0)
		free(names);
	close(area);
	if (rc || count < 0) {
		json_decref(rows);
		return NULL;
	}
	return rows;
}
