/* SPDX-License-Identifier: BSD-3-Clause */
/* Policies: three levels of children in words, in files and in the store; drafts and what holds them. */
#include "model/model_fixture.h"

#define RULE                                                                                       \
	"rules add { r { ordinal 1 actions add { 0 { forward pool p } 1 { log message \"a b\" } "  \
	"} "                                                                                       \
	"conditions add { 0 { http-uri values { \"b c\" /a } } } } }"

static const char published[] =
	"ltm policy /Common/x: Cannot create/modify published policy '/Common/x' "
	"directly, try specifying a draft folder like '/Common/Drafts/x'.";

static struct model *model_with_draft(void)
{
	struct model *m = model_new();

	must(m, "create ltm pool p");
	must(m, "create ltm policy Drafts/x strategy /Common/all-match " RULE);
	return m;
}

static const struct object *rule_of(const struct model *m, const char *policy)
{
	return model_find(m, KIND_POLICY_RULE, object(m, KIND_POLICY, policy)->id, "r");
}

/* The text in both forms makes the same model of an empty one. */
static void check_copies(const struct model *m)
{
	static const unsigned flags[][2] = {{0, 0}, {PRINT_STORE, LOAD_STORE}};

	for (unsigned i = 0; i < 2; i++) {
		struct model *copy = model_new();
		struct text text = {0}, again = {0};
		model_print(m, flags[i][0], &text);
		CHECK(load(copy, text.data, flags[i][1], NULL) == 0);
		model_print(copy, flags[i][0], &again);
		/* the first line, the floor of ids, may differ */
		CHECK_STR(strchr(again.data, '\n'), strchr(text.data, '\n'));
		text_fini(&text);
		text_fini(&again);
		model_free(copy);
	}
}

static void test_drafts(void)
{
	struct model *m = model_with_draft();

	must_fail(m, "create ltm policy x", published);
	must_fail(m, "delete ltm pool p",
		"ltm pool /Common/p: is still used by ltm policy rules actions /Common/Drafts/x r "
		"0");
	must(m, "modify ltm policy Drafts/x publish");
	CHECK(!model_find(m, KIND_POLICY, ID_NONE, "Drafts/x"));
	CHECK_INT(model_child_count(m, rule_of(m, "x")), 3);
	must_fail(m, "modify ltm policy x description d", published);
	must_fail(m, "modify ltm policy x rules modify { r { conditions none } }", published);
	must_fail(m, "modify ltm policy x rules add { s }", published);
	must(m, "modify ltm policy x create-draft");
	must_fail(m, "modify ltm policy x create-draft",
		"ltm policy /Common/Drafts/x: exists already");
	must(m, "modify ltm policy Drafts/x rules modify { r { conditions none } }");
	CHECK_INT(model_child_count(m, rule_of(m, "Drafts/x")), 2);
	CHECK_INT(model_child_count(m, rule_of(m, "x")), 3);
	check_copies(m);
	must_fail(m, "modify ltm policy Drafts/x publish description d",
		"ltm policy /Common/Drafts/x: description: comes after publish, which must be the "
		"last");
	must_fail(m, "modify ltm policy Drafts/x publish rules add { late }",
		"ltm policy rules late: comes after publish, which must be the last");
	must(m, "modify ltm policy Drafts/x publish");
	CHECK_INT(model_child_count(m, rule_of(m, "x")), 2);
	check_copies(m);
	must(m, "delete ltm policy x");
	CHECK_INT(model_count(m, KIND_POLICY_ACTION), 0);
	must(m, "delete ltm pool p");
	model_free(m);
}

/* What a draft names may come later in the same transaction; what was published in it is published. */
static void test_one_transaction(void)
{
	struct model *m = model_new();
	struct model_error err = {0};

	CHECK(model_begin(m, &fixture_operator) == 0);
	CHECK(model_edit(m, VERB_CREATE, "ltm policy Drafts/x " RULE, &err) == 0);
	CHECK(model_edit(m, VERB_MODIFY, "ltm policy Drafts/x publish", &err) == 0);
	CHECK(model_edit(m, VERB_CREATE, "ltm pool p", &err) == 0);
	CHECK(fixture_end(m, 0, &err, NULL) == 0);
	check_copies(m);
	must(m, "delete ltm policy x");
	CHECK(model_begin(m, &fixture_operator) == 0);
	CHECK(model_edit(m, VERB_CREATE, "ltm policy Drafts/x " RULE, &err) == 0);
	CHECK(model_edit(m, VERB_MODIFY, "ltm policy Drafts/x publish", &err) == 0);
	CHECK(model_edit(m, VERB_MODIFY, "ltm policy x description d", &err) == -EINVAL);
	model_abort(m);
	CHECK_INT(model_count(m, KIND_POLICY), 0);
	CHECK_INT(model_count(m, KIND_POLICY_RULE), 0);
	model_free(m);
}

/* Every change of a level, as the journal has it, makes the same of another model. */
/* What a file brings is published; what comes after it in the transaction changes no more of it than before. */
static void test_after_load(void)
{
	static const char file[] = "ltm policy x { description a }\n";
	struct model_error err = {0};
	struct model *m = model_new();

	for (int i = 0; i < 2; i++) {
		CHECK(model_begin(m, &fixture_operator) == 0);
		CHECK(model_load(m, file, sizeof(file) - 1, "f", LOAD_MERGE, &err) == 0);
		CHECK_INT(model_edit(m, VERB_MODIFY, "ltm policy x description b", &err), -EINVAL);
		model_abort(m);
		CHECK_INT(load(m, file, LOAD_MERGE, NULL), 0);
	}
	model_free(m);
}

static void test_journal(void)
{
	static const char *const lines[] = {
		"modify ltm policy Drafts/x rules modify { r { actions modify { 0 { code 4 } } } }",
		"modify ltm policy Drafts/x rules modify { r { conditions delete { 0 } } }",
		"modify ltm policy Drafts/x rules modify { r { actions add { 9 { reset } } } }",
		"modify ltm policy Drafts/x rules delete { r }",
		"modify ltm policy Drafts/x publish",
	};

	for (size_t i = 0; i < sizeof(lines) / sizeof(*lines); i++) {
		struct model *m = model_with_draft(), *store = model_with_draft();
		struct model_changes changes;
		struct text journal = {0}, now = {0}, then = {0};
		CHECK(command_as(m, &fixture_operator, lines[i], &changes) == 0);
		model_print_changes(m, &changes, &journal);
		CHECK(load(store, journal.data, LOAD_STORE | LOAD_MERGE, NULL) == 0);
		model_print(m, 0, &now);
		model_print(store, 0, &then);
		CHECK_STR(then.data, now.data);
		model_changes_fini(&changes);
		text_fini(&journal);
		text_fini(&now);
		text_fini(&then);
		model_free(m);
		model_free(store);
	}
}

static void test_owners(void)
{
	struct model *m = model_with_draft();
	const struct object *rule = rule_of(m, "Drafts/x");

	CHECK(model_find_owner(m, KIND_POLICY_ACTION, "/Common/Drafts/x r") == rule);
	CHECK(!model_find_owner(m, KIND_POLICY_ACTION, "/Common/Drafts/x"));
	CHECK(!model_find_owner(m, KIND_POLICY_ACTION, "/Common/Drafts/x s"));
	CHECK(!model_find_owner(m, KIND_POLICY_RULE, "/Common/Drafts/x r"));
	CHECK(model_root(m, model_child_at(m, rule, 0)) == object(m, KIND_POLICY, "Drafts/x"));
	must(m, "create auth partition Other"); /* as long as the name of the drafts' folder */
	must(m, "create ltm policy /Other/Drafts/own");
	must(m, "modify ltm policy /Other/Drafts/own publish");
	CHECK_STR(object(m, KIND_POLICY, "/Other/own")->path, "/Other/own");
	must_fail(m, "create ltm policy Drafts/l legacy",
		"ltm policy /Common/Drafts/l: legacy: goes not with a draft");
	must(m, "create ltm policy l legacy");
	must_fail(m, "create ltm virtual v destination 10.0.0.1:80 policies add { l }",
		"ltm virtual /Common/v: policies: /Common/l: policies are not carried out yet");
	model_free(m);
}

int main(void)
{
	test_drafts();
	test_one_transaction();
	test_after_load();
	test_journal();
	test_owners();
	return 0;
}
