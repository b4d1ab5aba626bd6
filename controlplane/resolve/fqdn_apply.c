/* SPDX-License-Identifier: BSD-3-Clause */
/* Makes ephemeral nodes and members what the names ask for. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "resolve/fqdn_internal.h"

/* An address that a name asks a node for. */
struct wanted {
	struct ip_addr addr;
	uint32_t node; /* the template */
};

/* A place in a pool that a template member asks a member for. */
struct place {
	struct ip_addr addr;
	uint16_t port;
	uint32_t member, node; /* templates */
	bool taken;
};

struct apply {
	struct fqdn *f;
	struct model *m;
	struct model_error *err;
	uint64_t now;
	struct wanted *wanted; /* sorted */
	unsigned wanteds;
};

static int no_memory(struct model_error *err)
{
	*err = (struct model_error){.code = -ENOMEM};
	snprintf(err->reason, sizeof(err->reason), "no memory");
	return -ENOMEM;
}

/* --- what a template gives to what is made from it ------------------------------------------------ */

static bool is_given(const struct field *f)
{
	if (f->group || f->create_only || f->derived || f->hidden)
		return false;
	return f->class == FIELD_CONFIG || !strcmp(f->name, "ratio");
}

static int fields_give(
	struct apply *a, const struct object *from, uint32_t to, struct model_error *err)
{
	const struct kind *k = &model_kinds[from->kind];
	int rc = 0;

	for (unsigned i = 0; rc == 0 && i < k->field_count; i++) {
		const struct field *f = &k->fields[i];
		const char *x = from->data, *y = model_get(a->m, to)->data;
		struct text text = {0};

		if (!is_given(f) || !memcmp(x + f->offset, y + f->offset, f->size))
			continue;
		model_field_text(a->m, from, f, &text);
		rc = text.failed ? no_memory(err)
				 : model_set_text(a->m, to, NULL, f->name,
					   text.data ? text.data : "", err);
		text_fini(&text);
	}
	return rc;
}

static int hold(struct apply *a, uint32_t id, unsigned bits, const char *reason)
{
	const struct hold *h = &model_holds(model_get(a->m, id))->by[HOLD_SYSTEM];

	if (h->bits == bits && (!bits || !strcmp(model_string(a->m, h->reason), reason)))
		return 0;
	return model_hold(a->m, id, HOLD_SYSTEM, bits, reason, a->err);
}

/* --- nodes ---------------------------------------------------------------------------------------- */

/* The addresses that the node's name stands for. */
static unsigned node_addresses(
	const struct fqdn *f, const struct object *node, const struct ip_addr **addr)
{
	const struct resolve_status *s = resolver_status(f->resolver, node->id);
	unsigned count = s ? s->address.count : 0;

	*addr = s ? s->address.v : NULL;
	return model_node(node)->conf.fqdn_autopopulate || count < 2 ? count : 1;
}

static int wanted_order(const void *a, const void *b)
{
	const struct wanted *x = a, *y = b;
	int order = memcmp(&x->addr, &y->addr, sizeof(x->addr));

	if (order)
		return order;
	return x->node < y->node ? -1 : x->node > y->node;
}

static int wanted_collect(struct apply *a)
{
	const struct fqdn *f = a->f;
	const struct ip_addr *addr;
	unsigned size = 0;

	for (unsigned i = 0; i < f->names; i++) {
		const struct object *node = model_get(a->m, f->name[i].node);
		unsigned count = node ? node_addresses(f, node, &addr) : 0;

		for (unsigned k = 0; k < count; k++) {
			if (!fqdn_reserve(
				    (void **)&a->wanted, &size, a->wanteds, sizeof(*a->wanted)))
				return no_memory(a->err);
			a->wanted[a->wanteds++] = (struct wanted){addr[k], node->id};
		}
	}
	if (a->wanteds)
		qsort(a->wanted, a->wanteds, sizeof(*a->wanted), wanted_order);
	return 0;
}

static bool is_wanted(const struct apply *a, const struct ip_addr *addr)
{
	unsigned low = 0, high = a->wanteds;

	while (low < high) {
		unsigned middle = (low + high) / 2;

		if (memcmp(&a->wanted[middle].addr, addr, sizeof(*addr)) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low < a->wanteds && ip_equal(&a->wanted[low].addr, addr);
}

static int node_create(struct apply *a, const char *name, const struct wanted *w, uint32_t *id)
{
	const struct object *from = model_get(a->m, w->node);
	char addr[IP_ADDR_TEXT];
	int rc = model_create(a->m, KIND_NODE, ID_NONE, name, id, a->err);

	a->f->added++;
	if (rc == 0)
		rc = model_set_text(a->m, *id, NULL, "address", ip_format(&w->addr, addr), a->err);
	if (rc == 0)
		rc = model_set_text(a->m, *id, "fqdn", "name",
			model_string(a->m, model_node(from)->conf.fqdn_name), a->err);
	return rc ? rc : model_set_text(a->m, *id, NULL, "ephemeral", "true", a->err);
}

/* w: first of those that ask for the address; bits: what all of them are held by. */
static int node_make(struct apply *a, const struct wanted *w, unsigned bits)
{
	char name[sizeof(MODEL_EPHEMERAL_PREFIX) + IP_ADDR_TEXT], addr[IP_ADDR_TEXT];
	const struct object *o;
	uint32_t id;
	int rc = 0;

	if (model_node_at(a->m, &w->addr))
		return 0;
	snprintf(name, sizeof(name), MODEL_EPHEMERAL_PREFIX "%s", ip_format(&w->addr, addr));
	o = model_find(a->m, KIND_NODE, ID_NONE, name);
	if (o)
		id = o->id;
	else
		rc = node_create(a, name, w, &id);
	if (rc == 0)
		rc = fields_give(a, model_get(a->m, w->node), id, a->err);
	return rc ? rc : hold(a, id, bits, FQDN_FOLLOWS);
}

static int nodes_make(struct apply *a)
{
	int rc = 0;

	for (unsigned i = 0, next; rc == 0 && i < a->wanteds; i = next) {
		unsigned bits = HOLD_SESSION | HOLD_STATE;

		for (next = i;
			next < a->wanteds && ip_equal(&a->wanted[next].addr, &a->wanted[i].addr);
			next++)
			bits &= holds_bits(model_holds(model_get(a->m, a->wanted[next].node)));
		rc = node_make(a, &a->wanted[i], bits);
	}
	return rc;
}

/* Those that no name asks for and no member needs. */
static int nodes_end(struct apply *a)
{
	unsigned first = fqdn_first_made(a->m), count = 0, size = 0;
	const struct object *o;
	uint32_t *gone = NULL;
	int rc = 0;

	a->f->made = 0;
	for (unsigned i = first; (o = model_at(a->m, KIND_NODE, i)) && model_is_ephemeral(o); i++) {
		const struct ip_addr *addr = &model_node(o)->conf.address;

		a->f->made++;
		if (o->users || (is_wanted(a, addr) && !model_node_at(a->m, addr)))
			continue;
		if (!fqdn_reserve((void **)&gone, &size, count, sizeof(*gone))) {
			rc = no_memory(a->err);
			break;
		}
		gone[count++] = o->id;
	}
	for (unsigned i = 0; rc == 0 && i < count; i++)
		rc = model_delete(a->m, gone[i], a->err);
	a->f->deleted += count;
	free(gone);
	return rc;
}

/* --- members that leave --------------------------------------------------------------------------- */

static struct fqdn_leaving *leaving_find(struct fqdn *f, uint32_t member)
{
	for (unsigned i = 0; i < f->leavings; i++)
		if (f->leaving[i].member == member)
			return &f->leaving[i];
	return NULL;
}

static int leave(struct apply *a, const struct object *o)
{
	struct fqdn *f = a->f;

	if (leaving_find(f, o->id))
		return hold(a, o->id, HOLD_SESSION, FQDN_LEAVES);
	if (!fqdn_reserve(
		    (void **)&f->leaving, &f->leavings_size, f->leavings, sizeof(*f->leaving)))
		return no_memory(a->err);
	f->leaving[f->leavings++] = (struct fqdn_leaving){.member = o->id, .since_ns = a->now};
	f->held++;
	return hold(a, o->id, HOLD_SESSION, FQDN_LEAVES);
}

static bool is_over(const struct apply *a, const struct fqdn_leaving *l)
{
	uint64_t age = (a->now - l->since_ns) / 1000000000;

	if (age >= FQDN_LEAVE_MAX)
		return true;
	return age >= FQDN_LEAVE_MIN && a->f->ops->connections(a->f->ctx, l->member) == 0;
}

static int leaving_end(struct apply *a)
{
	struct fqdn *f = a->f;
	unsigned kept = 0, many = 0;
	int rc = 0;

	if (f->leavings > FQDN_LEAVING_MAX)
		many = f->leavings - FQDN_LEAVING_MAX;
	for (unsigned i = 0; i < f->leavings; i++) {
		struct fqdn_leaving l = f->leaving[i];

		if (l.stays || !model_get(a->m, l.member))
			continue;
		if (rc == 0 && (i < many || is_over(a, &l))) {
			rc = model_delete(a->m, l.member, a->err);
			f->deleted++;
			continue;
		}
		f->leaving[kept++] = l;
	}
	f->leavings = kept;
	return rc;
}

/* --- pools ---------------------------------------------------------------------------------------- */

static int place_order(const void *a, const void *b)
{
	const struct place *x = a, *y = b;
	int order = memcmp(&x->addr, &y->addr, sizeof(x->addr));

	if (order)
		return order;
	if (x->port != y->port)
		return x->port < y->port ? -1 : 1;
	return x->member < y->member ? -1 : x->member > y->member;
}

struct places {
	struct place *v;
	unsigned count, size;
};

static struct place *place_find(const struct places *p, const struct ip_addr *addr, uint16_t port)
{
	unsigned low = 0, high = p->count;

	while (low < high) {
		unsigned middle = (low + high) / 2;
		int order = memcmp(&p->v[middle].addr, addr, sizeof(*addr));

		if (order < 0 || (order == 0 && p->v[middle].port < port))
			low = middle + 1;
		else
			high = middle;
	}
	return low < p->count && ip_equal(&p->v[low].addr, addr) && p->v[low].port == port
		       ? &p->v[low]
		       : NULL;
}

/* Of several addresses the one that is in use already. */
static unsigned one_of(struct apply *a, const struct object *pool, uint16_t port,
	const struct ip_addr *addr, unsigned count)
{
	const struct object *o;

	for (unsigned i = 0; count > 1 && (o = model_child_at(a->m, pool, i)); i++) {
		const struct pool_member_conf *conf = &model_pool_member(o)->conf;

		if (!conf->ephemeral || conf->port != port || fqdn_is_leaving(a->m, o))
			continue;
		for (unsigned k = 0; k < count; k++)
			if (ip_equal(&addr[k],
				    &model_node(model_get(a->m, conf->node))->conf.address))
				return k;
	}
	return 0;
}

static int places_of(
	struct apply *a, const struct object *pool, const struct object *t, struct places *p)
{
	const struct pool_member_conf *conf = &model_pool_member(t)->conf;
	const struct ip_addr *addr;
	unsigned count = node_addresses(a->f, model_get(a->m, conf->node), &addr);

	if (!conf->fqdn_autopopulate && count > 1) {
		addr += one_of(a, pool, conf->port, addr, count);
		count = 1;
	}
	for (unsigned i = 0; i < count; i++) {
		if (!fqdn_reserve((void **)&p->v, &p->size, p->count, sizeof(*p->v)))
			return no_memory(a->err);
		p->v[p->count++] = (struct place){
			.addr = addr[i], .port = conf->port, .member = t->id, .node = conf->node};
	}
	return 0;
}

/* What the pool's templates ask for, each place once: whose template was made first has it. */
static int places_collect(struct apply *a, const struct object *pool, struct places *p)
{
	const struct object *o;
	unsigned kept = 0;
	int rc = 0;

	for (unsigned i = 0; rc == 0 && (o = model_child_at(a->m, pool, i)); i++)
		if (model_is_template(a->m, o))
			rc = places_of(a, pool, o, p);
	if (p->count)
		qsort(p->v, p->count, sizeof(*p->v), place_order);
	for (unsigned i = 0; i < p->count; i++)
		if (!kept || !ip_equal(&p->v[kept - 1].addr, &p->v[i].addr) ||
			p->v[kept - 1].port != p->v[i].port)
			p->v[kept++] = p->v[i];
	p->count = kept;
	return rc;
}

/* The name that the member stands for: what is known of it after a restart. */
static int name_give(struct apply *a, uint32_t node, uint32_t member)
{
	uint32_t name = model_node(model_get(a->m, node))->conf.fqdn_name;

	if (model_pool_member(model_get(a->m, member))->conf.fqdn_name == name)
		return 0;
	return model_set_text(a->m, member, "fqdn", "name", model_string(a->m, name), a->err);
}

static int follow(struct apply *a, const struct place *p, uint32_t member)
{
	const struct object *from = model_get(a->m, p->member);
	unsigned bits =
		holds_bits(model_holds(from)) | holds_bits(model_holds(model_get(a->m, p->node)));
	int rc = fields_give(a, from, member, a->err);

	if (rc == 0)
		rc = name_give(a, p->node, member);
	return rc ? rc : hold(a, member, bits, FQDN_FOLLOWS);
}

static int member_create(struct apply *a, uint32_t pool, const struct place *p)
{
	const struct object *node = model_node_at(a->m, &p->addr);
	char addr[IP_ADDR_TEXT], name[MODEL_NAME_MAX];
	const char *leaf;
	uint32_t id;

	ip_format(&p->addr, addr);
	leaf = node ? strrchr(node->path, '/') + 1 : addr;
	snprintf(name, sizeof(name), "%s%s%c%u", node ? "" : MODEL_EPHEMERAL_PREFIX, leaf,
		strchr(leaf, ':') ? '.' : ':', p->port);
	int rc = model_create(a->m, KIND_POOL_MEMBER, pool, name, &id, a->err);
	a->f->added++;
	if (rc == 0)
		rc = model_set_text(a->m, id, NULL, "ephemeral", "true", a->err);
	return rc ? rc : follow(a, p, id);
}

static void stays(struct apply *a, uint32_t member)
{
	struct fqdn_leaving *l = leaving_find(a->f, member);

	if (l)
		l->stays = true;
}

/* One that a name had made: it stays if it has a place of its own, else it leaves. */
static int member_settle(struct apply *a, const struct object *o, struct place *p)
{
	const struct object *node = model_get(a->m, model_pool_member(o)->conf.node);

	/* A node that a person has made of the address since comes before the ephemeral one. */
	if (!p || p->taken ||
		(model_is_ephemeral(node) && model_node_at(a->m, &model_node(node)->conf.address)))
		return leave(a, o);
	p->taken = true;
	stays(a, o->id);
	return follow(a, p, o->id);
}

static struct place *place_of(struct apply *a, const struct places *p, const struct object *o)
{
	const struct pool_member_conf *conf = &model_pool_member(o)->conf;

	return place_find(p, &model_node(model_get(a->m, conf->node))->conf.address, conf->port);
}

static int pool_settle(struct apply *a, const struct object *pool, struct places *p)
{
	const struct object *o;
	uint32_t id = pool->id;
	int rc = 0;

	for (unsigned i = 0; (o = model_child_at(a->m, pool, i)); i++) {
		struct place *place = model_is_ephemeral(o) || model_is_template(a->m, o)
					      ? NULL
					      : place_of(a, p, o);
		if (place)
			place->taken = true;
	}
	for (unsigned i = 0; rc == 0 && (o = model_child_at(a->m, pool, i)); i++)
		if (model_is_ephemeral(o))
			rc = member_settle(a, o, place_of(a, p, o));
	for (unsigned i = 0; rc == 0 && i < p->count; i++)
		if (!p->v[i].taken)
			rc = member_create(a, id, &p->v[i]);
	return rc;
}

static int pools_make(struct apply *a)
{
	int rc = fqdn_pools(a->f, a->m) ? no_memory(a->err) : 0;

	for (unsigned i = 0; rc == 0 && i < a->f->pools; i++) {
		const struct object *pool = model_get(a->m, a->f->pool[i]);
		struct places places = {0};

		if (!pool)
			continue;
		rc = places_collect(a, pool, &places);
		if (rc == 0)
			rc = pool_settle(a, pool, &places);
		free(places.v);
	}
	return rc;
}

/* --- all ------------------------------------------------------------------------------------------ */

int fqdn_apply(struct fqdn *f, struct model *m, uint64_t now, struct model_error *err)
{
	struct apply a = {.f = f, .m = m, .err = err, .now = now};

	f->added = f->held = f->deleted = 0;
	int rc = wanted_collect(&a);
	if (rc == 0)
		rc = nodes_make(&a);
	if (rc == 0)
		rc = pools_make(&a);
	if (rc == 0)
		rc = leaving_end(&a);
	if (rc == 0)
		rc = nodes_end(&a);
	free(a.wanted);
	snprintf(f->summary, sizeof(f->summary),
		"name resolution: %u made, %u on their way out, %u taken away", f->added, f->held,
		f->deleted);
	return rc;
}

const char *fqdn_summary(const struct fqdn *f)
{
	return f->summary;
}
