/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * From LTM's words to the text that libconfuse parses. libconfuse wants "key = value" and would expand
 * "${...}" and obey include(): here every value becomes a single-quoted string, in which it does neither,
 * and only words of the schema become keys.
 */
#include "ipc/ipc.h"
#include "model/model_internal.h"

struct words {
	struct model *m;
	struct lexer *lex;
	enum conf_use use;
	unsigned flags; /* enum load_flags */
	struct text *out;
	int out_line;
	struct model_error *err;
	enum token_type token; /* the next one, not yet used */
	enum model_kind kind;  /* of the block being read */
	char name[MODEL_NAME_MAX];
};

static int refuse(struct words *w, const char *field, const char *reason)
{
	w->m->line = w->m->file ? w->lex->word_line : 0;
	if (w->token == TOKEN_BAD)
		reason = w->lex->reason;
	return fail_named(w->m, w->err, -EINVAL, w->kind, w->name, field, "%s", reason);
}

static void next(struct words *w)
{
	w->token = lexer_next(w->lex);
}

static const char *word(const struct words *w)
{
	return w->lex->word.data;
}

/* A keyword is a word without quotes. */
static bool at(const struct words *w, const char *keyword)
{
	return w->token == TOKEN_WORD && !w->lex->quoted && !strcmp(word(w), keyword);
}

/* ---- output ---- */

static void put(struct words *w, const char *text)
{
	/* libconfuse counts lines: every token stands on its own */
	for (; w->out_line < w->lex->word_line; w->out_line++)
		text_add(w->out, "\n", 1);
	text_add(w->out, text, strlen(text));
	text_add(w->out, " ", 1);
}

/* A backslash is doubled twice, a line end hidden: libconfuse undoes one half, conf_unquote the other. */
static void put_value(struct words *w, const char *value)
{
	put(w, "");
	text_add(w->out, "'", 1);
	for (const char *p = value; *p;) {
		size_t plain = strcspn(p, "\\'\n");
		text_add(w->out, p, plain);
		p += plain;
		if (*p == '\\')
			text_add(w->out, "\\\\\\\\", 4);
		else if (*p)
			text_add(w->out, *p == '\n' ? "\\n" : "\\'", 2);
		p += *p != '\0';
	}
	text_add(w->out, "' ", 2);
}

void conf_unquote(char *value)
{
	char *to = value;

	for (const char *p = value; *p; p++) {
		if (*p == '\\' && p[1]) {
			p++;
			*to++ = *p == 'n' ? '\n' : *p;
		} else {
			*to++ = *p;
		}
	}
	*to = '\0';
}

static void put_option(struct words *w, const char *key, const char *value)
{
	put(w, key);
	put(w, "=");
	put_value(w, value);
}

/* ---- fields ---- */

static int read_value(struct words *w, const struct field *f)
{
	bool none = f->type == TYPE_STRING && at(w, "none");

	if (w->token != TOKEN_WORD)
		return refuse(w, f->name, "has no value");
	put_option(w, f->name, none ? "" : word(w));
	next(w);
	return 0;
}

static void rule_word(struct words *w, struct text *rule)
{
	text_printf(rule, "%s%s", rule->len ? " " : "", word(w));
	next(w);
}

/* "a and b and c"; one quoted word may hold it all. */
static void rule_all(struct words *w, struct text *rule)
{
	rule_word(w, rule);
	while (at(w, "and")) {
		rule_word(w, rule);
		if (w->token == TOKEN_WORD)
			rule_word(w, rule);
	}
}

/* "min 1 of { a b }"; without braces names are paths, no field begins like that. */
static void rule_min(struct words *w, struct text *rule)
{
	bool braces;

	for (unsigned i = 0; i < 3 && w->token == TOKEN_WORD; i++)
		rule_word(w, rule);
	braces = w->token == TOKEN_OPEN;
	if (braces) {
		text_printf(rule, " {");
		next(w);
	}
	while (w->token == TOKEN_WORD && (braces || *word(w) == '/'))
		rule_word(w, rule);
	if (braces && w->token == TOKEN_CLOSE) {
		text_printf(rule, " }");
		next(w);
	}
}

/* Whether the words make sense is seen when they are set. */
static int read_rule(struct words *w, const struct field *f)
{
	struct text rule = {0};
	int rc = 0;

	if (w->token != TOKEN_WORD)
		return refuse(w, f->name, "has no value");
	if (at(w, "min"))
		rule_min(w, &rule);
	else
		rule_all(w, &rule);
	if (rule.failed)
		rc = refuse(w, f->name, "no memory");
	else
		put_option(w, f->name, rule.data);
	text_fini(&rule);
	return rc;
}

/* "NAME VALUE"; "none" for all, "NAME none" for one. */
static int read_pair(struct words *w, const struct field *f)
{
	struct text pair = {0};
	int rc = 0;

	if (at(w, "none"))
		return read_value(w, f);
	if (w->token != TOKEN_WORD || !*word(w) || strpbrk(word(w), "= \t\n"))
		return refuse(w, f->name, "needs a name without blanks or =, and a value");
	text_printf(&pair, "%s=", word(w));
	next(w);
	if (w->token == TOKEN_WORD && !strchr(word(w), '\n')) {
		text_printf(&pair, "%s", at(w, "none") ? "" : word(w));
		put_option(w, "verb", "add");
		put_option(w, f->name, pair.data ? pair.data : "");
		next(w);
	} else {
		rc = refuse(w, f->name, "needs a value of one line");
	}
	text_fini(&pair);
	return rc;
}

static bool list_verb(const struct words *w)
{
	return at(w, "add") || at(w, "delete") || at(w, "replace-all-with");
}

/* LTM's form of an entry that is the default one: "NAME { default yes }". */
static int read_default_entry(struct words *w, const struct field *f)
{
	next(w);
	if (!at(w, "default"))
		return refuse(w, f->name, "an entry's block has default yes, and nothing else");
	next(w);
	if (!at(w, "yes"))
		return refuse(w, f->name, "default is yes");
	next(w);
	return w->token == TOKEN_CLOSE
		       ? 0
		       : refuse(w, f->name, "an entry's block has default yes, and nothing else");
}

/* The entries behind an opening brace. */
static int read_entries(struct words *w, const struct field *f, unsigned *count)
{
	next(w);
	while (w->token == TOKEN_WORD) {
		if ((*count)++)
			put(w, ",");
		put_value(w, word(w));
		next(w);
		if (w->token != TOKEN_OPEN || !f->default_entry)
			continue;
		int rc = read_default_entry(w, f);
		if (rc)
			return rc;
		next(w);
	}
	return w->token == TOKEN_CLOSE ? 0 : refuse(w, f->name, "the closing brace is missing");
}

static int read_list(struct words *w, const struct field *f)
{
	unsigned count = 0;

	if (list_verb(w)) {
		put_option(w, "verb", word(w));
		next(w);
		if (w->token != TOKEN_OPEN)
			return refuse(w, f->name, "needs its entries in braces");
	}
	if (w->token != TOKEN_OPEN)
		return read_value(w, f);
	put(w, f->name);
	put(w, "= {");
	int rc = read_entries(w, f, &count);
	if (rc)
		return rc;
	if (!count)
		put_value(w, "none");
	put(w, "}");
	next(w);
	return 0;
}

/* "NAME { column text ... }" into an object of JSON. */
static int read_row(struct words *w, const struct field *f, json_t *entries)
{
	json_t *row = json_object();

	json_array_append_new(entries, row);
	json_object_set_new(row, "name", ipc_text_new(word(w), strlen(word(w))));
	next(w);
	if (w->token != TOKEN_OPEN)
		return 0;
	for (next(w); w->token == TOKEN_WORD; next(w)) {
		const struct column *c = rows_column(f, word(w));
		if (!c)
			return refuse(w, word(w), "is no field of an entry");
		next(w);
		if (w->token != TOKEN_WORD)
			return refuse(w, c->name, "has no value");
		json_object_set_new(row, c->name, ipc_text_new(word(w), strlen(word(w))));
	}
	if (w->token != TOKEN_CLOSE)
		return refuse(w, f->name, "the closing brace is missing");
	next(w);
	return 0;
}

static int put_rows(struct words *w, const struct field *f, json_t *entries)
{
	char *text = json_dumps(entries, JSON_COMPACT);

	if (!text)
		return refuse(w, f->name, "no memory");
	put_option(w, f->name, text);
	free(text);
	return 0;
}

static int read_rows(struct words *w, const struct field *f)
{
	json_t *entries;
	int rc = 0;

	/* "modify" is the object's own verb */
	if (list_verb(w) || at(w, "modify")) {
		put_option(w, "verb", at(w, "modify") ? "change" : word(w));
		next(w);
	}
	if (at(w, "none"))
		return read_value(w, f);
	if (w->token != TOKEN_OPEN)
		return refuse(w, f->name, "needs its entries in braces");
	entries = json_array();
	next(w);
	while (!rc && w->token == TOKEN_WORD)
		rc = read_row(w, f, entries);
	if (!rc && w->token != TOKEN_CLOSE)
		rc = refuse(w, f->name, "the closing brace is missing");
	rc = rc ? rc : put_rows(w, f, entries);
	json_decref(entries);
	if (!rc)
		next(w);
	return rc;
}

static int read_field(struct words *w, const struct field *f)
{
	if (f->type == TYPE_FLAG) {
		put_option(w, f->name, word(w));
		next(w);
		return 0;
	}
	next(w);
	if (f->type == TYPE_MONITOR_RULE)
		return read_rule(w, f);
	if (f->pairs)
		return read_pair(w, f);
	if (f->type == TYPE_ROWS)
		return read_rows(w, f);
	return field_is_list(f) ? read_list(w, f) : read_value(w, f);
}

static bool kind_has_group(enum model_kind kind, const char *group)
{
	const struct kind *k = &model_kinds[kind];

	for (unsigned i = 0; i < k->field_count; i++)
		if (k->fields[i].group && !strcmp(k->fields[i].group, group))
			return true;
	return false;
}

static int read_group(struct words *w)
{
	char group[64];
	const struct field *f;
	int rc = 0;

	strncpy(group, word(w), sizeof(group) - 1);
	group[sizeof(group) - 1] = '\0';
	put(w, group);
	next(w);
	if (w->token != TOKEN_OPEN)
		return refuse(w, group, "needs a block in braces");
	put(w, "{");
	next(w);
	while (!rc && w->token == TOKEN_WORD) {
		f = model_field_find(w->kind, group, word(w));
		if (!f)
			return refuse(w, word(w), "is no field of this block");
		rc = read_field(w, f);
	}
	if (rc)
		return rc;
	if (w->token != TOKEN_CLOSE)
		return refuse(w, group, "the closing brace is missing");
	put(w, "}");
	next(w);
	return 0;
}

/* ---- holds ---- */

struct hold_words {
	unsigned bits;
	char *reason;
};

static int read_hold(struct words *w, struct hold_words *hold)
{
	if (w->token != TOKEN_OPEN)
		return refuse(w, "holds", "needs a block in braces for each class");
	for (next(w); w->token == TOKEN_WORD; next(w)) {
		bool reason = at(w, "reason"), session = at(w, "session");
		if (!reason && !session && !at(w, "state"))
			return refuse(w, "holds", "takes session, state and reason");
		next(w);
		if (w->token != TOKEN_WORD)
			return refuse(w, "holds", "has no value");
		if (reason) {
			free(hold->reason);
			hold->reason = strdup(word(w));
		} else if (!strcmp(word(w), session ? "user-disabled" : "user-down")) {
			hold->bits |= session ? HOLD_SESSION : HOLD_STATE;
		} else {
			return refuse(
				w, "holds", "takes session user-disabled and state user-down");
		}
	}
	if (w->token != TOKEN_CLOSE)
		return refuse(w, "holds", "the closing brace is missing");
	next(w);
	return 0;
}

static int read_holds_block(struct words *w, struct hold_words hold[HOLD_CLASSES])
{
	next(w);
	if (w->token != TOKEN_OPEN)
		return refuse(w, "holds", "needs a block in braces");
	next(w);
	while (w->token == TOKEN_WORD) {
		unsigned class = 0;
		while (class < HOLD_CLASSES && strcmp(hold_class_name[class], word(w)))
			class ++;
		if (class == HOLD_CLASSES)
			return refuse(
				w, "holds", "knows operator, agent, monitor, rule and system");
		next(w);
		int rc = read_hold(w, &hold[class]);
		if (rc)
			return rc;
	}
	if (w->token != TOKEN_CLOSE)
		return refuse(w, "holds", "the closing brace is missing");
	next(w);
	return 0;
}

/* All classes are written, so that the block says all; the others' own come and go at run time. */
static int read_holds(struct words *w)
{
	struct hold_words hold[HOLD_CLASSES] = {{0}};
	unsigned classes = w->flags & LOAD_STORE ? HOLD_CLASSES : HOLD_AGENT + 1;
	int rc = read_holds_block(w, hold);

	for (unsigned i = 0; !rc && i < classes; i++) {
		char bits[2] = {(char)('0' + hold[i].bits), '\0'};
		put(w, "hold = {");
		put_value(w, hold_class_name[i]);
		put(w, ",");
		put_value(w, bits);
		put(w, ",");
		put_value(w, hold[i].reason ? hold[i].reason : "");
		put(w, "}");
	}
	for (unsigned i = 0; i < HOLD_CLASSES; i++)
		free(hold[i].reason);
	return rc;
}

/* ---- blocks ---- */

static bool store_word(const struct words *w)
{
	return w->flags & LOAD_STORE &&
	       (at(w, "object-id") || at(w, "object-generation") || at(w, "object-reset"));
}

/* A word of the store and its number: of an object, or "id-floor" and "generation" of the whole. */
static int read_store_word(struct words *w)
{
	char key[24];

	strcpy(key, word(w));
	next(w);
	if (w->token != TOKEN_WORD)
		return refuse(w, key, "has no value");
	put_option(w, key, word(w));
	next(w);
	return 0;
}

static int read_children(struct words *w, enum model_kind kind);

/* One statement of an object's block. */
static int read_statement(struct words *w)
{
	const struct kind *k = &model_kinds[w->kind];
	const struct field *f;

	for (int child = k->child; child >= 0; child = model_kinds[child].sibling)
		if (at(w, model_kinds[child].words))
			return read_children(w, (enum model_kind)child);
	if (kind_has_group(w->kind, word(w)))
		return read_group(w);
	if (store_word(w))
		return read_store_word(w);
	f = model_field_find(w->kind, NULL, word(w));
	if (f && f->type == TYPE_HOLDS)
		return read_holds(w);
	if (!f || f->hidden)
		return refuse(w, word(w), "is no field of this kind of object");
	return read_field(w, f);
}

/* Statements up to the closing brace, or to the end where there is no brace. */
static int read_statements(struct words *w, bool braces)
{
	int rc = 0;

	while (!rc && w->token == TOKEN_WORD)
		rc = read_statement(w);
	if (rc)
		return rc;
	if (w->token != (braces ? TOKEN_CLOSE : TOKEN_END))
		return refuse(w, NULL,
			braces ? "the closing brace is missing" : "what follows makes no sense");
	if (braces)
		next(w);
	return 0;
}

static void name_set(struct words *w, const char *name)
{
	size_t len = strlen(name);

	if (len >= sizeof(w->name))
		len = sizeof(w->name) - 1;
	memcpy(w->name, name, len);
	w->name[len] = '\0';
}

/*
 * "NAME" or "NAME { ... }", with the verb that applies to it; bare: the block may lack its braces. In the
 * store the id comes first in the block, and is needed before the name makes the object.
 */
static int read_named(struct words *w, const char *section, const char *verb, bool bare)
{
	bool single = model_kinds[w->kind].name_form == NAME_SINGLE;
	char *name = strdup(single ? "" : word(w));
	bool all = !single && at(w, "all"), braces;
	int rc = 0;

	name_set(w, name ? name : "");
	put(w, section);
	put(w, "{");
	if (all && !strcmp(verb, "modify"))
		verb = "modify-all";
	if (all && !strcmp(verb, "delete"))
		verb = "delete-all";
	put_option(w, "verb", verb);
	if (!single)
		next(w);
	/* "delete ltm pool web members none" shall not take the pool away */
	if (w->use == CONF_DELETE && w->token != TOKEN_END) {
		free(name);
		return refuse(w, NULL, "delete takes a name and nothing else");
	}
	braces = w->token == TOKEN_OPEN;
	if (braces)
		next(w);
	if (braces && w->flags & LOAD_STORE && at(w, "object-id"))
		rc = read_store_word(w);
	put_option(w, "name", name ? name : "");
	free(name);
	if (!rc && (braces || bare))
		rc = read_statements(w, braces);
	put(w, "}");
	return rc;
}

static int read_children(struct words *w, enum model_kind kind)
{
	static const char *const plain[] = {[CONF_LOAD] = "put",
		[CONF_CREATE] = "add",
		[CONF_MODIFY] = "put",
		[CONF_DELETE] = "delete"};
	const char *section = model_kinds[kind].section;
	enum model_kind outer = w->kind;
	char outer_name[MODEL_NAME_MAX], verb[24];
	bool replace = false;
	int rc = 0;

	strcpy(outer_name, w->name);
	strcpy(verb, plain[w->use]);
	next(w);
	if (list_verb(w) || at(w, "modify")) {
		replace = at(w, "replace-all-with");
		strcpy(verb, replace ? "put" : word(w));
		next(w);
	} else if (w->use == CONF_MODIFY) {
		replace = true;
	}
	if (replace) {
		char option[48];
		snprintf(option, sizeof(option), CONF_ONLY "%s", section);
		put_option(w, "verb", option);
	}
	if (at(w, "none")) {
		next(w);
		return 0;
	}
	if (w->token != TOKEN_OPEN)
		return refuse(w, section, "needs its entries in braces");
	w->kind = kind;
	next(w);
	while (!rc && w->token == TOKEN_WORD)
		rc = read_named(w, section, verb, false);
	if (rc)
		return rc;
	w->kind = outer;
	strcpy(w->name, outer_name);
	if (w->token != TOKEN_CLOSE)
		return refuse(w, section, "the closing brace is missing");
	next(w);
	return 0;
}

/* ---- objects ---- */

enum { KIND_WORDS_USUAL = 3, KIND_WORDS_MAX = 5 };

static bool kind_begins(const char *words)
{
	size_t len = strlen(words);

	for (unsigned kind = 0; kind < MODEL_KINDS; kind++)
		if (!strncmp(model_kinds[kind].full, words, len) &&
			model_kinds[kind].full[len] == ' ')
			return true;
	return false;
}

/* "sys snmp communities": not the settings of "sys snmp", which have no name. */
static bool kind_goes_on(const struct words *w, const char *kind)
{
	struct text more = {0};
	bool goes_on = false;

	if (w->token != TOKEN_WORD)
		return false;
	text_printf(&more, "%s %s", kind, word(w));
	for (int k = 0; k < MODEL_KINDS && !goes_on && more.data; k++)
		goes_on = model_kinds[k].owner < 0 && !strcmp(model_kinds[k].words, more.data);
	text_fini(&more);
	return goes_on;
}

/* The kind at the start, one to five words. */
static int read_kind(struct words *w)
{
	int line = w->lex->word_line;
	char store[KIND_WORDS_MAX][64];
	const char *words[KIND_WORDS_MAX];
	unsigned used, count = 0;
	struct text all = {0};

	while (count < KIND_WORDS_MAX && w->token == TOKEN_WORD &&
		strlen(word(w)) < sizeof(store[0])) {
		strcpy(store[count], word(w));
		words[count] = store[count];
		text_printf(&all, "%s%s", count ? " " : "", word(w));
		count++;
		int kind = model_kind_find(words, count, &used);
		next(w);
		if (kind >= 0 && used == count && !kind_goes_on(w, all.data)) {
			w->kind = (enum model_kind)kind;
			text_fini(&all);
			return 0;
		}
		if (count >= KIND_WORDS_USUAL && all.data && !kind_begins(all.data))
			break;
	}
	if (w->token != TOKEN_BAD || !all.data)
		name_set(w, all.data ? all.data : "");
	text_fini(&all);
	if (w->token != TOKEN_BAD)
		w->lex->word_line =
			line; /* the words of a kind that is none may reach into the next line */
	return refuse(w, NULL,
		strncmp(w->name, "ltm monitor ", 12) || !model_monitor_type_is_ltms(w->name + 12)
			? "is no kind of object that is supported"
			: "this type of monitor is not supported");
}

static int read_object(struct words *w)
{
	static const char *const verbs[] = {[CONF_LOAD] = "put",
		[CONF_CREATE] = "add",
		[CONF_MODIFY] = "modify",
		[CONF_DELETE] = "delete"};
	bool drop = false;
	int rc;

	w->kind = MODEL_KINDS;
	w->name[0] = '\0';
	if (w->flags & LOAD_STORE && at(w, "delete")) {
		drop = true;
		next(w);
	}
	rc = read_kind(w);
	if (rc)
		return rc;
	if (w->token != TOKEN_WORD && model_kinds[w->kind].name_form != NAME_SINGLE)
		return refuse(w, NULL, "has no name");
	return read_named(w, model_kinds[w->kind].section, drop ? "drop" : verbs[w->use],
		w->use != CONF_LOAD);
}

int conf_translate(struct model *m, struct lexer *lex, enum conf_use use, unsigned load_flags,
	struct text *out, struct model_error *err)
{
	struct words w = {.m = m,
		.lex = lex,
		.use = use,
		.flags = load_flags,
		.out = out,
		.out_line = 1,
		.err = err,
		.kind = MODEL_KINDS};
	int rc = 0;

	next(&w);
	if (use != CONF_LOAD && w.token == TOKEN_END)
		rc = refuse(&w, NULL, "names no object");
	while (!rc && w.token == TOKEN_WORD) {
		if (load_flags & LOAD_STORE && (at(&w, "id-floor") || at(&w, "generation")))
			rc = read_store_word(&w);
		else
			rc = read_object(&w);
		if (use != CONF_LOAD)
			break;
	}
	w.kind = rc ? w.kind : MODEL_KINDS;
	w.name[0] = rc ? w.name[0] : '\0';
	if (!rc && w.token != TOKEN_END)
		rc = refuse(&w, NULL,
			w.token == TOKEN_CLOSE ? "a closing brace too many"
					       : "what follows makes no sense");
	if (!rc && out->failed)
		rc = refuse(&w, NULL, "no memory");
	return rc;
}
