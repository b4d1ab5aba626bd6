/* SPDX-License-Identifier: BSD-3-Clause */
#include "rest/rest_facts.h"
#include "rest/rest_fake.h"

#define STATUS "{\"rows\":[{\"version\":\"1.2.3\",\"uptime\":77}],\"result\":{}}"
#define KNOWN "{\"result\":{\"user\":\"bob\",\"identity\":\"bob\"}}"

static void get(const char *path, unsigned status)
{
	char target[512];

	fake_answer(KNOWN);
	fake_answer(STATUS);
	fake_answer("{\"rows\":[{\"hostname\":\"h.example\"}],\"result\":{}}");
	snprintf(target, sizeof(target), "/mgmt/tm/%s", path);
	CHECK_INT(fake_request(HTTP_GET, target, NULL), status);
}

static void test_every_fact_is_served(void)
{
	for (const struct rest_fact *f = rest_facts; f->path; f++) {
		if (strchr(f->path, '*'))
			continue;
		get(f->path, 200);
		CHECK(!strncmp(fake_said("kind"), "tm:", 3));
		CHECK(!strchr(fake_http.reply.body, '$'));
		fake_answer("{\"error\":{\"code\":401,\"reason\":\"no\"}}");
		char target[512];
		snprintf(target, sizeof(target), "/mgmt/tm/%s", f->path);
		CHECK_INT(fake_request(HTTP_GET, target, NULL), 401);
	}
}

static const char *nested(const char *key, const char *entry)
{
	json_t *stats = json_object_get(json_object_get(fake_reply, "entries"), key);

	stats = json_object_get(json_object_get(stats, "nestedStats"), "entries");
	return json_string_value(json_object_get(json_object_get(stats, entry), "description"));
}

static void test_version(void)
{
	get("sys/version", 200);
	CHECK_STR(fake_said("kind"), "tm:sys:version:versionstats");
	CHECK_STR(nested("https://localhost/mgmt/tm/sys/version/0", "Version"), "15.1.0");
	CHECK_STR(nested("https://localhost/mgmt/tm/sys/version/0", "Build"), "1.2.3");
	CHECK_STR(nested("https://localhost/mgmt/tm/sys/version/0", "Product"), "BIG-IP");
	get("cli/version", 200);
	CHECK_STR(nested("https://localhost/mgmt/tm/cli/version/0", "active"), "15.1.0");
	get("sys", 200);
	CHECK_STR(fake_said("selfLink"), "https://localhost/mgmt/tm/sys?ver=15.1.0");
}

static void test_device_info(void)
{
	fake_answer(KNOWN);
	fake_answer(STATUS);
	fake_answer("{\"rows\":[{\"hostname\":\"h.example\"}],\"result\":{}}");
	CHECK_INT(
		fake_request(HTTP_GET, "/mgmt/shared/identified-devices/config/device-info", NULL),
		200);
	CHECK_STR(fake_said("hostname"), "h.example");
	CHECK_STR(fake_said("version"), "15.1.0");
	CHECK_STR(fake_said("build"), "1.2.3");
}

static void test_lists(void)
{
	get("net/tunnels/gre", 200);
	CHECK_STR(fake_said("kind"), "tm:net:tunnels:gre:grecollectionstate");
	CHECK(!json_object_get(fake_reply, "items"));
	get("net/tunnels/gre/~Common~x", 404);
	CHECK(strstr(fake_said("message"), "01020036:3: The requested"));
	get("net/tunnels/gre/a/b", 404);
	get("net/tunnels", 200);
	CHECK_INT(json_array_size(json_object_get(fake_reply, "items")), 6);
	get("sys/provision?$top=5&$skip=100", 200);
	CHECK_STR(fake_said("items"), "[]");
	get("sys/provision/ltm", 200);
	CHECK_STR(fake_said("level"), "nominal");
	fake_answer(KNOWN);
	CHECK_INT(fake_request(HTTP_POST, "/mgmt/tm/net/tunnels/gre", "{\"name\":\"x\"}"), 400);
}

static void refused(enum http_method method, const char *path, unsigned status, const char *why)
{
	fake_answer(KNOWN);
	CHECK_INT(fake_request(method, path, method == HTTP_POST ? "{\"name\":\"x\"}" : NULL),
		status);
	CHECK(strstr(fake_said("message"), why));
}

/* A change of what LTM has and Weir has not is no 404: some clients take that for success. */
static void test_unsupported(void)
{
	refused(HTTP_POST, "/mgmt/tm/net/service-policy", 400,
		"service policies are not carried out yet");
	refused(HTTP_POST, "/mgmt/tm/net/tunnels/gre", 400, "tunnels are not carried out yet");
	refused(HTTP_POST, "/mgmt/tm/security/firewall/policy", 400, "the firewall");
	refused(HTTP_DELETE, "/mgmt/tm/gtm/pool/a/~Common~x", 400, "Weir has no name server");
	refused(HTTP_GET, "/mgmt/tm/gtm/pool/a/~Common~x", 404,
		"Public URI path not registered: /tm/gtm");
	refused(HTTP_POST, "/mgmt/tm/gtmx", 404, "Public URI path not registered: /tm/gtmx");
	refused(HTTP_POST, "/mgmt/tm/sys/provision", 400, "other modules cannot be provisioned");
}

static void test_device_move(void)
{
	fake_answer("{\"rows\":[{\"name\":\"weir\"}],\"result\":{}}");
	fake_answer("{\"result\":{}}");
	CHECK_INT(fake_request(HTTP_POST, "/mgmt/tm/cm/device",
			  "{\"command\":\"mv\",\"name\":\"weir\",\"target\":\"lb.example\"}"),
		200);
	CHECK_STR(fake_asked(1, "kind"), "\"sys global-settings\"");
	CHECK_STR(fake_asked(1, "body"), "{\"hostname\":\"lb.example\"}");
	fake_answer("{\"rows\":[{\"name\":\"weir\"}],\"result\":{}}");
	CHECK_INT(fake_request(HTTP_POST, "/mgmt/tm/cm/device",
			  "{\"command\":\"mv\",\"name\":\"other\",\"target\":\"lb.example\"}"),
		404);
	CHECK_INT(fake_request(HTTP_POST, "/mgmt/tm/cm/device", "{\"command\":\"cp\"}"), 400);
}

static void test_config_sync(void)
{
	fake_answer(KNOWN);
	CHECK_INT(fake_request(HTTP_POST, "/mgmt/tm/cm",
			  "{\"command\":\"run\",\"utilCmdArgs\":\"config-sync to-group dg\"}"),
		404);
	CHECK(strstr(fake_said("message"), "device group (/Common/dg) was not found"));
	fake_answer(KNOWN);
	CHECK_INT(fake_request(HTTP_POST, "/mgmt/tm/cm", "{\"command\":\"run\"}"), 400);
}

static void test_packages(void)
{
	static const char path[] = "/mgmt/shared/iapp/package-management-tasks";

	fake_answer(KNOWN);
	CHECK_INT(fake_request(HTTP_POST, path, "{\"operation\":\"QUERY\"}"), 200);
	CHECK_STR(fake_said("queryResponse"), "[]");
	fake_answer(KNOWN);
	CHECK_INT(fake_request(HTTP_GET, "/mgmt/shared/iapp/package-management-tasks/query", NULL),
		200);
	CHECK_STR(fake_said("status"), "FINISHED");
	fake_answer(KNOWN);
	CHECK_INT(fake_request(HTTP_POST, path, "{\"operation\":\"INSTALL\"}"), 400);
	fake_answer(KNOWN);
	CHECK_INT(fake_request(HTTP_GET, "/mgmt/shared/iapp/package-management-tasks/other", NULL),
		404);
}

static void test_nested(void)
{
	json_t *entries;

	get("sys/hardware", 200);
	entries = json_object_get(json_object_get(fake_reply, "entries"),
		"https://localhost/mgmt/tm/sys/hardware/platform");
	entries = json_object_get(json_object_get(entries, "nestedStats"), "entries");
	CHECK(json_object_get(entries, "https://localhost/mgmt/tm/sys/hardware/platform/0"));
}

int main(void)
{
	struct rest_settings settings = {0};

	fake_rest = rest_new(&settings);
	test_every_fact_is_served();
	test_version();
	test_nested();
	test_device_info();
	test_lists();
	test_unsupported();
	test_device_move();
	test_config_sync();
	test_packages();
	rest_free(fake_rest);
	return 0;
}
