/* SPDX-License-Identifier: BSD-3-Clause */
/* show ltm ...: what objects are doing, in blocks as LTM shows them. */
#include <stdlib.h>
#include <string.h>

#include "cli/answer.h"
#include "cli/shell.h"

struct label {
	const char *text, *key;
};

/* A kind that has a state, with what its block says beside the common lines. */
static const struct shown {
	const char *what, *title;
	const char *side, *side_title; /* which connections it counts */
	struct label more[5];
} shown[] = {
	{"ltm node", "Ltm::Node", "serverside", "ServerSide",
		{{"Address", "addr"}, {"Session Status", "sessionStatus"}, {"Ratio", "ratio"},
			{"Dynamic Ratio", "dynamicRatio"},
			{"Connection Limit", "connectionLimit"}}},
	{"ltm pool", "Ltm::Pool", "serverside", "ServerSide",
		{{"Load Balancing Mode", "loadBalancingMode"}, {"Total Members", "memberCnt"},
			{"Available Members", "availableMemberCnt"},
			{"Current Active Members", "activeMemberCnt"}}},
	{"ltm pool members", "Ltm::Pool Member", "serverside", "ServerSide", {{NULL, NULL}}},
	{"ltm virtual", "Ltm::Virtual Server", "clientside", "ClientSide",
		{{"Destination", "destination"}, {"Protocol", "ipProtocol"}, {"Pool", "pool"}}},
	{"ltm virtual-address", "Ltm::Virtual Address", "clientside", "ClientSide",
		{{"Address", "addr"}}},
};

static const struct shown *shown_find(const char *what)
{
	for (size_t i = 0; i < sizeof(shown) / sizeof(shown[0]); i++)
		if (!strcmp(shown[i].what, what))
			return &shown[i];
	return NULL;
}

static char *full_key(const char *side, const char *name, char out[64])
{
	snprintf(out, 64, "%s.%s", side, name);
	return out;
}

static void add_line(struct table *t, const json_t *row, const char *label, const char *key)
{
	char *text = answer_name(row, key);

	if (text && *text)
		table_add(t, label, ":", text);
	free(text);
}

static void print_title(struct shell *sh, const struct shown *kind, const json_t *row)
{
	static const char rule[] =
		"----------------------------------------------------------------";
	struct table t;
	char *name = answer_name(row, "name");

	fprintf(sh->out, "%s\n", rule);
	table_init(&t, 2, 0);
	char title[64];
	snprintf(title, sizeof(title), "%s:", kind->title);
	table_add(&t, title, name);
	table_print(&t, 0, sh->out);
	table_fini(&t);
	free(name);
	fprintf(sh->out, "%s\n", rule);
}

static void print_status(struct shell *sh, const struct shown *kind, const json_t *row)
{
	struct table t;

	table_init(&t, 3, 0);
	add_line(&t, row, "Availability", "status.availabilityState");
	add_line(&t, row, "State", "status.enabledState");
	add_line(&t, row, "Reason", "status.statusReason");
	for (size_t i = 0; i < sizeof(kind->more) / sizeof(kind->more[0]); i++)
		if (kind->more[i].text)
			add_line(&t, row, kind->more[i].text, kind->more[i].key);
	server_lines(&t, row);
	fputs("Status\n", sh->out);
	table_print(&t, 2, sh->out);
	table_fini(&t);
}

static void print_traffic(struct shell *sh, const struct shown *kind, const json_t *row)
{
	static const struct label lines[] = {{"Bits In", "bitsIn"}, {"Bits Out", "bitsOut"},
		{"Packets In", "pktsIn"}, {"Packets Out", "pktsOut"},
		{"Current Connections", "curConns"}, {"Maximum Connections", "maxConns"},
		{"Total Connections", "totConns"}};
	static const struct label own[] = {
		{"Refused", "refused"}, {"Resets", "resets"}, {"Timeouts", "timeouts"}};
	struct table t;
	char key[64];

	if (!json_object_get(row, full_key(kind->side, "curConns", key))) {
		fputs("\nTraffic is not known: no dataplane is connected\n\n", sh->out);
		return;
	}
	table_init(&t, 2, 2);
	table_add(&t, "Traffic", kind->side_title);
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		char *text = answer_text(row, full_key(kind->side, lines[i].key, key));
		char label[32];

		snprintf(label, sizeof(label), "  %s", lines[i].text);
		table_add(&t, label, text);
		free(text);
	}
	for (size_t i = 0; i < sizeof(own) / sizeof(own[0]); i++) {
		char *text = answer_text(row, own[i].key);
		char label[32];

		snprintf(label, sizeof(label), "  %s", own[i].text);
		table_add(&t, label, text);
		free(text);
	}
	fputc('\n', sh->out);
	table_print(&t, 0, sh->out);
	table_fini(&t);
	fputc('\n', sh->out);
}

struct shower {
	struct shell *shell;
	const struct shown *kind;
};

static enum outcome show_row(void *arg, const json_t *row)
{
	struct shower *s = arg;

	print_title(s->shell, s->kind, row);
	print_status(s->shell, s->kind, row);
	print_traffic(s->shell, s->kind, row);
	return shell_output_state(s->shell);
}

static void add_member(struct table *t, const json_t *row)
{
	static const char *const keys[] = {"name", "status.availabilityState",
		"status.enabledState", "session", "state", "ratio", "serverside.curConns",
		"serverside.maxConns", "serverside.totConns", "serverside.bitsIn",
		"serverside.bitsOut"};

	answer_add(t, row, keys);
}

/* The members of one pool as a table; members: array of rows. */
static void print_members(struct shell *sh, const json_t *members)
{
	struct table t;

	table_init(&t, 11, 0x7e0);
	table_add(&t, "Member", "Availability", "Enabled", "Session", "State", "Ratio", "Current",
		"Maximum", "Total", "Bits In", "Bits Out");
	for (size_t i = 0; i < json_array_size(members); i++)
		add_member(&t, json_array_get(members, i));
	fputs("Members\n", sh->out);
	table_print(&t, 2, sh->out);
	table_fini(&t);
	server_table(sh, members);
	fputc('\n', sh->out);
}

static json_t *request_for(const char *what, const char *key, const struct word *name)
{
	json_t *request = shell_show_request(what);

	if (name)
		shell_set_text(request, key, name->text, name->length);
	return request;
}

/* Members by their pool: {"/Common/web": [row, ...]}. */
static json_t *group_members(const json_t *rows)
{
	json_t *groups = json_object();

	for (size_t i = 0; i < json_array_size(rows); i++) {
		json_t *row = json_array_get(rows, i);
		char *owner = answer_text(row, "owner");
		json_t *group = owner ? json_object_get(groups, owner) : NULL;

		if (owner && !group) {
			group = json_array();
			json_object_set_new(groups, owner, group);
		}
		json_array_append(group, row);
		free(owner);
	}
	return groups;
}

/* Pools (one, or all) with their members. */
static enum outcome show_members(struct shell *sh, const struct word *name)
{
	struct shower s = {.shell = sh, .kind = shown_find("ltm pool")};
	json_t *pools = NULL, *members = NULL, *groups = NULL;
	enum outcome outcome;

	if (sh->json)
		return shell_print_rows(sh, request_for("ltm pool members", "owner", name));
	outcome = shell_rows(sh, request_for("ltm pool", "name", name), &pools);
	if (!outcome)
		outcome = shell_rows(sh, request_for("ltm pool members", "owner", name), &members);
	if (!outcome)
		groups = group_members(members);
	for (size_t i = 0; !outcome && i < json_array_size(pools); i++) {
		const json_t *pool = json_array_get(pools, i);
		char *path = answer_text(pool, "name");

		outcome = show_row(&s, pool);
		print_members(sh, json_object_get(groups, path ? path : ""));
		free(path);
	}
	json_decref(pools);
	json_decref(members);
	json_decref(groups);
	return outcome;
}

static enum outcome show_name(struct shell *sh, const struct cli_command *c,
	const struct shown *kind, const struct word *name)
{
	struct shower s = {.shell = sh, .kind = kind};

	if (c->flags & CLI_MEMBERS)
		return show_members(sh, name);
	json_t *request = request_for(c->component, "name", name);
	return sh->json ? shell_print_rows(sh, request)
			: session_ask(&sh->session, request, show_row, &s, NULL);
}

enum outcome show_run(struct shell *sh, const struct cli_command *c)
{
	const struct shown *kind = shown_find(c->component);
	enum outcome outcome = OUTCOME_OK;

	if (!strcmp(c->component, "net interface"))
		return system_run(sh, c);
	if (!kind) {
		session_fail(&sh->session,
			"show %s: it has no state; known are ltm node, ltm pool, ltm virtual, "
			"ltm virtual-address, net interface (\"list %s\" shows its configuration)",
			c->component, c->component);
		return OUTCOME_USAGE;
	}
	if (!c->names)
		return show_name(sh, c, kind, NULL);
	for (unsigned i = 0; i < c->names && !outcome; i++)
		outcome = show_name(sh, c, kind, c->name[i]);
	return outcome;
}
