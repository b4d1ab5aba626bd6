/* SPDX-License-Identifier: BSD-3-Clause */
/* What becomes of ephemeral members without a name server: the model is their memory, the test has the clock. */
#include "model/model_fixture.h"
#include "resolve/fqdn.h"

static const struct model_actor system_actor = {.class = HOLD_SYSTEM, .role = ROLE_ADMIN};
static const uint64_t second = 1000000000;
static int64_t connections;

static int on_commit(void *ctx)
{
	return 0;
}

static int64_t on_connections(void *ctx, uint32_t id)
{
	return connections;
}

static void on_note(void *ctx, const struct object *o, const char *before, const char *after,
	const char *sentence)
{
}

static int made_of(struct model *m, const char *addr, struct model_error *err)
{
	char name[64], port[72];
	uint32_t node, made;

	snprintf(name, sizeof(name), MODEL_EPHEMERAL_PREFIX "%s", addr);
	snprintf(port, sizeof(port), "%s:80", name);
	int rc = model_create(m, KIND_NODE, ID_NONE, name, &node, err);
	rc = rc ? rc : model_set_text(m, node, NULL, "address", addr, err);
	rc = rc ? rc : model_set_text(m, node, "fqdn", "name", "web.invalid", err);
	rc = rc ? rc : model_set_text(m, node, NULL, "ephemeral", "true", err);
	rc = rc ? rc
		: model_create(
			  m, KIND_POOL_MEMBER, object(m, KIND_POOL, "web")->id, port, &made, err);
	rc = rc ? rc : model_set_text(m, made, NULL, "ephemeral", "true", err);
	return rc ? rc : model_set_text(m, made, "fqdn", "name", "web.invalid", err);
}

/* The objects that an answer of one address had made. */
static void answered(struct model *m, const char *addr)
{
	struct model_error err = {0};

	CHECK(model_begin(m, &system_actor) == 0);
	CHECK(fixture_end(m, made_of(m, addr, &err), &err, NULL) == 0);
}

static struct model *model_of(void)
{
	struct model *m = model_new();

	must(m, "create ltm node web.invalid fqdn { name web.invalid autopopulate enabled }");
	must(m, "create ltm pool web members add { web.invalid:80 { ratio 4 fqdn { autopopulate "
		"enabled } } }");
	answered(m, "10.0.0.1");
	answered(m, "10.0.0.2");
	return m;
}

static unsigned apply(struct fqdn *f, struct model *m, uint64_t now)
{
	struct model_error err = {0};
	struct model_changes changes = {0};

	CHECK(model_begin(m, &system_actor) == 0);
	int rc = fqdn_apply(f, m, now, &err);
	if (fixture_end(m, rc, &err, &changes)) {
		fprintf(stderr, "%s\n", fixture_said);
		abort();
	}
	unsigned count = changes.count;
	fqdn_model_changed(f, m, &changes);
	model_changes_fini(&changes);
	return count;
}

static void edited(struct fqdn *f, struct model *m, const char *line)
{
	struct model_changes changes;

	if (command_as(m, &fixture_operator, line, &changes)) {
		fprintf(stderr, "%s: %s\n", line, fixture_said);
		abort();
	}
	fqdn_model_changed(f, m, &changes);
	model_changes_fini(&changes);
}

static unsigned bits(const struct model *m, const char *name)
{
	return holds_bits(&model_pool_member(member(m, "web", name))->live.holds);
}

static void test_follow(struct fqdn *f, struct model *m)
{
	CHECK(apply(f, m, second) > 0); /* the ratio */
	CHECK_INT(model_pool_member(member(m, "web", "_auto_10.0.0.2:80"))->live.ratio, 4);
	CHECK_INT(apply(f, m, 2 * second), 0);
	edited(f, m, "modify ltm node web.invalid state user-down");
	CHECK(apply(f, m, 3 * second) > 0);
	CHECK_INT(bits(m, "_auto_10.0.0.1:80"), HOLD_STATE);
	edited(f, m, "modify ltm node web.invalid state user-up");
	CHECK(apply(f, m, 4 * second) > 0);
	CHECK_INT(bits(m, "_auto_10.0.0.1:80"), 0);
}

/* Held first; gone without connections, or when their number is not known after five minutes. */
static void test_leave(struct fqdn *f, struct model *m)
{
	uint64_t begin = 10 * second;

	edited(f, m, "modify ltm pool web members delete { web.invalid:80 }");
	connections = 0;
	CHECK(apply(f, m, begin) > 0);
	CHECK_INT(bits(m, "_auto_10.0.0.1:80"), HOLD_SESSION);
	CHECK_INT(apply(f, m, begin + (FQDN_LEAVE_MIN - 1) * second), 0);
	edited(f, m,
		"modify ltm pool web members add { web.invalid:80 { fqdn { autopopulate "
		"enabled } } }");
	CHECK(apply(f, m, begin + 2 * second) > 0);
	CHECK_INT(bits(m, "_auto_10.0.0.1:80"), 0);
	edited(f, m, "modify ltm pool web members delete { web.invalid:80 }");
	connections = 5;
	apply(f, m, 100 * second);
	CHECK_INT(apply(f, m, 100 * second + (FQDN_LEAVE_MAX - 1) * second), 0);
	connections = -1;
	CHECK_INT(apply(f, m, 100 * second + (FQDN_LEAVE_MAX - 1) * second), 0);
	CHECK(member(m, "web", "_auto_10.0.0.1:80") != NULL);
	CHECK(apply(f, m, 100 * second + FQDN_LEAVE_MAX * second) > 0);
	CHECK(!member(m, "web", "_auto_10.0.0.1:80") && !member(m, "web", "_auto_10.0.0.2:80"));
	/* The nodes stay: the name has them still. */
	object(m, KIND_NODE, "_auto_10.0.0.1");
	edited(f, m,
		"modify ltm pool web members add { web.invalid:80 { fqdn { autopopulate "
		"enabled } } }");
	CHECK(apply(f, m, 500 * second) > 0);
	edited(f, m, "modify ltm pool web members delete { web.invalid:80 }");
	apply(f, m, 510 * second);
	connections = 0;
	edited(f, m, "delete ltm node web.invalid");
	CHECK(apply(f, m, 513 * second) > 0);
	CHECK_INT(model_count(m, KIND_POOL_MEMBER), 0);
	CHECK_INT(model_count(m, KIND_NODE), 0);
}

static void sentence_is(const struct resolve_status *s, const char *want)
{
	char text[400];

	CHECK_STR(fqdn_sentence(s, 1000 * second, text, sizeof(text)), want);
}

static void test_sentence(void)
{
	struct resolve_status s = {.state = RESOLVE_UP,
		.address = {.count = 3},
		.answered_ns = 988 * second,
		.next_ns = 1018 * second};

	sentence_is(&s, "resolved 12 s ago to 3 addresses, next in 18 s");
	strcpy(s.refused, "127.0.0.1 is a loopback address");
	s.next_ns = 0;
	sentence_is(&s, "resolved 12 s ago to 3 addresses; refused: 127.0.0.1 is a loopback "
			"address, being asked now");
	s = (struct resolve_status){.state = RESOLVE_DOWN,
		.address = {.count = 1},
		.answered_ns = 100 * second,
		.next_ns = 8600 * second,
		.error = "A: SERVFAIL"};
	sentence_is(&s, "A: SERVFAIL; the 1 address of 15 min ago stays in use, next in 2 h");
	s.answered_ns = 0;
	sentence_is(
		&s, "A: SERVFAIL; the 1 address from before the start stays in use, next in 2 h");
	s = (struct resolve_status){.state = RESOLVE_CHECKING};
	sentence_is(&s, "not resolved yet, being asked now");
}

/* A name whose answers are never the same cannot fill the model. */
static void test_many_leave(void)
{
	static const struct fqdn_ops ops = {on_commit, on_connections, on_note};
	struct event_base *base = event_base_new();
	struct model_error err = {0};
	struct model *m = model_of();
	struct fqdn *f = fqdn_new(base, m, &ops, NULL);
	char addr[32];
	int rc = 0;

	CHECK(f != NULL && model_begin(m, &system_actor) == 0);
	for (unsigned i = 0; rc == 0 && i < FQDN_LEAVING_MAX; i++) {
		snprintf(addr, sizeof(addr), "10.1.%u.%u", i / 200, i % 200 + 1);
		rc = made_of(m, addr, &err);
	}
	CHECK(fixture_end(m, rc, &err, NULL) == 0);
	edited(f, m, "modify ltm pool web members delete { web.invalid:80 }");
	connections = 1;
	CHECK(apply(f, m, 1000 * second) > FQDN_LEAVING_MAX);
	CHECK_INT(model_child_count(m, object(m, KIND_POOL, "web")), FQDN_LEAVING_MAX);
	CHECK_INT(apply(f, m, 1001 * second), 0);
	fqdn_free(f);
	model_free(m);
	event_base_free(base);
}

int main(void)
{
	static const struct fqdn_ops ops = {on_commit, on_connections, on_note};
	struct event_base *base = event_base_new();
	struct model *m = model_of();
	struct fqdn *f = fqdn_new(base, m, &ops, NULL);

	CHECK(f != NULL);
	test_follow(f, m);
	test_leave(f, m);
	test_many_leave();
	test_sentence();
	fqdn_free(f);
	model_free(m);
	event_base_free(base);
	libevent_global_shutdown();
	return 0;
}
