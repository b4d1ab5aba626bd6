/* SPDX-License-Identifier: BSD-3-Clause */
#include "monitor/mon_agent.h"

#include "base/check.h"
#include "monitor/mon_http.h"

static int parse(const char *line, struct agent_line *out)
{
	return agent_parse(line, strlen(line), out);
}

static void agent_lines(void)
{
	struct agent_line a;

	CHECK_INT(parse("75%", &a), 1);
	CHECK_INT(a.weight, 75);
	CHECK(!a.admin && !a.state && a.maxconn == -1);
	CHECK_INT(parse("Up, READY\t50% maxconn:30 # low \x1b memory", &a), 4);
	CHECK_STR(a.state, "up");
	CHECK_STR(a.admin, "ready");
	CHECK_INT(a.weight, 50);
	CHECK_INT(a.maxconn, 30);
	CHECK_STR(a.description, "low memory");
	CHECK_INT(parse("drain\r", &a), 1);
	CHECK_STR(a.admin, "drain");
	CHECK_INT(parse("9999999999999999999%", &a), 1);
	CHECK_INT(a.weight, AGENT_WEIGHT_MAX);
	CHECK_INT(parse("", &a), 0);
	CHECK_INT(parse("%", &a), 0);
	CHECK_INT(parse("maxconn:", &a), 0);
	CHECK_INT(parse("-5% upp dow", &a), 0);
	CHECK_INT(parse("#only words: down", &a), 0);
}

static int whole(const char *text)
{
	return http_reply_whole(text, strlen(text));
}

static void http_replies(void)
{
	CHECK(whole("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"));
	CHECK(!whole("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nok"));
	CHECK(whole("HTTP/1.1 204 No Content\r\n\r\n"));
	CHECK(!whole("HTTP/1.1 200 OK\r\n\r\nuntil the end"));
	CHECK(!whole("HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n"));
	CHECK(!whole("HTTP/1.1 200 OK\r\nContent-Length: 99999999999999999999999\r\n\r\n"));
	CHECK(whole("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\ncontent-length:0\r\n\r\n"));
	const char *chunked = "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n"
			      "5;x=y\r\nhello\r\nA\r\n0123456789\r\n0\r\nTrailer: a\r\n\r\n";
	CHECK(whole(chunked));
	for (size_t n = 0; n < strlen(chunked); n++)
		CHECK(!http_reply_whole(chunked, n));
	CHECK(!whole("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n"));
	CHECK(!whole("<html>"));
	CHECK(!whole(""));
}

int main(void)
{
	agent_lines();
	http_replies();
	return 0;
}
