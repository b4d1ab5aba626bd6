/* SPDX-License-Identifier: BSD-3-Clause */
#include "auth/credentials.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define PLAIN_MAX (CREDENTIALS_USER_MAX + 1 + CREDENTIALS_PASSWORD_MAX)
#define CODED_MAX ((PLAIN_MAX + 2) / 3 * 4)

static const char malformed[] = "the Authorization header is not Basic with user and password";

static int sextet(char c)
{
	static const char digits[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	const char *at = c ? strchr(digits, c) : NULL;

	return at ? (int)(at - digits) : -1;
}

/* Decodes base64 (RFC 4648) whose padding may be missing but not wrong. Bytes, or -1. */
static int base64_decode(const char *text, size_t length, char *out)
{
	size_t whole = length;
	uint32_t bits = 0;
	int n = 0;

	while (whole > 0 && text[whole - 1] == '=')
		whole--;
	if (length != whole && (length % 4 || length - whole > 2))
		return -1;
	if (whole % 4 == 1)
		return -1;
	for (size_t i = 0; i < whole; i++) {
		int value = sextet(text[i]);

		if (value < 0)
			return -1;
		bits = bits << 6 | (uint32_t)value;
		if (i % 4)
			out[n++] = (char)(bits >> (6 - 2 * (i % 4)) & 0xff);
	}
	return n;
}

/*
 * A password of a client that writes ISO 8859-1 instead of UTF-8 (RFC 7617, section 2.1 leaves it open). room:
 * twice the length.
 */
static int to_utf8(char *text, int length, char *room)
{
	json_t *valid = json_stringn(text, (size_t)length);
	int n = 0;

	json_decref(valid);
	if (valid)
		return length;
	for (int i = 0; i < length; i++) {
		unsigned char c = (unsigned char)text[i];

		if (c >= 0x80)
			room[n++] = (char)(0xc0 | c >> 6);
		room[n++] = (char)(c < 0x80 ? c : 0x80 | (c & 0x3f));
	}
	memcpy(text, room, (size_t)n);
	return n;
}

static bool user_ok(const char *user, size_t length)
{
	if (length == 0 || length > CREDENTIALS_USER_MAX)
		return false;
	for (size_t i = 0; i < length; i++)
		if ((unsigned char)user[i] < 0x20 || user[i] == 0x7f)
			return false;
	return true;
}

static const char *basic_split(const char *plain, int length, struct credentials *c)
{
	const char *colon = length > 0 ? memchr(plain, ':', (size_t)length) : NULL;

	if (!colon || memchr(plain, 0, (size_t)length) || !user_ok(plain, (size_t)(colon - plain)))
		return malformed;
	size_t password = (size_t)length - (size_t)(colon - plain) - 1;
	if (password == 0)
		return "the password is empty";
	if (password > CREDENTIALS_PASSWORD_MAX)
		return malformed;
	c->user = strndup(plain, (size_t)(colon - plain));
	c->password = strndup(colon + 1, password);
	return c->user && c->password ? NULL : "no memory";
}

static const char *basic_parse(const char *header, struct credentials *c)
{
	char plain[2 * CODED_MAX] = "", room[2 * CODED_MAX];

	header += strspn(header, " \t");
	if (strncasecmp(header, "Basic", 5) || !strchr(" \t", header[5]))
		return malformed;
	header += 5;
	header += strspn(header, " \t");
	size_t length = strcspn(header, " \t");
	if (header[length + strspn(header + length, " \t")] || length == 0 || length > CODED_MAX)
		return malformed;
	int n = base64_decode(header, length, plain);
	const char *why = n < 0 ? malformed : basic_split(plain, to_utf8(plain, n, room), c);
	explicit_bzero(plain, sizeof(plain));
	explicit_bzero(room, sizeof(room));
	return why;
}

static const char *token_parse(const char *header, struct credentials *c)
{
	size_t length = strlen(header);

	if (length == 0)
		return "the X-F5-Auth-Token header is empty";
	if (length > CREDENTIALS_TOKEN_MAX)
		return "the X-F5-Auth-Token header is no token";
	for (size_t i = 0; i < length; i++)
		if (header[i] <= ' ' || header[i] > '~')
			return "the X-F5-Auth-Token header is no token";
	c->token = strdup(header);
	return c->token ? NULL : "no memory";
}

const char *credentials_parse(const char *authorization, const char *token, struct credentials *c)
{
	const char *why = NULL;

	*c = (struct credentials){0};
	if (authorization)
		why = basic_parse(authorization, c);
	if (!why && token)
		why = token_parse(token, c);
	if (why)
		credentials_fini(c);
	return why;
}

static void wipe(char **text)
{
	if (*text)
		explicit_bzero(*text, strlen(*text));
	free(*text);
	*text = NULL;
}

void credentials_fini(struct credentials *c)
{
	wipe(&c->user);
	wipe(&c->password);
	wipe(&c->token);
}

static int set_text(json_t *as, const char *key, const char *text)
{
	return text ? json_object_set_new(as, key, json_string(text)) : 0;
}

json_t *credentials_as(const struct credentials *c, const char *address)
{
	json_t *as = json_object();

	if (!as || set_text(as, "user", c->user) || set_text(as, "password", c->password) ||
		set_text(as, "token", c->token) || set_text(as, "address", address)) {
		json_decref(as);
		return NULL;
	}
	return as;
}
