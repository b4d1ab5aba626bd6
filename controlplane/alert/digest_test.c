/* SPDX-License-Identifier: BSD-3-Clause */
#include "alert/digest.h"

#include "alert/quiet.h"
#include "base/check.h"
#include "ipc/ipc.h"

#define S 1000ull
#define MIN (60 * S)
#define NOW 1000000ull

static const struct digest_settings plain = {
	.digest_s = 5, .remind_min = 30, .level = 5, .quiet_level = 2, .modules = DIGEST_ALL};

static void take_level(struct digest *d, uint64_t seq, uint64_t incident, const char *part,
	const char *level, uint64_t now)
{
	json_t *record = json_pack("{sI ss ss sI ss sI ss}", "seq", (json_int_t)seq, "level", level,
		"module", "ltm", "incident", (json_int_t)incident, "part", part, "duration",
		(json_int_t)7, "object", "/Common/10.0.0.1:80");

	CHECK_INT(digest_record(d, record, now), 0);
	json_decref(record);
}

static void take(struct digest *d, uint64_t seq, uint64_t incident, const char *part, uint64_t now)
{
	take_level(d, seq, incident, part, "err", now);
}

/* The next message is of this kind with so many incidents, so many of them closed; it is taken. */
#define EXPECT(d, now, quiet, is, all, ended)                                                      \
	do {                                                                                       \
		const struct digest_message *m_ = digest_next(d, now, quiet);                      \
		CHECK(m_);                                                                         \
		CHECK_INT(m_->kind, is);                                                           \
		CHECK_INT(m_->count, all);                                                         \
		CHECK_INT(m_->closed, ended);                                                      \
		digest_taken(d, now);                                                              \
	} while (0)

static void test_a_rack_is_one_message(void)
{
	struct digest d;

	digest_init(&d, &plain);
	for (unsigned n = 1; n <= 50; n++)
		take(&d, n, n, "open", NOW + n * 50);
	CHECK(!digest_next(&d, NOW + 5 * S, false));
	EXPECT(&d, NOW + 5 * S + 50, false, DIGEST_OPENED, 50, 0);
	CHECK(!digest_next(&d, NOW + 20 * S, false));
	for (unsigned n = 1; n <= 50; n++)
		take(&d, 50 + n, n, "close", NOW + 60 * S);
	CHECK(!digest_next(&d, NOW + 64 * S, false));
	EXPECT(&d, NOW + 65 * S, false, DIGEST_CLOSED, 50, 50);
	CHECK(digest_idle(&d));
	digest_fini(&d);
}

static void test_brief_one_is_told_once(void)
{
	struct digest d;

	digest_init(&d, &plain);
	take(&d, 1, 1, "open", NOW);
	take(&d, 2, 1, "also", NOW);
	take(&d, 3, 1, "close", NOW + S);
	take(&d, 4, 1, "also", NOW + S);
	EXPECT(&d, NOW + 5 * S, false, DIGEST_OPENED, 1, 1);
	CHECK(digest_idle(&d));
	take(&d, 5, 1, "also", NOW + 6 * S);
	take(&d, 5, 5, "open", NOW + 6 * S);
	CHECK(digest_idle(&d));
	digest_fini(&d);
}

/* The journal opens an incident again under its number; people are told that it is bad, but not each time. */
static void test_again(void)
{
	struct digest d;

	digest_init(&d, &plain);
	take(&d, 1, 1, "open", NOW);
	take(&d, 2, 1, "close", NOW + S);
	take(&d, 3, 1, "open", NOW + 2 * S);
	EXPECT(&d, NOW + 5 * S, false, DIGEST_OPENED, 1, 0);
	for (unsigned n = 4; n < 40; n++)
		take(&d, n, 1, n % 2 ? "open" : "close", NOW + n * 10 * S);
	CHECK(!digest_next(&d, NOW + 440 * S, false));
	take(&d, 40, 1, "close", NOW + 400 * S);
	CHECK(!digest_next(&d, NOW + 459 * S, false));
	EXPECT(&d, NOW + 460 * S, false, DIGEST_CLOSED, 1, 1);
	CHECK(digest_idle(&d));
	digest_fini(&d);
}

static void test_again_after_its_end(void)
{
	struct digest d;

	digest_init(&d, &plain);
	take(&d, 1, 1, "open", NOW);
	EXPECT(&d, NOW + 5 * S, false, DIGEST_OPENED, 1, 0);
	take(&d, 2, 1, "close", NOW + 10 * S);
	EXPECT(&d, NOW + 15 * S, false, DIGEST_CLOSED, 1, 1);
	take(&d, 3, 1, "open", NOW + 20 * S);
	EXPECT(&d, NOW + 25 * S, false, DIGEST_OPENED, 1, 0);
	/* And while the end is on its way. */
	take(&d, 4, 1, "close", NOW + 30 * S);
	CHECK_INT(digest_next(&d, NOW + 90 * S, false)->kind, DIGEST_CLOSED);
	take(&d, 5, 1, "open", NOW + 91 * S);
	digest_taken(&d, NOW + 92 * S);
	EXPECT(&d, NOW + 97 * S, false, DIGEST_OPENED, 1, 0);
	digest_fini(&d);
}

static void test_also_enriches(void)
{
	struct digest d;

	digest_init(&d, &plain);
	take_level(&d, 1, 1, "open", "notice", NOW);
	for (unsigned n = 2; n < 10; n++)
		take_level(&d, n, 1, "also", "alert", NOW);
	CHECK(digest_next(&d, NOW + 5 * S, false));
	const struct incident *i = digest_sent(&d, 0);
	CHECK_INT(i->level, 1);
	CHECK_INT(i->also_count, 8);
	CHECK_INT(json_array_size(i->also), INCIDENT_ALSO_MAX);
	CHECK(!digest_sent(&d, 1));
	digest_fini(&d);
}

static void test_reminder(void)
{
	struct digest d;

	digest_init(&d, &plain);
	take(&d, 1, 1, "open", NOW);
	EXPECT(&d, NOW + 5 * S, false, DIGEST_OPENED, 1, 0);
	CHECK(!digest_next(&d, NOW + 30 * MIN, false));
	EXPECT(&d, NOW + 30 * MIN + 5 * S, false, DIGEST_REMINDER, 1, 0);
	CHECK(!digest_next(&d, NOW + 60 * MIN, false));
	EXPECT(&d, NOW + 60 * MIN + 5 * S, false, DIGEST_REMINDER, 1, 0);
	take(&d, 2, 1, "close", NOW + 61 * MIN);
	EXPECT(&d, NOW + 62 * MIN, false, DIGEST_CLOSED, 1, 1);
	digest_fini(&d);
}

static void test_ends_are_not_told(void)
{
	struct digest d;

	digest_init(&d, &plain);
	d.settings.no_ends = true;
	take(&d, 1, 1, "open", NOW);
	EXPECT(&d, NOW + 5 * S, false, DIGEST_OPENED, 1, 0);
	take(&d, 2, 1, "close", NOW + 6 * S);
	CHECK(!digest_next(&d, NOW + 20 * S, false));
	CHECK(digest_idle(&d));
	digest_fini(&d);
}

static void test_quiet_hours(void)
{
	struct digest d;

	digest_init(&d, &plain);
	take(&d, 1, 1, "open", NOW);
	EXPECT(&d, NOW + 5 * S, false, DIGEST_OPENED, 1, 0);
	take(&d, 2, 2, "open", NOW + 10 * S);
	take_level(&d, 3, 3, "open", "crit", NOW + 10 * S);
	EXPECT(&d, NOW + 20 * S, true, DIGEST_OPENED, 1, 0);
	take(&d, 4, 1, "close", NOW + 30 * S);
	CHECK(!digest_next(&d, NOW + 29 * MIN, true));
	/* Held back: one that still is open, the end of one that was told before. */
	EXPECT(&d, NOW + 29 * MIN, false, DIGEST_SUMMARY, 2, 1);
	CHECK(!digest_next(&d, NOW + 29 * MIN, false));
	digest_fini(&d);
}

static void test_filters(void)
{
	struct digest_settings s = plain;
	struct digest d;

	s.level = 3;
	s.modules = DIGEST_ALL & ~DIGEST_LTM;
	digest_init(&d, &s);
	take(&d, 1, 1, "open", NOW);
	CHECK(digest_idle(&d));
	d.settings.modules = DIGEST_LTM;
	take_level(&d, 2, 2, "open", "warning", NOW);
	take(&d, 3, 2, "close", NOW);
	CHECK(digest_idle(&d));
	/* What joins an incident may be worse than what opened it. */
	take_level(&d, 4, 4, "open", "warning", NOW);
	take_level(&d, 5, 4, "also", "alert", NOW);
	EXPECT(&d, NOW + 5 * S, false, DIGEST_OPENED, 1, 0);
	digest_fini(&d);
}

/* A server that is away: what comes meanwhile goes with it, what ended meanwhile is one line. */
static void test_not_taken(void)
{
	struct digest d;

	digest_init(&d, &plain);
	take(&d, 1, 1, "open", NOW);
	CHECK_INT(digest_next(&d, NOW + 5 * S, false)->number, 1);
	digest_again(&d, false, NULL);
	take(&d, 2, 2, "open", NOW + 6 * S);
	take(&d, 3, 1, "close", NOW + 7 * S);
	CHECK_INT(digest_next(&d, NOW + 8 * S, false)->number, 1);
	take(&d, 4, 2, "close", NOW + 9 * S); /* while it is on its way */
	EXPECT(&d, NOW + 10 * S, false, DIGEST_OPENED, 2, 1);
	EXPECT(&d, NOW + 15 * S, false, DIGEST_CLOSED, 1, 1);
	digest_fini(&d);
}

/* Nobody knows whether it was taken: the same message again, under the same number. */
static void test_frozen(void)
{
	struct digest d;
	json_t *left = json_pack("[s]", "a@b"), *state;

	digest_init(&d, &plain);
	take(&d, 1, 1, "open", NOW);
	CHECK(digest_next(&d, NOW + 5 * S, false));
	digest_again(&d, true, left);
	json_decref(left);
	take(&d, 2, 2, "open", NOW + 6 * S);
	digest_again(&d, false, NULL);
	state = digest_save(&d);
	CHECK_INT(digest_load(&d, state), 0);
	json_decref(state);
	CHECK_INT(json_array_size(digest_next(&d, NOW + 7 * S, false)->left), 1);
	EXPECT(&d, NOW + 20 * S, false, DIGEST_OPENED, 1, 0);
	EXPECT(&d, NOW + 20 * S, false, DIGEST_OPENED, 1, 0);
	CHECK_INT(d.number, 2);
	digest_fini(&d);
}

static void test_refused_is_told_with_the_next(void)
{
	struct digest d;

	digest_init(&d, &plain);
	take(&d, 1, 1, "open", NOW);
	CHECK(digest_next(&d, NOW + 5 * S, false));
	digest_refused(&d, NOW + 5 * S);
	CHECK(!digest_next(&d, NOW + 6 * S, false));
	take(&d, 2, 2, "open", NOW + 6 * S);
	CHECK_INT(digest_next(&d, NOW + 11 * S, false)->refused, 1);
	digest_taken(&d, NOW + 11 * S);
	CHECK_INT(d.refused, 0);
	digest_fini(&d);
}

static void test_restart(void)
{
	struct digest d;
	json_t *state;

	digest_init(&d, &plain);
	take(&d, 1, 1, "open", NOW);
	EXPECT(&d, NOW + 5 * S, false, DIGEST_OPENED, 1, 0);
	take(&d, 2, 2, "open", NOW + 5 * S);
	state = digest_save(&d);
	CHECK(state);
	digest_fini(&d);
	digest_init(&d, &plain);
	CHECK_INT(digest_load(&d, state), 0);
	json_decref(state);
	take(&d, 1, 1, "open", NOW + 6 * S); /* comes again */
	take(&d, 2, 2, "open", NOW + 6 * S);
	take(&d, 3, 1, "close", NOW + 6 * S);
	EXPECT(&d, NOW + 10 * S, false, DIGEST_OPENED, 1, 0);
	EXPECT(&d, NOW + 11 * S, false, DIGEST_CLOSED, 1, 1);
	CHECK_INT(d.number, 3);
	state = json_pack("{ss}", "version", "x");
	CHECK(digest_load(&d, state) < 0);
	json_decref(state);
	CHECK(digest_idle(&d));
	digest_fini(&d);
}

static void test_memory_is_bounded(void)
{
	struct digest d;
	unsigned number = DIGEST_INCIDENTS_MAX + 100;

	digest_init(&d, &plain);
	for (unsigned n = 1; n <= number; n++)
		take(&d, n, n, "open", NOW);
	CHECK_INT(d.count, DIGEST_INCIDENTS_MAX);
	CHECK_INT(d.details, DIGEST_DETAILS_MAX);
	CHECK_INT(digest_next(&d, NOW + 5 * S, false)->beyond, 100);
	digest_taken(&d, NOW + 5 * S);
	for (unsigned n = 1; n <= number; n++)
		take(&d, number + n, n, "close", NOW + 6 * S);
	EXPECT(&d, NOW + 20 * S, false, DIGEST_CLOSED, DIGEST_INCIDENTS_MAX, DIGEST_INCIDENTS_MAX);
	CHECK(digest_idle(&d));
	CHECK_INT(d.details, 0);
	digest_fini(&d);
}

static void test_records_that_are_gone(void)
{
	struct digest d;

	digest_init(&d, &plain);
	take(&d, 1, 1, "open", NOW);
	EXPECT(&d, NOW + 5 * S, false, DIGEST_OPENED, 1, 0);
	digest_gone(&d, 9, NOW + 6 * S);
	CHECK_INT(digest_next(&d, NOW + 11 * S, false)->gone, 9);
	digest_taken(&d, NOW + 11 * S);
	CHECK(!digest_next(&d, NOW + 90 * MIN, false)); /* it may have ended: no reminder */
	take(&d, 11, 1, "open", NOW + 90 * MIN);	/* it had not, or is bad again */
	EXPECT(&d, NOW + 91 * MIN, false, DIGEST_REMINDER, 1, 0);
	digest_gone(&d, 9, NOW + 92 * MIN);
	EXPECT(&d, NOW + 93 * MIN, false, DIGEST_OPENED, 0, 0);
	CHECK(!digest_next(&d, NOW + 60 * 24 * 30 * MIN, false));
	CHECK(!digest_idle(&d));
	CHECK(!digest_next(&d, NOW + 60 * 24 * 30 * MIN + 91 * MIN, false));
	CHECK(digest_idle(&d)); /* an end that never comes is not waited for */
	digest_fini(&d);
}

static void test_texts_are_cleaned(void)
{
	char text[] = "a\r\nBcc: x\x7f\xc2\x85\xe2\x80\xae\xff\xc3\xbc";
	char large[1000];
	json_t *record, *kept;

	incident_clean(text);
	CHECK_STR(text, "a??Bcc: x????\xc3\xbc");
	memset(large, 'x', sizeof(large));
	memcpy(large + INCIDENT_TEXT_MAX - 1, "\xc3\xbc", 2);
	large[999] = 0;
	record = json_pack("{ss ss}", "text", large, "unknown", "y");
	kept = incident_record(record);
	CHECK_INT(strlen(ipc_string(kept, "text")), INCIDENT_TEXT_MAX - 1);
	CHECK_STR(ipc_string(kept, "unknown"), "");
	json_decref(record);
	json_decref(kept);
}

static struct tm at(int day, int hour, int minute)
{
	return (struct tm){.tm_wday = day, .tm_hour = hour, .tm_min = minute};
}

static void test_quiet_times(void)
{
	struct quiet night = {.from = 22 * 60, .to = 7 * 60, .days = 1u << 5}; /* Friday's */
	struct tm t;

	CHECK_INT(quiet_minute("22:30"), 22 * 60 + 30);
	CHECK(quiet_minute("24:00") < 0 && quiet_minute("7:00") < 0 && quiet_minute("aa:00") < 0);
	CHECK_INT(quiet_day("Fri"), 5);
	CHECK(quiet_day("f") < 0);
	t = at(5, 21, 59);
	CHECK(!quiet_at(&night, &t));
	t = at(5, 22, 0);
	CHECK(quiet_at(&night, &t));
	t = at(6, 6, 59);
	CHECK(quiet_at(&night, &t));
	t = at(6, 7, 0);
	CHECK(!quiet_at(&night, &t));
	t = at(5, 6, 0);
	CHECK(!quiet_at(&night, &t));
	night.to = night.from;
	t = at(5, 22, 0);
	CHECK(!quiet_at(&night, &t));
}

int main(void)
{
	test_a_rack_is_one_message();
	test_brief_one_is_told_once();
	test_again();
	test_again_after_its_end();
	test_also_enriches();
	test_reminder();
	test_ends_are_not_told();
	test_quiet_hours();
	test_filters();
	test_not_taken();
	test_frozen();
	test_refused_is_told_with_the_next();
	test_restart();
	test_memory_is_bounded();
	test_records_that_are_gone();
	test_texts_are_cleaned();
	test_quiet_times();
	return 0;
}
