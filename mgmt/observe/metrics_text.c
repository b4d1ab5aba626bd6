/* SPDX-License-Identifier: BSD-3-Clause */
/* Prometheus' text format: families, each with its lines together, as the format asks for. */
#include <inttypes.h>
#include <string.h>

#include "observe/metrics.h"

const char *const metrics_availability[4] = {"available", "unavailable", "offline", "unknown"};
const char *const metrics_monitor[7] = {"unchecked", "checking", "up", "down", "forced-down",
	"address-down", "down-wait-for-manual-resume"};

static const char *const class_name[CLASSES] = {[CLASS_NODE] = "node",
	[CLASS_POOL] = "pool",
	[CLASS_MEMBER] = "pool_member",
	[CLASS_VIRTUAL] = "virtual_server",
	[CLASS_ADDRESS] = "virtual_address"};

#define ALL ((1u << CLASSES) - 1)
#define SERVERS (1u << CLASS_NODE | 1u << CLASS_MEMBER)

static const struct family {
	const char *name;
	bool counter;
	unsigned classes; /* bits: which have it */
	const char *help;
} families[COLUMNS] = {
	[COLUMN_CURRENT] = {"connections", false, ALL, "Connections now."},
	[COLUMN_MAXIMUM] = {"connections_maximum", false, ALL,
		"Most connections at a time since the dataplane started."},
	[COLUMN_TOTAL] = {"connections_total", true, ALL, "Connections that were opened."},
	[COLUMN_IN_BYTES] = {"in_bytes_total", true, ALL, "Bytes towards the servers."},
	[COLUMN_OUT_BYTES] = {"out_bytes_total", true, ALL, "Bytes towards the clients."},
	[COLUMN_IN_PACKETS] = {"in_packets_total", true, ALL, "Packets towards the servers."},
	[COLUMN_OUT_PACKETS] = {"out_packets_total", true, ALL, "Packets towards the clients."},
	[COLUMN_REFUSED] = {"connections_refused_total", true, ALL,
		"Connections that were not taken."},
	[COLUMN_RESETS] = {"connections_reset_total", true, ALL,
		"Connections that ended by a reset."},
	[COLUMN_TIMEOUTS] = {"connections_timed_out_total", true, ALL,
		"Connections that were idle for too long."},
	[COLUMN_AVAILABILITY] = {"availability", false, ALL, "1 for the state that it is in."},
	[COLUMN_ENABLED] = {"enabled", false, ALL,
		"1: enabled, 0: disabled, by itself or by what it belongs to."},
	[COLUMN_MONITOR] = {"monitor_status", false, SERVERS,
		"0 unchecked, 1 checking, 2 up, 3 down, 4 forced down, 5 node down, 6 waits for "
		"manual resume."},
	[COLUMN_RATIO] = {"ratio", false, SERVERS, "Ratio in force."},
	[COLUMN_LIMIT] = {"connections_limit", false, SERVERS | 1u << CLASS_VIRTUAL,
		"Most connections at a time; 0: no limit."},
	[COLUMN_MEMBERS] = {"members", false, 1u << CLASS_POOL, "Members."},
	[COLUMN_MEMBERS_AVAILABLE] = {"members_available", false, 1u << CLASS_POOL,
		"Members that take new connections."},
	[COLUMN_MEMBERS_ACTIVE] = {"members_active", false, 1u << CLASS_POOL,
		"Those of them that have not reached their limit."},
};

void metrics_label(struct text *out, const char *name, const char *value)
{
	text_printf(out, "%s%s=\"", out->len && out->data[out->len - 1] ? "," : "", name);
	while (*value) {
		size_t plain = strcspn(value, "\\\"\n");

		text_add(out, value, plain);
		value += plain;
		if (*value)
			text_printf(out, "\\%c", *value == '\n' ? 'n' : *value);
		value += *value != 0;
	}
	text_add(out, "\"", 1);
}

static const struct metrics_class_rows *rows_of(const struct metrics_writer *w)
{
	return &w->m->of[w->class];
}

/* Whether somebody has a value of the family that comes next. */
static bool family_is_empty(const struct metrics_writer *w)
{
	const struct metrics_class_rows *rows = rows_of(w);

	if (!(families[w->column].classes & 1u << w->class))
		return true;
	for (unsigned i = 0; i < rows->count; i++)
		if (rows->row[i].value[w->column] != METRICS_NONE)
			return false;
	return true;
}

static void head_write(const struct metrics_writer *w, struct text *out)
{
	const struct family *f = &families[w->column];

	text_printf(out, "# HELP weir_%s_%s %s\n# TYPE weir_%s_%s %s\n", class_name[w->class],
		f->name, f->help, class_name[w->class], f->name, f->counter ? "counter" : "gauge");
}

static void line_write(
	const struct metrics_writer *w, const char *more, uint64_t value, struct text *out)
{
	const struct metrics_row *row = &rows_of(w)->row[w->row];

	text_printf(out, "weir_%s_%s{%s%s} %" PRIu64 "\n", class_name[w->class],
		families[w->column].name, w->m->labels.data + row->labels, more, value);
}

static void row_write(const struct metrics_writer *w, struct text *out)
{
	uint64_t value = rows_of(w)->row[w->row].value[w->column];
	char state[40];

	if (value == METRICS_NONE)
		return;
	if (w->column != COLUMN_AVAILABILITY) {
		line_write(w, "", value, out);
		return;
	}
	for (unsigned i = 0; i < 4; i++) {
		snprintf(state, sizeof(state), ",state=\"%s\"", metrics_availability[i]);
		line_write(w, state, value == i, out);
	}
}

static void family_next(struct metrics_writer *w)
{
	w->row = 0;
	w->headed = false;
	if (++w->column < COLUMNS)
		return;
	w->column = 0;
	w->class ++;
}

bool metrics_write(struct metrics_writer *w, size_t want, struct text *out)
{
	size_t start = out->len;

	if (!w->system)
		text_add(out, w->m->system.data ? w->m->system.data : "", w->m->system.len);
	w->system = true;
	while (w->class < CLASSES && !out->failed && out->len - start < want) {
		if (!w->headed && family_is_empty(w)) {
			family_next(w);
			continue;
		}
		if (!w->headed)
			head_write(w, out);
		w->headed = true;
		for (; w->row < rows_of(w)->count && out->len - start < want; w->row++)
			row_write(w, out);
		if (w->row == rows_of(w)->count)
			family_next(w);
	}
	return w->class < CLASSES && !out->failed;
}
