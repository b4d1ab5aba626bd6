/* SPDX-License-Identifier: BSD-3-Clause */
/* What weir-mon says. It is trusted to probe, not to be well: anything that makes no sense is logged and left. */
#include <string.h>
#include <stdlib.h>

#include "base/log.h"
#include "health/health_internal.h"

#define COMPLAINTS_A_SECOND 20

/* A weir-mon that is not well shall not fill the log. */
static bool complains(struct health *h)
{
	struct health_complaints *c = &h->complaints;
	uint64_t second = health_now_ms() / 1000;

	if (c->second != second) {
		if (c->held_back)
			log_warning("weir-mon: %u complaints like the last were not written",
				c->held_back);
		*c = (struct health_complaints){.second = second};
	}
	if (c->written == COMPLAINTS_A_SECOND) {
		c->held_back++;
		return false;
	}
	c->written++;
	return true;
}

/* Whether a monitor is of the kind that says such things. */
static bool is_of_kind(const struct health *h, const struct health_inst *in, enum model_kind kind)
{
	const struct object *o = model_get(h->model, in->monitor->id);

	return o && o->kind == kind;
}

static bool number_of(const json_t *message, const char *name, json_int_t max, uint32_t *out)
{
	const json_t *value = json_object_get(message, name);
	json_int_t n = json_integer_value(value);

	if (!json_is_integer(value) || n < 0 || n > max)
		return false;
	*out = (uint32_t)n;
	return true;
}

static struct health_inst *inst_named(const struct health *h, const json_t *message)
{
	uint32_t object, monitor;

	if (!number_of(message, "object", UINT32_MAX, &object) ||
		!number_of(message, "monitor", UINT32_MAX, &monitor))
		return NULL;
	return health_inst_get(h, object, monitor);
}

/* One line of printable ASCII: it goes to people's terminals, and is cut without a look at characters. */
static void line_of(const json_t *message, const char *name, char *out, size_t size)
{
	const char *text = json_string_value(json_object_get(message, name));

	out[0] = 0;
	if (text)
		strncat(out, text, size - 1);
	for (char *p = out; *p; p++)
		if (*p < ' ' || *p > '~')
			*p = '?';
}

static int said_of(const json_t *message)
{
	const char *word = json_string_value(json_object_get(message, "verdict"));
	int said = 0;

	while (said < MON_VERDICTS && (!word || strcmp(word, mon_verdict_names[said])))
		said++;
	return said;
}

/* False: it makes no sense. Of an instance that has just gone nothing is done, and it is no fault. */
static bool on_verdict(struct health *h, const json_t *message)
{
	struct health_inst *in = inst_named(h, message);
	json_int_t time = json_integer_value(json_object_get(message, "time"));
	int said = said_of(message);
	char reason[MON_REASON_MAX];

	if (said == MON_VERDICTS)
		return false;
	/* A weir-mon that knows less than we do has still to find out. */
	if (!in || !in->monitor->active || (said == MON_CHECKING && in->said != MON_CHECKING))
		return true;
	line_of(message, "reason", reason, sizeof(reason));
	health_say(
		h, in, (enum mon_verdict)said, time > 0 ? (uint64_t)time : health_now_ms(), reason);
	return true;
}

static bool on_agent(struct health *h, const json_t *message)
{
	const struct health_inst *in = inst_named(h, message);
	char admin[16], state[16], description[MON_REASON_MAX];
	uint32_t weight, maxconn;

	if (!in)
		return true;
	if (!is_of_kind(h, in, KIND_MONITOR_AGENT_CHECK))
		return false;
	line_of(message, "admin", admin, sizeof(admin));
	line_of(message, "state", state, sizeof(state));
	line_of(message, "description", description, sizeof(description));
	struct health_agent line = {.weight = -1, .maxconn = -1, admin, state, description};
	if (number_of(message, "weight", 256, &weight))
		line.weight = (int)weight;
	if (number_of(message, "maxconn", UINT32_MAX, &maxconn))
		line.maxconn = maxconn;
	h->ops.agent(h->ctx, in->object->id, in->monitor->id, &line);
	return true;
}

static bool on_ratio(struct health *h, const json_t *message)
{
	const struct health_inst *in = inst_named(h, message);
	uint32_t ratio;

	if (!number_of(message, "ratio", 100, &ratio) || ratio < 1)
		return false;
	if (in && !is_of_kind(h, in, KIND_MONITOR_SNMP_DCA))
		return false;
	if (in)
		h->ops.dynamic_ratio(h->ctx, in->object->id, ratio);
	return true;
}

static bool on_refused(struct health *h, const json_t *message)
{
	char what[32], field[64], reason[MON_REASON_MAX], sentence[400];
	struct health_inst *in = inst_named(h, message);
	struct health_monitor *m = NULL;
	uint32_t id;

	line_of(message, "message", what, sizeof(what));
	line_of(message, "field", field, sizeof(field));
	line_of(message, "reason", reason, sizeof(reason));
	snprintf(sentence, sizeof(sentence), "not probed: %s%s%s", field, *field ? ": " : "",
		reason);
	if (number_of(message, "id", UINT32_MAX, &id))
		m = health_monitor_get(h, id);
	if (complains(h))
		log_warning("weir-mon: refused %s %s: %s", what,
			m    ? m->name
			: in ? in->monitor->name
			     : "",
			sentence);
	if (m && !strcmp(what, MON_MONITOR))
		health_link_refuse(h, m, sentence);
	else if (in && in->said == MON_CHECKING && !strcmp(what, MON_INSTANCE))
		health_say(h, in, MON_CHECKING, in->since, sentence);
	return true;
}

static bool on_stats(struct health *h, const json_t *message)
{
	health_stats_message(h, message, false);
	return true;
}

static bool on_stats_end(struct health *h, const json_t *message)
{
	health_stats_message(h, message, true);
	return true;
}

void health_message(struct health *h, const json_t *message)
{
	static const struct {
		const char *type;
		bool (*handle)(struct health *, const json_t *);
	} known[] = {{MON_VERDICT, on_verdict}, {MON_AGENT, on_agent},
		{MON_DYNAMIC_RATIO, on_ratio}, {MON_REFUSED, on_refused}, {MON_STATS, on_stats},
		{MON_STATS_END, on_stats_end}};
	char type[32];
	bool good = false;

	line_of(message, "type", type, sizeof(type));
	for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++)
		if (!strcmp(type, known[i].type))
			good = known[i].handle(h, message);
	if (!good && complains(h))
		log_warning("weir-mon: message \"%s\" makes no sense", type);
}
