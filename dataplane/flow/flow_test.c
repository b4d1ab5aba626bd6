/* SPDX-License-Identifier: BSD-3-Clause */
#include "flow/flow.h"

#include <endian.h>
#include <errno.h>

#include "core/test_eal.h"

enum { FLOWS4 = 3000, FLOWS6 = 100 };

static void keys4(uint32_t i, struct flow_key4 *client, struct flow_key4 *server)
{
	*client = (struct flow_key4){
		htobe32(0x0b000000 + i), htobe32(0x0a000001), htobe16(1000), htobe16(80), 0, 6, 0};
	*server = (struct flow_key4){htobe32(0x0a000101), htobe32(0x0b000000 + i), htobe16(8080),
		htobe16(1000), 0, 6, 0};
}

static void expect_found(struct flow_worker *f, uint32_t i, bool found, uint32_t want)
{
	struct flow_key4 keys[2];
	uint32_t index[2];
	uint8_t side[2];
	uint64_t hits;

	keys4(i, &keys[0], &keys[1]);
	flow_lookup4(f, keys, 2, &hits, index, side);
	CHECK_INT(hits, found ? 3 : 0);
	if (!found)
		return;
	CHECK_INT(index[0], want);
	CHECK_INT(index[1], want);
	CHECK(side[0] == FLOW_CLIENT && side[1] == FLOW_SERVER);
	CHECK(!memcmp(flow_key(f, &f->flows[want], FLOW_CLIENT), &keys[0], sizeof(keys[0])));
	CHECK(!memcmp(flow_key(f, &f->flows[want], FLOW_SERVER), &keys[1], sizeof(keys[1])));
}

static int64_t insert(struct flow_worker *f, uint32_t i)
{
	struct flow_key4 client, server;

	keys4(i, &client, &server);
	return flow_insert(f, false, &client, &server);
}

/* The stated maximum goes in, not one more; everything is found; all of it leaves again, twice. */
static void test_fill(struct flow_worker *f)
{
	static uint32_t index[FLOWS4];

	for (int round = 0; round < 2; round++) {
		for (uint32_t i = 0; i < FLOWS4; i++) {
			int64_t rc = insert(f, i);
			CHECK(rc >= 0);
			index[i] = (uint32_t)rc;
		}
		CHECK_INT(f->used, FLOWS4);
		CHECK_INT(insert(f, FLOWS4), -ENOSPC);
		for (uint32_t i = 0; i < FLOWS4; i++)
			expect_found(f, i, true, index[i]);
		for (uint32_t i = 0; i < FLOWS4; i++) {
			flow_delete(f, index[i]);
			expect_found(f, i, false, 0);
		}
		CHECK_INT(f->used, 0);
		CHECK_INT(rte_hash_count(f->hash4), 0);
	}
}

static void test_taken(struct flow_worker *f)
{
	struct flow_key4 client, server, other;
	int64_t first = insert(f, 1);

	CHECK(first >= 0);
	CHECK_INT(insert(f, 1), -EEXIST);
	keys4(1, &client, &server);
	keys4(2, &other, &client);
	CHECK_INT(flow_insert(f, false, &other, &server), -EEXIST);
	CHECK_INT(flow_insert(f, false, &other, &other), -EEXIST);
	CHECK(!flow_exists(f, false, &other) && flow_exists(f, false, &server));
	CHECK_INT(rte_hash_count(f->hash4), 2);
	flow_delete(f, (uint32_t)first);
}

static void test_ipv6(struct flow_worker *f)
{
	struct flow_key6 client = {.src = {0x20, 1},
		.dst = {0x20, 2},
		.src_port = htobe16(5),
		.dst_port = htobe16(80),
		.proto = 17};
	struct flow_key6 server = {.src = {0x20, 3},
		.dst = {0x20, 1},
		.src_port = htobe16(8080),
		.dst_port = htobe16(5),
		.proto = 17};
	int64_t index = flow_insert(f, true, &client, &server);
	struct flow_tuple t;
	struct flow_key6 keys[2] = {server, client};
	uint64_t hits;
	uint32_t found[2];
	uint8_t side[2];

	CHECK(index >= 0);
	flow_lookup6(f, keys, 2, &hits, found, side);
	CHECK_INT(hits, 3);
	CHECK(side[0] == FLOW_SERVER && side[1] == FLOW_CLIENT && found[0] == (uint32_t)index);
	flow_tuple(f, &f->flows[index], FLOW_SERVER, &t);
	CHECK(t.src_port == 8080 && t.dst_port == 5 && t.src.b[1] == 3 && !ip_is_v4(&t.src));
	flow_delete(f, (uint32_t)index);
	CHECK(!flow_exists(f, true, &client) && !flow_exists(f, true, &server));
}

static void test_slots(void)
{
	CHECK_INT(flow_slots(1572864), (1u << 22) - 1);
	CHECK_INT(flow_slots(1572865), (1u << 23) - 1);
	CHECK_INT(flow_slots(1), 1023);
}

int main(void)
{
	struct flow_worker f;

	test_eal_init(64);
	CHECK_INT(flow_worker_init(&f, "t", FLOWS4, FLOWS6), 0);
	CHECK(f.bytes > 0);
	test_fill(&f);
	test_taken(&f);
	test_ipv6(&f);
	test_slots();
	flow_worker_fini(&f);
	return 0;
}
