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

static enum l4_tcp segment_ack(struct flow *f, enum flow_side side, uint8_t flags, uint32_t seq,
	uint32_t data, uint32_t ack)
{
	struct tcp_hdr t = {
		.seq = htobe32(seq), .ack = htobe32(ack), .offset = 0x50, .flags = flags};

	return l4_tcp_track(f, side, &t, data);
}

/* One that acknowledges all that the other side has sent. */
static enum l4_tcp segment(
	struct flow *f, enum flow_side side, uint8_t flags, uint32_t seq, uint32_t data)
{
	return segment_ack(f, side, flags, seq, data, f->seq[!side]);
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

/* A client that gave up and uses its port again wants a new connection, not the old server again. */
static void test_port_used_again(void)
{
	struct flow f = begun(0xffffffff);

	CHECK_INT(segment(&f, FLOW_CLIENT, TCP_SYN, 0xffffffff, 1000), L4_TCP_PASS);
	CHECK_INT(segment(&f, FLOW_CLIENT, TCP_SYN, 0xffffffff, 0),
		L4_TCP_PASS); /* without its data */
	CHECK_INT(segment(&f, FLOW_CLIENT, TCP_SYN, 0xffffffff - 1000000, 0), L4_TCP_REOPEN);
	CHECK_INT(segment(&f, FLOW_CLIENT, TCP_SYN, 1000000, 0), L4_TCP_REOPEN);
	CHECK_INT(segment(&f, FLOW_CLIENT, TCP_SYN | TCP_ACK, 1000000, 0), L4_TCP_PASS);
	f = begun(7);
	segment(&f, FLOW_SERVER, TCP_SYN | TCP_ACK, 100, 0);
	CHECK_INT(segment(&f, FLOW_CLIENT, TCP_SYN, 7, 0), L4_TCP_PASS);
	CHECK_INT(segment(&f, FLOW_CLIENT, TCP_SYN, 1000000, 0), L4_TCP_REOPEN);
}

/* Only who sees the server's answers gets a flow that the long timeout applies to and that stays when the
 * table is full. */
static void test_half_open(void)
{
	struct flow f = begun(7);

	segment(&f, FLOW_CLIENT, TCP_SYN | TCP_FIN, 7, 0);
	segment(&f, FLOW_CLIENT, TCP_FIN | TCP_ACK, 8, 0);
	CHECK_INT(f.state, FLOW_SYN_SENT);
	segment(&f, FLOW_SERVER, TCP_SYN | TCP_ACK, 0xffffffff, 0);
	CHECK_INT(f.state, FLOW_SYN_RECEIVED);
	segment_ack(&f, FLOW_CLIENT, TCP_ACK, 8, 0, 1);
	segment_ack(&f, FLOW_CLIENT, TCP_FIN | TCP_ACK, 8, 0, 0x12345678);
	CHECK_INT(f.state, FLOW_SYN_RECEIVED);
	segment(&f, FLOW_SERVER, TCP_SYN | TCP_ACK, 0x7fffffff, 0); /* its cookie has changed */
	segment_ack(&f, FLOW_CLIENT, TCP_ACK, 8, 0, 0x80000000);
	CHECK_INT(f.state, FLOW_ESTABLISHED);
}

/* A server that closes at once: its FIN may overtake the client's acknowledgement. */
static void test_early_fin(void)
{
	struct flow f = begun(7);

	segment(&f, FLOW_CLIENT, TCP_SYN, 7, 0);
	segment(&f, FLOW_SERVER, TCP_SYN | TCP_ACK, 100, 0);
	segment(&f, FLOW_SERVER, TCP_FIN | TCP_ACK, 101, 20);
	CHECK_INT(f.state, FLOW_SYN_RECEIVED);
	segment_ack(&f, FLOW_CLIENT, TCP_ACK, 8, 0, 101);
	CHECK_INT(f.state, FLOW_FIN_WAIT);
	segment(&f, FLOW_CLIENT, TCP_FIN | TCP_ACK, 8, 0);
	CHECK_INT(f.state, FLOW_CLOSING);
	CHECK_INT(segment(&f, FLOW_SERVER, TCP_ACK, 122, 0), L4_TCP_CLOSED);
}

/* A flow that closes loosely is over with the first FIN. */
static void test_loose_close(void)
{
	struct flow f = established();

	f.marks = FLOW_LOOSE_CLOSE;
	segment(&f, FLOW_SERVER, TCP_FIN | TCP_ACK, 0x80000001, 0);
	CHECK_INT(f.state, FLOW_CLOSING);
	CHECK_INT(segment(&f, FLOW_CLIENT, TCP_ACK, 0xffffffff, 0), L4_TCP_CLOSED);
}

int main(void)
{
	test_loose_close();
	test_life();
	test_reset();
	test_stray_syn();
	test_port_used_again();
	test_half_open();
	test_early_fin();
	return 0;
}
