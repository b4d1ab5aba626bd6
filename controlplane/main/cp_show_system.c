/* SPDX-License-Identifier: BSD-3-Clause */
/* What needs no question to the dataplane: its greeting, the counter file, and what weir-cp knows itself. */
#include <inttypes.h>
#include <string.h>

#include "base/clock.h"
#include "main/cp.h"

static json_t *dataplane_object(const struct cp *cp)
{
	const struct msg_hello *hello = dplink_hello(cp->link);
	char instance[20] = "";

	if (hello)
		snprintf(instance, sizeof(instance), "%016" PRIx64, hello->instance);
	return json_pack("{s:b,s:I,s:I,s:i,s:s,s:o}", "connected", hello != NULL, "generation",
		(json_int_t)(hello ? hello->generation : 0), "running-generation",
		(json_int_t)model_generation(cp->model), "workers", hello ? (int)hello->workers : 0,
		"instance", instance, "refused", ipc_text_new(cp->refused, strlen(cp->refused)));
}

static void show_status(struct cp *cp, struct ipc_request *r)
{
	char monitoring[80];

	cp_monitoring_text(cp, monitoring, sizeof(monitoring));
	ipc_row(r, json_pack("{s:I,s:i,s:I,s:s,s:I,s:i,s:o,s:s,s:o}", "generation",
			   (json_int_t)model_generation(cp->model), "unsaved",
			   (int)store_unsaved(cp->store), "saved",
			   (json_int_t)store_saved_generation(cp->store), "version", WEIR_VERSION,
			   "uptime", (json_int_t)((clock_ns() - cp->started_ns) / 1000000000u),
			   "incidents", (int)incidents_open(cp->journal.incidents), "kernel",
			   ipc_text_new(cp->kernel_fault, strlen(cp->kernel_fault)), "monitoring",
			   monitoring, "dataplane", dataplane_object(cp)));
}

static void show_dataplane(struct cp *cp, struct ipc_request *r)
{
	ipc_row(r, dataplane_object(cp));
}

static void show_version(struct cp *cp, struct ipc_request *r)
{
	ipc_row(r, json_pack("{s:s,s:s,s:i}", "product", "Weir", "version", WEIR_VERSION, "api",
			   IPC_API_VERSION));
}

static void show_interfaces(struct cp *cp, struct ipc_request *r)
{
	const struct msg_hello *hello = dplink_hello(cp->link);

	for (uint32_t i = 0; hello && i < hello->ports; i++) {
		const struct msg_port *p = &hello->port[i];
		char mac[20];

		snprintf(mac, sizeof(mac), "%02x:%02x:%02x:%02x:%02x:%02x", p->mac[0], p->mac[1],
			p->mac[2], p->mac[3], p->mac[4], p->mac[5]);
		ipc_row(r,
			json_pack("{s:o,s:o,s:s,s:b}", "name",
				ipc_text_new(p->name, strnlen(p->name, sizeof(p->name))), "driver",
				ipc_text_new(p->driver, strnlen(p->driver, sizeof(p->driver))),
				"mac", mac, "up", p->up));
	}
}

static void show_workers(struct cp *cp, struct ipc_request *r)
{
	const struct counters *c = dplink_counters(cp->link);

	for (unsigned w = 0; c && w < c->header->workers; w++) {
		json_t *row = json_pack("{s:i}", "worker", (int)w);

		for (unsigned i = 0; i < WORKER_COUNTERS; i++)
			json_object_set_new(row, worker_counter_name[i],
				json_integer((json_int_t)counters_worker(c, w)[i]));
		ipc_row(r, row);
	}
}

static void show_drops(struct cp *cp, struct ipc_request *r)
{
	const struct counters *c = dplink_counters(cp->link);

	for (unsigned i = 0; c && i < DROP_REASONS; i++) {
		json_t *workers = json_array();
		uint64_t sum = 0;

		for (unsigned w = 0; w < c->header->workers; w++) {
			sum += counters_drop(c, w)[i];
			json_array_append_new(
				workers, json_integer((json_int_t)counters_drop(c, w)[i]));
		}
		ipc_row(r, json_pack("{s:s,s:I,s:o}", "reason", drop_reason_name[i], "packets",
				   (json_int_t)sum, "workers", workers));
	}
}

void cp_show_system(struct cp *cp, struct ipc_request *r, const char *what)
{
	static const struct {
		const char *what;
		bool needs_dataplane;
		void (*rows)(struct cp *cp, struct ipc_request *r);
	} shows[] = {
		{"sys status", false, show_status},
		{"sys dataplane", false, show_dataplane},
		{"sys version", false, show_version},
		{"sys worker", true, show_workers},
		{"sys drop", true, show_drops},
		{"net interface", true, show_interfaces},
	};

	for (size_t i = 0; i < sizeof(shows) / sizeof(*shows); i++) {
		if (strcmp(shows[i].what, what))
			continue;
		if (shows[i].needs_dataplane && !dplink_hello(cp->link)) {
			cp_refuse(r, 503, "", "the dataplane is not connected");
			return;
		}
		shows[i].rows(cp, r);
		ipc_reply(r, json_object());
		return;
	}
	cp_refuse(r, 400, "what", "%s is not known", what);
}
