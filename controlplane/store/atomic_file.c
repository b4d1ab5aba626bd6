/* SPDX-License-Identifier: BSD-3-Clause */
#include "store/atomic_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int read_all(int fd, char **data, size_t *length)
{
	struct stat st;
	size_t size, n = 0;

	if (fstat(fd, &st))
		return -errno;
	if (!S_ISREG(st.st_mode))
		return -EINVAL;
	if (st.st_size > FILE_LENGTH_MAX)
		return -EFBIG;
	size = (size_t)st.st_size;
	char *p = malloc(size + 1);
	if (!p)
		return -ENOMEM;
	while (n < size) {
		ssize_t got = read(fd, p + n, size - n);

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0) {
			int rc = -errno;
			free(p);
			return rc;
		}
		if (got == 0)
			break;
		n += (size_t)got;
	}
	p[n] = 0;
	*data = p;
	*length = n;
	return 0;
}

int file_read(const char *path, char **data, size_t *length)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);

	if (fd < 0)
		return -errno;
	int rc = read_all(fd, data, length);
	close(fd);
	return rc;
}

int file_write_all(int fd, const void *data, size_t length)
{
	const char *p = data;

	while (length > 0) {
		ssize_t n = write(fd, p, length);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		p += n;
		length -= (size_t)n;
	}
	return 0;
}

int file_sync_folder(const char *path)
{
	const char *slash = strrchr(path, '/');
	char *folder =
		slash ? strndup(path, slash == path ? 1 : (size_t)(slash - path)) : strdup(".");
	int rc = 0;

	if (!folder)
		return -ENOMEM;
	int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	free(folder);
	if (fd < 0)
		return -errno;
	if (fsync(fd))
		rc = -errno;
	close(fd);
	return rc;
}

static int write_new(const char *path, const void *data, size_t length, mode_t mode)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);

	if (fd < 0)
		return -errno;
	int rc = file_write_all(fd, data, length);
	if (rc == 0 && (fchmod(fd, mode) || fsync(fd)))
		rc = -errno;
	if (close(fd) && rc == 0)
		rc = -errno;
	if (rc)
		unlink(path);
	return rc;
}

static int replace(const char *path, const void *data, size_t length, mode_t mode)
{
	struct stat st;
	char *fresh;
	int rc;

	if (asprintf(&fresh, "%s.new", path) < 0)
		return -ENOMEM;
	if (stat(path, &st) == 0)
		mode = st.st_mode & 07777;
	unlink(fresh); /* left over from a crash */
	rc = write_new(fresh, data, length, mode);
	if (rc == 0 && rename(fresh, path)) {
		rc = -errno;
		unlink(fresh);
	}
	free(fresh);
	return rc ? rc : file_sync_folder(path);
}

int file_replace(const char *path, const void *data, size_t length, mode_t mode)
{
	/* Of a symbolic link, the file that it names: people keep weir.conf among files of their own. */
	char *real = realpath(path, NULL);
	int rc = replace(real ? real : path, data, length, mode);

	free(real);
	return rc;
}
