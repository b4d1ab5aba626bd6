/* SPDX-License-Identifier: BSD-3-Clause */
#include "rest/rest_machine.h"

#include <stdio.h>
#include <string.h>

#include "rest/rest_facts.h"
#include "rest/rest_host.h"
#include "rest/rest_refuse.h"

/* ".../stats" is the same. False: answered. */
static bool is_read(struct rest_call *call, unsigned segments)
{
	const struct http_request *r = call->http;
	bool known = r->segment_count == segments ||
		     (r->segment_count == segments + 1 && !strcmp(r->segments[segments], "stats"));
	json_t *who = rest_whoami(call);

	if (who && !known)
		rest_refuse_with(call, 404, REST_ERROR_FRAMEWORK,
			"Public URI path not registered: %s", r->path + 5);
	else if (who && r->method != HTTP_GET)
		http_reply_error(call->http, 405, "This path is only read: %s", r->path);
	known = who && known && r->method == HTTP_GET;
	json_decref(who);
	return known;
}

static json_t *number(uint64_t value)
{
	return json_pack("{s:I}", "value", (json_int_t)value);
}

/* ---- memory ---- */

/* What the dataplane holds of it, rows of "sys memory"; 0 without one. */
static bool memory_row(void *arg, json_t *row)
{
	const char *unit = rest_word(row, "unit");
	uint64_t *bytes = arg;

	if (!strcmp(unit, "bytes") && strcmp(rest_word(row, "name"), "malloc-bytes"))
		*bytes += (uint64_t)json_integer_value(json_object_get(row, "value"));
	return true;
}

static uint64_t dataplane_bytes(struct rest_call *call)
{
	uint64_t bytes = 0;

	rest_ask(call, json_pack("{s:s, s:s}", "op", "show", "what", "sys memory"), memory_row,
		&bytes, NULL);
	return bytes;
}

void rest_sys_memory(struct rest_call *call)
{
	struct rest_memory m;

	if (!is_read(call, 4))
		return;
	rest_memory_read(&m);
	uint64_t ours = dataplane_bytes(call), others = m.used > ours ? m.used - ours : 0;
	json_t *host = json_pack(
		"{s:{s:s}, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "hostId",
		"description", "0", "memoryFree", number(m.total - m.used), "memoryTotal",
		number(m.total), "memoryUsed", number(m.used), "otherMemoryFree",
		number(m.total - m.used), "otherMemoryTotal", number(m.total - ours),
		"otherMemoryUsed", number(others), "swapFree", number(m.swap_total - m.swap_used),
		"swapTotal", number(m.swap_total), "swapUsed", number(m.swap_used), "tmmMemoryFree",
		number(0), "tmmMemoryTotal", number(ours), "tmmMemoryUsed", number(ours));
	rest_fact_stats(call, "sys/memory", json_pack("{s:{s:o}}", "/memory-host", "/0", host));
}

/* ---- processors ---- */

void rest_sys_cpu(struct rest_call *call)
{
	if (is_read(call, 4))
		rest_fact_stats(call, "sys/cpu",
			json_pack("{s:{s:{s:s}, s:o}}", "/0", "hostId", "description", "0",
				"/cpuInfo", rest_cpu_entries()));
}

void rest_host_info(struct rest_call *call)
{
	struct rest_memory m;

	if (!is_read(call, 4))
		return;
	rest_memory_read(&m);
	json_t *cpus = rest_cpu_entries();
	rest_fact_stats(call, "sys/host-info",
		json_pack("{s:{s:o, s:o, s:{s:s}, s:o, s:o, s:o}}", "/0", "activeCpuCount",
			number(rest_cpu_count()), "cpuCount", number(rest_cpu_count()), "hostId",
			"description", "0", "memoryTotal", number(m.total), "memoryUsed",
			number(m.used), "=sys/hostInfo/0/cpuInfo", cpus));
}

/* ---- neighbours ---- */

static json_t *text(const char *value)
{
	return json_pack("{s:s}", "description", value);
}

static bool neighbour_row(void *arg, json_t *row)
{
	const char *address = rest_word(row, "address"), *mac = rest_word(row, "mac");
	bool resolved = !strcmp(rest_word(row, "state"), "resolved") ||
			!strcmp(rest_word(row, "state"), "probing");
	char key[80];

	snprintf(key, sizeof(key), "/%s", address);
	json_object_set_new(arg, key,
		json_pack("{s:o, s:o, s:o, s:o, s:o}", "expireInSec",
			number((uint64_t)json_integer_value(json_object_get(row, "age"))),
			"ipAddress", text(address), "macAddress",
			text(resolved ? mac : "incomplete"), "name", text(address), "vlan",
			text(rest_word(row, "vlan"))));
	return true;
}

/* Those that are looked up, as statistics; of those that people write down there are none. */
void rest_net_arp(struct rest_call *call)
{
	bool ndp = !strcmp(call->http->segments[3], "ndp");
	const char *path = ndp ? "net/ndp" : "net/arp";
	const char *words = ndp ? "net ndp" : "net arp";
	json_t *rows = json_object();

	if (!is_read(call, 4)) {
		json_decref(rows);
		return;
	}
	if (call->http->segment_count == 4) {
		http_reply_json(call->http, 200,
			json_pack("{s:o, s:o}", "kind", rest_kind_of_path(path, "collectionstate"),
				"selfLink", rest_link(call->rest, "/mgmt/tm/%s", path)));
	} else if (rest_ask(call, json_pack("{s:s, s:s}", "op", "show", "what", words),
			   neighbour_row, rows, NULL)) {
		rest_fact_stats(call, path, json_incref(rows));
	} else {
		rest_refuse(call);
	}
	json_decref(rows);
}

void rest_info_system(struct rest_call *call)
{
	if (call->http->method == HTTP_GET)
		http_reply_json(call->http, 200,
			json_pack("{s:[{s:s, s:s}]}", "providers", "link",
				REST_LINK "/mgmt/cm/system/authn/providers/local/login",
				"loginProviderName", "local"));
	else
		http_reply_error(call->http, 405, "This path is only read: %s", call->http->path);
}
