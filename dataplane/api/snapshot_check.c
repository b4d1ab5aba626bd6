/* SPDX-License-Identifier: BSD-3-Clause */
/* The one gate a snapshot passes before the dataplane believes it. */
#include "api/snapshot.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "api/snapshot_rules.h"

struct checker {
	const struct snap_header *h;
	uint64_t *slots;	    /* bit per id slot: taken */
	uint32_t tiled[SNAP_KINDS]; /* rows of each table that spans have covered so far */
	char *reason;
	size_t reason_size;
};

__attribute__((format(printf, 2, 3))) static int refuse(struct checker *c, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	vsnprintf(c->reason, c->reason_size, format, ap);
	va_end(ap);
	return -EINVAL;
}

#define refuse_row(c, kind, row, format, ...)                                                      \
	refuse(c, "%s row %u: " format, snap_kind_name[kind], row, ##__VA_ARGS__)

static uint64_t field_get(const uint8_t *row, const struct snap_rule *r)
{
	uint16_t h;
	uint32_t w;

	switch (r->size) {
	case 1:
		return row[r->offset];
	case 2:
		memcpy(&h, row + r->offset, sizeof(h));
		return h;
	default:
		memcpy(&w, row + r->offset, sizeof(w));
		return w;
	}
}

static bool bytes_are_zero(const uint8_t *p, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (p[i])
			return false;
	return true;
}

static bool name_is_good(const uint8_t *p)
{
	size_t n = strnlen((const char *)p, SNAP_NAME_MAX);

	if (n == 0 || n == SNAP_NAME_MAX)
		return false;
	for (size_t i = 0; i < n; i++)
		if (p[i] <= ' ' || p[i] > '~')
			return false;
	return bytes_are_zero(p + n, SNAP_NAME_MAX - n);
}

static bool id_take(struct checker *c, uint32_t id)
{
	uint32_t slot = id_slot(id);
	uint64_t bit = 1ull << (slot % 64);

	if (slot == 0 || (c->slots[slot / 64] & bit))
		return false;
	c->slots[slot / 64] |= bit;
	return true;
}

static bool span_take(struct checker *c, const uint8_t *row, const struct snap_rule *r)
{
	uint32_t span[2];

	memcpy(span, row + r->offset, sizeof(span));
	if (span[0] != c->tiled[r->max] || span[1] > c->h->tables[r->max].count - span[0])
		return false;
	c->tiled[r->max] += span[1];
	return true;
}

static bool prefix_is_good(const uint8_t *row, const struct snap_rule *r)
{
	unsigned prefix = row[r->offset];
	struct ip_addr addr;

	memcpy(&addr, row + r->min, sizeof(addr));
	if (prefix > ip_prefix_max(&addr))
		return false;
	struct ip_addr net = ip_prefix_of(&addr, prefix);
	return r->max == 0 || ip_equal(&net, &addr);
}

static bool rule_holds(struct checker *c, const uint8_t *row, const struct snap_rule *r)
{
	uint64_t v;

	switch ((enum snap_rule_type)r->type) {
	case RULE_RANGE:
		v = field_get(row, r);
		return v >= r->min && v <= r->max;
	case RULE_ZERO:
		return bytes_are_zero(row + r->offset, r->size);
	case RULE_ID:
		return id_take(c, (uint32_t)field_get(row, r));
	case RULE_REF:
		v = field_get(row, r);
		return v < c->h->tables[r->max].count || (r->min && v == SNAP_NIL);
	case RULE_SPAN:
		return span_take(c, row, r);
	case RULE_NAME:
		return name_is_good(row + r->offset);
	case RULE_PREFIX:
		return prefix_is_good(row, r);
	case RULE_ADDR:
		break;
	}
	return true;
}

static int rows_check(struct checker *c, unsigned kind)
{
	static const char *const why[] = {
		[RULE_ADDR] = "",
		[RULE_RANGE] = "out of range",
		[RULE_ZERO] = "not zero",
		[RULE_ID] = "none, or its slot is used twice",
		[RULE_REF] = "no such row",
		[RULE_SPAN] = "rows not contiguous or beyond the table",
		[RULE_NAME] = "not a printable name",
		[RULE_PREFIX] = "does not fit its address",
	};
	const struct snap_table *t = &c->h->tables[kind];
	const uint8_t *row = (const uint8_t *)c->h + t->offset;

	for (uint32_t i = 0; i < t->count; i++, row += t->row)
		for (const struct snap_rule *r = snap_rules[kind]; r->name; r++)
			if (!rule_holds(c, row, r))
				return refuse_row(c, kind, i, "%s: %s", r->name, why[r->type]);
	return 0;
}

/* Each row of a table that others span belongs to exactly one of them. */
static int spans_check(struct checker *c)
{
	static const uint8_t spanned[] = {
		SNAP_VLAN_MEMBER, SNAP_SERVICE, SNAP_MEMBER, SNAP_VLAN_REF, SNAP_SNAT_ADDR};

	for (size_t i = 0; i < sizeof(spanned); i++)
		if (c->tiled[spanned[i]] != c->h->tables[spanned[i]].count)
			return refuse(c, "%s table: rows that belong to nobody",
				snap_kind_name[spanned[i]]);
	return 0;
}

static int members_check(struct checker *c)
{
	const struct snap_pool *pool = SNAP_ROWS(c->h, SNAP_POOL, struct snap_pool);
	const struct snap_member *member = SNAP_ROWS(c->h, SNAP_MEMBER, struct snap_member);

	for (uint32_t p = 0; p < SNAP_COUNT(c->h, SNAP_POOL); p++)
		for (uint32_t i = 0; i < pool[p].members; i++)
			if (member[pool[p].first_member + i].pool != p)
				return refuse_row(c, SNAP_MEMBER, pool[p].first_member + i,
					"pool: not the one that lists it");
	return 0;
}

static int routes_check(struct checker *c)
{
	const struct snap_route *r = SNAP_ROWS(c->h, SNAP_ROUTE, struct snap_route);

	for (uint32_t i = 0; i < SNAP_COUNT(c->h, SNAP_ROUTE); i++, r++) {
		bool gateway = !bytes_are_zero(r->gateway.b, 16);

		if ((r->kind == SNAP_ROUTE_VLAN) != (r->vlan != SNAP_NIL))
			return refuse_row(c, SNAP_ROUTE, i, "vlan: does not go with the kind");
		if ((r->kind == SNAP_ROUTE_GATEWAY) != gateway)
			return refuse_row(c, SNAP_ROUTE, i, "gateway: does not go with the kind");
		if (gateway && ip_is_v4(&r->gateway) != ip_is_v4(&r->network))
			return refuse_row(
				c, SNAP_ROUTE, i, "gateway: other family than the network");
	}
	return 0;
}

static int selfs_check(struct checker *c)
{
	const struct snap_self *s = SNAP_ROWS(c->h, SNAP_SELF, struct snap_self);

	for (uint32_t i = 0; i < SNAP_COUNT(c->h, SNAP_SELF); i++, s++)
		if (s->services && s->allow != SNAP_ALLOW_LIST)
			return refuse_row(c, SNAP_SELF, i, "services: only with an allow list");
	return 0;
}

static int virtuals_check(struct checker *c)
{
	const struct snap_virtual *v = SNAP_ROWS(c->h, SNAP_VIRTUAL, struct snap_virtual);
	const struct snap_vaddr *vaddr = SNAP_ROWS(c->h, SNAP_VADDR, struct snap_vaddr);

	for (uint32_t i = 0; i < SNAP_COUNT(c->h, SNAP_VIRTUAL); i++, v++) {
		if ((v->snat == SNAP_SNAT_POOL) != (v->snatpool != SNAP_NIL))
			return refuse_row(c, SNAP_VIRTUAL, i, "snatpool: does not go with snat");
		if (v->vlans == SNAP_VLANS_ALL && v->vlan_count)
			return refuse_row(
				c, SNAP_VIRTUAL, i, "vlans: a list although all are meant");
		if (ip_is_v4(&v->source) != ip_is_v4(&vaddr[v->vaddr].addr))
			return refuse_row(
				c, SNAP_VIRTUAL, i, "source: other family than the destination");
	}
	return 0;
}

/* Places and sizes of the tables; everything after this may trust them. */
static int tables_check(struct checker *c)
{
	const struct snap_header *h = c->h;
	uint64_t end = sizeof(*h);

	/* Tables lie in order of their kind, so that "behind the one before" means "no overlap". */
	for (unsigned k = 0; k < SNAP_KINDS; k++) {
		const struct snap_table *t = &h->tables[k];

		if (t->row != snap_row_size[k])
			return refuse(c, "%s table: rows of %u bytes, not %u", snap_kind_name[k],
				t->row, snap_row_size[k]);
		if (t->count > SNAP_ROWS_MAX)
			return refuse(
				c, "%s table: %u rows are too many", snap_kind_name[k], t->count);
		if (t->offset % SNAP_ALIGN)
			return refuse(c, "%s table: not aligned", snap_kind_name[k]);
		if (t->offset < end || t->offset > h->length ||
			(uint64_t)t->count * t->row > h->length - t->offset)
			return refuse(c, "%s table: outside its place", snap_kind_name[k]);
		if (t->offset - end >= SNAP_ALIGN ||
			!bytes_are_zero((const uint8_t *)h + end, t->offset - end))
			return refuse(c, "%s table: gap before it", snap_kind_name[k]);
		end = t->offset + (uint64_t)t->count * t->row;
	}
	if (h->length - end >= SNAP_ALIGN ||
		!bytes_are_zero((const uint8_t *)h + end, h->length - end))
		return refuse(c, "%" PRIu64 " bytes behind the last table", h->length - end);
	if (h->tables[SNAP_SETTINGS].count != 1)
		return refuse(c, "settings table: must have one row");
	return 0;
}

static int header_check(struct checker *c, size_t length)
{
	const struct snap_header *h = c->h;

	if ((uintptr_t)h % sizeof(uint64_t))
		return refuse(c, "buffer is not aligned");
	if (length < sizeof(*h) || length > SNAP_LENGTH_MAX)
		return refuse(c, "%zu bytes cannot be a snapshot", length);
	if (h->magic != SNAP_MAGIC || h->version != SNAP_VERSION || h->kinds != SNAP_KINDS)
		return refuse(c, "magic, version or number of tables is not ours");
	if (h->length != length)
		return refuse(c, "length says %" PRIu64 ", not %zu bytes", h->length, length);
	if (h->generation == 0)
		return refuse(c, "generation is 0");
	if (h->checksum != snapshot_checksum(h + 1, length - sizeof(*h)))
		return refuse(c, "checksum is wrong");
	return 0;
}

int snapshot_check(const void *buffer, size_t length, char *reason, size_t reason_size)
{
	struct checker c = {.h = buffer, .reason = reason, .reason_size = reason_size};
	int rc = header_check(&c, length);

	if (rc == 0)
		rc = tables_check(&c);
	if (rc)
		return rc;
	c.slots = calloc(ID_SLOTS_MAX / 64, sizeof(*c.slots));
	if (!c.slots) {
		refuse(&c, "no memory");
		return -ENOMEM;
	}
	for (unsigned k = 0; k < SNAP_KINDS && rc == 0; k++)
		rc = rows_check(&c, k);
	int (*const more[])(struct checker *) = {
		spans_check, members_check, routes_check, selfs_check, virtuals_check};
	for (size_t i = 0; i < sizeof(more) / sizeof(*more) && rc == 0; i++)
		rc = more[i](&c);
	free(c.slots);
	return rc;
}
