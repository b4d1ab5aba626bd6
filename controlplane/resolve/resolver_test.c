/* SPDX-License-Identifier: BSD-3-Clause */
/* The resolver against a name server in the same event loop, which behaves as the name asks it to. */
#include "resolve/resolver.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/check.h"
#include "base/clock.h"

enum { HEADER = 12, TYPE_A = 1, TYPE_CNAME = 5, TYPE_AAAA = 28, TTL = 300, UDP_MAX = 512 };

/* --- the name server ------------------------------------------------------------------------------ */

struct message {
	uint8_t b[65536];
	size_t n;
};

static struct {
	uint16_t port;
	int udp, tcp;
	unsigned asked, asked_tcp;
	unsigned most_in_10ms, in_10ms;
	uint64_t window;
	unsigned addresses; /* of "n.test" */
	bool dead;
} dns;

static void put(struct message *m, const void *bytes, size_t n)
{
	CHECK(m->n + n <= sizeof(m->b));
	memcpy(m->b + m->n, bytes, n);
	m->n += n;
}

static void put16(struct message *m, unsigned value)
{
	put(m, (uint8_t[]){value >> 8, value}, 2);
}

static void put_record(struct message *m, unsigned name_at, unsigned type, unsigned ttl,
	const void *data, unsigned size)
{
	put16(m, 0xc000 | name_at);
	put16(m, type);
	put16(m, 1);
	put16(m, ttl >> 16);
	put16(m, ttl);
	put16(m, size);
	put(m, data, size);
	m->b[7]++;
	m->b[6] += m->b[7] == 0;
}

static void put_a(struct message *m, unsigned name_at, unsigned last)
{
	put_record(m, name_at, TYPE_A, TTL, (uint8_t[]){10, 0, last >> 8, last}, 4);
}

/* The question, its first label as text. Returns its length behind the header. */
static size_t question_of(const struct message *q, char label[64], unsigned *type)
{
	size_t at = HEADER;

	CHECK(q->n > HEADER + 6);
	snprintf(label, 64, "%.*s", q->b[at], (const char *)q->b + at + 1);
	while (q->b[at])
		at += 1 + q->b[at];
	*type = q->b[at + 2];
	return at + 5 - HEADER;
}

static void answer_many(struct message *m, bool udp)
{
	if (udp) {
		m->b[2] |= 2; /* truncated */
		return;
	}
	for (unsigned i = 0; i < 1000; i++)
		put_a(m, HEADER, 256 + i);
}

static void answer_alias(struct message *m)
{
	static const uint8_t real[] = "\4real\4test";
	unsigned at;

	put_record(m, HEADER, TYPE_CNAME, 20, real, sizeof(real));
	at = (unsigned)(m->n - sizeof(real));
	put_a(m, at, 8);
}

/* Answers by label. False: says nothing. */
static bool answer(struct message *m, const char *label, unsigned type, bool udp)
{
	static const uint8_t v6[16] = {0x20, 1, 0xd, 0xb8, [15] = 6};

	if (!strcmp(label, "silent"))
		return false;
	if (!strcmp(label, "nx"))
		m->b[3] |= 3;
	else if (!strcmp(label, "servfail"))
		m->b[3] |= 2;
	else if (!strcmp(label, "refused"))
		m->b[3] |= 5;
	else if (!strcmp(label, "damaged"))
		m->b[7] = 3;
	else if (!strcmp(label, "many"))
		answer_many(m, udp);
	else if (!strcmp(label, "alias"))
		answer_alias(m);
	else if (!strcmp(label, "loopback"))
		put_record(m, HEADER, TYPE_A, TTL, (uint8_t[]){127, 0, 0, 1}, 4);
	else if (!strcmp(label, "n"))
		for (unsigned i = 0; i < dns.addresses; i++)
			put_a(m, HEADER, 1 + i);
	else if (strcmp(label, "empty") && type == TYPE_A)
		put_a(m, HEADER, 7);
	else if (!strcmp(label, "both") && type == TYPE_AAAA)
		put_record(m, HEADER, TYPE_AAAA, 60, v6, 16);
	return true;
}

static void count_pace(void)
{
	uint64_t window = clock_ns() / 10000000;

	dns.in_10ms = window == dns.window ? dns.in_10ms + 1 : 1;
	dns.window = window;
	if (dns.in_10ms > dns.most_in_10ms)
		dns.most_in_10ms = dns.in_10ms;
}

/* Answer to q in m; false: none. */
static bool serve(const struct message *q, struct message *m, char label[64], bool udp)
{
	unsigned type;
	size_t question = question_of(q, label, &type);

	dns.asked++;
	count_pace();
	m->n = 0;
	put(m, q->b, HEADER + question);
	m->b[2] = 0x85; /* an answer, recursion was wanted */
	m->b[3] = 0x80;
	memset(m->b + 6, 0, 6); /* no records yet */
	return !dns.dead && answer(m, label, type, udp);
}

static void on_udp(evutil_socket_t fd, short what, void *ctx)
{
	static struct message q, m;
	struct sockaddr_in from;
	socklen_t size = sizeof(from);
	char label[64];

	q.n = (size_t)recvfrom(fd, q.b, sizeof(q.b), 0, (struct sockaddr *)&from, &size);
	if (!serve(&q, &m, label, true))
		return;
	if (!strcmp(label, "wrongid")) {
		m.b[0] ^= 0xff;
		m.b[m.n - 1] = 66;
		sendto(fd, m.b, m.n, 0, (struct sockaddr *)&from, size);
		sendto(fd, "", 0, 0, (struct sockaddr *)&from, size);
		sendto(fd, m.b, 5, 0, (struct sockaddr *)&from, size);
		m.b[0] ^= 0xff;
		m.b[m.n - 1] = 7;
	}
	sendto(fd, m.b, m.n, 0, (struct sockaddr *)&from, size);
}

/* c-ares writes length and question at once, so they arrive at once. */
static void on_tcp_question(evutil_socket_t fd, short what, void *ctx)
{
	static struct message q, m;
	static uint8_t in[2 + 512];
	char label[64];
	ssize_t n = recv(fd, in, sizeof(in), 0);

	CHECK(n > 2 && n == 2 + (in[0] << 8 | in[1]));
	q.n = 0;
	put(&q, in + 2, (size_t)n - 2);
	if (serve(&q, &m, label, false)) {
		uint8_t length[2] = {(uint8_t)(m.n >> 8), (uint8_t)m.n};

		CHECK_INT(send(fd, length, 2, MSG_MORE), 2);
		CHECK_INT(send(fd, m.b, m.n, 0), m.n);
	}
	close(fd);
}

static void on_tcp(evutil_socket_t fd, short what, void *ctx)
{
	int c = accept(fd, NULL, NULL);

	CHECK(c >= 0);
	dns.asked_tcp++;
	CHECK_INT(event_base_once(event_get_base(ctx), c, EV_READ, on_tcp_question, NULL, NULL), 0);
}

static void dns_open(struct event_base *base, struct event *events[2])
{
	struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
	socklen_t size = sizeof(at);

	dns.udp = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	dns.tcp = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	CHECK_INT(bind(dns.udp, (struct sockaddr *)&at, size), 0);
	CHECK_INT(getsockname(dns.udp, (struct sockaddr *)&at, &size), 0);
	dns.port = ntohs(at.sin_port);
	CHECK_INT(bind(dns.tcp, (struct sockaddr *)&at, size), 0);
	CHECK_INT(listen(dns.tcp, 16), 0);
	events[0] = event_new(base, dns.udp, EV_READ | EV_PERSIST, on_udp, NULL);
	events[1] = event_new(base, dns.tcp, EV_READ | EV_PERSIST, on_tcp, event_self_cbarg());
	event_add(events[0], NULL);
	event_add(events[1], NULL);
}

/* --- who asks ------------------------------------------------------------------------------------- */

static struct event_base *base;
static struct resolver *resolver;
static unsigned ended, changed_count;

static void on_done(void *ctx, uint32_t key, bool changed)
{
	ended++;
	changed_count += changed;
}

static const char *on_refuse(void *ctx, const struct ip_addr *addr)
{
	return NULL;
}

static void run_until(unsigned wanted)
{
	uint64_t deadline = clock_ns() + 20000000000ull;
	struct timeval tick = {.tv_usec = 10000};

	while (ended < wanted && clock_ns() < deadline) {
		event_base_loopexit(base, &tick);
		event_base_dispatch(base);
	}
	CHECK(ended >= wanted);
}

static void watch(uint32_t key, const char *name, uint8_t family, uint32_t interval)
{
	CHECK_INT(resolver_watch(
			  resolver, key, &(struct resolve_name){name, family, interval, 1}, NULL),
		0);
}

static void is(uint32_t key, unsigned state, const char *error, const char *addresses)
{
	const struct resolve_status *s = resolver_status(resolver, key);
	char got[4096] = "", text[IP_ADDR_TEXT];

	CHECK(s != NULL);
	CHECK_STR(resolve_state_name(s->state), resolve_state_name(state));
	CHECK_STR(s->error, error);
	for (unsigned i = 0; i < s->address.count; i++) {
		strcat(got, i ? " " : "");
		strcat(got, ip_format(&s->address.v[i], text));
	}
	CHECK_STR(got, addresses);
}

static void begin(void)
{
	struct resolve_servers servers = {
		.servers = 1, .server = {{ip_addr_v4(htonl(INADDR_LOOPBACK)), dns.port}}};
	static const struct resolver_ops ops = {on_done, on_refuse};

	ended = changed_count = 0;
	resolver = resolver_new(base, &ops, NULL);
	CHECK(resolver != NULL);
	resolver_set_servers(resolver, &servers);
}

static void test_answers(void)
{
	begin();
	watch(1, "web.test", RESOLVE_IPV4, 3600);
	watch(2, "both.test", RESOLVE_ALL, 0);
	watch(3, "alias.test", RESOLVE_IPV4, 0);
	watch(4, "wrongid.test", RESOLVE_IPV4, 0);
	CHECK_INT(resolver_status(resolver, 1)->state, RESOLVE_CHECKING);
	CHECK(resolver_status(resolver, 9) == NULL);
	run_until(4);
	is(1, RESOLVE_UP, "", "10.0.0.7");
	is(2, RESOLVE_UP, "", "10.0.0.7 2001:db8::6");
	is(3, RESOLVE_UP, "", "10.0.0.8");
	is(4, RESOLVE_UP, "", "10.0.0.7");
	CHECK_INT(changed_count, 4);
	CHECK_INT(resolver_status(resolver, 2)->ttl, 60);
	watch(2, "both.test", RESOLVE_IPV4, 0);
	is(2, RESOLVE_CHECKING, "", "10.0.0.7 2001:db8::6");
	run_until(5);
	is(2, RESOLVE_UP, "", "10.0.0.7");
	CHECK_INT(resolver_status(resolver, 3)->ttl, 20);
	CHECK(resolver_status(resolver, 1)->next_ns > clock_ns() + 3000000000000ull);
	resolver_free(resolver);
}

static void test_failures(void)
{
	begin();
	watch(1, "nx.test", RESOLVE_IPV4, 0);
	watch(2, "servfail.test", RESOLVE_ALL, 0);
	watch(3, "empty.test", RESOLVE_IPV4, 0);
	watch(4, "refused.test", RESOLVE_IPV4, 0);
	watch(5, "damaged.test", RESOLVE_IPV4, 0);
	watch(6, "loopback.test", RESOLVE_IPV4, 0);
	CHECK_INT(resolver_watch(resolver, 7, &(struct resolve_name){"a..b", 1, 1, 1}, NULL),
		-EINVAL);
	run_until(6);
	is(1, RESOLVE_DOWN, "A: the name does not exist (NXDOMAIN)", "");
	is(2, RESOLVE_DOWN, "A: the name server failed (SERVFAIL)", "");
	is(3, RESOLVE_UP_NO_ADDR, "the name has no addresses", "");
	is(4, RESOLVE_DOWN, "A: the name server refused to answer", "");
	is(5, RESOLVE_DOWN, "A: the answer is damaged", "");
	is(6, RESOLVE_UP_NO_ADDR, "the answer has no address that can be used", "");
	CHECK_STR(resolver_status(resolver, 6)->refused, "127.0.0.1 is a loopback address");
	CHECK_INT(changed_count, 0);
	resolver_free(resolver);
}

static void test_truncated(void)
{
	begin();
	watch(1, "many.test", RESOLVE_IPV4, 0);
	run_until(1);
	const struct resolve_status *s = resolver_status(resolver, 1);
	CHECK_INT(dns.asked_tcp, 1);
	CHECK_INT(s->address.count, RESOLVE_ADDRESSES_MAX);
	CHECK_STR(s->refused, "1000 addresses are more than the 64 used");
	resolver_free(resolver);
}

/* Asked every second; what is gone from a good answer is gone, a failure changes nothing. */
static void test_again(void)
{
	struct resolve_addresses known = {1, {ip_addr_v4(htonl(0x0a000003))}};

	begin();
	dns.addresses = 3;
	CHECK_INT(resolver_watch(resolver, 1, &(struct resolve_name){"n.test", RESOLVE_IPV4, 1, 1},
			  &known),
		0);
	is(1, RESOLVE_CHECKING, "", "10.0.0.3");
	run_until(1);
	is(1, RESOLVE_UP, "", "10.0.0.3 10.0.0.1 10.0.0.2");
	dns.addresses = 2;
	run_until(2);
	is(1, RESOLVE_UP, "", "10.0.0.1 10.0.0.2");
	dns.addresses = 0;
	run_until(3);
	is(1, RESOLVE_UP_NO_ADDR, "the name has no addresses", "10.0.0.1 10.0.0.2");
	CHECK_INT(changed_count, 2);
	watch(1, "nx.test", RESOLVE_IPV4, 1);
	is(1, RESOLVE_CHECKING, "", "");
	resolver_free(resolver);
}

static void test_silent(void)
{
	uint64_t began = clock_ns();

	begin();
	watch(1, "silent.test", RESOLVE_IPV4, 0);
	watch(2, "silent.test", RESOLVE_IPV4, 0);
	watch(3, "silent.test", RESOLVE_IPV4, 0);
	resolver_forget(resolver, 3);
	run_until(1);
	is(1, RESOLVE_DOWN, "A: no name server answered in time", "");
	CHECK(clock_ns() - began < 11000000000ull);
	resolver_free(resolver); /* while the second is under way */
}

/* A thousand names that are due at once: all are asked, never many at the same moment. */
static void test_thousand(void)
{
	enum { NAMES = 1000 };
	char name[32];

	begin();
	dns.most_in_10ms = 0;
	for (uint32_t i = 0; i < NAMES; i++) {
		snprintf(name, sizeof(name), "w%u.test", i);
		watch(i + 1, name, RESOLVE_IPV4, 3600);
	}
	run_until(NAMES);
	for (uint32_t i = 0; i < NAMES; i++)
		is(i + 1, RESOLVE_UP, "", "10.0.0.7");
	CHECK(dns.most_in_10ms <= 12);
	for (uint32_t i = 0; i < NAMES; i++)
		resolver_forget(resolver, i + 1);
	CHECK(resolver_status(resolver, 5) == NULL);
	resolver_free(resolver);
}

int main(void)
{
	struct event *events[2];

	base = event_base_new();
	dns_open(base, events);
	test_answers();
	test_failures();
	test_truncated();
	test_again();
	test_silent();
	test_thousand();
	event_free(events[0]);
	event_free(events[1]);
	close(dns.udp);
	close(dns.tcp);
	event_base_free(base);
	libevent_global_shutdown();
	return 0;
}
