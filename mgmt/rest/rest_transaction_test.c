/* SPDX-License-Identifier: BSD-3-Clause */
#include "rest/rest_fake.h"
#include "rest/rest_transaction.h"

#define BOB "{\"result\":{\"user\":\"bob\",\"identity\":\"bob\"}}"
#define EVE "{\"result\":{\"user\":\"eve\",\"identity\":\"eve\"}}"
#define DONE "{\"result\":{}}"

static char id[32], path[128];

static void begin(void)
{
	fake_answer(BOB);
	CHECK_INT(fake_request(HTTP_POST, "/mgmt/tm/transaction/", "{}"), 200);
	snprintf(id, sizeof(id), "%s", fake_said("transId"));
	snprintf(path, sizeof(path), "/mgmt/tm/transaction/%s", id);
	CHECK_STR(fake_said("state"), "STARTED");
	CHECK_STR(fake_said("timeoutSeconds"), "120");
	CHECK_STR(fake_said("kind"), "tm:transactionstate");
}

static unsigned queue(
	const char *who, enum http_method method, const char *target, const char *body)
{
	fake_answer(who);
	fake_headers[0] = (struct http_pair){"X-F5-REST-Coordination-Id", id};
	fake_header_count = 1;
	unsigned status = fake_request(method, target, body);
	fake_header_count = 0;
	return status;
}

static unsigned commit(const char *body)
{
	return fake_request(HTTP_PATCH, path, body);
}

static void test_commit(void)
{
	begin();
	CHECK_INT(queue(BOB, HTTP_POST, "/mgmt/tm/ltm/pool", "{\"name\":\"p\"}"), 200);
	CHECK_STR(fake_said("kind"), "tm:transaction:commandsstate");
	CHECK_STR(fake_said("method"), "POST");
	CHECK_STR(fake_said("uri"), "https://localhost/mgmt/tm/ltm/pool");
	CHECK_INT(queue(BOB, HTTP_PATCH, "/mgmt/tm/ltm/pool/p", "{\"description\":\"x\"}"), 200);
	CHECK_STR(fake_said("commandId"), "2");
	CHECK_INT(fake.next, 1); /* nothing but who it is */
	fake_answer(BOB);
	fake_answer(DONE);
	CHECK_INT(commit("{\"state\":\"VALIDATING\"}"), 200);
	CHECK_STR(fake_said("state"), "COMPLETED");
	CHECK_STR(fake_asked(1, "op"), "\"transaction\"");
	CHECK_STR(fake_asked(1, "verify"), "false");
	CHECK_STR(fake_asked(1, "requests"),
		"[{\"body\":{\"name\":\"p\"},\"kind\":\"ltm "
		"pool\",\"name\":\"p\",\"op\":\"create\"},"
		"{\"body\":{\"description\":\"x\"},\"kind\":\"ltm pool\",\"name\":\"p\",\"op\":"
		"\"modify\"}]");
	fake_answer(BOB);
	CHECK_INT(commit("{\"state\":\"VALIDATING\"}"), 404); /* it is gone */
}

static void test_failure(void)
{
	begin();
	CHECK_INT(queue(BOB, HTTP_POST, "/mgmt/tm/ltm/pool", "{\"name\":\"p\"}"), 200);
	CHECK_INT(queue(BOB, HTTP_DELETE, "/mgmt/tm/ltm/pool/~Common~q", NULL), 200);
	fake_answer(BOB);
	fake_answer("{\"error\":{\"code\":404,\"kind\":\"ltm "
		    "pool\",\"object\":\"/Common/q\",\"field\":\"\","
		    "\"reason\":\"does not exist\",\"request\":1}}");
	CHECK_INT(commit("{\"state\":\"VALIDATING\"}"), 400);
	CHECK_STR(fake_said("message"),
		"transaction failed:01020036:3: The requested Pool (/Common/q) was not found.");
	CHECK_STR(fake_said("apiError"), "2");
	fake_answer(BOB);
	CHECK_INT(fake_request(HTTP_GET, path, NULL), 200);
	CHECK_STR(fake_said("state"), "FAILED");
	CHECK(strstr(fake_said("failureReason"), "01020036:3"));
}

static void test_empty(void)
{
	begin();
	fake_answer(BOB);
	CHECK_INT(commit("{\"state\":\"VALIDATING\"}"), 404);
	CHECK_STR(fake_said("message"), "there is no command to commit in the transaction.");
	CHECK_STR(fake_said("apiError"), "1");
	fake_answer(BOB);
	CHECK_INT(commit("{\"state\":\"STARTED\"}"), 400);
	fake_answer(BOB);
	CHECK_INT(fake_request(HTTP_DELETE, path, NULL), 200);
	fake_answer(BOB);
	CHECK_INT(fake_request(HTTP_GET, path, NULL), 404);
}

/* They would be done at once. */
static void test_commands(void)
{
	begin();
	CHECK_INT(queue(BOB, HTTP_POST, "/mgmt/tm/cm/device",
			  "{\"command\":\"mv\",\"name\":\"weir\",\"target\":\"x\"}"),
		400);
	CHECK_INT(queue(BOB, HTTP_POST, "/mgmt/tm/cm", "{\"command\":\"run\"}"), 400);
	CHECK(strstr(fake_said("message"), "cannot be part of a transaction"));
}

static void test_validate_only(void)
{
	begin();
	CHECK_INT(queue(BOB, HTTP_POST, "/mgmt/tm/ltm/pool", "{\"name\":\"p\"}"), 200);
	fake_answer(BOB);
	fake_answer(DONE);
	CHECK_INT(commit("{\"state\":\"VALIDATING\",\"validateOnly\":true}"), 200);
	CHECK_STR(fake_asked(1, "verify"), "true");
	fake_answer(BOB);
	fake_answer(DONE);
	CHECK_INT(commit("{\"state\":\"VALIDATING\"}"), 200);
}

static void test_of_others(void)
{
	begin();
	CHECK_INT(queue(EVE, HTTP_POST, "/mgmt/tm/ltm/pool", "{\"name\":\"p\"}"), 404);
	fake_answer(EVE);
	CHECK_INT(fake_request(HTTP_GET, path, NULL), 404);
	fake_answer(EVE);
	CHECK_INT(fake_request(HTTP_DELETE, path, NULL), 404);
	fake_answer(EVE);
	CHECK_INT(fake_request(HTTP_GET, "/mgmt/tm/transaction", NULL), 200);
	CHECK(!json_object_get(fake_reply, "items"));
	CHECK_INT(queue(BOB, HTTP_PATCH, "/mgmt/tm/ltm/pool", "{\"a\":1}"), 405);
	CHECK_INT(queue(BOB, HTTP_PATCH, "/mgmt/tm/ltm/pool/p", "{}"), 400);
	fake_answer(BOB);
	snprintf(path, sizeof(path), "/mgmt/tm/transaction/%s/commands", id);
	CHECK_INT(fake_request(HTTP_GET, path, NULL), 200);
	CHECK(!json_object_get(fake_reply, "items"));
}

static void test_bounds(void)
{
	for (unsigned i = 0; i < REST_TRANSACTIONS_EACH; i++) {
		fake_answer(EVE);
		CHECK_INT(fake_request(HTTP_POST, "/mgmt/tm/transaction", "{}"), 200);
	}
	fake_answer(EVE);
	CHECK_INT(fake_request(HTTP_POST, "/mgmt/tm/transaction", "{}"), 503);
}

/* What counts is the memory that commands take, whatever their length as text. */
static void test_small_text_of_much(void)
{
	enum { ENTRIES = 64000 };
	char *body = malloc(3 * ENTRIES + 32), *at = stpcpy(body, "{\"name\":\"p\",\"x\":[{}");

	for (int i = 0; i < ENTRIES; i++)
		at = stpcpy(at, ",{}");
	strcpy(at, "]}");
	begin();
	CHECK_INT(queue(BOB, HTTP_POST, "/mgmt/tm/ltm/pool", body), 200);
	CHECK_INT(queue(BOB, HTTP_POST, "/mgmt/tm/ltm/pool", body), 400);
	CHECK_STR(fake_said("message"),
		"transaction failed:the transaction's commands are too large");
	CHECK_INT(queue(BOB, HTTP_POST, "/mgmt/tm/ltm/pool", "{\"name\":\"p\"}"), 200);
	free(body);
}

int main(void)
{
	struct rest_settings settings = {0};

	fake_rest = rest_new(&settings);
	test_commit();
	test_failure();
	test_empty();
	test_commands();
	test_validate_only();
	test_of_others();
	test_small_text_of_much();
	test_bounds();
	rest_free(fake_rest);
	return 0;
}
