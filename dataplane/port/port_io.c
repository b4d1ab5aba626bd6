/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <stdlib.h>

#include <rte_ethdev.h>

#include "core/handover.h"
#include "core/mbuf.h"
#include "port/port.h"

#define TX_TRIES 4 /* a driver that takes part of a burst makes room when it is asked again */
#define NO_QUEUE UINT16_MAX

struct rx_queue {
	uint16_t dpdk, queue;
	uint8_t port;
};

struct tx_port {
	struct rte_mbuf *frames[PKT_BURST];
	uint16_t count;
	uint16_t queue; /* of this worker, or NO_QUEUE */
	uint16_t owner; /* worker that sends for us then */
};

struct port_worker {
	struct rx_queue rx[PORTS_MAX * WORKERS_MAX];
	unsigned rx_count, rx_next;
	struct tx_port tx[PORTS_MAX];
};

/* Queue q of port p belongs to worker (p + q) mod workers: with fewer queues than workers the ports
 * still spread over the workers. */
static uint16_t queue_of(unsigned port, unsigned worker, unsigned workers)
{
	return (uint16_t)((worker + workers - port % workers) % workers);
}

int port_worker_init(struct worker *w)
{
	struct port_worker *pw = calloc(1, sizeof(*pw));

	if (!pw)
		return -ENOMEM;
	for (unsigned i = 0; i < port_count(); i++) {
		const struct port *p = port_at(i);
		uint16_t queue = queue_of(i, w->index, w->count);

		if (queue < p->rx_queues)
			pw->rx[pw->rx_count++] = (struct rx_queue){p->dpdk, queue, (uint8_t)i};
		pw->tx[i].queue = queue < p->tx_queues ? queue : NO_QUEUE;
		pw->tx[i].owner = (uint16_t)((i + queue % p->tx_queues) % w->count);
	}
	w->port = pw;
	return 0;
}

void port_worker_fini(struct worker *w)
{
	if (!w->port)
		return;
	for (unsigned i = 0; i < PORTS_MAX; i++)
		rte_pktmbuf_free_bulk(w->port->tx[i].frames, w->port->tx[i].count);
	free(w->port);
	w->port = NULL;
}

/* Brings what a driver delivers into the one form that everybody above knows. False: dropped. */
static bool normalise(struct worker *w, struct rte_mbuf **m, const struct rx_queue *q)
{
	struct rte_mbuf *joined = *m;

	if (unlikely(joined->nb_segs > 1)) {
		joined = mbuf_join(joined, w->pool);
		if (!joined) {
			worker_drop(w, *m, DROP_NO_MEMORY);
			return false;
		}
		*m = joined;
	}
	if (unlikely((joined->ol_flags & RTE_MBUF_F_RX_VLAN_STRIPPED) &&
		     !port_at(q->port)->tag_in_data)) {
		uint16_t tci = joined->vlan_tci;
		char *front = rte_pktmbuf_prepend(joined, RTE_VLAN_HLEN);
		if (!front) {
			worker_drop(w, joined, DROP_NO_MEMORY);
			return false;
		}
		poison_window(joined);
		memmove(front, front + RTE_VLAN_HLEN, 2 * RTE_ETHER_ADDR_LEN);
		front += 2 * RTE_ETHER_ADDR_LEN;
		*(uint16_t *)front = RTE_BE16(RTE_ETHER_TYPE_VLAN);
		*(uint16_t *)(front + 2) = rte_cpu_to_be_16(tci);
	}
	joined->ol_flags = 0;
	return true;
}

static unsigned receive_queue(
	struct worker *w, const struct rx_queue *q, struct rte_mbuf **out, uint16_t max)
{
	uint16_t n = rte_eth_rx_burst(q->dpdk, q->queue, out, max);
	uint64_t bytes = 0;
	unsigned kept = 0;

	for (unsigned i = 0; i < n; i++) {
		struct rte_mbuf *m = out[i];

		poison_window(m);
		bytes += m->pkt_len;
		if (!normalise(w, &m, q))
			continue;
		struct pkt *p = pkt_of(m);
		p->port = q->port;
		p->stage = PKT_DISPATCH;
		out[kept++] = m;
	}
	w->stat[WORKER_RX_PACKETS] += n;
	w->stat[WORKER_RX_BYTES] += bytes;
	return kept;
}

unsigned port_receive(struct worker *w, struct rte_mbuf **out)
{
	struct port_worker *pw = w->port;
	unsigned n = 0;

	for (unsigned i = 0; i < pw->rx_count && n < PKT_BURST; i++) {
		unsigned queue = (pw->rx_next + i) % pw->rx_count;
		n += receive_queue(w, &pw->rx[queue], out + n, (uint16_t)(PKT_BURST - n));
	}
	pw->rx_next++;
	return n;
}

static void send_burst(struct worker *w, unsigned port)
{
	struct tx_port *t = &w->port->tx[port];
	const struct port *p = port_at(port);
	uint64_t bytes[PKT_BURST + 1]; /* running sums: frames are gone once they are sent */
	uint16_t n = t->count, sent = 0;

	t->count = 0;
	if (!__atomic_load_n(&p->up, __ATOMIC_RELAXED)) {
		for (unsigned i = 0; i < n; i++)
			worker_drop(w, t->frames[i], DROP_TX_NO_PORT);
		return;
	}
	bytes[0] = 0;
	for (unsigned i = 0; i < n; i++) {
		bytes[i + 1] = bytes[i] + t->frames[i]->pkt_len;
		poison_open(t->frames[i]);
	}
	for (unsigned i = 0; i < TX_TRIES && sent < n; i++)
		sent += rte_eth_tx_burst(p->dpdk, t->queue, t->frames + sent, (uint16_t)(n - sent));
	w->stat[WORKER_TX_PACKETS] += sent;
	w->stat[WORKER_TX_BYTES] += bytes[sent];
	for (unsigned i = sent; i < n; i++)
		worker_drop(w, t->frames[i], DROP_TX_FULL);
}

void port_send(struct worker *w, struct rte_mbuf *m, uint8_t port)
{
	struct tx_port *t = &w->port->tx[port];
	const struct port *p = port_at(port);

	if (t->queue == NO_QUEUE) {
		pkt_of(m)->port = port;
		handover_send(w, t->owner, m, PKT_TRANSMIT);
		return;
	}
	if (m->nb_segs > 1 && !p->multi_segs) {
		struct rte_mbuf *joined = mbuf_join(m, w->pool);
		if (!joined) {
			worker_drop(w, m, DROP_NO_MEMORY);
			return;
		}
		m = joined;
	}
	if (m->pkt_len > (uint32_t)p->mtu_max + PORT_FRAME_EXTRA) {
		worker_drop(w, m, DROP_TOO_BIG);
		return;
	}
	t->frames[t->count++] = m;
	if (t->count == PKT_BURST)
		send_burst(w, port);
}

void port_flush(struct worker *w)
{
	for (unsigned i = 0; i < port_count(); i++) {
		if (w->port->tx[i].count)
			send_burst(w, i);
	}
}
