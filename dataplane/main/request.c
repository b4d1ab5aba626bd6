/* SPDX-License-Identifier: BSD-3-Clause */
/* What weir-cp asks for, and the answers. */
#include <errno.h>
#include <malloc.h>
#include <stdio.h>
#include <string.h>

#include <rte_malloc.h>

#include "base/clock.h"
#include "base/log.h"
#include "l4/l4.h"
#include "lb/lb.h"
#include "lb/live.h"
#include "main/control.h"
#include "main/message_check.h"
#include "main/view_build.h"
#include "net/net.h"
#include "port/tap.h"

static const struct view *view_now(const struct control *c)
{
	return view_holder_get(c->dp->holder);
}

static uint64_t generation_now(const struct control *c)
{
	const struct view *v = view_now(c);

	return v ? v->snap->generation : 0;
}

int request_hello(struct control *c)
{
	const struct view *v = view_now(c);
	struct msg_hello hello = {
		.header = {MSG_HELLO, sizeof(hello), 0},
		.version = MSG_VERSION,
		.workers = c->dp->count,
		.generation = generation_now(c),
		.origin = v ? v->snap->origin : 0,
		.instance = c->dp->instance,
		.ports = port_count(),
	};

	_Static_assert(PORTS_MAX <= MSG_PORTS_MAX, "every port fits the message");
	for (unsigned i = 0; i < port_count(); i++) {
		const struct port *p = port_at(i);
		struct msg_port *m = &hello.port[i];
		memcpy(m->name, p->name, sizeof(m->name));
		memcpy(m->mac, p->mac, sizeof(m->mac));
		memcpy(m->driver, p->driver, sizeof(m->driver));
		m->up = p->up;
	}
	return peer_send(&c->peer, &hello, sizeof(hello), c->dp->counters_fd);
}

static int answer(struct control *c, uint64_t seq, int status, const char *reason)
{
	struct msg_result result = {
		.header = {MSG_RESULT, sizeof(result), seq},
		.status = status,
		.generation = generation_now(c),
	};

	snprintf(result.reason, sizeof(result.reason), "%s", status ? reason : "");
	return peer_send(&c->peer, &result, sizeof(result), -1);
}

static int serve_snapshot(struct control *c, uint64_t seq, int fd)
{
	const struct view_setting setting = {
		.counters = &c->dp->counters,
		.workers = c->dp->count,
		.old = view_now(c),
	};
	char reason[256] = "";
	struct view *v;

	int err = view_new(fd, &setting, &v, reason, sizeof(reason));
	if (err) {
		log_warning("%s", reason);
		return answer(c, seq, err, reason);
	}
	view_free(view_holder_swap(c->dp->holder, v));
	if (tap_update(v->snap) < 0)
		log_warning("snapshot: taps stay as they are: no memory");
	log_debug("snapshot: generation %lu is in force", v->snap->generation);
	return answer(c, seq, 0, NULL);
}

void request_refresh(struct control *c)
{
	const struct view *v = view_now(c);
	struct lb_garbage *garbage = v ? lb_refresh(v->lb, clock_second()) : NULL;

	if (garbage) {
		view_holder_wait(c->dp->holder);
		lb_garbage_free(garbage);
	}
}

static int serve_live(struct control *c, const struct msg_live *m)
{
	const struct view *v = view_now(c);

	bool turned = false;

	for (uint32_t i = 0; v && i < m->count; i++) {
		enum live_applied applied =
			live_apply(&c->dp->counters, &m->row[i], clock_second());
		if (applied != LIVE_UNKNOWN && !lb_touch(v->lb, m->row[i].id))
			turned |= applied == LIVE_TURNED;
	}
	if (turned)
		net_addresses_turned(v->net);
	request_refresh(c);
	return answer(c, m->header.seq, 0, NULL);
}

static int serve_scan(struct control *c, const struct msg_header *h)
{
	int err = scans_add(&c->scans, h);

	if (err)
		return answer(c, h->seq, err,
			err == -EBUSY ? "scan: too many at once" : "scan: cursor is out of range");
	return scans_run(&c->scans, &c->peer, generation_now(c));
}

static int serve_memory(struct control *c, uint64_t seq)
{
	struct msg_memory_info info = {
		.header = {MSG_MEMORY_INFO, sizeof(info), seq},
		.mbufs = c->dp->pool->size,
		.mbufs_free = rte_mempool_avail_count(c->dp->pool),
		.malloc_bytes = mallinfo2().uordblks,
	};
	struct rte_malloc_socket_stats heap;

	for (unsigned i = 0; i < c->dp->count; i++) {
		uint64_t flows, places, bytes;
		l4_memory(c->dp->workers[i], &flows, &places, &bytes);
		info.flows += flows;
		info.flows_max += places;
		info.flow_bytes += bytes;
	}
	for (int socket = 0; socket < RTE_MAX_NUMA_NODES; socket++) {
		if (rte_malloc_get_socket_stats(socket, &heap) < 0)
			continue;
		info.heap_bytes += heap.heap_allocsz_bytes;
		info.heap_blocks += heap.alloc_count;
	}
	int err = peer_send(&c->peer, &info, sizeof(info), -1);
	return err ? err : answer(c, seq, 0, NULL);
}

int request_serve(struct control *c, const struct peer_packet *packet)
{
	const struct msg_header *h = (const void *)packet->bytes;
	char reason[160] = "";

	if (message_check(packet->bytes, packet->length, packet->descriptors, reason,
		    sizeof(reason)) < 0) {
		log_warning("control socket: %s", reason);
		return answer(c, packet->length >= sizeof(*h) ? h->seq : 0, -EINVAL, reason);
	}
	switch (h->type) {
	case MSG_SNAPSHOT:
		return serve_snapshot(c, h->seq, packet->fd);
	case MSG_LIVE:
		return serve_live(c, (const void *)h);
	case MSG_SCAN:
	case MSG_NEIGHBOURS:
		return serve_scan(c, h);
	case MSG_MEMORY:
		return serve_memory(c, h->seq);
	}
	return 0;
}
