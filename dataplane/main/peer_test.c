/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/check.h"
#include "main/peer.h"

static struct peer peer;
static int far; /* weir-cp's end */
static struct peer_packet packet;

static void connect_peer(void)
{
	int pair[2];

	CHECK_INT(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, pair), 0);
	peer_attach(&peer, pair[0]);
	far = pair[1];
}

static void far_send(const void *bytes, size_t length, unsigned descriptors)
{
	char control[CMSG_SPACE(32 * sizeof(int))] __attribute__((aligned(8))) = {0};
	struct iovec iov = {(void *)(uintptr_t)bytes, length};
	struct msghdr msg = {.msg_iov = &iov, .msg_iovlen = 1};

	if (descriptors) {
		msg.msg_control = control;
		msg.msg_controllen = CMSG_SPACE(descriptors * sizeof(int));
		struct cmsghdr *c = CMSG_FIRSTHDR(&msg);
		c->cmsg_level = SOL_SOCKET;
		c->cmsg_type = SCM_RIGHTS;
		c->cmsg_len = CMSG_LEN(descriptors * sizeof(int));
		for (unsigned i = 0; i < descriptors; i++)
			memcpy(CMSG_DATA(c) + i * sizeof(int), &far, sizeof(int));
	}
	CHECK_INT(sendmsg(far, &msg, 0), length);
}

static unsigned open_descriptors(void)
{
	unsigned n = 0;

	for (int fd = 0; fd < 256; fd++)
		n += fcntl(fd, F_GETFD) >= 0;
	return n;
}

static void test_receive(void)
{
	CHECK_INT(peer_receive(&peer, &packet), 0);
	far_send("hello", 5, 0);
	CHECK_INT(peer_receive(&peer, &packet), 1);
	CHECK_INT(packet.length, 5);
	CHECK(memcmp(packet.bytes, "hello", 5) == 0);
	CHECK_INT(packet.fd, -1);
	CHECK_INT(packet.descriptors, 0);
	CHECK_INT(peer_receive(&peer, &packet), 0);
}

/* One descriptor is kept, surplus ones are closed, also those that the kernel cuts off. */
static void test_descriptors(void)
{
	const unsigned counts[] = {1, 2, 8, 9, 32};
	unsigned before = open_descriptors();

	for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
		far_send("x", 1, counts[i]);
		CHECK_INT(peer_receive(&peer, &packet), 1);
		CHECK(packet.fd >= 0);
		CHECK(counts[i] == 1 ? packet.descriptors == 1 : packet.descriptors > 1);
		CHECK_INT(open_descriptors(), before + 1);
		close(packet.fd);
	}
	CHECK_INT(open_descriptors(), before);
}

/* Longer than any message: what is left is recognisably too long. */
static void test_too_long(void)
{
	static const uint8_t bytes[MSG_LENGTH_MAX + 1000];

	far_send(bytes, sizeof(bytes), 0);
	CHECK_INT(peer_receive(&peer, &packet), 1);
	CHECK(packet.length > MSG_LENGTH_MAX);
}

/* A peer that does not read fills the queue and no more; what was queued arrives in order. */
static void test_queue(void)
{
	uint32_t sent = 0, number[256] = {0};

	while ((number[0] = sent, peer_send(&peer, number, sizeof(number), -1)) == 0)
		sent++;
	CHECK_INT(peer.count, PEER_QUEUE);
	CHECK_INT(peer_send(&peer, number, sizeof(number), -1), -ENOBUFS);
	CHECK(peer_waiting(&peer));
	for (uint32_t i = 0; i < sent; i++) {
		CHECK_INT(recv(far, number, sizeof(number), 0), sizeof(number));
		CHECK_INT(number[0], i);
		CHECK_INT(peer_flush(&peer), 0);
	}
	CHECK(!peer_waiting(&peer));
	CHECK(recv(far, number, sizeof(number), 0) < 0);
}

static void test_send_descriptor(void)
{
	CHECK_INT(peer_send(&peer, "x", 1, STDIN_FILENO), 0);
	char control[CMSG_SPACE(sizeof(int))] __attribute__((aligned(8))), byte;
	struct iovec iov = {&byte, 1};
	struct msghdr msg = {.msg_iov = &iov,
		.msg_iovlen = 1,
		.msg_control = control,
		.msg_controllen = sizeof(control)};
	CHECK_INT(recvmsg(far, &msg, MSG_CMSG_CLOEXEC), 1);
	CHECK(CMSG_FIRSTHDR(&msg) != NULL);
	int fd;
	memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&msg)), sizeof(fd));
	CHECK(fcntl(fd, F_GETFD) >= 0);
	close(fd);
}

static void test_end(void)
{
	close(far);
	CHECK(peer_receive(&peer, &packet) < 0);
	CHECK_INT(peer_send(&peer, "x", 1, -1), -EPIPE);
	peer_detach(&peer);
	CHECK_INT(peer_send(&peer, "x", 1, -1), -ENOTCONN);
	/* A queue is forgotten with its connection. */
	connect_peer();
	while (peer_send(&peer, &packet, 1000, -1) == 0)
		;
	peer_detach(&peer);
	CHECK(!peer_waiting(&peer));
	close(far);
}

int main(void)
{
	peer_init(&peer);
	connect_peer();
	test_receive();
	test_descriptors();
	test_too_long();
	test_queue();
	test_send_descriptor();
	test_end();
	return 0;
}
