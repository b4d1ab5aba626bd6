/* SPDX-License-Identifier: BSD-3-Clause */
#include "rest/rest_fake.h"

#define POOL                                                                                       \
	"{\"kind\":\"tm:ltm:pool:poolstate\",\"name\":\"web\",\"partition\":\"Common\","           \
	"\"fullPath\":\"/Common/web\",\"generation\":3,\"selfLink\":"                              \
	"\"https://localhost/mgmt/tm/ltm/pool/~Common~web\",\"membersReference\":{\"link\":"       \
	"\"https://localhost/mgmt/tm/ltm/pool/~Common~web/members\"}}"

static void test_item(void)
{
	fake_answer("{\"rows\":[" POOL "],\"result\":{\"count\":1}}");
	CHECK_INT(fake_request(HTTP_GET, "/mgmt/tm/ltm/pool/~Common~web/?ver=11.6.0", NULL), 200);
	CHECK_STR(fake_asked(0, "op"), "\"list\"");
	CHECK_STR(fake_asked(0, "kind"), "\"ltm pool\"");
	CHECK_STR(fake_asked(0, "name"), "\"/Common/web\"");
	CHECK_STR(fake_asked(0, "as"),
		"{\"address\":\"192.0.2.7\",\"password\":\"secret\",\"user\":\"bob\"}");
	CHECK_STR(
		fake_said("selfLink"), "https://localhost/mgmt/tm/ltm/pool/~Common~web?ver=15.1.0");
	CHECK_STR(fake_said("membersReference"),
		"{\"link\":\"https://localhost/mgmt/tm/ltm/pool/~Common~web/members?ver=15.1.0\"}");
	CHECK_INT(fake_request(HTTP_GET, "/mgmt/tm/ltm/pool/web?$select=name", NULL), 200);
	CHECK_INT(json_object_size(fake_reply), 1);
	CHECK_STR(fake_said("name"), "web");
}

static void test_collection(void)
{
	fake_answer("{\"rows\":[" POOL "," POOL "],\"result\":{\"count\":7}}");
	CHECK_INT(fake_request(HTTP_GET,
			  "/mgmt/tm/ltm/pool?$top=2&$skip=2&%24filter=partition+eq+Common"
			  "&expandSubcollections=true",
			  NULL),
		200);
	CHECK_STR(fake_asked(0, "top"), "2");
	CHECK_STR(fake_asked(0, "skip"), "2");
	CHECK_STR(fake_asked(0, "partition"), "\"Common\"");
	CHECK_STR(fake_asked(0, "expand"), "true");
	CHECK_STR(fake_said("kind"), "tm:ltm:pool:poolcollectionstate");
	CHECK_STR(fake_said("selfLink"), "https://localhost/mgmt/tm/ltm/pool?ver=15.1.0");
	CHECK_INT(json_array_size(json_object_get(fake_reply, "items")), 2);
	CHECK_STR(fake_said("totalItems"), "7");
	CHECK_STR(fake_said("totalPages"), "4");
	CHECK_STR(fake_said("currentItemCount"), "2");
	CHECK_STR(fake_said("pageIndex"), "2");
	CHECK_STR(fake_said("nextLink"),
		"https://localhost/mgmt/tm/ltm/pool?%24top=2&%24skip=4&%24filter=partition%20eq%20"
		"Common&expandSubcollections=true");
	fake_answer("{\"rows\":[],\"result\":{\"count\":7}}");
	CHECK_INT(fake_request(HTTP_GET, "/mgmt/tm/ltm/pool?$top=2&$skip=8", NULL), 200);
	CHECK_STR(fake_said("items"), "[]");
	CHECK(!json_object_get(fake_reply, "nextLink"));
	/* other filters than the partition are ours */
	fake_answer("{\"rows\":[{\"name\":\"a\"},{\"name\":\"b\",\"ratio\":2},{\"name\":\"c\"}]}");
	CHECK_INT(fake_request(
			  HTTP_GET, "/mgmt/tm/ltm/node?$filter=ratio eq 2 and name eq 'b'", NULL),
		200);
	CHECK_STR(fake_said("items"), "[{\"name\":\"b\",\"ratio\":2}]");
	CHECK_STR(fake_asked(0, "top"), "");
}

static void test_queries_refused(void)
{
	static const char *const queries[] = {"$top=0", "$top=x", "$top=-1", "$skip=-1",
		"$skip=", "$top=99999999999999999999", "$filter=x", "$filter=a ne b",
		"$filter=a eq b or c eq d", "$filter=a eq 'b"};
	char target[256];

	for (size_t i = 0; i < sizeof(queries) / sizeof(*queries); i++) {
		snprintf(target, sizeof(target), "/mgmt/tm/ltm/pool?%s", queries[i]);
		CHECK_INT(fake_request(HTTP_GET, target, NULL), 400);
		CHECK_INT(fake.next, 0);
	}
}

static void test_create(void)
{
	fake_answer("{\"result\":{}}");
	fake_answer("{\"rows\":[" POOL "],\"result\":{}}");
	CHECK_INT(fake_request(HTTP_POST, "/mgmt/tm/ltm/pool/",
			  "{\"name\":\"web\",\"partition\":\"Common\",\"monitor\":null}"),
		200);
	CHECK_STR(fake_asked(0, "op"), "\"create\"");
	CHECK_STR(fake_asked(0, "body"),
		"{\"monitor\":null,\"name\":\"web\",\"partition\":\"Common\"}");
	CHECK_STR(fake_asked(1, "name"), "\"/Common/web\"");
	CHECK_STR(fake_said("fullPath"), "/Common/web");
}

/* LTM's form of a monitor's variables goes out and comes in. */
static void test_variables_of_a_monitor(void)
{
	static const char path[] = "/mgmt/tm/ltm/monitor/external/m";
	static const char row[] = "{\"rows\":[{\"kind\":\"tm:ltm:monitor:external:externalstate\","
				  "\"userDefined\":\"A=1\\nB=x=y\"}],\"result\":{}}";

	fake_answer(row);
	CHECK_INT(fake_request(HTTP_GET, path, NULL), 200);
	CHECK_STR(fake_said("apiRawValues"), "{\"userDefined A\":\"1\",\"userDefined B\":\"x=y\"}");
	fake_answer("{\"result\":{}}");
	fake_answer(row);
	CHECK_INT(fake_request(HTTP_PATCH, path,
			  "{\"apiRawValues\":{\"userDefined A\":\"1\",\"userDefined B\":\"2\"}}"),
		200);
	CHECK_STR(fake_asked(0, "body"), "{\"userDefined\":\"A=1\\nB=2\"}");
}

/* Clients that put one of the two names into what they had read send both. */
static void test_pairs(void)
{
	static const char both[] = "{\"enabled\":true,\"disabled\":true,\"description\":\"x\"}";

	fake_answer("{\"rows\":[{\"enabled\":true}],\"result\":{}}");
	fake_answer("{\"result\":{}}");
	fake_answer("{\"rows\":[{\"disabled\":true}],\"result\":{}}");
	CHECK_INT(fake_request(HTTP_PUT, "/mgmt/tm/ltm/virtual/v", both), 200);
	CHECK_STR(fake_asked(1, "body"), "{\"description\":\"x\",\"disabled\":true}");
	CHECK_STR(fake_asked(1, "replace"), "true");
	fake_answer("{\"rows\":[{\"disabled\":true}],\"result\":{}}");
	fake_answer("{\"result\":{}}");
	fake_answer("{\"rows\":[{\"enabled\":true}],\"result\":{}}");
	CHECK_INT(fake_request(HTTP_PATCH, "/mgmt/tm/ltm/virtual/v", both), 200);
	CHECK_STR(fake_asked(1, "body"), "{\"description\":\"x\",\"enabled\":true}");
}

static void test_delete(void)
{
	fake_answer("{\"result\":{}}");
	CHECK_INT(fake_request(HTTP_DELETE, "/mgmt/tm/ltm/pool/~Common~web", NULL), 200);
	CHECK_INT(fake_http.reply.length, 0);
	CHECK_INT(fake_request(HTTP_DELETE, "/mgmt/tm/ltm/pool", NULL), 400);
	fake_answer("{\"rows\":[{\"fullPath\":\"/Common/ab\",\"name\":\"ab\"},"
		    "{\"fullPath\":\"/Common/b\",\"name\":\"b\"},"
		    "{\"fullPath\":\"/Common/ac\",\"name\":\"ac\"}],\"result\":{}}");
	fake_answer("{\"result\":{}}");
	CHECK_INT(fake_request(HTTP_DELETE, "/mgmt/tm/ltm/pool?options=a*", NULL), 200);
	CHECK_STR(fake_asked(1, "requests"),
		"[{\"kind\":\"ltm pool\",\"name\":\"/Common/ab\",\"op\":\"delete\"},"
		"{\"kind\":\"ltm pool\",\"name\":\"/Common/ac\",\"op\":\"delete\"}]");
}

static void test_stats(void)
{
	static const char key[] = "https://localhost/mgmt/tm/ltm/pool/~Common~web/stats";
	json_t *nested;

	fake_answer("{\"rows\":[{\"name\":\"/Common/web\",\"owner\":\"\",\"generation\":4,"
		    "\"serverside.curConns\":12,\"memberCnt\":3,"
		    "\"status.availabilityState\":\"available\"}],\"result\":{}}");
	CHECK_INT(fake_request(HTTP_GET, "/mgmt/tm/ltm/pool/~Common~web/stats/", NULL), 200);
	CHECK_STR(fake_said("kind"), "tm:ltm:pool:poolstats");
	CHECK_STR(fake_said("generation"), "4");
	nested = json_object_get(
		json_object_get(json_object_get(fake_reply, "entries"), key), "nestedStats");
	CHECK(nested);
	CHECK_STR(json_string_value(json_object_get(nested, "selfLink")),
		"https://localhost/mgmt/tm/ltm/pool/~Common~web/stats?ver=15.1.0");
	nested = json_object_get(nested, "entries");
	CHECK_INT(json_integer_value(
			  json_object_get(json_object_get(nested, "serverside.curConns"), "value")),
		12);
	CHECK_STR(json_string_value(json_object_get(
			  json_object_get(nested, "status.availabilityState"), "description")),
		"available");
	CHECK_INT(json_integer_value(
			  json_object_get(json_object_get(nested, "connq.depth"), "value")),
		0);
}

static void test_refused_here(void)
{
	fake_answer("{\"result\":{\"user\":\"bob\",\"identity\":\"bob\"}}");
	CHECK_INT(fake_request(HTTP_GET, "/mgmt/tm/ltm/nonsense", NULL), 404);
	CHECK_STR(fake_said("message"), "Public URI path not registered: /tm/ltm/nonsense");
	CHECK_STR(fake_said("kind"), ":resterrorresponse");
	CHECK_INT(fake_request(HTTP_PATCH, "/mgmt/tm/ltm/pool/web", "{}"), 400);
	CHECK_STR(fake_said("message"), "one or more properties must be specified");
	CHECK_STR(fake_said("apiError"), "26214401");
	CHECK_INT(fake_request(HTTP_PATCH, "/mgmt/tm/ltm/pool/web", "{\"a\":1,\"a\":2}"), 400);
	CHECK_INT(fake_request(HTTP_PATCH, "/mgmt/tm/ltm/pool/web", "[]"), 400);
	CHECK_INT(fake_request(HTTP_PATCH, "/mgmt/tm/ltm/pool", "{\"a\":1}"), 405);
	CHECK_INT(fake_request(HTTP_GET, "/mgmt/tm/ltm/pool/<b>", NULL), 400);
	CHECK_STR(fake_said("message"), "HTML Tag-like Content in the Request URL/Body");
	CHECK_INT(fake_request(HTTP_POST, "/mgmt/tm/ltm/pool", "{\"name\":\"<b>x</b>\"}"), 400);
	CHECK_STR(fake_said("message"), "HTML Tag-like Content in the Request URL/Body");
	CHECK_INT(fake_request(HTTP_POST, "/mgmt/tm/ltm/pool", "{\"name\":\"example\"}"), 400);
	CHECK(strstr(fake_said("message"), "reserved keyword"));
	CHECK_INT(fake_request(HTTP_POST, "/mgmt/tm/ltm/pool", "{\"partition\":\"Common\"}"), 400);
}

/* They are refused before they take memory; what only looks like many, in a text, is none. */
static void test_too_many_values(void)
{
	enum { COUNT = 140000 };
	char *body = malloc(COUNT + 64);

	CHECK(body != NULL);
	char *at = stpcpy(body, "{\"name\":\"p\",\"description\":\"\\\"");
	memset(at, ',', COUNT);
	strcpy(at + COUNT, "\"}");
	fake_answer("{\"result\":{}}");
	fake_answer("{\"rows\":[{}],\"result\":{}}");
	CHECK_INT(fake_request(HTTP_POST, "/mgmt/tm/ltm/pool", body), 200);
	at = stpcpy(body, "{\"name\":\"p\",\"members\":");
	memset(at, '[', COUNT);
	strcpy(at + COUNT, "}");
	CHECK_INT(fake_request(HTTP_POST, "/mgmt/tm/ltm/pool", body), 413);
	CHECK_STR(fake_said("message"), "The body has more than 131072 values.");
	CHECK_INT(fake.next, 0);
	free(body);
}

static void test_organising(void)
{
	fake_answer("{\"result\":{\"user\":\"bob\",\"identity\":\"bob\"}}");
	CHECK_INT(fake_request(HTTP_GET, "/mgmt/tm/ltm/monitor", NULL), 200);
	CHECK_STR(fake_asked(0, "op"), "\"whoami\"");
	CHECK_STR(fake_said("kind"), "tm:ltm:monitor:monitorcollectionstate");
	CHECK(strstr(fake_said("items"), "{\"reference\":{\"link\":\"https://localhost/mgmt/tm/ltm/"
					 "monitor/http?ver=15.1.0\"}}"));
	CHECK_INT(fake_request(HTTP_GET, "/mgmt/tm/ltm/pool/example", NULL), 200);
	CHECK_STR(fake_said("kind"), "tm:ltm:pool:poolcollectionstate");
	CHECK(strstr(fake_said("items"), "\"loadBalancingMode\":\"round-robin\""));
	fake_answer("{\"error\":{\"code\":401,\"reason\":\"no\"}}");
	CHECK_INT(fake_request(HTTP_GET, "/mgmt/tm/ltm/pool/example", NULL), 401);
	CHECK_INT(fake_request(HTTP_GET, "/mgmt/tm/ltm", NULL), 401);
	CHECK_INT(fake_request(HTTP_GET, "/mgmt/tm/ltm/nonsense", NULL), 401);
}

int main(void)
{
	struct rest_settings settings = {0};

	fake_rest = rest_new(&settings);
	test_item();
	test_collection();
	test_queries_refused();
	test_create();
	test_pairs();
	test_variables_of_a_monitor();
	test_delete();
	test_stats();
	test_refused_here();
	test_too_many_values();
	test_organising();
	rest_free(fake_rest);
	return 0;
}
