/* SPDX-License-Identifier: BSD-3-Clause */
/* weir.conf and tmsh's words: what is refused and how, round trips, the running store. */
#include "model/model_fixture.h"

static void refused(const char *text, const char *said)
{
	struct model *m = model_new();
	struct text out = {0};

	must(m, "create ltm pool stays");
	CHECK(load(m, text, 0, NULL) != 0);
	CHECK_STR(fixture_said, said);
	model_print(m, 0, &out);
	CHECK_STR(out.data, "ltm pool /Common/stays { }\n");
	text_fini(&out);
	model_free(m);
}

/* File, line, object, field, reason; the running configuration stays. */
static void test_refusals(void)
{
	refused("ltm pool web {\n    members {\n        10.0.0.1:80 {\n            ratio 0\n       "
		" }\n    }\n}\n",
		"weir.conf:4: ltm pool members /Common/web /Common/10.0.0.1:80: ratio: "
		"0 is not between 1 and 65535");
	refused("\n\nltm pool web { load-balancing-mode nonsense }",
		"weir.conf:3: ltm pool /Common/web: load-balancing-mode: \"nonsense\" is none of: "
		"round-robin, ratio-member, ratio-node, ratio-session, "
		"ratio-least-connections-member, "
		"ratio-least-connections-node, dynamic-ratio-member, dynamic-ratio-node, "
		"least-connections-member, least-connections-node, "
		"weighted-least-connections-member, "
		"weighted-least-connections-node, fastest-node, fastest-app-response, "
		"least-sessions, "
		"observed-member, observed-node, predictive-member, predictive-node");
	refused("ltm pool web { load-balancing-mode ratio-session }",
		"weir.conf:1: ltm pool /Common/web: load-balancing-mode: \"ratio-session\" is not "
		"supported yet");
	refused("ltm pool web { queue-depth-limit 2 }",
		"weir.conf:1: ltm pool /Common/web: queue-depth-limit: other values than \"0\" "
		"are not "
		"supported yet");
	refused("ltm pool web {\n  colour red }",
		"weir.conf:2: ltm pool web: colour: is no field of this kind of object");
	refused("ltm cipher group x { }",
		"weir.conf:1: ltm cipher group: is no kind of object that is supported");
	refused("ltm monitor mssql x { }",
		"weir.conf:1: ltm monitor mssql: this type of monitor is not supported");
	refused("ltm pool web {\n members {",
		"weir.conf:2: ltm pool web: members: the closing brace is missing");
	refused("ltm pool web { description \"open }\n", "weir.conf:1: ltm pool web: description: "
							 "the closing quote is missing");
	refused("ltm pool a { }\nltm pool a { }",
		"weir.conf:2: ltm pool /Common/a: stands here twice");
	refused("ltm virtual v {\n\n destination 10.0.0.1:80\n pool gone\n}",
		"weir.conf:4: ltm virtual /Common/v: pool: ltm pool /Common/gone does not exist");
	refused("ltm virtual v { }\nltm virtual w { }",
		"weir.conf:1: ltm virtual /Common/v: destination: /Common/w has the same "
		"destination, "
		"protocol, source and VLANs");
	refused("}", "weir.conf:1: a closing brace too many");
	refused("net self a { address 10.0.0.1%1/24 vlan b }",
		"weir.conf:1: net self /Common/a: address: route domain 1 does not exist");
	refused("ltm pool /Other/web { }",
		"weir.conf:1: ltm pool /Other/web: folder \"/Other\" does not exist");
	refused("net self a { address 10.0.0.1/24 vlan v floating enabled }\nnet vlan v { }",
		"weir.conf:1: net self /Common/a: floating: follows from traffic-group, which is "
		"/Common/traffic-group-local-only");
	refused("net route r { network 10.0.0.1/8 gw 10.0.0.1 }",
		"weir.conf:1: net route /Common/r: network: \"10.0.0.1/8\" has bits behind the "
		"prefix: the "
		"network is 10.0.0.0/8");
	refused("net route r { network default }",
		"weir.conf:1: net route /Common/r: gw: give one of gw, interface and blackhole");
	refused("ltm virtual a { destination 10.0.0.1:80 }\nltm virtual b { destination "
		"10.0.0.1:80 }",
		"weir.conf:1: ltm virtual /Common/a: destination: /Common/b has the same "
		"destination, "
		"protocol, source and VLANs");
	refused("ltm node a { address 10.0.0.1 }\nltm node b { address 10.0.0.1 }",
		"weir.conf:1: ltm node /Common/a: address: /Common/b has the same");
	refused("ltm node a { address 224.0.0.1 }",
		"weir.conf:1: ltm node /Common/a: address: 224.0.0.1 is not the address of a host");
	refused("ltm virtual a { destination 10.0.0.1:80 profiles { udp { } } ip-protocol tcp }",
		"weir.conf:1: ltm virtual /Common/a: profiles: profile /Common/udp needs "
		"ip-protocol udp");
	refused("sys db arp.timeout { value 0 }",
		"weir.conf:1: sys db arp.timeout: value: \"0\" is not between 1 and 86400");
	refused("\xef\xbb\xbfltm pool a { }\nltm pool all { }",
		"weir.conf:2: ltm pool all: \"all\" is a word with a meaning, no name");
	refused("ltm pool a { }\ninclude(x)\nltm pool b { }",
		"weir.conf:2: include(x) ltm pool: is no kind of object that is supported");
	refused("include(\"/etc/passwd\")",
		"weir.conf:1: include(/etc/passwd): is no kind of object that is supported");
}

/* Megabytes without a blank are refused at once: as a value they would take libconfuse for ever. */
static void test_long_word(void)
{
	struct model *m = model_new();
	struct text text = {0};
	const char *const blocks[] = {"ltm pool ", "ltm pool web { description "};

	for (size_t i = 0; i < 2; i++) {
		text_printf(&text, "%s", blocks[i]);
		for (int n = 0; n < 1 << 20; n++)
			text_add(&text, "0123456789abcdef", 16);
		CHECK(load(m, text.data, 0, NULL) != 0);
		CHECK_STR(fixture_said,
			i ? "weir.conf:1: ltm pool web: description: a word is longer than 65536 "
			    "bytes"
			  : "weir.conf:1: ltm pool: a word is longer than 65536 bytes");
		text_fini(&text);
	}
	model_free(m);
}

static void check_round(const char *description)
{
	struct model *m = model_new(), *n = model_new();
	struct text word = {0}, first = {0}, second = {0};
	const struct object *o;

	text_printf(&word, "create ltm pool web description ");
	text_add_word(&word, description);
	if (!strcmp(description, "none"))
		text_printf(&word, "\"\""); /* quoted it is text */
	must(m, word.data);
	o = object(m, KIND_POOL, "web");
	CHECK_STR(model_string(m, model_pool(o)->conf.description), description);
	model_print(m, 0, &first);
	CHECK(load(n, first.data, 0, NULL) == 0);
	o = object(n, KIND_POOL, "web");
	CHECK_STR(model_string(n, model_pool(o)->conf.description), description);
	model_print(n, 0, &second);
	CHECK_STR(second.data, first.data);
	text_fini(&word);
	text_fini(&first);
	text_fini(&second);
	model_free(m);
	model_free(n);
}

/* Every string of bytes comes back the same. */
static void test_bytes(void)
{
	static const char *const hard[] = {
		"${HOME}",
		"$(x)",
		"a # b",
		"# x",
		"none",
		"{ }",
		"}",
		"'",
		"''",
		"\\",
		"\\\\",
		"\\n",
		"\n",
		"a\nb\r\tc",
		"\"",
		"\\'",
		"'\\",
		" ",
		"include(\"x\")",
		"a = b",
		"\x7f\x1b[0m",
		"\xff\xfe",
		"\\x41",
		"\\\n",
		"/*",
		"//",
		"=",
		",",
	};
	char bytes[64];
	uint32_t seed = 1;

	for (size_t i = 0; i < sizeof(hard) / sizeof(hard[0]); i++)
		check_round(hard[i]);
	for (int round = 0; round < 500; round++) {
		unsigned len = round % 60 + 1;
		for (unsigned i = 0; i < len; i++) {
			static const char likely[] = "\\'\"${}#\n \t=()";
			seed = seed * 1664525u + 1013904223u;
			bytes[i] = seed >> 31 ? likely[(seed >> 16) % (sizeof(likely) - 1)]
					      : (char)((seed >> 16) % 255 + 1);
		}
		bytes[len] = '\0';
		check_round(bytes);
	}
	for (int c = 1; c < 256; c++)
		check_round((char[]){(char)c, '\0'});
}

static const char tour[] =
	"net vlan client { interfaces { 1.1 { untagged } 1.3 { tagged } } tag 100 }\n"
	"net vlan server { interfaces { 1.2 { } } mtu 9000 }\n"
	"net self c { address 10.0.1.1/24 vlan client allow-service { tcp:22 default } }\n"
	"net self s { address 10.0.2.1/24 vlan server allow-service all traffic-group "
	"traffic-group-1 }\n"
	"net route gw { network default gw 10.0.1.254 }\n"
	"ltm pool web { load-balancing-mode ratio-member members {\n"
	"  10.0.2.11:80 { ratio 4 } 10.0.2.12:http { session user-disabled }\n"
	"  10.0.2.13:80 { holds { agent { session user-disabled reason \"gc pause\" } } }\n"
	"  app4:80 { address 10.0.2.14 } 2001:DB8::1.80 { } } }\n"
	"ltm virtual web { destination 10.0.1.100:80 ip-protocol tcp pool web vlans { client } "
	"vlans-enabled\n"
	"  source-address-translation { type automap } profiles { fastL4 { } } }\n"
	"ltm snatpool sp { members { 10.0.2.200 10.0.2.201 } }\n"
	"ltm virtual dns { destination 10.0.1.100:domain ip-protocol udp pool web disabled\n"
	"  source-address-translation { type snat pool sp } }\n"
	"ltm virtual out { destination 0.0.0.0:any mask any ip-forward vlans { client } "
	"vlans-disabled }\n"
	"ltm virtual out6 { destination any6.any ip-forward }\n"
	"ltm profile fastl4 long { defaults-from fastL4 idle-timeout 3600 }\n"
	"ltm profile fastl4 longer { defaults-from long idle-timeout 300 tcp-close-timeout "
	"indefinite }\n"
	"sys db tm.rejectunmatched { value false }\n";

static void test_tour(void)
{
	struct model *m = model_new();
	struct text first = {0}, second = {0};
	struct model_changes c;
	uint32_t id;

	CHECK(load(m, tour, 0, NULL) == 0);
	model_print(m, 0, &first);
	CHECK(strstr(first.data, "10.0.2.200") &&
		strstr(first.data, "allow-service {\n        default\n"));
	CHECK_INT(model_db_value(m, "tm.rejectunmatched"), 0);
	CHECK_INT(model_profile_fastl4(object(m, KIND_PROFILE_FASTL4, "longer"))->conf.idle_timeout,
		300);
	CHECK_INT(model_virtual_address(object(m, KIND_VIRTUAL_ADDRESS, "any"))->conf.mask, 0);
	CHECK_INT(model_vlan(object(m, KIND_VLAN, "server"))->conf.tag, 4094);
	/* the same file again changes nothing; ids stay */
	id = member(m, "web", "10.0.2.11:80")->id;
	CHECK(load(m, first.data, 0, &c) == 0);
	CHECK_STR(c.count ? c.row[0].path : "", "");
	model_changes_fini(&c);
	CHECK_INT(member(m, "web", "10.0.2.11:80")->id, id);
	/* so does the short one that people write */
	CHECK(load(m, tour, 0, &c) == 0);
	CHECK_STR(c.count ? c.row[0].path : "", "");
	model_changes_fini(&c);
	model_print(m, 0, &second);
	CHECK_STR(second.data, first.data);
	/* what a file does not name goes, with merge it stays */
	CHECK(load(m, "ltm pool web { members { 10.0.2.11:80 { } } }", LOAD_MERGE, NULL) == 0);
	CHECK_INT(model_child_count(m, object(m, KIND_POOL, "web")), 5);
	CHECK(load(m, "ltm pool web { members { 10.0.2.11:80 { } } }", 0, NULL) == 0);
	CHECK_INT(model_child_count(m, object(m, KIND_POOL, "web")), 1);
	CHECK_INT(model_pool_member(member(m, "web", "10.0.2.11:80"))->live.ratio, 1);
	CHECK_INT(member(m, "web", "10.0.2.11:80")->id, id);
	CHECK(model_count(m, KIND_VIRTUAL) == 0 && model_count(m, KIND_NODE) == 1);
	CHECK_INT(model_db_value(m, "tm.rejectunmatched"), 1);
	text_fini(&first);
	text_fini(&second);
	model_free(m);
}

static void check_same_store(const struct model *a, const struct model *b)
{
	struct text x = {0}, y = {0};

	model_print(a, PRINT_STORE, &x);
	model_print(b, PRINT_STORE, &y);
	/* the first line, the floor of ids, may differ */
	CHECK_STR(strchr(y.data, '\n'), strchr(x.data, '\n'));
	text_fini(&x);
	text_fini(&y);
}

/* The store and the journal behind it bring back ids, generations and all holds. */
static void test_store(void)
{
	static const char *const lines[] = {
		"modify ltm pool web members modify { 10.0.2.11:80 { ratio 9 session user-disabled "
		"} }",
		"modify ltm pool web members delete { 10.0.2.12:80 } description changed",
		"delete ltm virtual dns",
		"create ltm pool next members add { 10.0.2.11:8080 { state user-down } 10.0.2.99:1 "
		"{ } }",
		"modify ltm virtual web pool next vlans none vlans-disabled",
		"modify ltm profile fastl4 long idle-timeout 77",
		"delete ltm pool web",
		"modify sys db tm.rejectunmatched value true",
		"modify net self c allow-service none",
	};
	struct model *m = model_new(), *n = model_new();
	struct text store = {0};

	CHECK(load(m, tour, 0, NULL) == 0);
	model_print(m, PRINT_STORE, &store);
	CHECK(load(n, store.data, LOAD_STORE, NULL) == 0);
	check_same_store(m, n);
	text_fini(&store);
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		struct model_changes c;
		struct text journal = {0};
		CHECK(command_as(m, &fixture_operator, lines[i], &c) == 0);
		model_print_changes(m, &c, &journal);
		model_changes_fini(&c);
		if (load(n, journal.data, LOAD_STORE | LOAD_MERGE, NULL)) {
			fprintf(stderr, "%s\n%s\n%s\n", lines[i], journal.data, fixture_said);
			abort();
		}
		check_same_store(m, n);
		text_fini(&journal);
	}
	model_free(m);
	model_free(n);
}

/* A journal in which a name comes and goes: each time under another id, loaded in one transaction. */
static void test_store_reuse(void)
{
	static const char *const lines[] = {
		"create ltm pool web members add { 10.0.0.1:80 { } }",
		"delete ltm pool web",
		"delete ltm node all",
		"create ltm pool web members add { 10.0.0.1:80 { ratio 2 } }",
		"modify ltm pool web members delete { 10.0.0.1:80 }",
		"modify ltm pool web members add { 10.0.0.1:80 { ratio 3 } }",
	};
	struct model *m = model_new(), *n = model_new();
	struct model_error err = {0};

	CHECK(model_begin(n, &fixture_operator) == 0);
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		struct model_changes c;
		struct text journal = {0};
		CHECK(command_as(m, &fixture_operator, lines[i], &c) == 0);
		model_print_changes(m, &c, &journal);
		model_changes_fini(&c);
		CHECK(model_load(n, journal.data, journal.len, "log", LOAD_STORE | LOAD_MERGE,
			      &err) == 0);
		text_fini(&journal);
	}
	CHECK(fixture_end(n, 0, &err, NULL) == 0);
	check_same_store(m, n);
	model_free(m);
	model_free(n);
}

/* A file that takes the place of everything may say another address; one that is merged may not. */
static void test_new_addresses(void)
{
	struct model *m = model_new();
	struct ip_addr addr;
	char text[IP_ADDR_TEXT];

	CHECK(load(m,
		      "ltm node a { address 10.0.0.1 }\nltm node b { address 10.0.0.2 }\n"
		      "ltm pool web { members { a:80 { } b:80 { } } }\n",
		      0, NULL) == 0);
	uint32_t id = object(m, KIND_NODE, "a")->id;
	CHECK(load(m, "ltm node a { address 10.0.0.9 }", LOAD_MERGE, NULL) != 0);
	CHECK(strstr(fixture_said, "address: cannot be changed"));
	/* They also change places. */
	CHECK(load(m,
		      "ltm node a { address 10.0.0.2 }\nltm node b { address 10.0.0.1 }\n"
		      "ltm pool web { members { a:80 { } b:80 { } } }\n",
		      0, NULL) == 0);
	addr = model_node(object(m, KIND_NODE, "a"))->conf.address;
	CHECK_STR(ip_format(&addr, text), "10.0.0.2");
	CHECK_INT(object(m, KIND_NODE, "a")->id, id);
	const struct object *pool = object(m, KIND_POOL, "web");
	addr = model_pool_member(model_find(m, KIND_POOL_MEMBER, pool->id, "a:80"))->conf.address;
	CHECK_STR(ip_format(&addr, text), "10.0.0.2");
	CHECK(load(m, "ltm node c { address 10.0.0.2 }", LOAD_MERGE, NULL) != 0);
	CHECK(strstr(fixture_said, "ltm node /Common/c: address: /Common/a has the same"));
	CHECK(load(m, "ltm node a { address 10.0.0.2 }\nltm node b { address 10.0.0.2 }\n", 0,
		      NULL) != 0);
	CHECK(load(m,
		      "ltm node a { address 10.0.0.3 }\n"
		      "ltm pool web { members { a:80 { address 10.0.0.4 } } }\n",
		      0, NULL) != 0);
	CHECK(strstr(fixture_said, "node /Common/a has address 10.0.0.3"));
	model_free(m);
}

/* A block of children stands for those of one object. */
static void test_owners(void)
{
	struct model *m = model_new();

	must_fail(m, "modify ltm pool all members add { 10.0.0.1:80 }",
		"ltm pool members: there is none that they belong to");
	must(m, "create ltm pool a members add { 10.0.0.1:80 }");
	must(m, "modify ltm pool all members modify { all { ratio 2 } }");
	must(m, "create ltm pool b");
	must_fail(m, "modify ltm pool all members delete { all }",
		"ltm pool members: can be changed for one owner at a time: name it");
	model_free(m);
}

static void test_edit(void)
{
	struct model *m = model_new();
	struct text out = {0};

	must(m, "create ltm pool web { load-balancing-mode ratio-member members { 10.0.0.1:80 { "
		"ratio 3 } } }");
	must(m, "modify ltm pool web members add { 10.0.0.2:80 10.0.0.3:80 { ratio 2 } }");
	must(m, "modify ltm pool web members modify { all { connection-limit 7 } }");
	must(m, "modify ltm pool web members replace-all-with { 10.0.0.1:80 10.0.0.3:80 { "
		"priority-group 4 } }");
	model_print_object(m, object(m, KIND_POOL, "web"), 0, &out);
	CHECK_STR(out.data, "ltm pool /Common/web {\n"
			    "    load-balancing-mode ratio-member\n"
			    "    members {\n"
			    "        /Common/10.0.0.1:80 {\n"
			    "            address 10.0.0.1\n"
			    "            connection-limit 7\n"
			    "            ratio 3\n"
			    "        }\n"
			    "        /Common/10.0.0.3:80 {\n"
			    "            address 10.0.0.3\n"
			    "            connection-limit 7\n"
			    "            priority-group 4\n"
			    "            ratio 2\n"
			    "        }\n"
			    "    }\n"
			    "}\n");
	text_fini(&out);
	must(m, "modify ltm pool web members none");
	CHECK_INT(model_child_count(m, object(m, KIND_POOL, "web")), 0);
	must(m, "create net vlan a interfaces add { 1.1 { tagged } }");
	must(m, "create net vlan b");
	must(m, "create ltm virtual v destination 10.0.0.9:80 vlans add { a } vlans-enabled");
	must(m, "modify ltm virtual v vlans add { b } vlans delete { a }");
	CHECK_INT(model_virtual(object(m, KIND_VIRTUAL, "v"))->conf.vlans.entry[0],
		object(m, KIND_VLAN, "b")->id);
	must_fail(m, "modify ltm virtual v vlans delete { a }",
		"ltm virtual /Common/v: vlans: has no such entry to delete");
	must_fail(m, "modify ltm virtual v vlans { }",
		"ltm virtual /Common/v: vlans-enabled: needs vlans");
	must_fail(m, "modify ltm nosuch v x y",
		"ltm nosuch v: is no kind of object that is supported");
	must_fail(m, "modify ltm pool gone description x", "ltm pool /Common/gone: was not found");
	must_fail(m, "modify ltm pool web members modify { 1.2.3.4:80 { ratio 1 } }",
		"ltm pool members /Common/1.2.3.4:80: was not found");
	must_fail(m, "create ltm pool x members add { nosuch:80 }",
		"ltm pool members /Common/x /Common/nosuch:80: node /Common/nosuch does not exist: "
		"give the "
		"address");
	must_fail(m, "modify ltm node 10.0.0.1 address 10.0.0.8",
		"ltm node /Common/10.0.0.1: address: cannot be changed: delete and create the "
		"object");
	must_fail(m, "create sys db x value y", "sys db x: objects of this kind cannot be created");
	must_fail(m, "create ", "names no object");
	must_fail(m, "create ltm pool none",
		"ltm pool none: \"none\" is a word with a meaning, no name");
	must(m, "create ltm pool doomed");
	must_fail(m, "delete ltm pool doomed description x",
		"ltm pool doomed: delete takes a name and nothing else");
	must_fail(m, "delete ltm pool doomed members none",
		"ltm pool doomed: delete takes a name and nothing else");
	must_fail(m, "delete ltm pool doomed { }",
		"ltm pool doomed: delete takes a name and nothing else");
	must_fail(m, "modify ltm pool web } description x",
		"ltm pool web: what follows makes no sense");
	model_free(m);
}

int main(void)
{
	test_refusals();
	test_long_word();
	test_bytes();
	test_tour();
	test_store();
	test_store_reuse();
	test_new_addresses();
	test_owners();
	test_edit();
	return 0;
}
