/* SPDX-License-Identifier: BSD-3-Clause */
#include "main/peer.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define PEER_DESCRIPTORS 8 /* received at most; the kernel drops the others */

void peer_init(struct peer *p)
{
	*p = (struct peer){.fd = -1};
}

void peer_detach(struct peer *p)
{
	for (unsigned i = 0; i < p->count; i++)
		free(p->queue[(p->head + i) % PEER_QUEUE]);
	if (p->fd >= 0)
		close(p->fd);
	peer_init(p);
}

void peer_attach(struct peer *p, int fd)
{
	peer_detach(p);
	p->fd = fd;
}

/* Keeps the first descriptor of all that came, closes the others. */
static void take_descriptors(struct msghdr *msg, struct peer_packet *out)
{
	out->fd = -1;
	out->descriptors = 0;
	for (struct cmsghdr *c = CMSG_FIRSTHDR(msg); c; c = CMSG_NXTHDR(msg, c)) {
		if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS)
			continue;
		size_t n = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);
		for (size_t i = 0; i < n; i++) {
			int fd;
			memcpy(&fd, CMSG_DATA(c) + i * sizeof(fd), sizeof(fd));
			if (out->descriptors++ == 0)
				out->fd = fd;
			else
				close(fd);
		}
	}
	if (msg->msg_flags & MSG_CTRUNC)
		out->descriptors = PEER_DESCRIPTORS + 1;
}

int peer_receive(struct peer *p, struct peer_packet *out)
{
	char control[CMSG_SPACE(PEER_DESCRIPTORS * sizeof(int))] __attribute__((aligned(8)));
	struct iovec iov = {out->bytes, sizeof(out->bytes)};
	struct msghdr msg = {
		.msg_iov = &iov,
		.msg_iovlen = 1,
		.msg_control = control,
		.msg_controllen = sizeof(control),
	};
	ssize_t n;

	do {
		n = recvmsg(p->fd, &msg, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
	} while (n < 0 && errno == EINTR);
	if (n < 0)
		return errno == EAGAIN ? 0 : -errno;
	take_descriptors(&msg, out);
	if (n == 0) {
		if (out->fd >= 0)
			close(out->fd);
		return -EPIPE;
	}
	out->length = (size_t)n; /* a longer packet was cut: one byte more than any message has */
	return 1;
}

static int send_now(struct peer *p, const void *message, size_t length, int fd)
{
	char control[CMSG_SPACE(sizeof(int))] __attribute__((aligned(8))) = {0};
	struct iovec iov = {(void *)(uintptr_t)message, length};
	struct msghdr msg = {.msg_iov = &iov, .msg_iovlen = 1};
	ssize_t n;

	if (fd >= 0) {
		msg.msg_control = control;
		msg.msg_controllen = sizeof(control);
		struct cmsghdr *c = CMSG_FIRSTHDR(&msg);
		c->cmsg_level = SOL_SOCKET;
		c->cmsg_type = SCM_RIGHTS;
		c->cmsg_len = CMSG_LEN(sizeof(int));
		memcpy(CMSG_DATA(c), &fd, sizeof(fd));
	}
	do {
		n = sendmsg(p->fd, &msg, MSG_DONTWAIT | MSG_NOSIGNAL);
	} while (n < 0 && errno == EINTR);
	return n < 0 ? -errno : 0;
}

int peer_send(struct peer *p, const void *message, size_t length, int fd)
{
	if (p->fd < 0)
		return -ENOTCONN;
	if (p->count == 0) {
		int err = send_now(p, message, length, fd);
		if (err != -EAGAIN)
			return err;
	}
	if (p->count == PEER_QUEUE)
		return -ENOBUFS;
	void *copy = malloc(length);
	if (!copy)
		return -ENOBUFS;
	memcpy(copy, message, length);
	unsigned tail = (p->head + p->count++) % PEER_QUEUE;
	p->queue[tail] = copy;
	p->length[tail] = length;
	return 0;
}

int peer_flush(struct peer *p)
{
	while (p->count > 0) {
		int err = send_now(p, p->queue[p->head], p->length[p->head], -1);
		if (err)
			return err == -EAGAIN ? 0 : err;
		free(p->queue[p->head]);
		p->head = (p->head + 1) % PEER_QUEUE;
		p->count--;
	}
	return 0;
}
