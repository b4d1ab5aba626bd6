/* SPDX-License-Identifier: BSD-3-Clause */
/* The taps themselves: made, set right, removed. */
#include <errno.h>
#include <fcntl.h>
#include <linux/if_link.h>
#include <linux/if_tun.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/log.h"
#include "kernel/kernel_internal.h"

static struct tap *tap_named(struct pass *p, const char *name)
{
	for (unsigned i = 0; i < p->taps; i++)
		if (!strcmp(p->tap[i].name, name))
			return &p->tap[i];
	return NULL;
}

static const struct rtattr *attribute_in(const struct rtattr *nest, unsigned short type)
{
	unsigned left = nest ? (unsigned)RTA_PAYLOAD(nest) : 0;

	for (const struct rtattr *a = nest ? RTA_DATA(nest) : NULL; left && RTA_OK(a, left);
		a = RTA_NEXT(a, left))
		if ((a->rta_type & NLA_TYPE_MASK) == type)
			return a;
	return NULL;
}

/* Whether the driver is that of taps: such a one may have been made beforehand. */
static bool link_is_tun(const struct rtattr *info)
{
	const struct rtattr *kind = attribute_in(info, IFLA_INFO_KIND);

	return kind && !strncmp(RTA_DATA(kind), "tun", RTA_PAYLOAD(kind));
}

static bool link_has_owner(const struct rtattr *info, uid_t owner)
{
	const struct rtattr *a = attribute_in(attribute_in(info, IFLA_INFO_DATA), IFLA_TUN_OWNER);
	uint32_t uid;

	if (!a)
		return false;
	memcpy(&uid, RTA_DATA(a), sizeof(uid));
	return uid == owner;
}

static int link_row(void *ctx, const struct nlmsghdr *row)
{
	struct pass *p = ctx;
	const struct ifinfomsg *info = NLMSG_DATA(row);
	const struct rtattr *a[IFLA_MAX + 1];
	uint32_t mtu = 0;

	if (row->nlmsg_type != RTM_NEWLINK)
		return 0;
	rtnl_parse(row, sizeof(*info), a, IFLA_MAX + 1);
	if (!a[IFLA_IFNAME])
		return 0;
	bool ours = a[IFLA_IFALIAS] &&
		    !strncmp(RTA_DATA(a[IFLA_IFALIAS]), KERNEL_ALIAS, RTA_PAYLOAD(a[IFLA_IFALIAS]));
	struct tap *tap = tap_named(p, RTA_DATA(a[IFLA_IFNAME]));
	if (a[IFLA_MTU])
		memcpy(&mtu, RTA_DATA(a[IFLA_MTU]), sizeof(mtu));
	if (tap && !ours && !link_is_tun(a[IFLA_LINKINFO])) {
		tap->foreign = true;
	} else if (tap) {
		tap->index = (unsigned)info->ifi_index;
		tap->right = ours && mtu == tap->mtu && (info->ifi_flags & IFF_NOARP) &&
			     (info->ifi_flags & IFF_UP);
		tap->owned = link_has_owner(a[IFLA_LINKINFO], p->k->owner);
	} else if (ours && p->k->stales < KERNEL_STALE_MAX) {
		p->k->stale[p->k->stales++] = (unsigned)info->ifi_index;
	}
	return 0;
}

void kernel_tidy(struct kernel *k)
{
	while (k && k->stales) {
		struct rtnl_request r;
		struct ifinfomsg *info = rtnl_begin(&r, RTM_DELLINK, 0, sizeof(*info));

		info->ifi_index = (int)k->stale[--k->stales];
		int rc = rtnl_do(&k->nl, &r);
		if (rc && rc != -ENODEV)
			log_error("kernel: interface %d of a former VLAN: cannot be removed: %s",
				info->ifi_index, strerror(-rc));
	}
}

/* A persistent tap that the dataplane's user may open. */
static int tap_make(const struct pass *p, const struct tap *tap)
{
	struct ifreq ifr = {.ifr_flags = IFF_TAP | IFF_NO_PI};
	int fd = open("/dev/net/tun", O_RDWR | O_CLOEXEC), rc = 0;

	if (fd < 0)
		return -errno;
	memcpy(ifr.ifr_name, tap->name, sizeof(tap->name));
	if (ioctl(fd, TUNSETIFF, &ifr) || ioctl(fd, TUNSETOWNER, (unsigned long)p->k->owner) ||
		ioctl(fd, TUNSETPERSIST, 1))
		rc = -errno;
	close(fd);
	return rc;
}

static int link_set_flags(struct pass *p, const struct tap *tap, unsigned flags)
{
	struct rtnl_request r;
	struct ifinfomsg *info = rtnl_begin(&r, RTM_NEWLINK, 0, sizeof(*info));

	info->ifi_index = (int)tap->index;
	info->ifi_flags = info->ifi_change = flags;
	rtnl_put(&r, IFLA_IFALIAS, KERNEL_ALIAS, strlen(KERNEL_ALIAS));
	rtnl_put_u32(&r, IFLA_MTU, tap->mtu);
	return rtnl_do(&p->k->nl, &r);
}

/* No addresses that the kernel thinks up. It has no IPv6 on an interface of an MTU below 1280, or at all. */
static int link_set_ipv6(struct pass *p, const struct tap *tap)
{
	struct rtnl_request r;
	struct ifinfomsg *info = rtnl_begin(&r, RTM_NEWLINK, 0, sizeof(*info));
	uint8_t mode = IN6_ADDR_GEN_MODE_NONE;

	info->ifi_index = (int)tap->index;
	struct rtattr *spec = rtnl_nest(&r, IFLA_AF_SPEC);
	struct rtattr *inet6 = rtnl_nest(&r, AF_INET6);
	rtnl_put(&r, IFLA_INET6_ADDR_GEN_MODE, &mode, sizeof(mode));
	rtnl_nest_end(&r, inet6);
	rtnl_nest_end(&r, spec);
	int rc = rtnl_do(&p->k->nl, &r);
	return rc == -EAFNOSUPPORT ? 0 : rc;
}

/* Mark, MTU, no ARP; then IPv6, which an MTU may have brought back; then up. */
static int link_set(struct pass *p, const struct tap *tap)
{
	int rc = link_set_flags(p, tap, IFF_NOARP);

	if (rc == 0)
		rc = link_set_ipv6(p, tap);
	return rc ? rc : link_set_flags(p, tap, IFF_NOARP | IFF_UP);
}

static void tap_right(struct pass *p, struct tap *tap)
{
	int rc = -EEXIST;

	if (tap->foreign) {
		pass_fault(p, rc, "interface %s: exists already and is not ours", tap->name);
		return;
	}
	rc = tap->index && tap->owned ? 0 : tap_make(p, tap);
	if (rc == -EBUSY && tap->index)
		rc = 0; /* the dataplane has it open: so it may */
	if (rc == 0 && !tap->index) {
		tap->index = if_nametoindex(tap->name);
		log_notice("kernel: interface %s made", tap->name);
	}
	if (rc == 0 && !tap->right)
		rc = link_set(p, tap);
	if (rc)
		pass_fault(p, rc, "interface %s: %s", tap->name, strerror(-rc));
}

void pass_links(struct pass *p)
{
	struct rtnl_request r;

	p->k->stales = 0;
	rtnl_begin(&r, RTM_GETLINK, 0, sizeof(struct ifinfomsg));
	int rc = rtnl_dump(&p->k->nl, &r, link_row, p);
	if (rc) {
		pass_fault(p, rc, "interfaces cannot be listed: %s", strerror(-rc));
		return;
	}
	for (unsigned i = 0; i < p->taps; i++)
		tap_right(p, &p->tap[i]);
}
