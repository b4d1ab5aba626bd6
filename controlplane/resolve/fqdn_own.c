/* SPDX-License-Identifier: BSD-3-Clause */
/* Addresses that are Weir's own: a server with one of them would be Weir itself. */
#include <stdlib.h>
#include <string.h>

#include "resolve/fqdn_internal.h"

static int own_order(const void *a, const void *b)
{
	const struct fqdn_own *x = a, *y = b;

	return memcmp(&x->addr, &y->addr, sizeof(x->addr));
}

static struct fqdn_own own_of(const struct object *o)
{
	const struct virtual_address *v = model_virtual_address(o);

	if (v && (v->conf.mask == MODEL_MASK_HOST ||
			 v->conf.mask == ip_prefix_max(&v->conf.address)))
		return (struct fqdn_own){v->conf.address, "is a virtual address"};
	if (model_self(o))
		return (struct fqdn_own){model_self(o)->conf.address.addr, "is a self IP"};
	if (model_snat_translation(o))
		return (struct fqdn_own){
			model_snat_translation(o)->conf.address, "is a SNAT translation"};
	return (struct fqdn_own){.why = NULL};
}

static void own_collect(struct fqdn *f)
{
	static const enum model_kind kinds[] = {
		KIND_SELF, KIND_VIRTUAL_ADDRESS, KIND_SNAT_TRANSLATION};
	const struct object *o;
	unsigned count = 0;

	for (size_t k = 0; k < sizeof(kinds) / sizeof(*kinds); k++)
		count += model_count(f->model, kinds[k]);
	free(f->own);
	f->owns = 0;
	f->own = calloc(count + 1, sizeof(*f->own));
	if (!f->own)
		return;
	for (size_t k = 0; k < sizeof(kinds) / sizeof(*kinds); k++)
		for (unsigned i = 0; (o = model_at(f->model, kinds[k], i)); i++) {
			f->own[f->owns] = own_of(o);
			f->owns += f->own[f->owns].why != NULL;
		}
	qsort(f->own, f->owns, sizeof(*f->own), own_order);
	f->own_known = true;
}

const char *fqdn_own_reason(struct fqdn *f, const struct ip_addr *addr)
{
	struct fqdn_own wanted = {.addr = *addr};

	if (!f->own_known)
		own_collect(f);
	const struct fqdn_own *own =
		f->owns ? bsearch(&wanted, f->own, f->owns, sizeof(*f->own), own_order) : NULL;
	return own ? own->why : NULL;
}
