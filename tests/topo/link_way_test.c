/* SPDX-License-Identifier: BSD-3-Clause */
#include "link_way.h"

#include <errno.h>

#include "base/check.h"

#define MS 1000000ull
#define FRAMES 100000

static struct link_way way_of(const char *const words[][2], uint64_t seed, uint64_t id)
{
	struct link_params params;
	struct link_way way;
	link_params_init(&params);
	for (; (*words)[0]; words++)
		CHECK_INT(link_params_set(&params, (*words)[0], (*words)[1]), 0);
	link_way_init(&way, &params, seed, id);
	return way;
}

static void test_clean(void)
{
	struct link_way way = way_of((const char *const[][2]){{NULL}}, 1, 0);
	for (uint64_t now = 5; now < 1000; now++) {
		struct link_fate fate = link_way_decide(&way, now, 1514);
		CHECK_INT(fate.copies, 1);
		CHECK_INT(fate.depart[0], now);
		CHECK_INT(fate.corrupt_bit, 0);
		link_way_sent(&way, fate.number, 1514, false);
	}
	CHECK_INT(way.counts.reordered + way.counts.lost + way.counts.duplicated, 0);
	CHECK_INT(way.counts.bytes, 995 * 1514);
}

static void test_shares(void)
{
	struct link_way way = way_of((const char *const[][2]){{"loss", "2"}, {"duplicate", "1"},
					     {"reorder", "3"}, {"corrupt", "0.5"}, {NULL}},
		7, 0);
	uint64_t copies = 0, late = 0;
	for (uint64_t i = 0; i < FRAMES; i++) {
		struct link_fate fate = link_way_decide(&way, i, 100);
		copies += fate.copies;
		late += fate.copies && fate.depart[0] >= i + 2 * MS;
		CHECK(!fate.corrupt_bit || (fate.corrupt_bit >= 14 * 8 && fate.corrupt_bit < 800));
	}
	CHECK(way.counts.lost > FRAMES * 0.018 && way.counts.lost < FRAMES * 0.022);
	CHECK(late > FRAMES * 0.027 && late < FRAMES * 0.033);
	CHECK(way.counts.corrupted > FRAMES * 0.004 && way.counts.corrupted < FRAMES * 0.006);
	uint64_t doubled = copies - (FRAMES - way.counts.lost);
	CHECK(doubled > FRAMES * 0.008 && doubled < FRAMES * 0.012);
}

static void test_seed(void)
{
	const char *const words[][2] = {{"loss", "50"}, {"jitter", "3"}, {NULL}};
	struct link_way a = way_of(words, 3, 0), b = way_of(words, 3, 0);
	struct link_way other_seed = way_of(words, 4, 0), other_way = way_of(words, 3, 1);
	unsigned seed_differs = 0, way_differs = 0;
	for (uint64_t i = 0; i < 1000; i++) {
		struct link_fate fate = link_way_decide(&a, i * MS, 60),
				 same = link_way_decide(&b, i * MS, 60);
		CHECK_INT(fate.copies, same.copies);
		CHECK_INT(fate.depart[0], same.depart[0]);
		seed_differs += fate.copies != link_way_decide(&other_seed, i * MS, 60).copies;
		way_differs += fate.copies != link_way_decide(&other_way, i * MS, 60).copies;
	}
	CHECK(seed_differs > 400 && seed_differs < 600);
	CHECK(way_differs > 400 && way_differs < 600);
}

/* 12 Mbit/s carry a frame of 1,500 bytes in 1 ms; 3 ms of queue hold three waiting ones. */
static void test_rate(void)
{
	struct link_way way = way_of(
		(const char *const[][2]){{"rate", "12"}, {"queue", "3"}, {"delay", "10"}, {NULL}},
		1, 0);
	for (unsigned i = 0; i < 4; i++)
		CHECK_INT(link_way_decide(&way, 100 * MS, 1500).depart[0], (111 + i) * MS);
	CHECK_INT(link_way_decide(&way, 100 * MS, 1500).copies, 0);
	CHECK_INT(way.counts.queue_dropped, 1);
	CHECK_INT(link_way_decide(&way, 101 * MS, 1500).depart[0], 115 * MS);
	CHECK_INT(link_way_decide(&way, 200 * MS, 1500).depart[0], 211 * MS);
}

static void test_jitter_keeps_order(void)
{
	struct link_way way = way_of((const char *const[][2]){{"jitter", "5"}, {NULL}}, 9, 0);
	uint64_t before = 0, spread = 0;
	for (uint64_t i = 0; i < 1000; i++) {
		uint64_t at = link_way_decide(&way, i * MS / 10, 60).depart[0];
		CHECK(at >= before && at < i * MS / 10 + 6 * MS);
		spread += at > i * MS / 10 + MS;
		before = at;
	}
	CHECK(spread > 500);
}

static void test_overtaken(void)
{
	struct link_way way = way_of((const char *const[][2]){{NULL}}, 1, 0);
	link_way_sent(&way, 0, 60, false);
	link_way_sent(&way, 2, 60, false);
	link_way_sent(&way, 2, 60, true);
	link_way_sent(&way, 1, 60, false);
	link_way_sent(&way, 3, 60, false);
	CHECK_INT(way.counts.reordered, 1);
	CHECK_INT(way.counts.duplicated, 1);
	CHECK_INT(way.counts.sent, 5);
}

static void test_mtu(void)
{
	struct link_way way = way_of((const char *const[][2]){{"mtu", "1280"}, {NULL}}, 1, 0);
	CHECK_INT(link_way_decide(&way, 1, 1280 + 14).copies, 1);
	CHECK_INT(link_way_decide(&way, 1, 1281 + 14).copies, 0);
	CHECK_INT(way.counts.too_long, 1);
}

static void test_bad_words(void)
{
	struct link_params params;
	link_params_init(&params);
	CHECK_INT(link_params_set(&params, "los", "1"), -EINVAL);
	CHECK_INT(link_params_set(&params, "loss", "101"), -EINVAL);
	CHECK_INT(link_params_set(&params, "loss", "-1"), -EINVAL);
	CHECK_INT(link_params_set(&params, "loss", "1x"), -EINVAL);
	CHECK_INT(link_params_set(&params, "loss", ""), -EINVAL);
	CHECK_INT(link_params_set(&params, "rate", "nan"), -EINVAL);
	CHECK_INT(link_params_set(&params, "mtu", "1280.5"), -EINVAL);
}

int main(void)
{
	test_clean();
	test_shares();
	test_seed();
	test_rate();
	test_jitter_keeps_order();
	test_overtaken();
	test_mtu();
	test_bad_words();
	return 0;
}
