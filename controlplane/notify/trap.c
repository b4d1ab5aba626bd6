/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Receivers of SNMP traps, version 2c or 3. A trap counts as taken when nobody has refused it for a quarter of a second,
 * an inform when it is acknowledged.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "ipc/ipc.h"
#include "notify/held.h"
#include "notify/notify_dial.h"
#include "notify/trap_form.h"
#include "notify/trap_session.h"

#define CHECK_US 50000
#define REFUSED_NS 250000000ull
#define DIAL_NS 10000000000ull
#define TRAPS_MAX 100u	/* in flight: what a receiver's buffer takes */
#define INFORMS_MAX 16u /* in flight */

struct trap {
	struct receiver *r;
	const json_t *settings;
	bool inform;
	struct notify_dial *dial;
	uint64_t since_ns;	      /* dialled */
	struct session_list *session; /* NULL: not connected */
	bool closing;
	struct event *readable, *check;
	struct trap_engine engine; /* of traps; of informs it is the other end's: length 0 */
	struct held held;
	uint64_t sent;
	const char *fault; /* learnt in a callback: it ends the session behind it */
};

/* --- sessions --------------------------------------------------------------------------------------- */

static void trap_close(struct trap *t, const char *reason)
{
	struct session_list *s = t->session;

	notify_dial_stop(t->dial);
	t->dial = NULL;
	if (t->readable)
		event_free(t->readable);
	t->readable = NULL;
	t->session = NULL;
	t->fault = NULL;
	t->closing = true;
	trap_session_free(s);
	t->closing = false;
	held_lost(&t->held, t->r, reason);
}

static void trap_reset(void *self)
{
	trap_close(self, "the receiver does not answer");
}

static void on_readable(evutil_socket_t fd, short what, void *ctx);

static const char *session_open(struct trap *t, int fd)
{
	const char *reason;

	t->session =
		trap_session_new(t->settings, fd, t->engine.length ? &t->engine : NULL, &reason);
	if (!t->session)
		return reason;
	t->readable = event_new(receiver_base(t->r), fd, EV_READ | EV_PERSIST, on_readable, t);
	if (!t->readable || event_add(t->readable, NULL))
		return "no memory";
	return NULL;
}

static void on_dialled(void *ctx, int fd, const char *reason)
{
	struct trap *t = ctx;

	t->dial = NULL;
	if (fd >= 0)
		reason = session_open(t, fd);
	if (reason)
		receiver_failed(t->r, reason);
	else
		receiver_more(t->r);
}

static bool ready(struct trap *t)
{
	if (t->session)
		return t->held.count < (t->inform ? INFORMS_MAX : TRAPS_MAX);
	if (t->dial)
		return false;
	t->since_ns = clock_ns();
	t->dial = notify_dial(receiver_base(t->r),
		json_string_value(json_object_get(t->settings, "host")),
		(uint16_t)json_integer_value(json_object_get(t->settings, "port")), NULL,
		SOCK_DGRAM, on_dialled, t);
	if (!t->dial)
		receiver_failed(t->r, "no memory");
	return false;
}

/* --- what comes back -------------------------------------------------------------------------------- */

static void acknowledged(struct trap *t, const struct snmp_pdu *pdu)
{
	for (unsigned i = 0; i < t->held.count; i++) {
		struct held_item *item = held_at(&t->held, i);

		if (item->end == (uint64_t)(uint32_t)pdu->reqid)
			item->there = true;
	}
}

/* The library's: nothing of the session may be touched here. */
static int on_answer(
	int operation, struct snmp_session *s, int id, struct snmp_pdu *pdu, void *magic)
{
	struct trap *t = magic;

	if (t->closing)
		return 1;
	if (operation == NETSNMP_CALLBACK_OP_TIMED_OUT)
		t->fault = "the receiver does not answer";
	else if (operation != NETSNMP_CALLBACK_OP_RECEIVED_MESSAGE)
		t->fault = "the receiver's answer is wrong";
	else if (pdu->command == SNMP_MSG_RESPONSE)
		acknowledged(t, pdu);
	else if (pdu->command == SNMP_MSG_REPORT)
		t->fault = "the receiver refuses the user or the password";
	return 1;
}

/* After the library has been at work: what it has told. */
static void trap_follow(struct trap *t)
{
	uint64_t now = clock_ns();
	unsigned count = 0;

	if (t->fault) {
		receiver_failed(t->r, t->fault);
		return;
	}
	while (count < t->held.count &&
		(t->inform ? held_at(&t->held, count)->there
			   : now - held_at(&t->held, count)->since_ns >= REFUSED_NS))
		count++;
	held_taken(&t->held, t->r, count);
	if (count && t->session)
		receiver_more(t->r);
}

static void on_readable(evutil_socket_t fd, short what, void *ctx)
{
	struct trap *t = ctx;
	int rc = trap_session_read(t->session);

	if (rc && !t->fault)
		t->fault = strerror(-rc);
	trap_follow(t);
}

static void on_check(evutil_socket_t fd, short what, void *ctx)
{
	struct trap *t = ctx;

	if (t->session)
		snmp_sess_timeout(t->session);
	trap_follow(t);
}

/* --- out -------------------------------------------------------------------------------------------- */

static bool trap_send(struct trap *t, const json_t *record, uint64_t test)
{
	netsnmp_pdu *pdu = snmp_pdu_create(t->inform ? SNMP_MSG_INFORM : SNMP_MSG_TRAP2);
	uint64_t seq = (uint64_t)json_integer_value(json_object_get(record, "seq"));
	const struct trap_engine *own = trap_engine(receiver_state_dir(t->r));
	uint64_t up = own ? (clock_ns() - own->started_ns) / 10000000u : 0;
	bool sent = pdu && trap_fill(pdu, record, up);
	long id = pdu ? pdu->reqid : 0;

	if (sent && t->inform)
		sent = snmp_sess_async_send(t->session, pdu, on_answer, t) != 0;
	else if (sent)
		sent = snmp_sess_send(t->session, pdu) != 0;
	if (!sent) {
		snmp_free_pdu(pdu);
		if (test)
			receiver_tested(t->r, test, false, "it cannot be sent");
		receiver_failed(t->r, "it cannot be sent");
		return false;
	}
	struct held_item *item = held_put(&t->held, seq, test);
	item->end = (uint64_t)(uint32_t)id;
	item->since_ns = clock_ns();
	return true;
}

static enum receiver_answer trap_offer(void *self, const json_t *record)
{
	struct trap *t = self;

	if (!trap_has(record))
		return RECEIVER_TAKEN;
	if (!ready(t) || !trap_send(t, record, 0))
		return RECEIVER_FULL;
	return RECEIVER_HELD;
}

static void trap_test(void *self, uint64_t number)
{
	struct trap *t = self;
	json_t *record;

	if (!ready(t)) {
		receiver_tested(t->r, number, false,
			t->session ? "too much waits already" : "is not connected");
		return;
	}
	record = receiver_test_record(t->r, number);
	if (record)
		trap_send(t, record, number);
	else
		receiver_tested(t->r, number, false, "no memory");
	json_decref(record);
}

/* A receiver is found before there is something to say. */
static void trap_tick(void *self)
{
	struct trap *t = self;

	if (t->dial && clock_ns() - t->since_ns > DIAL_NS)
		receiver_failed(t->r, "the receiver does not answer");
	else
		ready(t);
}

static void *trap_create(struct receiver *r, const json_t *settings, const char **reason)
{
	const struct trap_engine *own = trap_engine(receiver_state_dir(r));
	const char *engine = ipc_string(settings, "engine-id");
	struct timeval often = {.tv_usec = CHECK_US};
	struct trap *t = own ? calloc(1, sizeof(*t)) : NULL;

	if (!t) {
		*reason = own ? "no memory" : "the engine's number cannot be kept";
		return NULL;
	}
	trap_library_init();
	t->r = r;
	t->settings = settings;
	t->inform = !strcmp(ipc_string(settings, "notify-type"), "inform");
	if (!t->inform) {
		t->engine = *own;
		if (*engine)
			t->engine.length = trap_engine_parse(engine, t->engine.id);
	}
	t->check = event_new(receiver_base(r), -1, EV_PERSIST, on_check, t);
	*reason = !t->inform && !t->engine.length ? "engine-id: is none" : NULL;
	if (!*reason && t->check && event_add(t->check, &often) == 0)
		return t;
	if (!*reason)
		*reason = "no memory";
	if (t->check)
		event_free(t->check);
	free(t);
	return NULL;
}

static void trap_free(void *self)
{
	struct trap *t = self;

	trap_close(t, "the receiver was changed");
	event_free(t->check);
	free(t);
}

const struct receiver_kind receiver_trap = {.name = "trap",
	.create = trap_create,
	.offer = trap_offer,
	.reset = trap_reset,
	.tick = trap_tick,
	.test = trap_test,
	.free = trap_free};
