/* SPDX-License-Identifier: BSD-3-Clause */
#include "monitor/mon_config.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ipc/ipc.h"
#include "monitor/mon_text.h"
#include "monitor/mon_tls.h"
#include "monitor/mon_type.h"

static const char *const field_names[MON_FIELDS] = {[MON_F_NAME] = "name",
	[MON_F_SEND] = "send",
	[MON_F_RECV] = "recv",
	[MON_F_RECV_DISABLE] = "recv-disable",
	[MON_F_USERNAME] = "username",
	[MON_F_PASSWORD] = "password",
	[MON_F_SECRET] = "secret",
	[MON_F_SNI] = "sni",
	[MON_F_CERTIFICATE] = "certificate",
	[MON_F_KEY] = "key",
	[MON_F_CA] = "ca",
	[MON_F_CIPHERLIST] = "cipherlist",
	[MON_F_SCRIPT] = "script",
	[MON_F_ARGS] = "args",
	[MON_F_QNAME] = "qname",
	[MON_F_QTYPE] = "qtype",
	[MON_F_ANSWER_CONTAINS] = "answer-contains",
	[MON_F_ACCEPT_RCODE] = "accept-rcode",
	[MON_F_AGENT_SEND] = "agent-send",
	[MON_F_DOMAIN] = "domain",
	[MON_F_FOLDER] = "folder",
	[MON_F_NEWSGROUP] = "newsgroup",
	[MON_F_DATABASE] = "database",
	[MON_F_RECV_ROW] = "recv-row",
	[MON_F_RECV_COLUMN] = "recv-column",
	[MON_F_BASE] = "base",
	[MON_F_FILTER] = "filter",
	[MON_F_SECURITY] = "security",
	[MON_F_NAS_IP_ADDRESS] = "nas-ip-address",
	[MON_F_COMMUNITY] = "community",
	[MON_F_VERSION] = "version",
	[MON_F_AGENT_TYPE] = "agent-type"};

#define TEXT_MAX 65536u /* bytes of a field */
#define PEM_MAX 262144u /* the same of certificates and keys */

int mon_fault(struct mon_fault *fault, const char *field, const char *format, ...)
{
	char said[MON_REASON_MAX];
	va_list args;

	fault->field = field;
	va_start(args, format);
	vsnprintf(said, sizeof(said), format, args);
	va_end(args);
	mon_clean(fault->reason, sizeof(fault->reason), said, strlen(said)); /* it goes into JSON */
	return -EINVAL;
}

bool mon_read_number(const json_t *message, const char *name, uint64_t min, uint64_t max,
	uint64_t fallback, uint64_t *out, struct mon_fault *fault)
{
	const json_t *value = json_object_get(message, name);

	*out = fallback;
	if (!value)
		return true;
	json_int_t number = json_integer_value(value);
	if (!json_is_integer(value) || number < 0 || (uint64_t)number < min ||
		(uint64_t)number > max) {
		mon_fault(fault, name, "must be a number, %llu to %llu", (unsigned long long)min,
			(unsigned long long)max);
		return false;
	}
	*out = (uint64_t)number;
	return true;
}

static bool read_flag(const json_t *message, const char *name, bool *out, struct mon_fault *fault)
{
	const json_t *value = json_object_get(message, name);

	*out = json_is_true(value);
	if (value && !json_is_boolean(value)) {
		mon_fault(fault, name, "must be true or false");
		return false;
	}
	return true;
}

bool mon_read_address(const json_t *message, const char *name, struct ip_addr *out, bool *present,
	struct mon_fault *fault)
{
	const json_t *value = json_object_get(message, name);

	*present = value != NULL;
	if (!value || (json_is_string(value) && ip_parse(json_string_value(value), out) == 0))
		return true;
	mon_fault(fault, name, "must be an IPv4 or IPv6 address");
	return false;
}

static int texts_read(struct mon_monitor *m, const json_t *message, struct mon_fault *fault)
{
	for (int i = 0; i < MON_FIELDS; i++) {
		const json_t *value = json_object_get(message, field_names[i]);

		bool pem = i == MON_F_CERTIFICATE || i == MON_F_KEY || i == MON_F_CA;
		size_t most = pem ? PEM_MAX : TEXT_MAX;

		m->text[i] = value ? ipc_text_get(value, &m->length[i]) : strdup("");
		if (!m->text[i] || m->length[i] > most)
			return mon_fault(
				fault, field_names[i], "must be a text of at most %zu bytes", most);
	}
	if (!m->length[MON_F_NAME])
		return mon_fault(fault, "name", "is missing");
	m->length[MON_F_SEND] = mon_unescape(m->text[MON_F_SEND]);
	return 0;
}

static int pattern_read(struct mon_monitor *m, enum mon_field field, struct mon_pattern **out,
	struct mon_fault *fault)
{
	char why[200];

	if (!m->length[field])
		return 0;
	*out = mon_pattern_new(m->text[field], m->length[field], why, sizeof(why));
	return *out ? 0 : mon_fault(fault, field_names[field], "%s", why);
}

static int timing_read(struct mon_monitor *m, const json_t *message, struct mon_fault *fault)
{
	uint64_t interval, up_interval, timeout, until_up, failures, successes;

	if (!mon_read_number(message, "interval", 1, 86400, 5, &interval, fault) ||
		!mon_read_number(message, "up-interval", 0, 86400, 0, &up_interval, fault) ||
		!mon_read_number(message, "timeout", 1, 900, 16, &timeout, fault) ||
		!mon_read_number(message, "time-until-up", 0, 86400, 0, &until_up, fault) ||
		!mon_read_number(message, "failures", 0, 1000, 0, &failures, fault) ||
		!mon_read_number(message, "successes", 1, 1000, 1, &successes, fault))
		return -EINVAL;
	m->timing = (struct mon_timing){.interval = interval * 1000,
		.up_interval = up_interval * 1000,
		.timeout = timeout * 1000,
		.time_until_up = until_up * 1000,
		.failures = (unsigned)failures,
		.successes = (unsigned)successes};
	return 0;
}

static int adaptive_read(struct mon_monitor *m, const json_t *message, struct mon_fault *fault)
{
	const json_t *type = json_object_get(message, "adaptive-divergence-type");
	uint64_t value, limit, timespan;
	bool enabled;

	if (!read_flag(message, "adaptive", &enabled, fault) ||
		!mon_read_number(
			message, "adaptive-divergence-value", 1, 1000000, 25, &value, fault) ||
		!mon_read_number(message, "adaptive-limit", 0, 900000, 200, &limit, fault) ||
		!mon_read_number(
			message, "adaptive-sampling-timespan", 1, 86400, 300, &timespan, fault))
		return -EINVAL;
	const char *word = type ? json_string_value(type) : "relative";
	if (!word || (strcmp(word, "relative") && strcmp(word, "absolute")))
		return mon_fault(fault, "adaptive-divergence-type", "must be relative or absolute");
	m->adaptive = (struct mon_adaptive){.enabled = enabled,
		.relative = *word == 'r',
		.value = (unsigned)value,
		.limit_ms = (unsigned)limit,
		.timespan = (unsigned)timespan};
	return 0;
}

static int kind_read(struct mon_monitor *m, const json_t *message, struct mon_fault *fault)
{
	const char *kind = json_string_value(json_object_get(message, "kind"));

	m->type = kind ? mon_type_find(kind) : NULL;
	if (!m->type)
		return mon_fault(fault, "kind", "there is no monitor type %.60s",
			kind ? kind : "without a name");
	if (m->type->tls && mon_tls_context(m, fault))
		return -EINVAL;
	if (m->reverse && !m->recv)
		return mon_fault(fault, "reverse", "needs recv");
	if (m->transparent && !m->type->markable && !m->type->stream && !m->type->datagram)
		return mon_fault(fault, "transparent", "cannot be with %s", m->type->name);
	return m->type->check ? m->type->check(m, fault) : 0;
}

static int monitor_read(struct mon_monitor *m, const json_t *message, struct mon_fault *fault)
{
	uint64_t id;

	if (!mon_read_number(message, "id", 1, UINT32_MAX, 0, &id, fault) ||
		!read_flag(message, "reverse", &m->reverse, fault) ||
		!read_flag(message, "transparent", &m->transparent, fault) ||
		!read_flag(message, "verify", &m->verify, fault) ||
		!read_flag(message, "mandatory-attributes", &m->mandatory_attributes, fault))
		return -EINVAL;
	if (!id)
		return mon_fault(fault, "id", "is missing");
	m->id = (uint32_t)id;
	int rc = timing_read(m, message, fault);
	if (rc == 0)
		rc = adaptive_read(m, message, fault);
	if (rc == 0)
		rc = texts_read(m, message, fault);
	if (rc == 0)
		rc = pattern_read(m, MON_F_RECV, &m->recv, fault);
	if (rc == 0)
		rc = pattern_read(m, MON_F_RECV_DISABLE, &m->recv_disable, fault);
	return rc ? rc : kind_read(m, message, fault);
}

struct mon_monitor *mon_monitor_new(const json_t *message, struct mon_fault *fault)
{
	struct mon_monitor *m = calloc(1, sizeof(*m));

	if (!m) {
		mon_fault(fault, "", "no memory");
		return NULL;
	}
	LIST_INIT(&m->instances);
	m->source = json_incref((json_t *)message);
	if (monitor_read(m, message, fault)) {
		mon_monitor_free(m);
		return NULL;
	}
	return m;
}

void mon_monitor_free(struct mon_monitor *m)
{
	if (!m)
		return;
	for (int i = 0; i < MON_FIELDS; i++) {
		if (m->text[i])
			explicit_bzero(m->text[i], m->length[i]);
		free(m->text[i]);
	}
	mon_pattern_free(m->recv);
	mon_pattern_free(m->recv_disable);
	mon_tls_context_free(m);
	json_decref(m->source);
	free(m);
}
