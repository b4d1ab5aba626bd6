/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Protocols of lines: the server greets, we say a few words, it answers each, we leave. A dialogue is a list of steps: what
 * to send (NULL: nothing, the greeting is awaited) and which answers are good.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "monitor/mon.h"

#define LINE_MAX_BYTES 4096u

/* Sends the words of a step; a step whose text would have a line break in it is not sent. */
static enum mon_outcome say(struct mon_probe *p, const char *format, ...)
{
	char line[1024];
	va_list args;

	va_start(args, format);
	int n = vsnprintf(line, sizeof(line) - 2, format, args);
	va_end(args);
	if (n < 0 || n >= (int)sizeof(line) - 2 || strpbrk(line, "\r\n"))
		return mon_say(
			p, MON_NOTHING, "not probed: a field is too long or has a line break");
	memcpy(line + n, "\r\n", 2);
	mon_send(p, line, (size_t)n + 2);
	explicit_bzero(line, (size_t)n);
	return MON_MORE;
}

static const char *field(const struct mon_probe *p, enum mon_field f)
{
	return p->in->monitor->text[f];
}

static bool has(const struct mon_probe *p, enum mon_field f)
{
	return p->in->monitor->length[f] != 0;
}

static enum mon_outcome silent(struct mon_probe *p)
{
	return MON_MORE;
}

/* Takes lines one by one and gives them to next, until it has decided. */
static enum mon_outcome lines(struct mon_probe *p,
	enum mon_outcome (*next)(struct mon_probe *, const char *line, size_t length))
{
	enum mon_outcome outcome = MON_MORE;
	char *end;

	while (outcome == MON_MORE && p->length && (end = memchr(p->buf, '\n', p->length))) {
		size_t length = (size_t)(end - p->buf);

		*end = 0;
		if (length && p->buf[length - 1] == '\r')
			p->buf[--length] = 0;
		outcome = next(p, p->buf, length);
		mon_take(p, (size_t)(end + 1 - p->buf));
	}
	if (outcome == MON_MORE && p->length > LINE_MAX_BYTES)
		return mon_say(p, MON_BAD, "a line is too long");
	return outcome;
}

static enum mon_outcome bad(struct mon_probe *p, const char *line, size_t length)
{
	return mon_say_answer(p, MON_BAD, "the server says", line, length);
}

/* --- smtp, ftp, nntp: three digits, and a blank before the last line of an answer -------------------- */

/* The answer's code if this is its last line, 0 if more come, -1 if it is none. */
static int code_of(const char *line, size_t length)
{
	for (size_t i = 0; i < 3; i++)
		if (i >= length || line[i] < '0' || line[i] > '9')
			return length && (line[0] == ' ' || line[0] == '\t') ? 0 : -1;
	if (length > 3 && line[3] == '-')
		return 0;
	return atoi(line);
}

static enum mon_outcome smtp_line(struct mon_probe *p, const char *line, size_t length)
{
	int code = code_of(line, length);

	if (code == 0)
		return MON_MORE;
	switch (p->step++) {
	case 0:
		if (code != 220)
			return bad(p, line, length);
		return say(p, "HELO %s",
			has(p, MON_F_DOMAIN) ? field(p, MON_F_DOMAIN) : "bigip.local");
	default:
		if (code != 250)
			return bad(p, line, length);
		say(p, "QUIT");
		return MON_GOOD;
	}
}

static enum mon_outcome smtp_input(struct mon_probe *p, const char *b, size_t n, bool end)
{
	return lines(p, smtp_line);
}

const struct mon_type mon_smtp = {
	.name = "smtp", .stream = true, .port = 25, .open = silent, .input = smtp_input};

/* Log in, and the file can be had: SIZE says so without a second connection. */
static enum mon_outcome ftp_line(struct mon_probe *p, const char *line, size_t length)
{
	int code = code_of(line, length);

	if (code == 0)
		return MON_MORE;
	switch (p->step++) {
	case 0:
		if (code != 220)
			return bad(p, line, length);
		return say(p, "USER %s",
			has(p, MON_F_USERNAME) ? field(p, MON_F_USERNAME) : "anonymous");
	case 1:
		if (code == 331)
			return say(p, "PASS %s", field(p, MON_F_PASSWORD));
		p->step++;
		/* fall through */
	case 2:
		if (code != 230)
			return bad(p, line, length);
		if (!has(p, MON_F_SEND))
			break;
		return say(p, "SIZE %s", field(p, MON_F_SEND));
	default:
		if (code != 213)
			return bad(p, line, length);
	}
	say(p, "QUIT");
	return MON_GOOD;
}

static enum mon_outcome ftp_input(struct mon_probe *p, const char *b, size_t n, bool end)
{
	return lines(p, ftp_line);
}

const struct mon_type mon_ftp = {
	.name = "ftp", .stream = true, .port = 21, .open = silent, .input = ftp_input};

static enum mon_outcome nntp_line(struct mon_probe *p, const char *line, size_t length)
{
	int code = code_of(line, length);

	switch (p->step++) {
	case 0:
		if (code != 200 && code != 201)
			return bad(p, line, length);
		if (has(p, MON_F_USERNAME))
			return say(p, "AUTHINFO USER %s", field(p, MON_F_USERNAME));
		p->step = 3;
		break;
	case 1:
		if (code == 381)
			return say(p, "AUTHINFO PASS %s", field(p, MON_F_PASSWORD));
		p->step++;
		/* fall through */
	case 2:
		if (code != 281)
			return bad(p, line, length);
		break;
	default:
		return code == 211 ? MON_GOOD : bad(p, line, length);
	}
	if (!has(p, MON_F_NEWSGROUP))
		return MON_GOOD;
	p->step = 3;
	return say(p, "GROUP %s", field(p, MON_F_NEWSGROUP));
}

static enum mon_outcome nntp_input(struct mon_probe *p, const char *b, size_t n, bool end)
{
	return lines(p, nntp_line);
}

const struct mon_type mon_nntp = {
	.name = "nntp", .stream = true, .port = 119, .open = silent, .input = nntp_input};

/* --- pop3, imap ------------------------------------------------------------------------------------- */

static enum mon_outcome pop3_line(struct mon_probe *p, const char *line, size_t length)
{
	if (strncmp(line, "+OK", 3))
		return bad(p, line, length);
	switch (p->step++) {
	case 0:
		if (has(p, MON_F_USERNAME))
			return say(p, "USER %s", field(p, MON_F_USERNAME));
		break;
	case 1:
		return say(p, "PASS %s", field(p, MON_F_PASSWORD));
	default:
		break;
	}
	say(p, "QUIT");
	return MON_GOOD;
}

static enum mon_outcome pop3_input(struct mon_probe *p, const char *b, size_t n, bool end)
{
	return lines(p, pop3_line);
}

const struct mon_type mon_pop3 = {
	.name = "pop3", .stream = true, .port = 110, .open = silent, .input = pop3_input};

/* A text as IMAP's quoted string (RFC 9051, 4.3); those with line breaks are refused by say(). */
static const char *imap_quote(char out[512], const char *text)
{
	size_t n = 0;

	for (; *text && n < 508; text++) {
		if (*text == '"' || *text == '\\')
			out[n++] = '\\';
		out[n++] = *text;
	}
	out[n] = 0;
	return out;
}

static enum mon_outcome imap_line(struct mon_probe *p, const char *line, size_t length)
{
	char user[512], password[512];

	if (p->step == 0) {
		if (strncasecmp(line, "* OK", 4) && strncasecmp(line, "* PREAUTH", 9))
			return bad(p, line, length);
		p->step = has(p, MON_F_USERNAME) ? 1 : 3;
		if (p->step == 3) {
			say(p, "a LOGOUT");
			return MON_GOOD;
		}
		enum mon_outcome outcome =
			say(p, "a LOGIN \"%s\" \"%s\"", imap_quote(user, field(p, MON_F_USERNAME)),
				imap_quote(password, field(p, MON_F_PASSWORD)));
		explicit_bzero(password, sizeof(password));
		return outcome;
	}
	if (strncasecmp(line, "a ", 2))
		return MON_MORE; /* untagged */
	if (strncasecmp(line, "a OK", 4))
		return bad(p, line, length);
	if (p->step++ == 1)
		return say(p, "a EXAMINE \"%s\"",
			imap_quote(user, has(p, MON_F_FOLDER) ? field(p, MON_F_FOLDER) : "INBOX"));
	say(p, "a LOGOUT");
	return MON_GOOD;
}

static enum mon_outcome imap_input(struct mon_probe *p, const char *b, size_t n, bool end)
{
	return lines(p, imap_line);
}

const struct mon_type mon_imap = {
	.name = "imap", .stream = true, .port = 143, .open = silent, .input = imap_input};

/* --- redis: inline commands, RESP answers ----------------------------------------------------------- */

static enum mon_outcome redis_arg(struct mon_probe *p, const char *const *words, unsigned count)
{
	char head[32];

	mon_send(p, head, (size_t)snprintf(head, sizeof(head), "*%u\r\n", count));
	for (unsigned i = 0; i < count; i++) {
		size_t length = strlen(words[i]);

		mon_send(p, head, (size_t)snprintf(head, sizeof(head), "$%zu\r\n", length));
		mon_send(p, words[i], length);
		mon_send(p, "\r\n", 2);
	}
	return MON_MORE;
}

static enum mon_outcome redis_ask(struct mon_probe *p)
{
	const char *const ping[] = {"PING"}, *const get[] = {"GET", field(p, MON_F_SEND)};

	p->step = has(p, MON_F_SEND) ? 2 : 1;
	return p->step == 2 ? redis_arg(p, get, 2) : redis_arg(p, ping, 1);
}

static enum mon_outcome redis_open(struct mon_probe *p)
{
	const char *words[3] = {"AUTH"};
	unsigned count = 1;

	if (!has(p, MON_F_PASSWORD))
		return redis_ask(p);
	if (has(p, MON_F_USERNAME))
		words[count++] = field(p, MON_F_USERNAME);
	words[count++] = field(p, MON_F_PASSWORD);
	return redis_arg(p, words, count);
}

static enum mon_outcome redis_line(struct mon_probe *p, const char *line, size_t length)
{
	switch (p->step) {
	case 0:
		return strncmp(line, "+OK", 3) ? bad(p, line, length) : redis_ask(p);
	case 1:
		return strncmp(line, "+PONG", 5) ? bad(p, line, length) : MON_GOOD;
	case 2:
		if (line[0] != '$' || line[1] == '-')
			return bad(p, line, length);
		p->step++;
		return p->in->monitor->recv || p->in->monitor->recv_disable ? MON_MORE : MON_GOOD;
	default:
		return mon_judge(p, line, length, true);
	}
}

static enum mon_outcome redis_input(struct mon_probe *p, const char *b, size_t n, bool end)
{
	return lines(p, redis_line);
}

const struct mon_type mon_redis = {
	.name = "redis", .stream = true, .port = 6379, .open = redis_open, .input = redis_input};
