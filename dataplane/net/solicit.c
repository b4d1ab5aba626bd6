/* SPDX-License-Identifier: BSD-3-Clause */
/* What we say in ARP (RFC 826, 5227) and NDP (RFC 4861, 4862): questions, probes, announcements. */
#include "net/netprivate.h"

#define ANNOUNCE_LOOKS 512u /* addresses looked at in one slice */
#define ANNOUNCE_BURST 32u  /* of which so many speak */

const uint64_t announce_after[ANNOUNCE_STEPS] = {0, 200000000u, 1200000000u, 3200000000u};

static const uint8_t broadcast[6] = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff};
static const struct ip_addr unspecified;

/* One message in the making: body behind the room for the longest Ethernet header. */
struct message {
	uint8_t bytes[ETH_HEADER_TAGGED + EMIT_NDP_LENGTH];
	unsigned length; /* of the body */
	uint16_t type;
	uint8_t dst[6];
};

static uint8_t *body(struct message *msg)
{
	return msg->bytes + ETH_HEADER_TAGGED;
}

static void message_send(struct worker *w, const struct net_vlan *v, const struct vlan_port *at,
	const struct message *msg)
{
	struct rte_mbuf *m = mbuf_new(w->pool);
	uint8_t header[ETH_HEADER_TAGGED];
	unsigned n = emit_eth(header, msg->dst, port_at(at->port)->mac,
		at->tagged ? v->tag : WIRE_NO_TAG, msg->type);
	uint8_t *frame = m ? mbuf_append(m, (uint16_t)(n + msg->length)) : NULL;

	if (!frame) {
		w->drop[DROP_NO_MEMORY]++;
		rte_pktmbuf_free(m);
		return;
	}
	memcpy(frame, header, n);
	memcpy(frame + n, msg->bytes + ETH_HEADER_TAGGED, msg->length);
	w->stat[WORKER_ARP_SENT]++;
	output_frame(w, m, at->port);
}

/* mac: our own, of the port the message leaves by. */
typedef void message_write(struct message *msg, const struct ip_addr *target,
	const struct ip_addr *from, const uint8_t mac[6]);

static void write_question(struct message *msg, const struct ip_addr *target,
	const struct ip_addr *from, const uint8_t mac[6])
{
	if (ip_is_v4(target)) {
		msg->type = ETH_TYPE_ARP;
		msg->length = emit_arp(body(msg), ARP_REQUEST, mac, from->w[3], NULL, target->w[3]);
		memcpy(msg->dst, broadcast, 6);
		return;
	}
	struct ip_addr group = wire_solicited_node(target);
	bool probe = ip_is_any(from);
	msg->type = ETH_TYPE_IP6;
	msg->length = emit_ndp_solicit(body(msg), from, &group, target, probe ? NULL : mac);
	wire_group_mac(&group, msg->dst);
}

static void write_announcement(struct message *msg, const struct ip_addr *target,
	const struct ip_addr *from, const uint8_t mac[6])
{
	if (ip_is_v4(target)) {
		msg->type = ETH_TYPE_ARP;
		msg->length =
			emit_arp(body(msg), ARP_REQUEST, mac, target->w[3], NULL, target->w[3]);
		memcpy(msg->dst, broadcast, 6);
		return;
	}
	msg->type = ETH_TYPE_IP6;
	msg->length = emit_ndp_advert(body(msg), from, &ndp_all_nodes, target, mac, NDP_OVERRIDE);
	wire_group_mac(&ndp_all_nodes, msg->dst);
}

/* Says the same on every port of the VLAN, each time with that port's MAC. */
static void say(struct worker *w, uint16_t vlan, message_write *write, const struct ip_addr *target,
	const struct ip_addr *from)
{
	const struct net_vlan *v = &w->view->net->vlans[vlan];
	struct message msg;

	for (uint32_t i = 0; i < v->ports; i++) {
		const struct vlan_port *at = &w->view->net->vlan_ports[v->first_port + i];
		write(&msg, target, from, port_at(at->port)->mac);
		message_send(w, v, at, &msg);
	}
}

void solicit(struct worker *w, uint16_t vlan, const struct ip_addr *hop, const uint8_t *mac,
	uint8_t port)
{
	const struct net_tables *t = w->view->net;
	struct ip_addr from = ip_is_v4(hop) ? ip_addr_v4(0) : unspecified;
	struct vlan_port at = {.port = port};
	struct message msg;
	uint16_t tag;

	if (!net_self_of_vlan(w->view, vlan, hop, &from) && !ip_is_v4(hop))
		return; /* RFC 4861 has no question from nobody: :: means duplicate detection */
	if (!mac) {
		say(w, vlan, write_question, hop, &from);
		return;
	}
	if (!vlan_tag_at(t, vlan, port, &tag))
		return;
	at.tagged = tag != WIRE_NO_TAG;
	write_question(&msg, hop, &from, port_at(port)->mac);
	if (!ip_is_v4(hop))
		msg.length = emit_ndp_solicit(body(&msg), &from, hop, hop, port_at(port)->mac);
	memcpy(msg.dst, mac, 6);
	message_send(w, &t->vlans[vlan], &at, &msg);
}

void announce(struct worker *w, const struct own_addr *a, unsigned step)
{
	const struct ip_addr nobody = ip_is_v4(&a->addr) ? ip_addr_v4(0) : unspecified;

	if (step == 0)
		say(w, a->vlan, write_question, &a->addr, &nobody);
	else
		say(w, a->vlan, write_announcement, &a->addr, &a->addr);
}

void conflict(struct worker *w, const struct own_addr *a, const uint8_t mac[6])
{
	struct net_private *p = net_private(w);

	if (p->conflict_tick && w->now - p->conflict_tick < TICKS_PER_SECOND)
		return;
	p->conflict_tick = w->now;
	worker_event(w, EVENT_ADDRESS_CONFLICT, a->id, 0, &a->addr, mac);
	if (a->vlan != NET_NO_VLAN)
		announce(w, a, ANNOUNCE_STEPS - 1);
}

/* Steps done of an address; one that is not available sleeps, and begins anew when it is. */
static uint8_t announced_steps(struct worker *w, struct own_addr *a, uint8_t *announced)
{
	uint8_t step = __atomic_load_n(announced, __ATOMIC_RELAXED), now = step;

	if (!own_gives(w, a, a->answers))
		now = ANNOUNCE_ASLEEP;
	else if (step == ANNOUNCE_ASLEEP)
		now = 0;
	if (now == step)
		return step;
	if (now == 0)
		__atomic_store_n(&a->since, w->now_ns, __ATOMIC_RELAXED);
	__atomic_store_n(announced, now, __ATOMIC_RELAXED);
	return now;
}

/* True if the address had something to say. */
static bool announce_step(struct worker *w, uint32_t i, bool *pending)
{
	const struct net_tables *t = w->view->net;
	struct own_addr *a = &t->own[i];

	if (a->owner == NET_NOT_OURS || a->vlan == NET_NO_VLAN)
		return false;
	uint8_t step = announced_steps(w, a, &t->announced[i]);
	if (step >= ANNOUNCE_STEPS)
		return false;
	*pending = true;
	if (w->now_ns < a->since + announce_after[step])
		return false;
	announce(w, a, step);
	__atomic_store_n(&t->announced[i], step + 1, __ATOMIC_RELAXED);
	return true;
}

void net_addresses_turned(struct net_tables *t)
{
	__atomic_fetch_add(&t->turned, 1, __ATOMIC_RELEASE);
}

void announce_house(struct worker *w)
{
	struct net_private *p = net_private(w);
	const struct net_tables *t = w->view->net;
	uint32_t turned = __atomic_load_n(&t->turned, __ATOMIC_ACQUIRE);
	unsigned said = 0;

	if (p->turned != turned) {
		p->turned = turned;
		p->announce_at = 0;
		p->announce_done = p->announce_pending = false;
	}
	if (p->announce_done)
		return;
	for (unsigned k = 0; k < ANNOUNCE_LOOKS && said < ANNOUNCE_BURST; k++) {
		if (p->announce_at > t->own_mask) {
			p->announce_at = 0;
			p->announce_done = !p->announce_pending;
			p->announce_pending = false;
			return;
		}
		said += announce_step(w, p->announce_at++, &p->announce_pending);
	}
}
