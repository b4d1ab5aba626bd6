/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Every field of every kind, over REST's PATCH and PUT: who may not change it does not, by whichever of his rights is
 * missing; and writes back what he read.
 */
#include "model/model_fixture.h"

/* One of each kind that has none built in. */
static const char *const objects[] = {
	"create auth user u partition-access add { Common { role guest } }",
	"create sys file data-group f content a", "create sys file external-monitor f content a",
	"create sys file alert-script f content a", "create sys file ifile f content a",
	"create sys snmp communities c community-name c",
	"create sys snmp users u username u "
	"security-level no-auth-no-privacy",
	"create sys snmp traps t host 10.0.0.9 community c",
	"create sys smtp-server s smtp-server-host-name 10.0.0.9",
	"create sys alert a smtp-servers { s } to { a@a.example } from b@a.example",
	"create net vlan v interfaces add { 1.1 { tagged } }",
	"create net self s address 10.0.0.1/24 vlan v",
	"create net route r network 10.8.0.0/16 gw 10.0.0.2",
	"create ltm pool p members add { 10.0.0.3:80 { ratio 2 } 10.0.0.4:80 } monitor tcp",
	"create ltm ifile i file-name f", "create ltm data-group external e external-file-name f",
	"create ltm rule r definition \"local x = 1\"",
	"create ltm policy Drafts/a strategy /Common/first-match rules add { r { conditions add { "
	"0 { "
	"http-uri path starts-with values { /a } } } actions add { 0 { forward select pool p } } } "
	"}",
	"create ltm policy Drafts/b strategy /Common/first-match",
	"create ltm snatpool s members { 10.0.0.5 }",
	"create ltm virtual w destination 10.0.1.1:80 ip-protocol tcp pool p profiles add { tcp }"};

/* ---- who ---- */

/* What is refused to an administrator who may do all else. */
struct bar {
	const struct field *field;
	const char *path;
};

static bool barred(const void *who, const struct model_ask *ask)
{
	const struct bar *bar = who;

	return ask->deed == MODEL_READ || ((!bar->field || ask->field != bar->field) &&
						  (!bar->path || strcmp(ask->path, bar->path)));
}

/* ---- what ---- */

#define HASH                                                                                       \
	"$6$saltsalt$qFmFH.bQmmtXzyBY0s9v7Oicd2z4XSIecDzlB5KiA2/"                                  \
	"jctKu9YterLp8wwnSq.qc.eoxqOmSuNp2xS0ktL3nh/"

static const char *const texts[] = {"none", "x", "10.9.9.9", "10.9.9.0/24", "10.9.9.9:90", "*:90",
	"/Common/tcp", "/Common/none-such", "/Common/round-robin", "a.example", "x=1", "1.3",
	"Europe/Berlin", "root@a.example", "/x", "$ATTR", "255.255.255.0", "tcp:99", HASH};

static json_t *words_of(const struct field *f)
{
	json_t *all = json_array();

	for (const struct field_word *w = f->words; w && w->text; w++)
		json_array_append_new(all, json_string(w->text));
	for (unsigned i = 0; i < f->ref_count; i++)
		json_array_append_new(all, json_string(model_kinds[f->refs[i]].full));
	return all;
}

/* Values that may be others than the field's. */
static json_t *values_of(const struct model *m, const struct field *f)
{
	json_t *all = words_of(f), *one, *lists = json_array();
	size_t i;

	json_array_append_new(all, json_true());
	json_array_append_new(all, json_false());
	for (i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		json_array_append_new(all, json_string(texts[i]));
	for (uint32_t n = f->min; n < f->min + 3; n++)
		json_array_append_new(all, json_integer(n));
	for (i = 0; i < f->ref_count; i++)
		for (unsigned j = 0; j < 3 && model_at(m, f->refs[i], j); j++)
			json_array_append_new(all, json_string(model_at(m, f->refs[i], j)->path));
	json_array_foreach(all, i, one) json_array_append_new(lists, json_pack("[O]", one));
	json_array_extend(all, lists);
	json_decref(lists);
	return all;
}

static json_t *body_of(const struct field *f, json_t *value)
{
	return f->rest_group ? json_pack("{s:{s:O}}", f->rest_group, f->rest, value)
			     : json_pack("{s:O}", f->rest, value);
}

/* Its code; changed: whether something is another value then. */
static int set_as(struct model *m, const struct model_actor *actor, uint32_t id, json_t *body,
	bool replace, bool *changed)
{
	const struct object *o = model_get(m, id);
	size_t size = model_kinds[o->kind].size;
	struct model_error err = {0};
	void *before = malloc(size);

	CHECK(before && model_begin(m, actor) == 0);
	memcpy(before, o->data, size);
	int rc = model_set_json(m, id, body, replace, &err);
	*changed = !rc && memcmp(before, o->data, size);
	model_abort(m);
	free(before);
	return rc;
}

/* ---- the tests ---- */

static void must_refuse(struct model *m, const struct model_actor *actor, uint32_t id, json_t *body,
	bool replace, const struct field *f)
{
	bool changed;
	int rc = set_as(m, actor, id, body, replace, &changed);

	if (rc == -EPERM)
		return;
	fprintf(stderr, "%s %s: %d, by role %d\n", model_kinds[model_get(m, id)->kind].full,
		f->name, rc, actor->role);
	abort();
}

/* Whether one of the values changed it for who may, and none for who may not. */
static bool test_field(struct model *m, const struct object *o, const struct field *f, bool replace)
{
	const struct bar field = {.field = f}, path = {.path = model_root(m, o)->path};
	const struct model_actor who[] = {
		{.class = HOLD_OPERATOR, .role = ROLE_ADMIN, .who = &field, .may = barred},
		{.class = HOLD_OPERATOR, .role = ROLE_ADMIN, .who = &path, .may = barred},
		{.class = HOLD_OPERATOR, .role = f->who - 1}};
	json_t *values = values_of(m, f), *value;
	bool any = false, changed;
	size_t i;

	json_array_foreach(values, i, value)
	{
		json_t *body = body_of(f, value);
		set_as(m, &fixture_operator, o->id, body, false, &changed);
		any |= changed;
		for (unsigned j = 0; changed && j < sizeof(who) / sizeof(who[0]); j++)
			must_refuse(m, &who[j], o->id, body, replace, f);
		json_decref(body);
	}
	json_decref(values);
	return any;
}

/* Nobody sets it, or not to another value; policies_test.c publishes. */
static bool is_settable(const struct field *f)
{
	unsigned words = 0;

	for (const struct field_word *w = f->words; w && w->text; w++)
		words += w->supported;
	return f->class != FIELD_READ_ONLY && !f->derived && !f->hidden && !f->action &&
	       f->type != TYPE_HOLDS && !f->default_only && !f->create_only &&
	       (f->type != TYPE_ENUM || words > 1);
}

static void test_fields(struct model *m, const struct object *o)
{
	const struct kind *k = &model_kinds[o->kind];

	for (unsigned i = 0; i < k->field_count; i++) {
		const struct field *f = &k->fields[i];
		if (!is_settable(f) || (test_field(m, o, f, false) && test_field(m, o, f, true)))
			continue;
		fprintf(stderr, "no other value for %s %s\n", k->full, f->name);
		abort();
	}
}

/* What he read, without what is owned by it. */
static json_t *read_of(const struct model *m, const struct object *o)
{
	json_t *body = model_json(m, o, false);

	for (int child = model_kinds[o->kind].child; child >= 0; child = model_kinds[child].sibling)
		json_object_del(body, model_kinds[child].rest);
	return body;
}

/* By one who has no right at all. */
static void test_written_back(struct model *m, const struct object *o)
{
	const struct bar all = {.path = model_root(m, o)->path};
	const struct model_actor who[] = {
		{.class = HOLD_OPERATOR, .role = ROLE_ADMIN, .who = &all, .may = barred},
		{.class = HOLD_OPERATOR, .role = ROLE_GUEST}};
	json_t *body = read_of(m, o);

	for (unsigned i = 0; i < 4; i++) {
		struct model_error err = {0};
		struct model_changes changes = {0};
		CHECK(model_begin(m, &who[i / 2]) == 0);
		int rc = model_set_json(m, o->id, body, i % 2, &err);
		if (fixture_end(m, rc, &err, &changes))
			fprintf(stderr, "%s\n", fixture_said);
		CHECK(!fixture_said[0]);
		CHECK_INT(changes.count, 0);
		model_changes_fini(&changes);
	}
	json_decref(body);
}

static void test_object(struct model *m, const struct object *o, bool *seen)
{
	const struct object *child;

	if (!seen[o->kind])
		test_fields(m, o);
	seen[o->kind] = true;
	test_written_back(m, o);
	for (unsigned i = 0; (child = model_child_at(m, o, i)); i++)
		test_object(m, child, seen);
}

int main(void)
{
	struct model *m = model_new();
	bool seen[MODEL_KINDS] = {false};
	const struct object *o;

	for (size_t i = 0; i < sizeof(objects) / sizeof(objects[0]); i++)
		must(m, objects[i]);
	for (unsigned kind = 0; kind < MODEL_KINDS; kind++)
		for (unsigned i = 0; (o = model_at(m, (enum model_kind)kind, i)); i++)
			test_object(m, o, seen);
	/* policies of virtual servers are refused one by one */
	for (unsigned kind = 0; kind < MODEL_KINDS; kind++)
		CHECK(seen[kind] || model_kinds[kind].refused || kind == KIND_VIRTUAL_POLICY);
	model_free(m);
	return 0;
}
