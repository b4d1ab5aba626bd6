/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The model: every object Weir is configured with, as LTM names them, and the only way to change them.
 *
 * An object has a kind (enum model_kind, from schema/), a full path ("/Common/web", a member's is its
 * name "/Common/10.0.0.1:80" within its pool), and a 32-bit id (base/ids.h). Its data is a generated,
 * pointer-free struct (model_kinds.h): conf, what commits change, and for some kinds live, what changes in
 * milliseconds without one. References are ids; text is a handle (model_string).
 *
 * Changes happen between model_begin and model_commit or model_abort: create, modify, delete, then the
 * whole is validated and taken, or leaves no trace. A reference may be named before its object exists;
 * all must exist when validated. One model has one transaction at a time; a model and the parser of
 * weir.conf (libconfuse keeps globals) belong to one thread.
 *
 * Functions that can fail take a struct model_error, fill it with the first error and return its code.
 * After a failed change the transaction can only be aborted.
 */
#ifndef WEIR_MODEL_MODEL_H
#define WEIR_MODEL_MODEL_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/ids.h"
#include "base/ipaddr.h"
#include "model/holds.h"
#include "model/model_types.h"

struct model;

struct object {
	uint32_t id;
	uint32_t owner; /* pool of a member, policy of a rule, rule of an action; else ID_NONE */
	uint64_t
		generation; /* of this object: 1 when created, +1 with each commit that changes it */
	uint8_t kind;	    /* enum model_kind */
	bool builtin;	    /* came with Weir: cannot be deleted, not written unless changed */
	uint32_t users;	    /* references to it */
	const char *path;
	const void *data; /* struct of its kind: model_pool(o) etc. of model_kinds.h */
};

/* Generated from schema/: enum model_kind; struct pool {conf}, struct node {conf, live}, ...; model_pool(). */
#include "model/model_kinds.h"

/* ---- errors ---- */

enum { MODEL_NAME_MAX = 256, MODEL_REASON_MAX = 512 };

/*
 * code: -EINVAL bad value or name, -ENOENT no such object, -EEXIST it exists already, -EBUSY still in use,
 * -EPERM not allowed to this actor, -EOPNOTSUPP known to LTM but not supported yet, -E2BIG too many
 * objects, -ENOMEM. file is empty and line 0 unless the text came from a file.
 */
struct model_error {
	int code;
	int line;
	char file[MODEL_NAME_MAX];
	char kind[64]; /* LTM's words: "ltm pool" */
	char object
		[MODEL_NAME_MAX]; /* path; a member's with its pool: "/Common/web /Common/10.0.0.1:80" */
	char field[64];		  /* LTM's word, or empty */
	char reason[MODEL_REASON_MAX];
};

/* "weir.conf:12: ltm pool /Common/web: load-balancing-mode: reason" into buf; returns buf. */
const char *model_error_text(const struct model_error *err, char *buf, size_t size);

/* ---- what the schema says ---- */

enum field_class { FIELD_CONFIG, FIELD_LIVE, FIELD_SECRET, FIELD_READ_ONLY };

/* How a change of a field reaches the dataplane. */
enum field_effect {
	EFFECT_NONE = 0,     /* not at all: a description */
	EFFECT_SNAPSHOT = 1, /* by a new snapshot */
	EFFECT_LIVE = 2,     /* by a live message */
};

/* Who may change it; each role includes those before it. */
enum model_role {
	ROLE_GUEST,
	ROLE_OPERATOR,	     /* enable and disable servers */
	ROLE_MANAGER,	     /* objects of the traffic: nodes, pools, virtual servers */
	ROLE_RESOURCE_ADMIN, /* also the network */
	ROLE_ADMIN,
};

enum field_type {
	TYPE_INT, /* uint8_t, uint16_t or uint32_t by size; words name special values ("indefinite") */
	TYPE_ENUM,    /* uint8_t, index into words */
	TYPE_FLAG,    /* uint8_t 0 or 1: the bare word, or its opposite ("enabled", "disabled") */
	TYPE_STRING,  /* uint32_t, model_string() */
	TYPE_IP,      /* struct ip_addr; "any6" and "any" as LTM */
	TYPE_PREFIX,  /* struct model_prefix: "10.0.0.0/8", "default", "default-inet6" */
	TYPE_MASK,    /* uint8_t prefix length, MODEL_MASK_HOST = as long as the address */
	TYPE_REF,     /* uint32_t id, ID_NONE = none */
	TYPE_REFS,    /* struct model_list of ids */
	TYPE_STRINGS, /* struct model_list of model_string() handles */
	TYPE_SERVICES, /* struct model_list of model_service() words, with "all", "none" and "default" */
	TYPE_ENDPOINT, /* struct model_endpoint: address:port, IPv6 address.port */
	TYPE_HOLDS,    /* struct holds */
	TYPE_MONITOR_RULE, /* struct model_monitor_rule: "/Common/a and /Common/b", "min 1 of { a b }" */
	TYPE_ROWS,	   /* uint32_t, model_string(): rows of the field's columns */
	TYPE_DESTINATION, /* struct model_destination: "*:80", with host "*" */
};

/* Of a field that is a list of named rows; texts all. */
struct column {
	const char *name, *rest;
	const char *default_text;
	const char *const *words; /* all it takes, ends with NULL; NULL: any text */
	const uint8_t *refs;	  /* kinds it may name */
	uint8_t ref_count;
	uint32_t min, max; /* of a number; max 0: it is a text */
};

struct field_word {
	const char *text;
	uint32_t value;
	bool supported;
};

struct field {
	const char *name;     /* LTM's word: "load-balancing-mode" */
	const char *opposite; /* of a flag, or NULL */
	const char *group;    /* block it stands in ("source-address-translation"), or NULL */
	const char *rest;     /* iControl REST: "loadBalancingMode" */
	const char *rest_opposite, *rest_group;
	const char *unit; /* "s", "bytes", ... or NULL */
	const char *sentence;
	const char *default_text;
	enum field_type type;
	enum field_class class;
	enum field_effect effect;
	enum model_role who;
	uint16_t offset, size; /* within the kind's struct */
	uint32_t min, max;     /* TYPE_INT; TYPE_STRING: max = bytes; lists: max = entries */
	const struct field_word
		*words;	     /* TYPE_ENUM, and special values of TYPE_INT; ends with text NULL */
	const uint8_t *refs; /* kinds it may name, ref_count of them */
	uint8_t ref_count;
	const struct column *columns; /* of TYPE_ROWS; ends with name NULL */
	const char
		*probe; /* of a monitor: its name towards weir-mon, or NULL if that is the same */
	const char *folder; /* its text names a file in this directory beside weir.conf, or NULL */
	uint8_t hold; /* HOLD_SESSION, HOLD_STATE: the enum is read from and written to the holds */
	bool required;
	bool rest_string;   /* a number that REST gives as text */
	bool default_only;  /* other values than the default are "not supported yet" */
	bool create_only;   /* cannot change later */
	bool default_entry; /* a list whose entries may be "NAME { default yes }" */
	bool derived;	    /* follows from the object's name or other fields */
	bool hidden;	    /* not shown as a field: the name says it */
	bool key;	    /* no two objects of the kind have the same */
	bool host;	    /* a prefix that keeps its host part; a destination without a port */
	bool own;	    /* not taken from defaults-from */
	bool pairs;	    /* a text of lines NAME=VALUE, in words "user-defined NAME VALUE" */
	bool pattern;	    /* a text that must compile as PCRE2 pattern */
	bool password;	    /* taken to make the hash in encrypted-password; never kept or shown */
	bool hash;	    /* of a password, by crypt(3); shown only with PRINT_HASHES */
	bool action;	    /* a flag that does something when set, and is never on */
	bool rest_folder;   /* an enum whose words stand in /Common in REST */
	bool reveal;	    /* a secret that REST shows to those who may change it */
	const char *rest_empty; /* REST's word for an empty list, or NULL: an empty list */
	bool rest_reference;	/* REST adds "<rest>Reference": {"link"} */
};

enum name_form {
	NAME_PATH,	/* /Common/web */
	NAME_PLAIN,	/* tm.rejectunmatched */
	NAME_FOLDER,	/* /Common */
	NAME_MEMBER,	/* /Common/10.0.0.1:80, /Common/2001:db8::1.80 */
	NAME_INTERFACE, /* 1.1, mgmt */
	NAME_PROFILE,	/* path of a profile of any kind */
	NAME_SINGLE,	/* the only one of its kind: nobody names it */
};

struct kind {
	const char
		*words; /* "ltm pool", "ltm profile fastl4"; of a child kind the block: "members" */
	const char *full;      /* the same, but "ltm pool members" */
	const char *section;   /* its name in the libconfuse grammar: "ltm-pool", "members" */
	const char *title;     /* in messages: "Pool" */
	const char *rest;      /* "ltm/pool"; of a child kind the last part: "members" */
	const char *rest_kind; /* "tm:ltm:pool:poolstate" */
	const char *sentence;
	const struct field *fields;
	uint16_t field_count;
	uint16_t size; /* of the struct */
	const void *defaults;
	enum model_role who;  /* may create and delete */
	int16_t owner, child; /* kinds, or -1; child is the first of them */
	int16_t sibling;      /* of a child kind: its owner's next one, or -1 */
	const char *later;    /* why a virtual server may not use it yet, or NULL */
	const char *refused;  /* why none can be created yet, or NULL */
	bool items; /* of a child kind: REST takes what stands in "<rest>Reference": {"items"} */
	bool rest_none;	   /* REST shows empty texts and references as "none" */
	bool inlined;	   /* of a child kind: in REST a list within the owner, no collection */
	bool fixed;	   /* only the built-in objects: no create, no delete */
	bool monitor;	   /* "ltm monitor ..." */
	bool profile;	   /* what a virtual server may name as a profile */
	bool in_partition; /* paths start with a partition */
	uint8_t name_form; /* enum name_form */
	const struct field *key; /* no two objects have the same, or NULL */
	uint16_t holds;		 /* offset of the holds in the struct, or 0 */
	uint16_t order;		 /* rank in weir.conf: what is named stands before what names it */
};

extern const struct kind model_kinds[MODEL_KINDS];

/* What "sys db" knows. low and high: the two words of a switch, else NULL and a number from min to max. */
struct db_variable {
	const char *name, *default_text, *low, *high;
	uint32_t min, max;
	const char *sentence;
};

extern const struct db_variable model_db_variables[]; /* ends with name NULL */

/*
 * Kind of LTM's words at the start of words[0..count) ("ltm", "profile", "fastl4"); *used tells how many
 * were taken. A kind, or -1. model_kind_rest does it for "ltm/profile/fastl4" ("fast-l4" is accepted).
 */
int model_kind_find(const char *const *words, unsigned count, unsigned *used);
int model_kind_rest(const char *path);

/* Field by LTM's word (also a flag's opposite) or REST name, group NULL for none. NULL if unknown. */
const struct field *model_field_find(enum model_kind kind, const char *group, const char *name);
const struct field *model_field_rest(enum model_kind kind, const char *group, const char *name);

/* ---- values that need more than a number ---- */

struct model_service {
	uint8_t proto; /* IP protocol number */
	uint16_t port; /* host order, 0 = every port */
};

static inline struct model_service model_service(uint32_t entry)
{
	return (struct model_service){.proto = (uint8_t)(entry >> 16), .port = (uint16_t)entry};
}

enum { MODEL_SERVICES_MAX = MODEL_LIST_MAX + 16 };

/* What an allow-service list lets in, LTM's default set spelled out. Their number; *all: everything. */
unsigned model_services(
	const struct model_list *list, struct model_service out[MODEL_SERVICES_MAX], bool *all);

/* ---- objects ---- */

/* A model with the built-in objects. NULL: no memory. */
struct model *model_new(void);
void model_free(struct model *m);

const struct object *model_get(const struct model *m, uint32_t id);

/* owner: ID_NONE, or the id of the pool or VLAN. Names without a partition mean /Common. */
const struct object *model_find(
	const struct model *m, enum model_kind kind, uint32_t owner, const char *name);

/*
 * In order of path: i-th object of a kind, or of an owner's children, kind by kind; NULL behind the last. Any change
 * of the model may move the order.
 */
const struct object *model_at(const struct model *m, enum model_kind kind, unsigned i);
const struct object *model_child_at(const struct model *m, const struct object *owner, unsigned i);
unsigned model_count(
	const struct model *m, enum model_kind kind); /* of child kinds: over all owners */
unsigned model_child_count(const struct model *m, const struct object *owner);

/*
 * Owner of an object of this kind by its path, behind those of its own owners: "/Common/web",
 * "/Common/Drafts/p rule" of a policy's action.
 */
const struct object *model_find_owner(
	const struct model *m, enum model_kind kind, const char *owner);
/* The pool of a member, the policy of an action; of what belongs to nobody, itself. */
const struct object *model_root(const struct model *m, const struct object *o);

/* Text behind a handle of a TYPE_STRING field; "" for 0. */
const char *model_string(const struct model *m, uint32_t handle);

/* First object that names id (its path helps in "still in use by"), or NULL. */
const struct object *model_user_of(const struct model *m, uint32_t id);

/* Value of a "sys db" variable ("tm.rejectunmatched"): booleans 0 or 1. */
uint32_t model_db_value(const struct model *m, const char *name);

/* Generation of the configuration: +1 with every commit that changes a config field; starts with 1. */
uint64_t model_generation(const struct model *m);

/* ---- monitors ---- */

static inline bool model_kind_is_monitor(unsigned kind)
{
	return kind < MODEL_KINDS && model_kinds[kind].monitor;
}

/* LTM's word for the type of a monitor: "http", "tcp-half-open". */
const char *model_monitor_type(enum model_kind kind);

/* Monitor of any type by name or path; NULL if there is none. */
const struct object *model_monitor_find(const struct model *m, const char *name);

/*
 * The members of docs/monitor-protocol.md's "monitor" but id, name and kind: numbers as numbers, flags
 * as booleans, texts as texts (empty ones are left out), "variables" as an object. A member of a field
 * with a folder holds the name of the file: the caller puts the text or the path in its place. Holds
 * secrets in plain text. inband gives its own fields. NULL: no memory.
 */
json_t *model_monitor_json(const struct model *m, const struct object *o);

/* Alias destination; false if the type has none (inband). */
bool model_monitor_destination(const struct object *o, struct model_destination *out);

/* "manual-resume enabled". */
bool model_monitor_manual_resume(const struct object *o);

/*
 * The rule that is in force for a node or member: RULE_DEFAULT is resolved, to the pool's or to that of
 * ltm default-node-monitor. Of a pool, its own.
 */
const struct model_monitor_rule *model_monitor_rule(const struct model *m, const struct object *o);

/* ---- nodes that are known by a name ---- */

/*
 * A node with an fqdn name and no address is a template, and so are its members: they take no traffic.
 * What name resolution makes of them is ephemeral: "ephemeral true", set by the actor HOLD_SYSTEM as the
 * only one who may, with "address" and the template's fqdn name. Ephemeral objects are kept in the running
 * store, never in weir.conf; only HOLD_SYSTEM deletes them, but those of a pool go with it.
 */
bool model_is_template(const struct model *m, const struct object *o);
bool model_is_ephemeral(const struct object *o);

#define MODEL_EPHEMERAL_PREFIX "_auto_" /* names of ephemeral nodes: "_auto_10.0.0.1" */

/* The node with the address that is not ephemeral, or NULL. */
const struct object *model_node_at(const struct model *m, const struct ip_addr *addr);

/* Types of monitors that LTM has and Weir has not: "mssql". */
bool model_monitor_type_is_ltms(const char *type);

/* ---- passwords: only hashes of crypt(3) are kept ---- */

enum { MODEL_PASSWORDS_MAX = 4 }; /* in one change: each takes about 50 ms */

/* A new hash, to be freed; NULL: cannot be made. */
char *password_hash(const char *password);
/* Whether it is the password of the hash. Takes as long as the hash says; any thread. */
bool password_verify(const char *password, const char *hash);
/* "10.0.0.0/8", "10.0.0.0/255.0.0.0", "10.0.0.1": 0 or -EINVAL. */
int model_network(const char *text, struct ip_addr *addr, unsigned *len);
/* Why a password cannot be taken, or NULL. */
const char *model_password_fault(
	const struct model *m, const char *user, const char *password, char *buf, size_t size);

/* ---- secrets: fields of class FIELD_SECRET ---- */

enum { MODEL_KEY_BYTES = 32 };

/*
 * The machine's key, of the whole process: secrets are kept and shown encrypted under it. Without one a
 * random key is taken, and secrets that are encrypted already are believed to be right.
 */
void model_secret_key(const uint8_t key[MODEL_KEY_BYTES]);

/* Words of a command as they may be written down: what follows the name of such a field becomes ***. */
struct text;
void model_mask_secrets(const char *text, struct text *out);

/* ---- transactions ---- */

enum model_deed { MODEL_READ, MODEL_CREATE, MODEL_MODIFY, MODEL_DELETE, MODEL_DEEDS };

/* What somebody wants to do. */
struct model_ask {
	uint8_t deed; /* enum model_deed */
	uint8_t kind;
	enum model_role who;	   /* the least role that may, by the schema */
	const char *path;	   /* of the object; of a child, its owner's */
	const char *server;	   /* path of the node of a node or member, or NULL */
	const struct field *field; /* that is modified; NULL: a hold, or all of the object */
	int hold;		   /* class of the hold that is set or taken away, else -1 */
};

struct model_actor {
	enum hold_class class; /* whose holds session and state set */
	enum model_role role;
	const char *reason; /* of holds; may be NULL */
	/* Decides what the actor may, in the place of role; NULL: role does. */
	bool (*may)(const void *who, const struct model_ask *ask);
	const void *who;
};

/* The question whether somebody may read or delete an object. */
struct model_ask model_ask_of(const struct model *m, const struct object *o, enum model_deed deed);

int model_begin(struct model *m, const struct model_actor *actor);

enum change_what { CHANGE_CREATED, CHANGE_MODIFIED, CHANGE_DELETED };

struct model_change {
	uint32_t id; /* of a deleted object: no longer found by model_get */
	uint8_t what;
	uint8_t kind;
	uint8_t effect;	 /* EFFECT_* of all changed fields */
	bool config;	 /* a config field changed, or created or deleted */
	bool ephemeral;	 /* weir.conf has nothing of it */
	bool owner_gone; /* of a deleted child: its owner was deleted too */
	char *path;	 /* and owner's path, separated by a blank, for the journal */
	char *before;	 /* what it was, for model_print_undo; NULL: it was not configured */
};

/*
 * effect tells the committer what to send: EFFECT_SNAPSHOT a new snapshot, EFFECT_LIVE live messages for
 * the rows that have it. config false: only live state changed, the generation stays.
 */
struct model_changes {
	struct model_change *row;
	unsigned count;
	uint8_t effect;
	bool config;
	uint64_t generation; /* of the configuration afterwards */
	char note[256];	     /* what else happened: "cleared a hold of agent", or "" */
	uint32_t *
		enabled; /* nodes and members that an operator enabled, whether they were held or not */
	unsigned enabled_count;
};

/* Checks all that was changed, as a whole; model_commit does it too. */
int model_validate(struct model *m, struct model_error *err);

/* On failure the transaction is still open: abort it. out may be NULL; free with model_changes_fini. */
int model_commit(struct model *m, struct model_changes *out, struct model_error *err);
void model_abort(struct model *m);
void model_changes_fini(struct model_changes *changes);

/*
 * Creates an object with its defaults. What LTM creates beside it (a member's node, a virtual server's
 * address, a SNAT pool's translations, the default profile) is created when validated.
 */
int model_create(struct model *m, enum model_kind kind, uint32_t owner, const char *name,
	uint32_t *id, struct model_error *err);
int model_delete(struct model *m, uint32_t id, struct model_error *err); /* children go too */

/* Sets one field from LTM's text. name: a field, a flag ("disabled", value NULL or ""). */
int model_set_text(struct model *m, uint32_t id, const char *group, const char *name,
	const char *value, struct model_error *err);
/* One field, typed: integers, ids; for the paths that are hot (ratio pushes). */
int model_set_int(
	struct model *m, uint32_t id, const char *name, uint32_t value, struct model_error *err);
int model_set_default(struct model *m, uint32_t id, struct model_error *err); /* all fields */

/*
 * Sets fields from an iControl REST body; unknown names are refused, read-only ones and nulls ignored.
 * "members" (an array of names or objects) replaces the children. replace: fields that are not given get
 * their default (PUT).
 */
int model_set_json(
	struct model *m, uint32_t id, const json_t *body, bool replace, struct model_error *err);
/* Creates from a body with name (+partition, subPath) or a full path as name. */
int model_create_json(struct model *m, enum model_kind kind, uint32_t owner, const json_t *body,
	uint32_t *id, struct model_error *err);

/*
 * tmsh: the words behind create, modify or delete, as one text: "ltm pool web members modify {
 * 10.0.0.1:80 { ratio 3 } }". Blocks take add, modify, delete, replace-all-with, none; "all" and several
 * names are taken where tmsh takes them.
 */
enum model_verb { VERB_CREATE, VERB_MODIFY, VERB_DELETE };
int model_edit(struct model *m, enum model_verb verb, const char *text, struct model_error *err);

/* ---- holds: why a server takes no (new) connections ---- */

/*
 * Sets the bits (HOLD_SESSION = user-disabled, HOLD_STATE = user-down) of one class on a node or member.
 * No bits as HOLD_OPERATOR clears every class; the note of the commit says which. So do, for their bit,
 * "session user-enabled" and "state user-up" of an operator.
 */
int model_hold(struct model *m, uint32_t id, enum hold_class class, unsigned bits,
	const char *reason, struct model_error *err);

/* Of a node or member. */
const struct holds *model_holds(const struct object *o);

/* Bits of all classes together: LTM's session and state. */
unsigned holds_bits(const struct holds *h);

extern const char *const hold_class_name[HOLD_CLASSES];

/* ---- weir.conf and the running store ---- */

/* A growing text; text_fini frees. data ends with a NUL that len does not count; NULL while empty. */
struct text {
	char *data;
	size_t len, cap;
	bool failed; /* out of memory: data is incomplete */
};

void text_add(struct text *t, const char *data, size_t len);
void text_printf(struct text *t, const char *format, ...) __attribute__((format(printf, 2, 3)));
void text_fini(struct text *t);

enum load_flags {
	LOAD_MERGE = 1, /* keep what the text does not name; else it is the whole configuration */
	LOAD_STORE =
		2, /* the text is our own running store: ids, generations, all holds, "delete" lines */
	/* With both: the text is model_print_undo's, a change like any other; passwords of users stay. */
	LOAD_UNDO = 4,
	LOAD_KEEP_LIVE = 8, /* with LOAD_UNDO: live fields of objects that are there stay */
};

/*
 * Parses text (len bytes, file is its name in errors) into the open transaction. Objects that keep their
 * path keep their id. The store is loaded as it was written: first model_print's text with LOAD_STORE,
 * then each of model_print_changes' with LOAD_STORE | LOAD_MERGE. Each such text is a commit of its own:
 * what the transaction did before is taken for good when the next begins. Ids, generations of objects and
 * of the configuration, and all holds come back.
 */
int model_load(struct model *m, const char *text, size_t len, const char *file, unsigned flags,
	struct model_error *err);

enum print_flags {
	PRINT_ALL = 1,	  /* also fields that have their default */
	PRINT_STORE = 2,  /* as LOAD_STORE reads it */
	PRINT_HOLDS = 4,  /* holds one by one */
	PRINT_HASHES = 8, /* hashes of passwords; model_print always does */
	PRINT_CONF = 16,  /* what a file must say to come back the same; model_print always does */
};

/* Whether a file must name the object for it to come back the same. */
bool model_is_saved(const struct model *m, const struct object *o);

/* The whole configuration as weir.conf, in the order of references, then of paths. */
void model_print(const struct model *m, unsigned flags, struct text *out);
/* One object as "list" shows it: "ltm pool /Common/web { ... }". */
void model_print_object(
	const struct model *m, const struct object *o, unsigned flags, struct text *out);
/* The changes of a commit in the store's form, to append to a journal: load with LOAD_STORE|LOAD_MERGE. */
void model_print_changes(
	const struct model *m, const struct model_changes *changes, struct text *out);

/*
 * Taking back: a statement that makes of the object (full words of its kind, path as in model_change) what it was
 * before, NULL: nothing. A text has those of owners before those of their children, but deletes the other way round.
 */
void model_print_undo(enum model_kind kind, const char *path, const char *before, struct text *out);
/* The object as it is, in the form of model_change.before. */
void model_print_state(const struct model *m, uint32_t id, struct text *out);
/* Whether a field of this name holds a secret. */
bool model_names_secret(const char *word);

/* iControl REST form, without hashes of passwords. expand: children as "items" in their reference. NULL: no memory. */
json_t *model_json(const struct model *m, const struct object *o, bool expand);
/*
 * What a part of the machine works with: fields by their words, numbers as numbers, flags as booleans, lists as arrays,
 * references as paths, rows as in REST. Holds secrets in plain text. Kinds that have other fields lack them. NULL: no
 * memory.
 */
json_t *model_settings_json(const struct model *m, const struct object *o);
/* Puts secrets of fields with "reveal" into an object's JSON, in plain text. */
void model_json_reveal(const struct model *m, const struct object *o, json_t *row);

/* Quotes a word for weir.conf if it needs quotes. */
void text_add_word(struct text *t, const char *word);
/* One field's value in LTM's text form ("3", "user-disabled", "/Common/web"). */
void model_field_text(
	const struct model *m, const struct object *o, const struct field *f, struct text *out);

/*
 * For fuzzers: a text of weir.conf and of the store; a tmsh command or REST body on a sample configuration.
 * They abort the process if something refused leaves a trace or something taken does not come back the
 * same after print and parse.
 */
void model_fuzz_conf(const char *text, size_t len);
void model_fuzz_change(const char *text, size_t len);

#endif
