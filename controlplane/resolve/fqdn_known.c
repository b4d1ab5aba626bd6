/* SPDX-License-Identifier: BSD-3-Clause */
/* What ephemeral objects say of the answers that they were made from: the memory over restarts. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "resolve/fqdn_internal.h"

static bool pool_matters(const struct model *m, const struct object *pool)
{
	const struct object *o;

	for (unsigned i = 0; (o = model_child_at(m, pool, i)); i++)
		if (model_is_ephemeral(o) || model_is_template(m, o))
			return true;
	return false;
}

int fqdn_pools(struct fqdn *f, const struct model *m)
{
	const struct object *pool;

	if (f->pools_known)
		return 0;
	f->pools = 0;
	for (unsigned i = 0; (pool = model_at(m, KIND_POOL, i)); i++) {
		if (!pool_matters(m, pool))
			continue;
		if (!fqdn_reserve((void **)&f->pool, &f->pools_size, f->pools, sizeof(*f->pool)))
			return -ENOMEM;
		f->pool[f->pools++] = pool->id;
	}
	f->pools_known = true;
	return 0;
}

unsigned fqdn_first_made(const struct model *m)
{
	static const char first[] = "/Common/" MODEL_EPHEMERAL_PREFIX;
	unsigned low = 0, high = model_count(m, KIND_NODE);

	while (low < high) {
		unsigned middle = (low + high) / 2;

		if (strcmp(model_at(m, KIND_NODE, middle)->path, first) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

bool fqdn_is_leaving(const struct model *m, const struct object *member)
{
	const struct hold *h = &model_pool_member(member)->live.holds.by[HOLD_SYSTEM];

	return h->bits && !strcmp(model_string(m, h->reason), FQDN_LEAVES);
}

static void add(struct resolve_addresses *out, const struct ip_addr *addr)
{
	for (unsigned i = 0; i < out->count; i++)
		if (ip_equal(&out->v[i], addr))
			return;
	if (out->count < RESOLVE_ADDRESSES_MAX)
		out->v[out->count++] = *addr;
}

/* Ephemeral members of the pool that were made from the name. */
static void known_in_pool(const struct model *m, const struct object *pool, uint32_t name,
	struct resolve_addresses *out)
{
	const struct object *o;

	for (unsigned i = 0; (o = model_child_at(m, pool, i)); i++) {
		const struct pool_member_conf *conf = &model_pool_member(o)->conf;

		if (conf->ephemeral && conf->fqdn_name == name && !fqdn_is_leaving(m, o))
			add(out, &model_node(model_get(m, conf->node))->conf.address);
	}
}

void fqdn_known(const struct fqdn *f, const struct object *node, struct resolve_addresses *out)
{
	const struct model *m = f->model;
	uint32_t name = model_node(node)->conf.fqdn_name;
	const struct object *o;

	out->count = 0;
	for (unsigned i = 0; i < f->pools; i++) {
		const struct object *pool = model_get(m, f->pool[i]);

		if (pool)
			known_in_pool(m, pool, name, out);
	}
	/* Nodes that nobody has as a member. */
	for (unsigned i = fqdn_first_made(m);
		(o = model_at(m, KIND_NODE, i)) && model_is_ephemeral(o); i++)
		if (!o->users && model_node(o)->conf.fqdn_name == name)
			add(out, &model_node(o)->conf.address);
}
