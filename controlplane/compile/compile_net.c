/* SPDX-License-Identifier: BSD-3-Clause */
/* Interfaces, VLANs, self IPs, routes. */
#include "compile/compile_internal.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

static const char *path_last(const char *path)
{
	const char *slash = strrchr(path, '/');
	return slash ? slash + 1 : path;
}

void compile_tap_name(const struct object *vlan, char out[SNAP_NAME_MAX])
{
	static const char common[] = "/Common/";
	static const char *const reserved[] = {"lo", "all", "default", "mgmt"};
	const char *name = path_last(vlan->path);
	size_t length = strlen(name);
	bool plain = name == vlan->path + sizeof(common) - 1 &&
		     !strncmp(vlan->path, common, sizeof(common) - 1) && length > 0 &&
		     length < SNAP_NAME_MAX && strncmp(name, "vlan-", 5) && name[0] != '.';

	for (size_t i = 0; i < length && plain; i++)
		plain = isalnum((unsigned char)name[i]) || strchr("._-", name[i]);
	for (size_t i = 0; i < sizeof(reserved) / sizeof(*reserved) && plain; i++)
		plain = strcmp(name, reserved[i]) != 0;
	memset(out, 0, SNAP_NAME_MAX);
	if (plain)
		memcpy(out, name, length);
	else
		snprintf(out, SNAP_NAME_MAX, "vlan-%u", id_slot(vlan->id));
}

/* Interfaces that no VLAN uses stay out: the dataplane need not have a port for them. */
static void compile_interfaces(struct compiler *c)
{
	const struct object *o;

	for (unsigned i = 0; (o = model_at(c->m, KIND_INTERFACE, i)); i++) {
		if (o->users == 0)
			continue;
		compile_row_is(c, o->id, SNAP_INTERFACE);
		struct snap_interface *row = compile_row(c, SNAP_INTERFACE);
		row->id = o->id;
		row->enabled = model_interface(o)->conf.enabled;
		strncpy(row->name, path_last(o->path), sizeof(row->name) - 1);
	}
}

static void compile_vlan(struct compiler *c, const struct object *o)
{
	const struct vlan_conf *conf = &model_vlan(o)->conf;
	const struct object *child;

	compile_row_is(c, o->id, SNAP_VLAN);
	struct snap_vlan *row = compile_row(c, SNAP_VLAN);
	row->id = o->id;
	row->tag = conf->tag;
	row->mtu = conf->mtu;
	row->auto_lasthop = conf->auto_lasthop;
	compile_tap_name(o, row->tap);
	row->first_member = c->next[SNAP_VLAN_MEMBER];
	row->members = model_child_count(c->m, o);
	for (unsigned i = 0; (child = model_child_at(c->m, o, i)); i++) {
		const struct vlan_interface_conf *member = &model_vlan_interface(child)->conf;
		struct snap_vlan_member *mrow = compile_row(c, SNAP_VLAN_MEMBER);

		mrow->interface = compile_row_of(c, member->interface);
		mrow->tagged = member->tagged;
	}
}

static void compile_self(struct compiler *c, const struct object *o)
{
	const struct self_conf *conf = &model_self(o)->conf;
	struct model_service service[MODEL_SERVICES_MAX];
	bool all;
	unsigned services = model_services(&conf->allow_service, service, &all);
	struct snap_self *row = compile_row(c, SNAP_SELF);

	row->id = o->id;
	row->vlan = compile_row_of(c, conf->vlan);
	row->addr = conf->address.addr;
	row->prefix = conf->address.len;
	row->floating = conf->floating;
	row->allow = all ? SNAP_ALLOW_ALL : services ? SNAP_ALLOW_LIST : SNAP_ALLOW_NONE;
	row->first_service = c->next[SNAP_SERVICE];
	row->services = all ? 0 : services;
	for (unsigned i = 0; i < services && !all; i++)
		*(struct snap_service *)compile_row(c, SNAP_SERVICE) =
			(struct snap_service){.proto = service[i].proto, .port = service[i].port};
}

static void compile_route(struct compiler *c, const struct object *o)
{
	const struct route_conf *conf = &model_route(o)->conf;
	struct snap_route *row = compile_row(c, SNAP_ROUTE);

	row->id = o->id;
	row->network = ip_prefix_of(&conf->network.addr, conf->network.len);
	row->prefix = conf->network.len;
	row->mtu = conf->mtu;
	row->vlan = SNAP_NIL;
	if (conf->blackhole) {
		row->kind = SNAP_ROUTE_BLACKHOLE;
	} else if (conf->interface != ID_NONE) {
		row->kind = SNAP_ROUTE_VLAN;
		row->vlan = compile_row_of(c, conf->interface);
	} else {
		row->kind = SNAP_ROUTE_GATEWAY;
		row->gateway = conf->gw;
	}
}

void compile_net(struct compiler *c)
{
	const struct object *o;

	compile_interfaces(c);
	for (unsigned i = 0; (o = model_at(c->m, KIND_VLAN, i)); i++)
		compile_vlan(c, o);
	for (unsigned i = 0; (o = model_at(c->m, KIND_SELF, i)); i++)
		compile_self(c, o);
	for (unsigned i = 0; (o = model_at(c->m, KIND_ROUTE, i)); i++)
		compile_route(c, o);
}
