/* SPDX-License-Identifier: BSD-3-Clause */
/* IPv4 fragmentation on the way out (RFC 791, 3.2); the packet may be a fragment already. */
#include "net/netprivate.h"
#include "wire/csum.h"

/* Options of all fragments but the first: those whose copied flag is set. Returns their length, padded to
 * whole words. */
static unsigned copied_options(const uint8_t *from, unsigned length, uint8_t *to)
{
	unsigned n = 0;

	for (unsigned i = 0; i < length && from[i] != 0;) {
		unsigned size = from[i] == 1 || i + 1 >= length ? 1 : from[i + 1];
		if (size == 0 || i + size > length)
			break;
		if (from[i] & 0x80) {
			memcpy(to + n, from + i, size);
			n += size;
		}
		i += size;
	}
	while (n % 4)
		to[n++] = 0;
	return n;
}

/* Header of the pieces: that of m, and a shorter one for all but the first. */
struct piece_header {
	uint8_t bytes[60];
	unsigned length;
};

static void header_close(struct piece_header *h, unsigned data, unsigned offset, bool more)
{
	struct ip4_hdr *ip = (struct ip4_hdr *)h->bytes;

	ip->version_ihl = (uint8_t)(0x40 | h->length / 4);
	ip->length = rte_cpu_to_be_16((uint16_t)(h->length + data));
	ip->fragment = rte_cpu_to_be_16((uint16_t)(offset / 8 | (more ? IP4_MF : 0)));
	ip->csum = 0;
	ip->csum = csum_of(ip, h->length);
}

/* Sends [at, at + data) of m's IP payload, which starts `from` bytes into m. */
static bool piece_send(struct worker *w, struct rte_mbuf *m, const struct piece_header *h,
	unsigned from, unsigned data, const struct nexthop *n)
{
	struct rte_mbuf *piece = mbuf_new(w->pool);
	uint8_t *to = piece ? mbuf_append(piece, (uint16_t)(h->length + data)) : NULL;

	if (!to) {
		rte_pktmbuf_free(piece);
		return false;
	}
	memcpy(to, h->bytes, h->length);
	const void *payload = rte_pktmbuf_read(m, from, data, to + h->length);
	if (payload != to + h->length)
		memcpy(to + h->length, payload, data);
	pkt_of(piece)->wire =
		(struct wire_info){.ip_version = 4, .l3_end = (uint16_t)(h->length + data)};
	w->stat[WORKER_FRAGMENTED]++;
	output_ready(w, piece, n);
	return true;
}

void refragment(struct worker *w, struct rte_mbuf *m, const struct nexthop *n)
{
	const struct wire_info *i = &pkt_of(m)->wire;
	const uint8_t *ip = pkt_l3(m);
	struct piece_header first = {.length = (ip[0] & 15) * 4u}, later = {.length = 20};
	unsigned left = pkt_l3_length(m) - first.length, from = i->l3 + first.length;
	unsigned offset = i->fragment_offset;
	unsigned most =
		(RTE_MIN(n->mtu, rte_pktmbuf_data_room_size(w->pool) - RTE_PKTMBUF_HEADROOM) -
			first.length) /
		8 * 8;

	memcpy(first.bytes, ip, first.length);
	memcpy(later.bytes, ip, 20);
	later.length += copied_options(ip + 20, first.length - 20, later.bytes + 20);
	for (struct piece_header *h = &first; left > 0; h = &later) {
		unsigned data = RTE_MIN(left, most);
		header_close(h, data, offset, data < left || i->flags & WIRE_FRAGMENT_MORE);
		if (!piece_send(w, m, h, from, data, n)) {
			worker_drop(w, m, DROP_NO_MEMORY);
			return;
		}
		from += data;
		offset += data;
		left -= data;
	}
	rte_pktmbuf_free(m);
}
