/* SPDX-License-Identifier: BSD-3-Clause */
#include "ipc/ipc.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

int ipc_connect(const char *path, unsigned timeout_ms)
{
	struct sockaddr_un addr = {.sun_family = AF_UNIX};
	struct timeval wait = {.tv_sec = timeout_ms / 1000, .tv_usec = timeout_ms % 1000 * 1000};
	int rc;

	if (strlen(path) >= sizeof(addr.sun_path))
		return -ENAMETOOLONG;
	strcpy(addr.sun_path, path);
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -errno;
	if (connect(fd, (struct sockaddr *)&addr, sizeof(addr)) ||
		setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &wait, sizeof(wait)) ||
		setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &wait, sizeof(wait))) {
		rc = -errno;
		close(fd);
		return rc;
	}
	return fd;
}

static int write_all(int fd, const void *bytes, size_t length)
{
	const char *p = bytes;

	while (length > 0) {
		ssize_t n = send(fd, p, length, MSG_NOSIGNAL);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return errno == ECONNRESET ? -EPIPE : -errno;
		p += n;
		length -= (size_t)n;
	}
	return 0;
}

static int read_all(int fd, void *bytes, size_t length)
{
	char *p = bytes;

	while (length > 0) {
		ssize_t n = recv(fd, p, length, 0);

		if (n < 0 && errno == EINTR)
			continue;
		if (n == 0 || (n < 0 && errno == ECONNRESET))
			return -EPIPE;
		if (n < 0)
			return -errno;
		p += n;
		length -= (size_t)n;
	}
	return 0;
}

int ipc_send(int fd, const json_t *message)
{
	char *text = json_dumps(message, JSON_COMPACT);
	int rc;

	if (!text)
		return -EINVAL;
	size_t length = strlen(text);
	uint32_t prefix = htonl((uint32_t)length);
	if (length > IPC_FRAME_MAX)
		rc = -EMSGSIZE;
	else if ((rc = write_all(fd, &prefix, sizeof(prefix))) == 0)
		rc = write_all(fd, text, length);
	free(text);
	return rc;
}

int ipc_receive(int fd, json_t **message)
{
	uint32_t length;
	int rc = read_all(fd, &length, sizeof(length));

	if (rc)
		return rc;
	length = ntohl(length);
	if (length > IPC_FRAME_MAX)
		return -EPROTO;
	char *text = malloc(length + 1);
	if (!text)
		return -ENOMEM;
	rc = read_all(fd, text, length);
	if (rc == 0) {
		*message = json_loadb(text, length, 0, NULL);
		if (!*message)
			rc = -EPROTO;
	}
	free(text);
	return rc;
}
