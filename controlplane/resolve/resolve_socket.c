/* SPDX-License-Identifier: BSD-3-Clause */
#include "resolve/resolve_socket.h"

#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

enum { DNS_HEADER = 12 };

static ares_socket_t on_socket(int family, int type, int protocol, void *ctx)
{
	return socket(family, type | SOCK_CLOEXEC | SOCK_NONBLOCK, protocol);
}

static int on_close(ares_socket_t fd, void *ctx)
{
	return close(fd);
}

static int on_connect(ares_socket_t fd, const struct sockaddr *to, ares_socklen_t size, void *ctx)
{
	return connect(fd, to, size);
}

static ares_ssize_t on_receive(ares_socket_t fd, void *data, size_t size, int flags,
	struct sockaddr *from, ares_socklen_t *from_size, void *ctx)
{
	const unsigned char *byte = data;
	int *rcode = ctx;
	ssize_t n = recvfrom(fd, data, size, flags, from, from_size);

	/* By TCP an answer comes in pieces. */
	if (from && n >= DNS_HEADER)
		*rcode = byte[3] & 0xf;
	return n;
}

static ares_ssize_t on_send(ares_socket_t fd, const struct iovec *part, int parts, void *ctx)
{
	struct msghdr m = {.msg_iov = (struct iovec *)part, .msg_iovlen = (size_t)parts};

	return sendmsg(fd, &m, MSG_NOSIGNAL);
}

void resolve_sockets(ares_channel channel, int *rcode)
{
	static const struct ares_socket_functions functions = {
		on_socket, on_close, on_connect, on_receive, on_send};

	*rcode = 0;
	ares_set_socket_functions(channel, &functions, rcode);
}
