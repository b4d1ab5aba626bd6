/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared by the files of the model, by nobody else. */
#ifndef WEIR_MODEL_INTERNAL_H
#define WEIR_MODEL_INTERNAL_H

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "model/model.h"

#define MODEL_PATH_MAX 255     /* bytes of a path */
#define MODEL_LEAF_MAX 200     /* of its last part: a partition and a port still fit */
#define MODEL_PARTITION_MAX 40 /* of a partition's name */
#define MODEL_ENTRY_MAX 253    /* bytes of an entry of a list of texts */
#define FOLDER_COMMON "/Common"
#define DRAFTS "Drafts/" /* folder of drafts in that of a partition */
#define ALL_PARTITIONS "all-partitions"

struct kind_alias {
	const char *words;
	enum model_kind kind;
};

extern const struct kind_alias model_kind_aliases[]; /* ends with words NULL */

/* Built-in objects of the schema: id slot, and the fields that differ from the defaults. */
struct builtin_value {
	uint16_t field; /* index; a list has a row for each entry */
	const char *text;
};

struct builtin_row {
	uint8_t kind;
	uint16_t slot;
	const char *path;
	const struct builtin_value *value; /* NULL, or ends with text NULL */
};

extern const struct builtin_row model_builtins[]; /* ends with path NULL */

/* ---- text ---- */

struct strings {
	struct string *row;
	uint32_t count, cap, free; /* free: first of the chain of unused rows */
	uint32_t *bucket;
	uint32_t buckets, used;
};

int strings_init(struct strings *s);
void strings_fini(struct strings *s);
/* Handle of the text, counted once more; 0 for "". UINT32_MAX: no memory. */
uint32_t strings_get(struct strings *s, const char *text, size_t len);
void strings_count(struct strings *s, uint32_t handle, int by);
const char *strings_text(const struct strings *s, uint32_t handle);

/* ---- objects ---- */

/* A bit for each field of a kind. */
__extension__ typedef unsigned __int128 field_mask;

/* Sorted by kind and path up to sorted, then in order of arrival. Deleted items leave when the order is next fixed. */
struct order {
	struct item **v;
	unsigned count, cap, sorted;
	bool dirty;
};

/* An object as the model holds it: one allocation, followed by its data and its path. */
struct item {
	struct object o;
	void *data;
	field_mask given;	 /* bit per field that was set, the others follow defaults-from */
	struct item *next;	 /* of the same bucket of paths */
	struct item *key_next;	 /* of the same bucket of keys */
	uint64_t hash, key_hash; /* key_hash 0 = not in the table of keys */
	struct order children;
	void *base;	/* of a built-in object: its data as it came, else NULL */
	uint32_t touch; /* number of its row in the transaction, 0 = untouched */
	bool deleted;	/* gone unless the transaction is aborted */
	bool in_order;
	bool unseen; /* while loading: the text has not named it yet */
};

/* What a transaction did to an object. */
struct touch {
	struct item *item;
	void *before; /* its data, NULL if the transaction created it */
	field_mask given_before;
	int line;
	uint16_t pending;    /* references not yet found */
	bool published;	     /* made by publishing a draft, or by a file */
	bool lost_user;	     /* the last reference to it went away */
	bool enabled;	     /* an operator took holds away, or meant to */
	uint64_t generation; /* the store's, or 0 = one more */
};

struct pending {
	struct item *item; /* NULL: taken back */
	const struct field *field;
	char *name; /* full path */
	int line;
};

struct model {
	struct item **slot;
	uint16_t *slot_generation;
	uint32_t slots, slots_cap; /* slots: behind the highest one used */
	uint32_t *free_slot;
	uint32_t free_head, free_count, free_cap;
	uint16_t generation_floor; /* of slots that were never used */
	uint16_t floor_before;	   /* as the transaction found it */
	uint64_t store_generation; /* the store's, that the commit takes; or 0 */

	struct item **bucket, **key_bucket;
	uint32_t buckets, items;
	struct order order[MODEL_KINDS];
	unsigned count[MODEL_KINDS];
	struct strings strings;
	uint64_t generation;

	/* the transaction */
	bool open, failed, ending;
	struct model_actor actor;
	char *actor_reason;
	bool internal; /* the model itself changes something: no question of roles */
	const struct item
		*compared; /* whose fields may be set by anybody to what they are; or NULL */
	bool whole; /* a file takes the place of everything: what only creation sets may be new */
	struct touch *touch;
	uint32_t touches, touches_cap;
	struct pending *pending;
	uint32_t pendings, pendings_cap;
	char *file;
	int line;
	bool loading;	    /* the text of a file, which says all of what is published */
	unsigned passwords; /* that were hashed */
	char note[256];
};

static inline bool item_is_ephemeral(const struct item *it)
{
	return model_is_ephemeral(&it->o);
}

static inline const struct kind *kind_of(const struct item *it)
{
	return &model_kinds[it->o.kind];
}

static inline bool field_is_list(const struct field *f)
{
	return f->type == TYPE_REFS || f->type == TYPE_STRINGS || f->type == TYPE_SERVICES;
}

static inline void *field_at(const struct field *f, void *data)
{
	return (char *)data + f->offset;
}

static inline const void *field_in(const struct field *f, const void *data)
{
	return (const char *)data + f->offset;
}

/* The one that it belongs to in the end, or itself. */
const struct item *item_root(const struct model *m, const struct item *it);

/* Item of an id, also of one deleted in this transaction. NULL: none. */
struct item *item_of(const struct model *m, uint32_t id);
/* Also finds what was deleted in this transaction. */
struct item *item_any(
	const struct model *m, enum model_kind kind, uint32_t owner, const char *path);
struct item *item_find(
	const struct model *m, enum model_kind kind, uint32_t owner, const char *path);

/* Of the kinds that the field may name. */
struct item *item_named(const struct model *m, const struct field *f, const char *path);

/* Makes the item and puts it in all tables but that of keys. id ID_NONE: a new one. NULL: no memory. */
struct item *item_new(
	struct model *m, enum model_kind kind, struct item *owner, const char *path, uint32_t id);
int slots_begin_at(struct model *m, uint32_t slot); /* new ids are behind */
void item_free(struct model *m, struct item *it);   /* out of all tables */
void item_hide(struct model *m, struct item *it);   /* deleted, until item_show or item_free */
void item_show(struct model *m, struct item *it);

void item_users(struct model *m, uint32_t id, int by);
/* Counts its references and texts (by = 1 or -1) in the objects it names. */
void item_count_refs(struct model *m, const struct item *it, int by);
void data_count_strings(struct model *m, enum model_kind kind, const void *data, int by);

void item_rekey(struct model *m, struct item *it);
/* Next other item of the kind with the same key, behind prev (NULL: the first); or NULL. */
struct item *item_same_key(const struct model *m, const struct item *it, const struct item *prev);
/* Item of the kind whose key is these bytes. */
struct item *key_find(const struct model *m, enum model_kind kind, const void *key, size_t len);

/* Key bytes of an item (at most KEY_MAX), 0 if it has none. */
enum { KEY_MAX = 64 };
size_t item_key(const struct item *it, uint8_t key[KEY_MAX]);

struct order *order_of(const struct model *m, const struct item *it);
void order_fix(struct order *o);

uint64_t hash_bytes(uint64_t seed, const void *bytes, size_t len);

/* ---- changes ---- */

struct touch *item_touch(struct model *m, struct item *it); /* NULL: no memory */
static inline struct touch *touch_of(const struct model *m, const struct item *it)
{
	return &m->touch[it->touch - 1];
}

/* Create and delete without questions of role or of fixed kinds. *it may be NULL. */
int change_create(struct model *m, enum model_kind kind, struct item *owner, const char *path,
	uint32_t id, struct item **it, struct model_error *err);
/* A member that a name had made becomes the one that a person gives, with its connections. */
int change_adopt(struct model *m, struct item *it, struct model_error *err);
/* Takes what the open transaction has so far for good, and lets it go on. */
int change_settle(struct model *m, struct model_error *err);
/* Create, if the kind and the actor's role allow it. */
int create_allowed(struct model *m, enum model_kind kind, struct item *owner, const char *path,
	struct item **it, struct model_error *err);
int change_delete(struct model *m, struct item *it, struct model_error *err);
int change_pending(struct model *m, struct item *it, const struct field *f, const char *name);
/* Forgets them; f NULL: of all fields. */
void change_drop_pending(struct model *m, const struct item *it, const struct field *f);
void change_defaults(
	struct model *m, struct item *it); /* of a new item: references that have one */
/* Gives one field its default; the item is touched. */
void change_default(struct model *m, struct item *it, const struct field *f);
/* Whether the actor may change the field. */
bool change_may(const struct model *m, const struct item *it, const struct field *f);
/* The same, or a refusal; f NULL: delete it. */
int change_check(
	struct model *m, const struct item *it, const struct field *f, struct model_error *err);
int change_check_hold(
	struct model *m, const struct item *it, enum hold_class class, struct model_error *err);
/* The same of an object that is to be; also what comes into being beside others is asked for. */
int change_check_create(struct model *m, enum model_kind kind, const struct item *owner,
	const char *path, struct model_error *err);
/* Hold bits of one class become bits (reason NULL = the actor's); bits in clear go from all classes. */
int change_hold(struct model *m, struct item *it, enum hold_class class, unsigned bits,
	const char *reason, unsigned clear, struct model_error *err);

/* The object as the transaction found it, to be freed; NULL: it was not configured. 0 or -ENOMEM. */
int print_before(struct model *m, const struct touch *t, char **out);

/* Passwords of users who were there are as the transaction found them again, and live fields. 0 or -ENOMEM. */
int change_keep(struct model *m, bool live);

/* Creates what stands beside objects, then checks all touched ones. */
int rules_validate(struct model *m, struct model_error *err);
/* What LTM creates or fills in beside an object: a member's node, a default profile, ... */
int beside_complete(struct model *m, struct item *it, struct model_error *err);
/* The object a pending reference may be given: IP addresses and interfaces come into being when named. */
int beside_create(struct model *m, const struct field *f, const char *path, struct item *user,
	struct item **out, struct model_error *err);
/* Profiles take what they do not set themselves from defaults-from. */
int beside_inherit(struct model *m, enum model_kind kind, struct model_error *err);
const struct field *kind_parent_field(enum model_kind kind); /* defaults-from, or NULL */
bool field_inherits(const struct item *it, const struct field *f);
bool interface_name_ok(const char *name);
/* Whether its partition exists, and all that it names is there or in Common. */
int check_place(struct model *m, struct item *it, struct model_error *err);
int check_folder_deleted(struct model *m, struct item *it, struct model_error *err);
int check_partition_deleted(struct model *m, struct item *it, struct model_error *err);
/* What must hold of one object. */
int check_item(struct model *m, struct item *it, struct model_error *err);

/* ---- users ---- */

/* The password that somebody gives becomes the hash in the field beside it. */
int set_password(struct model *m, struct item *it, const struct field *f, const char *text,
	struct model_error *err);
bool hash_ok(const char *hash);
int check_user(struct model *m, struct item *it, struct model_error *err);
int check_access(struct model *m, struct item *it, struct model_error *err);
int check_httpd(struct model *m, struct item *it, struct model_error *err);
bool domain_name_ok(const char *name);
/* Those who are told of events, and those who ask by SNMP. */
int check_receiver(struct model *m, struct item *it, struct model_error *err);
int check_snmp(struct model *m, struct item *it, struct model_error *err);
/* Of a list of modules, and whether a text is an address or a name that can be looked up. */
int check_modules(struct model *m, struct item *it, const char *field,
	const struct model_list *list, struct model_error *err);
bool host_ok(const char *host);
/* The change may not leave the machine without an administrator who can log in, if there was one. */
int check_administrators(struct model *m, struct model_error *err);

/* ---- secrets ---- */

bool secret_is_sealed(const char *text);
char *secret_seal(const char *plain);  /* to be freed; NULL: no memory */
char *secret_open(const char *sealed); /* for secret_free; NULL: not ours */
void secret_free(char *plain);
bool secret_same(const char *sealed, const char *other);
/* A secret that people give, plain or encrypted, as the handle of the encrypted text. */
int secret_parse(struct model *m, const char *text, uint32_t *handle, char *reason, size_t size);

/* ---- monitors ---- */

/* A rule as people write it; names are full paths. */
struct rule_text {
	uint8_t mode, min; /* enum monitor_rule_mode */
	unsigned count;
	char name[MODEL_RULE_MAX][MODEL_PATH_MAX + 1];
};

int rule_parse(
	const struct field *f, const char *text, struct rule_text *rule, char *reason, size_t size);
void rule_text(const struct model *m, const struct model_monitor_rule *rule, struct text *out);
/* The monitor of any type with this path. NULL: none. */
struct item *monitor_item(const struct model *m, const char *path);
/* Value of a monitor's text field; "" if its type has no such field. */
const char *monitor_text(const struct model *m, const struct item *it, const char *field);
/* Those of model_builtins, and the texts that the schema gives a kind's first one as defaults. */
int builtins_of_schema(struct model *m);
int builtin_texts(struct model *m, struct item *it);
int monitors_builtin(struct model *m);
int builtin(struct model *m, enum model_kind kind, const char *path, struct item **out);
int check_monitor(struct model *m, struct item *it, struct model_error *err);
/* Those that use monitors which changed. */
int check_monitor_users(struct model *m, struct model_error *err);
/* Whether the monitors of a node, a pool, a member or the default node monitor can look at it. */
int check_rule_of(struct model *m, struct item *it, struct model_error *err);

/* ---- policies ---- */

/* What the actions of a policy do: create-draft and publish. */
int policy_act(struct model *m, struct item *it, const struct field *f, struct model_error *err);
/* Whether the policy that this is, or is part of, may be changed. */
int policy_check_change(struct model *m, const struct item *it, struct model_error *err);
/* Where a policy is or will be published: the folder of drafts stands beside no object. */
void policy_published_path(const struct item *it, char path[MODEL_PATH_MAX + 1]);
int policy_complete(struct model *m, struct item *it);
int check_policy(struct model *m, struct item *it, struct model_error *err);

/* Reads what the text of a certificate, a key or another file says of itself. */
int file_complete(struct model *m, struct item *it, struct model_error *err);

/* cert, key and chain follow cert-key-chain, or it follows them. */
int cert_keys_complete(struct model *m, struct item *it, struct model_error *err);
/* Compiles the Lua of a rule. */
int check_script(struct model *m, struct item *it, struct model_error *err);
int check_data_group(struct model *m, struct item *it, struct model_error *err);

/* ---- names ---- */

struct member_name {
	char host[MODEL_PATH_MAX + 1]; /* "/Common/10.0.0.1" */
	uint16_t port;
};

/* Partition of a path: "Common" of "/Common/x"; its length, 0 of a path that has none. */
size_t path_partition(const char *path);

/* Whether nobody makes or deletes an object of this path. */
bool kind_is_fixed(enum model_kind kind, const char *path);
/* Last part of a path. */
const char *path_name(const char *path);
/* "/Common/x" of "x" or of a path; with the reason of a refusal. Writes at most MODEL_PATH_MAX + 1. */
int name_path(enum model_kind kind, const char *name, char *path, char *reason, size_t size);
/* Splits "10.0.0.1:80", "2001:db8::1.80", "web:http", with or without partition. */
int name_endpoint(const char *name, struct member_name *out, char *reason, size_t size);
void name_endpoint_text(const char *host, uint16_t port, struct text *out);
/* Whether a partition may be called so. */
bool name_is_partition(const char *name);
/* Address with an optional "%0"; any, any6. */
int name_address(const char *text, struct ip_addr *addr, char *reason, size_t size);

/* ---- values ---- */

enum { VALUE_MAX = sizeof(struct model_list) };

/* What parsing a value needs and says. */
struct value {
	_Alignas(8) char data[VALUE_MAX]; /* as it goes into the struct */
	char missing[MODEL_PATH_MAX + 1]; /* path of a reference that does not exist yet, or "" */
	char reason[MODEL_REASON_MAX];
};

/* Text to value; code as in struct model_error, with reason. Strings get counted. */
int value_parse(struct model *m, const struct field *f, const char *text, struct value *v);
void value_text(const struct model *m, const struct field *f, const void *data, struct text *out);

uint32_t value_number_get(const struct field *f, const void *data); /* TYPE_INT, _ENUM, _FLAG */
void value_number_put(const struct field *f, void *data, uint32_t value);
/* One entry of a list. */
int list_parse(
	struct model *m, const struct field *f, const char *text, uint32_t *entry, struct value *v);
void list_text(const struct model *m, const struct field *f, uint32_t entry, struct text *out);
int service_parse(const char *text, uint32_t *entry, char *reason, size_t size);
void service_text(uint32_t entry, struct text *out);
/* Whether a field of the item has its default (of defaults-from where the kind has that). */
bool value_is_default(const struct model *m, const struct item *it, const struct field *f);

/* ---- setting fields (sets.c) ---- */

int set_text(struct model *m, struct item *it, const struct field *f, const char *text,
	struct model_error *err);
int set_flag(
	struct model *m, struct item *it, const struct field *f, bool on, struct model_error *err);

/* One "NAME=VALUE" of a text of such lines; without a value the name goes away. */
int set_pair(struct model *m, struct item *it, const struct field *f, const char *pair,
	struct model_error *err);

/* All fields that may be set again, but those to keep, get their default; a built-in object's what it came with. */
int set_defaults(struct model *m, struct item *it, field_mask keep, struct model_error *err);

enum list_verb { LIST_REPLACE, LIST_ADD, LIST_DELETE, LIST_MODIFY /* rows only */ };
int set_list(struct model *m, struct item *it, const struct field *f, const char *const *text,
	unsigned count, enum list_verb verb, struct model_error *err);
/* Counts the texts that a field's data names. */
void field_count_texts(struct model *m, const struct field *f, const void *value, int by);
/* Puts new data into a field of a touched item; a text in it is already counted. */
void field_put(struct model *m, struct item *it, const struct field *f, const void *value);

/* Index of a field within its kind. */
static inline unsigned field_index(const struct item *it, const struct field *f)
{
	return (unsigned)(f - kind_of(it)->fields);
}

static inline field_mask field_bit(const struct item *it, const struct field *f)
{
	return (field_mask)1 << field_index(it, f);
}

/* A parsed value, if role and schema allow it; its texts are counted. */
int set_value(struct model *m, struct item *it, const struct field *f, struct value *v,
	struct model_error *err);

/* ---- lists of rows ---- */

/* Entries: names, or objects with name and columns by LTM's or REST's word. */
int rows_set(struct model *m, struct item *it, const struct field *f, const json_t *entries,
	enum list_verb verb, struct model_error *err);
/* The same as text of JSON; "" and none: no entries. */
int rows_set_text(struct model *m, struct item *it, const struct field *f, const char *text,
	enum list_verb verb, struct model_error *err);
json_t *rows_json(const struct model *m, const struct item *it, const struct field *f);
void rows_print(const struct model *m, const struct item *it, const struct field *f, unsigned depth,
	struct text *out);
const struct column *rows_column(const struct field *f, const char *name);
/* What the rows name must exist; and who names an object in a row. */
int rows_check(struct model *m, struct item *it, struct model_error *err);
const struct item *rows_user_of(const struct model *m, const struct object *o);
/* {"link": ...} of an object. */
json_t *link_json(const struct model *m, const struct item *it);

/* ---- weir.conf ---- */

enum token_type { TOKEN_END, TOKEN_WORD, TOKEN_OPEN, TOKEN_CLOSE, TOKEN_BAD };

/* Splits text into words and braces, by the rules of the command language (docs/operators-guide.md). */
struct lexer {
	const char *text, *end;
	int line;
	struct text word;   /* of the token just read */
	bool quoted;	    /* a part of it was between quotes: never a keyword */
	int word_line;	    /* where it began */
	const char *reason; /* of TOKEN_BAD */
};

void lexer_init(struct lexer *lex, const char *text, size_t len);
enum token_type lexer_next(struct lexer *lex);
void lexer_fini(struct lexer *lex);

/* What the words are for: it decides what a plain block of children means. */
enum conf_use { CONF_LOAD, CONF_CREATE, CONF_MODIFY, CONF_DELETE };

/*
 * LTM's words as text for libconfuse, checked against the schema: "key = 'value'", sections for objects,
 * groups and children; verbs as options. Each token stands on the line it had. One block or all of them.
 */
int conf_translate(struct model *m, struct lexer *lex, enum conf_use use, unsigned load_flags,
	struct text *out, struct model_error *err);
/* The verb before a block of children that names all of them, with the block's name. */
#define CONF_ONLY "only-"
/* Reads back what conf_translate quoted; in place. */
void conf_unquote(char *value);
/* Runs libconfuse over translated text; its callbacks change the model. */
int conf_apply(
	struct model *m, const struct text *text, unsigned load_flags, struct model_error *err);

/* ---- errors ---- */

int fail(struct model *m, struct model_error *err, int code, const struct item *it,
	const char *field, const char *format, ...) __attribute__((format(printf, 6, 7)));
int fail_named(struct model *m, struct model_error *err, int code, enum model_kind kind,
	const char *name, const char *field, const char *format, ...)
	__attribute__((format(printf, 7, 8)));
/* "/Common/web", a child's with the paths of its owners before it. */
void item_name(const struct model *m, const struct item *it, char *buf, size_t size);

#endif
