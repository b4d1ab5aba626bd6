/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A management request's target, credentials and other headers, one a line ("GET /path", "Name: value"): any text
 * is taken or refused; what is taken is normal, and normal again when it is read again.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "http/http_check.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static const struct http_route routes[] = {
	{"/mgmt", NULL, NULL, {"application/json"}, HTTP_BODY_MAX, false, NULL},
	{"/mgmt/shared/authn/login", NULL, NULL, {"application/json"}, HTTP_BODY_MAX, true, NULL},
	{"/iControl", NULL, NULL, {"text/xml"}, HTTP_BODY_MAX, false, NULL},
};

static void expect(int truth)
{
	if (!truth)
		abort();
}

/* Nothing by which another reader would see another path. */
static void path_check(const struct http_request *r)
{
	size_t length = 0;

	expect(r->path[0] == '/' && !strchr(r->path, ';') && !strchr(r->path, '\\') &&
		!strstr(r->path, "//"));
	for (const char *p = r->path; *p; p++)
		expect((unsigned char)*p >= ' ' && *p != 0x7f);
	for (unsigned i = 0; i < r->segment_count; i++) {
		const char *segment = r->segments[i];

		expect(*segment && !strchr(segment, '/') && strcmp(segment, ".") &&
			strcmp(segment, ".."));
		expect(!strstr(segment, "~..~") && r->path[length] == '/');
		expect(!strncmp(r->path + length + 1, segment, strlen(segment)));
		length += 1 + strlen(segment);
	}
	expect(length == strlen(r->path) || (length == 0 && !strcmp(r->path, "/")));
}

/* The normal path in a client's spelling is the normal path. */
static void again_check(const struct http_request *r)
{
	static const char digits[] = "0123456789ABCDEF";
	struct http_request again = {0};
	char *target = malloc(3 * strlen(r->path) + 1), *at = target;

	expect(target != NULL);
	for (const char *p = r->path; *p; p++) {
		unsigned char c = (unsigned char)*p;

		if (c == '/') {
			*at++ = '/';
			continue;
		}
		*at++ = '%';
		*at++ = digits[c >> 4];
		*at++ = digits[c & 15];
	}
	*at = '\0';
	if (strlen(target) <= HTTP_TARGET_MAX) {
		expect(http_request_target(&again, target) == NULL);
		expect(!strcmp(again.path, r->path) && again.segment_count == r->segment_count);
	}
	http_request_fini(&again);
	free(target);
}

static void headers_take(struct http_request *r, char *text)
{
	char *line, *rest = text;

	while ((line = strsep(&rest, "\n")) && r->header_count < HTTP_HEADERS_MAX) {
		char *colon = strchr(line, ':');

		if (!colon)
			continue;
		*colon = '\0';
		const char *value = colon + 1 + (colon[1] == ' ');
		r->headers[r->header_count++] = (struct http_pair){line, value};
	}
}

static void credentials_check(const struct http_request *r)
{
	const struct credentials *c = &r->credentials;
	json_t *as = credentials_as(c, "192.0.2.1");

	expect(!c->user == !c->password);
	expect(!c->user || (*c->user && *c->password && strlen(c->user) <= CREDENTIALS_USER_MAX));
	expect(!c->token || (*c->token && strlen(c->token) <= CREDENTIALS_TOKEN_MAX));
	expect(as != NULL); /* all is UTF-8 */
	json_decref(as);
}

static void request_check(struct http_request *r)
{
	const struct http_route *route =
		http_check_route(routes, sizeof(routes) / sizeof(*routes), r);
	struct http_framing framing;

	if (http_check_framing(r, &framing) || !route)
		return;
	http_check(r, route, &framing);
	credentials_check(r);
	if (!r->reply.status)
		expect(route->open || r->credentials.user || r->credentials.token);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct http_request r = {0};
	char *text = strndup((const char *)data, len), *headers = text;
	char *line = text ? strsep(&headers, "\n") : NULL;
	char *blank = line ? strchr(line, ' ') : NULL;

	if (blank) {
		*blank = '\0';
		if (http_check_method(line, &r.method) && !http_request_target(&r, blank + 1)) {
			path_check(&r);
			again_check(&r);
			headers_take(&r, headers ? headers : blank);
			request_check(&r);
		}
	}
	http_request_fini(&r);
	free(text);
	return 0;
}
