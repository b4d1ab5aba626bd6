/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>

#include "base/check.h"
#include "main/message_check.h"

static union {
	struct msg_header header;
	struct msg_live live;
	struct msg_scan scan;
	uint8_t bytes[MSG_LENGTH_MAX + 1];
} m __attribute__((aligned(8)));

static char reason[128];

static void start(uint32_t type, size_t length)
{
	memset(&m, 0, sizeof(m));
	m.header = (struct msg_header){type, (uint32_t)length, 42};
}

static int check(unsigned descriptors)
{
	reason[0] = '\0';
	int r = message_check(&m, m.header.length, descriptors, reason, sizeof(reason));
	CHECK(r == 0 || (r == -EINVAL && reason[0]));
	return r;
}

static void test_header(void)
{
	start(MSG_MEMORY, sizeof(m.header));
	CHECK_INT(check(0), 0);
	/* Shorter than a header, down to nothing. */
	for (size_t n = 0; n < sizeof(m.header); n++)
		CHECK_INT(message_check(&m, n, 0, reason, sizeof(reason)), -EINVAL);
	/* Lengths that lie. */
	for (uint32_t lie = 0; lie < 64; lie++) {
		m.header.length = lie;
		CHECK_INT(message_check(&m, sizeof(m.header), 0, reason, sizeof(reason)),
			lie == sizeof(m.header) ? 0 : -EINVAL);
	}
	m.header.length = UINT32_MAX;
	CHECK_INT(message_check(&m, sizeof(m.header), 0, reason, sizeof(reason)), -EINVAL);
	/* A packet that was cut because it was too long. */
	start(MSG_MEMORY, MSG_LENGTH_MAX + 1);
	CHECK_INT(check(0), -EINVAL);
}

static void test_types(void)
{
	for (uint32_t type = 0; type < 20; type++) {
		start(type, sizeof(m.header));
		bool bare = type == MSG_MEMORY || type == MSG_NEIGHBOURS;
		CHECK_INT(check(0), bare ? 0 : -EINVAL);
	}
	start(UINT32_MAX, sizeof(m.header));
	CHECK_INT(check(0), -EINVAL);
}

static void test_descriptors(void)
{
	start(MSG_SNAPSHOT, sizeof(m.header));
	CHECK_INT(check(1), 0);
	CHECK_INT(check(0), -EINVAL);
	CHECK_INT(check(2), -EINVAL);
	start(MSG_MEMORY, sizeof(m.header));
	CHECK_INT(check(1), -EINVAL);
	start(MSG_SNAPSHOT, sizeof(m.header) + 8);
	CHECK_INT(check(1), -EINVAL);
}

static void start_live(uint32_t count)
{
	start(MSG_LIVE, sizeof(m.live) + count * sizeof(m.live.row[0]));
	m.live.count = count;
	for (uint32_t i = 0; i < count; i++) {
		m.live.row[i].id = i + 1;
		m.live.row[i].live.ratio = 1;
		m.live.row[i].live.avail = LIVE_BITS;
	}
}

static void test_live(void)
{
	for (uint32_t count = 1; count <= LIVE_ROWS_MAX; count += 341) {
		start_live(count);
		CHECK_INT(check(0), 0);
	}
	start_live(0);
	CHECK_INT(check(0), -EINVAL);
	start_live(LIVE_ROWS_MAX + 1);
	CHECK_INT(check(0), -EINVAL);
	/* More or fewer rows than there are bytes, also when the product would wrap. */
	const uint32_t lies[] = {0, 2, 4, 0x10000000, UINT32_MAX};
	for (size_t i = 0; i < sizeof(lies) / sizeof(lies[0]); i++) {
		start_live(3);
		m.live.count = lies[i];
		CHECK_INT(check(0), -EINVAL);
	}
	start(MSG_LIVE, sizeof(m.header));
	CHECK_INT(check(0), -EINVAL);
}

/* Every field of a row, in the last row: the reason names it. */
static void test_live_fields(void)
{
	start_live(3);
	m.live.row[2].id = ID_NONE;
	CHECK_INT(check(0), -EINVAL);
	CHECK(strstr(reason, "row 2") && strstr(reason, "id"));
	start_live(3);
	m.live.row[2].live.ratio = 0;
	CHECK_INT(check(0), -EINVAL);
	CHECK(strstr(reason, "ratio"));
	start_live(3);
	m.live.row[2].live.avail = LIVE_BITS + 1;
	CHECK_INT(check(0), -EINVAL);
	CHECK(strstr(reason, "avail"));
	start_live(3);
	m.live.row[2].live.reserved[2] = 1;
	CHECK_INT(check(0), -EINVAL);
	start_live(3);
	m.live.reserved = 1;
	CHECK_INT(check(0), -EINVAL);
}

static void test_scan(void)
{
	start(MSG_SCAN, sizeof(m.scan));
	CHECK_INT(check(0), 0);
	m.scan.action = SCAN_COUNT;
	m.scan.filter.client = ip_addr_v4(0x0100000a);
	m.scan.filter.client_prefix = 32;
	m.scan.filter.server_prefix = 128;
	CHECK_INT(check(0), 0);
	m.scan.filter.client_prefix = 33;
	CHECK_INT(check(0), -EINVAL);
	m.scan.filter.client_prefix = 0;
	m.scan.filter.server_prefix = 129;
	CHECK_INT(check(0), -EINVAL);
	start(MSG_SCAN, sizeof(m.scan));
	m.scan.action = SCAN_ACTIONS;
	CHECK_INT(check(0), -EINVAL);
	start(MSG_SCAN, sizeof(m.scan));
	m.scan.filter.down = 1;
	CHECK_INT(check(0), 0);
	m.scan.filter.down = 2;
	CHECK_INT(check(0), -EINVAL);
	CHECK(strstr(reason, "down"));
	start(MSG_SCAN, sizeof(m.scan));
	m.scan.filter.reserved3 = 1;
	CHECK_INT(check(0), -EINVAL);
	start(MSG_SCAN, sizeof(m.scan) - 1);
	CHECK_INT(check(0), -EINVAL);
	start(MSG_SCAN, sizeof(m.scan) + 1);
	CHECK_INT(check(0), -EINVAL);
}

int main(void)
{
	test_header();
	test_types();
	test_descriptors();
	test_live();
	test_live_fields();
	test_scan();
	return 0;
}
