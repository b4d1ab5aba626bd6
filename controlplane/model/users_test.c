/* SPDX-License-Identifier: BSD-3-Clause */
/* Users: passwords and their hashes, roles, the last administrator, files and stores. */
#include "model/model_fixture.h"

#define SHA512                                                                                     \
	"$6$saltsaltsalt$CuCZmo7fLFJmDEEN9DHZfYzZ1pZ3nCfGUZu6vLXxkUmgTVY8nT8Yl4VJPoYzvPhp."        \
	"7GX8zlOEEn2d"                                                                             \
	"Gl.X0H6J/"

static void refused(struct model *m, const char *line, const char *said)
{
	if (!command(m, line))
		fprintf(stderr, "taken: %s\n", line);
	CHECK_STR(fixture_said, said);
}

static const struct user_conf *user(const struct model *m, const char *name)
{
	return &model_user(object(m, KIND_USER, name))->conf;
}

static void test_passwords(void)
{
	struct model *m = model_new();
	struct text text = {0};

	CHECK_STR(model_string(m, user(m, "admin")->encrypted_password), "");
	must(m, "create auth user bob password \"correct horse\" partition-access add { "
		"all-partitions { role operator } }");
	CHECK_STR(model_string(m, user(m, "bob")->description), "bob");
	char *hash = strdup(model_string(m, user(m, "bob")->encrypted_password));
	CHECK(password_verify("correct horse", hash));
	CHECK(!password_verify("correct horsf", hash) && !password_verify("", hash));
	CHECK(!password_verify("x", "") && !password_verify("x", "*0") &&
		!password_verify("x", "nonsense"));
	must(m, "modify auth user bob password \"correct horse\"");
	CHECK_STR(model_string(m, user(m, "bob")->encrypted_password), hash);
	refused(m, "modify auth user bob password short",
		"auth user bob: password: has fewer than the 12 bytes of auth password-policy");
	must(m, "modify auth password-policy minimum-length 6");
	must(m, "create auth user administrator password abcdef");
	refused(m, "modify auth user administrator password Administrator",
		"auth user administrator: password: is the name of the user");
	model_print_object(m, object(m, KIND_USER, "bob"), PRINT_ALL, &text);
	CHECK(!strstr(text.data, "password") && !strstr(text.data, "correct"));
	text_fini(&text);
	model_print_object(m, object(m, KIND_USER, "bob"), PRINT_HASHES, &text);
	CHECK(strstr(text.data, hash));
	text_fini(&text);
	json_t *json = model_json(m, object(m, KIND_USER, "bob"), true);
	CHECK(!json_object_get(json, "password") && !json_object_get(json, "encryptedPassword"));
	char *access = json_dumps(json_object_get(json, "partitionAccess"), JSON_COMPACT);
	CHECK_STR(access, "[{\"name\":\"all-partitions\",\"role\":\"operator\"}]");
	free(access);
	json_decref(json);
	free(hash);
	model_mask_secrets(
		"auth user bob password \"correct horse\" encrypted-password $6$x", &text);
	CHECK_STR(text.data, "auth user bob password *** encrypted-password ***");
	text_fini(&text);
	model_free(m);
}

static void test_hashes(void)
{
	static const char *const bad[] = {"plain", "$1$abc$def", "$y$jDT$salt$x",
		"$6$rounds=99999999$saltsaltsalt$"
		"CuCZmo7fLFJmDEEN9DHZfYzZ1pZ3nCfGUZu6vLXxkUmgTVY8nT8"
		"Yl4VJPoYzvPhp.7GX8zlOEEn2dGl.X0H6J/",
		"$6$salt", "$6$sa:lt$" SHA512, "*", "!", "$y$j9T$$"};
	struct model *m = model_new();
	char line[300];

	must(m, "create auth user bob encrypted-password " SHA512);
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		snprintf(line, sizeof(line), "modify auth user bob encrypted-password %s", bad[i]);
		CHECK_INT(command(m, line), -EINVAL);
		CHECK(!strstr(fixture_said, bad[i]));
	}
	must(m, "modify auth user bob encrypted-password none");
	CHECK_INT(user(m, "bob")->encrypted_password, 0);
	model_free(m);
}

static void test_too_many(void)
{
	struct model *m = model_new();
	struct model_error err = {0};
	int rc = 0;
	char line[100];

	CHECK(model_begin(m, &fixture_operator) == 0);
	for (int i = 0; !rc && i < 9; i++) {
		snprintf(line, sizeof(line), "auth user u%d password 123456789012", i);
		rc = model_edit(m, VERB_CREATE, line, &err);
		CHECK(rc == 0 || i == MODEL_PASSWORDS_MAX);
	}
	CHECK_INT(rc, -E2BIG);
	model_abort(m);
	model_free(m);
}

static void test_roles(void)
{
	struct model *m = model_new();

	must(m, "create auth partition A");
	must(m, "create auth user bob partition-access add { A { role manager } Common { role "
		"guest "
		"} }");
	refused(m, "delete auth partition A",
		"auth partition A: is still used by auth user partition-access bob A");
	refused(m, "modify auth user bob partition-access add { B { role guest } }",
		"auth user partition-access bob B: the partition does not exist");
	refused(m, "modify auth user bob partition-access add { all-partitions { role guest } }",
		"auth user bob: partition-access: all-partitions goes not with partitions");
	refused(m, "modify auth user bob partition-access modify { A { role auditor } }",
		"auth user partition-access bob A: role: this role goes with all-partitions only");
	refused(m, "modify auth user bob partition-access modify { A { role user-manager } }",
		"auth user partition-access bob A: role: \"user-manager\" is not supported yet");
	refused(m, "create auth user 9lives",
		"auth user 9lives: is no name of a user: letters, digits and ._-@, at most 63, a "
		"letter first");
	refused(m, "create auth user a:b",
		"auth user a:b: is no name of a user: letters, digits and ._-@, at most 63, a "
		"letter "
		"first");
	must(m, "modify auth user bob partition-access replace-all-with { all-partitions { role "
		"agent } } agent-nodes { 10.0.0.1 /A/10.0.0.2 }");
	must(m, "delete auth partition A");
	model_free(m);
}

static void test_last_administrator(void)
{
	static const char *const said =
		": is the last administrator who can log in: this may not change";
	struct model *m = model_new();

	refused(m, "delete auth user admin", "auth user admin: is built in and cannot be deleted");
	CHECK_INT(command(m, "modify auth user admin partition-access modify { all-partitions { "
			     "role guest } }"),
		-EINVAL);
	must(m, "create auth user ann encrypted-password " SHA512
		" partition-access add { all-partitions { role admin } }");
	CHECK_INT(command(m, "delete auth user ann"), -EINVAL);
	CHECK(strstr(fixture_said, said));
	CHECK_INT(command(m, "modify auth user ann encrypted-password none"), -EINVAL);
	CHECK(strstr(fixture_said, said));
	CHECK_INT(command(m, "modify auth user ann partition-access modify { all-partitions { role "
			     "guest } }"),
		-EINVAL);
	CHECK(strstr(fixture_said, said));
	CHECK_INT(command(m, "modify auth user ann partition-access delete { all-partitions }"),
		-EINVAL);
	CHECK(strstr(fixture_said, said));
	must(m, "modify auth user admin encrypted-password " SHA512);
	must(m, "delete auth user ann");
	CHECK_INT(command(m, "modify auth user admin password none"), -EINVAL);
	/* A file says nothing of him: he stays as he is. */
	CHECK_INT(load(m, "ltm pool x { }\n", 0, NULL), 0);
	CHECK_STR(model_string(m, user(m, "admin")->encrypted_password), SHA512);
	model_free(m);
}

static void test_files(void)
{
	struct model *m = model_new(), *other = model_new();
	struct text before = {0}, after = {0};

	must(m, "modify auth user admin encrypted-password " SHA512);
	must(m, "create auth user bob encrypted-password " SHA512
		" partition-access add { Common { role operator } }");
	model_print(m, 0, &before);
	CHECK(strstr(before.data, SHA512));
	CHECK_INT(load(other, before.data, 0, NULL), 0);
	model_print(other, 0, &after);
	CHECK_STR(after.data, before.data);
	model_free(other);
	text_fini(&before);
	text_fini(&after);
	other = model_new();
	model_print(m, PRINT_STORE, &before);
	CHECK_INT(load(other, before.data, LOAD_STORE, NULL), 0);
	model_print(other, PRINT_STORE, &after);
	CHECK_STR(after.data, before.data);
	model_free(other);
	text_fini(&before);
	text_fini(&after);
	model_free(m);
}

static void test_networks(void)
{
	struct model *m = model_new();
	struct ip_addr addr;
	unsigned len;

	CHECK(model_network("10.0.0.0/255.255.0.0", &addr, &len) == 0 && len == 16);
	CHECK(model_network("10.0.0.1", &addr, &len) == 0 && len == 32);
	CHECK(model_network("2001:db8::/32", &addr, &len) == 0 && len == 32);
	CHECK(model_network("::1", &addr, &len) == 0 && len == 128);
	CHECK(model_network("10.0.0.0/33", &addr, &len) && model_network("", &addr, &len) &&
		model_network("10.0.0.0/", &addr, &len) &&
		model_network("10.0.0.0/255.0.255.0", &addr, &len) &&
		model_network("10.0.0.0/ffff::", &addr, &len));
	must(m, "modify sys httpd allow { 10.0.0.0/8 2001:db8::/32 }");
	refused(m, "modify sys httpd allow add { somewhere }",
		"sys httpd: allow: \"somewhere\" is neither All nor an address or network");
	must(m, "modify sys httpd allow { all }");
	model_free(m);
}

int main(void)
{
	test_passwords();
	test_hashes();
	test_too_many();
	test_roles();
	test_last_administrator();
	test_files();
	test_networks();
	return 0;
}
