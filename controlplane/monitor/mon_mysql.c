/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * mysql: the server's greeting; with a user name also a log-in with mysql_native_password (MariaDB's usual one) or
 * caching_sha2_password (MySQL's), and with send a query (MySQL's client/server protocol, packets of version 10).
 */
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rsa.h>
#include <string.h>

#include "monitor/mon.h"

#define LOGIN_FLAGS                                                                                \
	0x0008a205u /* long password, protocol 4.1, transactions, secure, plugin names */
#define CONNECT_WITH_DB 0x8u
#define SALT 20u
#define DIGEST_MAX 32u
#define PASSWORD_MAX 256u
#define NATIVE "mysql_native_password"
#define CACHING "caching_sha2_password" /* as long as the other */

struct mysql {
	uint8_t number; /* of the packet that came last */
	unsigned char salt[SALT];
};

/* The answer to the last packet, or with number 0 something new. */
static void packet_send(
	struct mon_probe *p, unsigned number, const unsigned char *body, size_t length)
{
	const unsigned char head[4] = {
		(unsigned char)length, (unsigned char)(length >> 8), 0, (unsigned char)number};

	mon_send(p, head, 4);
	mon_send(p, body, length);
}

static void answer_send(struct mon_probe *p, const unsigned char *body, size_t length)
{
	packet_send(p, ((struct mysql *)p->own)->number + 1u, body, length);
}

static void digest(const EVP_MD *kind, const void *a, size_t a_length, const void *b,
	size_t b_length, unsigned char *out)
{
	EVP_MD_CTX *ctx = EVP_MD_CTX_new();

	memset(out, 0, (size_t)EVP_MD_get_size(kind));
	if (ctx && EVP_DigestInit_ex(ctx, kind, NULL)) {
		EVP_DigestUpdate(ctx, a, a_length);
		EVP_DigestUpdate(ctx, b, b_length);
		EVP_DigestFinal_ex(ctx, out, NULL);
	}
	EVP_MD_CTX_free(ctx);
}

/* With H the plugin's digest: H(password) xor H(salt, H(H(password))), or in the other order; nothing for no password. */
static size_t scramble(struct mon_probe *p, bool native, unsigned char *out)
{
	const struct mon_monitor *m = p->in->monitor;
	const unsigned char *salt = ((struct mysql *)p->own)->salt;
	const EVP_MD *kind = native ? EVP_sha1() : EVP_sha256();
	size_t size = (size_t)EVP_MD_get_size(kind);
	unsigned char once[DIGEST_MAX], twice[DIGEST_MAX];

	if (!m->length[MON_F_PASSWORD])
		return 0;
	digest(kind, m->text[MON_F_PASSWORD], m->length[MON_F_PASSWORD], "", 0, once);
	digest(kind, once, size, "", 0, twice);
	if (native)
		digest(kind, salt, SALT, twice, size, out);
	else
		digest(kind, twice, size, salt, SALT, out);
	for (size_t i = 0; i < size; i++)
		out[i] ^= once[i];
	return size;
}

/* Takes the salt out of a greeting, which has it in two parts; *native: the plugin is the old one. False: it is none. */
static bool greeting_read(
	const unsigned char *body, size_t length, unsigned char *salt, bool *native)
{
	const unsigned char *end = length > 1 ? memchr(body + 1, 0, length - 1) : NULL;

	if (body[0] != 10 || !end)
		return false;
	size_t at = (size_t)(end - body) + 1 + 4;
	if (at + 8 + 1 + 18 + 12 > length)
		return false;
	memcpy(salt, body + at, 8);
	at += 8 + 1 + 18;
	memcpy(salt + 8, body + at, 12);
	at += 13;
	*native = length < at + sizeof(CACHING) - 1 ||
		  memcmp(body + at, CACHING, sizeof(CACHING) - 1) != 0;
	return true;
}

static enum mon_outcome login(struct mon_probe *p, const unsigned char *body, size_t length)
{
	const struct mon_monitor *m = p->in->monitor;
	unsigned char answer[1024] = {0};
	unsigned flags = LOGIN_FLAGS | (m->length[MON_F_DATABASE] ? CONNECT_WITH_DB : 0);
	size_t at = 32;
	bool native;

	if (!greeting_read(body, length, ((struct mysql *)p->own)->salt, &native))
		return mon_say(p, MON_BAD, "mysql: not its greeting");
	if (!m->length[MON_F_USERNAME])
		return MON_GOOD;
	for (int i = 0; i < 4; i++)
		answer[i] = (unsigned char)(flags >> 8 * i);
	answer[7] = 1;	/* largest packet: 16 MiB */
	answer[8] = 33; /* utf8 */
	memcpy(answer + at, m->text[MON_F_USERNAME], m->length[MON_F_USERNAME]);
	at += m->length[MON_F_USERNAME] + 1;
	answer[at] = (unsigned char)scramble(p, native, answer + at + 1);
	at += 1u + answer[at];
	if (m->length[MON_F_DATABASE]) {
		memcpy(answer + at, m->text[MON_F_DATABASE], m->length[MON_F_DATABASE]);
		at += m->length[MON_F_DATABASE] + 1;
	}
	memcpy(answer + at, native ? NATIVE : CACHING, sizeof(NATIVE));
	answer_send(p, answer, at + sizeof(NATIVE));
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

/* The user has another plugin than the server thought: its name and a new salt. */
static enum mon_outcome plugin_switch(struct mon_probe *p, const unsigned char *body, size_t length)
{
	const unsigned char *end = memchr(body, 0, length);
	unsigned char answer[DIGEST_MAX];
	bool native = length >= sizeof(NATIVE) && !memcmp(body, NATIVE, sizeof(NATIVE));

	if (!end ||
		(!native && (length < sizeof(CACHING) || memcmp(body, CACHING, sizeof(CACHING)))))
		return mon_say_answer(p, MON_BAD, "mysql: cannot log in by", (const char *)body,
			end ? (size_t)(end - body) : 0);
	if (length - sizeof(NATIVE) < SALT)
		return mon_say(p, MON_BAD, "mysql: damaged packet");
	memcpy(((struct mysql *)p->own)->salt, body + sizeof(NATIVE), SALT);
	answer_send(p, answer, scramble(p, native, answer));
	return MON_MORE;
}

/* The password and its NUL, mixed with the salt, for the server's key alone. */
static enum mon_outcome password_send(
	struct mon_probe *p, const unsigned char *pem, size_t pem_length)
{
	const struct mon_monitor *m = p->in->monitor;
	const unsigned char *salt = ((struct mysql *)p->own)->salt;
	unsigned char plain[PASSWORD_MAX + 1] = {0}, sealed[1024];
	size_t length = m->length[MON_F_PASSWORD] + 1, size = sizeof(sealed);
	BIO *in = BIO_new_mem_buf(pem, (int)pem_length);
	EVP_PKEY *key = in ? PEM_read_bio_PUBKEY(in, NULL, NULL, NULL) : NULL;
	EVP_PKEY_CTX *ctx = key ? EVP_PKEY_CTX_new(key, NULL) : NULL;

	memcpy(plain, m->text[MON_F_PASSWORD], length - 1);
	for (size_t i = 0; i < length; i++)
		plain[i] ^= salt[i % SALT];
	bool good = ctx && EVP_PKEY_encrypt_init(ctx) > 0 &&
		    EVP_PKEY_CTX_set_rsa_padding(ctx, RSA_PKCS1_OAEP_PADDING) > 0 &&
		    EVP_PKEY_encrypt(ctx, sealed, &size, plain, length) > 0;
	explicit_bzero(plain, sizeof(plain));
	EVP_PKEY_CTX_free(ctx);
	EVP_PKEY_free(key);
	BIO_free(in);
	if (!good)
		return mon_say(p, MON_BAD, "mysql: the server's key cannot be used");
	answer_send(p, sealed, size);
	return MON_MORE;
}

/* caching_sha2_password: 3: it remembered the password, 4: it wants all of it; or its key, which was asked for. */
static enum mon_outcome plugin_more(struct mon_probe *p, const unsigned char *body, size_t length)
{
	static const unsigned char key_request = 2;

	if (length > 1)
		return password_send(p, body, length);
	if (length == 1 && body[0] == 4)
		answer_send(p, &key_request, 1);
	return MON_MORE;
}

static enum mon_outcome login_judge(struct mon_probe *p, const unsigned char *body, size_t length)
{
	switch (body[0]) {
	case 0:
		return query(p);
	case 1:
		return plugin_more(p, body + 1, length - 1);
	case 0xfe:
		return plugin_switch(p, body + 1, length - 1);
	default:
		return mon_say(p, MON_BAD, "mysql: damaged packet");
	}
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
		return login_judge(p, body, length);
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
		((struct mysql *)p->own)->number = head[3];
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
	if (m->length[MON_F_RECV_ROW] || m->length[MON_F_RECV_COLUMN])
		return mon_fault(fault, m->length[MON_F_RECV_ROW] ? "recv-row" : "recv-column",
			"cannot be chosen: any part of a row may match");
	if (m->length[MON_F_PASSWORD] > PASSWORD_MAX)
		return mon_fault(fault, "password", "must have at most %u bytes", PASSWORD_MAX);
	if (m->length[MON_F_SEND] > 4096)
		return mon_fault(fault, "send", "must have at most 4096 bytes");
	return 0;
}

const struct mon_type mon_mysql = {.name = "mysql",
	.stream = true,
	.port = 3306,
	.private_size = sizeof(struct mysql),
	.check = mysql_check,
	.open = mysql_open,
	.input = mysql_input};
