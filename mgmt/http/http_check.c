/* SPDX-License-Identifier: BSD-3-Clause */
#include "http/http_check.h"

#include <string.h>
#include <strings.h>

#include "auth/origin.h"

bool http_check_method(const char *name, enum http_method *method)
{
	static const struct {
		const char *name;
		enum http_method method;
	} methods[] = {{"GET", HTTP_GET}, {"HEAD", HTTP_GET}, {"POST", HTTP_POST},
		{"PUT", HTTP_PUT}, {"PATCH", HTTP_PATCH}, {"DELETE", HTTP_DELETE}};

	for (size_t i = 0; i < sizeof(methods) / sizeof(*methods); i++)
		if (!strcmp(methods[i].name, name)) {
			*method = methods[i].method;
			return true;
		}
	return false;
}

/* Of these a request has one or none. */
static bool is_twice(const struct http_request *r, const char *name)
{
	unsigned n = 0;

	for (unsigned i = 0; i < r->header_count; i++)
		n += !strcasecmp(r->headers[i].name, name);
	return n > 1;
}

static const char *repeated(const struct http_request *r)
{
	static const char *const single[] = {"Content-Length", "Transfer-Encoding", "Host",
		"Authorization", "X-F5-Auth-Token", "Content-Type", "Origin", "Sec-Fetch-Site"};

	for (size_t i = 0; i < sizeof(single) / sizeof(*single); i++)
		if (is_twice(r, single[i]))
			return single[i];
	return NULL;
}

static bool length_parse(const char *text, uint64_t *length)
{
	size_t digits = strspn(text, "0123456789");

	if (digits == 0 || digits > 15 || text[digits])
		return false;
	*length = 0;
	for (; *text; text++)
		*length = *length * 10 + (uint64_t)(*text - '0');
	return true;
}

const char *http_check_framing(const struct http_request *r, struct http_framing *framing)
{
	const char *length = http_header(r, "Content-Length");
	const char *coding = http_header(r, "Transfer-Encoding");

	*framing = (struct http_framing){.chunked = coding != NULL};
	if (repeated(r))
		return "a header that may come once came twice";
	if (length && coding)
		return "it has both Content-Length and Transfer-Encoding";
	if (coding && strcasecmp(coding, "chunked"))
		return "its Transfer-Encoding is not \"chunked\"";
	if (length && !length_parse(length, &framing->length))
		return "its Content-Length is no number";
	return NULL;
}

static size_t route_length(const struct http_route *route)
{
	return strcmp(route->path, "/") ? strlen(route->path) : 0;
}

const struct http_route *http_check_route(
	const struct http_route *routes, unsigned count, const struct http_request *r)
{
	const struct http_route *best = NULL;

	for (unsigned i = 0; i < count; i++) {
		size_t length = route_length(&routes[i]);

		if (strncmp(r->path, routes[i].path, length) ||
			(r->path[length] && r->path[length] != '/'))
			continue;
		if (!best || length > route_length(best))
			best = &routes[i];
	}
	return best;
}

bool http_check_type(const struct http_route *route, const char *type)
{
	size_t length = type ? strcspn(type, "; \t") : 0;

	for (unsigned i = 0; length && i < 3 && route->types[i]; i++)
		if (strlen(route->types[i]) == length &&
			!strncasecmp(route->types[i], type, length))
			return true;
	return false;
}

static bool changes_state(const struct http_request *r)
{
	return r->method != HTTP_GET;
}

static bool credentials_check(struct http_request *r, const struct http_route *route)
{
	const char *why = credentials_parse(http_header(r, "Authorization"),
		http_header(r, "X-F5-Auth-Token"), &r->credentials);

	if (why) {
		http_reply_unauthorised(r, why);
		return false;
	}
	if (!route->open && !r->credentials.user && !r->credentials.token) {
		http_reply_unauthorised(r, NULL);
		return false;
	}
	return true;
}

void http_check(
	struct http_request *r, const struct http_route *route, const struct http_framing *framing)
{
	if (changes_state(r) && !origin_is_ours(http_header(r, "Origin"),
					http_header(r, "Sec-Fetch-Site"), http_header(r, "Host"))) {
		http_reply_error(r, 403, "The request comes from another site.");
		return;
	}
	if (!credentials_check(r, route))
		return;
	if (framing->length > route->body_max)
		http_reply_error(r, 413, "The body is longer than %zu bytes.", route->body_max);
	else if ((framing->chunked || framing->length) &&
		 !http_check_type(route, http_header(r, "Content-Type")))
		http_reply_error(r, 415, "The body is not of type %s.",
			route->types[0] ? route->types[0] : "that this path takes");
}
