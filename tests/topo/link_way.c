/* SPDX-License-Identifier: BSD-3-Clause */
#include "link_way.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define ETHER_HEADER 14u
#define NS_PER_MS 1e6

/* Which decision a random number is for; every frame has the same ones, used or not. */
enum draw { DRAW_LOSS, DRAW_REORDER, DRAW_DUPLICATE, DRAW_CORRUPT, DRAW_BIT, DRAW_JITTER, DRAWS };

void link_params_init(struct link_params *params)
{
	*params = (struct link_params){
		.queue = 50 * 1000000u, .gap = 2 * 1000000u, .mtu = UINT32_MAX};
}

int link_params_set(struct link_params *p, const char *key, const char *value)
{
	const struct {
		const char *key;
		uint64_t *ns;
		double *share;
	} fields[] = {
		{"delay", &p->delay, NULL},
		{"jitter", &p->jitter, NULL},
		{"queue", &p->queue, NULL},
		{"gap", &p->gap, NULL},
		{"loss", NULL, &p->loss},
		{"reorder", NULL, &p->reorder},
		{"duplicate", NULL, &p->duplicate},
		{"corrupt", NULL, &p->corrupt},
	};
	char *end;
	double number = strtod(value, &end);
	if (end == value || *end || !(number >= 0) || number > 1e9)
		return -EINVAL;
	for (size_t i = 0; i < sizeof(fields) / sizeof(*fields); i++) {
		if (strcmp(key, fields[i].key))
			continue;
		if (fields[i].ns) {
			*fields[i].ns = (uint64_t)(number * NS_PER_MS);
			return 0;
		}
		*fields[i].share = number / 100;
		return number > 100 ? -EINVAL : 0;
	}
	if (!strcmp(key, "rate"))
		p->rate = (uint64_t)(number * 1e6);
	else if (!strcmp(key, "mtu") && number >= 68 && floor(number) == number)
		p->mtu = (uint32_t)number;
	else
		return -EINVAL;
	return 0;
}

void link_way_init(
	struct link_way *way, const struct link_params *params, uint64_t seed, uint64_t id)
{
	*way = (struct link_way){.params = *params, .seed = seed * 0x9e3779b97f4a7c15ull + id};
}

/* The finalizer of splitmix64: every bit of the input moves about half of the output's. */
static uint64_t mix(uint64_t x)
{
	x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
	x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
	return x ^ (x >> 31);
}

static uint64_t draw(const struct link_way *way, enum draw which)
{
	return mix(mix(way->seed) + way->frames * DRAWS + which);
}

static bool happens(const struct link_way *way, enum draw which, double share)
{
	return (double)(draw(way, which) >> 11) * 0x1p-53 < share;
}

/* Finds when the frame is through the rate's line; false if its queue is full. */
static bool line_pass(struct link_way *way, uint64_t now, size_t length, uint64_t *passed)
{
	const struct link_params *p = &way->params;
	uint64_t start = way->busy > now ? way->busy : now;
	*passed = now;
	if (!p->rate)
		return true;
	if (start - now > p->queue)
		return false;
	*passed = way->busy = start + (uint64_t)length * 8u * 1000000000u / p->rate;
	return true;
}

static uint64_t depart_plan(struct link_way *way, uint64_t passed)
{
	const struct link_params *p = &way->params;
	uint64_t at = passed + p->delay;
	if (p->jitter)
		at += draw(way, DRAW_JITTER) % p->jitter;
	if (happens(way, DRAW_REORDER, p->reorder))
		return at + p->gap;
	if (at < way->last)
		at = way->last;
	way->last = at;
	return at;
}

struct link_fate link_way_decide(struct link_way *way, uint64_t now, size_t length)
{
	const struct link_params *p = &way->params;
	struct link_fate fate = {.number = way->frames};
	uint64_t passed;

	way->counts.received++;
	if (length > (size_t)p->mtu + ETHER_HEADER) {
		way->counts.too_long++;
	} else if (!line_pass(way, now, length, &passed)) {
		way->counts.queue_dropped++;
	} else if (happens(way, DRAW_LOSS, p->loss)) {
		way->counts.lost++;
	} else {
		fate.copies = 1 + happens(way, DRAW_DUPLICATE, p->duplicate);
		fate.depart[0] = depart_plan(way, passed);
		fate.depart[1] = fate.depart[0] + p->gap;
		if (length > ETHER_HEADER && happens(way, DRAW_CORRUPT, p->corrupt)) {
			fate.corrupt_bit = ETHER_HEADER * 8 +
					   draw(way, DRAW_BIT) % ((length - ETHER_HEADER) * 8);
			way->counts.corrupted++;
		}
	}
	way->frames++;
	return fate;
}

void link_way_sent(struct link_way *way, uint64_t number, size_t length, bool duplicate)
{
	way->counts.sent++;
	way->counts.bytes += length;
	if (duplicate)
		way->counts.duplicated++;
	else if (number + 1 < way->highest)
		way->counts.reordered++;
	else
		way->highest = number + 1;
}
