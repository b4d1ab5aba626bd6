/* SPDX-License-Identifier: BSD-3-Clause */
#include "monitor/mon_http.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "monitor/mon.h"

/* The line at *at without its end; moves *at behind it. False: it is not complete. */
static bool line_next(const char *bytes, size_t length, size_t *at, const char **line, size_t *size)
{
	const char *end = *at < length ? memchr(bytes + *at, '\n', length - *at) : NULL;

	if (!end)
		return false;
	*line = bytes + *at;
	*size = (size_t)(end - *line);
	*at += *size + 1;
	if (*size && (*line)[*size - 1] == '\r')
		(*size)--;
	return true;
}

/* The value of a header line if it has that name. */
static const char *header(const char *line, size_t size, const char *name, size_t *value_size)
{
	size_t n = strlen(name);

	if (size <= n || line[n] != ':' || strncasecmp(line, name, n))
		return NULL;
	line += n + 1;
	size -= n + 1;
	while (size && (*line == ' ' || *line == '\t'))
		line++, size--;
	*value_size = size;
	return line;
}

/* Digits of a base, at least one; false on anything else or more than fits in 60 bits. */
static bool number(const char *text, size_t size, unsigned base, size_t *out)
{
	static const char digits[] = "0123456789abcdef";
	size_t value = 0, i;

	for (i = 0; i < size; i++) {
		const char *digit =
			text[i] ? strchr(digits, text[i] >= 'A' ? text[i] | 0x20 : text[i]) : NULL;

		if (!digit || (unsigned)(digit - digits) >= base)
			break;
		if (value >> 56)
			return false;
		value = value * base + (unsigned)(digit - digits);
	}
	*out = value;
	return i > 0 && (i == size || text[i] == ';' || text[i] == ' ' || text[i] == '\t');
}

static bool chunks_whole(const char *bytes, size_t length, size_t at)
{
	const char *line;
	size_t size, chunk;

	while (line_next(bytes, length, &at, &line, &size)) {
		if (!number(line, size, 16, &chunk))
			return false;
		if (chunk == 0) {
			while (line_next(bytes, length, &at, &line, &size))
				if (size == 0)
					return true;
			return false;
		}
		if (chunk > length - at)
			return false;
		at += chunk;
		if (!line_next(bytes, length, &at, &line, &size) || size)
			return false;
	}
	return false;
}

bool http_reply_whole(const char *bytes, size_t length)
{
	const char *line, *value;
	size_t at = 0, size, value_size, body = 0;
	bool chunked = false, sized = false;

	if (!line_next(bytes, length, &at, &line, &size) || size < 12 ||
		strncmp(line, "HTTP/1.", 7))
		return false;
	bool interim = line[9] == '1',
	     bodyless = !strncmp(line + 9, "204", 3) || !strncmp(line + 9, "304", 3);
	while (line_next(bytes, length, &at, &line, &size)) {
		if (size == 0) {
			if (interim)
				return http_reply_whole(bytes + at, length - at);
			if (bodyless)
				return true;
			if (chunked)
				return chunks_whole(bytes, length, at);
			return sized && length - at >= body;
		}
		value = header(line, size, "Content-Length", &value_size);
		if (value)
			sized = number(value, value_size, 10, &body);
		value = header(line, size, "Transfer-Encoding", &value_size);
		if (value)
			chunked = value_size >= 7 &&
				  !strncasecmp(value + value_size - 7, "chunked", 7);
	}
	return false;
}

/* --- the monitor types -------------------------------------------------------------------------- */

/* "GET /" alone is a request of HTTP/0.9, as LTM sends it; it only lacks the end of its line. */
static enum mon_outcome http_open(struct mon_probe *p)
{
	const struct mon_monitor *m = p->in->monitor;
	const char *send = m->text[MON_F_SEND];
	size_t length = m->length[MON_F_SEND];

	if (!send || !length) {
		mon_send(p, "GET /\r\n", 7);
		return MON_MORE;
	}
	mon_send(p, send, length);
	bool ended = length >= 2 && !memcmp(send + length - 2, "\r\n", 2);
	if (!memmem(send, length, "HTTP/1.", 7)) {
		if (!ended)
			mon_send(p, "\r\n", 2);
	} else if (!memmem(send, length, "\r\n\r\n", 4)) {
		mon_send(p, "\r\n\r\n", ended ? 2 : 4);
	}
	return MON_MORE;
}

static enum mon_outcome http_input(struct mon_probe *p, const char *bytes, size_t length, bool end)
{
	return mon_judge(p, bytes, length, end || http_reply_whole(bytes, length));
}

const struct mon_type mon_http = {.name = "http",
	.stream = true,
	.framed = true,
	.port = 80,
	.open = http_open,
	.input = http_input};

const struct mon_type mon_https = {.name = "https",
	.stream = true,
	.framed = true,
	.tls = true,
	.port = 443,
	.open = http_open,
	.input = http_input};
