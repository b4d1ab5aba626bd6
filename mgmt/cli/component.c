/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/component.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "model/model.h"

/* Components that are no configured objects. */
static const struct {
	const char *words;
	enum cli_target target;
} special[] = {
	{"cli transaction", TARGET_TRANSACTION},
	{"ltm drain", TARGET_DRAIN},
	{"net arp", TARGET_NEIGHBOUR},
	{"net ndp", TARGET_NEIGHBOUR},
	{"sys config", TARGET_CONFIG},
	{"sys connection", TARGET_CONNECTION},
	{"sys dataplane", TARGET_DATAPLANE},
	{"sys event", TARGET_EVENT},
	{"sys history", TARGET_HISTORY},
	{"sys log", TARGET_LOG},
	{"sys receiver", TARGET_RECEIVER},
	{"sys version", TARGET_VERSION},
};

static const size_t specials = sizeof(special) / sizeof(special[0]);

/* Words of the component number i, kinds of the model first; "" for one that nobody types; NULL at
 * the end. */
static const char *component_words(size_t i)
{
	if (i < MODEL_KINDS)
		return model_kinds[i].owner < 0 ? model_kinds[i].words : "";
	return i < MODEL_KINDS + specials ? special[i - MODEL_KINDS].words : NULL;
}

/* How many of the words from w on match all of text; 0 if they do not. */
static unsigned match_words(const struct word *w, const char *text)
{
	unsigned used = 0;

	while (*text) {
		size_t n = strcspn(text, " ");

		if (!w || w->quoted || w->length != n || memcmp(w->text, text, n))
			return 0;
		used++;
		if (w->has_block && text[n])
			return 0;
		w = w->next;
		text += n + (text[n] == ' ');
	}
	return used;
}

/* The module that the word names, written to out; NULL if there is none. */
static const char *module_known(const struct word *w, char out[16])
{
	const char *words;

	for (size_t i = 0; (words = component_words(i)); i++) {
		size_t n = strcspn(words, " ");

		if (n && n < 16 && w->length == n && !w->quoted && !memcmp(w->text, words, n))
			return strcpy(out, w->text);
	}
	return NULL;
}

/* Whether words go on behind the words of a module: "ltm", "ltm monitor". Then where, else NULL. */
static const char *behind(const char *words, const char *module)
{
	size_t n = strlen(module);

	return !strncmp(words, module, n) && words[n] == ' ' ? words + n + 1 : NULL;
}

/* A second word that several components share: "ltm monitor", "ltm profile". */
static bool module_extend(const struct word *w, char module[16])
{
	char longer[16];
	const char *words;

	if (!w || w->quoted ||
		snprintf(longer, sizeof(longer), "%s %s", module, w->text) >= (int)sizeof(longer))
		return false;
	for (size_t i = 0; (words = component_words(i)); i++)
		if (behind(words, longer)) {
			strcpy(module, longer);
			return true;
		}
	return false;
}

/* Adds a name to a list "a, b" unless it is in there. */
static void add_name(char *out, size_t size, const char *name, size_t length)
{
	size_t at = strlen(out);

	for (const char *p = out; *p; p += strspn(p, ", ")) {
		size_t n = strcspn(p, ",");

		if (n == length && !memcmp(p, name, n))
			return;
		p += n;
	}
	snprintf(out + at, size - at, "%s%.*s", at ? ", " : "", (int)length, name);
}

void component_list(const char *module, char *out, size_t size)
{
	const char *words;

	out[0] = 0;
	for (size_t i = 0; (words = component_words(i)); i++) {
		if (module)
			words = behind(words, module);
		if (words && *words)
			add_name(out, size, words, strcspn(words, " "));
	}
}

void component_refuse(const char *module, const struct word *w, char *reason, size_t size)
{
	char known[400];

	component_list(module, known, sizeof(known));
	if (w && !strcmp(module, "ltm monitor") && model_monitor_type_is_ltms(w->text))
		snprintf(
			reason, size, "this type of monitor is not supported; known are %s", known);
	else if (w)
		snprintf(reason, size, "unknown component \"%s %.40s\"; known are %s", module,
			w->text, known);
	else
		snprintf(reason, size, "%s what? Known are %s", module, known);
}

/* The longest component that the words start with: "ltm profile udp" before a shorter one. */
static bool find_whole(const struct word *w, struct component *out)
{
	const char *words;

	for (size_t i = 0; (words = component_words(i)); i++) {
		unsigned used = *words ? match_words(w, words) : 0;

		if (used <= out->used)
			continue;
		out->used = used;
		out->words = words;
		out->kind = i < MODEL_KINDS ? (int)i : -1;
		out->target = i < MODEL_KINDS ? TARGET_KIND : special[i - MODEL_KINDS].target;
	}
	return out->used > 0;
}

int component_find(const struct word *w, struct component *out, char *reason, size_t size)
{
	char known[400];

	*out = (struct component){.target = TARGET_EVERYTHING, .kind = -1, .words = ""};
	if (!w || find_whole(w, out))
		return 0;
	out->words = module_known(w, out->module);
	if (!out->words) {
		component_list(NULL, known, sizeof(known));
		snprintf(reason, size, "unknown module \"%.40s\"; known are %s", w->text, known);
		return -EINVAL;
	}
	out->target = TARGET_MODULE;
	out->used = module_extend(w->next, out->module) ? 2 : 1;
	return 0;
}

bool component_has_field(int kind, const char *name)
{
	if (kind < 0)
		return false;
	const struct kind *k = &model_kinds[kind];

	for (unsigned i = 0; i < k->field_count; i++) {
		const struct field *f = &k->fields[i];

		if (f->group ? !strcmp(f->group, name)
			     : !strcmp(f->name, name) ||
					(f->opposite && !strcmp(f->opposite, name)))
			return true;
	}
	for (int child = k->child; child >= 0; child = model_kinds[child].sibling)
		if (!strcmp(model_kinds[child].words, name))
			return true;
	return false;
}
