/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Wrong passwords slow down who gives them: that name from that place, nobody else. Names that do not exist are
 * counted as all others, so that the delay tells nothing about them.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "auth/auth_internal.h"
#include "base/clock.h"
#include "base/ipaddr.h"

#define FORGET_SECONDS 900u /* without another failure */

void place_of(const char *address, char out[64])
{
	char text[IP_ADDR_TEXT];
	struct ip_addr addr;

	if (ip_parse(address, &addr)) {
		snprintf(out, 64, "%s", address);
		return;
	}
	addr = ip_prefix_of(&addr, ip_is_v4(&addr) ? 32 : 64);
	snprintf(out, 64, "%s", ip_format(&addr, text));
}

static uint64_t hash_of(const char *name, const char *place)
{
	uint64_t hash = 14695981039346656037ull;

	for (const char *p = name; *p; p++)
		hash = (hash ^ (unsigned char)*p) * 1099511628211ull;
	hash *= 1099511628211ull;
	for (const char *p = place; *p; p++)
		hash = (hash ^ (unsigned char)*p) * 1099511628211ull;
	return hash;
}

static struct failures *find(const struct auth *a, const char *name, const char *place)
{
	uint64_t hash = hash_of(name, place);
	struct failures *f;

	TAILQ_FOREACH(f, &a->failures, entry)
	if (f->hash == hash && !strcmp(f->name, name) && !strcmp(f->place, place))
		return f;
	return NULL;
}

static void drop(struct auth *a, struct failures *f)
{
	TAILQ_REMOVE(&a->failures, f, entry);
	a->failure_count--;
	free(f);
}

/* The entry of the name and place, made if needed; moved to the end. NULL: no memory. */
static struct failures *take(struct auth *a, const char *name, const char *place)
{
	struct failures *f = find(a, name, place);

	if (f) {
		TAILQ_REMOVE(&a->failures, f, entry);
		TAILQ_INSERT_TAIL(&a->failures, f, entry);
		if (f->forget_ns <= clock_ns())
			f->count = 0;
		return f;
	}
	if (a->failure_count >= FAILURES_MAX)
		drop(a, TAILQ_FIRST(&a->failures));
	f = calloc(1, sizeof(*f));
	if (!f)
		return NULL;
	f->hash = hash_of(name, place);
	snprintf(f->name, sizeof(f->name), "%s", name);
	snprintf(f->place, sizeof(f->place), "%s", place);
	TAILQ_INSERT_TAIL(&a->failures, f, entry);
	a->failure_count++;
	return f;
}

/* Before the first delay there are some for slips; then each one doubles it. */
static unsigned delay_of(unsigned count)
{
	unsigned doubled = count > AUTH_FREE_FAILURES ? count - AUTH_FREE_FAILURES - 1 : 0;

	if (count < AUTH_FREE_FAILURES)
		return 0;
	return doubled < 6 && 1u << doubled < AUTH_DELAY_MAX ? 1u << doubled : AUTH_DELAY_MAX;
}

static unsigned seconds_until(uint64_t ns, uint64_t now)
{
	return ns > now ? (unsigned)((ns - now + 999999999u) / 1000000000u) : 0;
}

unsigned failures_admit(struct auth *a, const char *name, const char *place)
{
	struct failures *f = take(a, name, place);
	uint64_t now = clock_ns();

	if (!f)
		return 1;
	unsigned wait = f->count ? seconds_until(f->next_ns, now) : 0;
	if (wait)
		return wait;
	f->count++;
	f->next_ns = now + delay_of(f->count) * 1000000000ull;
	f->forget_ns = now + FORGET_SECONDS * 1000000000ull;
	return 0;
}

void failures_delay(struct auth *a, const char *name, const char *place)
{
	struct failures *f = find(a, name, place);

	if (f)
		f->next_ns = clock_ns() + delay_of(f->count) * 1000000000ull;
}

void failures_forget(struct auth *a, const char *name, const char *place)
{
	struct failures *f = find(a, name, place);

	if (f)
		drop(a, f);
}

unsigned auth_failures(struct auth *a, const char *name, const char *address, unsigned *retry)
{
	char place[64];

	place_of(address, place);
	const struct failures *f = find(a, name, place);
	*retry = f ? seconds_until(f->next_ns, clock_ns()) : 0;
	return f ? f->count : 0;
}

void failures_free(struct auth *a)
{
	while (!TAILQ_EMPTY(&a->failures))
		drop(a, TAILQ_FIRST(&a->failures));
}
