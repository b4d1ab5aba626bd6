/* SPDX-License-Identifier: BSD-3-Clause */
#include "l4/l4_internal.h"

#include <endian.h>

#include "base/check.h"

/* Sequence numbers start near the wrap. */
static struct flow begun(uint32_t isn)
{
	struct flow f = {.proto = PROTO_TCP, .state = FLOW_SYN_SENT};
	f.seq[FLOW_CLIENT] = isn;
	return f;
}

static enum l4_tcp segment(struct flow *f, enum flow_side side, uint8_t flags, uint32_t seq,
	uint32_t data)
{
	struct tcp_hdr t = {.seq = htobe32(seq), .offset = 0x50, .flags = flags};

	return l4_tcp_track(f, side, &t, data);
}

static struct flow established(void)
{
	struct flow f = begun(0xfffffffe);

	CHECK_INT(segment(&f, FLOW_CLIENT, TCP_SYN, 0xfffffffe, 0), L4_TCP_PASS);
	CHECK_INT(f.state, FLOW_SYN_SENT);
	CHECK_INT(segment(&f, FLOW_SERVER, TCP_SYN | TCP_ACK, 0x80000000, 0), L4_TCP_PASS);
	CHECK_INT(f.state, FLOW_SYN_RECEIVED);
	CHECK_INT(segment(&f, FLOW_CLIENT, TCP_ACK, 0xffffffff, 0), L4_TCP_PASS);
	CHECK_INT(f.state, FLOW_ESTABLISHED);
	return f;
}

static void test_life(void)
{
	struct flow f = established();

	segment(&f, FLOW_CLIENT, TCP_ACK, 0xffffffff, 10);
	CHECK_INT(f.seq[FLOW_CLIENT], 9);
	segment(&f, FLOW_CLIENT, TCP_ACK, 0xffffffff, 3); /* again, shorter */
	CHECK_INT(f.seq[FLOW_CLIENT], 9);
	CHECK_INT(f.seq[FLOW_SERVER], 0x80000001);
	segment(&f, FLOW_CLIENT, TCP_FIN | TCP_ACK, 9, 0);
	CHECK_INT(f.state, FLOW_FIN_WAIT);
	segment(&f, FLOW_SERVER, TCP_ACK, 0x80000001, 100);
	CHECK_INT(f.state, FLOW_FIN_WAIT);
	segment(&f, FLOW_SERVER, TCP_FIN | TCP_ACK, 0x80000065, 0);
	CHECK_INT(f.state, FLOW_CLOSING);
	CHECK_INT(segment(&f, FLOW_CLIENT, TCP_ACK, 10, 0), L4_TCP_CLOSED);
	CHECK_INT(f.state, FLOW_CLOSED);
	CHECK_INT(segment(&f, FLOW_SERVER, TCP_FIN | TCP_ACK, 0x80000065, 0), L4_TCP_PASS);
	CHECK_INT(f.state, FLOW_CLOSED);
	CHECK_INT(segment(&f, FLOW_CLIENT, TCP_SYN, 5000, 0), L4_TCP_REOPEN);
}

static void test_reset(void)
{
	struct flow f = established();

	CHECK_INT(segment(&f, FLOW_SERVER, TCP_RST, 0x80000001, 0), L4_TCP_END);
	CHECK_INT(segment(&f, FLOW_SERVER, TCP_RST, 0x20000000, 0), L4_TCP_PASS);
	CHECK_INT(f.state, FLOW_ESTABLISHED);
	f = begun(7);
	CHECK_INT(segment(&f, FLOW_SERVER, TCP_RST | TCP_ACK, 0, 0), L4_TCP_END);
}

/* A SYN within a connection is the peers' affair. */
static void test_stray_syn(void)
{
	struct flow f = established();

	CHECK_INT(segment(&f, FLOW_CLIENT, TCP_SYN, 1234, 0), L4_TCP_PASS);
	CHECK_INT(f.state, FLOW_ESTABLISHED);
	f = begun(1);
	CHECK_INT(segment(&f, FLOW_CLIENT, TCP_SYN, 1, 0), L4_TCP_PASS);
	CHECK_INT(f.state, FLOW_SYN_SENT);
}

int main(void)
{
	test_life();
	test_reset();
	test_stray_syn();
	return 0;
}
