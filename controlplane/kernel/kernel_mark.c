/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Packets with a mark go through one server: a rule sends them to a table of their own, named like the mark, whose only
 * way is the server; were it missing, nothing else would do. The neighbour entry tells the dataplane.
 */
#include <errno.h>
#include <linux/fib_rules.h>
#include <linux/neighbour.h>
#include <stdlib.h>
#include <string.h>

#include "api/tap_hop.h"
#include "kernel/kernel_internal.h"

#define MARK_PROTOCOL 88 /* ip rule show, ip route show table all proto 88 */
#define RULE_PRIORITY 100u
#define LAST_METRIC 65535u

uint32_t kernel_mark_of(const struct ip_addr *via)
{
	return ip_is_v4(via) ? be32toh(via->w[3]) : 0;
}

static int rule_change(struct kernel *k, uint32_t mark, uint16_t type)
{
	static const uint8_t protocol = MARK_PROTOCOL;
	struct rtnl_request r;
	struct fib_rule_hdr *rule = rtnl_begin(
		&r, type, type == RTM_NEWRULE ? NLM_F_CREATE | NLM_F_EXCL : 0, sizeof(*rule));

	*rule = (struct fib_rule_hdr){.family = AF_INET, .action = FR_ACT_TO_TBL};
	rtnl_put_u32(&r, FRA_FWMARK, mark);
	rtnl_put_u32(&r, FRA_TABLE, mark);
	rtnl_put_u32(&r, FRA_PRIORITY, RULE_PRIORITY);
	rtnl_put(&r, FRA_PROTOCOL, &protocol, sizeof(protocol));
	int rc = rtnl_do(&k->nl, &r);
	return rc == -EEXIST ? 0 : rc;
}

/* index 0: the end of the table, where nothing else is left. */
static int route_change(
	struct kernel *k, uint32_t mark, const struct ip_addr *via, unsigned index, uint16_t type)
{
	struct rtnl_request r;
	struct rtmsg *info = rtnl_begin(
		&r, type, type == RTM_NEWROUTE ? NLM_F_CREATE | NLM_F_REPLACE : 0, sizeof(*info));

	*info = (struct rtmsg){.rtm_family = AF_INET,
		.rtm_protocol = MARK_PROTOCOL,
		.rtm_scope = RT_SCOPE_UNIVERSE,
		.rtm_type = index ? RTN_UNICAST : RTN_UNREACHABLE,
		.rtm_flags = index ? RTNH_F_ONLINK : 0};
	rtnl_put_u32(&r, RTA_TABLE, mark);
	rtnl_put_u32(&r, RTA_PRIORITY, index ? 1 : LAST_METRIC);
	if (index) {
		rtnl_put(&r, RTA_GATEWAY, &via->w[3], 4);
		rtnl_put_u32(&r, RTA_OIF, index);
	}
	return rtnl_do(&k->nl, &r);
}

static int neighbour_change(
	struct kernel *k, const struct ip_addr *via, unsigned index, uint16_t type)
{
	struct rtnl_request r;
	struct ndmsg *n = rtnl_begin(
		&r, type, type == RTM_NEWNEIGH ? NLM_F_CREATE | NLM_F_REPLACE : 0, sizeof(*n));
	uint8_t mac[6];

	*n = (struct ndmsg){
		.ndm_family = AF_INET, .ndm_ifindex = (int)index, .ndm_state = NUD_PERMANENT};
	tap_hop_write(mac, via);
	rtnl_put(&r, NDA_DST, &via->w[3], 4);
	rtnl_put(&r, NDA_LLADDR, mac, sizeof(mac));
	return rtnl_do(&k->nl, &r);
}

/* The tap in whose networks the server lies, 0: none. */
static unsigned tap_of(const struct kernel *k, const struct ip_addr *via)
{
	unsigned index = 0, longest = 0;

	for (unsigned i = 0; i < k->networks; i++) {
		const struct network *n = &k->network[i];

		if (n->prefix >= longest && ip_prefix_match(&n->address, n->prefix, via)) {
			index = n->index;
			longest = n->prefix;
		}
	}
	return index;
}

static int mark_install(struct kernel *k, const struct mark *m)
{
	uint32_t mark = kernel_mark_of(&m->via);
	unsigned index = tap_of(k, &m->via);
	int rc = route_change(k, mark, &m->via, 0, RTM_NEWROUTE);

	if (rc == 0 && index)
		rc = neighbour_change(k, &m->via, index, RTM_NEWNEIGH);
	if (rc == 0 && index)
		rc = route_change(k, mark, &m->via, index, RTM_NEWROUTE);
	if (rc == 0)
		rc = rule_change(k, mark, RTM_NEWRULE);
	return rc ? rc : index ? 0 : -ENETUNREACH;
}

static struct mark *mark_find(const struct kernel *k, const struct ip_addr *via)
{
	for (unsigned i = 0; i < k->marks; i++)
		if (ip_equal(&k->mark[i].via, via))
			return &k->mark[i];
	return NULL;
}

int kernel_mark_get(struct kernel *k, const struct ip_addr *via)
{
	struct mark *m = mark_find(k, via);

	if (!kernel_mark_of(via))
		return -EAFNOSUPPORT;
	if (m) {
		m->users++;
		return 0;
	}
	m = reallocarray(k->mark, k->marks + 1, sizeof(*m));
	if (!m)
		return -ENOMEM;
	k->mark = m;
	m[k->marks] = (struct mark){.via = *via, .users = 1};
	return mark_install(k, &m[k->marks++]);
}

/* --- what is not needed ------------------------------------------------------------------------- */

static void mark_remove(struct kernel *k, const struct ip_addr *via)
{
	uint32_t mark = kernel_mark_of(via);
	unsigned index = tap_of(k, via);

	rule_change(k, mark, RTM_DELRULE);
	if (index) {
		route_change(k, mark, via, index, RTM_DELROUTE);
		neighbour_change(k, via, index, RTM_DELNEIGH);
	}
	route_change(k, mark, via, 0, RTM_DELROUTE);
}

void kernel_mark_put(struct kernel *k, const struct ip_addr *via)
{
	struct mark *m = mark_find(k, via);

	if (!m || --m->users)
		return;
	*m = k->mark[--k->marks];
	mark_remove(k, via);
}

struct strays {
	struct kernel *k;
	struct ip_addr via[64];
	unsigned count;
};

static int stray_row(void *ctx, const struct nlmsghdr *row)
{
	const struct fib_rule_hdr *rule = NLMSG_DATA(row);
	const struct rtattr *a[FRA_MAX + 1];
	struct strays *s = ctx;
	uint32_t mark;

	if (row->nlmsg_type != RTM_NEWRULE || rule->family != AF_INET)
		return 0;
	rtnl_parse(row, sizeof(*rule), a, FRA_MAX + 1);
	if (!a[FRA_PROTOCOL] || *(const uint8_t *)RTA_DATA(a[FRA_PROTOCOL]) != MARK_PROTOCOL ||
		!a[FRA_FWMARK])
		return 0;
	memcpy(&mark, RTA_DATA(a[FRA_FWMARK]), sizeof(mark));
	struct ip_addr via = ip_addr_v4(htobe32(mark));
	if (!mark_find(s->k, &via) && s->count < sizeof(s->via) / sizeof(*s->via))
		s->via[s->count++] = via;
	return 0;
}

void kernel_mark_tidy(struct kernel *k)
{
	struct strays s = {.k = k};
	struct rtnl_request r;

	do {
		struct fib_rule_hdr *rule = rtnl_begin(&r, RTM_GETRULE, 0, sizeof(*rule));

		rule->family = AF_INET;
		s.count = 0;
		if (rtnl_dump(&k->nl, &r, stray_row, &s))
			return;
		for (unsigned i = 0; i < s.count; i++)
			mark_remove(k, &s.via[i]);
	} while (s.count == sizeof(s.via) / sizeof(*s.via));
}

/* --- with the rest of the configuration --------------------------------------------------------- */

static void networks_read(struct pass *p)
{
	struct kernel *k = p->k;
	const struct object *o;

	k->networks = 0;
	for (unsigned i = 0; (o = model_at(p->m, KIND_SELF, i)); i++) {
		const struct self_conf *conf = &model_self(o)->conf;
		const struct tap *tap = pass_tap(p, conf->vlan);
		struct network *more =
			tap ? reallocarray(k->network, k->networks + 1, sizeof(*more)) : NULL;

		if (!more)
			continue;
		k->network = more;
		more[k->networks++] =
			(struct network){conf->address.addr, conf->address.len, tap->index};
	}
}

void pass_marks(struct pass *p)
{
	char text[IP_ADDR_TEXT];

	networks_read(p);
	for (unsigned i = 0; i < p->k->marks; i++) {
		int rc = mark_install(p->k, &p->k->mark[i]);

		if (rc && rc != -ENETUNREACH)
			pass_fault(p, rc, "way through %s: %s", ip_format(&p->k->mark[i].via, text),
				strerror(-rc));
	}
}
