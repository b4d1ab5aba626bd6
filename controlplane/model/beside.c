/* SPDX-License-Identifier: BSD-3-Clause */
/* What LTM creates or fills in beside an object: nodes, virtual addresses, default profiles, tags. */
#include <openssl/rand.h>

#include "model/model_internal.h"

#include <stdio.h>

enum { IDENTITY_BYTES = 16 };

/* Sets a field that the model itself derives, with references counted. */
static int derive(struct model *m, struct item *it, const char *field, const char *text,
	struct model_error *err)
{
	const struct field *f = model_field_find(it->o.kind, NULL, field);
	field_mask given = it->given;
	int rc = set_text(m, it, f, text, err);

	it->given = given;
	return rc;
}

/* ---- objects that come into being when named ---- */

static int address_object(struct model *m, enum model_kind kind, const char *path,
	const struct ip_addr *addr, struct item **out, struct model_error *err)
{
	char text[IP_ADDR_TEXT];
	int rc = change_check_create(m, kind, NULL, path, err);

	if (!rc)
		rc = change_create(m, kind, NULL, path, ID_NONE, out, err);
	if (rc)
		return rc;
	rc = set_text(m, *out, model_field_find(kind, NULL, "address"), ip_format(addr, text), err);
	item_rekey(m, *out);
	return rc;
}

/* The mask a virtual server asks of its new address; an address of no bits is a wildcard. */
static void address_mask(struct item *address, const struct item *user)
{
	struct virtual_address *a = address->data;

	if (ip_is_any(&a->conf.address))
		a->conf.mask = 0;
	if (user->o.kind == KIND_VIRTUAL &&
		((const struct virtual *)user->data)->conf.mask != MODEL_MASK_HOST)
		a->conf.mask = ((const struct virtual *)user->data)->conf.mask;
}

int beside_create(struct model *m, const struct field *f, const char *path, struct item *user,
	struct item **out, struct model_error *err)
{
	enum model_kind kind = (enum model_kind)f->refs[0];
	struct ip_addr addr;
	char why[160];
	int rc;

	if (kind == KIND_INTERFACE && interface_name_ok(path))
		return change_create(m, kind, NULL, path, ID_NONE, out, err);
	if ((kind == KIND_VIRTUAL_ADDRESS || kind == KIND_SNAT_TRANSLATION) &&
		name_address(path_name(path), &addr, why, sizeof(why)) == 0) {
		*out = key_find(m, kind, &addr, sizeof(addr));
		if (*out)
			return 0;
		rc = address_object(m, kind, path, &addr, out, err);
		if (!rc && kind == KIND_VIRTUAL_ADDRESS)
			address_mask(*out, user);
		return rc;
	}
	return fail(m, err, -ENOENT, user, f->name, "%s %s does not exist",
		f->type == TYPE_MONITOR_RULE ? "monitor" : model_kinds[kind].full, path);
}

/* ---- pool members ---- */

/* A node that is known by the name which its first member gives. */
static int named_node(struct model *m, const char *path, const struct pool_member *member,
	struct item **node, struct model_error *err)
{
	int rc = change_check_create(m, KIND_NODE, NULL, path, err);

	if (!rc)
		rc = change_create(m, KIND_NODE, NULL, path, ID_NONE, node, err);
	if (rc)
		return rc;
	struct node *n = (*node)->data;
	n->conf.fqdn_name = member->conf.fqdn_name;
	n->conf.fqdn_autopopulate = member->conf.fqdn_autopopulate;
	strings_count(&m->strings, n->conf.fqdn_name, 1);
	return 0;
}

static int member_node(struct model *m, struct item *it, const struct member_name *name,
	struct item **node, struct model_error *err)
{
	const struct pool_member *member = it->data;
	struct ip_addr addr = member->conf.address;
	static const struct ip_addr none;
	char why[160];
	struct item *other;

	*node = item_find(m, KIND_NODE, ID_NONE, name->host);
	if (*node)
		return 0;
	if (member->conf.fqdn_name)
		return named_node(m, name->host, member, node, err);
	if (ip_equal(&addr, &none) && name_address(path_name(name->host), &addr, why, sizeof(why)))
		return fail(m, err, -ENOENT, it, NULL, "node %s does not exist: give the address",
			name->host);
	other = key_find(m, KIND_NODE, &addr, sizeof(addr));
	if (other)
		return fail(m, err, -EEXIST, it, NULL,
			"node %s has this address already: name the member %s:%u", other->o.path,
			path_name(other->o.path), name->port);
	return address_object(m, KIND_NODE, name->host, &addr, node, err);
}

static int address_differs(struct model *m, struct item *it, const struct item *node,
	const struct ip_addr *addr, struct model_error *err)
{
	char text[IP_ADDR_TEXT];

	return fail(m, err, -EINVAL, it, "address", "node %s has address %s", node->o.path,
		ip_format(addr, text));
}

/* The node may have got another address, from a whole file; then the member has it too. */
static int member_follow(struct model *m, struct item *it, struct model_error *err)
{
	struct pool_member *member = it->data;
	const struct pool_member *before = touch_of(m, it)->before;
	const struct item *node = item_of(m, member->conf.node);
	const struct ip_addr *addr = &((const struct node *)node->data)->conf.address;

	if (before && !ip_equal(&member->conf.address, addr) &&
		!ip_equal(&member->conf.address, &before->conf.address))
		return address_differs(m, it, node, addr, err);
	member->conf.address = *addr;
	return 0;
}

static int member_complete(struct model *m, struct item *it, struct model_error *err)
{
	struct pool_member *member = it->data;
	struct member_name name;
	struct item *node;
	static const struct ip_addr none;
	char why[160];
	int rc;

	if (member->conf.node != ID_NONE)
		return member_follow(m, it, err);
	if (name_endpoint(it->o.path, &name, why, sizeof(why)))
		return fail(m, err, -EINVAL, it, NULL, "%s", why);
	rc = member_node(m, it, &name, &node, err);
	if (rc)
		return rc;
	const struct ip_addr *addr = &((const struct node *)node->data)->conf.address;
	if (!ip_equal(&member->conf.address, &none) && !ip_equal(&member->conf.address, addr))
		return address_differs(m, it, node, addr, err);
	member->conf.address = *addr;
	member->conf.port = name.port;
	member->conf.node = node->o.id;
	item_users(m, node->o.id, 1);
	return 0;
}

/* ---- virtual servers ---- */

static int virtual_profile(struct model *m, struct item *it, struct model_error *err)
{
	const struct virtual *v = it->data;

	order_fix(&it->children);
	for (unsigned i = 0; i < it->children.count; i++)
		if (it->children.v[i]->o.kind == KIND_VIRTUAL_PROFILE)
			return 0;
	return change_create(m, KIND_VIRTUAL_PROFILE, it,
		v->conf.ip_protocol == 17 ? "/Common/udp" : "/Common/fastL4", ID_NONE, NULL, err);
}

static bool address_is_there(const struct model *m, const struct item *address)
{
	return !address->touch || touch_of(m, address)->before;
}

/* One mask for a virtual server and its address; the address is the virtual server's if nobody else's. */
static int virtual_mask(
	struct model *m, struct item *it, struct item *address, struct model_error *err)
{
	struct virtual *v = it->data;
	struct virtual_address *a = address->data;
	field_mask bit = field_bit(it, model_field_find(KIND_VIRTUAL, NULL, "mask"));

	if (a->conf.mask == v->conf.mask)
		return 0;
	if (!(it->given & bit)) {
		v->conf.mask = a->conf.mask;
		return 0;
	}
	if (address->o.users > 1)
		return fail(m, err, -EINVAL, it, "mask",
			"virtual address %s has another mask, and other users", address->o.path);
	if (address_is_there(m, address) &&
		change_check_create(m, KIND_VIRTUAL_ADDRESS, NULL, address->o.path, err))
		return -EPERM;
	if (!item_touch(m, address))
		return fail(m, err, -ENOMEM, it, "mask", "no memory");
	a->conf.mask = v->conf.mask;
	return 0;
}

/* LTM's clients name no destination and mean any address and port. */
static int virtual_anywhere(struct model *m, struct item *it, struct model_error *err)
{
	const struct field *f = model_field_find(KIND_VIRTUAL, NULL, "destination");
	struct virtual *v = it->data;
	char path[MODEL_PATH_MAX + 1];
	struct item *address;
	int rc = 0;

	snprintf(path, sizeof(path), "%.*s/0.0.0.0", 1 + (int)path_partition(it->o.path),
		it->o.path);
	address = item_named(m, f, path);
	if (!address)
		rc = beside_create(m, f, path, it, &address, err);
	if (rc)
		return rc;
	v->conf.destination.addr = address->o.id;
	item_users(m, address->o.id, 1);
	return 0;
}

static int virtual_complete(struct model *m, struct item *it, struct model_error *err)
{
	const struct field *source = model_field_find(KIND_VIRTUAL, NULL, "source");
	struct virtual *v = it->data;
	struct item *address;
	int rc = 0;

	if (v->conf.destination.addr == ID_NONE)
		rc = virtual_anywhere(m, it, err);
	address = item_of(m, v->conf.destination.addr);
	if (!rc && !address)
		return 0; /* it was deleted: that is told next */
	if (!rc && address->touch)
		rc = beside_complete(m, address, err);
	if (!rc)
		rc = virtual_mask(m, it, address, err);
	if (rc)
		return rc;
	bool v4 = ip_is_v4(&((const struct virtual_address *)address->data)->conf.address);
	if (!(it->given & field_bit(it, source)) && ip_is_v4(&v->conf.source.addr) != v4)
		rc = derive(m, it, "source", v4 ? "0.0.0.0/0" : "::/0", err);
	return rc ? rc : virtual_profile(m, it, err);
}

/* ---- the rest ---- */

/* Its folder. */
static int partition_complete(struct model *m, struct item *it, struct model_error *err)
{
	char path[MODEL_PATH_MAX + 1];

	snprintf(path, sizeof(path), "/%s", it->o.path);
	if (!name_is_partition(it->o.path) || item_find(m, KIND_FOLDER, ID_NONE, path))
		return 0;
	return change_create(m, KIND_FOLDER, NULL, path, ID_NONE, NULL, err);
}

/* Object named by a child's name: the profile, the interface. */
static int child_target(
	struct model *m, struct item *it, const char *field, uint32_t *id, struct model_error *err)
{
	const struct field *f = model_field_find(it->o.kind, NULL, field);
	struct item *to = NULL;
	int rc = 0;

	if (*id != ID_NONE)
		return 0;
	to = item_named(m, f, it->o.path);
	if (!to && it->o.kind != KIND_VLAN_INTERFACE)
		return fail(m, err, -ENOENT, it, NULL, "the %s does not exist", field);
	if (!to)
		rc = beside_create(m, f, it->o.path, it, &to, err);
	if (rc)
		return rc;
	*id = to->o.id;
	item_users(m, *id, 1);
	return 0;
}

/* The highest free tag, as LTM gives it. */
static int vlan_tag(struct model *m, struct item *it, struct model_error *err)
{
	struct vlan *vlan = it->data;

	if (vlan->conf.tag)
		return 0;
	for (uint16_t tag = 4094; tag; tag--)
		if (!key_find(m, KIND_VLAN, &tag, sizeof(tag))) {
			vlan->conf.tag = tag;
			item_rekey(m, it);
			return 0;
		}
	return fail(m, err, -E2BIG, it, "tag", "no free tag is left");
}

/* An object that is named by its address needs no address field. */
static int address_from_name(struct model *m, struct item *it, struct ip_addr *addr)
{
	static const struct ip_addr none;
	char why[160];

	if (ip_equal(addr, &none) &&
		name_address(path_name(it->o.path), addr, why, sizeof(why)) == 0) {
		it->given |= field_bit(it, model_field_find(it->o.kind, NULL, "address"));
		item_rekey(m, it);
	}
	return 0;
}

static int floating(
	struct model *m, struct item *it, uint32_t group, uint8_t *value, struct model_error *err)
{
	const struct field *f = model_field_find(it->o.kind, NULL, "floating");
	struct item *to = item_of(m, group);
	uint8_t derived = to && ((const struct traffic_group *)to->data)->conf.is_floating;

	if (it->given & field_bit(it, f) && *value != derived)
		return fail(m, err, -EINVAL, it, "floating",
			"follows from traffic-group, which is %s", to ? to->o.path : "none");
	it->given &= ~field_bit(it, f);
	*value = derived;
	return 0;
}

/* Whoever has the name of a user that was deleted is another one. */
static int user_identity(struct model *m, struct item *it, struct model_error *err)
{
	uint8_t random[IDENTITY_BYTES];
	char text[2 * IDENTITY_BYTES + 1];

	if (it->o.builtin || ((struct user *)it->data)->conf.identity)
		return 0;
	if (RAND_bytes(random, sizeof(random)) != 1)
		return fail(m, err, -EIO, it, "identity", "no randomness");
	for (unsigned i = 0; i < IDENTITY_BYTES; i++)
		snprintf(text + 2 * i, 3, "%02x", random[i]);
	bool internal = m->internal;
	m->internal = true;
	int rc = derive(m, it, "identity", text, err);
	m->internal = internal;
	return rc;
}

static int user_complete(struct model *m, struct item *it, struct model_error *err)
{
	const struct field *f = model_field_find(KIND_USER, NULL, "description");
	int rc = user_identity(m, it, err);

	if (rc)
		return rc;
	if (((struct user *)it->data)->conf.description || it->given & field_bit(it, f))
		return 0;
	return derive(m, it, f->name, it->o.path, err);
}

int beside_complete(struct model *m, struct item *it, struct model_error *err)
{
	void *data = it->data;

	switch (it->o.kind) {
	case KIND_POOL_MEMBER:
		return member_complete(m, it, err);
	case KIND_VIRTUAL:
		return virtual_complete(m, it, err);
	case KIND_VIRTUAL_PROFILE:
		return child_target(
			m, it, "profile", &((struct virtual_profile *)data)->conf.profile, err);
	case KIND_VIRTUAL_POLICY:
		return child_target(
			m, it, "policy", &((struct virtual_policy *)data)->conf.policy, err);
	case KIND_POLICY:
		return policy_complete(m, it);
	case KIND_VLAN_INTERFACE:
		return child_target(
			m, it, "interface", &((struct vlan_interface *)data)->conf.interface, err);
	case KIND_VLAN:
		return vlan_tag(m, it, err);
	case KIND_PROFILE_CLIENT_SSL:
		return cert_keys_complete(m, it, err);
	case KIND_SSL_CERT:
	case KIND_SSL_KEY:
	case KIND_FILE_DATA_GROUP:
	case KIND_FILE_ALERT_SCRIPT:
	case KIND_FILE_EXTERNAL_MONITOR:
	case KIND_FILE_IFILE:
		return file_complete(m, it, err);
	case KIND_USER:
		return user_complete(m, it, err);
	case KIND_PARTITION_ACCESS:
		return !strcmp(it->o.path, ALL_PARTITIONS)
			       ? 0
			       : child_target(m, it, "partition",
					 &((struct partition_access *)data)->conf.partition, err);
	case KIND_PARTITION:
		return partition_complete(m, it, err);
	case KIND_NODE:
		if (model_is_template(m, &it->o))
			return 0;
		return address_from_name(m, it, &((struct node *)data)->conf.address);
	case KIND_SNAT_TRANSLATION:
		return address_from_name(m, it, &((struct snat_translation *)data)->conf.address);
	case KIND_VIRTUAL_ADDRESS: {
		struct virtual_address *v = data;
		address_from_name(m, it, &v->conf.address);
		if (ip_is_any(&v->conf.address))
			v->conf.mask = 0;
		return floating(m, it, v->conf.traffic_group, &v->conf.floating, err);
	}
	case KIND_SELF: {
		struct self *s = data;
		return floating(m, it, s->conf.traffic_group, &s->conf.floating, err);
	}
	default:
		return 0;
	}
}

/* ---- inheritance ---- */

const struct field *kind_parent_field(enum model_kind kind)
{
	const struct field *f = model_kinds[kind].fields;

	return strcmp(f->name, "defaults-from") ? NULL : f;
}

bool field_inherits(const struct item *it, const struct field *f)
{
	const struct kind *k = kind_of(it);

	return kind_parent_field(it->o.kind) && f != k->fields && !f->own;
}

/* What a built-in object came with and its parent did not counts as given, too. */
static bool is_given(const struct item *it, const struct field *f, const struct item *parent)
{
	if (it->given & field_bit(it, f))
		return true;
	return it->base && (!parent->base || memcmp(field_in(f, it->base),
						     field_in(f, parent->base), f->size) != 0);
}

static int inherit(struct model *m, struct item *it, unsigned depth, struct model_error *err)
{
	const struct kind *k = kind_of(it);
	struct item *parent = item_of(m, *(const uint32_t *)field_in(k->fields, it->data));

	if (!parent)
		return 0;
	if (depth > 16)
		return fail(m, err, -EINVAL, it, "defaults-from",
			"too many parents, or a circle of them");
	int rc = inherit(m, parent, depth + 1, err);
	for (unsigned i = 1; !rc && i < k->field_count; i++) {
		const struct field *f = &k->fields[i];
		if (!field_inherits(it, f) ||
			is_given(it, f, parent) !=
				!memcmp(field_in(f, it->data), field_in(f, parent->data), f->size))
			continue;
		if (!item_touch(m, it))
			return fail(m, err, -ENOMEM, it, f->name, "no memory");
		/* what is the parent's is inherited, also if it was said: a client writes back all it read */
		it->given &= ~((field_mask)1 << i);
		field_count_texts(m, f, field_in(f, parent->data), 1);
		field_put(m, it, f, field_in(f, parent->data));
	}
	return rc;
}

int beside_inherit(struct model *m, enum model_kind kind, struct model_error *err)
{
	struct order *o = &m->order[kind];
	int rc = 0;

	order_fix(o);
	for (unsigned i = 0; !rc && i < o->count; i++)
		rc = inherit(m, o->v[i], 0, err);
	return rc;
}
