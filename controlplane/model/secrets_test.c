/* SPDX-License-Identifier: BSD-3-Clause */
/* Secrets: never shown, taken plain or encrypted, lost with the key. */
#include "model/model_fixture.h"

static uint8_t key[MODEL_KEY_BYTES] = "an older key";

static const char *shown(const struct model *m)
{
	static struct text out;

	out.len = 0;
	model_print(m, 0, &out);
	return out.data;
}

/* As health/ gets it. */
static bool password_is(const struct model *m, const char *monitor, const char *plain)
{
	json_t *json = model_monitor_json(m, model_monitor_find(m, monitor));
	const char *text = json_string_value(json_object_get(json, "password"));
	bool is = plain ? text && !strcmp(text, plain) : !text;

	json_decref(json);
	return is;
}

static void test_sealed(void)
{
	struct model *m = model_new(), *copy = model_new();
	struct model_changes changes;
	char *before;

	must(m, "create ltm monitor http a password \"hunter 2\"");
	must(m, "create ltm monitor http b defaults-from a");
	CHECK(!strstr(shown(m), "hunter") && strstr(shown(m), "    password $W$1$"));
	CHECK(password_is(m, "a", "hunter 2") && password_is(m, "b", "hunter 2"));
	/* the same again changes nothing; a file with the encrypted text brings it back */
	before = strdup(shown(m));
	CHECK(command_as(m, &fixture_operator, "modify ltm monitor http a password \"hunter 2\"",
		      &changes) == 0);
	CHECK_INT(changes.count, 0);
	model_changes_fini(&changes);
	CHECK(load(copy, before, 0, NULL) == 0);
	CHECK_STR(shown(copy), before);
	CHECK(password_is(copy, "b", "hunter 2"));
	json_t *json = model_json(m, model_monitor_find(m, "a"), false);
	CHECK(!strncmp(json_string_value(json_object_get(json, "password")), "$W$1$", 5));
	json_decref(json);
	must(m, "modify ltm monitor http a password x");
	CHECK(password_is(m, "b", "x"));
	must(m, "modify ltm monitor http b password none");
	CHECK(password_is(m, "b", NULL) && password_is(m, "a", "x"));
	free(before);
	model_free(m);
	model_free(copy);
}

static void test_refused(void)
{
	struct model *m = model_new();
	char line[700];

	must_fail(m, "modify ltm monitor http http password $W$1$AAAA",
		"ltm monitor http /Common/http: password: was encrypted by another machine: give "
		"it in "
		"plain text");
	memset(line, 'x', sizeof(line) - 1);
	line[sizeof(line) - 1] = '\0';
	memcpy(line, "modify ltm monitor http http password ", 38);
	must_fail(m, line,
		"ltm monitor http /Common/http: password: 661 bytes are more than the 512 "
		"allowed");
	model_free(m);
}

static bool everything(const void *who, const struct model_ask *ask)
{
	return true;
}

/* Who is no administrator sets back what an object had, and cannot use it in another. */
static void test_of_another_object(void)
{
	static const struct model_actor user = {
		.class = HOLD_OPERATOR, .role = ROLE_GUEST, .may = everything};
	struct model *m = model_new();
	char line[700];

	must(m, "create ltm monitor http a password hunter2");
	must(m, "create ltm monitor http b password other");
	json_t *json = model_json(m, model_monitor_find(m, "a"), false);
	const char *sealed = json_string_value(json_object_get(json, "password"));
	snprintf(line, sizeof(line), "modify ltm monitor http a password %s", sealed);
	CHECK(command_as(m, &user, line, NULL) == 0);
	CHECK(password_is(m, "a", "hunter2"));
	snprintf(line, sizeof(line), "modify ltm monitor http b password %s", sealed);
	CHECK(command_as(m, &user, line, NULL) == -EPERM);
	CHECK_STR(fixture_said, "ltm monitor http /Common/b: password: was encrypted for another "
				"object: give it in plain text");
	CHECK(password_is(m, "b", "other"));
	must(m, line);
	CHECK(password_is(m, "b", "hunter2"));
	snprintf(line, sizeof(line), "create ltm monitor http c password %s", sealed);
	CHECK(command_as(m, &user, line, NULL) == -EPERM);
	CHECK(command_as(m, &user, "create ltm monitor http c password plain", NULL) == 0);
	CHECK(command_as(m, &user, "create ltm monitor http d defaults-from a", NULL) == 0);
	snprintf(line, sizeof(line), "modify ltm monitor http d password %s", sealed);
	CHECK(command_as(m, &user, line, NULL) == 0);
	json_decref(json);
	model_free(m);
}

/* What another key encrypted is refused from people, and kept from the store. */
static void test_other_key(void)
{
	struct model *m = model_new(), *copy = model_new();
	struct text text = {0}, store = {0};

	must(m, "create ltm monitor http a password x");
	model_print(m, 0, &text);
	model_print(m, PRINT_STORE, &store);
	key[0] ^= 1;
	model_secret_key(key);
	CHECK(load(copy, text.data, 0, NULL) != 0);
	CHECK_STR(fixture_said, "weir.conf:2: ltm monitor http /Common/a: password: was encrypted "
				"by another machine: give it in plain text");
	CHECK(load(copy, store.data, LOAD_STORE, NULL) == 0);
	CHECK(password_is(copy, "a", NULL));
	text_fini(&text);
	text_fini(&store);
	model_free(m);
	model_free(copy);
}

static void masks(const char *text, const char *said)
{
	struct text out = {0};

	model_mask_secrets(text, &out);
	CHECK_STR(out.data, said);
	text_fini(&out);
}

static void test_mask(void)
{
	masks("ltm monitor http a password hunter2 interval 3",
		"ltm monitor http a password *** interval 3");
	masks("ltm monitor radius a { secret \"a b\\\"c\" \"password\"\n x\\ y }",
		"ltm monitor radius a { secret *** \"password\" *** }");
	masks("auth user password password hunter2", "auth user password *** ***");
	masks("ltm pool password description x", "ltm pool password *** x");
	masks("ltm monitor http a password \"open", "ltm monitor http a password");
}

int main(void)
{
	model_secret_key(key);
	test_sealed();
	test_refused();
	test_other_key();
	test_of_another_object();
	test_mask();
	return 0;
}
