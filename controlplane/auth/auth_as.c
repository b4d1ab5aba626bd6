/* SPDX-License-Identifier: BSD-3-Clause */
#include "auth/auth_as.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static bool refuse(
	struct auth_as_fault *fault, int code, const char *field, const char *format, ...)
{
	va_list ap;

	fault->code = code;
	fault->field = field;
	va_start(ap, format);
	vsnprintf(fault->reason, sizeof(fault->reason), format, ap);
	va_end(ap);
	return false;
}

/* One member; max: bytes. */
static bool text_take(const json_t *as, const char *name, size_t max, const char **out,
	struct auth_as_fault *fault)
{
	const json_t *value = json_object_get(as, name);

	*out = json_string_value(value);
	if (!value)
		return true;
	if (!*out)
		return refuse(fault, 400, name, "must be text");
	if (!**out)
		return refuse(fault, 400, name, "is empty");
	if (json_string_length(value) > max || strlen(*out) != json_string_length(value))
		return refuse(fault, 400, name, "is longer than %zu bytes, or has a NUL", max);
	return true;
}

static bool members_known(const json_t *as, struct auth_as_fault *fault)
{
	static const char *const known[] = {"user", "password", "token", "address"};
	const char *name;
	json_t *value;

	json_object_foreach((json_t *)as, name, value)
	{
		bool found = false;

		for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++)
			found |= !strcmp(known[i], name);
		if (!found)
			return refuse(fault, 400, "as", "has an unknown member");
	}
	return true;
}

/* Nothing that steers the terminal of who reads the journal. */
static bool address_ok(const char *address)
{
	for (const char *p = address; p && *p; p++)
		if ((unsigned char)*p <= ' ' || (unsigned char)*p >= 0x7f)
			return false;
	return true;
}

bool auth_as_parse(const json_t *as, struct auth_as *out, struct auth_as_fault *fault)
{
	*out = (struct auth_as){0};
	if (!json_is_object(as))
		return refuse(fault, 400, "as", "must be an object");
	if (!members_known(as, fault) || !text_take(as, "user", 63, &out->user, fault) ||
		!text_take(as, "password", 255, &out->password, fault) ||
		!text_take(as, "token", 63, &out->token, fault) ||
		!text_take(as, "address", 63, &out->address, fault))
		return false;
	if (!address_ok(out->address))
		return refuse(fault, 400, "address", "has blanks or other than ASCII characters");
	if (!out->user != !out->password)
		return refuse(fault, 400, out->user ? "password" : "user", "is missing");
	if (!out->user && !out->token)
		return refuse(fault, 401, "as", "has neither user nor token");
	return true;
}
