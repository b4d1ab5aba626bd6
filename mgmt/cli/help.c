/* SPDX-License-Identifier: BSD-3-Clause */
/* help: commands, components, and the properties of a kind as the schema describes them. */
#include <string.h>

#include "cli/component.h"
#include "cli/drain_words.h"
#include "cli/filter.h"
#include "cli/log_words.h"
#include "cli/shell.h"
#include "cli/table.h"
#include "model/model.h"

static const struct usage {
	const char *verb, *line;
} usages[] = {
	{"list", "list [COMPONENT [NAME ...] [PROPERTY ...]] [all-properties] [one-line] [holds]"},
	{"show", "show ltm node|pool|virtual|virtual-address [NAME ...]"},
	{"show", "show ltm pool [NAME ...] members"},
	{"show", "show ltm monitor [TYPE [NAME ...]] [pool NAME [member NAME]|node NAME]"},
	{"show", "show sys connection [FILTER ...]"},
	{"show", "show sys dataplane [drops|workers|memory]"},
	{"show", "show sys config [diff]"},
	{"show", "show sys history [GENERATION]"},
	{"show", "show sys event [after ID] [follow]"},
	{"show", "show sys log [ltm|audit] [WORD VALUE ...] [detail] [follow]"},
	{"verify", "verify sys log"},
	{"show", "show sys receiver|sys alert [NAME ...]"},
	{"test", "test sys receiver|sys alert NAME"},
	{"show", "show sys version"},
	{"show", "show net arp|ndp|interface"},
	{"create", "create COMPONENT NAME [PROPERTY VALUE ...]"},
	{"create", "create ltm drain node NAME|pool NAME member NAME [WORD ...]"},
	{"show", "show ltm drain [ID] [wait SECONDS]"},
	{"delete", "delete ltm drain ID [enable]"},
	{"create", "create cli transaction"},
	{"modify", "modify COMPONENT NAME PROPERTY VALUE ..."},
	{"publish", "publish ltm policy Drafts/NAME"},
	{"delete", "delete COMPONENT NAME ..."},
	{"delete", "delete sys connection FILTER ...|all"},
	{"delete", "delete cli transaction"},
	{"submit", "submit cli transaction"},
	{"save", "save sys config [force]"},
	{"load", "load sys config [verify] [merge] [file FILE]"},
	{"load", "load sys config default [verify]"},
	{"load", "load sys config rollback GENERATION [with-live] [verify]"},
	{"help", "help [COMMAND|COMPONENT]"},
	{"quit", "quit"},
};

static void help_usage(struct shell *sh, const char *verb)
{
	for (size_t i = 0; i < sizeof(usages) / sizeof(usages[0]); i++)
		if (!verb || !strcmp(usages[i].verb, verb))
			fprintf(sh->out, "  %s\n", usages[i].line);
}

static void help_general(struct shell *sh)
{
	char modules[128];

	fputs("Commands:\n", sh->out);
	help_usage(sh, NULL);
	component_list(NULL, modules, sizeof(modules));
	fprintf(sh->out,
		"Modules: %s (\"help ltm\" lists the components of ltm).\n"
		"Blocks are written { ... }; text with blanks or braces stands between "
		"\"quotes\".\n",
		modules);
}

/* What may be written as the value: the words, or the range, with its unit. */
static void field_values(const struct field *f, char *out, size_t size)
{
	size_t at = 0;

	out[0] = 0;
	if (f->default_only) { /* the rest of LTM's range is refused */
		snprintf(out, size, "%s", f->default_text ? f->default_text : "none");
		return;
	}
	if (f->type == TYPE_MONITOR_RULE) {
		snprintf(out, size, "%snone|NAME [and NAME ...]|min N of { NAME ... }",
			f->default_text && !strcmp(f->default_text, "default") ? "default|" : "");
		return;
	}
	if (f->type == TYPE_MONITOR_RULE)
		at = (size_t)snprintf(out, size, "none|%sA and B|min N of { A B }",
			strcmp(f->default_text, "none") ? "default|" : "");
	if (f->type == TYPE_DESTINATION)
		at = (size_t)snprintf(out, size, f->host ? "*|address" : "*:*|*:port|address:port");
	for (const struct field_word *w = f->words; w && w->text; w++)
		if (w->supported && at < size)
			at += (size_t)snprintf(out + at, size - at, "%s%s", at ? "|" : "", w->text);
	if (f->type == TYPE_INT && f->max && at < size)
		at += (size_t)snprintf(
			out + at, size - at, "%s%u-%u", at ? "|" : "", f->min, f->max);
	if (f->unit && at < size)
		snprintf(out + at, size - at, " %s", f->unit);
}

static void help_kind(struct shell *sh, const struct kind *k)
{
	struct table t;
	char name[80], values[200];

	table_init(&t, 4, 0);
	table_add(&t, "Property", "Values", "Default", "Meaning");
	for (unsigned i = 0; i < k->field_count; i++) {
		const struct field *f = &k->fields[i];

		snprintf(name, sizeof(name), "%s%s%s%s%s", f->group ? f->group : "",
			f->group ? " " : "", f->name, f->opposite ? "|" : "",
			f->opposite ? f->opposite : "");
		field_values(f, values, sizeof(values));
		table_add(&t, name, values, f->default_text, f->sentence);
	}
	fprintf(sh->out, "%s: %s\n", k->words, k->sentence);
	table_print(&t, 2, sh->out);
	table_fini(&t);
	for (int child = k->child; child >= 0; child = model_kinds[child].sibling)
		help_kind(sh, &model_kinds[child]);
}

static void help_connection(struct shell *sh)
{
	struct table t;

	table_init(&t, 2, 0);
	for (const struct filter_word *f = filter_words; f->name; f++)
		table_add(&t, f->name, f->sentence);
	fputs("sys connection: chosen by any of these, each with its value\n", sh->out);
	table_print(&t, 2, sh->out);
	table_fini(&t);
}

static void help_log(struct shell *sh)
{
	struct table t;

	table_init(&t, 2, 0);
	for (const struct log_word *w = log_words; w->name; w++)
		table_add(&t, w->name, w->sentence);
	fputs("sys log: the newest records of the journal, chosen by any of these, each with its "
	      "value;\n"
	      "  audit: what people and agents did; detail: all that a record has; follow: goes "
	      "on\n",
		sh->out);
	table_print(&t, 2, sh->out);
	table_fini(&t);
}

static void help_drain(struct shell *sh)
{
	struct table t;

	table_init(&t, 3, 0);
	for (const struct drain_word *w = drain_words; w->name; w++) {
		char values[40] = "";

		if (w->type == DRAIN_WORD_CHOICE)
			snprintf(values, sizeof(values), "%s|%s", w->choice[0], w->choice[1]);
		else if (w->type != DRAIN_WORD_FLAG)
			snprintf(values, sizeof(values), "%s",
				w->type == DRAIN_WORD_NAME	? "NAME"
				: w->type == DRAIN_WORD_SECONDS ? "SECONDS"
								: "TEXT");
		table_add(&t, w->name, values, w->sentence);
	}
	fputs("ltm drain: empties a server, so that it can be restarted without a broken "
	      "connection\n"
	      "  create ltm drain node NAME|pool NAME member NAME [force-offline] [timeout "
	      "SECONDS]\n"
	      "                   [cap-action none|reset] [stuck-time SECONDS] [reason TEXT]\n"
	      "                   [class operator|agent] [wait SECONDS]\n"
	      "  show ltm drain [ID] [wait SECONDS]\n"
	      "  list ltm drain [ID]\n"
	      "  delete ltm drain ID [enable]\n",
		sh->out);
	table_print(&t, 2, sh->out);
	table_fini(&t);
}

enum outcome help_run(struct shell *sh, const struct cli_command *c)
{
	struct component found;
	char text[400];

	if (!c->rest) {
		help_general(sh);
		return OUTCOME_OK;
	}
	for (size_t i = 0; i < sizeof(usages) / sizeof(usages[0]); i++) {
		if (word_is(c->rest, usages[i].verb)) {
			help_usage(sh, usages[i].verb);
			return OUTCOME_OK;
		}
	}
	int status = component_find(c->rest, &found, text, sizeof(text));
	const struct word *behind = found.used > 1 ? c->rest->next->next : c->rest->next;
	if (!status && found.target == TARGET_MODULE && behind) {
		component_refuse(found.words, behind, text, sizeof(text));
		status = -1;
	}
	if (status) {
		session_fail(&sh->session, "help: %s", text);
		return OUTCOME_USAGE;
	}
	if (found.target == TARGET_MODULE) {
		component_list(found.words, text, sizeof(text));
		fprintf(sh->out, "%s: %s\n", found.words, text);
	} else if (found.target == TARGET_CONNECTION) {
		help_connection(sh);
	} else if (found.target == TARGET_LOG) {
		help_log(sh);
	} else if (found.target == TARGET_DRAIN) {
		help_drain(sh);
	} else if (found.target == TARGET_KIND) {
		help_kind(sh, &model_kinds[found.kind]);
	} else {
		help_usage(sh, NULL);
	}
	return OUTCOME_OK;
}
