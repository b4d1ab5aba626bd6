/* SPDX-License-Identifier: BSD-3-Clause */
#include "event/events.h"

#include "base/check.h"
#include "base/ids.h"

static void add(struct events *e, const char *text)
{
	events_add(e, 1000, ID_NONE, 0, json_pack("{s:s}", "text", text));
}

static void test_order(void)
{
	static struct events e;

	events_init(&e, 5);
	CHECK_INT(events_last(&e), 4999);
	CHECK(events_after(&e, 0) == NULL);
	add(&e, "one");
	add(&e, "two");
	CHECK_INT(events_last(&e), 5001);
	CHECK_INT(events_after(&e, 0)->id, 5000);
	CHECK_STR(events_after(&e, 5000)->text, "{\"text\":\"two\",\"id\":5001,\"time\":1000}");
	CHECK(events_after(&e, 5001) == NULL);
	CHECK_INT(events_gone(&e, 5000), 0);
	CHECK_INT(events_gone(&e, 5001), 0);
	CHECK_INT(events_gone(&e, 9000), 0);
	events_add(&e, 0, ID_NONE, 0, NULL);
	CHECK_INT(events_last(&e), 5001);
	events_fini(&e);
}

static void test_bounds(void)
{
	static struct events e;
	static char big[EVENTS_BYTES_MAX / 4];

	events_init(&e, 1);
	for (unsigned i = 0; i < EVENTS_MAX + 10; i++)
		add(&e, "x");
	CHECK_INT(e.count, EVENTS_MAX);
	CHECK_INT(events_after(&e, 0)->id, 1010);
	CHECK_INT(events_gone(&e, 1000), 9);
	CHECK_INT(events_gone(&e, 1009), 0);
	memset(big, 'x', sizeof(big) - 1);
	for (unsigned i = 0; i < 10; i++)
		add(&e, big);
	CHECK(e.count < 5 && e.bytes <= EVENTS_BYTES_MAX);
	CHECK_INT(events_after(&e, events_last(&e) - 1)->id, events_last(&e));
	events_fini(&e);
	CHECK_INT(e.bytes, 0);
}

int main(void)
{
	test_order();
	test_bounds();
	return 0;
}
