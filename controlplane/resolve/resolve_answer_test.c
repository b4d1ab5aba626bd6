/* SPDX-License-Identifier: BSD-3-Clause */
#include "resolve/resolve_answer.h"

#include "base/check.h"

static struct ip_addr ip(const char *text)
{
	struct ip_addr a;

	CHECK_INT(ip_parse(text, &a), 0);
	return a;
}

/* An answer of addresses separated by blanks. */
static struct resolve_found found_of(const char *list, uint8_t ipv4, uint8_t ipv6)
{
	static struct ip_addr addr[2000];
	struct resolve_found found = {.ipv4 = ipv4, .ipv6 = ipv6, .addr = addr, .ttl = 30};
	char text[IP_ADDR_TEXT];
	int used;

	for (; sscanf(list, "%47s%n", text, &used) == 1; list += used)
		addr[found.count++] = ip(text);
	return found;
}

static void addresses_are(const struct resolve_status *s, const char *want)
{
	char got[4096] = "", text[IP_ADDR_TEXT];

	for (unsigned i = 0; i < s->address.count; i++) {
		strcat(got, i ? " " : "");
		strcat(got, ip_format(&s->address.v[i], text));
	}
	CHECK_STR(got, want);
}

static const char *refuse_ours(void *ctx, const struct ip_addr *addr)
{
	struct ip_addr own = ip("10.0.0.254");

	return ip_equal(addr, &own) ? "is Weir's own" : NULL;
}

static bool take4(struct resolve_status *s, const char *list)
{
	struct resolve_found found = found_of(list, LOOKUP_ANSWERED, LOOKUP_NOT_ASKED);

	return resolve_take(s, &found, 7, refuse_ours, NULL);
}

/* The first one is what autopopulate disabled uses: it stays while it is in the answer. */
static void test_order(void)
{
	struct resolve_status s = {0};

	CHECK(take4(&s, "10.0.0.2 10.0.0.1 10.0.0.2"));
	addresses_are(&s, "10.0.0.2 10.0.0.1");
	CHECK(!take4(&s, "10.0.0.1 10.0.0.2"));
	addresses_are(&s, "10.0.0.2 10.0.0.1");
	CHECK(take4(&s, "10.0.0.3 10.0.0.1"));
	addresses_are(&s, "10.0.0.1 10.0.0.3");
	CHECK_INT(s.state, RESOLVE_UP);
	CHECK_INT(s.answered_ns, 7);
	CHECK_INT(s.ttl, 30);
}

static void test_refused(void)
{
	struct resolve_status s = {0};

	CHECK(take4(
		&s, "127.0.0.1 10.0.0.254 10.0.0.9 0.0.0.0 224.0.0.5 255.255.255.255 169.254.1.1"));
	addresses_are(&s, "10.0.0.9");
	CHECK_STR(s.refused, "127.0.0.1 is a loopback address, 10.0.0.254 is Weir's own, "
			     "0.0.0.0 is the address of no host and 3 more");
	CHECK(!take4(&s, "127.0.0.1 240.0.0.1"));
	addresses_are(&s, "10.0.0.9");
	CHECK_INT(s.state, RESOLVE_UP_NO_ADDR);
	CHECK_STR(s.error, "the answer has no address that can be used");
	CHECK(!take4(&s, "10.0.0.9"));
	CHECK_STR(s.error, "");
	CHECK_STR(s.refused, "");
}

static void test_not_host(void)
{
	static const char *const none[] = {"0.0.0.0", "0.1.2.3", "127.8.8.8", "169.254.0.1",
		"239.1.1.1", "250.0.0.1", "255.255.255.255", "::", "::1", "fe80::1", "ff02::1"};
	static const char *const some[] = {"10.0.0.1", "223.255.255.255", "2001:db8::1", "fd00::1"};

	for (size_t i = 0; i < sizeof(none) / sizeof(*none); i++) {
		struct ip_addr a = ip(none[i]);
		CHECK(resolve_not_host(&a) != NULL);
	}
	for (size_t i = 0; i < sizeof(some) / sizeof(*some); i++) {
		struct ip_addr a = ip(some[i]);
		CHECK(resolve_not_host(&a) == NULL);
	}
}

static void test_nothing_removes(void)
{
	struct resolve_found failed = {.ipv4 = LOOKUP_FAILED, .error = "A: SERVFAIL"};
	struct resolve_found empty = {.ipv4 = LOOKUP_EMPTY};
	struct resolve_status s = {0};

	take4(&s, "10.0.0.1 10.0.0.2");
	CHECK(!resolve_take(&s, &failed, 8, NULL, NULL));
	CHECK_INT(s.state, RESOLVE_DOWN);
	CHECK_STR(s.error, "A: SERVFAIL");
	CHECK(!resolve_take(&s, &empty, 9, NULL, NULL));
	CHECK_INT(s.state, RESOLVE_UP_NO_ADDR);
	CHECK_STR(s.error, "the name has no addresses");
	addresses_are(&s, "10.0.0.1 10.0.0.2");
	CHECK_INT(s.answered_ns, 7);
}

/* One family's failure keeps its addresses; that it has none any more does not. */
static void test_two_families(void)
{
	struct resolve_status s = {0};
	struct resolve_found found =
		found_of("10.0.0.1 2001:db8::1", LOOKUP_ANSWERED, LOOKUP_ANSWERED);

	CHECK(resolve_take(&s, &found, 1, NULL, NULL));
	found = found_of("2001:db8::2", LOOKUP_FAILED, LOOKUP_ANSWERED);
	CHECK(resolve_take(&s, &found, 2, NULL, NULL));
	addresses_are(&s, "10.0.0.1 2001:db8::2");
	CHECK_INT(s.state, RESOLVE_UP);
	found = found_of("10.0.0.1", LOOKUP_ANSWERED, LOOKUP_EMPTY);
	CHECK(resolve_take(&s, &found, 3, NULL, NULL));
	addresses_are(&s, "10.0.0.1");
	found = found_of("::1", LOOKUP_FAILED, LOOKUP_ANSWERED);
	CHECK(!resolve_take(&s, &found, 4, NULL, NULL));
	addresses_are(&s, "10.0.0.1");
	CHECK_INT(s.state, RESOLVE_DOWN);
	CHECK_INT(s.answered_ns, 3);
	found = found_of("::ffff:10.0.0.7", LOOKUP_NOT_ASKED, LOOKUP_ANSWERED);
	CHECK(!resolve_take(&s, &found, 5, NULL, NULL));
	CHECK_STR(s.refused, "10.0.0.7 is an IPv4 address");
}

static void test_too_many(void)
{
	struct resolve_status s = {0};
	char list[20000] = "";

	for (int i = 0; i < 1000; i++)
		sprintf(list + strlen(list), "10.1.%d.%d ", i / 250, 1 + i % 250);
	CHECK(take4(&s, list));
	CHECK_INT(s.address.count, RESOLVE_ADDRESSES_MAX);
	CHECK_STR(s.refused, "1000 addresses are more than the 64 used");
	/* Those in use stay, wherever they stand among the many. */
	struct ip_addr first = s.address.v[0];
	strcat(list, ip_format(&first, (char[IP_ADDR_TEXT]){0}));
	CHECK(!take4(&s, strchr(list, ' ')));
	CHECK(ip_equal(&s.address.v[0], &first));
}

static uint64_t wait_of(uint32_t interval, uint32_t ttl, uint8_t state, const char *error)
{
	struct resolve_name name = {.interval = interval, .down_interval = 5};
	struct resolve_status s = {.state = state, .ttl = ttl};
	uint64_t least = 0;

	strcpy(s.error, error);
	least = resolve_wait(&name, &s, 0);
	for (uint32_t r = 1; r < 100000; r += 97) {
		uint64_t ms = resolve_wait(&name, &s, r);
		CHECK(ms >= least && ms <= least + least / 10);
	}
	return least;
}

static void test_wait(void)
{
	CHECK_INT(wait_of(3600, 30, RESOLVE_UP, ""), 3600000);
	CHECK_INT(wait_of(0, 30, RESOLVE_UP, ""), 30000);
	CHECK_INT(wait_of(0, 0, RESOLVE_UP, ""), 1000);
	CHECK_INT(wait_of(0, UINT32_MAX, RESOLVE_UP, ""), 86400000);
	CHECK_INT(wait_of(3600, 30, RESOLVE_DOWN, "x"), 5000);
	CHECK_INT(wait_of(0, 300, RESOLVE_UP_NO_ADDR, "x"), 5000);
	CHECK_INT(wait_of(0, 300, RESOLVE_UP, "AAAA: x"), 5000);
}

static void test_names(void)
{
	char label[70] = "", long_name[300] = "";

	memset(label, 'a', 63);
	for (int i = 0; i < 4; i++)
		strcat(strcat(long_name, label), ".");
	CHECK(resolve_name_ok("web.example.com"));
	CHECK(resolve_name_ok("web.example.com."));
	CHECK(resolve_name_ok("a"));
	CHECK(resolve_name_ok("_x-1.example"));
	CHECK(resolve_name_ok(label));
	CHECK(!resolve_name_ok(strcat(label, "a")));
	CHECK(!resolve_name_ok(long_name));
	CHECK(!resolve_name_ok(""));
	CHECK(!resolve_name_ok("."));
	CHECK(!resolve_name_ok(".a"));
	CHECK(!resolve_name_ok("a..b"));
	CHECK(!resolve_name_ok("a b"));
	CHECK(!resolve_name_ok("a\\032b"));
}

int main(void)
{
	test_order();
	test_refused();
	test_not_host();
	test_nothing_removes();
	test_two_families();
	test_too_many();
	test_wait();
	test_names();
	CHECK_STR(resolve_state_name(RESOLVE_UP), "fqdn-up");
	return 0;
}
