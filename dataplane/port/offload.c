/* SPDX-License-Identifier: BSD-3-Clause */
#include "port/offload.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/ethtool.h>
#include <linux/net_namespace.h>
#include <linux/rtnetlink.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#define NAMESPACES "/run/netns"

/* One ethtool question. fd: a socket of the namespace that the interface is in. */
static bool ethtool(int fd, const char *interface, void *question)
{
	struct ifreq r = {.ifr_data = question};

	snprintf(r.ifr_name, sizeof(r.ifr_name), "%s", interface);
	return ioctl(fd, SIOCETHTOOL, &r) == 0;
}

/* One netlink question; the answer's attributes of interest are in reply. Its length, or -1. */
static ssize_t netlink_ask(void *question, void *reply, size_t size)
{
	struct nlmsghdr *q = question, *r = reply;
	int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);
	ssize_t n = -1;

	if (fd < 0)
		return -1;
	if (send(fd, q, q->nlmsg_len, 0) == (ssize_t)q->nlmsg_len)
		n = recv(fd, reply, size, 0);
	close(fd);
	if (n < (ssize_t)sizeof(*r) || r->nlmsg_type == NLMSG_ERROR || r->nlmsg_len > (size_t)n)
		return -1;
	return r->nlmsg_len;
}

/* A 32-bit attribute behind the fixed part of an answer; missing if there is none. */
static int attribute(struct nlmsghdr *r, size_t fixed, unsigned short type, int missing)
{
	struct rtattr *a = (struct rtattr *)((char *)NLMSG_DATA(r) + NLMSG_ALIGN(fixed));
	int left = (int)NLMSG_PAYLOAD(r, NLMSG_ALIGN(fixed)), value;

	for (; RTA_OK(a, left); a = RTA_NEXT(a, left)) {
		if (a->rta_type != type || RTA_PAYLOAD(a) != sizeof(value))
			continue;
		memcpy(&value, RTA_DATA(a), sizeof(value));
		return value;
	}
	return missing;
}

#define SAME_NAMESPACE (-1)

/* Number of the peer of a veth interface, and our id of the namespace it is in (SAME_NAMESPACE: ours). 0
 * if the interface is no veth. */
static int peer_of(int fd, const char *interface, int *namespace)
{
	struct ethtool_drvinfo driver = {.cmd = ETHTOOL_GDRVINFO};
	struct {
		struct nlmsghdr header;
		struct ifinfomsg link;
	} q = {
		.header = {.nlmsg_len = sizeof(q),
			.nlmsg_type = RTM_GETLINK,
			.nlmsg_flags = NLM_F_REQUEST},
		.link = {.ifi_index = (int)if_nametoindex(interface)},
	};
	char reply[32768] __attribute__((aligned(8)));
	struct nlmsghdr *r = (struct nlmsghdr *)reply;

	if (!ethtool(fd, interface, &driver) || strcmp(driver.driver, "veth") != 0 ||
		netlink_ask(&q, reply, sizeof(reply)) < 0)
		return 0;
	*namespace = attribute(r, sizeof(q.link), IFLA_LINK_NETNSID, SAME_NAMESPACE);
	return attribute(r, sizeof(q.link), IFLA_LINK, 0);
}

/* Our id of the namespace that fd is open on; SAME_NAMESPACE if it has none. */
static int namespace_id(int fd)
{
	struct {
		struct nlmsghdr header;
		struct rtgenmsg general __attribute__((aligned(NLMSG_ALIGNTO)));
		struct rtattr attribute __attribute__((aligned(NLMSG_ALIGNTO)));
		uint32_t fd;
	} q = {
		.header = {.nlmsg_len = sizeof(q),
			.nlmsg_type = RTM_GETNSID,
			.nlmsg_flags = NLM_F_REQUEST},
		.attribute = {.rta_len = RTA_LENGTH(sizeof(q.fd)), .rta_type = NETNSA_FD},
		.fd = (uint32_t)fd,
	};
	char reply[1024] __attribute__((aligned(8)));

	if (netlink_ask(&q, reply, sizeof(reply)) < 0)
		return SAME_NAMESPACE;
	return attribute((struct nlmsghdr *)reply, sizeof(q.general), NETNSA_NSID, SAME_NAMESPACE);
}

static bool is_on(int fd, const char *interface, uint32_t what, uint32_t bit)
{
	struct ethtool_value v = {.cmd = what};

	return ethtool(fd, interface, &v) && (v.data & bit);
}

static bool sends_unfinished(int fd, const char *interface)
{
	return is_on(fd, interface, ETHTOOL_GTXCSUM, 1) || is_on(fd, interface, ETHTOOL_GTSO, 1) ||
	       is_on(fd, interface, ETHTOOL_GGSO, 1) ||
	       is_on(fd, interface, ETHTOOL_GFLAGS, ETH_FLAG_TXVLAN);
}

/* Does interface number `index` in the namespace of socket fd send unfinished frames? name gets its name. */
static bool judge(int fd, int index, char name[IF_NAMESIZE])
{
	struct ifreq r = {.ifr_ifindex = index};

	if (fd < 0 || ioctl(fd, SIOCGIFNAME, &r) < 0)
		return false;
	memcpy(name, r.ifr_name, IF_NAMESIZE);
	return sends_unfinished(fd, name);
}

/* A socket of another namespace. Only this thread goes there, and comes back. -1 if it cannot. */
static int socket_in(int namespace_fd)
{
	int home = open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC), fd = -1;

	if (home >= 0 && setns(namespace_fd, CLONE_NEWNET) == 0) {
		fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
		if (setns(home, CLONE_NEWNET) < 0)
			abort(); /* starting still, and everything that follows would be elsewhere */
	}
	if (home >= 0)
		close(home);
	return fd;
}

static bool judge_in(
	const char *name_of_namespace, int namespace, int index, char name[IF_NAMESIZE])
{
	char path[PATH_MAX];
	bool unfinished = false;

	snprintf(path, sizeof(path), NAMESPACES "/%s", name_of_namespace);
	int there = open(path, O_RDONLY | O_CLOEXEC);
	if (there < 0)
		return false;
	if (namespace_id(there) == namespace) {
		int fd = socket_in(there);
		unfinished = judge(fd, index, name);
		if (fd >= 0)
			close(fd);
	}
	close(there);
	return unfinished;
}

bool offload_of_peer(const char *interface, char *command, size_t size)
{
	const char *options = "tx off tso off gso off txvlan off";
	char name[IF_NAMESIZE];
	int namespace, fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	bool unfinished = false;

	if (fd < 0)
		return false;
	int index = peer_of(fd, interface, &namespace);
	if (index > 0 && namespace == SAME_NAMESPACE && judge(fd, index, name)) {
		snprintf(command, size, "ethtool -K %s %s", name, options);
		unfinished = true;
	}
	close(fd);
	if (index <= 0 || namespace == SAME_NAMESPACE)
		return unfinished;
	DIR *dir = opendir(NAMESPACES);
	struct dirent *d;
	while (dir && !unfinished && (d = readdir(dir))) {
		unfinished = judge_in(d->d_name, namespace, index, name);
		if (unfinished)
			snprintf(command, size, "ip netns exec %s ethtool -K %s %s", d->d_name,
				name, options);
	}
	if (dir)
		closedir(dir);
	return unfinished;
}
