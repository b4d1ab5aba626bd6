/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/command.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/component.h"
#include "cli/drain_words.h"
#include "cli/filter.h"
#include "cli/log_words.h"
#include "model/model.h"

static const char *const verb_name[CLI_VERBS] = {
	[CLI_EMPTY] = "",
	[CLI_CREATE] = "create",
	[CLI_DELETE] = "delete",
	[CLI_HELP] = "help",
	[CLI_LIST] = "list",
	[CLI_LOAD] = "load",
	[CLI_MODIFY] = "modify",
	[CLI_PUBLISH] = "publish",
	[CLI_QUIT] = "quit",
	[CLI_RESET_STATS] = "reset-stats",
	[CLI_RUN] = "run",
	[CLI_SAVE] = "save",
	[CLI_SHOW] = "show",
	[CLI_SUBMIT] = "submit",
	[CLI_TEST] = "test",
	[CLI_VERIFY_VERB] = "verify",
};

const char *cli_verb_name(enum cli_verb verb)
{
	return verb_name[verb];
}

/* Where a parse stands: the word that comes next. */
struct cursor {
	struct cli_command *command;
	struct words_error *error;
	const struct word *at;
	uint32_t end; /* position that errors about a missing word show */
};

static int refuse(struct cursor *c, const struct word *w, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

static int refuse(struct cursor *c, const struct word *w, const char *format, ...)
{
	va_list ap;

	c->error->position = w ? w->position : c->end;
	c->error->incomplete = false;
	va_start(ap, format);
	vsnprintf(c->error->reason, sizeof(c->error->reason), format, ap);
	va_end(ap);
	return -EINVAL;
}

static const struct word *take(struct cursor *c)
{
	const struct word *w = c->at;

	if (w)
		c->at = w->next;
	return w;
}

static bool take_keyword(struct cursor *c, const char *keyword)
{
	if (!word_is(c->at, keyword) || c->at->has_block)
		return false;
	c->at = c->at->next;
	return true;
}

static int refuse_rest(struct cursor *c)
{
	if (!c->at)
		return 0;
	return refuse(c, c->at, "\"%.60s\" is too much here", c->at->text);
}

static int parse_verb(struct cursor *c)
{
	static const struct {
		const char *word;
		enum cli_verb verb;
	} other[] = {{"exit", CLI_QUIT}, {"?", CLI_HELP}};
	const struct word *w = take(c);

	for (unsigned v = CLI_CREATE; v < CLI_VERBS; v++)
		if (word_is(w, verb_name[v]))
			c->command->verb = (enum cli_verb)v;
	for (size_t i = 0; i < sizeof(other) / sizeof(other[0]); i++)
		if (word_is(w, other[i].word))
			c->command->verb = other[i].verb;
	if (c->command->verb == CLI_EMPTY)
		return refuse(c, w,
			"unknown command \"%.40s\"; known are create, delete, help, list, load, "
			"modify, publish, "
			"quit, reset-stats, run, save, show, submit, test, "
			"verify",
			w->text);
	if (w->has_block)
		return refuse(c, w, "no block may follow \"%s\"", w->text);
	return 0;
}

static int parse_component(struct cursor *c)
{
	struct component found;
	char reason[sizeof(c->error->reason)];
	int status = component_find(c->at, &found, reason, sizeof(reason));

	if (status)
		return refuse(c, c->at, "%s", reason);
	c->command->target = found.target;
	c->command->kind = found.kind;
	snprintf(c->command->component, sizeof(c->command->component), "%s", found.words);
	for (unsigned i = 0; i < found.used; i++)
		take(c);
	return 0;
}

/* Which targets a verb knows, as bits. */
static unsigned targets_of(enum cli_verb verb)
{
	switch (verb) {
	case CLI_CREATE:
		return 1u << TARGET_KIND | 1u << TARGET_TRANSACTION | 1u << TARGET_DRAIN;
	case CLI_DELETE:
		return 1u << TARGET_KIND | 1u << TARGET_TRANSACTION | 1u << TARGET_CONNECTION |
		       1u << TARGET_DRAIN;
	case CLI_LIST:
		return 1u << TARGET_EVERYTHING | 1u << TARGET_MODULE | 1u << TARGET_KIND |
		       1u << TARGET_TRANSACTION | 1u << TARGET_DRAIN;
	case CLI_LOAD:
	case CLI_SAVE:
		return 1u << TARGET_CONFIG;
	case CLI_MODIFY:
	case CLI_PUBLISH:
	case CLI_RESET_STATS:
		return 1u << TARGET_KIND;
	case CLI_SHOW:
		return 1u << TARGET_KIND | 1u << TARGET_CONFIG | 1u << TARGET_CONNECTION |
		       1u << TARGET_DATAPLANE | 1u << TARGET_VERSION | 1u << TARGET_NEIGHBOUR |
		       1u << TARGET_HISTORY | 1u << TARGET_DRAIN | 1u << TARGET_EVENT |
		       1u << TARGET_LOG | 1u << TARGET_RECEIVER;
	case CLI_TEST:
		return 1u << TARGET_RECEIVER | 1u << TARGET_KIND;
	case CLI_VERIFY_VERB:
		return 1u << TARGET_LOG;
	case CLI_SUBMIT:
		return 1u << TARGET_TRANSACTION;
	default:
		return 1u << TARGET_NONE;
	}
}

static int refuse_module(struct cursor *c)
{
	char reason[sizeof(c->error->reason)];

	component_refuse(c->command->component, c->at, reason, sizeof(reason));
	return refuse(c, c->at, "%s", reason);
}

bool command_is_monitors(const struct cli_command *c)
{
	static const char words[] = "ltm monitor";
	size_t n = sizeof(words) - 1;

	return c->verb == CLI_SHOW && !strncmp(c->component, words, n) &&
	       (c->component[n] == ' ' || !c->component[n]);
}

static int check_target(struct cursor *c, const struct word *where)
{
	const struct cli_command *cmd = c->command;

	if (targets_of(cmd->verb) >> cmd->target & 1 || command_is_monitors(cmd))
		return 0;
	if (cmd->target == TARGET_EVERYTHING)
		return refuse(c, NULL, "%s what? A component is missing, such as \"%s\"",
			verb_name[cmd->verb],
			cmd->verb == CLI_SAVE || cmd->verb == CLI_LOAD ? "sys config" : "ltm pool");
	if (cmd->target == TARGET_MODULE)
		return refuse_module(c);
	return refuse(c, where, "%s does not work on %s", verb_name[cmd->verb], cmd->component);
}

/* Rooms for as many names and fields as there are words. */
static int make_room(struct cli_command *cmd)
{
	cmd->name = calloc(cmd->words.count + 1, sizeof(*cmd->name));
	cmd->field = calloc(cmd->words.count + 1, sizeof(*cmd->field));
	return cmd->name && cmd->field ? 0 : -ENOMEM;
}

static int add_fields(struct cursor *c, const struct word *block)
{
	for (; block; block = block->next) {
		if (!component_has_field(c->command->kind, block->text))
			return refuse(c, block, "%s has no property \"%.60s\"",
				c->command->component, block->text);
		c->command->field[c->command->fields++] = block;
	}
	return 0;
}

static const struct {
	const char *word;
	unsigned flag;
	enum cli_verb verb;
} list_flags[] = {
	{"all", CLI_ALL, CLI_LIST},
	{"one-line", CLI_ONE_LINE, CLI_LIST},
	{"all-properties", CLI_ALL_PROPERTIES, CLI_LIST},
	{"non-default-properties", 0, CLI_LIST},
	{"recursive", 0, CLI_LIST},
	{"holds", CLI_HOLDS, CLI_LIST},
	{"all", CLI_ALL, CLI_SHOW},
	{"all", CLI_ALL, CLI_RESET_STATS},
	{"members", CLI_MEMBERS, CLI_SHOW},
};

static bool take_flag(struct cursor *c)
{
	for (size_t i = 0; i < sizeof(list_flags) / sizeof(list_flags[0]); i++) {
		if (list_flags[i].verb != c->command->verb)
			continue;
		if (take_keyword(c, list_flags[i].word)) {
			c->command->flags |= list_flags[i].flag;
			return true;
		}
	}
	return false;
}

/* list, show and reset-stats of configured objects: names, properties and flags in any order. */
static int parse_names(struct cursor *c)
{
	struct cli_command *cmd = c->command;

	while (c->at) {
		if (take_flag(c))
			continue;
		if (cmd->kind < 0)
			return refuse_module(c);
		const struct word *w = take(c);
		if (!w->quoted && cmd->verb == CLI_LIST && !w->has_block &&
			component_has_field(cmd->kind, w->text)) {
			cmd->field[cmd->fields++] = w;
			continue;
		}
		if (!w->length)
			return refuse(c, w, "the name of %s is empty", cmd->component);
		cmd->name[cmd->names++] = w;
		if (!w->has_block)
			continue;
		int status = cmd->verb == CLI_LIST
				     ? add_fields(c, w->child)
				     : refuse(c, w, "no block may follow \"%.60s\"", w->text);
		if (status)
			return status;
	}
	if ((cmd->flags & CLI_MEMBERS) && strcmp(cmd->component, "ltm pool"))
		return refuse(c, NULL, "only ltm pool has members to show");
	return 0;
}

static bool has_option(const struct cli_command *cmd, const char *name)
{
	for (unsigned i = 0; i < cmd->options; i++)
		if (!strcmp(cmd->option[i].name->text, name))
			return true;
	return false;
}

static int parse_filter(struct cursor *c)
{
	struct cli_command *cmd = c->command;

	while (c->at) {
		const struct word *w = take(c);
		const struct filter_word *f = w->quoted ? NULL : filter_find(w->text);
		char reason[160];
		uint32_t number;

		if (word_is(w, "all")) {
			cmd->flags |= CLI_ALL;
			continue;
		}
		if (!f)
			return refuse(c, w,
				"sys connection is not selected by \"%.40s\"; see \"help sys "
				"connection\"",
				w->text);
		if (has_option(cmd, w->text))
			return refuse(c, w, "%s is given twice", w->text);
		const struct word *value = take(c);
		if (!value)
			return refuse(
				c, NULL, "%s: its value is missing (%s)", w->text, f->sentence);
		if (filter_check(f, value->text, &number, reason, sizeof(reason)))
			return refuse(c, value, "%s", reason);
		cmd->option[cmd->options++] = (struct cli_option){.name = w, .value = value};
	}
	if (has_option(cmd, "member") && !has_option(cmd, "pool"))
		return refuse(c, NULL, "member needs its pool: pool web member 10.0.0.1:80");
	if (cmd->verb == CLI_DELETE && !cmd->options && !(cmd->flags & CLI_ALL))
		return refuse(c, NULL,
			"delete sys connection would end every connection: say which, or \"all\"");
	return 0;
}

/* A number of something, as the command's name. */
static int parse_number(struct cursor *c, const char *of)
{
	const struct word *w = take(c);

	if (w->has_block || !w->length || strspn(w->text, "0123456789") != w->length ||
		w->length > 18)
		return refuse(c, w, "\"%.40s\" is not the number of %s", w->text, of);
	c->command->name[c->command->names++] = w;
	return 0;
}

static int parse_generation(struct cursor *c)
{
	if (!c->at)
		return refuse(c, NULL, "which generation? \"show sys history\" lists them");
	return parse_number(c, "a commit");
}

static int parse_event(struct cursor *c)
{
	int status = 0;

	while (!status && c->at) {
		if (take_keyword(c, "follow"))
			c->command->flags |= CLI_FOLLOW;
		else if (c->command->names || !take_keyword(c, "after"))
			status = refuse_rest(c);
		else if (!c->at)
			status = refuse(c, NULL, "after which event? Its number is missing");
		else
			status = parse_number(c, "an event");
	}
	return status;
}

/* show sys log: which records, in any order. */
static int parse_log(struct cursor *c)
{
	struct cli_command *cmd = c->command;
	static const struct {
		const char *word;
		unsigned flag;
	} flags[] = {
		{"ltm", 0}, {"audit", CLI_AUDIT}, {"follow", CLI_FOLLOW}, {"detail", CLI_DETAIL}};

	while (c->at) {
		const struct word *w = c->at, *value;
		const struct log_word *known = w->quoted ? NULL : log_word_find(w->text);
		size_t i = 0;

		while (i < sizeof(flags) / sizeof(flags[0]) && !take_keyword(c, flags[i].word))
			i++;
		if (i < sizeof(flags) / sizeof(flags[0])) {
			cmd->flags |= flags[i].flag;
			continue;
		}
		take(c);
		if (!known)
			return refuse(c, w,
				"sys log is not selected by \"%.40s\"; see \"help sys log\"",
				w->text);
		if (has_option(cmd, w->text))
			return refuse(c, w, "%s is given twice", w->text);
		if (!(value = take(c)))
			return refuse(
				c, NULL, "%s: its value is missing (%s)", w->text, known->sentence);
		if (w->has_block || value->has_block)
			return refuse(c, value, "no block may follow \"%.60s\"", value->text);
		cmd->option[cmd->options++] = (struct cli_option){w, value};
	}
	return 0;
}

static int parse_rollback(struct cursor *c)
{
	struct cli_command *cmd = c->command;
	int status = parse_generation(c);

	cmd->flags |= CLI_ROLLBACK;
	while (!status && c->at) {
		if (take_keyword(c, "verify"))
			cmd->flags |= CLI_VERIFY;
		else if (take_keyword(c, "with-live"))
			cmd->flags |= CLI_WITH_LIVE;
		else
			status = refuse_rest(c);
	}
	return status;
}

static int parse_history(struct cursor *c)
{
	int status = c->at ? parse_generation(c) : 0;

	return status ? status : refuse_rest(c);
}

static int parse_config(struct cursor *c)
{
	struct cli_command *cmd = c->command;

	if (cmd->verb == CLI_LOAD && take_keyword(c, "rollback"))
		return parse_rollback(c);
	while (c->at) {
		const struct word *w = c->at;

		if (cmd->verb == CLI_SHOW && take_keyword(c, "diff")) {
			cmd->flags |= CLI_DIFFERENCE;
		} else if (cmd->verb == CLI_LOAD && take_keyword(c, "verify")) {
			cmd->flags |= CLI_VERIFY;
		} else if (cmd->verb == CLI_LOAD && take_keyword(c, "default")) {
			cmd->flags |= CLI_DEFAULT;
		} else if (cmd->verb == CLI_LOAD && take_keyword(c, "merge")) {
			cmd->flags |= CLI_MERGE;
		} else if (cmd->verb == CLI_SAVE && take_keyword(c, "force")) {
			cmd->flags |= CLI_FORCE;
		} else if (cmd->verb == CLI_LOAD && !cmd->options && take_keyword(c, "file")) {
			const struct word *value = take(c);

			if (!value || !value->length)
				return refuse(c, value, "file: its name is missing");
			cmd->option[cmd->options++] = (struct cli_option){w, value};
		} else {
			return refuse_rest(c);
		}
	}
	if ((cmd->flags & CLI_DEFAULT) && (cmd->options || cmd->flags & CLI_MERGE))
		return refuse(c, NULL, "default goes neither with merge nor with a file");
	if ((cmd->flags & CLI_MERGE) && !cmd->options)
		return refuse(c, NULL, "merge needs a file: load sys config merge file F");
	return 0;
}

static int parse_dataplane(struct cursor *c)
{
	static const struct {
		const char *word;
		unsigned flag;
	} part[] = {{"drops", CLI_DROPS}, {"workers", CLI_WORKERS}, {"memory", CLI_MEMORY}};

	for (size_t i = 0; i < sizeof(part) / sizeof(part[0]); i++) {
		if (take_keyword(c, part[i].word)) {
			c->command->flags |= part[i].flag;
			return refuse_rest(c);
		}
	}
	if (c->at)
		return refuse(c, c->at,
			"sys dataplane has no \"%.40s\"; known are drops, workers, memory",
			c->at->text);
	return 0;
}

/* One word of a drain with its value. */
static int parse_drain_word(struct cursor *c)
{
	struct cli_command *cmd = c->command;
	const struct word *w = take(c), *value = NULL;
	const struct drain_word *d = w->quoted ? NULL : drain_word_find(cmd->verb, w->text);
	char reason[200];
	uint32_t seconds;

	if (!d)
		return refuse(c, w, "%s ltm drain has no \"%.40s\"; see \"help ltm drain\"",
			verb_name[cmd->verb], w->text);
	if (has_option(cmd, w->text))
		return refuse(c, w, "%s is given twice", w->text);
	if (d->type != DRAIN_WORD_FLAG) {
		value = take(c);
		if (!value)
			return refuse(
				c, NULL, "%s: its value is missing (%s)", w->text, d->sentence);
		if (drain_word_check(d, value->text, &seconds, reason, sizeof(reason)))
			return refuse(c, value, "%s", reason);
	}
	const struct word *last = value && !w->has_block ? value : w;
	if (last->has_block)
		return refuse(c, last, "no block may follow \"%.60s\"", last->text);
	cmd->option[cmd->options++] = (struct cli_option){.name = w, .value = value};
	return 0;
}

static int parse_drain(struct cursor *c)
{
	struct cli_command *cmd = c->command;
	int status = 0;

	if (cmd->verb != CLI_CREATE && c->at && !drain_word_find(cmd->verb, c->at->text)) {
		cmd->name[cmd->names++] = take(c);
		if (!drain_word_id(cmd->name[0]->text))
			return refuse(c, cmd->name[0], "\"%.40s\" is not the number of a drain",
				cmd->name[0]->text);
	}
	while (!status && c->at)
		status = parse_drain_word(c);
	if (status)
		return status;
	if (cmd->verb == CLI_CREATE && has_option(cmd, "pool") != has_option(cmd, "member"))
		return refuse(c, NULL, "pool and member go together: pool web member 10.0.0.1:80");
	if (cmd->verb == CLI_CREATE && has_option(cmd, "node") == has_option(cmd, "pool"))
		return refuse(
			c, NULL, "what shall be drained? node NAME, or pool NAME member NAME");
	if (cmd->verb == CLI_DELETE && !cmd->names)
		return refuse(c, NULL, "delete ltm drain which? Its number is missing");
	if (has_option(cmd, "wait") && cmd->verb == CLI_SHOW && !cmd->names)
		return refuse(c, NULL, "wait for which? Its number is missing");
	return 0;
}

/* show ltm monitor [TYPE [NAME ...]]: of which servers, in any order. */
static int parse_monitors(struct cursor *c)
{
	static const char *const servers[] = {"pool", "member", "node"};
	struct cli_command *cmd = c->command;

	while (c->at) {
		const struct word *w = take(c), *value = NULL;
		bool option = false;

		for (size_t i = 0; i < sizeof(servers) / sizeof(servers[0]); i++)
			option = option || word_is(w, servers[i]);
		if (option && has_option(cmd, w->text))
			return refuse(c, w, "%s is given twice", w->text);
		if (option && !(value = take(c)))
			return refuse(c, NULL, "%s: its name is missing", w->text);
		if (!option && cmd->kind < 0) {
			c->at = w;
			return refuse_module(c);
		}
		const struct word *last = value ? value : w;
		if (w->has_block || last->has_block)
			return refuse(c, last, "no block may follow \"%.60s\"", last->text);
		if (!last->length)
			return refuse(c, last, "a name is empty");
		if (option)
			cmd->option[cmd->options++] = (struct cli_option){w, value};
		else
			cmd->name[cmd->names++] = w;
	}
	if (has_option(cmd, "member") && !has_option(cmd, "pool"))
		return refuse(c, NULL, "member needs its pool: pool web member 10.0.0.1:80");
	if (has_option(cmd, "node") && has_option(cmd, "pool"))
		return refuse(c, NULL, "either a node or a pool");
	return 0;
}

/* Receivers by their names; a test is of one. */
static int parse_receivers(struct cursor *c)
{
	struct cli_command *cmd = c->command;

	if (cmd->verb == CLI_TEST && cmd->target == TARGET_KIND && cmd->kind != KIND_ALERT)
		return refuse(c, NULL, "test works on sys alert and sys receiver");
	if (cmd->verb == CLI_TEST && !c->at)
		return refuse(c, NULL, "test %s which? A name is missing", cmd->component);
	while (c->at) {
		const struct word *w = take(c);

		if (w->has_block || !w->length)
			return refuse(c, w, "\"%.60s\" is not the name of a receiver", w->text);
		cmd->name[cmd->names++] = w;
		if (cmd->verb == CLI_TEST)
			return refuse_rest(c);
	}
	return 0;
}

static int parse_edit(struct cursor *c)
{
	struct cli_command *cmd = c->command;

	if (!c->at)
		return refuse(c, NULL, "%s %s which? A name is missing", verb_name[cmd->verb],
			cmd->component);
	cmd->rest = c->at;
	if (cmd->verb == CLI_PUBLISH && cmd->kind != KIND_POLICY)
		return refuse(c, c->at, "publish works on ltm policy alone");
	if (cmd->verb == CLI_PUBLISH && (c->at->next || c->at->has_block))
		return refuse(c, c->at, "publish takes the name of a draft and nothing else");
	return 0;
}

static int parse_arguments(struct cursor *c)
{
	if (command_is_monitors(c->command))
		return parse_monitors(c);
	switch (c->command->target) {
	case TARGET_CONNECTION:
		return parse_filter(c);
	case TARGET_CONFIG:
		return parse_config(c);
	case TARGET_HISTORY:
		return parse_history(c);
	case TARGET_EVENT:
		return parse_event(c);
	case TARGET_LOG:
		return c->command->verb == CLI_SHOW ? parse_log(c) : refuse_rest(c);
	case TARGET_RECEIVER:
		return parse_receivers(c);
	case TARGET_DATAPLANE:
		return parse_dataplane(c);
	case TARGET_DRAIN:
		return parse_drain(c);
	case TARGET_EVERYTHING:
	case TARGET_MODULE:
		return parse_names(c);
	case TARGET_KIND:
		if (c->command->verb == CLI_TEST)
			return parse_receivers(c);
		return command_is_edit(c->command) ? parse_edit(c) : parse_names(c);
	default:
		return refuse_rest(c);
	}
}

static int parse_command(struct cursor *c)
{
	struct cli_command *cmd = c->command;
	int status = parse_verb(c);

	if (status)
		return status;
	if (cmd->verb == CLI_QUIT)
		return refuse_rest(c);
	if (cmd->verb == CLI_HELP) {
		cmd->rest = c->at;
		return 0;
	}
	if (cmd->verb == CLI_RUN)
		return refuse(c, c->at, "nothing can be run here yet");

	const struct word *where = c->at;
	status = parse_component(c);
	if (!status)
		status = check_target(c, where);
	return status ? status : parse_arguments(c);
}

/* "--json" at the end of a line asks for its answer as JSON; it is no word of the command. */
static bool take_json(struct words *words)
{
	struct word *last = words->first, *before = NULL;

	while (last && last->next) {
		before = last;
		last = last->next;
	}
	if (!before || !word_is(last, "--json") || last->has_block)
		return false;
	before->next = NULL;
	return true;
}

int command_parse(
	const char *text, size_t length, struct cli_command *out, struct words_error *error)
{
	struct cursor c = {.command = out, .error = error, .end = (uint32_t)length};

	*out = (struct cli_command){.kind = -1};
	int status = words_parse(text, length, &out->words, error);
	if (!status)
		status = make_room(out);
	if (!status && out->words.first) {
		out->json = take_json(&out->words);
		c.at = out->words.first;
		status = parse_command(&c);
	}
	if (status)
		command_fini(out);
	return status;
}

void command_fini(struct cli_command *c)
{
	words_fini(&c->words);
	free(c->name);
	free(c->field);
	*c = (struct cli_command){.kind = -1};
}

bool command_is_edit(const struct cli_command *c)
{
	return c->target == TARGET_KIND && (c->verb == CLI_CREATE || c->verb == CLI_MODIFY ||
						   c->verb == CLI_DELETE || c->verb == CLI_PUBLISH);
}

/* Bytes that the words take; writes them if out is given. */
static size_t write_words(const struct word *w, char *out)
{
	size_t at = 0;

	for (; w; w = w->next) {
		if (out)
			out[at] = ' ';
		at++;
		at += word_quote(
			w->text, w->length, w->quoted, out ? out + at : NULL, out ? SIZE_MAX : 0);
		if (!w->has_block)
			continue;
		if (out)
			memcpy(out + at, " {", 2);
		at += 2 + write_words(w->child, out ? out + at + 2 : NULL);
		if (out)
			memcpy(out + at, " }", 2);
		at += 2;
	}
	return at;
}

const char *command_edit_verb(const struct cli_command *c)
{
	return verb_name[c->verb == CLI_PUBLISH ? CLI_MODIFY : c->verb];
}

char *command_edit_text(const struct cli_command *c)
{
	const char *tail = c->verb == CLI_PUBLISH ? " publish" : "";
	size_t head = strlen(c->component), size = write_words(c->rest, NULL);
	char *out = malloc(head + size + strlen(tail) + 1);

	if (!out)
		return NULL;
	memcpy(out, c->component, head);
	write_words(c->rest, out + head);
	strcpy(out + head + size, tail);
	return out;
}
