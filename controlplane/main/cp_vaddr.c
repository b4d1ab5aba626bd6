/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which virtual addresses are available, by the state of their virtual servers. Only those whose answers depend on
 * it are told to the dataplane; what changed at once is worked out once, when the message is made.
 */
#include "compile/compile.h"
#include "main/cp.h"

static bool is_selective(const struct object *vaddr)
{
	const struct virtual_address_conf *conf = &model_virtual_address(vaddr)->conf;

	return conf->arp == VIRTUAL_ADDRESS_ARP_SELECTIVE ||
	       conf->icmp_echo == VIRTUAL_ADDRESS_ICMP_ECHO_SELECTIVE;
}

void cp_vaddr_live(struct cp *cp, const struct object *o, struct live_row *out)
{
	struct state_count count = {0};
	const uint32_t *virtual;
	unsigned virtuals = cp_index_virtuals(&cp->virtuals, cp->model, o->id, &virtual);

	for (unsigned i = 0; i < virtuals; i++)
		compile_count_virtual(
			cp->model, cp->verdicts, model_get(cp->model, virtual[i]), &count);
	*out = (struct live_row){.id = o->id,
		.live = {.ratio = 1,
			.dynamic_ratio = 1,
			.avail = compile_address_state(o, &count).avail}};
}

void cp_vaddr_member_changed(struct cp *cp, const struct object *member)
{
	const uint32_t *virtual;
	unsigned virtuals = cp_index_of_pool(&cp->of_pool, cp->model, member->owner, &virtual);

	for (unsigned i = 0; i < virtuals; i++) {
		const struct object *v = model_get(cp->model, virtual[i]);
		const struct object *vaddr =
			model_get(cp->model, model_virtual(v)->conf.destination.addr);

		if (is_selective(vaddr))
			dplink_live_changed(cp->link, vaddr->id);
	}
}

void cp_vaddr_all_changed(struct cp *cp)
{
	const struct object *o;

	for (unsigned i = 0; (o = model_at(cp->model, KIND_VIRTUAL_ADDRESS, i)); i++)
		if (is_selective(o))
			dplink_live_changed(cp->link, o->id);
}
