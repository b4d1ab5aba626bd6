/* SPDX-License-Identifier: BSD-3-Clause */
#include "alert/mail_text.h"

#include <ctype.h>
#include <inttypes.h>
#include <openssl/evp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "alert/alert_text.h"

enum {
	LINE_MAX_QP = 76,   /* RFC 2045, 6.7 */
	ENCODED_BYTES = 42, /* in one encoded word: 75 characters at most (RFC 2047, 2) */
	HOST_MAX = 253,
};

bool mail_address_valid(const char *address)
{
	const char *at = strrchr(address, '@');

	if (!at || at == address || !at[1] || strlen(address) > 254)
		return false;
	for (const char *p = address; *p; p++)
		if (!isgraph((unsigned char)*p) || strchr("<>()[],;:\\\"", *p) ||
			(*p == '@' && p != at))
			return false;
	return true;
}

/* --- headers -------------------------------------------------------------------------------------- */

/* A name that may stand in a Message-ID. */
static void put_domain(FILE *out, const char *host)
{
	bool any = false;

	for (const char *p = host; *p && p - host < HOST_MAX; p++)
		if (isalnum((unsigned char)*p) ||
			(any && p[1] && strchr("-.", *p) && p[-1] != '.')) {
			fputc(*p, out);
			any = true;
		}
	if (!any)
		fputs("localhost", out);
}

static void put_id(FILE *out, const struct mail_head *h, uint64_t number)
{
	fprintf(out, "<weir.%s.%" PRIu64 "@", h->token, number);
	put_domain(out, h->host);
	fputc('>', out);
}

static void put_date(FILE *out, time_t now)
{
	static const char *const days[] = {"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
	static const char *const months[] = {
		"Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
	struct tm t;
	char zone[8];

	localtime_r(&now, &t);
	strftime(zone, sizeof(zone), "%z", &t);
	fprintf(out, "Date: %s, %d %s %d %02d:%02d:%02d %s\r\n", days[t.tm_wday], t.tm_mday,
		months[t.tm_mon], t.tm_year + 1900, t.tm_hour, t.tm_min, t.tm_sec, zone);
}

/* Encoded words, each with whole characters, a line each. */
static void put_encoded(FILE *out, const char *text)
{
	unsigned char word[ENCODED_BYTES / 3 * 4 + 1];

	for (size_t left = strlen(text), take; left; text += take, left -= take) {
		take = left < ENCODED_BYTES ? left : ENCODED_BYTES;
		while (take < left && take > 1 && ((unsigned char)text[take] & 0xc0) == 0x80)
			take--;
		EVP_EncodeBlock(word, (const unsigned char *)text, (int)take);
		fprintf(out, "=?utf-8?B?%s%s", word, take < left ? "?=\r\n " : "?=");
	}
}

/* Plain words, folded at blanks. */
static void put_folded(FILE *out, const char *text, size_t column)
{
	while (*text) {
		size_t word = strcspn(text + 1, " ") + 1;

		if (column + word > LINE_MAX_QP && *text == ' ' && word > 1) {
			fputs("\r\n", out);
			column = 0;
		}
		fwrite(text, 1, word, out);
		column += word;
		text += word;
	}
}

/* Is it plain, and does it not look encoded? A word too long for a line is better encoded, too. */
static bool is_plain(const char *text)
{
	size_t word = 0;

	for (const char *p = text; *p; p++) {
		word = *p == ' ' ? 0 : word + 1;
		if ((unsigned char)*p >= 0x7f || (unsigned char)*p < ' ' || word > LINE_MAX_QP)
			return false;
	}
	return !strstr(text, "=?");
}

static void put_subject(FILE *out, const struct mail_head *h, const char *subject)
{
	char text[MAIL_SUBJECT_MAX + HOST_MAX + 16];

	snprintf(text, sizeof(text), "[weir %.*s] %s", HOST_MAX, h->host, subject);
	incident_clean(text);
	fputs("Subject: ", out);
	if (is_plain(text))
		put_folded(out, text, sizeof("Subject: ") - 1);
	else
		put_encoded(out, text);
	fputs("\r\n", out);
}

static bool put_addresses(FILE *out, const struct mail_head *h)
{
	if (!mail_address_valid(h->from) || h->to_count == 0)
		return false;
	fprintf(out, "From: Weir <%s>\r\nTo: ", h->from);
	for (unsigned i = 0; i < h->to_count; i++) {
		if (!mail_address_valid(h->to[i]))
			return false;
		fprintf(out, "%s<%s>", i ? ",\r\n " : "", h->to[i]);
	}
	fputs("\r\n", out);
	return true;
}

/* Auto-Submitted (RFC 3834) keeps absence notes from answering. */
static bool put_head(FILE *out, const struct mail_head *h, const char *subject)
{
	if (!put_addresses(out, h))
		return false;
	put_subject(out, h, subject);
	put_date(out, h->now);
	fputs("Auto-Submitted: auto-generated\r\nPrecedence: bulk\r\nMIME-Version: 1.0\r\n"
	      "Content-Type: text/plain; charset=utf-8\r\n"
	      "Content-Transfer-Encoding: quoted-printable\r\n",
		out);
	return true;
}

/* The messages that told of the incidents, each once. */
static void put_references(FILE *out, const struct mail_head *h, const struct digest *d)
{
	static const char *const names[] = {"In-Reply-To:", "References:"};
	uint64_t numbers[MAIL_REFERENCES_MAX];
	const struct incident *i;
	unsigned count = 0, k;

	for (uint64_t n = 0; count < MAIL_REFERENCES_MAX && (i = digest_sent(d, n));
		n = i->number) {
		for (k = 0; k < count && numbers[k] != i->message; k++)
			;
		if (i->message && k == count)
			numbers[count++] = i->message;
	}
	for (unsigned name = 0; count && name < 2; name++) {
		fputs(names[name], out);
		for (k = 0; k < count; k++) {
			fputs(k ? "\r\n " : " ", out);
			put_id(out, h, numbers[k]);
		}
		fputs("\r\n", out);
	}
}

/* --- body ----------------------------------------------------------------------------------------- */

/* Quoted-printable: also "." and "From " at a line's begin, which relays change. */
static void put_body(FILE *out, const char *text)
{
	unsigned column = 0;

	for (const char *p = text; *p; p++) {
		unsigned char c = (unsigned char)*p;
		bool ends = p[1] == '\n' || !p[1];
		bool quoted = c == '=' || c < ' ' || c > '~' || (c == ' ' && ends) ||
			      (!column && (c == '.' || c == 'F'));

		if (c == '\n') {
			fputs("\r\n", out);
			column = 0;
			continue;
		}
		if (column + (quoted ? 3 : 1) > LINE_MAX_QP - 1) {
			fputs("=\r\n", out);
			column = 0;
			quoted = quoted || c == '.' || c == 'F';
		}
		column += (unsigned)(quoted ? fprintf(out, "=%02X", c) : fprintf(out, "%c", c));
	}
}

static char *finished(FILE *out, char **text, bool ok)
{
	if (fclose(out) == 0 && ok)
		return *text;
	free(*text);
	return NULL;
}

/* alert_body cannot fail but for memory, and then the stream says so. */
static char *body_text(
	const struct mail_head *h, const struct digest *d, const struct digest_message *m)
{
	size_t length;
	char *text = NULL;
	FILE *out = open_memstream(&text, &length);

	if (!out)
		return NULL;
	alert_body(out, h->host, d, m);
	return finished(out, &text, true);
}

char *mail_compose(const struct mail_head *h, const struct digest *d,
	const struct digest_message *m, size_t *length)
{
	char *text = NULL, *body = body_text(h, d, m), subject[MAIL_SUBJECT_MAX];
	FILE *out = body ? open_memstream(&text, length) : NULL;

	if (!out) {
		free(body);
		return NULL;
	}
	alert_subject(d, m, subject, sizeof(subject));
	bool ok = put_head(out, h, subject);
	fputs("Message-ID: ", out);
	put_id(out, h, m->number);
	fputs("\r\n", out);
	put_references(out, h, d);
	fputs("\r\n", out);
	put_body(out, body);
	free(body);
	return finished(out, &text, ok);
}

char *mail_compose_test(const struct mail_head *h, uint64_t number, size_t *length)
{
	char *text = NULL;
	FILE *out = open_memstream(&text, length);

	if (!out)
		return NULL;
	bool ok = put_head(out, h, "test");
	fprintf(out, "Message-ID: <weir.%s.test.%" PRIu64 ".%lld@", h->token, number,
		(long long)h->now);
	put_domain(out, h->host);
	fputs(">\r\n\r\n", out);
	put_body(out, "This message was asked for by an administrator to try the way of mail. "
		      "Nothing has "
		      "happened.\n");
	return finished(out, &text, ok);
}
