/* SPDX-License-Identifier: BSD-3-Clause */
/* Self IPs on the taps. */
#include <errno.h>
#include <linux/if_addr.h>
#include <stdlib.h>
#include <string.h>

#include "kernel/kernel_internal.h"

/* An address that an interface has, or should have. */
struct address {
	unsigned index;
	struct ip_addr addr;
	uint8_t prefix;
	bool wanted, there;
};

struct addresses {
	struct pass *p;
	struct address *row;
	unsigned count, size;
};

static struct address *address_add(
	struct addresses *a, unsigned index, const struct ip_addr *addr, uint8_t prefix)
{
	for (unsigned i = 0; i < a->count; i++)
		if (a->row[i].index == index && a->row[i].prefix == prefix &&
			ip_equal(&a->row[i].addr, addr))
			return &a->row[i];
	if (a->count == a->size) {
		unsigned size = a->size ? 2 * a->size : 32;
		struct address *more = reallocarray(a->row, size, sizeof(*more));

		if (!more)
			return NULL;
		a->row = more;
		a->size = size;
	}
	a->row[a->count] = (struct address){.index = index, .addr = *addr, .prefix = prefix};
	return &a->row[a->count++];
}

static bool is_tap(const struct pass *p, unsigned index)
{
	for (unsigned i = 0; i < p->taps; i++)
		if (p->tap[i].index == index)
			return true;
	return false;
}

static int address_row(void *ctx, const struct nlmsghdr *row)
{
	struct addresses *a = ctx;
	const struct ifaddrmsg *info = NLMSG_DATA(row);
	const struct rtattr *attr[IFA_MAX + 1];

	if (row->nlmsg_type != RTM_NEWADDR || !is_tap(a->p, info->ifa_index) ||
		(info->ifa_family != AF_INET && info->ifa_family != AF_INET6))
		return 0;
	rtnl_parse(row, sizeof(*info), attr, IFA_MAX + 1);
	const struct rtattr *local = attr[IFA_LOCAL] ? attr[IFA_LOCAL] : attr[IFA_ADDRESS];
	if (!local)
		return 0;
	struct ip_addr addr = addr_of(local, info->ifa_family);
	struct address *found = address_add(a, info->ifa_index, &addr, info->ifa_prefixlen);
	if (!found)
		return -ENOMEM;
	found->there = true;
	return 0;
}

static int address_change(struct pass *p, const struct address *a, uint16_t type)
{
	struct rtnl_request r;
	struct ifaddrmsg *info = rtnl_begin(
		&r, type, type == RTM_NEWADDR ? NLM_F_CREATE | NLM_F_REPLACE : 0, sizeof(*info));
	size_t length;
	const void *bytes = addr_bytes(&a->addr, &length);

	info->ifa_family = ip_is_v4(&a->addr) ? AF_INET : AF_INET6;
	info->ifa_prefixlen = a->prefix;
	info->ifa_index = a->index;
	info->ifa_flags = IFA_F_NODAD; /* the dataplane looks for duplicates on the wire */
	rtnl_put(&r, IFA_LOCAL, bytes, length);
	rtnl_put(&r, IFA_ADDRESS, bytes, length);
	return rtnl_do(&p->k->nl, &r);
}

static void addresses_do(struct addresses *a, uint16_t type)
{
	bool add = type == RTM_NEWADDR;
	char text[IP_ADDR_TEXT];

	for (unsigned i = 0; i < a->count; i++) {
		const struct address *row = &a->row[i];

		if (row->wanted == row->there || row->wanted != add)
			continue;
		int rc = address_change(a->p, row, type);
		if (rc && (add || rc != -EADDRNOTAVAIL))
			pass_fault(a->p, rc, "address %s/%u: %s", ip_format(&row->addr, text),
				row->prefix, strerror(-rc));
	}
}

/* What is there now. */
static int addresses_list(struct addresses *a)
{
	struct rtnl_request r;

	for (unsigned i = 0; i < a->count; i++)
		a->row[i].there = false;
	rtnl_begin(&r, RTM_GETADDR, 0, sizeof(struct ifaddrmsg));
	return rtnl_dump(&a->p->k->nl, &r, address_row, a);
}

void pass_addresses(struct pass *p)
{
	struct addresses a = {.p = p};
	const struct object *o;
	int rc = 0;

	for (unsigned i = 0; rc == 0 && (o = model_at(p->m, KIND_SELF, i)); i++) {
		const struct self_conf *conf = &model_self(o)->conf;
		const struct tap *tap = pass_tap(p, conf->vlan);
		struct address *row =
			tap ? address_add(&a, tap->index, &conf->address.addr, conf->address.len)
			    : NULL;
		if (row)
			row->wanted = true;
		else if (tap)
			rc = -ENOMEM;
	}
	if (rc == 0)
		rc = addresses_list(&a);
	/* What goes, goes first: a prefix may change while the address stays. */
	if (rc == 0)
		addresses_do(&a, RTM_DELADDR);
	/* Listed again: the kernel takes a network's other addresses away with its first. */
	if (rc == 0)
		rc = addresses_list(&a);
	if (rc == 0)
		addresses_do(&a, RTM_NEWADDR);
	else
		pass_fault(p, rc, "addresses cannot be listed: %s", strerror(-rc));
	free(a.row);
}
