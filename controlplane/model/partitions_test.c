/* SPDX-License-Identifier: BSD-3-Clause */
/* Partitions: what is in them, what it may name, files and stores. */
#include "model/model_fixture.h"

static struct model *model_with_site(void)
{
	struct model *m = model_new();

	must(m, "create auth partition Shop");
	must(m, "create ltm pool /Shop/web members add { /Shop/10.0.0.1:80 { } 10.0.0.2:80 { } }");
	must(m, "create ltm virtual /Shop/v destination /Shop/10.0.1.1:80 ip-protocol tcp pool "
		"/Shop/web");
	return m;
}

static void refused(struct model *m, const char *line, const char *said)
{
	CHECK(command(m, line) != 0);
	CHECK_STR(fixture_said, said);
}

static void test_names(void)
{
	struct model *m = model_with_site();
	const struct object *web = object(m, KIND_POOL, "/Shop/web");

	CHECK_STR(object(m, KIND_FOLDER, "/Shop")->path, "/Shop");
	CHECK_STR(object(m, KIND_NODE, "/Shop/10.0.0.1")->path, "/Shop/10.0.0.1");
	CHECK_STR(object(m, KIND_NODE, "10.0.0.2")->path, "/Common/10.0.0.2");
	CHECK_STR(object(m, KIND_VIRTUAL_ADDRESS, "/Shop/10.0.1.1")->path, "/Shop/10.0.1.1");
	CHECK(!model_find(m, KIND_POOL, ID_NONE, "web"));
	json_t *json = model_json(m, web, false);
	CHECK_STR(json_string_value(json_object_get(json, "partition")), "Shop");
	CHECK_STR(json_string_value(json_object_get(json, "name")), "web");
	json_decref(json);
	must(m, "create ltm pool web");
	refused(m, "create ltm pool /Nowhere/web",
		"ltm pool /Nowhere/web: folder \"/Nowhere\" does not exist");
	refused(m, "create ltm pool /Shop/deep/web",
		"ltm pool /Shop/deep/web: folder \"/Shop/deep\" does not exist");
	refused(m, "create auth partition all-partitions",
		"auth partition all-partitions: is no name of a partition, which has at most 40 "
		"bytes");
	refused(m, "create sys folder /Shop",
		"sys folder /Shop: objects of this kind cannot be created");
	model_free(m);
}

static void test_folders(void)
{
	struct model *m = model_with_site();

	must(m, "create sys folder /Shop/app.app description x");
	must(m, "create sys folder /Shop/app.app/deep");
	must(m, "create ltm pool /Shop/app.app/deep/p members add { /Shop/app.app/10.0.0.9:80 { } "
		"}");
	json_t *json = model_json(m, object(m, KIND_POOL, "/Shop/app.app/deep/p"), false);
	CHECK_STR(json_string_value(json_object_get(json, "partition")), "Shop");
	CHECK_STR(json_string_value(json_object_get(json, "subPath")), "app.app/deep");
	CHECK_STR(json_string_value(json_object_get(json, "name")), "p");
	json_decref(json);
	refused(m, "delete sys folder /Shop/app.app/deep",
		"sys folder /Shop/app.app/deep: is not empty: ltm pool /Shop/app.app/deep/p is in "
		"it");
	refused(m, "create sys folder /Shop/no/deep",
		"sys folder /Shop/no/deep: folder \"/Shop/no\" does not exist");
	refused(m, "create sys folder \"/Shop/a b\"",
		"sys folder /Shop/a b: \"/Shop/a b\" is not the path of a folder");
	refused(m, "create ltm pool /Shop/../p",
		"ltm pool /Shop/../p: folder \"/Shop/..\" does not exist");
	must(m, "delete ltm pool /Shop/app.app/deep/p");
	must(m, "delete sys folder /Shop/app.app/deep");
	refused(m, "delete sys folder /Shop/app.app",
		"sys folder /Shop/app.app: is not empty: ltm node /Shop/app.app/10.0.0.9 is in it");
	must(m, "delete ltm node /Shop/app.app/10.0.0.9");
	must(m, "delete sys folder /Shop/app.app");
	must(m, "create sys folder /Shop/kept");
	model_free(m);
}

static void test_references(void)
{
	struct model *m = model_with_site();

	must(m, "create auth partition Other");
	refused(m, "create ltm virtual /Other/v destination /Other/10.0.1.2:80 pool /Shop/web",
		"ltm virtual /Other/v: pool: /Shop/web is in another partition: only those of "
		"Other "
		"and Common may be named");
	refused(m, "create ltm virtual v destination 10.0.1.2:80 pool /Shop/web",
		"ltm virtual /Common/v: pool: /Shop/web is in another partition: only those of "
		"Common may be named");
	refused(m, "create ltm pool /Other/web members add { /Shop/10.0.0.1:80 { } }",
		"ltm pool members /Other/web /Shop/10.0.0.1:80: /Shop/10.0.0.1:80 is in another "
		"partition: only those of Other and Common may be named");
	refused(m, "delete auth partition Shop",
		"auth partition Shop: is not empty: ltm pool /Shop/web is in it");
	refused(m, "delete auth partition Common",
		"auth partition Common: is built in and cannot be deleted");
	must(m, "delete auth partition Other");
	CHECK(!model_find(m, KIND_FOLDER, ID_NONE, "/Other"));
	must(m, "create auth partition Other");
	CHECK(model_find(m, KIND_FOLDER, ID_NONE, "/Other"));
	model_free(m);
}

static void test_files(void)
{
	struct model *m = model_with_site(), *other = model_new();
	must(m, "create sys folder /Shop/app");
	must(m, "create ltm pool /Shop/app/web");
	struct text before = {0}, after = {0};

	model_print(m, 0, &before);
	CHECK_INT(load(other, before.data, 0, NULL), 0);
	CHECK(model_find(other, KIND_FOLDER, ID_NONE, "/Shop"));
	model_print(other, 0, &after);
	CHECK_STR(after.data, before.data);
	CHECK_INT(load(other, "ltm pool x { }\n", 0, NULL), 0);
	CHECK(!model_find(other, KIND_PARTITION, ID_NONE, "Shop"));
	CHECK(!model_find(other, KIND_FOLDER, ID_NONE, "/Shop"));
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

int main(void)
{
	test_names();
	test_folders();
	test_references();
	test_files();
	return 0;
}
