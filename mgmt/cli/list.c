/* SPDX-License-Identifier: BSD-3-Clause */
/* list: the configuration, in the words that make it. */
#include <stdlib.h>
#include <string.h>

#include "cli/conf_text.h"
#include "cli/shell.h"
#include "cli/utf8.h"
#include "ipc/ipc.h"
#include "model/model.h"

struct lister {
	struct shell *shell;
	const struct cli_command *command;
	const char **fields;
	unsigned long rows; /* JSON: printed so far */
};

static void print_block(struct lister *l, const char *block)
{
	FILE *out = l->shell->out;
	size_t n = strlen(block);

	if (!l->command->fields && !(l->command->flags & CLI_ONE_LINE)) {
		fprintf(out, "%s%s", block, n && block[n - 1] == '\n' ? "" : "\n");
		return;
	}
	char *chosen = NULL;
	size_t size;
	FILE *memory = l->command->fields ? open_memstream(&chosen, &size) : NULL;
	if (memory) {
		conf_print_fields(block, l->fields, l->command->fields, memory);
		fclose(memory);
	}
	if (l->command->flags & CLI_ONE_LINE)
		conf_print_one_line(chosen ? chosen : block, out);
	else
		fputs(chosen ? chosen : block, out);
	free(chosen);
}

/* Lines stay lines on a terminal, all else that is unprintable is shown as \xHH. */
static void clean_lines(const char *text, FILE *out)
{
	while (*text) {
		size_t n = strcspn(text, "\n");
		char *line = strndup(text, n), *clean = line ? utf8_clean(line) : NULL;

		fputs(clean ? clean : "", out);
		if (text[n])
			fputc('\n', out);
		text += n + (text[n] == '\n');
		free(line);
		free(clean);
	}
}

/* The text that print gives, to be freed; frees what it is given. */
static char *converted(char *text, void (*print)(const char *, FILE *))
{
	char *out = NULL;
	size_t size;
	FILE *memory = text ? open_memstream(&out, &size) : NULL;

	if (memory) {
		print(text, memory);
		fclose(memory);
	}
	free(text);
	return out;
}

static enum outcome conf_row(void *arg, const json_t *row)
{
	struct lister *l = arg;
	char *block = converted(ipc_text_get(row, NULL), conf_print_short);

	if (l->shell->terminal)
		block = converted(block, clean_lines);
	if (block)
		print_block(l, block);
	free(block);
	return shell_output_state(l->shell);
}

/* Only what names the object, and the fields that were asked for. */
static json_t *chosen_fields(const struct lister *l, const json_t *row)
{
	static const char *const always[] = {"kind", "name", "partition", "fullPath"};
	const struct kind *k = &model_kinds[l->command->kind];
	json_t *out = json_object();

	for (size_t i = 0; i < sizeof(always) / sizeof(always[0]); i++)
		json_object_set(out, always[i], json_object_get(row, always[i]));
	for (unsigned i = 0; i < l->command->fields; i++) {
		const char *name = l->fields[i], *rest = NULL;

		for (unsigned f = 0; f < k->field_count; f++) {
			const struct field *field = &k->fields[f];

			if (field->group && !strcmp(field->group, name))
				rest = field->rest_group;
			else if (!field->group && !strcmp(field->name, name))
				rest = field->rest;
			else if (!field->group && field->opposite && !strcmp(field->opposite, name))
				rest = field->rest_opposite;
		}
		for (int child = k->child; !rest && child >= 0; child = model_kinds[child].sibling)
			if (!strcmp(name, model_kinds[child].words))
				rest = model_kinds[child].rest;
		const json_t *value = rest ? json_object_get(row, rest) : NULL;
		char reference[80];
		snprintf(reference, sizeof(reference), "%sReference", rest ? rest : "");
		if (!value)
			json_object_set(out, reference, json_object_get(row, reference));
		else
			json_object_set(out, rest, (json_t *)value);
	}
	return out;
}

static enum outcome rest_row(void *arg, const json_t *row)
{
	struct lister *l = arg;
	json_t *chosen = l->command->fields ? chosen_fields(l, row) : json_incref((json_t *)row);

	fputs(l->rows++ ? ",\n" : "[\n", l->shell->out);
	json_dumpf(chosen, l->shell->out,
		JSON_COMPACT | JSON_ENCODE_ANY | (l->shell->terminal ? JSON_ENSURE_ASCII : 0));
	json_decref(chosen);
	return shell_output_state(l->shell);
}

static enum outcome list_name(struct lister *l, const struct word *name)
{
	const struct cli_command *c = l->command;
	bool all = (c->flags & CLI_ALL_PROPERTIES) || c->fields;
	json_t *request = json_pack("{s:s, s:s, s:b}", "op", "list", "form",
		l->shell->json ? "rest" : "conf", "all", all);

	if (*c->component)
		json_object_set_new(request, "kind", json_string(c->component));
	if (c->flags & CLI_HOLDS)
		json_object_set_new(request, "holds", json_true());
	if (name)
		shell_set_text(request, "name", name->text, name->length);
	return session_ask(
		&l->shell->session, request, l->shell->json ? rest_row : conf_row, l, NULL);
}

enum outcome list_run(struct shell *sh, const struct cli_command *c)
{
	struct lister l = {.shell = sh, .command = c};
	enum outcome outcome = OUTCOME_OK;

	l.fields = calloc(c->fields + 1, sizeof(*l.fields));
	for (unsigned i = 0; l.fields && i < c->fields; i++)
		l.fields[i] = c->field[i]->text;
	if (!l.fields)
		return OUTCOME_REFUSED;
	if (!c->names)
		outcome = list_name(&l, NULL);
	for (unsigned i = 0; i < c->names && !outcome; i++)
		outcome = list_name(&l, c->name[i]);
	if (sh->json && !outcome)
		fputs(l.rows ? "\n]\n" : "[]\n", sh->out);
	free(l.fields);
	return outcome;
}
