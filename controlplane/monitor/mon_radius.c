/* SPDX-License-Identifier: BSD-3-Clause */
/* radius: an Access-Request that must be accepted (RFC 2865). */
#include <openssl/evp.h>
#include <string.h>
#include <sys/random.h>

#include "monitor/mon.h"

#define HEADER 20u
#define PASSWORD_MAX 128u

enum { ACCESS_REQUEST = 1, ACCESS_ACCEPT = 2, ACCESS_REJECT = 3 };
enum { USER_NAME = 1, USER_PASSWORD = 2, NAS_IP_ADDRESS = 4, NAS_IDENTIFIER = 32 };

struct radius {
	uint8_t id, authenticator[16];
};

struct packet {
	uint8_t bytes[1024];
	size_t length;
};

static void attribute(struct packet *k, uint8_t type, const void *value, size_t length)
{
	k->bytes[k->length] = type;
	k->bytes[k->length + 1] = (uint8_t)(length + 2);
	memcpy(k->bytes + k->length + 2, value, length);
	k->length += length + 2;
}

static void md5(const void *a, size_t a_length, const void *b, size_t b_length, const void *c,
	size_t c_length, uint8_t out[16])
{
	EVP_MD_CTX *ctx = EVP_MD_CTX_new();

	memset(out, 0, 16);
	if (ctx && EVP_DigestInit_ex(ctx, EVP_md5(), NULL)) {
		EVP_DigestUpdate(ctx, a, a_length);
		EVP_DigestUpdate(ctx, b, b_length);
		EVP_DigestUpdate(ctx, c, c_length);
		EVP_DigestFinal_ex(ctx, out, NULL);
	}
	EVP_MD_CTX_free(ctx);
}

/* Section 5.2: sixteen bytes at a time, each hidden by the ones before. */
static void password(struct packet *k, const struct radius *own, const struct mon_monitor *m)
{
	uint8_t hidden[PASSWORD_MAX] = {0}, mask[16];
	size_t length = (m->length[MON_F_PASSWORD] + 15) / 16 * 16;
	const uint8_t *before = own->authenticator;

	length = length ? length : 16;
	memcpy(hidden, m->text[MON_F_PASSWORD], m->length[MON_F_PASSWORD]);
	for (size_t at = 0; at < length; at += 16) {
		md5(m->text[MON_F_SECRET], m->length[MON_F_SECRET], before, 16, "", 0, mask);
		for (size_t i = 0; i < 16; i++)
			hidden[at + i] ^= mask[i];
		before = hidden + at;
	}
	attribute(k, USER_PASSWORD, hidden, length);
}

static int radius_check(struct mon_monitor *m, struct mon_fault *fault)
{
	struct ip_addr nas;

	if (!m->length[MON_F_SECRET])
		return mon_fault(fault, "secret", "is missing");
	if (!m->length[MON_F_USERNAME] || m->length[MON_F_USERNAME] > 253)
		return mon_fault(fault, "username", "must have 1 to 253 bytes");
	if (m->length[MON_F_PASSWORD] > PASSWORD_MAX)
		return mon_fault(fault, "password", "must have at most 128 bytes");
	if (m->length[MON_F_NAS_IP_ADDRESS] &&
		(ip_parse(m->text[MON_F_NAS_IP_ADDRESS], &nas) || !ip_is_v4(&nas)))
		return mon_fault(fault, "nas-ip-address", "must be an IPv4 address");
	return 0;
}

static enum mon_outcome radius_open(struct mon_probe *p)
{
	const struct mon_monitor *m = p->in->monitor;
	struct radius *own = p->own;
	struct packet k = {.length = HEADER};
	struct ip_addr nas;

	if (getrandom(own, sizeof(*own), 0) != sizeof(*own))
		return mon_say(p, MON_NOTHING, "not probed: no random numbers");
	attribute(&k, USER_NAME, m->text[MON_F_USERNAME], m->length[MON_F_USERNAME]);
	password(&k, own, m);
	if (m->length[MON_F_NAS_IP_ADDRESS] && ip_parse(m->text[MON_F_NAS_IP_ADDRESS], &nas) == 0)
		attribute(&k, NAS_IP_ADDRESS, &nas.w[3], 4);
	else
		attribute(&k, NAS_IDENTIFIER, "weir", 4);
	k.bytes[0] = ACCESS_REQUEST;
	k.bytes[1] = own->id;
	k.bytes[2] = (uint8_t)(k.length >> 8);
	k.bytes[3] = (uint8_t)k.length;
	memcpy(k.bytes + 4, own->authenticator, 16);
	mon_send(p, k.bytes, k.length);
	return MON_MORE;
}

static enum mon_outcome radius_input(struct mon_probe *p, const char *text, size_t length, bool end)
{
	const struct mon_monitor *m = p->in->monitor;
	const struct radius *own = p->own;
	const uint8_t *bytes = (const uint8_t *)text;
	uint8_t head[HEADER], sum[16];

	if (length < HEADER || bytes[1] != own->id)
		return MON_MORE;
	/* What follows the length it names is padding. */
	size_t size = (size_t)(bytes[2] << 8 | bytes[3]);
	if (size < HEADER || size > length)
		return MON_MORE;
	/* Section 3: the answer is signed over our authenticator. */
	memcpy(head, bytes, 4);
	memcpy(head + 4, own->authenticator, 16);
	md5(head, HEADER, bytes + HEADER, size - HEADER, m->text[MON_F_SECRET],
		m->length[MON_F_SECRET], sum);
	if (memcmp(sum, bytes + 4, 16))
		return MON_MORE;
	if (bytes[0] == ACCESS_ACCEPT)
		return MON_GOOD;
	return mon_say(p, MON_BAD, bytes[0] == ACCESS_REJECT ? "access rejected" : "no acceptance");
}

const struct mon_type mon_radius = {.name = "radius",
	.datagram = true,
	.port = 1812,
	.private_size = sizeof(struct radius),
	.check = radius_check,
	.open = radius_open,
	.input = radius_input};
