/* SPDX-License-Identifier: BSD-3-Clause */
#include "ipc/ipc.h"

#include <stdlib.h>
#include <string.h>

/* One character U+0001..U+00FF per byte. */
static json_t *bytes_new(const char *bytes, size_t length)
{
	char *utf8 = malloc(2 * length + 1), *p = utf8;

	if (!utf8)
		return NULL;
	for (size_t i = 0; i < length; i++) {
		uint8_t b = (uint8_t)bytes[i];

		if (b < 0x80) {
			*p++ = (char)b;
		} else {
			*p++ = (char)(0xc0 | b >> 6);
			*p++ = (char)(0x80 | (b & 0x3f));
		}
	}
	json_t *value = json_pack("{s:s#}", "bytes", utf8, (int)(p - utf8));
	free(utf8);
	return value;
}

json_t *ipc_text_new(const char *bytes, size_t length)
{
	json_t *value = json_stringn(bytes, length);
	return value ? value : bytes_new(bytes, length);
}

static char *bytes_get(const char *utf8, size_t length, size_t *out_length)
{
	char *bytes = malloc(length + 1);
	size_t n = 0;

	if (!bytes)
		return NULL;
	for (size_t i = 0; i < length; i++) {
		uint8_t b = (uint8_t)utf8[i];

		if (b >= 0x80) {
			if (b > 0xc3 || i + 1 == length) {
				free(bytes);
				return NULL;
			}
			b = (uint8_t)(b << 6) | ((uint8_t)utf8[++i] & 0x3f);
		}
		bytes[n++] = (char)b;
	}
	bytes[n] = 0;
	*out_length = n;
	return bytes;
}

char *ipc_text_get(const json_t *value, size_t *length)
{
	const json_t *packed = json_object_get(value, "bytes");
	const json_t *string = packed ? packed : value;
	size_t n = json_string_length(string);
	char *bytes = NULL;

	if (!json_is_string(string) || memchr(json_string_value(string), 0, n))
		return NULL;
	if (packed) {
		bytes = bytes_get(json_string_value(string), n, &n);
	} else {
		bytes = malloc(n + 1);
		if (bytes)
			memcpy(bytes, json_string_value(string), n + 1);
	}
	if (bytes && length)
		*length = n;
	return bytes;
}

const char *ipc_string(const json_t *object, const char *member)
{
	const char *text = json_string_value(json_object_get(object, member));

	return text ? text : "";
}
