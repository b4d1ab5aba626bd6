/* SPDX-License-Identifier: BSD-3-Clause */
#include "observe/metrics.h"

#include <stdlib.h>
#include <string.h>

#include "base/check.h"

/* A weir-cp that knows one answer for each "show". */
static const char *refused; /* "what" that is refused with 403 */
static unsigned pool_rows = 1;

static const struct {
	const char *what, *row;
} answers[] = {
	{"ltm pool members", "{'name': '/Common/a\\\\b:80', 'poolName': '/Common/\\\"p\\\"\\nq', "
			     "'status.availabilityState': 'offline', 'status.enabledState': "
			     "'disabled-by-parent', "
			     "'monitorStatus': 'down', 'ratioInForce': 3, 'connectionLimit': 0, "
			     "'serverside.curConns': 2, 'serverside.bitsIn': 8008}"},
	{"ltm pool", "{'name': '/Common/p', 'status.availabilityState': 'available', "
		     "'status.enabledState': 'enabled', 'memberCnt': 5}"},
	{"sys status", "{'version': '1.2', 'generation': 7, 'unsaved': 1, 'uptime': 60, "
		       "'monitoring': 'running', 'dataplane': {'connected': true, "
		       "'generation': 7, 'refused': ''}}"},
	{"sys worker", "{'worker': 0, 'rx-packets': 5, 'cpu-ns': 2500000000}"},
	{"sys drop", "{'reason': 'no-route', 'packets': 4, 'workers': [4]}"},
};

static json_t *row_of(const char *text)
{
	char *json = strdup(text);

	for (char *p = json; *p; p++)
		*p = *p == '\'' ? '"' : *p;
	json_t *row = json_loads(json, 0, NULL);
	CHECK(row != NULL);
	free(json);
	return row;
}

static int fake_ask(
	void *ctx, json_t *request, rest_row *row, void *arg, json_t **result, json_t **error)
{
	const char *what = json_string_value(json_object_get(request, "what"));
	unsigned count = !strcmp(what, "ltm pool") ? pool_rows : 1;

	CHECK(json_object_get(request, "as") != NULL);
	*result = *error = NULL;
	if (refused && !strcmp(what, refused))
		*error = json_pack("{s:i, s:s}", "code", 403, "text", "bob may not do this");
	for (size_t i = 0; !*error && i < sizeof(answers) / sizeof(*answers); i++)
		for (unsigned n = 0; n < count && !strcmp(answers[i].what, what); n++) {
			json_t *each = row_of(answers[i].row);
			bool more = row(arg, each);

			json_decref(each);
			if (!more) {
				json_decref(request);
				return 0;
			}
		}
	if (!*error)
		*result = json_object();
	json_decref(request);
	return 0;
}

static const struct observe_backend backend = {.rest = {.ask = fake_ask}};

/* The whole body, read in pieces of this size. */
static char *body_of(struct http_request *r, size_t piece)
{
	struct text all = {0};
	char buffer[4096];
	ssize_t n;

	CHECK(r->reply.next != NULL);
	while ((n = r->reply.next(r->reply.stream_ctx, buffer, piece, 0)) > 0)
		text_add(&all, buffer, (size_t)n);
	CHECK(n == -1);
	text_add(&all, "", 1);
	return all.data;
}

static struct http_request asked(void)
{
	struct http_request r = {.method = HTTP_GET,
		.credentials = {.user = strdup("bob"), .password = strdup("secret")}};

	observe_metrics(&r, &backend);
	return r;
}

static void done(struct http_request *r)
{
	http_request_fini(r);
	credentials_fini(&r->credentials);
}

static void has(const char *body, const char *lines)
{
	if (!strstr(body, lines))
		fprintf(stderr, "%s\nhas not:\n%s\n", body, lines);
	CHECK(strstr(body, lines) != NULL);
}

static void test_text(void)
{
	struct http_request r = asked();
	char *body = body_of(&r, 4096);

	CHECK_INT(r.reply.status, 200);
	CHECK_STR(r.reply.type, "text/plain; version=0.0.4; charset=utf-8");
	has(body, "# TYPE weir_config_generation gauge\nweir_config_generation 7\n");
	has(body, "weir_build_info{version=\"1.2\"} 1\n");
	has(body, "weir_worker_cpu_seconds_total{worker=\"0\"} 2.500000000\n");
	has(body, "weir_worker_rx_packets_total{worker=\"0\"} 5\n");
	has(body, "weir_dropped_packets_total{reason=\"no-route\"} 4\n");
	has(body,
		"\n# TYPE weir_pool_member_in_bytes_total counter\nweir_pool_member_in_bytes_total{"
		"pool=\"/Common/\\\"p\\\"\\nq\",member=\"/Common/a\\\\b:80\"} 1001\n");
	has(body, "member=\"/Common/a\\\\b:80\",state=\"offline\"} 1\n");
	has(body, "weir_pool_availability{pool=\"/Common/p\",state=\"available\"} 1\n"
		  "weir_pool_availability{pool=\"/Common/p\",state=\"unavailable\"} 0\n");
	has(body, "weir_pool_enabled{pool=\"/Common/p\"} 1\n");
	has(body, "weir_pool_members{pool=\"/Common/p\"} 5\n");
	CHECK(!strstr(body, "weir_pool_connections"));
	free(body);
	done(&r);
}

/* However the client reads, it gets the same. */
static void test_pieces(void)
{
	pool_rows = 3000;
	struct http_request a = asked(), b = asked();
	char *x = body_of(&a, 4096), *y = body_of(&b, 7);

	CHECK(strlen(x) > 200000);
	CHECK_STR(x, y);
	free(x);
	free(y);
	done(&a);
	done(&b);
	pool_rows = 1;
}

static void test_refused(void)
{
	refused = "ltm virtual";
	struct http_request r = asked();
	CHECK_INT(r.reply.status, 403);
	done(&r);
	/* The machine is not for him, his objects are. */
	refused = "sys status";
	r = asked();
	char *body = body_of(&r, 4096);
	CHECK(!strstr(body, "weir_worker") && !strstr(body, "weir_build"));
	has(body, "weir_pool_members{");
	free(body);
	done(&r);
	refused = NULL;
}

/* Too many for all together; their room is free again afterwards. */
static void test_bounded(void)
{
	metrics_rows_max = 1000;
	pool_rows = metrics_rows_max / 2 - 10;
	struct http_request a = asked(), b = asked();
	CHECK_INT(a.reply.status, 200);
	CHECK_INT(b.reply.status, 200);
	pool_rows = 100;
	struct http_request c = asked();
	CHECK_INT(c.reply.status, 503);
	done(&a);
	done(&b);
	done(&c);
	c = asked();
	CHECK_INT(c.reply.status, 200);
	done(&c);
}

int main(void)
{
	test_text();
	test_pieces();
	test_refused();
	test_bounded();
	return 0;
}
