/* SPDX-License-Identifier: BSD-3-Clause */
/* The server with a client of GnuTLS beside it: what handlers see, and streams. */
#include "http/http_server.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdatomic.h>
#include <unistd.h>

#include "base/check.h"
#include "http/http_tls.h"

#define TEXT_MAX 65536u

static struct http_server *server;
static char directory[] = "/tmp/weir-http-test-XXXXXX";
static atomic_uint streams_freed;

/* ---- handlers ---- */

static void handle_echo(struct http_request *r, void *ctx)
{
	json_t *headers = json_object();

	for (unsigned i = 0; i < r->header_count; i++)
		json_object_set_new(headers, r->headers[i].name, json_string(r->headers[i].value));
	http_reply_header(r, "X-Own", "yes");
	http_reply_header(r, "Cache-Control", "private");
	http_reply_json(r, 200,
		json_pack("{s:i, s:s, s:s, s:s, s:s, s:o}", "method", (int)r->method, "path",
			r->path, "body", r->body, "address", r->address, "user",
			r->credentials.user ? r->credentials.user : "", "headers", headers));
}

static void handle_silence(struct http_request *r, void *ctx) {}

struct counter {
	unsigned left;
	bool flood;
};

/* Three events, then nothing for ever if ctx says so; or as much as is taken. */
static ssize_t stream_next(void *ctx, char *buffer, size_t size, unsigned wait_ms)
{
	struct counter *counter = ctx;

	if (counter->flood)
		memset(buffer, ' ', size);
	if (counter->flood)
		return (ssize_t)size;
	if (counter->left == 0)
		return -1;
	if (counter->left > 3) {
		usleep(wait_ms * 1000);
		return 0;
	}
	return snprintf(buffer, size, "data: %u\n\n", counter->left--);
}

static void stream_free(void *ctx)
{
	atomic_fetch_add(&streams_freed, 1);
	free(ctx);
}

static void handle_stream(struct http_request *r, void *ctx)
{
	struct counter *counter = malloc(sizeof(*counter));

	CHECK(counter);
	counter->left = http_query(r, "forever") ? 4 : 3;
	counter->flood = http_query(r, "flood") != NULL;
	http_reply_stream(r, stream_next, stream_free, counter);
}

static const struct http_route routes[] = {
	{"/echo", handle_echo, NULL, {"application/json"}, 100, true, NULL},
	{"/silence", handle_silence, NULL, {NULL}, 0, true, NULL},
	{"/stream", handle_stream, NULL, {NULL}, 0, true, NULL},
};

static unsigned body_seconds = 10;

static void begin(void)
{
	struct http_options options = {.limits = {.connections = 64,
					       .connections_each = 64,
					       .handled = 8,
					       .handled_each = 8,
					       .bodies = 10000,
					       .bodies_each = 10000,
					       .streams_each = HTTP_STREAMS_MAX},
		.head_seconds = 10,
		.body_seconds = body_seconds,
		.idle_seconds = 10,
		.turn_seconds = 5,
		.hsts = true,
		.routes = routes,
		.route_count = sizeof(routes) / sizeof(*routes)};

	server = http_server_new(&options);
	CHECK(server);
	atomic_store(&streams_freed, 0);
}

/* ---- a client ---- */

struct client {
	int fd;
	gnutls_session_t session;
	gnutls_certificate_credentials_t credentials;
};

/* Two connected sockets of the loopback: the server wants to know an address. */
static void connect_pair(int *ours, int *theirs, struct sockaddr_in *addr)
{
	socklen_t length = sizeof(*addr);
	int listener = socket(AF_INET, SOCK_STREAM, 0);

	*addr = (struct sockaddr_in){
		.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	CHECK_INT(bind(listener, (struct sockaddr *)addr, sizeof(*addr)), 0);
	CHECK_INT(listen(listener, 1), 0);
	CHECK_INT(getsockname(listener, (struct sockaddr *)addr, &length), 0);
	*ours = socket(AF_INET, SOCK_STREAM, 0);
	CHECK_INT(connect(*ours, (struct sockaddr *)addr, sizeof(*addr)), 0);
	*theirs = accept4(listener, (struct sockaddr *)addr, &length, SOCK_NONBLOCK | SOCK_CLOEXEC);
	CHECK(*theirs >= 0);
	close(listener);
}

static void client_open(struct client *c)
{
	struct sockaddr_in addr;
	int theirs;

	connect_pair(&c->fd, &theirs, &addr);
	http_server_add(server, theirs, (struct sockaddr *)&addr, sizeof(addr));
	CHECK_INT(gnutls_certificate_allocate_credentials(&c->credentials), 0);
	CHECK_INT(gnutls_init(&c->session, GNUTLS_CLIENT), 0);
	gnutls_priority_set_direct(c->session, "NORMAL", NULL);
	gnutls_credentials_set(c->session, GNUTLS_CRD_CERTIFICATE, c->credentials);
	gnutls_transport_set_int(c->session, c->fd);
	gnutls_handshake_set_timeout(c->session, 10000);
	gnutls_record_set_timeout(c->session, 10000);
	int rc;
	do
		rc = gnutls_handshake(c->session);
	while (rc < 0 && !gnutls_error_is_fatal(rc));
	CHECK_INT(rc, 0);
}

static void client_close(struct client *c)
{
	gnutls_deinit(c->session);
	gnutls_certificate_free_credentials(c->credentials);
	close(c->fd);
}

static void client_send(struct client *c, const char *text)
{
	CHECK_INT(gnutls_record_send(c->session, text, strlen(text)), strlen(text));
}

/* Reads until the text has come, or the end. */
static const char *client_read(struct client *c, const char *until)
{
	static char text[TEXT_MAX];
	size_t length = 0;

	for (;;) {
		text[length] = '\0';
		if (until && strstr(text, until))
			return text;
		ssize_t n = gnutls_record_recv(c->session, text + length, TEXT_MAX - 1 - length);
		if (n == GNUTLS_E_AGAIN || n == GNUTLS_E_INTERRUPTED)
			continue;
		if (n <= 0)
			return text;
		length += (size_t)n;
	}
}

/* ---- tests ---- */

static void test_what_a_handler_sees(void)
{
	struct client c;

	begin();
	client_open(&c);
	client_send(&c,
		"POST //echo/%61?x HTTP/1.1\r\nHost: h\r\nContent-Type: application/json\r\n"
		"Authorization: Basic YTpi\r\nConnection: keep-alive, Authorization, X-A\r\nX-A: "
		"1\r\n"
		"Content-Length: 5\r\n\r\n[1,2]");
	const char *text = client_read(&c, "}}");
	CHECK(strstr(text, "HTTP/1.1 200 OK\r\n") == text);
	CHECK(strstr(text, "\"method\":1,\"path\":\"/echo/"
			   "a\",\"body\":\"[1,2]\",\"address\":\"127.0.0.1\",\"user\":\"a\""));
	CHECK(strstr(text, "\"X-A\":\"1\"") && strstr(text, "\"Authorization\":"));
	CHECK(strstr(text, "X-Own: yes\r\n") && strstr(text, "Cache-Control: private\r\n"));
	CHECK(!strstr(text, "no-store") && strstr(text, "X-Frame-Options: DENY\r\n"));
	CHECK(strstr(text, "Strict-Transport-Security: max-age=31536000\r\n"));
	client_send(&c, "GET /silence HTTP/1.1\r\nHost: h\r\n\r\n");
	CHECK(strstr(client_read(&c, "}"), "HTTP/1.1 500 "));
	client_close(&c);
	http_server_free(server);
}

static void test_stream_ends_by_itself(void)
{
	struct client c;

	begin();
	client_open(&c);
	client_send(&c, "GET /stream HTTP/1.1\r\nHost: h\r\n\r\n");
	const char *text = client_read(&c, "\r\n0\r\n\r\n");
	CHECK(strstr(text, "Content-Type: text/event-stream\r\n"));
	CHECK(strstr(text, "data: 3\n\n") && strstr(text, "data: 2\n\n") &&
		strstr(text, "data: 1\n\n"));
	client_send(&c, "GET /echo HTTP/1.1\r\nHost: h\r\n\r\n"); /* the connection goes on */
	CHECK(strstr(client_read(&c, "}}"), "HTTP/1.1 200 OK\r\n"));
	client_close(&c);
	http_server_free(server);
	CHECK_INT(atomic_load(&streams_freed), 1);
}

static void test_streams_are_bounded_and_end_with_the_server(void)
{
	struct client clients[HTTP_STREAMS_MAX + 1];

	begin();
	for (unsigned i = 0; i < HTTP_STREAMS_MAX; i++) {
		client_open(&clients[i]);
		client_send(&clients[i], "GET /stream?forever HTTP/1.1\r\nHost: h\r\n\r\n");
		CHECK(strstr(client_read(&clients[i], "\r\n\r\n"), "HTTP/1.1 200 OK\r\n"));
	}
	struct client *last = &clients[HTTP_STREAMS_MAX];
	client_open(last);
	client_send(last, "GET /stream HTTP/1.1\r\nHost: h\r\n\r\n");
	const char *text = client_read(last, "}");
	CHECK(strstr(text, "HTTP/1.1 503 ") && strstr(text, "Retry-After: 1\r\n"));
	CHECK_INT(atomic_load(&streams_freed), 1);
	client_send(last, "GET /echo HTTP/1.1\r\nHost: h\r\n\r\n"); /* streams take nobody's turn */
	CHECK(strstr(client_read(last, "}}"), "HTTP/1.1 200 OK\r\n"));
	http_server_stop(server);
	for (unsigned i = 0; i < HTTP_STREAMS_MAX; i++)
		CHECK(strstr(client_read(&clients[i], NULL), "0\r\n\r\n"));
	CHECK_INT(http_server_active(server), 0);
	for (unsigned i = 0; i <= HTTP_STREAMS_MAX; i++)
		client_close(&clients[i]);
	http_server_free(server);
	CHECK_INT(atomic_load(&streams_freed), HTTP_STREAMS_MAX + 1);
}

/* Who does not read what he asked for keeps nobody else from it. */
static void test_stream_that_nobody_takes(void)
{
	struct client c;

	body_seconds = 1;
	begin();
	client_open(&c);
	client_send(&c, "GET /stream?flood HTTP/1.1\r\nHost: h\r\n\r\n");
	for (int i = 0; i < 400 && atomic_load(&streams_freed) == 0; i++) {
		usleep(50000);
		http_server_sweep(server);
	}
	CHECK_INT(atomic_load(&streams_freed), 1);
	client_close(&c);
	http_server_free(server);
	body_seconds = 10;
}

static void test_pair_is_needed(void)
{
	char why[256], path[64];

	CHECK(http_tls_load(directory, why, sizeof(why)) < 0 && strstr(why, "cannot be read"));
	CHECK_INT(http_tls_make(directory, why, sizeof(why)), 0);
	CHECK_INT(http_tls_load(directory, why, sizeof(why)), 0);
	CHECK_INT(http_tls_make(directory, why, sizeof(why)), 0); /* what is there stays */
	CHECK_INT(http_tls_load(directory, why, sizeof(why)), 0);
	for (unsigned i = 0; i < 2; i++) {
		snprintf(path, sizeof(path), "%s/%s", directory,
			i ? HTTP_TLS_KEY : HTTP_TLS_CERTIFICATE);
		CHECK_INT(unlink(path), 0);
	}
	CHECK(http_tls_make("/nonexistent/x", why, sizeof(why)) < 0 && strstr(why, "No such file"));
}

int main(void)
{
	CHECK(mkdtemp(directory));
	test_pair_is_needed();
	test_what_a_handler_sees();
	test_stream_ends_by_itself();
	test_streams_are_bounded_and_end_with_the_server();
	test_stream_that_nobody_takes();
	http_tls_unload();
	rmdir(directory);
	return 0;
}
