/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Kinds whose engine comes later: built-in objects, inheritance, values that come back as they were set,
 * in REST form, in weir.conf and in the store; and what a virtual server may use of them.
 */
#include "model/model_fixture.h"

static json_t *parse(const char *text)
{
	json_t *value = json_loads(text, 0, NULL);

	CHECK(value);
	return value;
}

static bool holds(const json_t *o, const char *key, const char *expected)
{
	json_t *value = parse(expected);
	bool same = json_equal(json_object_get(o, key), value);

	json_decref(value);
	return same;
}

static int create(struct model *m, enum model_kind kind, const char *body)
{
	struct model_error err = {0};
	json_t *json = parse(body);
	int rc;

	CHECK(model_begin(m, &fixture_operator) == 0);
	rc = fixture_end(m, model_create_json(m, kind, ID_NONE, json, NULL, &err), &err, NULL);
	json_decref(json);
	return rc;
}

static int set(struct model *m, const struct object *o, json_t *body, bool replace)
{
	struct model_error err = {0};
	int rc;

	CHECK(model_begin(m, &fixture_operator) == 0);
	rc = fixture_end(m, model_set_json(m, o->id, body, replace, &err), &err, NULL);
	json_decref(body);
	if (rc)
		fprintf(stderr, "%s\n", fixture_said);
	return rc;
}

static json_t *get(const struct model *m, const struct object *o)
{
	json_t *json = model_json(m, o, true);

	json_object_del(json, "generation");
	return json;
}

static bool json_same(const struct model *m, const struct object *o, json_t *expected)
{
	json_t *now = get(m, o);
	bool same = json_equal(now, expected);

	if (!same)
		fprintf(stderr, "is %s\nnot %s\n", json_dumps(now, 0), json_dumps(expected, 0));
	json_decref(now);
	json_decref(expected);
	return same;
}

/* ---- every kind that can be created by name alone ---- */

static bool plain_kind(unsigned kind)
{
	const struct kind *k = &model_kinds[kind];

	return k->profile || k->later;
}

/* Each word of an enumeration, both ends of a number: what was set is what is read. */
static void check_field(struct model *m, const struct object *o, const struct field *f)
{
	const struct field_word *w = f->words;
	char number[16];

	if (f->class == FIELD_READ_ONLY || f->default_only || f->derived || f->hidden ||
		f->create_only)
		return;
	for (; f->type == TYPE_ENUM && w->text; w++) {
		json_t *body = json_object(), *group = body, *now;
		if (f->rest_group)
			json_object_set_new(body, f->rest_group, group = json_object());
		if (!w->supported) {
			json_decref(body);
			continue;
		}
		json_object_set_new(group, f->rest, json_string(w->text));
		CHECK(set(m, o, body, false) == 0);
		now = get(m, o);
		group = f->rest_group ? json_object_get(now, f->rest_group) : now;
		CHECK_STR(json_string_value(json_object_get(group, f->rest)) +
				  (f->rest_folder ? strlen("/Common/") : 0),
			w->text);
		json_decref(now);
	}
	for (unsigned end = 0; f->type == TYPE_INT && end < 2; end++) {
		uint32_t value = end ? f->max : f->min;
		json_t *body = json_object(), *group = body;
		struct text text = {0};
		if (f->rest_group)
			json_object_set_new(body, f->rest_group, group = json_object());
		json_object_set_new(group, f->rest, json_integer(value));
		CHECK(set(m, o, body, false) == 0);
		model_field_text(m, o, f, &text);
		snprintf(number, sizeof(number), "%u", value);
		for (w = f->words; w && w->text; w++)
			if (w->value == value)
				snprintf(number, sizeof(number), "%s", w->text);
		CHECK_STR(text.data, number);
		text_fini(&text);
	}
}

static void check_kind(struct model *m, enum model_kind kind)
{
	const struct kind *k = &model_kinds[kind];
	const struct object *o;
	char body[64];
	json_t *json;

	CHECK(!k->rest_none || (model_at(m, kind, 0) && model_at(m, kind, 0)->builtin));
	snprintf(body, sizeof(body), "{\"name\": \"k%u\"%s}", kind,
		kind == KIND_POLICY ? ", \"legacy\": true" : "");
	CHECK(create(m, kind, body) == 0);
	snprintf(body, sizeof(body), "k%u", kind);
	o = object(m, kind, body);
	json = get(m, o);
	CHECK_STR(json_string_value(json_object_get(json, "kind")), k->rest_kind);
	for (unsigned i = 0; i < k->field_count; i++) {
		const struct field *f = &k->fields[i];
		const json_t *group = f->rest_group ? json_object_get(json, f->rest_group) : json;
		if (k->rest_none && !f->hidden && f->class != FIELD_SECRET &&
			!json_object_get(group, f->rest)) {
			fprintf(stderr, "%s: no %s\n", k->full, f->rest);
			abort();
		}
	}
	CHECK(set(m, o, get(m, o), true) == 0); /* what a client read it may write back */
	CHECK(json_same(m, o, json));
	for (unsigned i = 0; i < k->field_count; i++)
		check_field(m, o, &k->fields[i]);
}

static void check_copies(const struct model *m)
{
	struct model *file = model_new(), *store = model_new();
	struct text text = {0}, all = {0}, again = {0};

	model_print(m, 0, &text);
	if (load(file, text.data, 0, NULL))
		fprintf(stderr, "%s\n", fixture_said);
	model_print(file, 0, &again);
	CHECK_STR(again.data, text.data);
	model_print(m, PRINT_STORE, &all);
	CHECK(load(store, all.data, LOAD_STORE, NULL) == 0);
	text_fini(&again);
	model_print(store, PRINT_STORE, &again);
	CHECK_STR(again.data, all.data);
	text_fini(&text);
	text_fini(&all);
	text_fini(&again);
	model_free(file);
	model_free(store);
}

static void test_kinds(void)
{
	struct model *m = model_new();

	for (unsigned kind = 0; kind < MODEL_KINDS; kind++)
		if (plain_kind(kind))
			check_kind(m, (enum model_kind)kind);
	check_copies(m);
	model_free(m);
}

/* Every built-in object and some others: a client may write back what it read. */
static void test_write_back(void)
{
	struct model *m = model_new();
	const struct object *o;

	must(m, "create net vlan a interfaces add { 1.1 } sflow { sampling-rate 0 }");
	must(m, "create net self a address 10.0.0.1/24 vlan a allow-service default");
	must(m, "create net route a network 10.9.0.0/16 gw 10.0.0.2");
	must(m, "create ltm pool a members add { 10.0.0.3:80 { metadata { x { value y } } } }");
	must(m, "create ltm snatpool a members { 10.0.0.4 }");
	must(m, "create ltm virtual a destination 10.0.0.5:80 ip-protocol tcp pool a metadata add "
		"{ k { "
		"value v persist false } }");
	check_copies(m);
	for (unsigned kind = 0; kind < MODEL_KINDS; kind++)
		for (unsigned i = 0; model_kinds[kind].owner < 0 && (o = model_at(m, kind, i));
			i++) {
			json_t *json = get(m, o);
			CHECK(set(m, o, get(m, o), false) == 0);
			CHECK(set(m, o, get(m, o), true) == 0);
			CHECK(json_same(m, o, json));
		}
	check_copies(m);
	model_free(m);
}

static void test_settings(void)
{
	struct model *m = model_new();

	must(m, "modify sys global-settings hostname lb1.example");
	must_fail(m, "modify sys global-settings hostname \"lb1\\nrwcommunity x\"",
		"sys global-settings: hostname: \"lb1\nrwcommunity x\" is no domain name");
	must_fail(m, "modify sys global-settings hostname none",
		"sys global-settings: hostname: \"\" is no domain name");
	must(m, "modify sys ntp servers { 192.0.2.1 192.0.2.2 } timezone Europe/Berlin");
	must(m, "modify sys syslog remote-servers add { r { host 192.0.2.9 } }");
	must(m, "modify sys snmp sys-contact me");
	check_copies(m);
	must_fail(m, "modify ltm global-settings connection adaptive-reaper-hiwater 90",
		"ltm global-settings connection: adaptive-reaper-hiwater: other values "
		"than \"95\" are not supported yet");
	must_fail(m, "modify sys sshd include x",
		"sys sshd: include: other values than \"none\" are not supported yet");
	model_free(m);
}

/* ---- profiles ---- */

static const char *field_text(
	const struct model *m, enum model_kind kind, const char *name, const char *field)
{
	static struct text text;
	const struct field *f = model_field_find(kind, NULL, field);

	text_fini(&text);
	model_field_text(m, object(m, kind, name), f, &text);
	return text.data ? text.data : "";
}

static void test_builtins(void)
{
	struct model *m = model_new();
	json_t *json = get(m, object(m, KIND_PROFILE_CLIENT_SSL, "clientssl"));

	CHECK_STR(json_string_value(json_object_get(json, "defaultsFrom")), "none");
	CHECK_STR(json_string_value(json_object_get(json, "cert")), "/Common/default.crt");
	CHECK_STR(json_string_value(json_object_get(json, "ciphers")), "DEFAULT");
	CHECK_STR(json_string_value(json_object_get(json, "cipherGroup")), "none");
	CHECK(json_array_size(json_object_get(json, "tmOptions")) == 2);
	json_decref(json);
	CHECK_STR(field_text(m, KIND_PROFILE_HTTP, "http-explicit", "proxy-type"), "explicit");
	CHECK_STR(field_text(m, KIND_PROFILE_HTTP, "http-explicit", "server-agent-name"), "BigIP");
	CHECK(model_count(m, KIND_PROFILE_HTTP) == 3);
	must_fail(m, "delete ltm profile tcp tcp-lan-optimized",
		"ltm profile tcp /Common/tcp-lan-optimized: is built in and cannot be deleted");
	model_free(m);
}

static void test_inherit(void)
{
	struct model *m = model_new();

	must(m, "create ltm profile client-ssl a ciphers HIGH tm-options { no-sslv3 }");
	must(m, "create ltm profile client-ssl b defaults-from a cache-size 7");
	CHECK_STR(field_text(m, KIND_PROFILE_CLIENT_SSL, "b", "ciphers"), "HIGH");
	CHECK_STR(field_text(m, KIND_PROFILE_CLIENT_SSL, "b", "tm-options"), "no-sslv3");
	CHECK_STR(field_text(m, KIND_PROFILE_CLIENT_SSL, "b", "key"), "/Common/default.key");
	must(m, "modify ltm profile client-ssl a cert ca-bundle.crt ciphers LOW tm-options none");
	CHECK_STR(field_text(m, KIND_PROFILE_CLIENT_SSL, "b", "cert"), "/Common/ca-bundle.crt");
	CHECK_STR(field_text(m, KIND_PROFILE_CLIENT_SSL, "b", "ciphers"), "LOW");
	CHECK_STR(field_text(m, KIND_PROFILE_CLIENT_SSL, "b", "tm-options"), "none");
	CHECK_STR(field_text(m, KIND_PROFILE_CLIENT_SSL, "b", "cache-size"), "7");
	must_fail(m, "delete ltm profile client-ssl a",
		"ltm profile client-ssl /Common/a: is still used by ltm profile client-ssl "
		"/Common/b");
	must(m, "modify ltm profile client-ssl clientssl ciphers MEDIUM");
	must(m, "create ltm profile client-ssl c");
	CHECK_STR(field_text(m, KIND_PROFILE_CLIENT_SSL, "c", "ciphers"), "MEDIUM");
	check_copies(m);
	model_free(m);
}

static void test_cert_keys(void)
{
	struct model *m = model_new();

	CHECK(create(m, KIND_PROFILE_CLIENT_SSL,
		      "{\"name\": \"a\", \"certKeyChain\": [{\"name\": \"one\", \"cert\": "
		      "\"/Common/ca-bundle.crt\", \"key\": \"default.key\"}]}") == 0);
	CHECK_STR(field_text(m, KIND_PROFILE_CLIENT_SSL, "a", "cert"), "/Common/ca-bundle.crt");
	CHECK_STR(field_text(m, KIND_PROFILE_CLIENT_SSL, "a", "key"), "/Common/default.key");
	must(m, "create ltm profile client-ssl b defaults-from a");
	CHECK_STR(field_text(m, KIND_PROFILE_CLIENT_SSL, "b", "cert-key-chain"),
		"[[\"one\",\"/Common/ca-bundle.crt\",\"/Common/default.key\",\"\"]]");
	must(m, "modify ltm profile client-ssl a cert default.crt");
	CHECK_STR(field_text(m, KIND_PROFILE_CLIENT_SSL, "b", "cert-key-chain"),
		"[[\"default\",\"/Common/default.crt\",\"/Common/default.key\",\"\"]]");
	CHECK_STR(field_text(m, KIND_PROFILE_CLIENT_SSL, "b", "cert"), "/Common/default.crt");
	must_fail(m, "modify ltm profile client-ssl a cert-key-chain { x { cert lost } }",
		"ltm profile client-ssl /Common/a: cert-key-chain: x: cert: sys file ssl-cert "
		"/Common/lost does not exist");
	check_copies(m);
	model_free(m);
}

static void test_refused(void)
{
	struct model *m = model_new();

	must_fail(m, "create ltm profile http a proxy-type forward",
		"ltm profile http /Common/a: proxy-type: \"forward\" is none of: reverse, "
		"transparent, explicit");
	must_fail(m, "create ltm profile tcp a max-retrans 256",
		"ltm profile tcp /Common/a: max-retrans: 256 is not between 0 and 255");
	must_fail(m, "create ltm profile client-ssl a cert lost.crt",
		"ltm profile client-ssl /Common/a: cert: sys file ssl-cert /Common/lost.crt does "
		"not exist");
	must_fail(m, "create ltm profile http tcp",
		"ltm profile http /Common/tcp: a profile of type tcp has this name");
	must_fail(m, "create ltm profile http a defaults-from tcp",
		"ltm profile http /Common/a: defaults-from: ltm profile http /Common/tcp does not "
		"exist");
	model_free(m);
}

/* A virtual server may name what the dataplane does. */
static void test_virtual(void)
{
	struct model *m = model_new();

	must(m, "create ltm profile tcp slow idle-timeout 900");
	must(m, "create ltm virtual a destination 10.0.0.1:80 ip-protocol tcp profiles add { tcp "
		"}");
	must(m, "modify ltm virtual a profiles replace-all-with { slow { context all } }");
	must_fail(m, "modify ltm virtual a profiles add { http }",
		"ltm virtual /Common/a: profiles: /Common/http: HTTP profiles are not carried out "
		"yet");
	must_fail(m, "modify ltm virtual a profiles add { clientssl { context clientside } }",
		"ltm virtual /Common/a: profiles: /Common/clientssl: TLS is not carried out yet");
	must_fail(m,
		"modify ltm virtual a profiles replace-all-with { tcp { context clientside } }",
		"ltm virtual /Common/a: profiles: /Common/tcp: context clientside is not carried "
		"out yet: a profile is that of both sides");
	must_fail(m, "modify ltm virtual a profiles add { tcp }",
		"ltm virtual /Common/a: profiles: takes one profile of a protocol: fastL4, tcp or "
		"udp");
	must_fail(m, "modify ltm virtual a profiles add { lost }",
		"ltm virtual profiles /Common/a /Common/lost: the profile does not exist");
	must_fail(m, "create ltm virtual b destination 10.0.0.2:80 profiles add { tcp }",
		"ltm virtual /Common/b: profiles: profile /Common/tcp needs ip-protocol tcp");
	model_free(m);
}

/* ---- certificates and keys ---- */

static const char certificate[] =
	"-----BEGIN CERTIFICATE-----\n"
	"MIIBhDCCASmgAwIBAgIUTu2lx5KNcCPNTjcv2cl4nIblOQMwCgYIKoZIzj0EAwIw\n"
	"FzEVMBMGA1UEAwwMd2Vpci5leGFtcGxlMB4XDTI2MTEzMDAzMDIwOVoXDTQ2MTEy\n"
	"NTAzMDIwOVowFzEVMBMGA1UEAwwMd2Vpci5leGFtcGxlMFkwEwYHKoZIzj0CAQYI\n"
	"KoZIzj0DAQcDQgAEDo5avjXUDJRJ/1ZEZ8noqxjr/PGnHVfZycaNvAYnUGYxG9tR\n"
	"9KJy0ACI9/ZyIjkftnkSsk+ogFzCjcPqem+U3aNTMFEwHQYDVR0OBBYEFIHTcgry\n"
	"P/T7IY5hBv4/In1BsZZhMB8GA1UdIwQYMBaAFIHTcgryP/T7IY5hBv4/In1BsZZh\n"
	"MA8GA1UdEwEB/wQFMAMBAf8wCgYIKoZIzj0EAwIDSQAwRgIhAMh2hZXPNBl+OaLB\n"
	"XdEEbmZr3JA9mkz6ZQayS5VgfHW0AiEAhCvFedcGkwSaAGhuxda7SKWXkZmU2IJ4\n"
	"pnP1fcGswXA=\n"
	"-----END CERTIFICATE-----\n";
static const char key[] = "-----BEGIN PRIVATE KEY-----\n"
			  "MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQg7HJ+4e7M5vX8pwhL\n"
			  "Y68E7QQFT9i9Y/xJvzAAAnWBZoShRANCAAQOjlq+NdQMlEn/VkRnyeirGOv88acd\n"
			  "V9nJxo28BidQZjEb21H0onLQAIj39nIiOR+2eRKyT6iAXMKNw+p6b5Td\n"
			  "-----END PRIVATE KEY-----\n";

static int put_file(struct model *m, enum model_kind kind, const char *name, const char *text)
{
	struct model_error err = {0};
	json_t *body = json_pack("{s:s, s:s}", "name", name, "content", text);
	int rc;

	CHECK(model_begin(m, &fixture_operator) == 0);
	rc = fixture_end(m, model_create_json(m, kind, ID_NONE, body, NULL, &err), &err, NULL);
	json_decref(body);
	return rc;
}

static void test_files(void)
{
	struct model *m = model_new();
	json_t *json;
	char *dump;

	CHECK(put_file(m, KIND_SSL_CERT, "a.crt", certificate) == 0);
	CHECK(put_file(m, KIND_SSL_KEY, "a.key", key) == 0);
	CHECK_STR(field_text(m, KIND_SSL_CERT, "a.crt", "subject"), "CN=weir.example");
	CHECK_STR(field_text(m, KIND_SSL_CERT, "a.crt", "key-type"), "ec-public");
	CHECK_STR(field_text(m, KIND_SSL_CERT, "a.crt", "certificate-key-size"), "256");
	CHECK_STR(field_text(m, KIND_SSL_CERT, "a.crt", "expiration-date"), "2426727729");
	CHECK_STR(field_text(m, KIND_SSL_KEY, "a.key", "key-type"), "ec-private");
	json = get(m, object(m, KIND_SSL_KEY, "a.key"));
	dump = json_dumps(json, 0);
	CHECK(!strstr(dump, "BEGIN"));
	free(dump);
	json_decref(json);
	check_copies(m);
	must(m, "create ltm profile client-ssl a cert a.crt key a.key");
	must_fail(m, "delete sys file ssl-cert a.crt",
		"sys file ssl-cert /Common/a.crt: is still used by ltm profile client-ssl "
		"/Common/a");
	must_fail(m, "create sys file ssl-cert b content nonsense",
		"sys file ssl-cert /Common/b: content: holds no certificate in PEM");
	must_fail(m, "create sys file ssl-key b content nonsense",
		"sys file ssl-key /Common/b: content: holds no private key in PEM");
	must_fail(m, "modify sys file ssl-cert a.crt subject CN=other",
		"sys file ssl-cert /Common/a.crt: subject: is read-only");
	model_free(m);
}

/* ---- rules, data groups and what names rows ---- */

static void test_rules(void)
{
	struct model *m = model_new();
	json_t *json;

	CHECK(create(m, KIND_RULE,
		      "{\"name\": \"r\", \"apiAnonymous\": \"-- a rule\\nlocal x = \\\"{$}\\\"\", "
		      "\"metadata\": [{\"name\": \"a b\", \"value\": \"c\"}, {\"name\": \"d\", "
		      "\"persist\": \"false\"}]}") == 0);
	json = get(m, object(m, KIND_RULE, "r"));
	CHECK_STR(json_string_value(json_object_get(json, "apiAnonymous")),
		"-- a rule\nlocal x = \"{$}\"");
	CHECK(holds(json, "metadata",
		("[{\"name\": \"a b\", \"persist\": \"true\", \"value\": \"c\"}, {\"name\": "
		 "\"d\", \"persist\": \"false\", \"value\": \"\"}]")));
	json_decref(json);
	must_fail(m, "modify ltm rule r definition \"when HTTP_REQUEST {\\n pool p\\n}\"",
		"ltm rule /Common/r: definition: is Tcl: Weir rules are Lua; docs/rules.md has "
		"what "
		"stands for each command");
	must_fail(m, "modify ltm rule r definition \"local x = \\nreturn = 3\"",
		"ltm rule /Common/r: definition: rule:2: unexpected symbol near 'return'");
	must(m, "create ltm virtual v destination 10.0.0.1:80 ip-protocol tcp");
	must_fail(m, "modify ltm virtual v rules { r }",
		"ltm virtual /Common/v: rules: /Common/r: rules are not carried out yet");
	must_fail(m, "modify ltm virtual v persist { source_addr }",
		"ltm virtual /Common/v: persist: /Common/source_addr: persistence is not carried "
		"out yet");
	must_fail(m, "create ltm persistence ssl cookie",
		"ltm persistence ssl /Common/cookie: a profile of type cookie has this name");
	must_fail(m, "create ltm snat s origins { 10.0.0.0/8 } automap",
		"ltm snat /Common/s: SNAT and NAT objects, which apply to traffic of no virtual "
		"server, are not carried out yet: give a virtual server "
		"source-address-translation");
	check_copies(m);
	model_free(m);
}

static void test_data_groups(void)
{
	struct model *m = model_new();
	json_t *json;

	must(m, "create ltm data-group internal d type string records add { /a { data \"b c\" } e "
		"}");
	must(m, "modify ltm data-group internal d records add { f { data g } }");
	must(m, "modify ltm data-group internal d records modify { e { data h } }");
	must(m, "modify ltm data-group internal d records delete { /a }");
	json = get(m, object(m, KIND_DATA_GROUP_INTERNAL, "d"));
	CHECK(holds(json, "records",
		("[{\"name\": \"e\", \"data\": \"h\"}, {\"name\": \"f\", \"data\": \"g\"}]")));
	json_decref(json);
	check_copies(m);
	must_fail(m, "modify ltm data-group internal d records add { e }",
		"ltm data-group internal /Common/d: records: e stands there already");
	must_fail(m, "modify ltm data-group internal d records delete { z }",
		"ltm data-group internal /Common/d: records: has no entry z");
	must_fail(m, "modify ltm data-group internal d records { e { datum x } }",
		"ltm data-group internal d: datum: is no field of an entry");
	must_fail(m, "create ltm data-group internal i type integer records { 1 -2 x }",
		"ltm data-group internal /Common/i: records: \"x\" is no number");
	must_fail(m, "create ltm data-group internal i type ip records { 10.0.0.0/8 10.0.0.300 }",
		"ltm data-group internal /Common/i: records: \"10.0.0.300\" is no address or "
		"network");
	must_fail(m, "create ltm data-group internal i",
		"ltm data-group internal /Common/i: type: is required");
	CHECK_STR(field_text(m, KIND_DATA_GROUP_INTERNAL, "private_net", "type"), "ip");
	model_free(m);
}

static void test_file_groups(void)
{
	struct model *m = model_new();

	CHECK(put_file(m, KIND_FILE_DATA_GROUP, "f", "a := b\n") == 0);
	CHECK_STR(field_text(m, KIND_FILE_DATA_GROUP, "f", "size"), "7");
	CHECK(put_file(m, KIND_FILE_IFILE, "i", "text") == 0);
	must(m, "create ltm ifile i file-name i");
	must(m, "create ltm data-group external e external-file-name f");
	must_fail(m, "delete sys file data-group f",
		"sys file data-group /Common/f: is still used by ltm data-group external "
		"/Common/e");
	must_fail(m, "create ltm ifile j", "ltm ifile /Common/j: file-name: is required");
	check_copies(m);
	model_free(m);
}

int main(void)
{
	test_rules();
	test_data_groups();
	test_file_groups();
	test_kinds();
	test_write_back();
	test_settings();
	test_builtins();
	test_inherit();
	test_cert_keys();
	test_refused();
	test_virtual();
	test_files();
	return 0;
}
