/* SPDX-License-Identifier: BSD-3-Clause */
/* Static routes, so that the appliance's own sockets go the way that its clients' packets go. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "kernel/kernel_internal.h"

struct kroute {
	struct ip_addr network, gateway; /* gateway all zero: none */
	uint8_t prefix, type;		 /* RTN_UNICAST or RTN_BLACKHOLE */
	unsigned index;
	uint32_t mtu;
	bool wanted, there;
};

struct kroutes {
	struct kroute *row;
	unsigned count, size;
};

static bool kroute_equal(const struct kroute *a, const struct kroute *b)
{
	return ip_equal(&a->network, &b->network) && a->prefix == b->prefix && a->type == b->type &&
	       a->index == b->index && a->mtu == b->mtu &&
	       !memcmp(&a->gateway, &b->gateway, sizeof(a->gateway));
}

static struct kroute *kroute_add(struct kroutes *routes, const struct kroute *r)
{
	for (unsigned i = 0; i < routes->count; i++)
		if (kroute_equal(&routes->row[i], r))
			return &routes->row[i];
	if (routes->count == routes->size) {
		unsigned size = routes->size ? 2 * routes->size : 32;
		struct kroute *more = reallocarray(routes->row, size, sizeof(*more));

		if (!more)
			return NULL;
		routes->row = more;
		routes->size = size;
	}
	routes->row[routes->count] = *r;
	return &routes->row[routes->count++];
}

static uint32_t mtu_of(const struct rtattr *metrics)
{
	uint32_t mtu = 0;
	unsigned left = metrics ? (unsigned)RTA_PAYLOAD(metrics) : 0;

	for (const struct rtattr *a = metrics ? RTA_DATA(metrics) : NULL; left && RTA_OK(a, left);
		a = RTA_NEXT(a, left))
		if (a->rta_type == RTAX_MTU)
			memcpy(&mtu, RTA_DATA(a), sizeof(mtu));
	return mtu;
}

static int kroute_row(void *ctx, const struct nlmsghdr *row)
{
	const struct rtmsg *info = NLMSG_DATA(row);
	const struct rtattr *a[RTA_MAX + 1];
	struct kroute r = {.prefix = info->rtm_dst_len, .type = info->rtm_type};

	if (row->nlmsg_type != RTM_NEWROUTE || info->rtm_protocol != KERNEL_ROUTE_PROTOCOL ||
		(info->rtm_family != AF_INET && info->rtm_family != AF_INET6))
		return 0;
	rtnl_parse(row, sizeof(*info), a, RTA_MAX + 1);
	r.network = addr_of(a[RTA_DST], info->rtm_family);
	if (a[RTA_GATEWAY])
		r.gateway = addr_of(a[RTA_GATEWAY], info->rtm_family);
	/* IPv6's blackholes lie on the loopback. */
	if (a[RTA_OIF] && r.type == RTN_UNICAST)
		memcpy(&r.index, RTA_DATA(a[RTA_OIF]), sizeof(uint32_t));
	r.mtu = mtu_of(a[RTA_METRICS]);
	struct kroute *found = kroute_add(ctx, &r);
	if (!found)
		return -ENOMEM;
	found->there = true;
	return 0;
}

static int kroute_change(struct pass *p, const struct kroute *k, uint16_t type)
{
	struct rtnl_request r;
	struct rtmsg *info = rtnl_begin(
		&r, type, type == RTM_NEWROUTE ? NLM_F_CREATE | NLM_F_REPLACE : 0, sizeof(*info));
	static const struct ip_addr none;
	bool gateway = memcmp(&k->gateway, &none, sizeof(none)) != 0;
	size_t length;
	const void *bytes = addr_bytes(&k->network, &length);

	*info = (struct rtmsg){
		.rtm_family = ip_is_v4(&k->network) ? AF_INET : AF_INET6,
		.rtm_dst_len = k->prefix,
		.rtm_table = RT_TABLE_MAIN,
		.rtm_protocol = KERNEL_ROUTE_PROTOCOL,
		.rtm_scope = gateway || k->type != RTN_UNICAST ? RT_SCOPE_UNIVERSE : RT_SCOPE_LINK,
		.rtm_type = k->type,
		.rtm_flags = gateway ? RTNH_F_ONLINK : 0,
	};
	if (k->prefix)
		rtnl_put(&r, RTA_DST, bytes, length);
	if (gateway) {
		bytes = addr_bytes(&k->gateway, &length);
		rtnl_put(&r, RTA_GATEWAY, bytes, length);
	}
	if (k->index)
		rtnl_put_u32(&r, RTA_OIF, k->index);
	rtnl_put_u32(&r, RTA_PRIORITY, KERNEL_ROUTE_METRIC);
	if (k->mtu) {
		struct rtattr *metrics = rtnl_nest(&r, RTA_METRICS);
		rtnl_put_u32(&r, RTAX_MTU, k->mtu);
		rtnl_nest_end(&r, metrics);
	}
	return rtnl_do(&p->k->nl, &r);
}

/* The VLAN whose self IPs' network the gateway lies in; the longest prefix wins. */
static const struct tap *gateway_tap(const struct pass *p, const struct ip_addr *gateway)
{
	const struct tap *best = NULL;
	const struct object *o;
	unsigned longest = 0;

	for (unsigned i = 0; (o = model_at(p->m, KIND_SELF, i)); i++) {
		const struct self_conf *conf = &model_self(o)->conf;

		if (conf->address.len < longest ||
			!ip_prefix_match(&conf->address.addr, conf->address.len, gateway))
			continue;
		const struct tap *tap = pass_tap(p, conf->vlan);
		if (tap) {
			best = tap;
			longest = conf->address.len;
		}
	}
	return best;
}

/* What a configured route is for the kernel. False: no VLAN leads there, so it has none. */
static bool kroute_of(const struct pass *p, const struct route_conf *conf, struct kroute *out)
{
	const struct tap *tap = NULL;

	*out = (struct kroute){
		.network = ip_prefix_of(&conf->network.addr, conf->network.len),
		.prefix = conf->network.len,
		.type = conf->blackhole ? RTN_BLACKHOLE : RTN_UNICAST,
		.mtu = conf->mtu,
	};
	if (conf->blackhole)
		return true;
	if (conf->interface != ID_NONE) {
		tap = pass_tap(p, conf->interface);
	} else {
		out->gateway = conf->gw;
		tap = gateway_tap(p, &conf->gw);
	}
	out->index = tap ? tap->index : 0;
	return tap != NULL;
}

static void kroutes_apply(struct pass *p, const struct kroutes *routes)
{
	char text[IP_ADDR_TEXT];

	for (unsigned pass = 0; pass < 2; pass++)
		for (unsigned i = 0; i < routes->count; i++) {
			const struct kroute *row = &routes->row[i];
			bool add = pass == 1;

			if (row->wanted == row->there || row->wanted != add)
				continue;
			int rc = kroute_change(p, row, add ? RTM_NEWROUTE : RTM_DELROUTE);
			if (rc && (add || rc != -ESRCH))
				pass_fault(p, rc, "route %s/%u: %s", ip_format(&row->network, text),
					row->prefix, strerror(-rc));
		}
}

void pass_routes(struct pass *p)
{
	struct kroutes routes = {0};
	const struct object *o;
	struct rtnl_request r;
	int rc = 0;

	for (unsigned i = 0; rc == 0 && (o = model_at(p->m, KIND_ROUTE, i)); i++) {
		struct kroute route, *row;

		if (!kroute_of(p, &model_route(o)->conf, &route))
			continue;
		row = kroute_add(&routes, &route);
		if (row)
			row->wanted = true;
		else
			rc = -ENOMEM;
	}
	rtnl_begin(&r, RTM_GETROUTE, 0, sizeof(struct rtmsg));
	if (rc == 0)
		rc = rtnl_dump(&p->k->nl, &r, kroute_row, &routes);
	if (rc)
		pass_fault(p, rc, "routes cannot be listed: %s", strerror(-rc));
	else
		kroutes_apply(p, &routes);
	free(routes.row);
}
