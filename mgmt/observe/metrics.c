/* SPDX-License-Identifier: BSD-3-Clause */
/* Values of all objects and of the machine, asked of weir-cp and kept as numbers until they are written. */
#include "observe/metrics.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "ipc/ipc.h"

#define PIECE 65536u /* bytes of text that are made at a time */

unsigned metrics_rows_max = OBSERVE_ROWS_MAX;

/* Rows that all requests together hold at the moment. */
static atomic_uint rows_held;

void metrics_free(struct metrics *m)
{
	for (unsigned i = 0; i < CLASSES; i++)
		free(m->of[i].row);
	text_fini(&m->labels);
	text_fini(&m->system);
	atomic_fetch_sub(&rows_held, m->rows);
	*m = (struct metrics){0};
}

/* --- objects -------------------------------------------------------------------------------------- */

struct gathering {
	struct metrics *m;
	enum metrics_class class;
};

/* Text of a row, also where it is bytes. */
static const char *text_of(const json_t *row, const char *key)
{
	const json_t *value = json_object_get(row, key);

	if (json_is_object(value))
		value = json_object_get(value, "bytes");
	return json_is_string(value) ? json_string_value(value) : "";
}

static uint64_t index_of(const char *const *names, unsigned count, const char *name)
{
	for (unsigned i = 0; i < count; i++)
		if (!strcmp(names[i], name))
			return i;
	return METRICS_NONE;
}

static uint64_t number_of(const json_t *row, const char *prefix, const char *name)
{
	char key[64];

	snprintf(key, sizeof(key), "%s%s", prefix, name);
	const json_t *value = json_object_get(row, key);
	return json_is_integer(value) ? (uint64_t)json_integer_value(value) : METRICS_NONE;
}

static uint64_t bytes_of(uint64_t bits)
{
	return bits == METRICS_NONE ? bits : bits / 8;
}

static void values_take(struct metrics_row *out, const json_t *row, bool server)
{
	const char *side =
		json_object_get(row, "clientside.curConns") ? "clientside." : "serverside.";
	const char *enabled = text_of(row, "status.enabledState");
	uint64_t *v = out->value;

	v[COLUMN_CURRENT] = number_of(row, side, "curConns");
	v[COLUMN_MAXIMUM] = number_of(row, side, "maxConns");
	v[COLUMN_TOTAL] = number_of(row, side, "totConns");
	v[COLUMN_IN_BYTES] = bytes_of(number_of(row, side, "bitsIn"));
	v[COLUMN_OUT_BYTES] = bytes_of(number_of(row, side, "bitsOut"));
	v[COLUMN_IN_PACKETS] = number_of(row, side, "pktsIn");
	v[COLUMN_OUT_PACKETS] = number_of(row, side, "pktsOut");
	v[COLUMN_REFUSED] = number_of(row, "", "refused");
	v[COLUMN_RESETS] = number_of(row, "", "resets");
	v[COLUMN_TIMEOUTS] = number_of(row, "", "timeouts");
	v[COLUMN_AVAILABILITY] =
		index_of(metrics_availability, 4, text_of(row, "status.availabilityState"));
	v[COLUMN_ENABLED] = !strcmp(enabled, "enabled");
	v[COLUMN_MONITOR] =
		server ? index_of(metrics_monitor, 7, text_of(row, "monitorStatus")) : METRICS_NONE;
	v[COLUMN_RATIO] = number_of(row, "", "ratioInForce");
	v[COLUMN_LIMIT] = number_of(row, "", "connectionLimit");
	v[COLUMN_MEMBERS] = number_of(row, "", "memberCnt");
	v[COLUMN_MEMBERS_AVAILABLE] = number_of(row, "", "availableMemberCnt");
	v[COLUMN_MEMBERS_ACTIVE] = number_of(row, "", "activeMemberCnt");
}

static void labels_take(struct metrics *m, enum metrics_class class, const json_t *row)
{
	static const char *const label[CLASSES] = {
		"node", "pool", "member", "virtual_server", "virtual_address"};

	if (class == CLASS_MEMBER)
		metrics_label(&m->labels, "pool", text_of(row, "poolName"));
	metrics_label(&m->labels, label[class], text_of(row, "name"));
	text_add(&m->labels, "", 1);
}

static bool row_reserve(struct metrics *m, struct metrics_class_rows *rows)
{
	if (rows->count < rows->size)
		return true;
	unsigned size = rows->size ? 2 * rows->size : 256;
	struct metrics_row *more = reallocarray(rows->row, size, sizeof(*more));
	if (!more) {
		m->failed = "no memory";
		return false;
	}
	rows->row = more;
	rows->size = size;
	return true;
}

static bool row_take(void *arg, json_t *row)
{
	struct gathering *g = arg;
	struct metrics *m = g->m;
	struct metrics_class_rows *rows = &m->of[g->class];

	if (atomic_fetch_add(&rows_held, 1) >= metrics_rows_max) {
		atomic_fetch_sub(&rows_held, 1);
		m->failed = "too many objects at a time";
		return false;
	}
	m->rows++;
	if (!row_reserve(m, rows))
		return false;
	struct metrics_row *out = &rows->row[rows->count++];
	out->labels = m->labels.len;
	values_take(out, row, g->class == CLASS_NODE || g->class == CLASS_MEMBER);
	labels_take(m, g->class, row);
	if (m->labels.failed)
		m->failed = "no memory";
	return !m->failed;
}

static json_t *show(const char *what)
{
	return json_pack("{s:s, s:s}", "op", "show", "what", what);
}

static bool objects_gather(
	struct http_request *r, const struct observe_backend *b, struct metrics *m)
{
	static const char *const what[CLASSES] = {
		"ltm node", "ltm pool", "ltm pool members", "ltm virtual", "ltm virtual-address"};
	json_t *error = NULL;
	int lost = 0;
	bool ok = true;

	for (unsigned i = 0; ok && i < CLASSES; i++) {
		struct gathering g = {m, i};

		ok = observe_ask(r, b, show(what[i]), row_take, &g, &error, &lost) && !m->failed;
	}
	if (ok)
		return true;
	if (m->failed)
		http_reply_error(r, 503, "%s", m->failed);
	else
		observe_refuse(r, error, lost);
	if (m->failed)
		json_decref(error);
	return false;
}

/* --- the machine ---------------------------------------------------------------------------------- */

/* Rows of one answer that are few; NULL: refused, or the dataplane is not there. */
static bool row_keep(void *arg, json_t *row)
{
	return json_array_append(arg, row) == 0;
}

static json_t *few_rows(struct http_request *r, const struct observe_backend *b, const char *what)
{
	json_t *rows = json_array(), *error;
	int lost;

	if (observe_ask(r, b, show(what), row_keep, rows, &error, &lost))
		return rows;
	json_decref(rows);
	json_decref(error);
	return NULL;
}

static void head(struct text *out, const char *name, const char *type, const char *help)
{
	text_printf(out, "# HELP weir_%s %s\n# TYPE weir_%s %s\n", name, help, name, type);
}

static void gauge(struct text *out, const char *name, const char *help, json_int_t value)
{
	head(out, name, "gauge", help);
	text_printf(out, "weir_%s %lld\n", name, (long long)value);
}

static json_int_t whole(const json_t *row, const char *key)
{
	return json_integer_value(json_object_get(row, key));
}

static void status_write(const json_t *row, struct text *out)
{
	const json_t *dataplane = json_object_get(row, "dataplane");
	struct text version = {0};

	metrics_label(&version, "version", text_of(row, "version"));
	head(out, "build_info", "gauge", "1; the label tells the version.");
	text_printf(out, "weir_build_info{%s} 1\n", version.data ? version.data : "");
	text_fini(&version);
	gauge(out, "config_generation", "Generation of the configuration.",
		whole(row, "generation"));
	gauge(out, "config_unsaved_changes", "Changes that are not saved.", whole(row, "unsaved"));
	gauge(out, "incidents_open", "Incidents that are not over.", whole(row, "incidents"));
	gauge(out, "uptime_seconds", "Since weir-cp was started.", whole(row, "uptime"));
	gauge(out, "monitoring_running", "1: weir-mon asks servers.",
		!strcmp(text_of(row, "monitoring"), "running"));
	gauge(out, "dataplane_connected", "1: weir-dp is there.",
		json_is_true(json_object_get(dataplane, "connected")));
	gauge(out, "dataplane_generation", "Generation that is in force there.",
		whole(dataplane, "generation"));
	gauge(out, "dataplane_refused", "1: it refused the configuration.",
		*text_of(dataplane, "refused") != 0);
}

/* "rx-packets" to "rx_packets"; "cpu-ns" is told in seconds. */
static void worker_name(const char *counter, char *out, size_t size)
{
	snprintf(out, size, "worker_%s_total", strcmp(counter, "cpu-ns") ? counter : "cpu-seconds");
	for (char *p = out; *p; p++)
		if (*p == '-')
			*p = '_';
}

static void worker_line(
	struct text *out, const char *name, json_int_t worker, const char *counter, json_int_t v)
{
	text_printf(out, "weir_%s{worker=\"%lld\"} ", name, (long long)worker);
	if (strcmp(counter, "cpu-ns"))
		text_printf(out, "%lld\n", (long long)v);
	else
		text_printf(out, "%lld.%09lld\n", (long long)(v / 1000000000),
			(long long)(v % 1000000000));
}

static void workers_write(const json_t *rows, struct text *out)
{
	json_t *first = json_array_get(rows, 0), *unused;
	const char *counter;
	char name[80], help[120];

	json_object_foreach(first, counter, unused)
	{
		if (!strcmp(counter, "worker"))
			continue;
		worker_name(counter, name, sizeof(name));
		snprintf(help, sizeof(help), "Counter \"%.60s\" of a worker.", counter);
		head(out, name, "counter", help);
		for (size_t i = 0; i < json_array_size(rows); i++) {
			const json_t *row = json_array_get(rows, i);

			worker_line(out, name, whole(row, "worker"), counter, whole(row, counter));
		}
	}
}

static void drops_write(const json_t *rows, struct text *out)
{
	if (json_array_size(rows))
		head(out, "dropped_packets_total", "counter",
			"Packets that were dropped, and why.");
	for (size_t i = 0; i < json_array_size(rows); i++) {
		const json_t *row = json_array_get(rows, i);
		struct text label = {0};

		metrics_label(&label, "reason", text_of(row, "reason"));
		text_printf(out, "weir_dropped_packets_total{%s} %lld\n",
			label.data ? label.data : "", (long long)whole(row, "packets"));
		text_fini(&label);
	}
}

/* Bytes and counts are two families. */
static void memory_write(const json_t *rows, bool bytes, struct text *out)
{
	const char *name = bytes ? "memory_bytes" : "resources";
	bool any = false;

	for (size_t i = 0; i < json_array_size(rows); i++) {
		const json_t *row = json_array_get(rows, i);
		struct text label = {0};

		if (!strcmp(text_of(row, "unit"), "bytes") != bytes)
			continue;
		if (!any)
			head(out, name, "gauge",
				bytes ? "Memory in use." : "Places of tables and pools in use.");
		any = true;
		metrics_label(&label, "name", text_of(row, "name"));
		text_printf(out, "weir_%s{%s} %lld\n", name, label.data ? label.data : "",
			(long long)whole(row, "value"));
		text_fini(&label);
	}
}

struct receiver_family {
	const char *name, *type, *help, *member;
};

/* Who is told of events; "works" is no member of the row. */
static void receivers_write(const json_t *rows, struct text *out)
{
	static const struct receiver_family families[] = {
		{"receiver_waiting_records", "gauge", "Records that it has not got yet.",
			"waiting"},
		{"receiver_dropped_records_total", "counter", "Records that it will never get.",
			"dropped"},
		{"receiver_works", "gauge", "1: it has taken what was sent last.", NULL},
	};

	for (size_t f = 0; f < sizeof(families) / sizeof(*families); f++) {
		if (json_array_size(rows))
			head(out, families[f].name, families[f].type, families[f].help);
		for (size_t i = 0; i < json_array_size(rows); i++) {
			const json_t *row = json_array_get(rows, i);
			struct text label = {0};

			metrics_label(&label, "receiver", text_of(row, "name"));
			text_printf(out, "weir_%s{%s} %lld\n", families[f].name,
				label.data ? label.data : "",
				(long long)(families[f].member ? whole(row, families[f].member)
							       : !*text_of(row, "error")));
			text_fini(&label);
		}
	}
}

/* Who may not look at the machine gets his objects alone. */
static void system_gather(
	struct http_request *r, const struct observe_backend *b, struct metrics *m)
{
	json_t *status = few_rows(r, b, "sys status"), *workers, *drops, *memory, *receivers;

	if (!json_array_size(status)) {
		json_decref(status);
		return;
	}
	status_write(json_array_get(status, 0), &m->system);
	workers = few_rows(r, b, "sys worker");
	drops = few_rows(r, b, "sys drop");
	memory = few_rows(r, b, "sys memory");
	receivers = few_rows(r, b, "sys receiver");
	workers_write(workers, &m->system);
	drops_write(drops, &m->system);
	memory_write(memory, true, &m->system);
	memory_write(memory, false, &m->system);
	receivers_write(receivers, &m->system);
	json_decref(status);
	json_decref(workers);
	json_decref(drops);
	json_decref(memory);
	json_decref(receivers);
}

bool metrics_gather(struct http_request *r, const struct observe_backend *b, struct metrics *m)
{
	if (!objects_gather(r, b, m))
		return false;
	system_gather(r, b, m);
	return true;
}

/* --- the reply ------------------------------------------------------------------------------------ */

struct reply {
	struct metrics metrics;
	struct metrics_writer writer;
	struct text text; /* made, and sent up to sent */
	size_t sent;
	bool more;
};

static void reply_free(void *ctx)
{
	struct reply *reply = ctx;

	metrics_free(&reply->metrics);
	text_fini(&reply->text);
	free(reply);
}

static ssize_t reply_next(void *ctx, char *buffer, size_t size, unsigned wait_ms)
{
	struct reply *reply = ctx;
	struct text *text = &reply->text;

	if (reply->sent == text->len && reply->more) {
		text->len = reply->sent = 0;
		reply->more = metrics_write(&reply->writer, PIECE, text);
	}
	size_t left = text->len - reply->sent, n = left < size ? left : size;
	if (n)
		memcpy(buffer, text->data + reply->sent, n);
	reply->sent += n;
	return n ? (ssize_t)n : -1;
}

void observe_metrics(struct http_request *r, const struct observe_backend *b)
{
	struct reply *reply;

	if (!observe_is_get(r))
		return;
	reply = calloc(1, sizeof(*reply));
	if (!reply) {
		http_reply_busy(r);
		return;
	}
	if (!metrics_gather(r, b, &reply->metrics)) {
		reply_free(reply);
		return;
	}
	reply->writer.m = &reply->metrics;
	reply->more = true;
	http_reply_stream(r, reply_next, reply_free, reply);
	r->reply.type = "text/plain; version=0.0.4; charset=utf-8";
}
