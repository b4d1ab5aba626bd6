/* SPDX-License-Identifier: BSD-3-Clause */
#include "port/tap.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/if_tun.h>
#include <net/if.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include <rte_byteorder.h>
#include <rte_ether.h>
#include <rte_hash_crc.h>
#include <rte_ring.h>

#include "base/log.h"
#include "core/mbuf.h"

#define TAP_BURST 64u /* packets of one tap or ring in a turn of the control thread */

struct tap {
	char name[SNAP_NAME_MAX];
	uint32_t vlan_id;
	int fd;		 /* -1 = not there */
	bool complained; /* that it cannot be opened, once */
	uint8_t mac[RTE_ETHER_ADDR_LEN];
};

/* Between one worker and the control thread. */
struct tap_rings {
	struct rte_ring *to_kernel, *from_kernel;
	uint64_t lost;	  /* dropped by the control thread; it stores, the worker loads */
	uint64_t counted; /* of these in the worker's counters; worker only */
};

static struct tap_rings rings[WORKERS_MAX];
static unsigned ring_count;
static struct tap *taps; /* row by row the view's VLANs; control thread only */
static unsigned tap_count;
static int tap_epoll = -1;
static int tap_socket = -1; /* for questions about interfaces */
static struct rte_mempool *tap_pool;

/* --- workers ---------------------------------------------------------------------------------------- */

void tap_send(struct worker *w, struct rte_mbuf *m, uint16_t vlan)
{
	struct pkt *p = pkt_of(m);

	/* The row is this turn's; the id outlives a change of views while m waits. */
	p->vlan = vlan;
	p->owner_hash = SNAP_ROWS(w->view->snap, SNAP_VLAN, struct snap_vlan)[vlan].id;
	if (rte_ring_sp_enqueue(rings[w->index].to_kernel, m) != 0) {
		worker_drop(w, m, DROP_TAP_FULL);
		return;
	}
	w->stat[WORKER_TAP_TO_KERNEL]++;
	w->wake = true;
}

/* The row of the VLAN in this turn's view. hint: its row when the packet was read. */
static bool vlan_row(const struct worker *w, uint32_t id, uint16_t *hint)
{
	const struct snap_vlan *v = SNAP_ROWS(w->view->snap, SNAP_VLAN, struct snap_vlan);
	uint32_t count = SNAP_COUNT(w->view->snap, SNAP_VLAN);

	if (*hint < count && v[*hint].id == id)
		return true;
	for (uint32_t i = 0; i < count; i++) {
		if (v[i].id == id) {
			*hint = (uint16_t)i;
			return true;
		}
	}
	return false;
}

unsigned tap_receive(struct worker *w, struct rte_mbuf **out, unsigned max)
{
	struct tap_rings *r = &rings[w->index];
	unsigned n = rte_ring_sc_dequeue_burst(r->from_kernel, (void **)out, max, NULL), kept = 0;
	uint64_t lost = __atomic_load_n(&r->lost, __ATOMIC_RELAXED);

	w->drop[DROP_TAP_FULL] += lost - r->counted;
	r->counted = lost;
	w->stat[WORKER_TAP_FROM_KERNEL] += n;
	for (unsigned i = 0; i < n; i++) {
		struct pkt *p = pkt_of(out[i]);
		if (vlan_row(w, p->owner_hash, &p->vlan))
			out[kept++] = out[i];
		else
			worker_drop(w, out[i], DROP_DELETED);
	}
	return kept;
}

/* --- control thread: set-up ------------------------------------------------------------------------- */

static struct rte_ring *ring_new(const char *direction, unsigned worker)
{
	char name[RTE_RING_NAMESIZE];

	snprintf(name, sizeof(name), "tap_%s_%u", direction, worker);
	return rte_ring_create(
		name, TAP_RING, SOCKET_ID_ANY, RING_F_SP_ENQ | RING_F_SC_DEQ | RING_F_EXACT_SZ);
}

int tap_init(struct worker *const *workers, unsigned count)
{
	tap_epoll = epoll_create1(EPOLL_CLOEXEC);
	tap_socket = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (tap_epoll < 0 || tap_socket < 0)
		return -errno;
	tap_pool = workers[0]->pool;
	ring_count = count;
	for (unsigned i = 0; i < count; i++) {
		rings[i].to_kernel = ring_new("out", i);
		rings[i].from_kernel = ring_new("in", i);
		if (!rings[i].to_kernel || !rings[i].from_kernel)
			return -ENOMEM;
	}
	return 0;
}

static void ring_free(struct rte_ring *r)
{
	struct rte_mbuf *m;

	while (r && rte_ring_sc_dequeue(r, (void **)&m) == 0)
		rte_pktmbuf_free(m);
	rte_ring_free(r);
}

static void tap_close(struct tap *t)
{
	if (t->fd >= 0)
		close(t->fd);
	t->fd = -1;
}

void tap_fini(void)
{
	for (unsigned i = 0; i < tap_count; i++)
		tap_close(&taps[i]);
	free(taps);
	taps = NULL;
	tap_count = 0;
	for (unsigned i = 0; i < ring_count; i++) {
		ring_free(rings[i].to_kernel);
		ring_free(rings[i].from_kernel);
		rings[i] = (struct tap_rings){0};
	}
	ring_count = 0;
	if (tap_epoll >= 0)
		close(tap_epoll);
	if (tap_socket >= 0)
		close(tap_socket);
	tap_epoll = tap_socket = -1;
}

int tap_poll_fd(void)
{
	return tap_epoll;
}

static int watch(unsigned row)
{
	struct epoll_event e = {.events = EPOLLIN, .data.u32 = row};

	/* A tap that is open already only learns its new row. */
	if (epoll_ctl(tap_epoll, EPOLL_CTL_MOD, taps[row].fd, &e) == 0)
		return 0;
	return epoll_ctl(tap_epoll, EPOLL_CTL_ADD, taps[row].fd, &e) < 0 ? -errno : 0;
}

static bool tap_exists(const struct tap *t)
{
	struct ifreq r = {0};

	memcpy(r.ifr_name, t->name, sizeof(r.ifr_name));
	return t->name[0] && ioctl(tap_socket, SIOCGIFINDEX, &r) == 0;
}

/* Attaches to a tap that somebody made; never makes one. */
static int attach(struct tap *t)
{
	struct ifreq r = {.ifr_flags = IFF_TAP | IFF_NO_PI};

	memcpy(r.ifr_name, t->name, sizeof(r.ifr_name));
	t->fd = open("/dev/net/tun", O_RDWR | O_NONBLOCK | O_CLOEXEC);
	if (t->fd < 0 || ioctl(t->fd, TUNSETIFF, &r) < 0 || ioctl(t->fd, SIOCGIFHWADDR, &r) < 0)
		return -errno;
	memcpy(t->mac, r.ifr_hwaddr.sa_data, sizeof(t->mac));
	return 0;
}

static void tap_open(unsigned row)
{
	struct tap *t = &taps[row];

	if (t->fd >= 0 || !tap_exists(t))
		return;
	int err = attach(t);
	if (err == 0)
		err = watch(row);
	if (err) {
		if (!t->complained)
			log_warning("tap %s: open: %s", t->name, strerror(-err));
		t->complained = true;
		tap_close(t);
		return;
	}
	t->complained = false;
	log_debug("tap %s: open", t->name);
}

void tap_retry(void)
{
	for (unsigned i = 0; i < tap_count; i++)
		tap_open(i);
}

int tap_update(const struct snap_header *snap)
{
	const struct snap_vlan *vlan = SNAP_ROWS(snap, SNAP_VLAN, struct snap_vlan);
	unsigned count = SNAP_COUNT(snap, SNAP_VLAN);
	struct tap *new = calloc(count + 1, sizeof(*new));

	if (!new)
		return -ENOMEM;
	for (unsigned i = 0; i < count; i++) {
		new[i].fd = -1;
		for (unsigned j = 0; j < tap_count; j++) {
			if (taps[j].fd < 0 ||
				strncmp(taps[j].name, vlan[i].tap, SNAP_NAME_MAX) != 0)
				continue;
			new[i] = taps[j];
			taps[j].fd = -1;
		}
		memcpy(new[i].name, vlan[i].tap, sizeof(new[i].name));
		new[i].vlan_id = vlan[i].id;
	}
	for (unsigned j = 0; j < tap_count; j++)
		tap_close(&taps[j]);
	free(taps);
	taps = new;
	tap_count = count;
	for (unsigned i = 0; i < count; i++) {
		if (taps[i].fd >= 0)
			watch(i);
	}
	tap_retry();
	return 0;
}

/* --- control thread: packets ------------------------------------------------------------------------ */

static void lose(unsigned worker, struct rte_mbuf *m)
{
	struct tap_rings *r = &rings[worker];

	__atomic_store_n(&r->lost, r->lost + 1, __ATOMIC_RELAXED);
	rte_pktmbuf_free(m);
}

/* Any worker will do, but one flow stays with one: its packets keep their order. */
static unsigned worker_of(struct rte_mbuf *m)
{
	const struct wire_info *i = &pkt_of(m)->wire;
	unsigned offset = i->ip_version == 4 ? 12 : 8, length = i->ip_version == 4 ? 8 : 32;
	uint32_t ports = (uint32_t)i->src_port << 16 | i->dst_port;
	uint64_t addresses[4]; /* aligned, as the hash wants them */

	memcpy(addresses, (const char *)pkt_l3(m) + offset, length);
	uint32_t hash = rte_hash_crc(addresses, length, i->proto);
	return rte_hash_crc_4byte(ports, hash) % ring_count;
}

/* A frame from the kernel, or NULL: nothing there (*err 0), or the tap is gone (*err). */
static struct rte_mbuf *frame_read(const struct tap *t, int *err)
{
	struct rte_mbuf *m = mbuf_new(tap_pool);

	*err = 0;
	if (!m)
		return NULL;
	uint16_t room = rte_pktmbuf_tailroom(m);
	ssize_t n = read(t->fd, mbuf_append(m, room), room);
	if (n <= 0) {
		if (n < 0 && errno != EAGAIN && errno != EINTR)
			*err = -errno;
		rte_pktmbuf_free(m);
		return NULL;
	}
	mbuf_trim(m, (uint16_t)(room - n));
	return m;
}

/* False: nothing left to read. */
static bool read_one(unsigned row)
{
	struct tap *t = &taps[row];
	int err;
	struct rte_mbuf *m = frame_read(t, &err);

	if (err) {
		log_notice("tap %s: read: %s", t->name, strerror(-err));
		tap_close(t);
	}
	if (!m)
		return false;
	struct pkt *p = pkt_of(m);
	enum wire_verdict verdict =
		wire_parse(rte_pktmbuf_mtod(m, const uint8_t *), m->data_len, &p->wire);
	p->vlan = (uint16_t)row;
	p->owner_hash = t->vlan_id;
	p->port = UINT8_MAX;
	p->stage = PKT_TAP;
	if (verdict != WIRE_OK || p->wire.ip_version == 0) {
		rte_pktmbuf_free(m); /* no IP: nothing that the dataplane carries for the kernel */
		return true;
	}
	unsigned worker = worker_of(m);
	if (rte_ring_sp_enqueue(rings[worker].from_kernel, m) != 0)
		lose(worker, m);
	return true;
}

static struct tap *tap_of(const struct pkt *p)
{
	if (p->vlan < tap_count && taps[p->vlan].vlan_id == p->owner_hash)
		return &taps[p->vlan];
	for (unsigned i = 0; i < tap_count; i++) {
		if (taps[i].vlan_id == p->owner_hash)
			return &taps[i];
	}
	return NULL;
}

static bool frame_write(const struct tap *t, struct rte_mbuf *m)
{
	const struct wire_info *i = &pkt_of(m)->wire;
	struct rte_ether_hdr ether = {
		.ether_type = rte_cpu_to_be_16(
			i->ip_version == 4 ? RTE_ETHER_TYPE_IPV4 : RTE_ETHER_TYPE_IPV6),
	};
	struct iovec iov[] = {{&ether, sizeof(ether)}, {pkt_l3(m), pkt_l3_length(m)}};

	memcpy(ether.dst_addr.addr_bytes, t->mac, sizeof(t->mac));
	memcpy(ether.src_addr.addr_bytes, t->mac, sizeof(t->mac));
	ether.src_addr.addr_bytes[5] ^= 1;
	return writev(t->fd, iov, RTE_DIM(iov)) > 0;
}

/* Gives the kernel what a worker has for it. True: the burst was full. */
static bool write_ring(unsigned worker)
{
	struct rte_mbuf *got[TAP_BURST];
	unsigned n =
		rte_ring_sc_dequeue_burst(rings[worker].to_kernel, (void **)got, TAP_BURST, NULL);

	for (unsigned i = 0; i < n; i++) {
		const struct tap *t = tap_of(pkt_of(got[i]));
		if (t && t->fd >= 0 && frame_write(t, got[i]))
			rte_pktmbuf_free(got[i]);
		else
			lose(worker, got[i]);
	}
	return n == TAP_BURST;
}

bool tap_service(void)
{
	struct epoll_event event[16];
	bool more = false;

	for (unsigned i = 0; i < ring_count; i++)
		more |= write_ring(i);
	int n = epoll_wait(tap_epoll, event, RTE_DIM(event), 0);
	for (int i = 0; i < n; i++) {
		unsigned row = event[i].data.u32, left = TAP_BURST;
		if (row >= tap_count || taps[row].fd < 0)
			continue;
		while (left > 0 && read_one(row))
			left--;
		more |= left == 0;
	}
	return more;
}
