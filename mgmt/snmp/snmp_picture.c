/* SPDX-License-Identifier: BSD-3-Clause */
/* A picture of weir-cp's states and counters, by its "show". */
#include "snmp/snmp_picture.h"

#include <errno.h>
#include <string.h>
#include <sys/utsname.h>

#include "ipc/ipc.h"
#include "snmp/snmp_host.h"

#define SYNC_STANDALONE 6
#define FAILOVER_ACTIVE 4

static int rows_take(const json_t *answer, int (*row)(void *ctx, const json_t *row), void *ctx)
{
	const json_t *entry;
	size_t i;
	int rc = 0;

	json_array_foreach(json_object_get(answer, "rows"), i, entry)
	{
		if (row && rc == 0)
			rc = row(ctx, entry);
	}
	return rc;
}

json_t *snmp_ask(
	int fd, json_t *request, int (*row)(void *ctx, const json_t *row), void *ctx, int *rc)
{
	json_t *answer = NULL, *result = NULL;
	bool more = true;

	*rc = request ? ipc_send(fd, request) : -ENOMEM;
	json_decref(request);
	while (*rc == 0 && more) {
		*rc = ipc_receive(fd, &answer);
		if (*rc)
			break;
		*rc = rows_take(answer, row, ctx);
		result = json_incref(json_object_get(answer, "result"));
		more = !result && !json_object_get(answer, "error");
		json_decref(answer);
	}
	if (*rc) {
		json_decref(result);
		result = NULL;
	}
	return result;
}

struct take {
	struct snmp_data *data;
	enum snmp_class class;
};

static int object_row(void *ctx, const json_t *row)
{
	const struct take *t = ctx;

	return snmp_data_take(t->data, t->class, row);
}

static int status_row(void *ctx, const json_t *row)
{
	const struct take *t = ctx;
	uint64_t *to = t->data->of[SNMP_SYSTEM].row->number;
	uint64_t uptime = (uint64_t)json_integer_value(json_object_get(row, "uptime"));

	to[SYSTEM_UPTIME] = uptime;
	to[SYSTEM_UPTIME_TICKS] = uptime * 100;
	return 0;
}

static int drop_row(void *ctx, const json_t *row)
{
	static const struct {
		const char *reason;
		enum snmp_system_number which;
	} known[] = {{"tcp-without-flow", SYSTEM_NON_SYN_DENY},
		{"no-listener", SYSTEM_NO_HANDLER_DENY}, {"flow-table-full", SYSTEM_MEMORY_ERRORS}};
	const struct take *t = ctx;
	uint64_t *to = t->data->of[SNMP_SYSTEM].row->number;
	const char *reason = json_string_value(json_object_get(row, "reason"));
	uint64_t packets = (uint64_t)json_integer_value(json_object_get(row, "packets"));

	if (to[SYSTEM_DROPPED] == SNMP_ABSENT)
		to[SYSTEM_DROPPED] = 0;
	to[SYSTEM_DROPPED] += packets;
	for (size_t i = 0; reason && i < sizeof(known) / sizeof(*known); i++)
		if (!strcmp(known[i].reason, reason))
			to[known[i].which] = packets;
	return 0;
}

static int show(int fd, const char *what, int (*row)(void *ctx, const json_t *row), struct take *t)
{
	int rc;

	json_decref(snmp_ask(fd, json_pack("{s:s,s:s}", "op", "show", "what", what), row, t, &rc));
	return rc;
}

/* --- scalars that need no question ----------------------------------------------------------------- */

static int text_of(struct snmp_row *row, unsigned which, const json_t *settings, const char *key)
{
	const char *text = json_string_value(json_object_get(settings, key));

	return text ? snmp_row_text(row, which, text) : 0;
}

static int traffic_group_take(struct snmp_data *d, const json_t *settings)
{
	struct snmp_row *row;

	if (!json_object_get(settings, "traffic-group") || !json_object_get(settings, "device"))
		return 0;
	row = snmp_data_add(d, SNMP_TRAFFIC_GROUP);
	if (!row)
		return -ENOMEM;
	row->number[0] = FAILOVER_ACTIVE;
	int rc = text_of(row, TEXT_NAME, settings, "traffic-group");
	return rc ? rc : text_of(row, TEXT_NODE, settings, "device");
}

static int scalars_take(struct snmp_data *d, const json_t *settings)
{
	struct snmp_row *row = snmp_data_add(d, SNMP_SYSTEM);
	struct utsname os;
	int rc = row ? snmp_row_text(row, SYSTEM_PRODUCT, "Weir") : -ENOMEM;

	if (rc)
		return rc;
	if (uname(&os) == 0 && (snmp_row_text(row, SYSTEM_OS, os.sysname) ||
				       snmp_row_text(row, SYSTEM_RELEASE, os.release)))
		return -ENOMEM;
	if (text_of(row, SYSTEM_VERSION, settings, "version") ||
		text_of(row, SYSTEM_HOST, settings, "hostname") ||
		snmp_row_text(row, SYSTEM_STANDALONE, "Standalone") ||
		snmp_row_text(row, SYSTEM_ACTIVE, "ACTIVE"))
		return -ENOMEM;
	row->number[SYSTEM_SYNC_STANDALONE] = SYNC_STANDALONE;
	row->number[SYSTEM_FAILOVER_ACTIVE] = FAILOVER_ACTIVE;
	rc = traffic_group_take(d, settings);
	return rc ? rc : snmp_host_take(d);
}

struct snmp_data *snmp_picture_alone(const json_t *settings)
{
	struct snmp_data *d = snmp_data_new();

	if (d && scalars_take(d, settings)) {
		snmp_data_free(d);
		return NULL;
	}
	return d;
}

int snmp_picture(int fd, const json_t *settings, struct snmp_data **out)
{
	struct take t = {.data = snmp_picture_alone(settings)};
	int rc = t.data ? 0 : -ENOMEM;

	for (t.class = 0; rc == 0 && t.class < SNMP_SHOWN; t.class ++)
		rc = show(fd, snmp_show_of[t.class], object_row, &t);
	if (rc == 0)
		rc = show(fd, "sys status", status_row, &t);
	if (rc == 0)
		rc = show(fd, "sys drop", drop_row, &t);
	if (rc) {
		snmp_data_free(t.data);
		return rc;
	}
	snmp_data_finish(t.data);
	*out = t.data;
	return 0;
}
