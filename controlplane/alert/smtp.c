/* SPDX-License-Identifier: BSD-3-Clause */
#include "alert/smtp.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "alert/incident.h"
#include "alert/smtp_loop.h"
#include "base/ipaddr.h"
#include "resolve/resolve_lookup.h"

enum { HOST_MAX = 253, ADDRESSES_MAX = 8, URL_MAX = 700 };

/* What the next answer of the server is to. */
enum stage { STAGE_GREETING, STAGE_OTHER, STAGE_LOGIN, STAGE_RECIPIENT, STAGE_BODY };

struct smtp {
	struct smtp_loop *loop;
};

struct smtp_try {
	struct smtp *owner;
	CURL *easy;
	bool running; /* easy is in the loop */
	struct curl_slist *to, *resolve;
	struct resolve_lookup *lookup;
	char *host, *text;
	uint16_t port;
	size_t length, at;
	uint8_t stage;	    /* enum stage */
	bool quitting;	    /* what the server says now does not matter */
	bool sent_all;	    /* of the text */
	unsigned recipient; /* the next that will be asked for */
	unsigned to_count;
	uint16_t code; /* of the newest answer, 0: none to the last command */
	struct smtp_result result;
	smtp_done done;
	void *ctx;
};

/* --- what is said --------------------------------------------------------------------------------- */

static void said(struct smtp_try *t, const char *bytes, size_t length)
{
	while (length && isspace((unsigned char)bytes[length - 1]))
		length--;
	snprintf(t->result.error, sizeof(t->result.error), "%.*s", (int)length, bytes);
	incident_clean(t->result.error);
}

static bool begins(const char *bytes, size_t length, const char *with)
{
	return length >= strlen(with) && !strncasecmp(bytes, with, strlen(with));
}

static void command(struct smtp_try *t, const char *bytes, size_t length)
{
	t->quitting = begins(bytes, length, "QUIT");
	if (t->quitting)
		return;
	t->code = 0;
	if (begins(bytes, length, "RCPT TO:"))
		t->stage = STAGE_RECIPIENT;
	else if (begins(bytes, length, "AUTH "))
		t->stage = STAGE_LOGIN;
	else if (t->stage != STAGE_LOGIN || begins(bytes, length, "MAIL FROM:"))
		t->stage = STAGE_OTHER;
}

/* The last line of an answer: three digits and no hyphen. */
static void answer(struct smtp_try *t, const char *bytes, size_t length)
{
	if (t->quitting || length < 3 || !isdigit((unsigned char)bytes[0]) ||
		!isdigit((unsigned char)bytes[1]) || !isdigit((unsigned char)bytes[2]) ||
		(length > 3 && bytes[3] == '-'))
		return;
	t->code = (uint16_t)((bytes[0] - '0') * 100 + (bytes[1] - '0') * 10 + (bytes[2] - '0'));
	if (t->code >= 400)
		said(t, bytes, length);
	if (t->stage == STAGE_RECIPIENT && t->recipient < t->to_count)
		t->result.answer[t->recipient++] = t->code;
}

/* libcurl tells neither which recipient was refused nor whether the end of the text was answered. */
static int on_debug(CURL *easy, curl_infotype type, char *bytes, size_t length, void *ctx)
{
	struct smtp_try *t = ctx;

	if (type == CURLINFO_HEADER_OUT)
		command(t, bytes, length);
	else if (type == CURLINFO_HEADER_IN)
		answer(t, bytes, length);
	return 0;
}

static size_t on_read(char *out, size_t size, size_t count, void *ctx)
{
	struct smtp_try *t = ctx;
	size_t left = t->length - t->at, take = size * count < left ? size * count : left;

	memcpy(out, t->text + t->at, take);
	t->at += take;
	if (t->at == t->length && !t->sent_all) {
		t->sent_all = true;
		t->stage = STAGE_BODY;
		t->code = 0; /* DATA's 354 is past */
	}
	return take;
}

static size_t on_write(char *bytes, size_t size, size_t count, void *ctx)
{
	return size * count;
}

static enum smtp_outcome outcome(const struct smtp_try *t, CURLcode code)
{
	bool all_refused = t->to_count > 0;

	if (code == CURLE_OK)
		return SMTP_TAKEN;
	if (t->stage == STAGE_BODY && t->code < 400)
		return SMTP_UNSURE;
	if (t->stage == STAGE_LOGIN || code == CURLE_LOGIN_DENIED)
		return SMTP_LATER; /* the password may be put right */
	for (unsigned i = 0; i < t->to_count; i++)
		all_refused = all_refused && t->result.answer[i] >= 500;
	return all_refused || (t->code >= 500 && t->stage != STAGE_GREETING &&
				      t->stage != STAGE_RECIPIENT)
		       ? SMTP_REFUSED
		       : SMTP_LATER;
}

/* --- begin and end -------------------------------------------------------------------------------- */

static void try_end(struct smtp_try *t)
{
	struct smtp_result result = t->result;
	smtp_done done = t->done;
	void *ctx = t->ctx;

	smtp_try_free(t);
	done(ctx, &result);
}

static void on_ended(CURL *easy, CURLcode code)
{
	struct smtp_try *t = NULL;

	curl_easy_getinfo(easy, CURLINFO_PRIVATE, &t);
	t->running = false;
	t->result.outcome = outcome(t, code);
	if (code != CURLE_OK && (t->code < 400 || !t->result.error[0]))
		said(t, curl_easy_strerror(code), strlen(curl_easy_strerror(code)));
	try_end(t);
}

static void failed(struct smtp_try *t, const char *reason)
{
	t->result.outcome = SMTP_LATER;
	said(t, reason, strlen(reason));
	try_end(t);
}

static void on_found(void *ctx, const struct resolve_found *found)
{
	struct smtp_try *t = ctx;
	char text[HOST_MAX + 16 + ADDRESSES_MAX * (IP_ADDR_TEXT + 3)], address[IP_ADDR_TEXT];
	int at = snprintf(text, sizeof(text), "%s:%u:", t->host, t->port);

	if (!found->count) {
		char reason[200];

		snprintf(reason, sizeof(reason), "%s: %s", t->host,
			found->error[0] ? found->error : "the name has no address");
		failed(t, reason);
		return;
	}
	for (unsigned i = 0; i < found->count && i < ADDRESSES_MAX; i++) {
		bool v4 = ip_is_v4(&found->addr[i]);

		at += snprintf(text + at, sizeof(text) - (size_t)at, "%s%s%s%s", i ? "," : "",
			v4 ? "" : "[", ip_format(&found->addr[i], address), v4 ? "" : "]");
	}
	resolve_lookup_free(t->lookup);
	t->lookup = NULL;
	t->resolve = curl_slist_append(NULL, text);
	if (!t->resolve || curl_easy_setopt(t->easy, CURLOPT_RESOLVE, t->resolve) ||
		smtp_loop_add(t->owner->loop, t->easy)) {
		failed(t, "no memory");
		return;
	}
	t->running = true;
}

/* Our name in EHLO is the path of the URL: only letters of a domain name. */
static void url_make(const struct smtp_try *t, const struct smtp_server *s, const char *helo,
	bool v6, char out[URL_MAX])
{
	char name[HOST_MAX + 1];
	size_t length = 0;

	for (const char *p = helo; *p && length < HOST_MAX; p++)
		if (isalnum((unsigned char)*p) || (length && strchr("-.", *p)))
			name[length++] = *p;
	name[length] = 0;
	snprintf(out, URL_MAX, "%s://%s%s%s:%u/%s", s->encryption == SMTP_TLS ? "smtps" : "smtp",
		v6 ? "[" : "", t->host, v6 ? "]" : "", t->port, length ? name : "localhost");
}

static bool is_host(const char *host)
{
	return *host && strlen(host) <= HOST_MAX &&
	       strspn(host, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._:") ==
		       strlen(host);
}

static void options_common(struct smtp_try *t)
{
	CURL *e = t->easy;

	curl_easy_setopt(e, CURLOPT_PRIVATE, t);
	curl_easy_setopt(e, CURLOPT_NOSIGNAL, 1L);
	curl_easy_setopt(e, CURLOPT_PROXY, "");
	curl_easy_setopt(e, CURLOPT_PROTOCOLS_STR, "smtp,smtps");
	curl_easy_setopt(e, CURLOPT_FORBID_REUSE, 1L);
	curl_easy_setopt(e, CURLOPT_FRESH_CONNECT, 1L);
	curl_easy_setopt(e, CURLOPT_VERBOSE, 1L);
	curl_easy_setopt(e, CURLOPT_DEBUGFUNCTION, on_debug);
	curl_easy_setopt(e, CURLOPT_DEBUGDATA, t);
	curl_easy_setopt(e, CURLOPT_WRITEFUNCTION, on_write);
	curl_easy_setopt(e, CURLOPT_READFUNCTION, on_read);
	curl_easy_setopt(e, CURLOPT_READDATA, t);
	curl_easy_setopt(e, CURLOPT_UPLOAD, 1L);
	curl_easy_setopt(e, CURLOPT_INFILESIZE_LARGE, (curl_off_t)t->length);
	curl_easy_setopt(e, CURLOPT_MAIL_RCPT_ALLLOWFAILS, 1L);
}

static bool options_server(struct smtp_try *t, const struct smtp_server *s)
{
	CURL *e = t->easy;
	CURLcode rc = CURLE_OK;

	if (s->encryption == SMTP_STARTTLS)
		curl_easy_setopt(e, CURLOPT_USE_SSL, (long)CURLUSESSL_ALL);
	curl_easy_setopt(e, CURLOPT_CONNECTTIMEOUT,
		(long)(s->timeout_s < SMTP_CONNECT_S ? s->timeout_s : SMTP_CONNECT_S));
	curl_easy_setopt(e, CURLOPT_SERVER_RESPONSE_TIMEOUT, (long)s->timeout_s);
	curl_easy_setopt(e, CURLOPT_TIMEOUT, (long)s->timeout_s);
	if (s->ca) {
		struct curl_blob pem = {(void *)s->ca, strlen(s->ca), CURL_BLOB_COPY};

		rc = curl_easy_setopt(e, CURLOPT_CAINFO_BLOB, &pem);
	}
	if (rc == CURLE_OK && s->user) {
		/* Not those that ask files and further servers, whatever the server offers. */
		rc = curl_easy_setopt(
			e, CURLOPT_LOGIN_OPTIONS, "AUTH=PLAIN;AUTH=LOGIN;AUTH=CRAM-MD5");
		rc = rc ? rc : curl_easy_setopt(e, CURLOPT_USERNAME, s->user);
		rc = rc ? rc
			: curl_easy_setopt(e, CURLOPT_PASSWORD, s->password ? s->password : "");
	}
	return rc == CURLE_OK;
}

static bool options_mail(struct smtp_try *t, const struct smtp_mail *mail)
{
	if (!mail_address_valid(mail->from) || !mail->to_count ||
		mail->to_count > MAIL_RECIPIENTS_MAX)
		return false;
	for (unsigned i = 0; i < mail->to_count; i++) {
		struct curl_slist *more = mail_address_valid(mail->to[i])
						  ? curl_slist_append(t->to, mail->to[i])
						  : NULL;

		if (!more)
			return false;
		t->to = more;
	}
	return curl_easy_setopt(t->easy, CURLOPT_MAIL_RCPT, t->to) == CURLE_OK &&
	       curl_easy_setopt(t->easy, CURLOPT_MAIL_FROM, mail->from) == CURLE_OK;
}

static bool try_init(
	struct smtp_try *t, const struct smtp_server *server, const struct smtp_mail *mail)
{
	struct resolve_servers system = {0};
	struct ip_addr address;
	char url[URL_MAX];
	bool numeric = ip_parse(server->host, &address) == 0;

	t->easy = curl_easy_init();
	t->host = strdup(server->host);
	t->text = malloc(mail->length + 1);
	if (!t->easy || !t->host || !t->text)
		return false;
	memcpy(t->text, mail->text, mail->length);
	options_common(t);
	url_make(t, server, mail->helo, numeric && !ip_is_v4(&address), url);
	if (!options_server(t, server) || !options_mail(t, mail) ||
		curl_easy_setopt(t->easy, CURLOPT_URL, url))
		return false;
	if (numeric) {
		t->running = smtp_loop_add(t->owner->loop, t->easy) == 0;
		return t->running;
	}
	t->lookup = resolve_lookup_new(
		smtp_loop_base(t->owner->loop), &system, t->host, RESOLVE_ALL, on_found, t);
	return t->lookup != NULL;
}

struct smtp_try *smtp_try_new(struct smtp *s, const struct smtp_server *server,
	const struct smtp_mail *mail, smtp_done done, void *ctx)
{
	struct smtp_try *t = is_host(server->host) ? calloc(1, sizeof(*t)) : NULL;

	if (!t)
		return NULL;
	*t = (struct smtp_try){.owner = s,
		.port = server->port,
		.length = mail->length,
		.to_count = mail->to_count,
		.done = done,
		.ctx = ctx};
	if (try_init(t, server, mail))
		return t;
	smtp_try_free(t);
	return NULL;
}

void smtp_try_free(struct smtp_try *t)
{
	if (!t)
		return;
	if (t->running)
		smtp_loop_remove(t->owner->loop, t->easy);
	resolve_lookup_free(t->lookup);
	curl_easy_cleanup(t->easy);
	curl_slist_free_all(t->to);
	curl_slist_free_all(t->resolve);
	free(t->host);
	free(t->text);
	free(t);
}

struct smtp *smtp_new(struct event_base *base)
{
	struct smtp *s = curl_global_init(CURL_GLOBAL_DEFAULT) ? NULL : calloc(1, sizeof(*s));

	if (s)
		s->loop = smtp_loop_new(base, on_ended);
	if (s && s->loop)
		return s;
	free(s);
	return NULL;
}

void smtp_free(struct smtp *s)
{
	if (!s)
		return;
	smtp_loop_free(s->loop);
	free(s);
	curl_global_cleanup();
}
