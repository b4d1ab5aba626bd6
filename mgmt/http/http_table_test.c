/* SPDX-License-Identifier: BSD-3-Clause */
#include "http/http_table.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <unistd.h>

#include "base/check.h"

#define SOCKETS_MAX 64

static const struct http_limits limits = {.connections = 6,
	.connections_each = 4,
	.handled = 3,
	.handled_each = 2,
	.bodies = 1000,
	.bodies_each = 600,
	.streams_each = 2};

static struct http_table *t;
static int ends[SOCKETS_MAX][2];
static unsigned sockets;

static void begin(void)
{
	t = http_table_new(&limits);
	CHECK(t);
	sockets = 0;
}

static void finish(void)
{
	for (unsigned i = 0; i < sockets; i++) {
		close(ends[i][0]);
		close(ends[i][1]);
	}
	http_table_free(t);
}

/* A connection from an address; NULL: refused. */
static struct http_place *from(const char *text, uint64_t until_ns)
{
	struct sockaddr_in v4 = {.sin_family = AF_INET};
	struct sockaddr_in6 v6 = {.sin6_family = AF_INET6};
	bool is_v6 = strchr(text, ':') != NULL;

	CHECK_INT(inet_pton(is_v6 ? AF_INET6 : AF_INET, text,
			  is_v6 ? (void *)&v6.sin6_addr : (void *)&v4.sin_addr),
		1);
	CHECK_INT(socketpair(AF_UNIX, SOCK_STREAM, 0, ends[sockets]), 0);
	return http_table_add(t, ends[sockets++][0],
		is_v6 ? (struct sockaddr *)&v6 : (struct sockaddr *)&v4, until_ns);
}

/* Whether the server has shut down the n-th socket. */
static bool ended(unsigned n)
{
	struct pollfd p = {.fd = ends[n][1], .events = POLLIN};
	char byte;

	return poll(&p, 1, 0) == 1 && read(ends[n][1], &byte, 1) == 0;
}

static void test_each_address_has_its_share(void)
{
	begin();
	struct http_place *first = from("192.0.2.1", 0);
	for (int i = 1; i < 4; i++)
		CHECK(from("192.0.2.1", 0));
	CHECK(!from("192.0.2.1", 0));
	CHECK(!from("::ffff:192.0.2.1", 0));
	CHECK(from("192.0.2.2", 0));
	CHECK_INT(http_table_find(t, ends[0][0]) == first, 1);
	http_table_remove(t, first);
	CHECK(!http_table_find(t, ends[0][0]));
	CHECK(from("192.0.2.1", 0));
	finish();
}

static void test_network_counts_as_one(void)
{
	begin();
	CHECK(from("2001:db8::1", 0) && from("2001:db8::2", 0) && from("2001:db8::3:4", 0) &&
		from("2001:db8::5", 0));
	CHECK(!from("2001:db8::6", 0));
	CHECK(from("2001:db8:0:1::1", 0));
	finish();
}

static void test_who_has_most_gives_way(void)
{
	begin();
	CHECK(from("192.0.2.1", 0));
	struct http_place *idle = from("192.0.2.2", 0);
	struct http_place *busy = from("192.0.2.2", 0);
	CHECK(from("192.0.2.2", 0));
	CHECK(from("192.0.2.3", 0) && from("192.0.2.4", 0));
	http_table_state(t, busy, HTTP_STATE_BODY, 0);
	http_table_state(t, idle, HTTP_STATE_IDLE, 0);
	CHECK(from("192.0.2.5", 0));
	CHECK(ended(3) && !ended(0) && !ended(1) && !ended(2)); /* waited longest */
	CHECK(from("192.0.2.6", 0));
	CHECK(ended(1));
	http_table_state(t, idle, HTTP_STATE_REPLY, 0); /* it stays ended */
	CHECK_INT(http_table_active(t), 6);
	finish();
}

static void test_nobody_gives_way_at_work(void)
{
	begin();
	for (int i = 0; i < 6; i++) {
		char text[32];

		snprintf(text, sizeof(text), "192.0.2.%d", i);
		http_table_state(t, from(text, 0), HTTP_STATE_BODY, 0);
	}
	CHECK(!from("192.0.2.9", 0));
	finish();
}

static void test_late_ones_end(void)
{
	begin();
	struct http_place *a = from("192.0.2.1", 100), *b = from("192.0.2.2", 200);
	CHECK(a && b && from("192.0.2.3", 0));
	http_table_sweep(t, 99);
	CHECK(!ended(0));
	http_table_sweep(t, 100);
	CHECK(ended(0) && !ended(1) && !ended(2));
	http_table_state(t, b, HTTP_STATE_BODY, 300);
	http_table_sweep(t, 299);
	CHECK(!ended(1));
	http_table_sweep(t, 1000);
	CHECK(ended(1) && !ended(2));
	finish();
}

static void test_bodies(void)
{
	begin();
	struct http_place *a = from("192.0.2.1", 0), *b = from("192.0.2.1", 0);
	struct http_place *c = from("192.0.2.2", 0);
	CHECK(http_table_hold(t, a, 400));
	CHECK(!http_table_hold(t, b, 201)); /* of one address */
	CHECK(http_table_hold(t, b, 200));
	CHECK(!http_table_hold(t, c, 401)); /* of all */
	CHECK(http_table_hold(t, c, 400));
	CHECK(http_table_hold(t, a, 100)); /* less is always taken */
	CHECK(http_table_hold(t, b, 500));
	CHECK(!http_table_hold(t, b, 501));
	http_table_remove(t, b);
	CHECK(http_table_hold(t, a, 600));
	finish();
}

static void test_turns(void)
{
	begin();
	struct http_place *a = from("192.0.2.1", 0), *b = from("192.0.2.1", 0);
	struct http_place *c = from("192.0.2.1", 0), *d = from("192.0.2.2", 0);
	struct http_place *e = from("192.0.2.3", 0);
	CHECK(http_table_enter(t, a) && http_table_enter(t, b));
	CHECK(!http_table_enter(t, c)); /* of one address */
	CHECK(http_table_enter(t, d));
	CHECK(!http_table_enter(t, e)); /* of all */
	http_table_leave(t, a);
	CHECK(http_table_enter(t, c));
	finish();
}

static void test_streams(void)
{
	begin();
	struct http_place *a = from("192.0.2.1", 0), *b = from("192.0.2.1", 0);
	struct http_place *c = from("192.0.2.1", 0), *d = from("192.0.2.2", 0);
	CHECK(http_table_stream(t, a) && http_table_stream(t, b));
	CHECK(!http_table_stream(t, c));
	CHECK(http_table_stream(t, a)); /* has its own already */
	CHECK(http_table_stream(t, d));
	http_table_state(t, a, HTTP_STATE_IDLE, 0);
	CHECK(http_table_stream(t, c));
	finish();
}

static void test_stop(void)
{
	begin();
	struct http_place *a = from("192.0.2.1", 0), *idle = from("192.0.2.1", 0);
	http_table_state(t, a, HTTP_STATE_BODY, 0);
	http_table_state(t, idle, HTTP_STATE_IDLE, 0);
	http_table_stop(t);
	CHECK(!from("192.0.2.7", 0));
	CHECK(ended(1) && !ended(0));
	http_table_state(t, a, HTTP_STATE_REPLY, 0);
	CHECK(!ended(0));
	http_table_state(t, a, HTTP_STATE_IDLE, 0);
	CHECK(ended(0));
	CHECK_INT(http_table_active(t), 0);
	finish();
}

int main(void)
{
	test_each_address_has_its_share();
	test_network_counts_as_one();
	test_who_has_most_gives_way();
	test_nobody_gives_way_at_work();
	test_late_ones_end();
	test_bodies();
	test_turns();
	test_streams();
	test_stop();
	return 0;
}
