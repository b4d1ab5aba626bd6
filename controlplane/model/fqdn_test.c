/* SPDX-License-Identifier: BSD-3-Clause */
/* Nodes that are known by a name, and what name resolution makes of them. */
#include "model/model_fixture.h"

static const struct model_actor resolver = {.class = HOLD_SYSTEM, .role = ROLE_ADMIN};

static void prints(const struct model *m, unsigned flags, const char *said)
{
	struct text out = {0};

	model_print(m, flags, &out);
	CHECK_STR(out.data ? out.data : "", said);
	text_fini(&out);
}

static const char conf[] =
	"ltm node /Common/web.example.com {\n    address any6\n    fqdn {\n"
	"        name web.example.com\n        autopopulate enabled\n"
	"        interval ttl\n    }\n}\n"
	"ltm pool /Common/web {\n    members {\n"
	"        /Common/web.example.com:80 {\n            fqdn {\n"
	"                autopopulate enabled\n            }\n        }\n    }\n}\n";

/* As resolve/ does: a node and a member. */
static void resolve(struct model *m, const char *addr)
{
	struct model_error err = {0};
	char name[64], port[72];
	uint32_t node, made;
	int rc;

	snprintf(name, sizeof(name), "_auto_%s", addr);
	snprintf(port, sizeof(port), "_auto_%s%s80", addr, strchr(addr, ':') ? "." : ":");
	CHECK(model_begin(m, &resolver) == 0);
	rc = model_create(m, KIND_NODE, ID_NONE, name, &node, &err);
	rc = rc ? rc : model_set_text(m, node, NULL, "address", addr, &err);
	rc = rc ? rc : model_set_text(m, node, "fqdn", "name", "web.example.com", &err);
	rc = rc ? rc : model_set_text(m, node, NULL, "ephemeral", "true", &err);
	rc = rc ? rc
		: model_create(
			  m, KIND_POOL_MEMBER, object(m, KIND_POOL, "web")->id, port, &made, &err);
	rc = rc ? rc : model_set_text(m, made, NULL, "ephemeral", "true", &err);
	if (fixture_end(m, rc, &err, NULL)) {
		fprintf(stderr, "%s\n", fixture_said);
		abort();
	}
}

static struct model *resolved(void)
{
	struct model *m = model_new();

	must(m, "create ltm node web.example.com fqdn { name web.example.com autopopulate enabled "
		"interval ttl }");
	must(m, "create ltm pool web members add { web.example.com:80 { fqdn { autopopulate "
		"enabled } } }");
	resolve(m, "10.0.0.1");
	resolve(m, "2001:db8::1");
	return m;
}

static void test_template(void)
{
	struct model *m = model_new();

	must(m, "create ltm node a fqdn { name a.example }");
	must(m, "create ltm node b address any6 fqdn { name b.example address-family all }");
	CHECK(model_is_template(m, object(m, KIND_NODE, "a")));
	must_fail(m, "modify ltm node a fqdn { name c.example }",
		"ltm node /Common/a: name: cannot be changed: delete and create the object");
	must_fail(m, "modify ltm node a ephemeral true",
		"ltm node /Common/a: ephemeral: is read-only");
	CHECK(command(m, "create ltm node d address 10.0.0.1 fqdn { name d.example }"));
	CHECK_STR(fixture_said, "ltm node /Common/d: address: goes not with an fqdn name");
	CHECK(command(m, "create ltm node d fqdn { name d..example }"));
	CHECK_STR(fixture_said, "ltm node /Common/d: fqdn name: \"d..example\" is no domain name");
	CHECK(command(m, "create ltm node d address any6"));
	/* the node comes with its first member */
	must(m, "create ltm pool p members add { e.example:80 { fqdn { name e.example autopopulate "
		"enabled } } }");
	CHECK(model_node(object(m, KIND_NODE, "e.example"))->conf.fqdn_autopopulate);
	CHECK(model_is_template(m, member(m, "p", "e.example:80")));
	CHECK(command(m, "modify ltm pool p members add { a:80 { fqdn { name f.example } } }"));
	CHECK_STR(fixture_said,
		"ltm pool members /Common/p /Common/a:80: fqdn name: is not that of "
		"node /Common/a");
	model_free(m);
}

/* Shown and kept in the store, not saved; only name resolution takes them away. */
static void test_ephemeral(void)
{
	struct model *m = resolved(), *copy = model_new();
	struct text store = {0}, again = {0}, list = {0};
	struct model_error err = {0};
	const struct object *made = object(m, KIND_NODE, "_auto_10.0.0.1");

	CHECK(model_is_ephemeral(made) && !model_is_template(m, made));
	CHECK(!model_is_template(m, member(m, "web", "_auto_2001:db8::1.80")));
	prints(m, 0, conf);
	model_print_object(m, made, 0, &list);
	CHECK(strstr(list.data, "    ephemeral true\n"));
	model_print(m, PRINT_STORE, &store);
	CHECK(load(copy, store.data, LOAD_STORE, NULL) == 0);
	model_print(copy, PRINT_STORE, &again);
	CHECK_STR(again.data, store.data);
	must_fail(m, "delete ltm node _auto_10.0.0.1",
		"ltm node /Common/_auto_10.0.0.1: was made by name resolution, and goes away with "
		"the name's address");
	must_fail(m, "modify ltm pool web members delete { _auto_10.0.0.1:80 }",
		"ltm pool members /Common/web /Common/_auto_10.0.0.1:80: was made by name "
		"resolution, "
		"and goes away with the name's address");
	CHECK(model_begin(m, &resolver) == 0);
	CHECK(model_delete(m, member(m, "web", "_auto_10.0.0.1:80")->id, &err) == 0);
	CHECK(fixture_end(m, model_delete(m, made->id, &err), &err, NULL) == 0);
	text_fini(&store);
	text_fini(&again);
	text_fini(&list);
	model_free(m);
	model_free(copy);
}

/* What replaces everything does not touch them, but they go with their pool. */
static void test_replace(void)
{
	struct model *m = resolved();

	must(m, "modify ltm pool web members replace-all-with { web.example.com:80 }");
	must(m, "modify ltm pool web members none");
	CHECK(member(m, "web", "_auto_10.0.0.1:80") && !member(m, "web", "web.example.com:80"));
	must(m, "modify ltm pool web description x monitor tcp");
	CHECK(load(m, conf, 0, NULL) == 0);
	prints(m, 0, conf);
	CHECK(member(m, "web", "_auto_10.0.0.1:80"));
	CHECK(load(m, "ltm node _auto_10.0.0.1 { address 10.0.0.1 }", 0, NULL) != 0);
	CHECK_STR(fixture_said, "weir.conf:1: ltm node /Common/_auto_10.0.0.1: was made by name "
				"resolution");
	CHECK(command(m, "create ltm pool p members add { _auto_10.0.0.1:81 }"));
	CHECK_STR(fixture_said, "ltm pool members /Common/p /Common/_auto_10.0.0.1:81: node "
				"/Common/_auto_10.0.0.1 was made by name resolution: name the "
				"member by the node it was made from, or by another");
	must(m, "delete ltm pool web");
	must(m, "delete ltm node all");
	CHECK(model_find(m, KIND_NODE, ID_NONE, "_auto_10.0.0.1"));
	model_free(m);
}

/* Who may change what of it; a person's node or member comes before it. */
static void test_people(void)
{
	struct model *m = resolved();
	struct ip_addr addr;

	must(m, "modify ltm pool web members modify { _auto_10.0.0.1:80 { session user-disabled } "
		"}");
	must(m, "modify ltm node _auto_10.0.0.1 state user-down");
	must_fail(m, "modify ltm node _auto_10.0.0.1 ratio 3",
		"ltm node /Common/_auto_10.0.0.1: ratio: was made by name resolution: only who "
		"holds it can be changed, the rest is that of what it was made from");
	CHECK(command(
		m, "modify ltm pool web members modify { _auto_10.0.0.1:80 { monitor tcp } }"));
	CHECK(command(m, "create ltm node _auto_10.0.0.9 address 10.0.0.9"));
	CHECK_STR(fixture_said, "ltm node /Common/_auto_10.0.0.9: names that begin with _auto_ are "
				"those that name resolution gives");
	CHECK(ip_parse("10.0.0.1", &addr) == 0 && !model_node_at(m, &addr));
	must(m, "create ltm pool p members add { 10.0.0.1:80 }");
	CHECK_STR(model_node_at(m, &addr)->path, "/Common/10.0.0.1");
	model_free(m);
}

static void test_adopt(void)
{
	struct model *m = resolved();
	struct model_error err = {0};
	uint32_t made;
	int rc;

	must(m, "create ltm node s address 10.0.0.7");
	CHECK(model_begin(m, &resolver) == 0);
	rc = model_create(
		m, KIND_POOL_MEMBER, object(m, KIND_POOL, "web")->id, "s:80", &made, &err);
	rc = rc ? rc : model_set_text(m, made, NULL, "ephemeral", "true", &err);
	rc = rc ? rc : model_set_text(m, made, NULL, "ratio", "7", &err);
	CHECK(fixture_end(m, rc, &err, NULL) == 0);
	must(m, "modify ltm pool web members add { s:80 { priority-group 2 } }");
	const struct pool_member *p = model_pool_member(member(m, "web", "s:80"));
	CHECK_INT(p->conf.ephemeral, 0);
	CHECK_INT(p->conf.priority_group, 2);
	CHECK_INT(p->live.ratio, 1);
	CHECK_INT(member(m, "web", "s:80")->id, made);
	must(m, "modify ltm pool web members delete { s:80 }");
	CHECK(model_begin(m, &resolver) == 0);
	rc = model_create(
		m, KIND_POOL_MEMBER, object(m, KIND_POOL, "web")->id, "s:80", &made, &err);
	rc = rc ? rc : model_set_text(m, made, NULL, "ephemeral", "true", &err);
	CHECK(fixture_end(m, rc, &err, NULL) == 0);
	must(m, "delete ltm node s");
	CHECK(!member(m, "web", "s:80"));
	model_free(m);
}

/* Whom to ask: lists of texts. */
static void test_dns(void)
{
	static const char saved[] = "sys dns {\n    name-servers {\n        10.0.0.53\n"
				    "        2001:db8::53\n    }\n    search {\n"
				    "        example.com\n    }\n}\n";
	struct model *m = model_new(), *copy = model_new();
	struct text store = {0};

	prints(m, 0, "");
	must(m, "modify sys dns name-servers add { 10.0.0.53 } search { example.com }");
	must(m, "modify sys dns name-servers add { 10.0.0.54 2001:db8::53 10.0.0.53 }");
	must(m, "modify sys dns name-servers delete { 10.0.0.54 }");
	prints(m, 0, saved);
	must_fail(m, "modify sys dns name-servers add { web }",
		"sys dns: name-servers: \"web\" is not the address of a server");
	must_fail(
		m, "modify sys dns search { a..b }", "sys dns: search: \"a..b\" is no domain name");
	CHECK(command(m, "modify sys dns name-servers { 10.0.0.1 10.0.0.2 10.0.0.3 10.0.0.4 "
			 "10.0.0.5 10.0.0.6 10.0.0.7 10.0.0.8 10.0.0.9 }"));
	CHECK(load(copy, saved, 0, NULL) == 0);
	prints(copy, 0, saved);
	model_print(m, PRINT_STORE, &store);
	model_free(copy);
	copy = model_new();
	CHECK(load(copy, store.data, LOAD_STORE, NULL) == 0);
	prints(copy, 0, saved);
	json_t *json = model_json(m, model_at(m, KIND_DNS, 0), false);
	CHECK_STR(json_string_value(json_array_get(json_object_get(json, "nameServers"), 1)),
		"2001:db8::53");
	json_decref(json);
	json = json_pack("{s:[s]}", "nameServers", "10.0.0.9");
	struct model_error err = {0};
	CHECK(model_begin(m, &fixture_operator) == 0);
	CHECK(fixture_end(m, model_set_json(m, model_at(m, KIND_DNS, 0)->id, json, false, &err),
		      &err, NULL) == 0);
	json_decref(json);
	must(m, "modify sys dns search none");
	prints(m, 0, "sys dns {\n    name-servers {\n        10.0.0.9\n    }\n}\n");
	must(m, "modify sys dns name-servers none");
	prints(m, 0, "");
	text_fini(&store);
	model_free(m);
	model_free(copy);
}

int main(void)
{
	test_template();
	test_ephemeral();
	test_replace();
	test_people();
	test_adopt();
	test_dns();
	return 0;
}
