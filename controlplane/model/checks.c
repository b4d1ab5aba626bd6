/* SPDX-License-Identifier: BSD-3-Clause */
/* What must hold of one object, beyond what the schema says of its fields. */
#include "model/model_internal.h"

#include <ctype.h>
#include <stdio.h>

/* ---- keys ---- */

static size_t virtual_key(const struct virtual *v, uint8_t *key)
{
	memcpy(key, &v->conf.destination.addr, 4);
	memcpy(key + 4, &v->conf.destination.port, 2);
	key[6] = v->conf.ip_protocol;
	key[7] = v->conf.source.len;
	memcpy(key + 8, &v->conf.source.addr, 16);
	return v->conf.destination.addr ? 24 : 0;
}

size_t item_key(const struct item *it, uint8_t key[KEY_MAX])
{
	const struct field *f = kind_of(it)->key;
	static const uint8_t zero[KEY_MAX];

	if (it->o.kind == KIND_VIRTUAL)
		return virtual_key(it->data, key);
	if (it->o.kind == KIND_VLAN_INTERFACE) {
		const struct vlan_interface *i = it->data;
		memcpy(key, &i->conf.interface, 4);
		return i->conf.tagged ? 0 : 4;
	}
	/* The node that a person makes of an address comes before the one that a name had made of it. */
	if (!f || (it->o.kind == KIND_NODE &&
			  (model_is_template(NULL, &it->o) || item_is_ephemeral(it))))
		return 0;
	size_t size = f->host ? sizeof(struct ip_addr) : f->size;
	memcpy(key, field_in(f, it->data), size);
	if (f->type == TYPE_PREFIX) /* without padding */
		size = f->host ? 16 : 17;
	return memcmp(key, zero, size) || it->given & field_bit(it, f) ? size : 0;
}

static int check_key(struct model *m, struct item *it, struct model_error *err)
{
	struct item *other = item_same_key(m, it, NULL);

	if (!other)
		return 0;
	if (it->o.kind == KIND_VLAN_INTERFACE) {
		struct item *vlan = item_of(m, other->o.owner);
		return fail(m, err, -EEXIST, it, "untagged",
			"the interface is untagged in %s already",
			vlan ? vlan->o.path : "another VLAN");
	}
	return fail(m, err, -EEXIST, it, kind_of(it)->key->name, "%s%s has the same", other->o.path,
		item_is_ephemeral(other) ? ", which name resolution has made," : "");
}

/* ---- addresses ---- */

static bool ip_is_multicast(const struct ip_addr *a)
{
	return ip_is_v4(a) ? (a->b[12] & 0xf0) == 0xe0 : a->b[0] == 0xff;
}

static bool ip_is_broadcast(const struct ip_addr *a)
{
	return ip_is_v4(a) && a->w[3] == UINT32_MAX;
}

static bool ip_is_loopback(const struct ip_addr *a)
{
	static const struct ip_addr one = {.b = {[15] = 1}};

	return ip_is_v4(a) ? a->b[12] == 127 : ip_equal(a, &one);
}

/* An address of one host that packets may come from. */
static int check_host(struct model *m, struct item *it, const char *field, const struct ip_addr *a,
	struct model_error *err)
{
	char text[IP_ADDR_TEXT];

	if (!ip_is_any(a) && !ip_is_multicast(a) && !ip_is_broadcast(a) && !ip_is_loopback(a))
		return 0;
	return fail(
		m, err, -EINVAL, it, field, "%s is not the address of a host", ip_format(a, text));
}

/* ---- kinds ---- */

/* Letters, digits, - and _ in parts of 1 to 63 bytes. */
bool domain_name_ok(const char *name)
{
	size_t total = strlen(name);

	while (*name) {
		size_t len = strcspn(name, ".");
		if (!len || len > 63)
			return false;
		for (size_t i = 0; i < len; i++)
			if (!isalnum((unsigned char)name[i]) && name[i] != '-' && name[i] != '_')
				return false;
		name += len + (name[len] == '.');
	}
	return total > 0 && total <= 253;
}

/* It stands in the heads of mail, in log lines and in what snmpd reads. */
static int check_host_name(struct model *m, struct item *it, struct model_error *err)
{
	const struct global_settings *g = it->data;
	const char *name = strings_text(&m->strings, g->conf.hostname);

	if (domain_name_ok(name))
		return 0;
	return fail(m, err, -EINVAL, it, "hostname", "\"%s\" is no domain name", name);
}

static int check_node(struct model *m, struct item *it, struct model_error *err)
{
	const struct node *n = it->data;
	const char *name = strings_text(&m->strings, n->conf.fqdn_name);
	static const struct ip_addr none;
	int rc;

	if (*name && !domain_name_ok(name))
		return fail(m, err, -EINVAL, it, "fqdn name", "\"%s\" is no domain name", name);
	if (!n->conf.ephemeral && !strncmp(path_name(it->o.path), MODEL_EPHEMERAL_PREFIX,
					  sizeof(MODEL_EPHEMERAL_PREFIX) - 1))
		return fail(m, err, -EINVAL, it, NULL,
			"names that begin with " MODEL_EPHEMERAL_PREFIX
			" are those that name resolution gives");
	if (!model_is_template(m, &it->o))
		rc = check_host(m, it, "address", &n->conf.address, err);
	else if (ip_equal(&n->conf.address, &none))
		rc = 0;
	else
		rc = fail(m, err, -EINVAL, it, "address", "goes not with an fqdn name");
	return rc ? rc : check_rule_of(m, it, err);
}

static int check_member(struct model *m, struct item *it, struct model_error *err)
{
	const struct pool_member *member = it->data;
	const struct item *node = item_of(m, member->conf.node);
	const struct node *n = node->data;

	if (!member->conf.ephemeral && member->conf.fqdn_name &&
		member->conf.fqdn_name != n->conf.fqdn_name)
		return fail(
			m, err, -EINVAL, it, "fqdn name", "is not that of node %s", node->o.path);
	if (n->conf.ephemeral && !member->conf.ephemeral)
		return fail(m, err, -EINVAL, it, NULL,
			"node %s was made by name resolution: name the member by the node it was "
			"made from, or by another",
			node->o.path);
	return check_rule_of(m, it, err);
}

static int check_self(struct model *m, struct item *it, struct model_error *err)
{
	const struct self *s = it->data;

	if (s->conf.address.len == 0)
		return fail(m, err, -EINVAL, it, "address", "needs a prefix length above 0");
	return check_host(m, it, "address", &s->conf.address.addr, err);
}

static int check_route(struct model *m, struct item *it, struct model_error *err)
{
	const struct route *r = it->data;
	bool gw = !ip_is_any(&r->conf.gw);

	if (gw + (r->conf.interface != ID_NONE) + r->conf.blackhole != 1)
		return fail(m, err, -EINVAL, it, "gw", "give one of gw, interface and blackhole");
	if (gw && ip_is_v4(&r->conf.gw) != ip_is_v4(&r->conf.network.addr))
		return fail(m, err, -EINVAL, it, "gw", "is not of the network's address family");
	return gw ? check_host(m, it, "gw", &r->conf.gw, err) : 0;
}

bool interface_name_ok(const char *name)
{
	unsigned slot, port;
	char end;

	if (!strcmp(name, "mgmt"))
		return true;
	return sscanf(name, "%2u.%2u%c", &slot, &port, &end) == 2 && slot >= 1 && port >= 1 &&
	       name[0] != '0' && strlen(name) <= 5;
}

static int check_interface(struct model *m, struct item *it, struct model_error *err)
{
	return interface_name_ok(it->o.path)
		       ? 0
		       : fail(m, err, -EINVAL, it, NULL, "interfaces are named 1.1, 1.2, ...");
}

static int check_vlan_interface(struct model *m, struct item *it, struct model_error *err)
{
	if (!strcmp(it->o.path, "mgmt"))
		return fail(m, err, -EINVAL, it, NULL, "the management interface carries no VLANs");
	return 0;
}

static int check_virtual_address(struct model *m, struct item *it, struct model_error *err)
{
	const struct virtual_address *v = it->data;
	const struct ip_addr *a = &v->conf.address;
	char text[IP_ADDR_TEXT];

	if (v->conf.mask != MODEL_MASK_HOST) {
		if (v->conf.mask > ip_prefix_max(a))
			return fail(m, err, -EINVAL, it, "mask", "is longer than the address");
		struct ip_addr net = ip_prefix_of(a, v->conf.mask);
		if (v->conf.mask == 0 ? !ip_is_any(a) : !ip_equal(&net, a))
			return fail(m, err, -EINVAL, it, "mask", "%s has bits behind the mask",
				ip_format(a, text));
		return 0;
	}
	return check_host(m, it, "address", a, err);
}

static int check_db(struct model *m, struct item *it, struct model_error *err)
{
	const char *value = strings_text(&m->strings, ((const struct db *)it->data)->conf.value);
	const struct db_variable *v = model_db_variables;
	char *end;

	while (v->name && strcmp(v->name, it->o.path))
		v++;
	if (!v->name)
		return fail(m, err, -ENOENT, it, NULL, "there is no such variable");
	if (v->low) {
		if (!strcmp(value, v->low) || !strcmp(value, v->high))
			return 0;
		if (!strcmp(v->low, v->high))
			return fail(m, err, -EOPNOTSUPP, it, "value",
				"other values than \"%s\" are not supported", v->low);
		return fail(m, err, -EINVAL, it, "value", "\"%s\" is neither %s nor %s", value,
			v->low, v->high);
	}
	unsigned long number = strtoul(value, &end, 10);
	if (*value < '0' || *value > '9' || *end || number < v->min || number > v->max ||
		strlen(value) > 10)
		return fail(m, err, -EINVAL, it, "value", "\"%s\" is not between %u and %u", value,
			v->min, v->max);
	return 0;
}

/* ---- virtual servers ---- */

static int check_virtual_type(struct model *m, struct item *it, struct model_error *err)
{
	const struct virtual *v = it->data;

	if (v->conf.ip_forward && v->conf.reject)
		return fail(m, err, -EINVAL, it, "reject", "goes not with ip-forward");
	if ((v->conf.ip_forward || v->conf.reject) && v->conf.pool)
		return fail(m, err, -EINVAL, it, "pool", "goes not with %s",
			v->conf.reject ? "reject" : "ip-forward");
	if (v->conf.snat_type == VIRTUAL_SNAT_TYPE_SNAT && !v->conf.snat_pool)
		return fail(m, err, -EINVAL, it, "source-address-translation",
			"type snat needs a pool");
	if (v->conf.snat_type != VIRTUAL_SNAT_TYPE_SNAT && v->conf.snat_pool)
		return fail(m, err, -EINVAL, it, "source-address-translation",
			"a pool goes with type snat");
	if (v->conf.vlans_enabled && !v->conf.vlans.count)
		return fail(m, err, -EINVAL, it, "vlans-enabled", "needs vlans");
	return 0;
}

/* Whether the dataplane does what the profile says. */
static int check_profile_use(struct model *m, struct item *it, const struct virtual *v,
	const struct item *profile, struct model_error *err)
{
	const char *path = profile->o.path;

	if (kind_of(profile)->later)
		return fail(m, err, -EOPNOTSUPP, it, "profiles", "%s: %s", path,
			kind_of(profile)->later);
	if (profile->o.kind == KIND_PROFILE_UDP && v->conf.ip_protocol != 17)
		return fail(
			m, err, -EINVAL, it, "profiles", "profile %s needs ip-protocol udp", path);
	if (profile->o.kind == KIND_PROFILE_TCP && v->conf.ip_protocol != 6)
		return fail(
			m, err, -EINVAL, it, "profiles", "profile %s needs ip-protocol tcp", path);
	return 0;
}

static int check_virtual_profile(struct model *m, struct item *it, struct model_error *err)
{
	static const char *const contexts[] = {"all", "clientside", "serverside"};
	const struct virtual *v = it->data;
	unsigned profiles;

	order_fix(&it->children);
	for (unsigned i = 0; i < it->children.count; i++) {
		if (it->children.v[i]->o.kind != KIND_VIRTUAL_PROFILE)
			continue;
		const struct virtual_profile *row = it->children.v[i]->data;
		const struct item *profile = item_of(m, row->conf.profile);
		int rc = profile ? check_profile_use(m, it, v, profile, err) : 0;
		if (rc)
			return rc;
		if (row->conf.context != VIRTUAL_PROFILE_CONTEXT_ALL)
			return fail(m, err, -EOPNOTSUPP, it, "profiles",
				"%s: context %s is not carried out yet: a profile is that of both "
				"sides",
				profile->o.path, contexts[row->conf.context]);
	}
	profiles = it->children.count;
	for (unsigned i = 0; i < it->children.count; i++)
		profiles -= it->children.v[i]->o.kind != KIND_VIRTUAL_PROFILE;
	if (profiles > 1)
		return fail(m, err, -EINVAL, it, "profiles",
			"takes one profile of a protocol: fastL4, tcp or udp");
	return 0;
}

static bool is_profile(const struct kind *k)
{
	return k->profile;
}

static bool is_persistence(const struct kind *k)
{
	return !strncmp(k->words, "ltm persistence ", 16);
}

/* What a virtual server names beside its profiles and the dataplane does not do yet. */
static int check_later(struct model *m, struct item *it, struct model_error *err)
{
	const struct kind *k = kind_of(it);

	for (unsigned i = 0; i < k->field_count; i++) {
		const struct field *f = &k->fields[i];
		const void *p = field_in(f, it->data);
		const struct model_list *list = p;
		const uint32_t *id = f->type == TYPE_REFS ? list->entry : p;
		unsigned count = f->type == TYPE_REFS ? list->count : f->type == TYPE_REF;
		for (unsigned j = 0; j < count; j++) {
			const struct item *to = item_of(m, id[j]);
			if (to && kind_of(to)->later)
				return fail(m, err, -EOPNOTSUPP, it, f->name, "%s: %s", to->o.path,
					kind_of(to)->later);
		}
	}
	return 0;
}

/* Any type: a virtual server names it without. */
static int check_profile(struct model *m, struct item *it, struct model_error *err)
{
	bool (*same)(const struct kind *) = is_profile(kind_of(it)) ? is_profile : is_persistence;

	for (unsigned kind = 0; kind < MODEL_KINDS; kind++)
		if (same(&model_kinds[kind]) && kind != it->o.kind &&
			item_find(m, kind, ID_NONE, it->o.path))
			return fail(m, err, -EEXIST, it, NULL, "a profile of type %s has this name",
				strrchr(model_kinds[kind].words, ' ') + 1);
	return 0;
}

static bool lists_meet(const struct model_list *a, const struct model_list *b)
{
	for (unsigned i = 0; i < a->count; i++)
		for (unsigned j = 0; j < b->count; j++)
			if (a->entry[i] == b->entry[j])
				return true;
	return false;
}

static bool list_holds_all(const struct model_list *list, const struct model_list *of)
{
	for (unsigned i = 0; i < of->count; i++) {
		struct model_list one = {.count = 1, .entry = {of->entry[i]}};
		if (!lists_meet(list, &one))
			return false;
	}
	return true;
}

/* Whether a client may reach both: "all but the listed" meets nearly everything. */
static bool vlans_meet(const struct virtual_conf *a, const struct virtual_conf *b)
{
	if (a->vlans_enabled && b->vlans_enabled)
		return lists_meet(&a->vlans, &b->vlans);
	if (a->vlans_enabled)
		return !list_holds_all(&b->vlans, &a->vlans);
	if (b->vlans_enabled)
		return !list_holds_all(&a->vlans, &b->vlans);
	return true;
}

static int check_virtual_clash(struct model *m, struct item *it, struct model_error *err)
{
	const struct virtual *v = it->data;

	for (struct item *o = item_same_key(m, it, NULL); o; o = item_same_key(m, it, o))
		if (vlans_meet(&v->conf, &((const struct virtual *)o->data)->conf))
			return fail(m, err, -EEXIST, it, "destination",
				"%s has the same destination, protocol, source and VLANs",
				o->o.path);
	return 0;
}

static int check_virtual(struct model *m, struct item *it, struct model_error *err)
{
	const struct virtual *v = it->data;
	struct item *address = item_of(m, v->conf.destination.addr);
	const struct ip_addr *a = &((const struct virtual_address *)address->data)->conf.address;
	int rc = check_virtual_type(m, it, err);

	rc = rc ? rc : check_later(m, it, err);
	if (rc)
		return rc;
	if (ip_is_v4(&v->conf.source.addr) != ip_is_v4(a))
		return fail(m, err, -EINVAL, it, "source",
			"is not of the destination's address family");
	rc = check_virtual_profile(m, it, err);
	return rc ? rc : check_virtual_clash(m, it, err);
}

static int check_dns(struct model *m, struct item *it, struct model_error *err)
{
	const struct dns *d = it->data;
	struct ip_addr addr;

	for (unsigned i = 0; i < d->conf.name_servers.count; i++) {
		const char *text = strings_text(&m->strings, d->conf.name_servers.entry[i]);

		if (ip_parse(text, &addr) || ip_is_any(&addr) || ip_is_multicast(&addr))
			return fail(m, err, -EINVAL, it, "name-servers",
				"\"%s\" is not the address of a server", text);
	}
	for (unsigned i = 0; i < d->conf.search.count; i++) {
		const char *text = strings_text(&m->strings, d->conf.search.entry[i]);

		if (!domain_name_ok(text))
			return fail(
				m, err, -EINVAL, it, "search", "\"%s\" is no domain name", text);
	}
	return 0;
}

int check_item(struct model *m, struct item *it, struct model_error *err)
{
	int rc = it->o.kind == KIND_VIRTUAL ? 0 : check_key(m, it, err);
	struct item *owner;

	if (rc)
		return rc;
	if (kind_of(it)->monitor)
		return check_monitor(m, it, err);
	if (is_profile(kind_of(it)) || is_persistence(kind_of(it)))
		return check_profile(m, it, err);
	switch (it->o.kind) {
	case KIND_NODE:
		return check_node(m, it, err);
	case KIND_POOL_MEMBER:
		return check_member(m, it, err);
	case KIND_SNAT_TRANSLATION:
		return check_host(m, it, "address",
			&((const struct snat_translation *)it->data)->conf.address, err);
	case KIND_SELF:
		return check_self(m, it, err);
	case KIND_INTERFACE:
		return check_interface(m, it, err);
	case KIND_ROUTE:
		return check_route(m, it, err);
	case KIND_VLAN_INTERFACE:
		return check_vlan_interface(m, it, err);
	case KIND_VIRTUAL_ADDRESS:
		return check_virtual_address(m, it, err);
	case KIND_VIRTUAL:
		return check_virtual(m, it, err);
	case KIND_VIRTUAL_PROFILE:
		owner = item_of(m, it->o.owner);
		return check_virtual_profile(m, owner, err);
	case KIND_RULE:
		return check_script(m, it, err);
	case KIND_DATA_GROUP_INTERNAL:
		return check_data_group(m, it, err);
	case KIND_DB:
		return check_db(m, it, err);
	case KIND_DNS:
		return check_dns(m, it, err);
	case KIND_USER:
		return check_user(m, it, err);
	case KIND_PARTITION_ACCESS:
		return check_access(m, it, err);
	case KIND_HTTPD:
		return check_httpd(m, it, err);
	case KIND_GLOBAL_SETTINGS:
		return check_host_name(m, it, err);
	case KIND_SYSLOG:
	case KIND_SNMP:
	case KIND_SNMP_COMMUNITY:
	case KIND_SNMP_USER:
	case KIND_SNMP_TRAP:
	case KIND_SMTP_SERVER:
	case KIND_ALERT:
		return check_receiver(m, it, err);
	case KIND_POLICY:
	case KIND_VIRTUAL_POLICY:
		return check_policy(m, it, err);
	case KIND_POOL:
	case KIND_DEFAULT_NODE_MONITOR:
		return check_rule_of(m, it, err);
	default:
		return 0;
	}
}
