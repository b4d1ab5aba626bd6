/* SPDX-License-Identifier: BSD-3-Clause */
#include "alert/mail_text.h"

#include "alert/alert_text.h"
#include "base/check.h"
#include "ipc/ipc.h"

static const char *const to[] = {"ops@example.com", "night@example.com"};

static struct mail_head head(void)
{
	return (struct mail_head){.host = "lb1",
		.token = "a1b2",
		.from = "weir@example.com",
		.to = to,
		.to_count = 2,
		.now = 1700000000};
}

static void take(
	struct digest *d, uint64_t seq, uint64_t incident, const char *part, const char *object)
{
	json_t *record = json_pack("{sI ss ss ss sI ss sI ss ss ss ss sI ss s{ss ss}}", "seq",
		(json_int_t)seq, "id", "01070638", "level", "notice", "module", "ltm", "incident",
		(json_int_t)incident, "part", part, "duration", (json_int_t)3725, "kind",
		"ltm pool members", "object", object, "owner", "/Common/web", "cause",
		"connect: refused", "flows", (json_int_t)12, "text", "Pool member is down.",
		"actor", "class", "monitor", "name", "/Common/http");

	CHECK_INT(digest_record(d, record, 1000), 0);
	json_decref(record);
}

/* The next message as mail, as a string of the caller's; it is taken. */
static char *next(struct digest *d, uint64_t now)
{
	struct mail_head h = head();
	size_t length;
	const struct digest_message *m = digest_next(d, now, false);

	CHECK(m);
	char *text = mail_compose(&h, d, m, &length);
	CHECK(text);
	CHECK_INT(strlen(text), length);
	digest_taken(d, now);
	return text;
}

/* Each line ends with CR LF, is not too long, and is 7-bit. */
static void check_lines(const char *text)
{
	size_t column = 0;

	for (const char *p = text; *p; p++) {
		CHECK(*p != '\n' || (p > text && p[-1] == '\r'));
		CHECK(*p != '\r' || p[1] == '\n');
		CHECK((unsigned char)*p < 0x7f);
		column = *p == '\n' ? 0 : column + 1;
		CHECK(column <= 79);
	}
}

static unsigned lines_with(const char *text, const char *begin)
{
	unsigned found = 0;

	for (const char *p = text; (p = strstr(p, begin)); p++)
		found += p == text || p[-1] == '\n';
	return found;
}

static struct digest many(unsigned number, const char *object)
{
	static const struct digest_settings settings = {.level = 7, .modules = DIGEST_ALL};
	struct digest d;

	digest_init(&d, &settings);
	for (unsigned n = 1; n <= number; n++)
		take(&d, n, n, "open", object);
	return d;
}

static void test_down_and_up(void)
{
	struct digest d = many(50, "/Common/10.0.0.1:80");
	char *text = next(&d, 5000);

	check_lines(text);
	CHECK(strstr(text,
		"Subject: [weir lb1] DOWN: pool member /Common/10.0.0.1:80 of /Common/web"
		"\r\n (+49)\r\n"));
	CHECK(strstr(text, "To: <ops@example.com>,\r\n <night@example.com>\r\n"));
	CHECK(strstr(text, "Auto-Submitted: auto-generated\r\n"));
	CHECK(strstr(text, "Message-ID: <weir.a1b2.1@lb1>\r\n"));
	CHECK(strstr(text, "By: monitor /Common/http"));
	CHECK(strstr(text, "Connections: 12"));
	CHECK(strstr(text, "runbook.md#01070638"));
	CHECK(!strstr(text, "In-Reply-To"));
	free(text);
	for (unsigned n = 1; n <= 50; n++)
		take(&d, 50 + n, n, "close", "/Common/10.0.0.1:80");
	text = next(&d, 5000);
	check_lines(text);
	CHECK(strstr(text, "UP: pool member"));
	CHECK(strstr(text, "In-Reply-To: <weir.a1b2.1@lb1>\r\nReferences: <weir.a1b2.1@lb1>\r\n"));
	CHECK(strstr(text, "Duration: 1 h 2 min"));
	free(text);
	digest_fini(&d);
}

static void test_many_are_counted(void)
{
	struct digest d = many(10000, "/Common/a");
	char *text = next(&d, 5000);

	CHECK(strstr(text, "\r\nand 9900 more\r\n"));
	CHECK(strlen(text) < 100000);
	free(text);
	digest_fini(&d);
}

/* Whatever an object is called: no header of its own, no line of SMTP, no fold. */
static void test_hostile_names(void)
{
	static const char *const names[] = {"/Common/x\r\nBcc: evil@example.com\r\n\r\nhello",
		"/Common/=?utf-8?Q?=0D=0ABcc:_evil@example.com?=", "\r\n.\r\nQUIT\r\n", "",
		"/Common/\xc3\xa4\xc3\xb6\xc3\xbc\xe6\x97\xa5\xe6\x9c\xac"
		"\xe6\x97\xa5\xe6\x9c\xac\xe6\x97\xa5\xe6\x9c\xac\xe6\x97\xa5\xe6\x9c\xac",
		"/Common/\xe2\x80\xaetxt.exe"};
	char large[2000];

	for (unsigned i = 0; i < sizeof(names) / sizeof(*names); i++) {
		struct digest d = many(1, names[i]);
		char *text = next(&d, 5000);

		check_lines(text);
		CHECK_INT(lines_with(text, "Bcc"), 0);
		CHECK_INT(lines_with(text, "."), 0);
		CHECK_INT(lines_with(text, "Subject: "), 1);
		free(text);
		digest_fini(&d);
	}
	memset(large, 'x', sizeof(large) - 1);
	large[sizeof(large) - 1] = 0;
	struct digest d = many(1, large);
	char *text = next(&d, 5000);
	check_lines(text);
	free(text);
	digest_fini(&d);
}

static void test_addresses(void)
{
	static const char *const bad[] = {"", "a", "@b", "a@", "a@b@c", "a b@c", "a@b\r\nDATA",
		"<a@b>", "a,b@c", "\xc3\xa4@b"};
	struct mail_head h = head();
	size_t length;
	char *text;

	for (unsigned i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		CHECK(!mail_address_valid(bad[i]));
	CHECK(mail_address_valid("first.last+tag@mail.example.com"));
	text = mail_compose_test(&h, 3, &length);
	check_lines(text);
	free(text);
	h.from = "a@b\r\nBcc: c@d";
	CHECK(!mail_compose_test(&h, 3, &length));
	h = head();
	h.host = "l\xc3\xb6 b\r\nX: y";
	text = mail_compose_test(&h, 3, &length);
	check_lines(text);
	CHECK_INT(lines_with(text, "X:"), 0);
	free(text);
}

static void test_durations(void)
{
	char out[32];

	CHECK_STR(alert_duration(59, out), "59 s");
	CHECK_STR(alert_duration(61, out), "1 min 1 s");
	CHECK_STR(alert_duration(90000, out), "1 d 1 h");
}

static void test_json(void)
{
	struct digest d = many(3, "/Common/a");
	json_t *o = alert_json("lb1", &d, digest_next(&d, 5000, false));

	CHECK_INT(json_array_size(json_object_get(o, "incidents")), 3);
	CHECK_STR(ipc_string(o, "kind"), "opened");
	json_decref(o);
	digest_fini(&d);
}

int main(void)
{
	test_down_and_up();
	test_many_are_counted();
	test_hostile_names();
	test_addresses();
	test_durations();
	test_json();
	return 0;
}
