/* SPDX-License-Identifier: BSD-3-Clause */
/* Monitors: built-in ones, inheritance, what is refused; rules of pools, members and nodes. */
#include "model/model_fixture.h"

/* The whole configuration but for what does not matter here. */
static void prints(const struct model *m, const char *said)
{
	struct text out = {0};

	model_print(m, 0, &out);
	CHECK_STR(out.data ? out.data : "", said);
	text_fini(&out);
}

/* As must_fail, also where an object had been made before the refusal: its id is spent. */
static void refused(struct model *m, const char *line, const char *said)
{
	struct text before = {0};

	model_print(m, 0, &before);
	CHECK(command(m, line) != 0);
	CHECK_STR(fixture_said, said);
	prints(m, before.data ? before.data : "");
	text_fini(&before);
}

static void lists(const struct model *m, const char *name, const char *said)
{
	struct text out = {0};

	model_print_object(m, model_monitor_find(m, name), 0, &out);
	CHECK_STR(out.data, said);
	text_fini(&out);
}

static const char *field_text(const struct model *m, const struct object *o, const char *name)
{
	static struct text out;

	out.len = 0;
	model_field_text(m, o, model_field_find(o->kind, NULL, name), &out);
	return out.data;
}

static void test_builtin(void)
{
	struct model *m = model_new();
	struct model_destination to;

	prints(m, "");
	CHECK(model_kind_is_monitor(KIND_MONITOR_TCP) && !model_kind_is_monitor(KIND_POOL));
	CHECK_STR(model_monitor_type(KIND_MONITOR_TCP_HALF_OPEN), "tcp-half-open");
	CHECK(model_monitor_find(m, "tcp_half_open") && !model_monitor_find(m, "web"));
	CHECK_STR(field_text(m, model_monitor_find(m, "http"), "send"), "GET /\\r\\n");
	CHECK(model_monitor_destination(model_monitor_find(m, "https_443"), &to) && to.port == 443);
	CHECK(!model_monitor_destination(model_monitor_find(m, "inband"), &to));
	refused(m, "delete ltm monitor http http",
		"ltm monitor http /Common/http: is built in and cannot be deleted");
	must(m, "modify ltm monitor https https interval 7");
	CHECK_STR(field_text(m, model_monitor_find(m, "https_443"), "interval"), "7");
	CHECK_STR(field_text(m, model_monitor_find(m, "https_443"), "destination"), "*:443");
	must(m, "modify ltm monitor https https interval 5");
	prints(m, "");
	model_free(m);
}

/* What was not given follows the parent; what is the parent's counts as not given. */
static void test_inheritance(void)
{
	struct model *m = model_new();

	must(m, "create ltm monitor http a interval 3 send \"GET /a\" description x");
	must(m, "create ltm monitor http b defaults-from a timeout 10 send \"GET /b\"");
	must(m, "create ltm monitor http c defaults-from b interval 3");
	lists(m, "b",
		"ltm monitor http /Common/b {\n    defaults-from /Common/a\n    timeout 10\n"
		"    send \"GET /b\"\n}\n");
	lists(m, "c", "ltm monitor http /Common/c {\n    defaults-from /Common/b\n}\n");
	CHECK_STR(field_text(m, model_monitor_find(m, "c"), "send"), "GET /b");
	CHECK_STR(field_text(m, model_monitor_find(m, "c"), "timeout"), "10");
	CHECK_STR(field_text(m, model_monitor_find(m, "c"), "description"), "");
	must(m, "modify ltm monitor http a interval 9 recv OK");
	must(m, "modify ltm monitor http b send none");
	CHECK_STR(field_text(m, model_monitor_find(m, "c"), "interval"), "9");
	CHECK_STR(field_text(m, model_monitor_find(m, "c"), "recv"), "OK");
	CHECK_STR(field_text(m, model_monitor_find(m, "c"), "send"), "");
	lists(m, "b",
		"ltm monitor http /Common/b {\n    defaults-from /Common/a\n    timeout 10\n"
		"    send none\n}\n");
	refused(m, "modify ltm monitor http a defaults-from c",
		"ltm monitor http /Common/b: defaults-from: too many parents, or a circle of them");
	refused(m, "create ltm monitor http d defaults-from tcp",
		"ltm monitor http /Common/d: defaults-from: ltm monitor http /Common/tcp does not "
		"exist");
	refused(m, "create ltm monitor http d defaults-from none",
		"ltm monitor http /Common/d: defaults-from: a monitor needs a parent");
	refused(m, "delete ltm monitor http a",
		"ltm monitor http /Common/a: is still used by ltm monitor http /Common/b");
	model_free(m);
}

static void test_refusals(void)
{
	struct model *m = model_new();

	must(m, "create ltm monitor tcp t");
	refused(m, "create ltm monitor http t",
		"ltm monitor http /Common/t: a monitor of type tcp has this name");
	refused(m, "create ltm monitor tcp default",
		"ltm monitor tcp /Common/default: \"default\" is a word with a meaning, no name");
	refused(m, "modify ltm monitor tcp t reverse enabled send x",
		"ltm monitor tcp /Common/t: reverse: needs send and recv");
	refused(m, "modify ltm monitor tcp t recv \"a(b\"",
		"ltm monitor tcp /Common/t: recv: is no pattern: at byte 3: missing closing "
		"parenthesis");
	refused(m, "create ltm monitor https s cert ../a",
		"ltm monitor https /Common/s: cert: \"../a\" is not the plain name of a file in "
		"ssl/");
	refused(m, "create ltm monitor external e run ..",
		"ltm monitor external /Common/e: run: \"..\" is not the plain name of a file in "
		"external-monitors/");
	refused(m, "create ltm monitor external e user-defined A",
		"ltm monitor external e: user-defined: needs a value of one line");
	refused(m, "create ltm monitor external e user-defined A=1 B",
		"ltm monitor external e: user-defined: needs a name without blanks or =, and a "
		"value");
	refused(m, "create ltm monitor icmp i destination 10.0.0.1:80",
		"ltm monitor icmp /Common/i: destination: takes no port");
	refused(m, "create ltm monitor tcp u destination any:80",
		"ltm monitor tcp /Common/u: destination: \"any:80\" is no host");
	refused(m, "modify ltm monitor tcp t ip-dscp 4",
		"ltm monitor tcp /Common/t: ip-dscp: other values than \"0\" are not supported "
		"yet");
	refused(m, "create ltm monitor wap w",
		"ltm monitor wap: this type of monitor is not supported");
	model_free(m);
}

static void test_rules(void)
{
	struct model *m = model_new();
	const struct object *pool, *first;

	must(m, "create ltm pool web monitor http and /Common/tcp members add { 10.0.0.1:80 "
		"10.0.0.2:80 { monitor min 1 of { http tcp icmp } } 10.0.0.3:80 { monitor none } "
		"}");
	must(m, "modify ltm node 10.0.0.1 monitor icmp description x");
	must(m, "modify ltm default-node-monitor rule gateway_icmp");
	prints(m,
		"ltm default-node-monitor {\n    rule /Common/gateway_icmp\n}\n"
		"ltm node /Common/10.0.0.1 {\n    address 10.0.0.1\n    description x\n"
		"    monitor /Common/icmp\n}\n"
		"ltm node /Common/10.0.0.2 {\n    address 10.0.0.2\n}\n"
		"ltm node /Common/10.0.0.3 {\n    address 10.0.0.3\n}\n"
		"ltm pool /Common/web {\n    monitor /Common/http and /Common/tcp\n    members {\n"
		"        /Common/10.0.0.1:80 {\n            address 10.0.0.1\n        }\n"
		"        /Common/10.0.0.2:80 {\n            address 10.0.0.2\n"
		"            monitor min 1 of { /Common/http /Common/tcp /Common/icmp }\n        "
		"}\n"
		"        /Common/10.0.0.3:80 {\n            address 10.0.0.3\n"
		"            monitor none\n        }\n    }\n}\n");
	pool = object(m, KIND_POOL, "web");
	first = member(m, "web", "10.0.0.1:80");
	CHECK(model_monitor_rule(m, first) == &model_pool(pool)->conf.monitor);
	CHECK_INT(model_monitor_rule(m, first)->count, 2);
	CHECK_INT(model_monitor_rule(m, member(m, "web", "10.0.0.2:80"))->min, 1);
	CHECK_INT(model_monitor_rule(m, member(m, "web", "10.0.0.3:80"))->mode, RULE_NONE);
	CHECK_INT(model_monitor_rule(m, object(m, KIND_NODE, "10.0.0.2"))->monitor[0],
		model_monitor_find(m, "gateway_icmp")->id);
	refused(m, "modify ltm pool web monitor min 3 of { http tcp }",
		"ltm pool /Common/web: monitor: min 3 is not between 1 and the number of monitors, "
		"2");
	refused(m, "modify ltm pool web monitor min 1 or { http tcp }",
		"ltm pool /Common/web: monitor: is not of the form: min 1 of { a b }");
	refused(m, "modify ltm pool web monitor http and http",
		"ltm pool /Common/web: monitor: names /Common/http twice");
	refused(m, "modify ltm pool web monitor default",
		"ltm pool /Common/web: monitor: monitor /Common/default does not exist");
	refused(m, "modify ltm pool web monitor http and",
		"ltm pool /Common/web: monitor: lacks the name of a monitor");
	refused(m, "modify ltm node 10.0.0.1 monitor http",
		"ltm node /Common/10.0.0.1: monitor: /Common/http needs a port: a node has none, "
		"and its "
		"destination names none");
	refused(m, "modify ltm default-node-monitor rule inband",
		"ltm default-node-monitor: rule: /Common/inband watches connections of pool "
		"members, not "
		"nodes");
	refused(m, "modify ltm pool web members add { 10.0.0.1:any }",
		"ltm pool members /Common/web /Common/10.0.0.1:0: monitor: /Common/http needs a "
		"port: a "
		"node has none, and its destination names none");
	refused(m, "modify ltm pool web monitor dns",
		"ltm pool /Common/web: monitor: /Common/dns has no qname");
	refused(m, "delete ltm default-node-monitor",
		"ltm default-node-monitor: is built in and cannot be deleted");
	model_free(m);
}

/* A monitor that is in use keeps what its users need. */
static void test_users(void)
{
	struct model *m = model_new();

	must(m, "create ltm monitor tcp ssh destination *:22");
	must(m, "create ltm node a address 10.0.0.1 monitor ssh");
	refused(m, "modify ltm monitor tcp ssh destination *:*",
		"ltm node /Common/a: monitor: /Common/ssh needs a port: a node has none, and its "
		"destination names none");
	refused(m, "delete ltm monitor tcp ssh",
		"ltm monitor tcp /Common/ssh: is still used by ltm node /Common/a");
	must(m, "modify ltm node a monitor default");
	must(m, "delete ltm monitor tcp ssh");
	model_free(m);
}

static int set_json(struct model *m, const struct object *o, const char *body)
{
	struct model_error err = {0};
	json_t *json = json_loads(body, 0, NULL);
	int rc;

	CHECK(json && model_begin(m, &fixture_operator) == 0);
	rc = model_set_json(m, o->id, json, false, &err);
	json_decref(json);
	return fixture_end(m, rc, &err, NULL);
}

/* Forms that devices give and take. */
static void test_rest(void)
{
	struct model *m = model_new();
	const struct object *pool;
	json_t *json;

	must(m, "create ltm pool web");
	pool = object(m, KIND_POOL, "web");
	CHECK(set_json(m, pool, "{\"monitor\": \"/Common/http and /Common/tcp \"}") == 0);
	CHECK_STR(field_text(m, pool, "monitor"), "/Common/http and /Common/tcp");
	CHECK(set_json(m, pool, "{\"monitor\": \"min 1 of  /Common/http /Common/tcp\"}") == 0);
	json = model_json(m, pool, false);
	CHECK_STR(json_string_value(json_object_get(json, "monitor")),
		"min 1 of { /Common/http /Common/tcp }");
	json_decref(json);
	CHECK(set_json(m, pool, "{\"monitor\": \"\"}") == 0);
	json = model_json(m, pool, false);
	CHECK(!json_object_get(json, "monitor"));
	json_decref(json);
	json = model_json(m, model_at(m, KIND_DEFAULT_NODE_MONITOR, 0), false);
	CHECK(!json_object_get(json, "rule")); /* as LTM leaves out what is none */
	CHECK_STR(json_string_value(json_object_get(json, "selfLink")),
		"https://localhost/mgmt/tm/ltm/default-node-monitor");
	json_decref(json);
	model_free(m);
}

static void test_probe_json(void)
{
	struct model *m = model_new();
	json_t *json;

	must(m, "create ltm monitor https s server-name web.example cert web.crt recv OK "
		"adaptive enabled password secret");
	json = model_monitor_json(m, model_monitor_find(m, "s"));
	CHECK_STR(json_string_value(json_object_get(json, "sni")), "web.example");
	CHECK_STR(json_string_value(json_object_get(json, "certificate")), "web.crt");
	CHECK_STR(json_string_value(json_object_get(json, "send")), "GET /\\r\\n");
	CHECK_STR(json_string_value(json_object_get(json, "password")), "secret");
	CHECK_STR(json_string_value(json_object_get(json, "adaptive-divergence-type")), "relative");
	CHECK_INT(json_integer_value(json_object_get(json, "timeout")), 16);
	CHECK(json_is_true(json_object_get(json, "adaptive")));
	CHECK(json_is_false(json_object_get(json, "verify")));
	CHECK(!json_object_get(json, "description") && !json_object_get(json, "username"));
	json_decref(json);
	json = model_monitor_json(m, model_monitor_find(m, "inband"));
	CHECK_INT(json_integer_value(json_object_get(json, "retry-time")), 300);
	json_decref(json);
	model_free(m);
}

static void test_variables(void)
{
	struct model *m = model_new();
	json_t *json, *variables;

	must(m, "create ltm monitor external e run check.sh user-defined A 1 user-defined B x=y "
		"user-defined C \"a b\" user-defined A none");
	json = model_monitor_json(m, model_monitor_find(m, "e"));
	variables = json_object_get(json, "variables");
	CHECK_INT(json_object_size(variables), 2);
	CHECK_STR(json_string_value(json_object_get(variables, "B")), "x=y");
	CHECK_STR(json_string_value(json_object_get(variables, "C")), "a b");
	json_decref(json);
	must(m, "create ltm monitor external f defaults-from e user-defined B \"none\"");
	lists(m, "f",
		"ltm monitor external /Common/f {\n    defaults-from /Common/e\n"
		"    user-defined B \"none\"\n}\n");
	must(m, "modify ltm monitor external f user-defined D /Common/x");
	must(m, "modify ltm monitor external e user-defined none");
	lists(m, "f",
		"ltm monitor external /Common/f {\n    defaults-from /Common/e\n"
		"    user-defined B \"none\"\n    user-defined D /Common/x\n}\n");
	CHECK(set_json(m, model_monitor_find(m, "e"), "{\"userDefined\": \"A=1\\nB\"}") != 0);
	CHECK_STR(fixture_said,
		"ltm monitor external /Common/e: user-defined: \"B\" is not NAME=VALUE");
	model_free(m);
}

/* A monitor that changes is told to who listens, the dataplane hears nothing. */
static void test_changes(void)
{
	struct model *m = model_new();
	struct model_changes changes;

	must(m, "create ltm monitor http a");
	must(m, "create ltm monitor http b defaults-from a");
	CHECK(command_as(m, &fixture_operator, "modify ltm monitor http a interval 3", &changes) ==
		0);
	CHECK_INT(changes.count, 2);
	CHECK_INT(changes.effect, EFFECT_NONE);
	CHECK(changes.config);
	model_changes_fini(&changes);
	model_free(m);
}

/* Monitors may come behind those that name them. */
static void test_load(void)
{
	static const char conf[] =
		"ltm pool web {\n    monitor a and http and b\n}\n"
		"ltm default-node-monitor {\n    rule min 1 of { icmp }\n}\n"
		"ltm monitor tcp b { }\nltm monitor tcp a { destination 2001:db8::1.80 }\n";
	struct model *m = model_new(), *copy = model_new();
	struct text text = {0}, again = {0};

	CHECK(load(m, conf, 0, NULL) == 0);
	model_print(m, PRINT_STORE, &text);
	CHECK(strstr(text.data, "destination 2001:db8::1.80") &&
		strstr(text.data, "rule min 1 of { /Common/icmp }"));
	CHECK(load(copy, text.data, LOAD_STORE, NULL) == 0);
	model_print(copy, PRINT_STORE, &again);
	CHECK_STR(again.data, text.data);
	CHECK(load(m, "ltm pool web { }\n", 0, NULL) == 0);
	prints(m, "ltm pool /Common/web { }\n");
	text_fini(&text);
	text_fini(&again);
	model_free(m);
	model_free(copy);
}

int main(void)
{
	test_builtin();
	test_inheritance();
	test_refusals();
	test_rules();
	test_users();
	test_rest();
	test_probe_json();
	test_variables();
	test_changes();
	test_load();
	return 0;
}
