/* SPDX-License-Identifier: BSD-3-Clause */
/* Transactions, references, what is created beside, holds, roles. */
#include "model/model_fixture.h"

#include <errno.h>

static void pool_of_two(struct model *m)
{
	must(m, "create ltm pool web members add { 10.0.0.1:80 { ratio 3 } 10.0.0.2:80 { } }");
}

/* ltm.md, 6; icontrol.md, 1.10: a member makes its node, a virtual server its address. */
static void test_beside(void)
{
	struct model *m = model_new();
	const struct object *o;

	pool_of_two(m);
	o = object(m, KIND_NODE, "10.0.0.1");
	CHECK_STR(o->path, "/Common/10.0.0.1");
	CHECK_INT(o->users, 1);
	CHECK_INT(model_pool_member(member(m, "web", "10.0.0.1:80"))->conf.node, o->id);
	CHECK_INT(model_pool_member(member(m, "web", "10.0.0.1:http"))->live.ratio, 3);
	must(m, "create ltm virtual v destination 10.0.1.1:80 ip-protocol tcp pool web");
	must(m, "create ltm virtual w destination 10.0.1.1:443 ip-protocol tcp pool web");
	o = object(m, KIND_VIRTUAL_ADDRESS, "10.0.1.1");
	CHECK_INT(model_virtual(object(m, KIND_VIRTUAL, "v"))->conf.destination.addr, o->id);
	CHECK_STR(model_child_at(m, object(m, KIND_VIRTUAL, "v"), 0)->path, "/Common/fastL4");
	must(m, "delete ltm virtual v");
	CHECK(model_find(m, KIND_VIRTUAL_ADDRESS, ID_NONE, "10.0.1.1"));
	must(m, "delete ltm virtual w");
	CHECK(!model_find(m, KIND_VIRTUAL_ADDRESS, ID_NONE, "10.0.1.1"));
	must(m, "create ltm snatpool s members { 10.0.3.1 10.0.3.2 }");
	CHECK_INT(model_count(m, KIND_SNAT_TRANSLATION), 2);
	CHECK_INT(model_snatpool(object(m, KIND_SNATPOOL, "s"))->conf.members.count, 2);
	model_free(m);
}

/* f5-ansible#1668, #2082: identity is address and port; a node is removed only by itself. */
static void test_references(void)
{
	struct model *m = model_new();

	pool_of_two(m);
	must(m, "modify ltm pool web members add { 10.0.0.1:8080 { } }");
	must_fail(m, "delete ltm node 10.0.0.1",
		"ltm node /Common/10.0.0.1: is still used by ltm pool members /Common/web "
		"/Common/10.0.0.1:80");
	must(m, "modify ltm pool web members delete { 10.0.0.1:80 }");
	CHECK(!member(m, "web", "10.0.0.1:80") && member(m, "web", "10.0.0.1:8080"));
	must(m, "create ltm virtual v destination 10.0.1.1:80 ip-protocol tcp pool web");
	must_fail(m, "delete ltm pool web",
		"ltm pool /Common/web: is still used by ltm virtual /Common/v");
	must_fail(m, "modify ltm virtual v pool nosuch",
		"ltm virtual /Common/v: pool: ltm pool /Common/nosuch does not exist");
	must_fail(m, "modify ltm pool web members delete { 10.9.9.9:80 }",
		"ltm pool members /Common/10.9.9.9:80: was not found");
	must(m, "delete ltm virtual v");
	must(m, "delete ltm pool web");
	CHECK(model_find(m, KIND_NODE, ID_NONE, "10.0.0.1"));
	must(m, "delete ltm node all");
	CHECK_INT(model_count(m, KIND_NODE), 0);
	model_free(m);
}

static void test_one_transaction(void)
{
	struct model *m = model_new();
	struct model_error err;
	struct model_changes changes;
	uint32_t id, pool;
	struct text before = {0}, after = {0};

	/* the virtual server comes before the pool it names */
	CHECK(model_begin(m, &fixture_operator) == 0);
	CHECK_INT(model_begin(m, &fixture_operator), -EBUSY);
	CHECK(model_create(m, KIND_VIRTUAL, ID_NONE, "v", &id, &err) == 0);
	CHECK(model_set_text(m, id, NULL, "destination", "10.0.1.1:80", &err) == 0);
	CHECK(model_set_text(m, id, NULL, "pool", "web", &err) == 0);
	CHECK(model_create(m, KIND_POOL, ID_NONE, "web", &pool, &err) == 0);
	CHECK(model_commit(m, &changes, &err) == 0);
	CHECK_INT(model_virtual(model_get(m, id))->conf.pool, pool);
	CHECK_INT(changes.count, 4); /* with address and profile */
	CHECK(changes.config && changes.effect & EFFECT_SNAPSHOT);
	model_changes_fini(&changes);
	/* deleted and made again in one: the same id; nothing is left of what is taken back */
	model_print(m, PRINT_STORE, &before);
	CHECK(model_begin(m, &fixture_operator) == 0);
	CHECK(model_delete(m, id, &err) == 0 && !model_get(m, id));
	CHECK(model_delete(m, pool, &err) == 0);
	CHECK(model_create(m, KIND_POOL, ID_NONE, "web", &pool, &err) == 0);
	CHECK(model_set_text(m, pool, NULL, "description", "new", &err) == 0);
	CHECK(model_validate(m, &err) == 0);
	CHECK(!model_find(m, KIND_VIRTUAL_ADDRESS, ID_NONE, "10.0.1.1"));
	model_abort(m);
	model_print(m, PRINT_STORE, &after);
	CHECK_STR(after.data, before.data);
	CHECK_INT(model_virtual(model_get(m, id))->conf.pool, pool);
	text_fini(&before);
	text_fini(&after);
	model_free(m);
}

static void test_changes(void)
{
	struct model *m = model_new();
	struct model_changes c;
	uint64_t generation;

	pool_of_two(m);
	generation = model_generation(m);
	CHECK(command_as(m, &fixture_operator,
		      "modify ltm pool web members modify { 10.0.0.1:80 { ratio 5 } }", &c) == 0);
	CHECK_INT(c.count, 1);
	CHECK_INT(c.row[0].id, member(m, "web", "10.0.0.1:80")->id);
	CHECK_INT(c.row[0].effect, EFFECT_LIVE);
	CHECK(!c.config && c.effect == EFFECT_LIVE && model_generation(m) == generation);
	CHECK_INT(member(m, "web", "10.0.0.1:80")->generation, 2);
	CHECK_STR(c.row[0].path, "/Common/web /Common/10.0.0.1:80");
	model_changes_fini(&c);
	CHECK(command_as(m, &fixture_operator, "modify ltm pool web description x", &c) == 0);
	CHECK(c.config && c.effect == EFFECT_NONE && model_generation(m) == generation + 1);
	model_changes_fini(&c);
	CHECK(command_as(m, &fixture_operator, "modify ltm pool web description x", &c) == 0);
	CHECK(c.count == 0 && !c.config);
	model_changes_fini(&c);
	CHECK(command_as(m, &fixture_operator, "delete ltm pool web", &c) == 0);
	CHECK_INT(c.count, 3);
	CHECK_INT(c.row[0].what, CHANGE_DELETED);
	model_changes_fini(&c);
	model_free(m);
}

/* Whoever enables clears its own class; an operator's enable clears all and says which. */
static void test_holds(void)
{
	struct model *m = model_new();
	const struct holds *h;
	struct model_error err;

	pool_of_two(m);
	h = &model_pool_member(member(m, "web", "10.0.0.1:80"))->live.holds;
	CHECK(command_as(m, &fixture_agent,
		      "modify ltm pool web members modify { 10.0.0.1:80 { session user-disabled } "
		      "}",
		      NULL) == 0);
	CHECK_INT(h->by[HOLD_AGENT].bits, HOLD_SESSION);
	CHECK_STR(model_string(m, h->by[HOLD_AGENT].reason), "heap is full");
	must(m, "modify ltm pool web members modify { 10.0.0.1:80 { session user-disabled state "
		"user-down } }");
	CHECK_INT(holds_bits(h), HOLD_SESSION | HOLD_STATE);
	CHECK(command_as(m, &fixture_agent,
		      "modify ltm pool web members modify { 10.0.0.1:80 { session user-enabled } }",
		      NULL) == 0);
	CHECK_INT(h->by[HOLD_AGENT].bits, 0);
	CHECK_INT(holds_bits(h), HOLD_SESSION | HOLD_STATE);
	CHECK(command_as(m, &fixture_agent,
		      "modify ltm pool web members modify { 10.0.0.1:80 { session user-disabled } "
		      "}",
		      NULL) == 0);
	must(m, "modify ltm pool web members modify { 10.0.0.1:80 { state user-up } }");
	CHECK_INT(h->by[HOLD_AGENT].bits, HOLD_SESSION);
	must(m, "modify ltm pool web members modify { all { session user-enabled } }");
	CHECK_INT(holds_bits(h), 0);
	CHECK_STR(fixture_said, "/Common/10.0.0.1:80: the hold of an agent was cleared");
	CHECK(model_begin(m, &fixture_operator) == 0);
	CHECK(model_hold(m, object(m, KIND_NODE, "10.0.0.1")->id, HOLD_MONITOR, HOLD_STATE,
		      "no answer", &err) == 0);
	CHECK(model_commit(m, NULL, &err) == 0);
	CHECK_INT(
		holds_bits(&model_node(object(m, KIND_NODE, "10.0.0.1"))->live.holds), HOLD_STATE);
	/* A reason goes into weir.conf and must come back from it. */
	char reason[HOLD_REASON_MAX + 2];
	memset(reason, 'r', sizeof(reason));
	reason[HOLD_REASON_MAX + 1] = '\0';
	CHECK(model_begin(m, &fixture_operator) == 0);
	CHECK(model_hold(m, object(m, KIND_NODE, "10.0.0.1")->id, HOLD_AGENT, HOLD_STATE, reason,
		      &err) == -EINVAL);
	CHECK(model_hold(m, object(m, KIND_NODE, "10.0.0.1")->id, HOLD_AGENT, HOLD_STATE,
		      reason + 1, &err) == 0);
	model_abort(m);
	model_free(m);
}

static void test_roles(void)
{
	struct model *m = model_new();
	struct model_actor manager = {.class = HOLD_OPERATOR, .role = ROLE_MANAGER};

	pool_of_two(m);
	CHECK_INT(command_as(m, &fixture_agent, "modify ltm pool web description x", NULL), -EPERM);
	CHECK_STR(fixture_said, "ltm pool /Common/web: description: your role may not change this");
	CHECK_INT(command_as(m, &fixture_agent, "delete ltm pool web", NULL), -EPERM);
	CHECK_INT(command_as(m, &fixture_agent, "create ltm pool x", NULL), -EPERM);
	CHECK_INT(command_as(m, &fixture_agent, "modify ltm node 10.0.0.1 ratio 9", NULL), 0);
	CHECK_INT(command_as(m, &manager, "create net vlan x", NULL), -EPERM);
	CHECK_INT(
		command_as(m, &manager, "create ltm pool x members add { 10.0.0.3:80 }", NULL), 0);
	model_free(m);
}

static void test_ids(void)
{
	struct model *m = model_new();
	uint32_t id, slot;

	must(m, "create ltm pool web");
	id = object(m, KIND_POOL, "web")->id;
	must(m, "delete ltm pool web");
	CHECK(!model_get(m, id));
	for (int i = 0; i < 3000; i++) {
		must(m, "create ltm pool web");
		slot = id_slot(object(m, KIND_POOL, "web")->id);
		CHECK(object(m, KIND_POOL, "web")->id != id);
		CHECK(slot < 3000); /* slots are used again */
		must(m, "delete ltm pool web");
	}
	model_free(m);
}

static void test_order(void)
{
	struct model *m = model_new();
	static const char *const names[] = {"m", "c", "z", "a"};
	char line[64];

	for (int i = 0; i < 4; i++) {
		snprintf(line, sizeof(line), "create ltm pool %s", names[i]);
		must(m, line);
	}
	CHECK_STR(model_at(m, KIND_POOL, 0)->path, "/Common/a");
	CHECK_STR(model_at(m, KIND_POOL, 3)->path, "/Common/z");
	must(m, "create ltm pool b");
	must(m, "delete ltm pool m");
	CHECK_STR(model_at(m, KIND_POOL, 1)->path, "/Common/b");
	CHECK_STR(model_at(m, KIND_POOL, 3)->path, "/Common/z");
	CHECK(!model_at(m, KIND_POOL, 4));
	CHECK_INT(model_count(m, KIND_POOL), 4);
	model_free(m);
}

static void test_inheritance(void)
{
	struct model *m = model_new();
	const struct profile_fastl4_conf *child;

	must(m, "create ltm profile fastl4 long idle-timeout 900");
	must(m, "create ltm profile fastl4 longer defaults-from long tcp-close-timeout 60");
	child = &model_profile_fastl4(object(m, KIND_PROFILE_FASTL4, "longer"))->conf;
	CHECK_INT(child->idle_timeout, 900);
	CHECK_INT(child->tcp_close_timeout, 60);
	must(m, "modify ltm profile fastl4 long idle-timeout indefinite tcp-close-timeout 7");
	CHECK_INT(child->idle_timeout, UINT32_MAX);
	CHECK_INT(child->tcp_close_timeout, 60);
	must_fail(m, "modify ltm profile fastl4 long defaults-from longer",
		"ltm profile fastl4 /Common/longer: defaults-from: too many parents, or a circle "
		"of them");
	must_fail(m, "delete ltm profile fastl4 fastL4",
		"ltm profile fastl4 /Common/fastL4: is built in and cannot be deleted");
	model_free(m);
}

int main(void)
{
	test_beside();
	test_references();
	test_one_transaction();
	test_changes();
	test_holds();
	test_roles();
	test_ids();
	test_order();
	test_inheritance();
	return 0;
}
