/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>

#include "base/check.h"
#include "cli/command.h"
#include "model/model.h"

static struct cli_command command;
static struct words_error error;

static void parse(const char *text)
{
	command_fini(&command);
	if (command_parse(text, strlen(text), &command, &error)) {
		fprintf(stderr, "%s: refused: %s\n", text, error.reason);
		abort();
	}
}

static void check_refused(const char *text, unsigned position, const char *reason)
{
	command_fini(&command);
	CHECK_INT(command_parse(text, strlen(text), &command, &error), -EINVAL);
	CHECK_STR(error.reason, reason);
	CHECK_INT(error.position, position);
	CHECK_INT(command.verb, CLI_EMPTY);
}

static void test_list(void)
{
	parse("list");
	CHECK_INT(command.target, TARGET_EVERYTHING);
	parse("list ltm one-line");
	CHECK_INT(command.target, TARGET_MODULE);
	CHECK_STR(command.component, "ltm");
	CHECK_INT(command.flags, CLI_ONE_LINE);
	parse("list ltm profile fastl4 mine all-properties");
	CHECK_INT(command.kind, KIND_PROFILE_FASTL4);
	CHECK_STR(command.component, "ltm profile fastl4");
	CHECK_INT(command.names, 1);
	CHECK_STR(command.name[0]->text, "mine");
	CHECK_INT(command.flags, CLI_ALL_PROPERTIES);
	parse("list ltm pool web /Common/api members \"members\" x { load-balancing-mode }");
	CHECK_INT(command.names, 4);
	CHECK_STR(command.name[2]->text, "members");
	CHECK_INT(command.fields, 2);
	CHECK_STR(command.field[0]->text, "members");
	CHECK_STR(command.field[1]->text, "load-balancing-mode");
	parse("list ltm virtual all");
	CHECK_INT(command.flags, CLI_ALL);
	CHECK_INT(command.names, 0);
	check_refused("list ltm pool x { nothing }", 18, "ltm pool has no property \"nothing\"");
	check_refused("list ltm pool \"\"", 14, "the name of ltm pool is empty");
	check_refused("list sys version", 5, "list does not work on sys version");
}

static void test_edit(void)
{
	char *text;

	parse("create ltm pool web members add { 10.0.0.1:80 {ratio 3} \"none\" } description \"a "
	      "\\\"b\"");
	CHECK_INT(command.verb, CLI_CREATE);
	CHECK_INT(command.kind, KIND_POOL);
	CHECK(command_is_edit(&command));
	CHECK_STR(command.rest->text, "web");
	text = command_edit_text(&command);
	CHECK_STR(text, "ltm pool web members add { 10.0.0.1:80 { ratio 3 } \"none\" } "
			"description \"a \\\"b\"");
	free(text);
	parse("delete ltm node 10.0.0.1");
	CHECK(command_is_edit(&command));
	check_refused("delete ltm pool", 15, "delete ltm pool which? A name is missing");
	check_refused("modify ltm", 10,
		"ltm what? Known are monitor, default-node-monitor, node, pool, "
		"profile, "
		"message-routing, "
		"persistence, global-settings, ifile, data-group, rule, policy, snat-translation, "
		"snatpool, snat, "
		"nat, "
		"virtual-address, virtual, drain");
	check_refused("create ltm monitor mssql x", 19,
		"this type of monitor is not supported; known are tcp, tcp-half-open, tcp-echo, "
		"udp, http, https, icmp, gateway-icmp, inband, external, dns, smtp, ftp, nntp, "
		"pop3, "
		"imap, redis, sip, radius, mysql, postgresql, ldap, snmp-dca, agent-check");
	check_refused("create sys version", 7, "create does not work on sys version");
	check_refused("create", 6, "create what? A component is missing, such as \"ltm pool\"");
}

static void test_drain(void)
{
	parse("create ltm drain pool web member 10.0.0.1:80 force-offline stuck-time 30 wait 5");
	CHECK_INT(command.target, TARGET_DRAIN);
	CHECK_INT(command.options, 5);
	CHECK_STR(command.option[1].value->text, "10.0.0.1:80");
	CHECK(!command.option[2].value);
	CHECK(!command_is_edit(&command));
	parse("create ltm drain node 10.0.0.1 reason \"timeout\" timeout 300 cap-action reset");
	CHECK_STR(command.option[1].value->text, "timeout");
	parse("show ltm drain 7 wait 60");
	CHECK_STR(command.name[0]->text, "7");
	parse("show ltm drain");
	CHECK_INT(command.names, 0);
	parse("delete ltm drain 7 enable");
	CHECK_STR(command.option[0].name->text, "enable");
	check_refused("create ltm drain", 16,
		"what shall be drained? node NAME, or pool NAME member NAME");
	check_refused("create ltm drain pool web", 25,
		"pool and member go together: pool web member 10.0.0.1:80");
	check_refused("create ltm drain node a pool b member c", 39,
		"what shall be drained? node NAME, or pool NAME member NAME");
	check_refused("create ltm drain node a timeout soon", 32,
		"timeout: \"soon\" is not a number of seconds from 0 to 604800");
	check_refused("create ltm drain node a cap-action drop", 35,
		"cap-action: \"drop\" is not none or reset");
	check_refused("create ltm drain node a node b", 24, "node is given twice");
	check_refused("create ltm drain node", 21,
		"node: its value is missing (the server, in all its pools)");
	check_refused("create ltm drain node a { x }", 22, "no block may follow \"a\"");
	check_refused("create ltm drain node a enable", 24,
		"create ltm drain has no \"enable\"; see \"help ltm drain\"");
	check_refused("delete ltm drain", 16, "delete ltm drain which? Its number is missing");
	check_refused("delete ltm drain x", 17, "\"x\" is not the number of a drain");
	check_refused("show ltm drain wait 5", 21, "wait for which? Its number is missing");
	check_refused("modify ltm drain 1", 7, "modify does not work on ltm drain");
}

static void test_json(void)
{
	parse("list ltm pool web --json");
	CHECK(command.json);
	CHECK_INT(command.names, 1);
	parse("list ltm pool \"--json\"");
	CHECK(!command.json);
	CHECK_INT(command.names, 1);
	parse("list --json");
	CHECK(command.json);
	CHECK_INT(command.target, TARGET_EVERYTHING);
}

static void test_components(void)
{
	check_refused("lost", 0,
		"unknown command \"lost\"; known are create, delete, help, list, load, modify, "
		"publish, "
		"quit, "
		"reset-stats, run, save, show, submit, test, verify");
	check_refused("list \"ltm\" pool", 5,
		"unknown module \"ltm\"; known are auth, sys, cm, net, ltm, cli");
	check_refused("list auth party", 10,
		"unknown component \"auth party\"; known are partition, password-policy, user");
	check_refused("list ltm profile lost", 17,
		"unknown component \"ltm profile lost\"; known are fastl4, udp, tcp, http, "
		"client-ssl, "
		"server-ssl, one-connect, fasthttp, diameter, dhcpv4, dhcpv6, sip, "
		"http-compression, "
		"web-acceleration, http2, ftp, dns, stream, analytics");
	parse("list ltm monitor");
	CHECK_INT(command.target, TARGET_MODULE);
	CHECK_STR(command.component, "ltm monitor");
	parse("list ltm default-node-monitor");
	CHECK_INT(command.kind, KIND_DEFAULT_NODE_MONITOR);
	check_refused("list { a }", 0, "no block may follow \"list\"");
	check_refused("list members", 5,
		"unknown module \"members\"; known are auth, sys, cm, net, ltm, cli");
	check_refused("run util bash", 4, "nothing can be run here yet");
	parse("quit");
	CHECK_INT(command.verb, CLI_QUIT);
	parse(" # nothing\n");
	CHECK_INT(command.verb, CLI_EMPTY);
	parse("submit cli transaction");
	CHECK_INT(command.target, TARGET_TRANSACTION);
	parse("help ltm pool");
	CHECK_STR(command.rest->next->text, "pool");
}

static void test_show(void)
{
	parse("show ltm pool members");
	CHECK_INT(command.flags, CLI_MEMBERS);
	CHECK_INT(command.names, 0);
	parse("show ltm pool web api members");
	CHECK_INT(command.names, 2);
	check_refused("show ltm node members", 21, "only ltm pool has members to show");
	check_refused("show ltm pool web { members }", 14, "no block may follow \"web\"");
	parse("show sys dataplane drops");
	CHECK_INT(command.flags, CLI_DROPS);
	check_refused("show sys dataplane flops", 19,
		"sys dataplane has no \"flops\"; known are drops, workers, memory");
	parse("show net arp");
	CHECK_INT(command.target, TARGET_NEIGHBOUR);
	check_refused("show net arp x", 13, "\"x\" is too much here");
}

static void test_monitors(void)
{
	parse("show ltm monitor");
	CHECK(command_is_monitors(&command));
	CHECK_INT(command.names, 0);
	parse("show ltm monitor http app \"pool\" pool web member 10.0.0.1:80");
	CHECK(command_is_monitors(&command));
	CHECK_STR(command.component, "ltm monitor http");
	CHECK_INT(command.names, 2);
	CHECK_STR(command.name[1]->text, "pool");
	CHECK_INT(command.options, 2);
	parse("show ltm monitor node 10.0.0.1");
	CHECK_STR(command.option[0].value->text, "10.0.0.1");
	parse("list ltm monitor");
	CHECK(!command_is_monitors(&command));
	check_refused("show ltm monitor member 10.0.0.1:80", 35,
		"member needs its pool: pool web member 10.0.0.1:80");
	check_refused("show ltm monitor pool a node b", 30, "either a node or a pool");
	check_refused("show ltm monitor http pool", 26, "pool: its name is missing");
	check_refused("show ltm monitor pool a pool b", 24, "pool is given twice");
	check_refused("show ltm monitor http app { x }", 22, "no block may follow \"app\"");
	check_refused("show ltm monitor http pool { x } b", 33, "no block may follow \"b\"");
}

static void test_connections(void)
{
	parse("show sys connection cs-client-addr 10.0.0.0/8 cs-server-port 80 protocol tcp age "
	      "60");
	CHECK_INT(command.options, 4);
	CHECK_STR(command.option[0].name->text, "cs-client-addr");
	CHECK_STR(command.option[0].value->text, "10.0.0.0/8");
	parse("show sys connection pool web member 10.0.0.1:80");
	check_refused("show sys connection member 10.0.0.1:80", 38,
		"member needs its pool: pool web member 10.0.0.1:80");
	parse("delete sys connection all");
	CHECK_INT(command.flags, CLI_ALL);
	check_refused("delete sys connection", 21,
		"delete sys connection would end every connection: say which, or \"all\"");
	check_refused("show sys connection cs-client-addr ten", 35,
		"cs-client-addr: \"ten\" is not an address such as 10.0.0.1 or a network such as "
		"10.0.0.0/8");
	check_refused("show sys connection cs-client-addr 10.0.0.0/33", 35,
		"cs-client-addr: \"10.0.0.0/33\" is not an address such as 10.0.0.1 or a network "
		"such "
		"as 10.0.0.0/8");
	check_refused("show sys connection cs-server-addr 10.0.0.0/8", 35,
		"cs-server-addr: \"10.0.0.0/8\" is not an address such as 10.0.0.1 or 2001:db8::1");
	check_refused("show sys connection cs-client-port 65536", 35,
		"cs-client-port: \"65536\" is not a port from 1 to 65535");
	check_refused("show sys connection age -1", 24, "age: \"-1\" is not a number of seconds");
	check_refused("show sys connection age", 23,
		"age: its value is missing (open for that many seconds or longer)");
	check_refused("show sys connection age 1 age 2", 26, "age is given twice");
	check_refused("show sys connection color red", 20,
		"sys connection is not selected by \"color\"; see \"help sys connection\"");
}

static void test_config(void)
{
	parse("save sys config");
	parse("load sys config verify file a.conf merge");
	CHECK_INT(command.flags, CLI_VERIFY | CLI_MERGE);
	CHECK_STR(command.option[0].value->text, "a.conf");
	check_refused(
		"load sys config merge", 21, "merge needs a file: load sys config merge file F");
	check_refused("load sys config file", 20, "file: its name is missing");
	check_refused("save sys config verify", 16, "\"verify\" is too much here");
	check_refused("save", 4, "save what? A component is missing, such as \"sys config\"");
}

int main(void)
{
	test_list();
	test_edit();
	test_components();
	test_drain();
	test_json();
	test_show();
	test_monitors();
	test_connections();
	test_config();
	command_fini(&command);
	return 0;
}
