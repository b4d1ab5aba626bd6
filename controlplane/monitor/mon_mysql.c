/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * mysql: the server's greeting; with a user name also a log-in with mysql_native_password, as MariaDB and most
 * monitoring accounts use it, and with send a query (MySQL's client/server protocol, packets of version 10).
 */
#include <openssl/evp.h>
#include <string.h>

#include "monitor/mon.h"

#define LOGIN_FLAGS                                                                                \
	0x0008a205u /* long password, protocol 4.1, transactions, secure, plugin names */
#define CONNECT_WITH_DB 0x8u
#define SCRAMBLE 20u

static void packet_send(
	struct mon_probe *p, unsigned number, const unsigned char *body, size_t length)
{
	const unsigned char head[4] = {
		(unsigned char)length, (unsigned char)(length >> 8), 0, (unsigned char)number};

	mon_send(p, head, 4);
	mon_send(p, body, length);
}

static void sha1(const void *a, size_t a_length, const void *b, size_t b_length, unsigned char *out)
{
	EVP_MD_CTX *ctx = EVP_MD_CTX_new();

	memset(out, 0, SCRAMBLE);
	if (ctx && EVP_DigestInit_ex(ctx, EVP_sha1(), NULL)) {
		EVP_DigestUpdate(ctx, a, a_length);
		EVP_DigestUpdate(ctx, b, b_length);
		EVP_DigestFinal_ex(ctx, out, NULL);
	}
	EVP_MD_CTX_free(ctx);
}

/* SHA1(password) xor SHA1(salt, SHA1(SHA1(password))); nothing for no password. */
static size_t scramble(const struct mon_monitor *m, const unsigned char *salt, unsigned char *out)
{
	unsigned char once[SCRAMBLE], twice[SCRAMBLE];

	if (!m->length[MON_F_PASSWORD])
		return 0;
	sha1(m->text[MON_F_PASSWORD], m->length[MON_F_PASSWORD], "", 0, once);
	sha1(once, SCRAMBLE, "", 0, twice);
	sha1(salt, SCRAMBLE, twice, SCRAMBLE, out);
	for (size_t i = 0; i < SCRAMBLE; i++)
		out[i] ^= once[i];
	return SCRAMBLE;
}

/* Where the two parts of the salt are in a greeting. False: it is none. */
static bool greeting_salt(const unsigned char *body, size_t length, unsigned char *salt)
{
	const unsigned char *end = length > 1 ? memchr(body + 1, 0, length - 1) : NULL;

	if (body[0] != 10 || !end)
		return false;
	size_t at = (size_t)(end - body) + 1 + 4;
	if (at + 8 + 1 + 18 + 12 > length)
		return false;
	memcpy(salt, body + at, 8);
	memcpy(salt + 8, body + at + 8 + 1 + 18, 12);
	return true;
}

static enum mon_outcome login(struct mon_probe *p, const unsigned char *body, size_t length)
{
	const struct mon_monitor *m = p->in->monitor;
	unsigned char answer[1024] = {0}, salt[SCRAMBLE];
	unsigned flags = LOGIN_FLAGS | (m->length[MON_F_DATABASE] ? CONNECT_WITH_DB : 0);
	size_t at = 32;

	if (!greeting_salt(body, length, salt))
		return mon_say(p, MON_BAD, "mysql: not its greeting");
	if (!m->length[MON_F_USERNAME])
		return MON_GOOD;
	for (int i = 0; i < 4; i++)
		answer[i] = (unsigned char)(flags >> 8 * i);
	answer[7] = 1;	/* largest packet: 16 MiB */
	answer[8] = 33; /* utf8 */
	memcpy(answer + at, m->text[MON_F_USERNAME], m->length[MON_F_USERNAME]);
	at += m->length[MON_F_USERNAME] + 1;
	answer[at] = (unsigned char)scramble(m, salt, answer + at + 1);
	at += 1u + answer[at];
	if (m->length[MON_F_DATABASE]) {
		memcpy(answer + at, m->text[MON_F_DATABASE], m->length[MON_F_DATABASE]);
		at += m->length[MON_F_DATABASE] + 1;
	}
	memcpy(answer + at, "mysql_native_password", 22);
	packet_send(p, 1, answer, at + 22);
	p->step = 1;
	return MON_MORE;
}

static enum mon_outcome query(struct mon_probe *p)
{
	const struct mon_monitor *m = p->in->monitor;
	unsigned char body[4097] = {3};

	if (!m->length[MON_F_SEND])
		return MON_GOOD;
	memcpy(body + 1, m->text[MON_F_SEND], m->length[MON_F_SEND]);
	packet_send(p, 0, body, m->length[MON_F_SEND] + 1);
	p->step = 2;
	return MON_MORE;
}

static enum mon_outcome refused(struct mon_probe *p, const unsigned char *body, size_t length)
{
	size_t skip = length > 9 && body[3] == '#' ? 9 : length > 3 ? 3 : length;

	return mon_say_answer(p, MON_BAD, "mysql", (const char *)body + skip, length - skip);
}

static enum mon_outcome packet_judge(struct mon_probe *p, const unsigned char *body, size_t length)
{
	if (!length)
		return mon_say(p, MON_BAD, "mysql: damaged packet");
	if (body[0] == 0xff)
		return refused(p, body, length);
	switch (p->step) {
	case 0:
		return login(p, body, length);
	case 1:
		if (body[0])
			return mon_say(p, MON_BAD, "mysql: the user has no mysql_native_password");
		return query(p);
	default:
		if (!p->in->monitor->recv)
			return MON_GOOD;
		/* Columns and rows both end with such a packet. */
		if (body[0] == 0xfe && length < 9 && ++p->step == 4)
			return mon_say(p, MON_BAD, "recv did not match");
		return mon_judge(p, (const char *)body, length, false);
	}
}

static enum mon_outcome mysql_input(struct mon_probe *p, const char *b, size_t n, bool end)
{
	enum mon_outcome outcome = MON_MORE;

	while (outcome == MON_MORE && p->length >= 4) {
		const unsigned char *head = (const unsigned char *)p->buf;
		size_t length = (size_t)head[0] | (size_t)head[1] << 8 | (size_t)head[2] << 16;

		if (p->length - 4 < length)
			break;
		outcome = packet_judge(p, head + 4, length);
		mon_take(p, 4 + length);
	}
	return outcome;
}

static enum mon_outcome mysql_open(struct mon_probe *p)
{
	p->limit = 65536; /* a row */
	return MON_MORE;
}

static int mysql_check(struct mon_monitor *m, struct mon_fault *fault)
{
	if (m->length[MON_F_USERNAME] > 256)
		return mon_fault(fault, "username", "must have at most 256 bytes");
	if (m->length[MON_F_DATABASE] > 256)
		return mon_fault(fault, "database", "must have at most 256 bytes");
	if (m->length[MON_F_SEND] > 4096)
		return mon_fault(fault, "send", "must have at most 4096 bytes");
	return 0;
}

const struct mon_type mon_mysql = {.name = "mysql",
	.stream = true,
	.port = 3306,
	.check = mysql_check,
	.open = mysql_open,
	.input = mysql_input};
