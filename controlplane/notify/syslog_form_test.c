/* SPDX-License-Identifier: BSD-3-Clause */
#include "notify/syslog_form.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/check.h"

static json_t *record(void)
{
	return json_pack("{s:i,s:I,s:s,s:s,s:s,s:s,s:s,s:s,s:{s:s,s:s,s:s},s:s,s:i,s:s,s:s}", "seq",
		7, "time", (json_int_t)1700000000000042, "id", "01070638", "level", "notice",
		"module", "ltm", "kind", "ltm pool members", "object", "/Common/a:80", "owner",
		"/Common/web", "actor", "class", "operator", "name", "bob", "address", "192.0.2.7",
		"cause", "says \"no\\[]", "incident", 7, "part", "open", "text",
		"Pool web\nmember down");
}

static void check_form(const char *zone, const char *expected)
{
	json_t *r = record();
	size_t length;

	setenv("TZ", zone, 1);
	tzset();
	char *text = syslog_form(r, "lb 1", SYSLOG_UDP_MAX, &length);
	CHECK(text && !strcmp(text, expected) && length == strlen(expected));
	free(text);
	json_decref(r);
}

#define REST                                                                                       \
	" lb_1 weir-cp - member-status [weir@8072.9999.9999 id=\"01070638\" seq=\"7\" kind=\"ltm " \
	"pool "                                                                                    \
	"members\" object=\"/Common/a:80\" owner=\"/Common/web\" class=\"operator\" "              \
	"actor=\"bob\" "                                                                           \
	"address=\"192.0.2.7\" cause=\"says \\\"no\\\\[\\]\" incident=\"7\" part=\"open\"] "       \
	"01070638:5: Pool web member down"

static void forms(void)
{
	check_form("UTC", "<133>1 2023-11-14T22:13:20.000042+00:00" REST);
	check_form("<+0530>-5:30", "<133>1 2023-11-15T03:43:20.000042+05:30" REST);
	check_form("<-0330>3:30", "<133>1 2023-11-14T18:43:20.000042-03:30" REST);
}

/* What is too long is cut between characters; data that leaves no room for the text goes first. */
static void sizes(void)
{
	json_t *r = record();
	char umlauts[6001];
	size_t length;

	for (size_t i = 0; i < sizeof(umlauts) - 1; i += 2)
		memcpy(umlauts + i, "\xc3\xa4", 2);
	umlauts[6000] = 0;
	json_object_set_new(r, "text", json_string(umlauts));
	for (size_t max = 600; max < 604; max++) {
		char *text = syslog_form(r, "lb", max, &length);

		CHECK(text && length <= max && length + 2 > max && strstr(text, "seq=\"7\""));
		CHECK(text && text[length - 1] == '\xa4');
		free(text);
	}
	json_object_set_new(r, "cause", json_string(umlauts));
	char *text = syslog_form(r, "lb", 600, &length);
	CHECK(text && strstr(text, " - member-status - 01070638:5: \xc3"));
	free(text);
	json_decref(r);
}

static void local(void)
{
	json_t *r = record();
	size_t length;

	setenv("TZ", "UTC", 1);
	tzset();
	char *text = syslog_form_local(r, 2048, &length);
	CHECK(text &&
		!strcmp(text, "<133>Nov 14 22:13:20 weir-cp: 01070638:5: Pool web member down"));
	free(text);
	json_decref(r);
	r = json_object();
	text = syslog_form(r, "", SYSLOG_UDP_MAX, &length);
	CHECK(text && strstr(text, " - weir-cp - - [weir@8072.9999.9999] :5: "));
	free(text);
	json_decref(r);
}

int main(void)
{
	forms();
	sizes();
	local();
	return 0;
}
