/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The appliance's own traffic between wire and taps. What comes in needs leave: the self IP allows the
 * service, or it belongs to a conversation that the kernel began. TCP shows that by its flags and the
 * kernel's port range; of UDP and ICMP we remember whom the kernel has talked to.
 */
#include "api/tap_hop.h"
#include "net/netprivate.h"
#include "port/tap.h"

#define KERNEL_PORT_FIRST 49152u   /* of the kernel's ephemeral range */
#define KERNEL_PORT_SERVICES 1023u /* last of its service ports */
#define CONVERSATIONS 16384u	   /* power of two */
#define CONVERSATION_TICKS (60 * TICKS_PER_SECOND)

/*
 * Shared by all workers, since the one that sends for the kernel is not the one that receives for it.
 * A word: hash of the conversation (high 32 bits) and tick of its last packet out, 0 = free. Any worker
 * writes, with one relaxed store per packet of the kernel's and not more than one a second; any worker
 * reads. A collision forgets the older conversation until it speaks again.
 */
static uint64_t conversations[CONVERSATIONS];

/* local: the self IP's side. Ports in network order, an echo's identifier twice. */
static uint32_t conversation_hash(const struct ip_addr *local, uint16_t local_port,
	const struct ip_addr *remote, uint16_t remote_port, uint8_t proto)
{
	return addr_hash(local, (uint32_t)local_port << 16 | remote_port) ^
	       addr_hash(remote, proto);
}

static void conversation_note(const struct worker *w, uint32_t hash)
{
	uint64_t *word = &conversations[hash & (CONVERSATIONS - 1)];
	uint64_t old = __atomic_load_n(word, __ATOMIC_RELAXED);

	if (old >> 32 == hash && w->now - (uint32_t)old < TICKS_PER_SECOND)
		return;
	__atomic_store_n(word, (uint64_t)hash << 32 | w->now, __ATOMIC_RELAXED);
}

static bool conversation_known(const struct worker *w, uint32_t hash)
{
	uint64_t word =
		__atomic_load_n(&conversations[hash & (CONVERSATIONS - 1)], __ATOMIC_RELAXED);

	/* another worker's clock may be a tick ahead */
	return word && word >> 32 == hash &&
	       w->now - (uint32_t)word + TICKS_PER_SECOND < CONVERSATION_TICKS;
}

static bool service_allowed(
	const struct net_tables *t, const struct snap_self *self, const struct wire_info *i)
{
	const struct snap_service *s =
		SNAP_ROWS(t->snap, SNAP_SERVICE, struct snap_service) + self->first_service;

	if (self->allow == SNAP_ALLOW_ALL)
		return true;
	for (uint32_t k = 0; self->allow == SNAP_ALLOW_LIST && k < self->services; k++)
		if (s[k].proto == i->proto &&
			(s[k].port == 0 || s[k].port == rte_be_to_cpu_16(i->dst_port)))
			return true;
	return false;
}

static bool kernel_port(uint16_t port)
{
	uint16_t host = rte_be_to_cpu_16(port);

	return host >= KERNEL_PORT_FIRST || (host && host <= KERNEL_PORT_SERVICES);
}

/* Does the error speak of a packet that the kernel sent from self? */
static bool error_answers_kernel(struct rte_mbuf *m, const struct ip_addr *self)
{
	const struct wire_info *i = &pkt_of(m)->wire;
	const uint8_t *base = rte_pktmbuf_mtod(m, const uint8_t *);
	struct wire_info q;

	if (wire_parse_quoted(base + i->payload, i->l3_end - i->payload, &q) != WIRE_OK)
		return false;
	struct ip_addr src = wire_src(base + i->payload, &q);
	bool icmp = q.proto == PROTO_ICMP || q.proto == PROTO_ICMP6;
	return ip_equal(&src, self) && (icmp || kernel_port(q.src_port));
}

static bool answers_kernel(struct worker *w, struct rte_mbuf *m)
{
	const struct wire_info *i = &pkt_of(m)->wire;
	const uint8_t *base = rte_pktmbuf_mtod(m, const uint8_t *);
	struct ip_addr src = wire_src(base, i), dst = wire_dst(base, i);

	if (i->flags & WIRE_ICMP_ERROR)
		return error_answers_kernel(m, &dst);
	if (i->proto == PROTO_TCP)
		return rte_be_to_cpu_16(i->dst_port) >= KERNEL_PORT_FIRST &&
		       (i->flags & WIRE_FRAGMENT_LATER ||
			       (i->tcp_flags & (TCP_SYN | TCP_ACK)) != TCP_SYN);
	return conversation_known(
		w, conversation_hash(&dst, i->dst_port, &src, i->src_port, i->proto));
}

void net_to_kernel(struct worker *w, struct rte_mbuf *m, uint32_t self_row)
{
	const struct net_tables *t = w->view->net;
	const struct snap_self *self = SNAP_ROWS(t->snap, SNAP_SELF, struct snap_self) + self_row;

	if (service_allowed(t, self, &pkt_of(m)->wire) || answers_kernel(w, m))
		tap_send(w, m, (uint16_t)self->vlan);
	else
		worker_drop(w, m, DROP_SERVICE_NOT_ALLOWED);
}

static void kernel_note(struct worker *w, const struct wire_info *i, const struct ip_addr *src,
	const struct ip_addr *dst)
{
	if (i->proto == PROTO_TCP || i->flags & (WIRE_FRAGMENT_LATER | WIRE_ICMP_ERROR))
		return;
	conversation_note(w, conversation_hash(src, i->src_port, dst, i->dst_port, i->proto));
}

void net_from_kernel(struct worker *w, struct rte_mbuf *m)
{
	struct pkt *p = pkt_of(m);
	const uint8_t *base = rte_pktmbuf_mtod(m, const uint8_t *);
	struct ip_addr src, dst, hop;

	if (!w->view || !p->wire.ip_version) {
		worker_drop(w, m, DROP_NO_SNAPSHOT);
		return;
	}
	net_sync(w);
	src = wire_src(base, &p->wire);
	dst = wire_dst(base, &p->wire);
	p->stage = PKT_TAP;
	if (net_owner_of(w->view, &src, NULL) != NET_SELF) {
		worker_drop(w, m, DROP_MARTIAN);
		return;
	}
	bool named = tap_hop_read(rte_pktmbuf_mtod(m, const struct eth_hdr *)->dst, &hop);
	uint32_t nexthop = named ? net_hop_get(w, p->vlan, &hop) : net_route_get(w, &dst);
	if (nexthop == NEXTHOP_NONE) {
		w->drop[DROP_NO_ROUTE]++;
		net_icmp_error(w, m, NET_HOST_UNREACHABLE, 0);
		return;
	}
	kernel_note(w, &p->wire, &src, &dst);
	uint16_t mtu = net_nexthop(w, nexthop)->mtu;
	if (pkt_l3_length(m) > mtu && p->wire.flags & WIRE_DONT_FRAGMENT) {
		w->drop[DROP_TOO_BIG]++;
		net_icmp_error(w, m, NET_TOO_BIG, mtu);
	} else {
		net_output(w, m, nexthop);
	}
	net_nexthop_put(w, nexthop);
}
