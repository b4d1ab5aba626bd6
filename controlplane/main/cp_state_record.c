/* SPDX-License-Identifier: BSD-3-Clause */
/* Changes of state as records of the journal, in LTM's words, which people's log collectors look for. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "main/cp_states.h"

/* Members of a pool, or of a node, that are asked whether they are the cause. */
#define BECAUSE_MAX 512u

struct change {
	struct cp *cp;
	const struct object *o, *owner;
	const struct told *before, *after;
	const struct cp_cause *cause;
};

static struct event_record record_of(
	const struct change *c, enum event_message message, const char *text)
{
	const struct counters *counters = dplink_counters(c->cp->link);
	bool server = cp_is_server(c->o);
	unsigned serving = 0, of = 0;

	if (c->o->kind == KIND_POOL_MEMBER)
		cp_states_serving(c->cp, c->owner, &serving, &of);
	return (struct event_record){
		.message = message,
		.kind = model_kinds[c->o->kind].full,
		.object = c->o->path,
		.owner = c->owner ? c->owner->path : NULL,
		.actor = {hold_class_name[c->cause->class], c->cause->name, c->cause->address},
		.cause = c->cause->text,
		.flows_known = server && counters,
		.flows = server && counters ? drain_connections(counters, c->o->id) : 0,
		.serving = serving,
		.of = of,
		.text = text,
	};
}

static bool by_operator(const struct change *c)
{
	return c->cause->class == HOLD_OPERATOR;
}

/* --- who may be the cause ------------------------------------------------------------------------- */

struct keys {
	uint64_t key[2 * BECAUSE_MAX];
	unsigned count;
};

static void key_add(
	struct keys *k, const struct cp *cp, const struct object *o, enum event_message message)
{
	const struct object *owner = o ? model_get(cp->model, o->owner) : NULL;

	if (o && k->count < 2 * BECAUSE_MAX)
		k->key[k->count++] = journal_key(
			message, model_kinds[o->kind].full, owner ? owner->path : NULL, o->path);
}

static void server_add(struct keys *k, const struct cp *cp, const struct object *o)
{
	key_add(k, cp, o, MESSAGE_MEMBER_STATUS);
	key_add(k, cp, o, MESSAGE_HOLD_SET);
}

/* Its pool's servers at their limits make it unavailable, not the pool. */
static void virtual_add(struct keys *k, const struct change *c)
{
	const struct model *m = c->cp->model;
	const struct object *pool = model_get(m, model_virtual(c->o)->conf.pool), *member;

	key_add(k, c->cp, c->o, MESSAGE_LIMIT_REACHED);
	key_add(k, c->cp, pool, MESSAGE_MEMBER_STATUS);
	for (unsigned i = 0; pool && i < BECAUSE_MAX && (member = model_child_at(m, pool, i)); i++)
		key_add(k, c->cp, member, MESSAGE_LIMIT_REACHED);
}

static void because_of(const struct change *c, struct keys *k)
{
	const struct model *m = c->cp->model;
	const struct object *member;

	k->count = 0;
	if (c->o->kind == KIND_POOL_MEMBER)
		server_add(k, c->cp, model_get(m, model_pool_member(c->o)->conf.node));
	if (cp_is_server(c->o))
		key_add(k, c->cp, c->o, MESSAGE_HOLD_SET);
	for (unsigned i = 0;
		c->o->kind == KIND_POOL && i < BECAUSE_MAX && (member = model_child_at(m, c->o, i));
		i++)
		server_add(k, c->cp, member);
	if (c->o->kind == KIND_VIRTUAL)
		virtual_add(k, c);
}

static void beside_of(const struct change *c, struct keys *k)
{
	const uint32_t *member;

	k->count = 0;
	if (c->o->kind != KIND_NODE)
		return;
	unsigned count = cp_index_members(&c->cp->members, c->cp->model, c->o->id, &member);
	for (unsigned i = 0; i < count && i < BECAUSE_MAX; i++)
		key_add(k, c->cp, model_get(c->cp->model, member[i]), MESSAGE_MEMBER_STATUS);
}

static void tell(const struct change *c, struct event_record *r, enum journal_turn turn)
{
	struct keys because = {.count = 0}, beside = {.count = 0};

	if (turn == JOURNAL_BAD) {
		because_of(c, &because);
		beside_of(c, &beside);
	}
	journal_tell_state(&c->cp->journal, r,
		&(struct journal_ask){.turn = turn,
			.because = because.key,
			.because_count = because.count,
			.beside = beside.key,
			.beside_count = beside.count});
}

/* --- monitor status ------------------------------------------------------------------------------- */

static const char *status_word(const struct told *t)
{
	static const char *const words[] = {[MONITOR_UNCHECKED] = "unchecked",
		[MONITOR_CHECKING] = "checking",
		[MONITOR_UP] = "up",
		[MONITOR_DOWN] = "down",
		[MONITOR_FORCED_DOWN] = "forced down",
		[MONITOR_ADDRESS_DOWN] = "node down",
		[MONITOR_WAIT_FOR_RESUME] = "down, waits for manual resume"};

	return words[t->monitor];
}

struct sentence {
	const struct model *model;
	char text[600];
	size_t used;
};

static void sentence_add(struct sentence *s, const char *a, const char *b)
{
	if (s->used < sizeof(s->text))
		s->used += (size_t)snprintf(
			s->text + s->used, sizeof(s->text) - s->used, "%s%s", a, b);
}

static void add_instance(void *ctx, const struct health_instance *in)
{
	static const char *const words[VERDICTS] = {"unchecked", "checking", "checking", "up",
		"down", "up", "down, waits for manual resume"};
	struct sentence *s = ctx;
	const struct object *monitor = model_get(s->model, in->monitor);
	time_t now = time(NULL);
	struct tm tm;
	char when[40] = "";

	sentence_add(s, s->used ? ", " : "", monitor ? monitor->path : "");
	sentence_add(s, ": ", words[in->verdict]);
	if (in->verdict != VERDICT_DOWN)
		return;
	if (localtime_r(&now, &tm))
		strftime(when, sizeof(when), " @%Y/%m/%d %H:%M:%S. ", &tm);
	sentence_add(s, "; last error: ", in->reason);
	sentence_add(s, when, "");
}

/* LTM: "0hr:0min:19sec", "2hrs:15mins:1sec". */
static void lasted(const struct change *c, char *out, size_t size)
{
	uint64_t since = c->before->since, until = c->after->since;
	uint64_t s = until > since ? (until - since) / 1000 : 0;

	*out = 0;
	if (since)
		snprintf(out, size,
			"  [ was %s for %" PRIu64 "hr%s:%" PRIu64 "min%s:%" PRIu64 "sec ]",
			status_word(c->before), s / 3600, s / 3600 > 1 ? "s" : "", s / 60 % 60,
			s / 60 % 60 > 1 ? "s" : "", s % 60);
}

static void server_name(const struct change *c, char *out, size_t size)
{
	char address[IP_ADDR_TEXT];

	if (c->owner)
		snprintf(out, size, "Pool %s member %s", c->owner->path, c->o->path);
	else
		snprintf(out, size, "Node %s address %s", c->o->path,
			ip_format(&model_node(c->o)->conf.address, address));
}

static enum event_message status_message(const struct change *c)
{
	bool member = c->owner != NULL;

	switch (c->after->monitor) {
	case MONITOR_UP:
		return member ? MESSAGE_MEMBER_UP : MESSAGE_NODE_UP;
	case MONITOR_UNCHECKED:
	case MONITOR_CHECKING:
		return member ? MESSAGE_MEMBER_UNKNOWN : MESSAGE_NODE_UNKNOWN;
	default:
		return member ? MESSAGE_MEMBER_STATUS : MESSAGE_NODE_STATUS;
	}
}

/* An operator who forces a server down takes the matter into his own hands. */
static enum journal_turn status_turn(const struct change *c)
{
	switch (c->after->monitor) {
	case MONITOR_UP:
	case MONITOR_UNCHECKED:
		return JOURNAL_GOOD;
	case MONITOR_CHECKING:
		return JOURNAL_NEITHER;
	default:
		return by_operator(c) ? JOURNAL_GOOD : JOURNAL_BAD;
	}
}

static void status_tell(const struct change *c)
{
	struct sentence s = {.model = c->cp->model};
	char name[600], was[100], text[1500];

	health_instances(c->cp->health, c->o->id, ID_NONE, add_instance, &s);
	server_name(c, name, sizeof(name));
	lasted(c, was, sizeof(was));
	snprintf(text, sizeof(text), "%s monitor status %s. [ %s ]%s", name, status_word(c->after),
		s.text, was);
	struct event_record r = record_of(c, status_message(c), text);
	r.before = event_text(status_word(c->before));
	r.after = event_text(status_word(c->after));
	tell(c, &r, status_turn(c));
}

/* --- session and holds ---------------------------------------------------------------------------- */

static const char *session_word(const struct told *t)
{
	static const char *const words[] = {[SESSION_ENABLED] = "enabled",
		[SESSION_DISABLED] = "disabled",
		[SESSION_FORCED_DISABLED] = "forced disabled",
		[SESSION_ADDRESS_DISABLED] = "node disabled"};

	return words[t->session];
}

static void session_tell(const struct change *c)
{
	char name[600], text[700];

	server_name(c, name, sizeof(name));
	snprintf(text, sizeof(text), "%s session status %s.", name, session_word(c->after));
	struct event_record r =
		record_of(c, c->owner ? MESSAGE_MEMBER_SESSION : MESSAGE_NODE_SESSION, text);
	r.before = event_text(session_word(c->before));
	r.after = event_text(session_word(c->after));
	tell(c, &r, JOURNAL_NEITHER);
}

static const char *hold_word(uint8_t bits)
{
	return bits & HOLD_STATE ? "forced-offline" : bits ? "disabled" : "enabled";
}

/* An incident is what others than operators do, as long as one of them does it. */
static enum journal_turn hold_turn(const struct change *c, unsigned class)
{
	bool others = false;

	for (unsigned i = 0; i < HOLD_CLASSES; i++)
		others |= i != HOLD_OPERATOR && c->after->holds[i];
	if (!others)
		return JOURNAL_GOOD;
	return class == HOLD_OPERATOR || by_operator(c) ? JOURNAL_NEITHER : JOURNAL_BAD;
}

static void hold_tell(const struct change *c, unsigned class)
{
	const char *reason = model_string(c->cp->model, model_holds(c->o)->by[class].reason);
	uint8_t before = c->before->holds[class], after = c->after->holds[class];
	char name[600], text[1300];

	server_name(c, name, sizeof(name));
	snprintf(text, sizeof(text), "%s: held by %s: %s, was %s%s%s", name, hold_class_name[class],
		hold_word(after), hold_word(before), after && *reason ? ": " : "",
		after ? reason : "");
	struct event_record r = record_of(c, after ? MESSAGE_HOLD_SET : MESSAGE_HOLD_CLEARED, text);
	r.before = event_text(hold_word(before));
	r.after = event_text(hold_word(after));
	if (after && *reason)
		r.cause = reason;
	tell(c, &r, hold_turn(c, class));
}

static void server_tell(const struct change *c)
{
	for (unsigned i = 0; i < HOLD_CLASSES; i++)
		if (c->before->holds[i] != c->after->holds[i])
			hold_tell(c, i);
	if (c->before->monitor != c->after->monitor)
		status_tell(c);
	if (c->before->session != c->after->session)
		session_tell(c);
}

/* --- what depends on servers ---------------------------------------------------------------------- */

static void pool_tell(const struct change *c)
{
	bool usable = c->after->usable;
	char text[400];

	if (usable == c->before->usable)
		return;
	snprintf(text, sizeof(text),
		usable ? "Pool %s now has available members" : "No members available for pool %s",
		c->o->path);
	struct event_record r = record_of(c, usable ? MESSAGE_POOL_BACK : MESSAGE_POOL_EMPTY, text);
	tell(c, &r, usable || by_operator(c) ? JOURNAL_GOOD : JOURNAL_BAD);
}

static void virtual_tell(const struct change *c)
{
	bool was = c->before->availability == AVAILABILITY_GREEN;
	bool is = c->after->availability == AVAILABILITY_GREEN;
	bool bad = c->after->availability == AVAILABILITY_RED ||
		   c->after->availability == AVAILABILITY_YELLOW;
	bool was_bad = c->before->availability == AVAILABILITY_RED ||
		       c->before->availability == AVAILABILITY_YELLOW;
	char text[400];

	/* Where nobody checks, that nothing is wrong any more is all that can be known. */
	is = is || (was_bad && !bad && c->after->usable);
	if ((is && !was) || (bad && !was_bad)) {
		snprintf(text, sizeof(text), "SNMP_TRAP: Virtual %s has become %s", c->o->path,
			is ? "available" : "unavailable");
		struct event_record r = record_of(
			c, is ? MESSAGE_VIRTUAL_AVAILABLE : MESSAGE_VIRTUAL_UNAVAILABLE, text);
		r.before = event_text(state_availability_name(c->before->availability));
		r.after = event_text(state_availability_name(c->after->availability));
		tell(c, &r, is || by_operator(c) ? JOURNAL_GOOD : JOURNAL_BAD);
	}
	if (c->before->enabled == c->after->enabled)
		return;
	snprintf(text, sizeof(text), "Virtual %s is %s", c->o->path,
		state_enabled_name(c->after->enabled));
	struct event_record r = record_of(c,
		c->after->enabled == STATUS_ENABLED ? MESSAGE_VIRTUAL_ENABLED
						    : MESSAGE_VIRTUAL_DISABLED,
		text);
	r.before = event_text(state_enabled_name(c->before->enabled));
	r.after = event_text(state_enabled_name(c->after->enabled));
	tell(c, &r, JOURNAL_NEITHER);
}

static void address_tell(const struct change *c)
{
	static const char *const words[] = {"GREEN", "YELLOW", "RED", "BLUE"};
	char text[400];

	if (c->before->availability == c->after->availability)
		return;
	snprintf(text, sizeof(text), "Virtual Address %s general status changed from %s to %s.",
		c->o->path, words[c->before->availability], words[c->after->availability]);
	struct event_record r = record_of(c, MESSAGE_ADDRESS_STATUS, text);
	r.before = event_text(state_availability_name(c->before->availability));
	r.after = event_text(state_availability_name(c->after->availability));
	tell(c, &r, JOURNAL_NEITHER);
}

void cp_state_record(struct cp *cp, const struct object *o, const struct told *before,
	const struct told *after, const struct cp_cause *cause)
{
	const struct change c = {cp, o, model_get(cp->model, o->owner), before, after, cause};

	if (cp_is_server(o))
		server_tell(&c);
	else if (o->kind == KIND_POOL)
		pool_tell(&c);
	else if (o->kind == KIND_VIRTUAL)
		virtual_tell(&c);
	else if (o->kind == KIND_VIRTUAL_ADDRESS)
		address_tell(&c);
}
