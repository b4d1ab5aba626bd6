/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "cli/utf8.h"
#include "http/http.h"

/* Where the decoded text of a target goes: never longer than the target itself. */
struct writer {
	char *at;
};

static int hex(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

static const char *text_check(const char *text, size_t length)
{
	uint32_t code;

	for (size_t i = 0; i < length;) {
		unsigned n = utf8_read(text + i, length - i, &code);

		if (n == 0)
			return "it has bytes that are no UTF-8";
		if (!utf8_printable(code))
			return "it has control characters";
		i += n;
	}
	return NULL;
}

/* Decodes %XX, once, into a NUL-terminated text of its own. */
static const char *decode(
	struct writer *w, const char *in, size_t length, bool plus_is_blank, char **text)
{
	char *out = w->at;

	*text = out;
	for (size_t i = 0; i < length; i++) {
		if (in[i] == '%') {
			int high = i + 2 < length ? hex(in[i + 1]) : -1;
			int low = high >= 0 ? hex(in[i + 2]) : -1;

			if (low < 0)
				return "a % is not followed by two hexadecimal digits";
			*out++ = (char)(high << 4 | low);
			i += 2;
		} else {
			*out++ = plus_is_blank && in[i] == '+' ? ' ' : in[i];
		}
	}
	const char *why = text_check(*text, (size_t)(out - *text));
	*out++ = '\0';
	w->at = out;
	return why;
}

static bool is_dots(const char *part, size_t length)
{
	return (length == 1 && part[0] == '.') || (length == 2 && part[0] == '.' && part[1] == '.');
}

/* A segment names one thing: what could make another path of it is refused, '/' becomes '~'. */
static const char *segment_check(char *segment)
{
	if (strpbrk(segment, ";\\"))
		return "the path has ';' or '\\'";
	for (char *p = segment; (p = strchr(p, '/')); p++)
		*p = '~';
	for (const char *part = segment;; part++) {
		size_t length = strcspn(part, "~");

		if (is_dots(part, length))
			return "the path has '.' or '..'";
		part += length;
		if (!*part)
			return NULL;
	}
}

static const char *path_parse(
	struct http_request *r, struct writer *w, const char *path, size_t length)
{
	const char *end = path + length, *why;
	char *segment;

	while (path < end) {
		const char *slash = memchr(path, '/', (size_t)(end - path));
		const char *stop = slash ? slash : end;

		if (stop > path) {
			if (r->segment_count == HTTP_SEGMENTS_MAX)
				return "the path has too many parts";
			why = decode(w, path, (size_t)(stop - path), false, &segment);
			if (!why)
				why = segment_check(segment);
			if (why)
				return why;
			r->segments[r->segment_count++] = segment;
		}
		path = slash ? slash + 1 : end;
	}
	return NULL;
}

static void path_join(struct http_request *r, struct writer *w)
{
	char *at = w->at;

	r->path = at;
	if (r->segment_count == 0)
		*at++ = '/';
	for (unsigned i = 0; i < r->segment_count; i++) {
		*at++ = '/';
		at = stpcpy(at, r->segments[i]);
	}
	*at++ = '\0';
	w->at = at;
}

static const char *query_parse(struct http_request *r, struct writer *w, const char *query)
{
	const char *why = NULL;
	char *name, *value;

	while (!why && *query) {
		size_t length = strcspn(query, "&"), name_length = strcspn(query, "=&");

		if (length > 0) {
			if (r->query_count == HTTP_QUERY_MAX)
				return "the query has too many arguments";
			why = decode(w, query, name_length, true, &name);
			size_t skip = name_length < length ? name_length + 1 : length;
			if (!why)
				why = decode(w, query + skip, length - skip, true, &value);
			if (!why)
				r->query[r->query_count++] =
					(struct http_pair){.name = name, .value = value};
		}
		query += length + (query[length] == '&');
	}
	return why;
}

const char *http_request_target(struct http_request *r, const char *target)
{
	size_t length = strlen(target), path_length = strcspn(target, "?");

	if (*target != '/')
		return "it is no path";
	if (length > HTTP_TARGET_MAX)
		return "it is too long";
	if (strchr(target, '#'))
		return "it has a '#'";
	/* Segments and the path joined of them, a NUL for each and one per argument's two parts. */
	r->space = malloc(2 * (length + 1) + HTTP_SEGMENTS_MAX + 2 * HTTP_QUERY_MAX + 2);
	if (!r->space)
		return "no memory";
	struct writer w = {.at = r->space};
	const char *why = path_parse(r, &w, target, path_length);
	if (!why) {
		path_join(r, &w);
		why = query_parse(r, &w, target + path_length + (target[path_length] == '?'));
	}
	return why;
}

static void reply_clear(struct http_reply *reply)
{
	free(reply->body);
	if (reply->file > 0)
		close(reply->file);
	for (unsigned i = 0; i < reply->header_count; i++) {
		free((char *)reply->headers[i].name);
		free((char *)reply->headers[i].value);
	}
	if (reply->stream_free)
		reply->stream_free(reply->stream_ctx);
	*reply = (struct http_reply){0};
}

void http_request_fini(struct http_request *r)
{
	credentials_fini(&r->credentials);
	reply_clear(&r->reply);
	free(r->space);
	r->space = NULL;
}

const char *http_query(const struct http_request *r, const char *name)
{
	for (unsigned i = 0; i < r->query_count; i++)
		if (!strcmp(r->query[i].name, name))
			return r->query[i].value;
	return NULL;
}

const char *http_header(const struct http_request *r, const char *name)
{
	for (unsigned i = 0; i < r->header_count; i++)
		if (!strcasecmp(r->headers[i].name, name))
			return r->headers[i].value;
	return NULL;
}
