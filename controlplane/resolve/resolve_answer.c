/* SPDX-License-Identifier: BSD-3-Clause */
#include "resolve/resolve_answer.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

enum { REFUSED_TOLD = 3 }; /* addresses that are told by name */

bool resolve_name_ok(const char *name)
{
	size_t length = strlen(name), label = 0;

	if (length && name[length - 1] == '.')
		length--;
	if (length == 0 || length > RESOLVE_NAME_MAX - 2)
		return false;
	for (size_t i = 0; i < length; i++) {
		label = name[i] == '.' ? 0 : label + 1;
		if (label > 63 || (label == 0 && (i == 0 || name[i - 1] == '.')))
			return false;
		if (label && !isalnum((unsigned char)name[i]) && !strchr("-_", name[i]))
			return false;
	}
	return label > 0;
}

static const char *not_host_v4(const struct ip_addr *a)
{
	if (a->b[12] == 0)
		return "is the address of no host";
	if (a->b[12] == 127)
		return "is a loopback address";
	if (a->b[12] == 169 && a->b[13] == 254)
		return "is a link-local address";
	if (a->b[12] >= 240)
		return a->w[3] == UINT32_MAX ? "is the broadcast address" : "is reserved";
	return a->b[12] >= 224 ? "is a multicast address" : NULL;
}

const char *resolve_not_host(const struct ip_addr *a)
{
	static const struct ip_addr one = {.b = {[15] = 1}}, mapped = {.b = {[10] = 0xff, 0xff}};

	if (ip_is_v4(a))
		return not_host_v4(a);
	if (ip_is_any(a) || ip_equal(a, &mapped))
		return "is the address of no host";
	if (ip_equal(a, &one))
		return "is a loopback address";
	if (a->b[0] == 0xfe && (a->b[1] & 0xc0) == 0x80)
		return "is a link-local address";
	return a->b[0] == 0xff ? "is a multicast address" : NULL;
}

static int position(const struct resolve_addresses *in, const struct ip_addr *addr)
{
	for (unsigned i = 0; i < in->count; i++)
		if (ip_equal(&in->v[i], addr))
			return (int)i;
	return -1;
}

static bool found_has(const struct resolve_found *found, const struct ip_addr *addr)
{
	for (unsigned i = 0; i < found->count; i++)
		if (ip_equal(&found->addr[i], addr))
			return true;
	return false;
}

static bool family_failed(const struct resolve_found *found, const struct ip_addr *addr)
{
	return (ip_is_v4(addr) ? found->ipv4 : found->ipv6) == LOOKUP_FAILED;
}

struct choice {
	struct resolve_addresses address;
	const struct resolve_found *found;
	unsigned usable, fresh, refused; /* fresh: that the answer has */
	const char *(*refuse)(void *ctx, const struct ip_addr *addr);
	void *ctx;
	char *text; /* of refused ones */
	size_t size;
};

static bool choice_refuses(struct choice *c, const struct ip_addr *addr)
{
	const char *why = resolve_not_host(addr);
	char text[IP_ADDR_TEXT];
	size_t length = strlen(c->text);

	if (!why && ip_is_v4(addr) && c->found->ipv4 == LOOKUP_NOT_ASKED)
		why = "is an IPv4 address";
	if (!why && c->refuse)
		why = c->refuse(c->ctx, addr);
	if (why && ++c->refused <= REFUSED_TOLD)
		snprintf(c->text + length, c->size - length, "%s%s %s", length ? ", " : "",
			ip_format(addr, text), why);
	return why != NULL;
}

static void choice_add(struct choice *c, const struct ip_addr *addr, bool fresh)
{
	if (position(&c->address, addr) >= 0 || choice_refuses(c, addr))
		return;
	c->usable++;
	c->fresh += fresh;
	if (c->address.count < RESOLVE_ADDRESSES_MAX)
		c->address.v[c->address.count++] = *addr;
}

static void choice_tell(struct choice *c)
{
	size_t length = strlen(c->text);

	if (c->refused > REFUSED_TOLD)
		length += (size_t)snprintf(c->text + length, c->size - length, " and %u more",
			c->refused - REFUSED_TOLD);
	if (c->usable > c->address.count && length < c->size)
		snprintf(c->text + length, c->size - length,
			"%s%u addresses are more than the %u used", length ? "; " : "", c->usable,
			RESOLVE_ADDRESSES_MAX);
}

/* Known ones first: those that are still there, and those whose family could not be asked. */
static void choose(struct choice *c, const struct resolve_status *status)
{
	for (unsigned i = 0; i < status->address.count; i++) {
		const struct ip_addr *known = &status->address.v[i];
		bool fresh = found_has(c->found, known);

		if (fresh || family_failed(c->found, known))
			choice_add(c, known, fresh);
	}
	for (unsigned i = 0; i < c->found->count; i++)
		choice_add(c, &c->found->addr[i], true);
	choice_tell(c);
}

static uint8_t state_of(const struct choice *c)
{
	bool failed = c->found->ipv4 == LOOKUP_FAILED || c->found->ipv6 == LOOKUP_FAILED;

	if (c->fresh)
		return RESOLVE_UP;
	return failed ? RESOLVE_DOWN : RESOLVE_UP_NO_ADDR;
}

static bool same_set(const struct resolve_addresses *a, const struct resolve_addresses *b)
{
	if (a->count != b->count || (a->count && !ip_equal(&a->v[0], &b->v[0])))
		return false;
	for (unsigned i = 0; i < a->count; i++)
		if (position(b, &a->v[i]) < 0)
			return false;
	return true;
}

bool resolve_take(struct resolve_status *status, const struct resolve_found *found, uint64_t now,
	const char *(*refuse)(void *ctx, const struct ip_addr *addr), void *ctx)
{
	struct choice c = {.found = found,
		.refuse = refuse,
		.ctx = ctx,
		.text = status->refused,
		.size = sizeof(status->refused)};

	status->refused[0] = 0;
	snprintf(status->error, sizeof(status->error), "%s", found->error);
	choose(&c, status);
	status->state = state_of(&c);
	if (status->state == RESOLVE_UP_NO_ADDR)
		snprintf(status->error, sizeof(status->error), "%s",
			found->count ? "the answer has no address that can be used"
				     : "the name has no addresses");
	if (status->state != RESOLVE_UP)
		return false;
	bool changed = !same_set(&status->address, &c.address);
	status->address = c.address;
	status->answered_ns = now;
	status->ttl = found->ttl;
	return changed;
}

uint64_t resolve_wait(
	const struct resolve_name *name, const struct resolve_status *status, uint32_t random)
{
	bool good = status->state == RESOLVE_UP && !status->error[0];
	uint64_t seconds = name->interval ? name->interval : status->ttl;

	if (!good)
		seconds = name->down_interval;
	if (seconds < RESOLVE_WAIT_MIN)
		seconds = RESOLVE_WAIT_MIN;
	if (seconds > RESOLVE_WAIT_MAX)
		seconds = RESOLVE_WAIT_MAX;
	/* Later rather than sooner: a caching server gives the rest of the same answer before its end. */
	return seconds * 1000 + random % (seconds * 100 + 1);
}
