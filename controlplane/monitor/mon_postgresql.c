/* SPDX-License-Identifier: BSD-3-Clause */
/* postgresql: libpq logs in and asks, without blocking; with TLS where the server wants no log-in without. */
#include <errno.h>
#include <event2/event.h>
#include <libpq-fe.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>

#include "monitor/mon.h"

#define ANSWER_MAX (1u << 20) /* bytes; libpq would keep any number */

struct sql {
	PGconn *conn;
	struct event *ready;
	int watched; /* the socket that ready is for */
	bool asked;
	size_t came; /* bytes, about */
};

static void on_ready(evutil_socket_t fd, short what, void *ctx);

static int watch(struct mon_probe *p, short what)
{
	struct sql *own = p->own;

	if (own->ready)
		event_free(own->ready);
	own->watched = PQsocket(own->conn);
	own->ready = event_new(p->in->mon->base, own->watched, what, on_ready, p);
	return own->ready && event_add(own->ready, NULL) == 0 ? 0 : -ENOMEM;
}

static enum mon_outcome failed(struct mon_probe *p)
{
	const struct sql *own = p->own;
	const char *text = PQerrorMessage(own->conn);

	if (strstr(text, "Connection refused"))
		return mon_say(p, MON_BAD_NOW, "connection refused");
	return mon_say_answer(p, MON_BAD, "postgresql", text, strlen(text));
}

/* The first column of the first row is what recv is searched in. */
static enum mon_outcome result_judge(struct mon_probe *p, const PGresult *result)
{
	ExecStatusType status = PQresultStatus(result);

	if (status != PGRES_TUPLES_OK && status != PGRES_COMMAND_OK && status != PGRES_SINGLE_TUPLE)
		return failed(p);
	if (!p->in->monitor->recv)
		return MON_GOOD;
	if (!PQntuples(result) || !PQnfields(result))
		return mon_say(p, MON_BAD, "the answer has no row");
	p->any = true;
	return mon_judge(p, PQgetvalue(result, 0, 0), (size_t)PQgetlength(result, 0, 0), true);
}

static enum mon_outcome answer_read(struct mon_probe *p)
{
	struct sql *own = p->own;

	if (!PQconsumeInput(own->conn))
		return failed(p);
	if (PQisBusy(own->conn))
		return MON_MORE;
	PGresult *result = PQgetResult(own->conn);
	enum mon_outcome outcome =
		result ? result_judge(p, result) : mon_say(p, MON_BAD, "no answer to the query");
	PQclear(result);
	return outcome;
}

static enum mon_outcome query(struct mon_probe *p)
{
	const struct mon_monitor *m = p->in->monitor;
	struct sql *own = p->own;

	p->connected = true;
	if (!m->length[MON_F_SEND])
		return MON_GOOD;
	own->asked = true;
	PQsetnonblocking(own->conn, 1);
	if (!PQsendQuery(own->conn, m->text[MON_F_SEND]))
		return failed(p);
	PQsetSingleRowMode(own->conn);
	return MON_MORE;
}

/* A long query goes out in parts. */
static enum mon_outcome asked(struct mon_probe *p)
{
	struct sql *own = p->own;
	int left = PQflush(own->conn);

	if (left < 0)
		return failed(p);
	if (watch(p, left ? EV_READ | EV_WRITE : EV_READ))
		return mon_say(p, MON_NOTHING, "not probed: no memory");
	return answer_read(p);
}

static enum mon_outcome step(struct mon_probe *p)
{
	struct sql *own = p->own;
	int waiting = 0;

	if (ioctl(PQsocket(own->conn), FIONREAD, &waiting) == 0)
		own->came += (size_t)waiting;
	if (own->came > ANSWER_MAX)
		return mon_say(p, MON_BAD, "the answer is longer than it may be");
	if (own->asked)
		return asked(p);
	switch (PQconnectPoll(own->conn)) {
	case PGRES_POLLING_OK: {
		enum mon_outcome outcome = query(p);

		return outcome == MON_MORE ? asked(p) : outcome;
	}
	case PGRES_POLLING_READING:
		return watch(p, EV_READ) ? MON_NOTHING : MON_MORE;
	case PGRES_POLLING_WRITING:
		return watch(p, EV_WRITE) ? MON_NOTHING : MON_MORE;
	default:
		return failed(p);
	}
}

static void on_ready(evutil_socket_t fd, short what, void *ctx)
{
	struct mon_probe *p = ctx;
	enum mon_outcome outcome = step(p);

	if (outcome != MON_MORE)
		mon_probe_end(p, outcome);
}

static int postgresql_start(struct mon_probe *p)
{
	const struct mon_instance *in = p->in;
	char *const *text = in->monitor->text;
	struct sql *own = p->own;
	char address[IP_ADDR_TEXT], port[8];
	const char *database = *text[MON_F_DATABASE] ? text[MON_F_DATABASE] : "postgres";
	const char *user = *text[MON_F_USERNAME] ? text[MON_F_USERNAME] : "postgres";
	/* Files of the user we run as are nobody's business. */
	const char *const keys[] = {"hostaddr", "port", "dbname", "user", "password", "sslmode",
		"sslcert", "sslrootcert", "gssencmode", "passfile", "application_name", NULL};
	const char *const values[] = {address, port, database, user, text[MON_F_PASSWORD], "allow",
		"/nonexistent", "/nonexistent", "disable", "/dev/null", "weir-mon", NULL};

	ip_format(&in->to_address, address);
	snprintf(port, sizeof(port), "%u", in->to_port ? in->to_port : in->monitor->type->port);
	own->conn = PQconnectStartParams(keys, values, 0);
	if (!own->conn)
		return -ENOMEM;
	if (PQstatus(own->conn) == CONNECTION_BAD) {
		mon_probe_end(p, failed(p));
		return 0;
	}
	return watch(p, EV_WRITE);
}

static void postgresql_stop(struct mon_probe *p)
{
	struct sql *own = p->own;

	if (!own)
		return;
	if (own->ready)
		event_free(own->ready);
	PQfinish(own->conn);
}

static bool is_first(const char *number)
{
	return !*number || !strcmp(number, "1");
}

static int postgresql_check(struct mon_monitor *m, struct mon_fault *fault)
{
	if (!is_first(m->text[MON_F_RECV_ROW]))
		return mon_fault(fault, "recv-row", "must be 1");
	if (!is_first(m->text[MON_F_RECV_COLUMN]))
		return mon_fault(fault, "recv-column", "must be 1");
	return 0;
}

const struct mon_type mon_postgresql = {.name = "postgresql",
	.port = 5432,
	.check = postgresql_check,
	.private_size = sizeof(struct sql),
	.start = postgresql_start,
	.stop = postgresql_stop};
