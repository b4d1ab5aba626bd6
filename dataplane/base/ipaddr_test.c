/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/ipaddr.h"
#include "base/check.h"

#include <errno.h>

static struct ip_addr addr(const char *text)
{
	struct ip_addr a;
	CHECK(ip_parse(text, &a) == 0);
	return a;
}

static void test_text(void)
{
	char buf[IP_ADDR_TEXT];
	struct ip_addr a = addr("10.1.2.3");

	CHECK(ip_is_v4(&a));
	CHECK_STR(ip_format(&a, buf), "10.1.2.3");
	a = addr("2001:DB8:0:0::1");
	CHECK(!ip_is_v4(&a));
	CHECK_STR(ip_format(&a, buf), "2001:db8::1");
	CHECK(ip_parse("10.1.2", &a) == -EINVAL);
	CHECK(ip_parse("10.1.2.3/24", &a) == -EINVAL);
	CHECK(ip_parse("", &a) == -EINVAL);
}

static void test_prefix(void)
{
	struct ip_addr net = addr("10.1.2.0"), in = addr("10.1.2.255"), out = addr("10.1.3.0");
	struct ip_addr any4 = addr("0.0.0.0"), any6 = addr("::"), six = addr("2001:db8::1");

	CHECK(ip_prefix_match(&net, 24, &in));
	CHECK(!ip_prefix_match(&net, 24, &out));
	CHECK(ip_prefix_match(&net, 23, &out));
	CHECK(ip_prefix_match(&any4, 0, &in));
	CHECK(!ip_prefix_match(&any4, 0, &six));
	CHECK(ip_prefix_match(&any6, 0, &six));
	CHECK(!ip_prefix_match(&any6, 0, &in));
	CHECK(ip_is_any(&any4) && ip_is_any(&any6) && !ip_is_any(&net));
}

int main(void)
{
	test_text();
	test_prefix();
	return 0;
}
