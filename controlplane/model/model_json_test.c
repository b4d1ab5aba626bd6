/* SPDX-License-Identifier: BSD-3-Clause */
/* iControl REST form: what clients read back and send (icontrol.md, 1.2, 1.3, 2). */
#include "model/model_fixture.h"

static json_t *parse(const char *text)
{
	json_error_t error;
	json_t *value = json_loads(text, 0, &error);

	CHECK(value);
	return value;
}

static int create(struct model *m, enum model_kind kind, uint32_t owner, const char *body)
{
	struct model_error err = {0};
	json_t *json = parse(body);
	int rc;

	CHECK(model_begin(m, &fixture_operator) == 0);
	rc = fixture_end(m, model_create_json(m, kind, owner, json, NULL, &err), &err, NULL);
	json_decref(json);
	return rc;
}

static int set(struct model *m, uint32_t id, const char *body, bool replace)
{
	struct model_error err = {0};
	json_t *json = parse(body);
	int rc;

	CHECK(model_begin(m, &fixture_operator) == 0);
	rc = fixture_end(m, model_set_json(m, id, json, replace, &err), &err, NULL);
	json_decref(json);
	return rc;
}

static const char *text_of(const json_t *o, const char *key)
{
	const char *text = json_string_value(json_object_get(o, key));

	return text ? text : "";
}

static void test_read(void)
{
	struct model *m = model_new();
	json_t *o, *items;

	must(m, "create ltm pool web members add { 10.0.0.1:80 { ratio 3 } }");
	must(m, "create ltm virtual v destination 10.0.1.1:80 ip-protocol tcp pool web disabled");
	o = model_json(m, object(m, KIND_VIRTUAL, "v"), false);
	CHECK_STR(text_of(o, "kind"), "tm:ltm:virtual:virtualstate");
	CHECK_STR(text_of(o, "destination"), "/Common/10.0.1.1:80");
	CHECK_STR(text_of(o, "ipProtocol"), "tcp");
	CHECK_STR(text_of(o, "mask"), "255.255.255.255");
	CHECK_STR(text_of(o, "source"), "0.0.0.0/0");
	CHECK_STR(text_of(o, "selfLink"), "https://localhost/mgmt/tm/ltm/virtual/~Common~v");
	CHECK(json_is_true(json_object_get(o, "disabled")) && !json_object_get(o, "enabled"));
	CHECK(json_is_true(json_object_get(o, "vlansDisabled")) && !json_object_get(o, "vlans"));
	CHECK_STR(text_of(json_object_get(o, "sourceAddressTranslation"), "type"), "none");
	CHECK_STR(text_of(json_object_get(o, "poolReference"), "link"),
		"https://localhost/mgmt/tm/ltm/pool/~Common~web");
	json_decref(o);
	o = model_json(m, object(m, KIND_POOL, "web"), true);
	items = json_object_get(json_object_get(o, "membersReference"), "items");
	CHECK_INT(json_array_size(items), 1);
	CHECK_STR(text_of(json_array_get(items, 0), "name"), "10.0.0.1:80");
	CHECK_STR(text_of(json_array_get(items, 0), "address"), "10.0.0.1");
	CHECK_STR(text_of(json_array_get(items, 0), "rateLimit"), "disabled");
	CHECK_INT(json_integer_value(json_object_get(json_array_get(items, 0), "ratio")), 3);
	CHECK(!json_object_get(o, "monitor") && !json_object_get(o, "description"));
	CHECK_INT(json_integer_value(json_object_get(o, "slowRampTime")), 10);
	json_decref(o);
	model_free(m);
}

static void test_write(void)
{
	struct model *m = model_new();
	const struct object *web;

	CHECK_INT(create(m, KIND_POOL, ID_NONE,
			  "{\"name\":\"web\",\"partition\":\"Common\",\"loadBalancingMode\":"
			  "\"ratio-member\","
			  "\"members\":[{\"name\":\"10.0.0.1:80\",\"ratio\":4},\"/Common/"
			  "10.0.0.2:80\"],"
			  "\"monitor\":null,\"metadata\":[]}"),
		0);
	web = object(m, KIND_POOL, "web");
	CHECK_INT(model_child_count(m, web), 2);
	CHECK_INT(create(m, KIND_POOL_MEMBER, web->id,
			  "{\"name\":\"/Common/10.0.0.3:80\",\"address\":\"10.0.0.3\",\"ratio\":1,"
			  "\"session\":\"user-disabled\",\"state\":\"user-down\"}"),
		0);
	CHECK_INT(holds_bits(&model_pool_member(member(m, "web", "10.0.0.3:80"))->live.holds), 3);
	CHECK_INT(create(m, KIND_POOL, ID_NONE, "{\"name\":\"web\"}"), -EEXIST);
	CHECK_INT(
		create(m, KIND_POOL, ID_NONE, "{\"name\":\"x\",\"partition\":\"Other\"}"), -EINVAL);
	CHECK_INT(set(m, web->id, "{\"loadBalancingMode\":\"nonsense\"}", false), -EINVAL);
	CHECK_INT(set(m, web->id, "{\"loadBalancingMode\":7}", false), -EINVAL);
	CHECK_INT(set(m, web->id, "{\"colour\":\"red\"}", false), -EINVAL);
	CHECK_STR(fixture_said,
		"ltm pool /Common/web: colour: is no property of ltm pool that is supported");
	CHECK_INT(
		set(m, web->id, "{\"description\":\"a\",\"members\":[\"10.0.0.1:80\"]}", false), 0);
	CHECK_INT(model_child_count(m, web), 1);
	CHECK_INT(model_pool_member(member(m, "web", "10.0.0.1:80"))->live.ratio, 4);
	CHECK_INT(set(m, web->id, "{\"slowRampTime\":0}", true), 0);
	CHECK_INT(model_pool(web)->conf.load_balancing_mode, POOL_LOAD_BALANCING_MODE_ROUND_ROBIN);
	CHECK_STR(model_string(m, model_pool(web)->conf.description), "");
	CHECK_INT(
		create(m, KIND_VIRTUAL, ID_NONE,
			"{\"name\":\"/Common/v\",\"destination\":\"10.0.1.1:80\",\"ipProtocol\":6,"
			"\"mask\":\"255.255.255.255\",\"disabled\":true,\"pool\":\"/Common/web\","
			"\"profiles\":[{\"name\":\"fastL4\",\"partition\":\"Common\",\"context\":"
			"\"all\"}],"
			"\"sourceAddressTranslation\":{\"type\":\"automap\"}}"),
		0);
	CHECK_INT(model_virtual(object(m, KIND_VIRTUAL, "v"))->conf.ip_protocol, 6);
	CHECK_INT(model_virtual(object(m, KIND_VIRTUAL, "v"))->conf.enabled, 0);
	CHECK_INT(set(m, object(m, KIND_VIRTUAL, "v")->id, "{\"enabled\":true}", false), 0);
	CHECK_INT(model_virtual(object(m, KIND_VIRTUAL, "v"))->conf.enabled, 1);
	model_free(m);
}

/* terraform-provider-bigip#1116, f5-ansible#791: what is read and sent back changes nothing. */
static void test_read_then_write(void)
{
	struct model *m = model_new();
	struct text before = {0}, after = {0};

	must(m, "create net vlan a interfaces add { 1.1 { tagged } 1.2 { } }");
	must(m, "create net self s address 10.0.0.1/24 vlan a allow-service { default tcp:99 }");
	must(m, "create net route r network default-inet6 gw 2001:db8::1");
	must(m, "create ltm pool web members add { 10.0.0.1:80 { ratio 3 session user-disabled } "
		"n:8 { address "
		"10.0.0.7 } }");
	must(m, "create ltm snatpool s members { 10.0.0.30 10.0.0.31 }");
	must(m, "create ltm virtual v destination 10.0.1.1:80 ip-protocol tcp pool web vlans { a } "
		"vlans-enabled "
		"source-address-translation { type snat pool s }");
	must(m, "create ltm profile udp u idle-timeout indefinite");
	model_print(m, 0, &before);
	for (unsigned kind = 0; kind < MODEL_KINDS; kind++) {
		for (unsigned i = 0; model_kinds[kind].owner < 0 && i < model_count(m, kind); i++) {
			const struct object *o = model_at(m, kind, i);
			json_t *json = model_json(m, o, true);
			struct model_error err = {0};
			CHECK(model_begin(m, &fixture_operator) == 0);
			if (fixture_end(
				    m, model_set_json(m, o->id, json, true, &err), &err, NULL)) {
				fprintf(stderr, "%s\n", fixture_said);
				abort();
			}
			json_decref(json);
		}
	}
	model_print(m, 0, &after);
	CHECK_STR(after.data, before.data);
	text_fini(&before);
	text_fini(&after);
	model_free(m);
}

int main(void)
{
	test_read();
	test_write();
	test_read_then_write();
	return 0;
}
