/* SPDX-License-Identifier: BSD-3-Clause */
/* weir.conf and tmsh's words into the model: libconfuse parses, its callbacks change objects as they come. */
#include "model/conf_grammar.h"

#include <stdio.h>

#include "model/model_internal.h"

/* Beside enum load_flags: how model_load takes objects that exist. Neither: words of a command. */
enum { LEVELS = 3 };
enum { LOAD_WHOLE = 0x100, LOAD_PART = 0x200 };

/* conf_grammar: at most a section for each kind, what the store has beside them, the end. */
enum { GRAMMAR_MAX = MODEL_KINDS + 3, SMALL_TEXT = 65536 };

/* What is being read: an object, or with "all" several of them. */
struct conf_level {
	enum model_kind kind;
	struct item **target;
	unsigned count, cap;
	bool replace; /* children that are not named go away */
};

struct conf {
	struct model *m;
	struct model_error *err;
	unsigned flags; /* enum load_flags */
	int rc;
	char verb[48]; /* of the next name or list */
	uint32_t id;   /* of the next object, from the store */
	struct conf_level level[LEVELS];
	unsigned depth; /* open levels */
	unsigned hold_part;
	enum hold_class hold_class;
	unsigned hold_bits;
	char message[256]; /* libconfuse's own */
};

/* libconfuse keeps globals and its callbacks get no argument of ours: one parse at a time. */
static struct conf *conf;

static int conf_fail(int rc)
{
	conf->rc = rc;
	return rc ? -1 : 0;
}

static void conf_line(const cfg_t *cfg)
{
	if (conf->m->file)
		conf->m->line = cfg->line;
}

static bool take_verb(const char *verb)
{
	bool is = !strcmp(conf->verb, verb);

	if (is)
		conf->verb[0] = '\0';
	return is;
}

static int target_add(struct conf_level *l, struct item *it)
{
	if (l->count == l->cap) {
		unsigned cap = l->cap ? l->cap * 2 : 1;
		struct item **grown = realloc(l->target, cap * sizeof(struct item *));
		if (!grown)
			return -ENOMEM;
		l->target = grown;
		l->cap = cap;
	}
	l->target[l->count++] = it;
	return 0;
}

/* ---- objects ---- */

static struct item *level_owner(void)
{
	const struct conf_level *above = conf->depth > 1 ? &conf->level[conf->depth - 2] : NULL;

	return above && above->count ? above->target[0] : NULL;
}

static int create(enum model_kind kind, const char *path, struct item **it)
{
	struct model *m = conf->m;
	struct item *owner = level_owner();
	uint32_t id = conf->id;

	conf->id = ID_NONE;
	/* Ports come into being when named, like nodes; folders stand beside their partitions. */
	if (id != ID_NONE || ((kind == KIND_INTERFACE || kind == KIND_FOLDER) && conf->flags))
		return change_create(m, kind, owner, path, id, it, conf->err);
	return create_allowed(m, kind, owner, path, it, conf->err);
}

/* A loaded object starts from its defaults, with nobody's hold but, unless the store says all, those of run time. */
static int load_reset(struct item *it)
{
	unsigned classes = conf->flags & LOAD_STORE ? HOLD_CLASSES : HOLD_AGENT + 1;
	int rc = set_defaults(conf->m, it, 0, conf->err);

	for (unsigned i = 0; !rc && kind_of(it)->holds && i < classes; i++)
		rc = change_hold(conf->m, it, i, 0, "", 0, conf->err);
	return rc;
}

static void children_unseen(struct item *it, enum model_kind kind)
{
	for (unsigned i = 0; i < it->children.count; i++)
		if (it->children.v[i]->o.kind == kind)
			it->children.v[i]->unseen = !item_is_ephemeral(it->children.v[i]);
}

/* The object as the text has it, whether it exists or not. */
static int put(enum model_kind kind, const char *path, struct item **it)
{
	struct item *owner = level_owner();
	bool whole = !(conf->flags & LOAD_MERGE);

	*it = item_find(conf->m, kind, owner ? owner->o.id : ID_NONE, path);
	if (!*it)
		return create(kind, path, it);
	if (conf->id != ID_NONE && conf->id != (*it)->o.id)
		return fail(conf->m, conf->err, -EINVAL, *it, NULL, "has another id in the store");
	conf->id = ID_NONE;
	if (!whole && conf->flags)
		return 0;
	if (kind == KIND_POOL_MEMBER && item_is_ephemeral(*it) && !(conf->flags & LOAD_STORE))
		return change_adopt(conf->m, *it, conf->err);
	if (item_is_ephemeral(*it) && !(conf->flags & LOAD_STORE))
		return fail(conf->m, conf->err, -EEXIST, *it, NULL, "was made by name resolution");
	if (!(*it)->unseen)
		return fail(conf->m, conf->err, -EEXIST, *it, NULL, "stands here twice");
	(*it)->unseen = false;
	return conf->flags & LOAD_WHOLE ? load_reset(*it) : 0;
}

static int delete_one(struct item *it)
{
	return conf->flags & LOAD_STORE ? change_delete(conf->m, it, conf->err)
					: model_delete(conf->m, it->o.id, conf->err);
}

/* Every object of the level's kind and owner; built-in ones are not deleted. */
static int take_all(struct conf_level *l, bool delete)
{
	struct item *owner = level_owner();
	struct order *o = owner ? &owner->children : &conf->m->order[l->kind];
	int rc = 0;

	order_fix(o);
	for (unsigned i = 0; !rc && i < o->count; i++) {
		if (o->v[i]->o.kind != l->kind)
			continue;
		if (!delete)
			rc = target_add(l, o->v[i]);
		else if (!o->v[i]->deleted && !o->v[i]->o.builtin && !item_is_ephemeral(o->v[i]))
			rc = delete_one(o->v[i]);
	}
	return rc;
}

static int take_named(struct conf_level *l, const char *name)
{
	struct item *owner = level_owner(), *it;
	char path[MODEL_PATH_MAX + 1], why[MODEL_REASON_MAX];
	int rc = name_path(l->kind, name, path, why, sizeof(why));

	if (rc)
		return fail_named(conf->m, conf->err, rc, l->kind, name, NULL, "%s", why);
	bool add = take_verb("add");
	if (add || take_verb("put")) {
		rc = add ? create(l->kind, path, &it) : put(l->kind, path, &it);
		return rc ? rc : target_add(l, it);
	}
	it = item_find(conf->m, l->kind, owner ? owner->o.id : ID_NONE, path);
	if (take_verb("drop"))
		return it ? delete_one(it) : 0;
	/* A child that is to go may have gone with its owner, whom the same text brings back. */
	if (!it && conf->flags & LOAD_UNDO && take_verb("delete"))
		return 0;
	if (!it)
		return fail_named(
			conf->m, conf->err, -ENOENT, l->kind, path, NULL, "was not found");
	return take_verb("delete") ? delete_one(it) : target_add(l, it);
}

/* Which kind a section stands for: one of the top, or the children of the object around it. */
static enum model_kind section_kind(const char *section)
{
	enum model_kind kind = 0;

	if (conf->depth) {
		int child = model_kinds[conf->level[conf->depth - 1].kind].child;
		while (strcmp(model_kinds[child].section, section))
			child = model_kinds[child].sibling;
		return (enum model_kind)child;
	}
	while (model_kinds[kind].owner >= 0 || strcmp(model_kinds[kind].section, section))
		kind++;
	return kind;
}

int conf_on_verb(cfg_t *cfg, cfg_opt_t *opt, const char *value, void *result)
{
	struct conf_level *l = conf->depth ? &conf->level[conf->depth - 1] : NULL;

	snprintf(conf->verb, sizeof(conf->verb), "%s", value);
	*(void **)result = NULL;
	if (strncmp(conf->verb, CONF_ONLY, sizeof(CONF_ONLY) - 1) || !l)
		return 0;
	for (unsigned i = 0; i < l->count; i++)
		children_unseen(l->target[i], section_kind(conf->verb + sizeof(CONF_ONLY) - 1));
	l->replace = true;
	conf->verb[0] = '\0';
	return 0;
}

/* What belongs to an object is changed in one at a time. */
static int check_one_owner(enum model_kind kind)
{
	if (!conf->depth || conf->level[conf->depth - 1].count == 1)
		return 0;
	return fail_named(conf->m, conf->err, -EOPNOTSUPP, kind, "", NULL,
		conf->level[conf->depth - 1].count
			? "can be changed for one owner at a time: name it"
			: "there is none that they belong to");
}

int conf_on_name(cfg_t *cfg, cfg_opt_t *opt, const char *value, void *result)
{
	struct conf_level *l;
	char *name = strdup(value);
	int rc;

	*(void **)result = NULL;
	if (!name)
		return conf_fail(-ENOMEM);
	conf_unquote(name);
	conf_line(cfg);
	enum model_kind kind = section_kind(cfg->name);
	rc = check_one_owner(kind);
	l = &conf->level[conf->depth++];
	l->kind = kind;
	l->count = 0;
	l->replace = false;
	if (!rc && take_verb("modify-all"))
		rc = take_all(l, false);
	else if (!rc && take_verb("delete-all"))
		rc = take_all(l, true);
	else if (!rc)
		rc = take_named(l, name);
	free(name);
	return conf_fail(rc);
}

static int delete_unseen(struct order *o)
{
	int rc = 0;

	for (unsigned i = 0; !rc && i < o->count; i++) {
		struct item *it = o->v[i];
		if (it->unseen && !it->deleted)
			rc = delete_one(it);
		it->unseen = false;
	}
	return rc;
}

int conf_on_close(cfg_t *cfg, cfg_opt_t *opt)
{
	struct conf_level *l = &conf->level[--conf->depth];
	int rc = 0;

	for (unsigned i = 0; l->replace && !rc && i < l->count; i++)
		rc = delete_unseen(&l->target[i]->children);
	conf->verb[0] = '\0';
	return conf_fail(rc);
}

/* ---- fields ---- */

/* A list comes value by value: the first does what the verb says, the rest are added. */
static int list_value(struct item *it, const struct field *f, const char *value, bool first)
{
	enum list_verb verb = first ? LIST_REPLACE : LIST_ADD;

	if (!strcmp(conf->verb, "add"))
		verb = LIST_ADD;
	if (!strcmp(conf->verb, "delete"))
		verb = LIST_DELETE;
	return set_list(conf->m, it, f, &value, 1, verb, conf->err);
}

static enum list_verb rows_verb(void)
{
	static const char *const verbs[] = {
		[LIST_ADD] = "add", [LIST_DELETE] = "delete", [LIST_MODIFY] = "change"};
	unsigned verb = LIST_MODIFY;

	while (verb != LIST_REPLACE && strcmp(conf->verb, verbs[verb]))
		verb--;
	return (enum list_verb)verb;
}

static int one_value(
	struct item *it, const struct field *f, const cfg_opt_t *opt, const char *value)
{
	if (f->type == TYPE_FLAG)
		return set_flag(conf->m, it, f, !strcmp(value, f->name), conf->err);
	if (f->type == TYPE_ROWS)
		return rows_set_text(conf->m, it, f, value, rows_verb(), conf->err);
	if (field_is_list(f))
		return list_value(it, f, value, cfg_opt_size((cfg_opt_t *)opt) == 1);
	if (f->pairs && !strcmp(conf->verb, "add"))
		return set_pair(conf->m, it, f, value, conf->err);
	return set_text(conf->m, it, f, value, conf->err);
}

int conf_on_value(cfg_t *cfg, cfg_opt_t *opt, const char *value, void *result)
{
	struct conf_level *l = &conf->level[conf->depth - 1];
	const char *section = model_kinds[l->kind].section;
	const struct field *f =
		model_field_find(l->kind, strcmp(cfg->name, section) ? cfg->name : NULL, opt->name);
	char *text = strdup(value);
	int rc = text ? 0 : -ENOMEM;

	*(void **)result = NULL;
	conf_line(cfg);
	if (text)
		conf_unquote(text);
	for (unsigned i = 0; !rc && i < l->count; i++)
		rc = one_value(l->target[i], f, opt, text);
	free(text);
	if (!(opt->flags & CFGF_LIST))
		conf->verb[0] = '\0';
	return conf_fail(rc);
}

/* Three values: class, bits, reason. */
int conf_on_hold(cfg_t *cfg, cfg_opt_t *opt, const char *value, void *result)
{
	struct conf_level *l = &conf->level[conf->depth - 1];
	unsigned part = cfg_opt_size(opt);
	char *reason = strdup(value);
	int rc = reason ? 0 : -ENOMEM;

	*(void **)result = NULL;
	conf_line(cfg);
	if (part == 1)
		for (conf->hold_class = 0; strcmp(hold_class_name[conf->hold_class], value);)
			conf->hold_class++;
	if (part == 2)
		conf->hold_bits = (unsigned)(*value - '0');
	if (reason)
		conf_unquote(reason);
	for (unsigned i = 0; part == 3 && !rc && i < l->count; i++) {
		rc = change_check_hold(conf->m, l->target[i], conf->hold_class, conf->err);
		if (!rc)
			rc = change_hold(conf->m, l->target[i], conf->hold_class, conf->hold_bits,
				reason, 0, conf->err);
	}
	free(reason);
	return conf_fail(rc);
}

int conf_on_store(cfg_t *cfg, cfg_opt_t *opt, const char *value, void *result)
{
	struct conf_level *l = conf->depth ? &conf->level[conf->depth - 1] : NULL;
	uint64_t number = strtoull(value, NULL, 10);
	struct touch *t = NULL;
	int rc = 0;

	*(void **)result = NULL;
	if (!strcmp(opt->name, "object-id"))
		conf->id = (uint32_t)number;
	else if (!strcmp(opt->name, "id-floor"))
		conf->m->generation_floor = (uint16_t)(number & (UINT32_MAX >> ID_SLOT_BITS));
	else if (!strcmp(opt->name, "generation"))
		conf->m->store_generation = number;
	else if (l && l->count && !strcmp(opt->name, "object-reset"))
		rc = load_reset(l->target[0]);
	else if (l && l->count && (t = item_touch(conf->m, l->target[0])))
		t->generation = number;
	return conf_fail(rc);
}

/* ---- the parse ---- */

static void conf_error(cfg_t *cfg, const char *format, va_list ap)
{
	if (!conf || conf->message[0])
		return;
	conf_line(cfg);
	vsnprintf(conf->message, sizeof(conf->message), format, ap);
}

/* libconfuse prepares every section that it is given, which costs more than a small text. */
static void grammar_of(const struct text *text, cfg_opt_t out[GRAMMAR_MAX])
{
	unsigned n = 0;

	for (const cfg_opt_t *o = conf_grammar; o->name; o++)
		if (text->len > SMALL_TEXT || o->type != CFGT_SEC ||
			(text->len && strstr(text->data, o->name)))
			out[n++] = *o;
	out[n] = (cfg_opt_t)CFG_END();
}

static int conf_run(const struct text *text)
{
	cfg_opt_t grammar[GRAMMAR_MAX];
	FILE *file = text->len ? fmemopen(text->data, text->len, "r") : NULL;

	grammar_of(text, grammar);
	cfg_t *cfg = cfg_init(grammar, CFGF_NONE);
	int rc = CFG_SUCCESS;

	if (!cfg || (text->len && !file))
		conf->rc =
			fail_named(conf->m, conf->err, -ENOMEM, MODEL_KINDS, "", NULL, "no memory");
	if (cfg && file) {
		cfg_set_error_function(cfg, conf_error);
		rc = cfg_parse_fp(cfg, file);
	}
	if (cfg)
		cfg_free(cfg);
	if (file)
		fclose(file);
	if (rc != CFG_SUCCESS && !conf->rc)
		conf->rc = fail_named(
			conf->m, conf->err, -EINVAL, MODEL_KINDS, "", NULL, "%s", conf->message);
	return conf->rc;
}

int conf_apply(
	struct model *m, const struct text *text, unsigned load_flags, struct model_error *err)
{
	struct conf state = {.m = m, .err = err, .flags = load_flags};
	bool internal = m->internal;
	int rc;

	m->internal = internal || load_flags & LOAD_STORE;
	conf = &state;
	rc = conf_run(text);
	conf = NULL;
	m->internal = internal;
	for (unsigned i = 0; i < LEVELS; i++)
		free(state.level[i].target);
	if (rc && !err->code)
		rc = fail_named(m, err, rc, MODEL_KINDS, "", NULL, "no memory");
	return rc;
}

/* ---- whole files ---- */

static void mark_unseen(struct model *m, bool unseen)
{
	for (uint32_t i = 1; i < m->slots; i++)
		if (m->slot[i])
			m->slot[i]->unseen =
				unseen && !m->slot[i]->deleted && !item_is_ephemeral(m->slot[i]);
}

/* Made beside others: it stays as long as something names it. */
static bool made_beside(const struct item *it)
{
	return it->o.kind == KIND_NODE || it->o.kind == KIND_VIRTUAL_ADDRESS ||
	       it->o.kind == KIND_SNAT_TRANSLATION;
}

/* A file that does not name the built-in user leaves him his password. */
static bool is_of_admin(const struct item *it)
{
	return it->o.builtin && (it->o.kind == KIND_USER || it->o.kind == KIND_PARTITION_ACCESS);
}

static int drop_unseen(struct model *m, bool beside, struct model_error *err)
{
	int rc = 0;

	for (uint32_t i = 1; !rc && i < m->slots; i++) {
		struct item *it = m->slot[i];
		if (!it || !it->unseen || it->deleted || made_beside(it) != beside ||
			is_of_admin(it))
			continue;
		if (it->o.builtin || kind_is_fixed(it->o.kind, it->o.path) ||
			(beside && it->o.users))
			rc = set_defaults(m, it, 0, err);
		else
			rc = change_delete(m, it, err);
	}
	return rc;
}

static int load_translated(
	struct model *m, const struct text *text, unsigned flags, struct model_error *err)
{
	bool whole = !(flags & LOAD_MERGE), internal = m->internal;
	int rc;

	if (whole)
		mark_unseen(m, true);
	m->whole = whole;
	rc = conf_apply(m, text, flags | (whole ? LOAD_WHOLE : LOAD_PART), err);
	m->whole = false;
	m->internal = true;
	if (whole && !rc)
		rc = drop_unseen(m, false, err);
	if (whole && !rc)
		rc = drop_unseen(m, true, err);
	m->internal = internal;
	if (whole)
		mark_unseen(m, false);
	return rc;
}

int model_load(struct model *m, const char *text, size_t len, const char *file, unsigned flags,
	struct model_error *err)
{
	struct lexer lex;
	struct text out = {0};
	int rc;

	if (!m->open || m->failed)
		return fail_named(m, err, -EINVAL, MODEL_KINDS, "", NULL, "no transaction");
	if (m->actor.role < ROLE_RESOURCE_ADMIN)
		return fail_named(
			m, err, -EPERM, MODEL_KINDS, "", NULL, "your role may not load files");
	err->code = 0;
	/* What the store holds were commits, one after the other: so they are again. */
	rc = flags & LOAD_STORE && !(flags & LOAD_UNDO) ? change_settle(m, err) : 0;
	if (rc)
		return rc;
	free(m->file);
	m->file = strdup(file ? file : "");
	m->loading = true;
	lexer_init(&lex, text, len);
	rc = conf_translate(m, &lex, CONF_LOAD, flags, &out, err);
	lexer_fini(&lex);
	if (!rc)
		rc = load_translated(m, &out, flags, err);
	m->loading = false;
	text_fini(&out);
	if (!rc && flags & LOAD_UNDO && change_keep(m, flags & LOAD_KEEP_LIVE))
		rc = fail_named(m, err, -ENOMEM, MODEL_KINDS, "", NULL, "no memory");
	return rc;
}

int model_edit(struct model *m, enum model_verb verb, const char *text, struct model_error *err)
{
	static const enum conf_use use[] = {[VERB_CREATE] = CONF_CREATE,
		[VERB_MODIFY] = CONF_MODIFY,
		[VERB_DELETE] = CONF_DELETE};
	struct lexer lex;
	struct text out = {0};
	int rc;

	if (!m->open || m->failed)
		return fail_named(m, err, -EINVAL, MODEL_KINDS, "", NULL, "no transaction");
	err->code = 0;
	lexer_init(&lex, text, strlen(text));
	rc = conf_translate(m, &lex, use[verb], 0, &out, err);
	lexer_fini(&lex);
	if (!rc)
		rc = conf_apply(m, &out, 0, err);
	text_fini(&out);
	return rc;
}
