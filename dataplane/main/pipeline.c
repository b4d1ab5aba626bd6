/* SPDX-License-Identifier: BSD-3-Clause */
#include "main/pipeline.h"

#include "core/handover.h"
#include "core/mbuf.h"
#include "l4/l4.h"
#include "main/scan.h"
#include "net/net.h"
#include "port/port.h"
#include "port/tap.h"

/* Sorts what other workers handed over by the stage it goes on at: net's comes behind in[n], l4's into
 * l4 (how many in *l4_n). Returns the new n. */
static unsigned sort_handed(
	struct worker *w, struct rte_mbuf **in, unsigned n, struct rte_mbuf **l4, unsigned *l4_n)
{
	struct rte_mbuf *got[PKT_BURST];
	unsigned count = handover_receive(w, got, PKT_BURST);

	for (unsigned i = 0; i < count; i++) {
		struct pkt *p = pkt_of(got[i]);
		switch (p->stage) {
		case PKT_TRANSMIT:
			port_send(w, got[i], p->port);
			break;
		case PKT_FRAGMENT:
		case PKT_NEIGHBOUR:
			in[n++] = got[i];
			break;
		default:
			l4[(*l4_n)++] = got[i];
			break;
		}
	}
	return n;
}

static unsigned poll_taps(struct worker *w)
{
	struct rte_mbuf *got[PKT_BURST];
	unsigned n = tap_receive(w, got, PKT_BURST);

	for (unsigned i = 0; i < n; i++)
		net_from_kernel(w, got[i]);
	return n;
}

static void drop_all(struct worker *w, struct rte_mbuf **pkts, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		worker_drop(w, pkts[i], DROP_NO_SNAPSHOT);
}

/* Also with nothing to take: net_input notices a new view before anything else is done with it.
 * net_input takes PKT_BURST at a time; what it lets through is at most twice as much. */
static void input(struct worker *w, struct rte_mbuf **in, unsigned n)
{
	struct rte_mbuf *out[2 * PKT_BURST];

	unsigned passed = net_input(w, in, n, out);
	if (passed)
		l4_input(w, out, passed);
}

static unsigned pipeline_poll(struct worker *w)
{
	struct rte_mbuf *in[PKT_BURST], *handed[PKT_BURST], *l4[PKT_BURST];
	unsigned received = port_receive(w, in), l4_n = 0;
	unsigned handed_n = sort_handed(w, handed, 0, l4, &l4_n);
	unsigned handled = received + handed_n + l4_n;

	if (likely(w->view != NULL)) {
		input(w, in, received);
		input(w, handed, handed_n);
		if (l4_n)
			l4_input(w, l4, l4_n);
		handled += poll_taps(w);
	} else {
		drop_all(w, in, received);
		drop_all(w, handed, handed_n);
		drop_all(w, l4, l4_n);
	}
	handover_flush(w);
	port_flush(w);
	return handled;
}

static void pipeline_house(struct worker *w)
{
	if (likely(w->view != NULL)) {
		net_house(w);
		l4_house(w);
	}
	scan_house(w);
	/* Upkeep sends too: probes, resets of flows that time out. */
	handover_flush(w);
	port_flush(w);
}

const struct worker_ops pipeline_ops = {
	.poll = pipeline_poll,
	.house = pipeline_house,
};
