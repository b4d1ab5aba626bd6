/* SPDX-License-Identifier: BSD-3-Clause */
#include "port/port.h"

#include <errno.h>
#include <net/if.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <rte_dev.h>
#include <rte_errno.h>
#include <rte_ethdev.h>

#include "base/log.h"
#include "port/offload.h"
#include "port/xdp.h"

static struct port ports[PORTS_MAX];
static struct xdp_guard *guards[PORTS_MAX];
static unsigned ports_open;
static int interface_socket = -1; /* for questions about kernel interfaces */

unsigned port_count(void)
{
	return ports_open;
}

const struct port *port_at(unsigned index)
{
	return &ports[index];
}

uint8_t port_by_name(const char *name)
{
	for (unsigned i = 0; i < ports_open; i++) {
		if (strncmp(ports[i].name, name, sizeof(ports[i].name)) == 0)
			return (uint8_t)i;
	}
	return PORT_NONE;
}

unsigned port_frame_max(const struct port_config *config, unsigned count, uint16_t mtu)
{
	unsigned lost = 0, most = UINT16_MAX;

	for (unsigned i = 0; i < count; i++) {
		const struct port_driver *d = config[i].driver;
		lost = RTE_MAX(lost, d->room_lost);
		if (d->room_max)
			most = RTE_MIN(most, d->room_max);
	}
	return RTE_MIN(mtu + PORT_FRAME_EXTRA + lost, most);
}

static int interface_ask(const char *interface, unsigned long what, struct ifreq *r)
{
	*r = (struct ifreq){0};
	snprintf(r->ifr_name, sizeof(r->ifr_name), "%s", interface);
	return ioctl(interface_socket, what, r) < 0 ? -errno : 0;
}

static uint16_t largest_mtu(const struct port *p, const struct port_driver *driver,
	const struct rte_eth_dev_info *info, const struct port_setup *setup)
{
	uint32_t room = rte_pktmbuf_data_room_size(setup->pool) - RTE_PKTMBUF_HEADROOM;
	uint32_t mtu = RTE_MIN(driver->mtu_max, room - driver->room_lost - PORT_FRAME_EXTRA);
	struct ifreq r;

	if (info->max_mtu)
		mtu = RTE_MIN(mtu, info->max_mtu);
	if (driver->set_mtu)
		mtu = RTE_MIN(mtu, setup->mtu);
	if (p->interface[0] && interface_ask(p->interface, SIOCGIFMTU, &r) == 0)
		mtu = RTE_MIN(mtu, (uint32_t)r.ifr_mtu);
	return (uint16_t)mtu;
}

static int set_up_queues(
	const struct port *p, const struct port_driver *driver, const struct port_setup *setup)
{
	uint16_t rx = driver->descriptors, tx = driver->descriptors;
	int err = rte_eth_dev_adjust_nb_rx_tx_desc(p->dpdk, &rx, &tx);

	for (uint16_t q = 0; err == 0 && q < p->rx_queues; q++)
		err = rte_eth_rx_queue_setup(p->dpdk, q, rx, SOCKET_ID_ANY, NULL, setup->pool);
	for (uint16_t q = 0; err == 0 && q < p->tx_queues; q++)
		err = rte_eth_tx_queue_setup(p->dpdk, q, tx, SOCKET_ID_ANY, NULL);
	return err;
}

static int configure(
	struct port *p, const struct port_driver *driver, const struct port_setup *setup)
{
	struct rte_eth_conf conf = {0};
	struct rte_eth_dev_info info;
	int err = rte_eth_dev_info_get(p->dpdk, &info);

	if (err)
		return err;
	uint16_t wanted = (uint16_t)RTE_MIN(setup->workers, driver->queues_max);
	p->rx_queues = RTE_MIN(wanted, info.max_rx_queues);
	p->tx_queues = RTE_MIN(wanted, info.max_tx_queues);
	if (p->rx_queues == 0 || p->tx_queues == 0)
		return -ENOTSUP;
	p->tag_in_data = driver->tag_in_data;
	p->multi_segs = driver->multi_segs;
	p->mtu_max = largest_mtu(p, driver, &info, setup);
	if (driver->set_mtu) {
		conf.rxmode.mtu = p->mtu_max;
		p->multi_segs = info.tx_offload_capa & RTE_ETH_TX_OFFLOAD_MULTI_SEGS;
	}
	conf.txmode.offloads = info.tx_offload_capa & RTE_ETH_TX_OFFLOAD_MULTI_SEGS;
	err = rte_eth_dev_configure(p->dpdk, p->rx_queues, p->tx_queues, &conf);
	if (err == 0)
		err = set_up_queues(p, driver, setup);
	return err;
}

static int start(struct port *p)
{
	struct rte_ether_addr mac;
	int err = rte_eth_dev_start(p->dpdk);

	if (err)
		return err;
	err = rte_eth_macaddr_get(p->dpdk, &mac);
	if (err)
		return err;
	memcpy(p->mac, mac.addr_bytes, sizeof(p->mac));
	/* Frames for multicast (NDP) and for addresses that we answer for must come in. Drivers without
	 * the notion deliver everything anyway. */
	err = rte_eth_promiscuous_enable(p->dpdk);
	return err == -ENOTSUP ? 0 : err;
}

/* Steps in order; *step says which one failed. */
static int open_one(struct port *p, const struct port_config *config,
	const struct port_setup *setup, const char **step)
{
	struct rte_dev_iterator it;
	uint16_t id, dpdk = RTE_MAX_ETHPORTS;
	int err;

	*step = "interface does not exist";
	if (config->interface[0] && if_nametoindex(config->interface) == 0)
		return -errno;
	if (strcmp(p->driver, "net_af_xdp") == 0)
		guards[p - ports] = xdp_guard_new(config->interface);
	*step = "cannot open device";
	err = rte_dev_probe(config->device);
	if (err)
		return err;
	RTE_ETH_FOREACH_MATCHING_DEV(id, config->device, &it)
	dpdk = id;
	*step = "device has no port";
	if (dpdk == RTE_MAX_ETHPORTS)
		return -ENODEV;
	p->dpdk = dpdk;
	ports_open++;
	*step = "cannot configure device";
	err = configure(p, config->driver, setup);
	if (err)
		return err;
	*step = "cannot start device";
	return start(p);
}

/* Such frames arrive with wrong checksums, cut or without their tags: nothing we could repair. */
static void warn_of_offload(const struct port *p)
{
	char command[512];

	if (p->interface[0] && offload_of_peer(p->interface, command, sizeof(command)))
		log_warning("port %s: the peer of %s sends unfinished frames: run \"%s\"", p->name,
			p->interface, command);
}

int port_open(const struct port_config *config, unsigned count, const struct port_setup *setup,
	char *reason, size_t reason_size)
{
	if (count > PORTS_MAX) {
		snprintf(reason, reason_size, "more than %u ports", PORTS_MAX);
		return -EINVAL;
	}
	xdp_silence();
	interface_socket = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	for (unsigned i = 0; i < count; i++) {
		struct port *p = &ports[i];
		const char *step;

		*p = (struct port){0};
		memcpy(p->name, config[i].name, sizeof(p->name));
		memcpy(p->interface, config[i].interface, sizeof(p->interface));
		snprintf(p->driver, sizeof(p->driver), "%s", config[i].driver->name);
		int err = port_by_name(p->name) == PORT_NONE ? 0 : -EEXIST;
		step = "name is used twice";
		if (err == 0)
			err = open_one(p, &config[i], setup, &step);
		if (err) {
			snprintf(reason, reason_size, "port %s: %s: %s: %s", p->name,
				config[i].device, step, strerror(-err));
			port_close();
			return err;
		}
		warn_of_offload(p);
	}
	port_link_refresh();
	return 0;
}

void port_close(void)
{
	for (unsigned i = 0; i < PORTS_MAX; i++) {
		xdp_guard_free(guards[i]);
		guards[i] = NULL;
	}
	/* The af_xdp driver wants to detach the program by itself, which takes a privilege. */
	rte_log_set_level_pattern("pmd.net.af_xdp", RTE_LOG_EMERG);
	while (ports_open > 0) {
		struct port *p = &ports[--ports_open];
		struct rte_eth_dev_info info;

		rte_eth_dev_stop(p->dpdk);
		int err = rte_eth_dev_info_get(p->dpdk, &info);
		rte_eth_dev_close(p->dpdk);
		if (err == 0)
			rte_dev_remove(info.device);
	}
	if (interface_socket >= 0)
		close(interface_socket);
	interface_socket = -1;
}

static bool has_link(const struct port *p)
{
	struct rte_eth_link link;
	struct ifreq r;

	if (p->interface[0])
		return interface_ask(p->interface, SIOCGIFFLAGS, &r) == 0 &&
		       (r.ifr_flags & IFF_UP) && (r.ifr_flags & IFF_RUNNING);
	return rte_eth_link_get_nowait(p->dpdk, &link) == 0 && link.link_status;
}

bool port_link_refresh(void)
{
	bool changed = false;

	for (unsigned i = 0; i < ports_open; i++) {
		struct port *p = &ports[i];
		bool up = has_link(p);

		if (up != p->up)
			log_notice("port %s: link is %s", p->name, up ? "up" : "down");
		changed |= up != p->up;
		__atomic_store_n(&p->up, up, __ATOMIC_RELAXED);
	}
	return changed;
}
