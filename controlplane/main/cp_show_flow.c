/* SPDX-License-Identifier: BSD-3-Clause */
/* Questions to the dataplane: connections, neighbours, memory. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "main/cp.h"

#define PAGE_ROWS 1024u	   /* flows that are asked for at once */
#define DELETE_ROWS 65536u /* flows that are deleted at once */

/* A question in progress. Rows come at the pace of the client: the next page is asked for when it has room. */
struct question {
	struct cp *cp;
	struct ipc_request *r;
	struct dplink_query *query; /* in progress, or NULL */
	struct msg_scan scan;	    /* the next page */
	uint64_t limit, count;	    /* rows wanted (0 = all), rows so far */
	bool hides;		    /* there were rows that are not for the one who asks */
	bool deletes, ipv6;
	bool done;
	int status;
	char reason[256];
};

static const char *member_path(const struct cp *cp, uint32_t id, const char **pool)
{
	const struct object *o = model_get(cp->model, id);
	const struct object *owner = o ? model_get(cp->model, o->owner) : NULL;

	*pool = owner ? owner->path : "";
	return o ? o->path : "";
}

static void put(json_t *row, const char *key, const char *text)
{
	json_object_set_new(row, key, ipc_text_new(text, strlen(text)));
}

static void put_end(json_t *row, const char *addr_key, const char *port_key,
	const struct ip_addr *addr, uint16_t port)
{
	char text[IP_ADDR_TEXT];

	put(row, addr_key, ip_format(addr, text));
	json_object_set_new(row, port_key, json_integer(port));
}

static const char *proto_name(uint8_t proto, char text[8])
{
	if (proto == 6 || proto == 17 || proto == 1 || proto == 58)
		return proto == 6 ? "tcp" : proto == 17 ? "udp" : proto == 1 ? "icmp" : "ipv6-icmp";
	snprintf(text, 8, "%u", proto);
	return text;
}

json_t *cp_flow_row(const struct cp *cp, const struct flow_row *f)
{
	static const char *const states[FLOW_TCP_STATES] = {
		"", "syn-sent", "syn-received", "established", "fin-wait", "closing", "closed"};
	const struct object *virtual = model_get(cp->model, f->virtual_id);
	const char *pool, *member = member_path(cp, f->member_id, &pool);
	char number[8];
	json_t *row = json_object();

	put_end(row, "cs-client-addr", "cs-client-port", &f->client, f->client_port);
	put_end(row, "cs-server-addr", "cs-server-port", &f->virtual_addr, f->virtual_port);
	put_end(row, "ss-client-addr", "ss-client-port", &f->local, f->local_port);
	put_end(row, "ss-server-addr", "ss-server-port", &f->server, f->server_port);
	put(row, "protocol", proto_name(f->proto, number));
	put(row, "state", f->tcp_state < FLOW_TCP_STATES ? states[f->tcp_state] : "");
	put(row, "virtual", virtual ? virtual->path : "");
	put(row, "pool", pool);
	put(row, "member", member);
	const struct {
		const char *key;
		uint64_t value;
	} numbers[] = {{"worker", f->worker}, {"age", f->age}, {"idle", f->idle},
		{"timeout", f->timeout}, {"packets-in", f->packets[0]},
		{"packets-out", f->packets[1]}, {"bits-in", f->bytes[0] * 8},
		{"bits-out", f->bytes[1] * 8}};
	for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers); i++)
		json_object_set_new(
			row, numbers[i].key, json_integer((json_int_t)numbers[i].value));
	return row;
}

static json_t *neighbour_object(const struct cp *cp, const struct neighbour_row *n)
{
	static const char *const states[] = {"incomplete", "resolved", "probing", "failed"};
	const struct object *vlan = model_get(cp->model, n->vlan_id);
	char addr[IP_ADDR_TEXT], mac[20];

	snprintf(mac, sizeof(mac), "%02x:%02x:%02x:%02x:%02x:%02x", n->mac[0], n->mac[1], n->mac[2],
		n->mac[3], n->mac[4], n->mac[5]);
	return json_pack("{s:s,s:s,s:s,s:s,s:I,s:i}", "address", ip_format(&n->addr, addr), "mac",
		mac, "vlan", vlan ? vlan->path : "", "state", n->state < 4 ? states[n->state] : "",
		"age", (json_int_t)n->age, "worker", n->worker);
}

static void memory_rows(struct ipc_request *r, const struct msg_memory_info *m)
{
	const struct {
		const char *name, *unit;
		uint64_t value;
	} rows[] = {
		{"mbufs", "buffers", m->mbufs},
		{"mbufs-free", "buffers", m->mbufs_free},
		{"flows", "flows", m->flows},
		{"flows-max", "flows", m->flows_max},
		{"flow-bytes", "bytes", m->flow_bytes},
		{"heap-bytes", "bytes", m->heap_bytes},
		{"heap-blocks", "blocks", m->heap_blocks},
		{"malloc-bytes", "bytes", m->malloc_bytes},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		ipc_row(r, json_pack("{s:s,s:I,s:s}", "name", rows[i].name, "value",
				   (json_int_t)rows[i].value, "unit", rows[i].unit));
}

/* A connection is of the partition of its virtual server. */
static bool flow_readable(const struct question *q, const struct flow_row *f)
{
	const struct object *virtual = model_get(q->cp->model, f->virtual_id);
	const struct model_ask everywhere = {.kind = MODEL_KINDS};

	return virtual ? cp_may_read(q->r, virtual)
		       : cp_authorise(ipc_request_kept(q->r), CP_LOOK, &everywhere);
}

static void flow_put(struct question *q, const struct flow_row *f)
{
	if (q->limit && q->count >= q->limit)
		return;
	if (!flow_readable(q, f)) {
		q->hides = true;
		return;
	}
	ipc_row(q->r, cp_flow_row(q->cp, f));
	q->count++;
}

static void on_rows(void *ctx, const struct msg_header *message)
{
	struct question *q = ctx;
	const struct msg_scan_rows *scan = (const void *)message;
	const struct msg_neighbour_rows *neighbours = (const void *)message;

	if (message->type == MSG_MEMORY_INFO)
		memory_rows(q->r, (const struct msg_memory_info *)message);
	for (uint32_t i = 0; message->type == MSG_SCAN_ROWS && i < scan->count; i++)
		flow_put(q, &scan->row[i]);
	for (uint32_t i = 0; message->type == MSG_NEIGHBOUR_ROWS && i < neighbours->count; i++)
		if (ip_is_v4(&neighbours->row[i].addr) != q->ipv6)
			ipc_row(q->r, neighbour_object(q->cp, &neighbours->row[i]));
}

static void on_done(void *ctx, int status, const struct msg_result *result)
{
	struct question *q = ctx;

	q->query = NULL;
	q->status = status;
	snprintf(q->reason, sizeof(q->reason), "%s",
		result ? result->reason : "the connection to the dataplane broke");
	if (result) {
		if (q->deletes)
			q->count += result->rows;
		q->scan.cursor = result->cursor;
	}
	q->done = status || q->scan.cursor == 0 || (q->limit && q->count >= q->limit);
	ipc_stream_resume(q->r);
}

static const struct dplink_query_ops question_ops = {.rows = on_rows, .done = on_done};

static enum ipc_step question_end(struct question *q)
{
	if (q->status)
		cp_refuse(q->r, q->status == -ENOTCONN ? 503 : 500, "", "%s", q->reason);
	else
		ipc_reply(q->r, json_pack("{s:I}", "count", (json_int_t)q->count));
	return IPC_END;
}

static enum ipc_step question_next(struct ipc_request *r, void *ctx)
{
	struct question *q = ctx;

	if (q->done)
		return question_end(q);
	if (q->scan.header.type == MSG_SCAN) {
		uint64_t left = q->limit ? q->limit - q->count : UINT64_MAX;
		uint32_t page = q->deletes ? DELETE_ROWS : PAGE_ROWS;
		/* Hidden rows may be many: whole pages then, of which the last may have too many rows. */
		q->scan.limit = left < page && !q->hides ? (uint32_t)left : page;
	}
	q->query = dplink_query(q->cp->link, &q->scan.header, &question_ops, q);
	if (q->query)
		return IPC_WAIT;
	q->status = -errno;
	snprintf(q->reason, sizeof(q->reason), "%s",
		errno == ENOTCONN ? "the dataplane is not connected" : strerror(errno));
	return question_end(q);
}

static void question_free(void *ctx)
{
	struct question *q = ctx;

	if (q->query)
		dplink_query_cancel(q->query);
	free(q);
}

static const struct ipc_stream question_stream = {question_next, question_free};

static struct question *question_new(
	struct cp *cp, struct ipc_request *r, uint32_t type, uint32_t length)
{
	struct question *q = calloc(1, sizeof(*q));

	if (!q) {
		cp_refuse(r, 500, "", "no memory");
		return NULL;
	}
	*q = (struct question){.cp = cp, .r = r, .scan.header = {.type = type, .length = length}};
	return q;
}

/* Those of an object in its partition, others in all. False: refused. */
static bool may_delete(const struct cp *cp, struct ipc_request *r, const struct flow_filter *f)
{
	const struct cp_user *user = ipc_request_kept(r);
	uint32_t id = f->virtual_id ? f->virtual_id : f->pool_id ? f->pool_id : f->node_id;
	const struct object *o = model_get(cp->model, id);
	const struct model_ask ask = {
		.kind = MODEL_KINDS, .who = ROLE_OPERATOR, .path = o ? o->path : NULL};

	if (cp_authorise(user, CP_CONNECTIONS, &ask))
		return true;
	cp_refuse(r, 403, "filter", "%s may delete connections of his partition alone", user->name);
	return false;
}

static void show_scan(struct cp *cp, struct ipc_request *r, bool deletes)
{
	const json_t *body = ipc_request_body(r);
	struct question *q = question_new(cp, r, MSG_SCAN, sizeof(q->scan));
	json_int_t limit = json_integer_value(json_object_get(body, "limit"));

	if (!q)
		return;
	q->deletes = deletes;
	q->limit = limit > 0 ? (uint64_t)limit : 0;
	q->scan.action = deletes ? SCAN_DELETE : SCAN_LIST;
	if (cp_flow_filter(cp, r, json_object_get(body, "filter"), &q->scan.filter) &&
		(!deletes || may_delete(cp, r, &q->scan.filter)))
		ipc_stream(r, &question_stream, q);
	else
		free(q);
}

void cp_show_connections(struct cp *cp, struct ipc_request *r)
{
	show_scan(cp, r, false);
}

void cp_delete_connections(struct cp *cp, struct ipc_request *r, const struct cp_user *user)
{
	show_scan(cp, r, true);
}

void cp_show_neighbours(struct cp *cp, struct ipc_request *r, bool ipv6)
{
	struct question *q = question_new(cp, r, MSG_NEIGHBOURS, sizeof(struct msg_header));

	if (!q)
		return;
	q->ipv6 = ipv6;
	ipc_stream(r, &question_stream, q);
}

void cp_show_memory(struct cp *cp, struct ipc_request *r)
{
	struct question *q = question_new(cp, r, MSG_MEMORY, sizeof(struct msg_header));

	if (q)
		ipc_stream(r, &question_stream, q);
}
