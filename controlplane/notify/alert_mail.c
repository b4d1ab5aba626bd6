/* SPDX-License-Identifier: BSD-3-Clause */
/* Incidents as mail. The servers are tried in order; who has got a message does not get it again. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "alert/mail_text.h"
#include "alert/smtp.h"
#include "base/clock.h"
#include "base/log.h"
#include "ipc/ipc.h"
#include "notify/alert.h"

enum { SERVERS_MAX = 8, PORT = 25 };

/* A message on its way to the servers. */
struct round {
	struct mail *mail;
	struct smtp_try *try;
	uint64_t test; /* number of the test, 0: it tells of incidents */
	char *text;
	size_t length;
	const char *left[MAIL_RECIPIENTS_MAX];
	unsigned left_count;
	unsigned server, tried; /* the one that has it, and how many had it */
	unsigned refused;	/* servers that refused it */
	bool some_got_it, some_never;
	char error[300];
};

struct mail {
	struct alert *alert;
	struct smtp *smtp;
	json_t *settings; /* which the texts below belong to */
	struct smtp_server server[SERVERS_MAX];
	const char *helo[SERVERS_MAX];
	unsigned servers;
	const char *from, *to[MAIL_RECIPIENTS_MAX];
	unsigned to_count;
	unsigned unsure; /* how often a server took all and said nothing */
	struct round message, test;
};

/* --- settings -------------------------------------------------------------------------------------- */

static void server_get(struct mail *m, const json_t *row)
{
	struct smtp_server *s = &m->server[m->servers];
	const char *encryption = ipc_string(row, "encrypted-connection");
	const char *ca = ipc_string(row, "ca"), *helo = ipc_string(row, "local-host-name");
	json_int_t port = json_integer_value(json_object_get(row, "smtp-server-port"));

	*s = (struct smtp_server){.host = ipc_string(row, "smtp-server-host-name"),
		.port = (uint16_t)(port > 0 && port < 65536 ? port : PORT),
		.encryption = !strcmp(encryption, "ssl")   ? SMTP_TLS
			      : !strcmp(encryption, "tls") ? SMTP_STARTTLS
							   : SMTP_PLAIN,
		.ca = *ca ? ca : NULL,
		.timeout_s = m->alert->timeout_s};
	if (json_is_true(json_object_get(row, "authentication-enabled"))) {
		s->user = ipc_string(row, "username");
		s->password = ipc_string(row, "password");
	}
	m->helo[m->servers++] = *helo ? helo : receiver_host(m->alert->receiver);
	if (!*m->from)
		m->from = ipc_string(row, "from-address");
}

static const char *settings_get(struct mail *m)
{
	const json_t *row, *servers = json_object_get(m->settings, "smtp-servers");
	const json_t *to = json_object_get(m->settings, "to");
	size_t i;

	m->from = ipc_string(m->settings, "from");
	json_array_foreach(servers, i, row) if (m->servers < SERVERS_MAX) server_get(m, row);
	json_array_foreach(to, i, row)
	{
		const char *address = json_string_value(row);

		if (!address || !mail_address_valid(address))
			return "to: not an address of mail";
		if (m->to_count < MAIL_RECIPIENTS_MAX)
			m->to[m->to_count++] = address;
	}
	if (!m->servers)
		return "smtp-servers: there is none";
	if (!m->to_count)
		return "to: there is no address";
	return mail_address_valid(m->from) ? NULL : "from: not an address of mail";
}

/* --- rounds ---------------------------------------------------------------------------------------- */

static void round_clear(struct round *r)
{
	struct mail *m = r->mail;

	smtp_try_free(r->try);
	free(r->text);
	*r = (struct round){.mail = m};
}

static void round_end(struct round *r, enum alert_result result)
{
	struct mail *m = r->mail;
	uint64_t test = r->test;
	json_t *left = NULL;
	char error[sizeof(r->error)];

	if (r->error[0] && !test)
		log_warning("%s: %s", receiver_name(m->alert->receiver), r->error);
	if (result == ALERT_TAKEN && !r->some_never)
		r->error[0] = 0; /* another server took it */
	memcpy(error, r->error, sizeof(error));
	if (result == ALERT_UNSURE && r->some_got_it) {
		left = json_array();
		for (unsigned i = 0; i < r->left_count; i++)
			json_array_append_new(left, json_string(r->left[i]));
	}
	round_clear(r);
	if (test)
		receiver_tested(
			m->alert->receiver, test, result == ALERT_TAKEN && !error[0], error);
	else
		alert_sent(m->alert, result, left, error[0] ? error : NULL);
	json_decref(left);
}

/* Who got it and who never will are left out. */
static void recipients_strike(struct round *r, const struct smtp_result *result)
{
	unsigned left = 0;

	for (unsigned i = 0; i < r->left_count; i++) {
		if (result->answer[i] >= 500) {
			r->some_never = true;
			snprintf(r->error, sizeof(r->error), "%s: %s", r->left[i], result->error);
		}
		if (result->answer[i] >= 200 && result->answer[i] < 300)
			r->some_got_it = true;
		else if (result->answer[i] < 500)
			r->left[left++] = r->left[i];
	}
	r->left_count = left;
}

static void error_set(struct round *r, const char *error)
{
	snprintf(r->error, sizeof(r->error), "%s: %s", r->mail->server[r->server].host, error);
}

static void round_server(struct round *r);

static void on_done(void *ctx, const struct smtp_result *result)
{
	struct round *r = ctx;

	r->try = NULL;
	if (result->outcome == SMTP_TAKEN) {
		recipients_strike(r, result);
		if (!r->left_count) {
			round_end(r, ALERT_TAKEN);
			return;
		}
	}
	if (result->outcome != SMTP_TAKEN || !r->some_never)
		error_set(r, result->error);
	if (result->outcome == SMTP_UNSURE) {
		r->mail->unsure++;
		round_end(r, ALERT_UNSURE);
		return;
	}
	r->refused += result->outcome == SMTP_REFUSED;
	r->tried++;
	r->server = (r->server + 1) % r->mail->servers;
	if (r->tried < r->mail->servers)
		round_server(r);
	else if (r->some_got_it)
		round_end(r, ALERT_UNSURE);
	else
		round_end(r, r->refused == r->tried ? ALERT_REFUSED : ALERT_AGAIN);
}

static void round_server(struct round *r)
{
	struct mail *m = r->mail;
	struct smtp_mail mail = {.helo = m->helo[r->server],
		.from = m->from,
		.to = r->left,
		.to_count = r->left_count,
		.text = r->text,
		.length = r->length};

	r->try = smtp_try_new(m->smtp, &m->server[r->server], &mail, on_done, r);
	if (!r->try) {
		error_set(r, "not a name of a server, or no memory");
		round_end(r, ALERT_AGAIN);
	}
}

static bool is_named(const json_t *list, const char *address)
{
	const json_t *value;
	size_t index;

	json_array_foreach(list, index, value)
	{
		const char *name = json_string_value(value);

		if (name && !strcmp(name, address))
			return true;
	}
	return false;
}

/* Whom a message that some have got is still for: all, or those whom its state names. */
static void round_recipients(struct round *r, const json_t *left)
{
	for (unsigned i = 0; i < r->mail->to_count; i++)
		if (is_named(left, r->mail->to[i]))
			r->left[r->left_count++] = r->mail->to[i];
	if (r->left_count)
		return;
	r->left_count = r->mail->to_count;
	memcpy(r->left, r->mail->to, r->left_count * sizeof(*r->left));
}

static struct mail_head head(const struct mail *m)
{
	return (struct mail_head){.host = receiver_host(m->alert->receiver),
		.token = m->alert->token,
		.from = m->from,
		.to = m->to,
		.to_count = m->to_count,
		.now = (time_t)(clock_wall_ms() / 1000)};
}

static void round_start(struct round *r, const json_t *left)
{
	if (!r->text) {
		snprintf(r->error, sizeof(r->error), "no memory");
		round_end(r, ALERT_AGAIN);
		return;
	}
	round_recipients(r, left);
	r->server = r->mail->unsure % r->mail->servers;
	round_server(r);
}

static void mail_send(void *self, const struct digest_message *message)
{
	struct mail *m = self;
	struct mail_head h = head(m);

	m->message.some_got_it = message->left != NULL;
	m->message.text = mail_compose(&h, &m->alert->digest, message, &m->message.length);
	round_start(&m->message, message->left);
}

static void mail_test(void *self, uint64_t number)
{
	struct mail *m = self;
	struct mail_head h = head(m);

	if (m->test.try) {
		receiver_tested(m->alert->receiver, number, false, "a test is on its way");
		return;
	}
	m->test.test = number;
	m->test.text = mail_compose_test(&h, number, &m->test.length);
	round_start(&m->test, NULL);
}

static void mail_free(void *self)
{
	struct mail *m = self;

	round_clear(&m->message);
	round_clear(&m->test);
	smtp_free(m->smtp);
	json_decref(m->settings);
	free(m);
}

static void *mail_create(struct alert *a, const json_t *settings, const char **reason)
{
	struct mail *m = calloc(1, sizeof(*m));

	if (!m) {
		*reason = "no memory";
		return NULL;
	}
	*m = (struct mail){.alert = a, .settings = json_deep_copy(settings)};
	m->message.mail = m->test.mail = m;
	m->smtp = smtp_new(receiver_base(a->receiver));
	*reason = m->smtp && m->settings ? settings_get(m) : "no memory";
	if (!*reason)
		return m;
	mail_free(m);
	return NULL;
}

static const struct alert_sender sender = {
	.create = mail_create, .send = mail_send, .test = mail_test, .free = mail_free};

static void *create(struct receiver *r, const json_t *settings, const char **reason)
{
	return alert_new(r, &sender, settings, reason);
}

const struct receiver_kind receiver_mail = ALERT_RECEIVER("mail", create);
