/* SPDX-License-Identifier: BSD-3-Clause */
/* weir-cp as a whole: what its request handlers share. One thread. */
#ifndef WEIR_MAIN_CP_H
#define WEIR_MAIN_CP_H

#include <event2/event.h>
#include <sys/queue.h>
#include <time.h>

#include "auth/auth.h"
#include "dataplane_link/dplink.h"
#include "drain/drain.h"
#include "event/journal.h"
#include "health/health.h"
#include "ipc/ipc_server.h"
#include "kernel/kernel.h"
#include "main/cp_index.h"
#include "model/model.h"
#include "resolve/fqdn.h"
#include "state/verdicts.h"
#include "store/store.h"

struct cp_agent;
struct cp_commit;
struct cp_log;
struct cp_live;
struct cp_limits;
struct cp_parts;
struct cp_notify;
struct cp_agent_gone;
struct cp_down;
struct cp_watch;
struct cp_states;

/* Failed log-ins of the current second in the journal. */
struct cp_failed_logins {
	uint32_t second;
	unsigned written, held_back;
};

struct cp {
	struct event_base *base;
	struct model *model;
	struct store *store;
	struct dplink *link;
	struct ipc_server *server;
	struct health *health;
	const struct verdicts *verdicts; /* health's */
	struct kernel *kernel;		 /* NULL: taps are somebody else's business */
	struct journal journal;
	struct cp_log *log;
	const struct cp_commit *committing; /* whose cause it is that states change; or NULL */
	struct cp_live *live;		    /* ratios as they were told last */
	struct cp_limits *limits;
	struct cp_parts *parts;
	struct cp_notify *notify;
	struct drains *drains;
	const struct cp_user
		*draining; /* who begins or ends drains just now; or NULL: the system */
	struct fqdn *fqdn;
	struct cp_waits {
		LIST_HEAD(, cp_wait) list; /* requests that wait for a drain */
		unsigned count;
		struct event *serve; /* some of them may have what they wait for */
	} waits;
	struct cp_index members, virtuals; /* by node, by virtual address */
	time_t monitoring_stopped;	   /* when weir-mon was last heard of, while it is gone */
	struct cp_agent *agent;
	struct cp_agent_gone *agent_gone;
	struct cp_index of_pool; /* virtual servers by pool */
	struct cp_down *down;
	struct cp_watch *watch;
	struct cp_states *states;
	struct auth *auth;
	struct cp_failed_logins failed_logins;
	uid_t mgmt_uid; /* weir-mgmt's, which asks for others; (uid_t)-1: nobody */
	struct event *signals[2], *upkeep;
	const char *config_path, *store_dir;
	uint64_t started_ns;
	char refused[256];	/* why the dataplane refused the last snapshot, or "" */
	char kernel_fault[256]; /* what of the kernel's interfaces could not be made, or "" */
};

/* --- who asks (cp_auth.c) and what he may (cp_authorise.c) ------------------------------------------ */

struct cp_user {
	const struct cp *cp;
	char name[64];
	char address[64]; /* of the client he asks from; "" on the machine */
	uint32_t id;	  /* of the auth user; ID_NONE: a user or a part of the machine itself */
	enum model_role role;
	enum hold_class class; /* whose holds session and state set */
	bool by_password;      /* this request has his password */
	char token[17];	       /* id of the token it has, or "" */
};

/* What a request is about. */
enum cp_need {
	CP_LOGGED_IN,
	CP_READ, /* objects; which, is asked for each */
	CP_LOOK, /* at the machine, and all that is in Common */
	CP_AUDIT,
	CP_CHANGE, /* objects; which, is asked for each */
	CP_SAVE,
	CP_CONNECTIONS, /* delete them */
	CP_LOAD,
	CP_USERS, /* the tokens of others */
};

/*
 * The one place where it is decided what somebody may. ask NULL: in some partition at least; else the object of it,
 * or with kind MODEL_KINDS in the partition of its path (NULL: in all of them).
 */
bool cp_authorise(const struct cp_user *user, enum cp_need need, const struct model_ask *ask);

/* The same for a struct model_actor, whose who is the user. */
bool cp_may_change(const void *user, const struct model_ask *ask);

/* Whether the user of a request may read an object; an agent gets to the members of a pool that he may not read. */
bool cp_may_read(const struct ipc_request *r, const struct object *o);
bool cp_may_enter(const struct ipc_request *r, const struct object *o);

/* Whether an object is to be, for who changes things, as if it were not there. */
bool cp_hidden(const struct cp_user *user, const struct object *o);

/* mgmt_user: weir-mgmt's, NULL = nobody's. Call before privileges are dropped. 0 or -errno, logged. */
int cp_auth_init(struct cp *cp, const char *mgmt_user);

/* Calls then with the user that the request is for, now or later; or refuses it. The user lives as long as r. */
typedef void (*cp_identified)(struct cp *cp, struct ipc_request *r, const struct cp_user *user);
void cp_identify(struct cp *cp, struct ipc_request *r, cp_identified then);

/* The model changed, NULL: it is another one. Users that are other ones now have to log in again. */
void cp_auth_changed(struct cp *cp, const struct model_changes *changes);

/* What a user's log-ins hang on: another number after a change of password, roles or nodes. */
uint64_t cp_user_mark(const struct cp *cp, const struct object *o);

void cp_refuse_delayed(struct ipc_request *r, unsigned retry);

void cp_login(struct cp *cp, struct ipc_request *r, const struct cp_user *user);
void cp_logout(struct cp *cp, struct ipc_request *r, const struct cp_user *user);
void cp_list_tokens(struct cp *cp, struct ipc_request *r, const struct cp_user *user);
void cp_modify_token(struct cp *cp, struct ipc_request *r, const struct cp_user *user);
void cp_change_password(struct cp *cp, struct ipc_request *r, const struct cp_user *user);
void cp_whoami(struct cp *cp, struct ipc_request *r, const struct cp_user *user);

/* For weir-mgmt itself, which keeps things of users and is to know when one is gone; no names are told. */
void cp_list_identities(struct cp *cp, struct ipc_request *r);
bool cp_is_trusted(const struct cp *cp, const struct ipc_peer *peer);

/* Gives admin a random password, if he has none, and writes it to path. 0 or -errno, logged. */
int cp_first_password(struct cp *cp, const char *path);

/* --- changes (cp_commit.c) ------------------------------------------------------------------------ */

/* Changes the model within an open transaction. 0, or the code of *err. */
typedef int (*cp_change)(struct cp *cp, void *ctx, struct model_error *err);

struct cp_commit {
	const struct cp_user *user;
	const char *what; /* one line for the history */
	cp_change change;
	void *ctx;
	bool verify;			  /* only check */
	json_t *(*error_more)(void *ctx); /* further members of an error's answer; or NULL */
	const struct text *startup; /* the change is the startup file, with this content; or NULL */
	json_t *warnings;	    /* array: what stands but should be looked at; or NULL */
};

/*
 * Makes a commit: change, validate, write to the store, tell the kernel and the dataplane. On success
 * changes is filled (free with model_changes_fini). On failure nothing has changed. Not before every part of
 * weir-cp is there.
 */
int cp_commit(struct cp *cp, const struct cp_commit *commit, struct model_changes *changes,
	struct model_error *err);

/* The same as the answer to a request, which ends when the dataplane has taken it. */
void cp_commit_reply(struct cp *cp, struct ipc_request *r, const struct cp_commit *commit);

/* Adds a sentence to an array of warnings; takes health_detect_check's form. */
void cp_warn(void *warnings, const char *sentence);

/* A commit's part of an answer; warnings, an array, may be NULL. NULL: no memory. */
json_t *cp_commit_result(
	const struct cp *cp, const struct model_changes *changes, json_t *warnings);

/* Ends a request when the dataplane has all that was changed; a list "warnings" in result tells if not. */
void cp_reply_in_force(struct cp *cp, struct ipc_request *r, json_t *result);

/* --- towards kernel and dataplane (cp_push.c) ----------------------------------------------------- */

extern const struct dplink_ops cp_dplink_ops;

/* Brings kernel and dataplane up to date with a commit. */
void cp_push(struct cp *cp, const struct model_changes *changes);

/* The live rows of a node and all its members, of a member, or of a virtual server are out of date, and those of
 * virtual addresses that depend on them. */
void cp_push_server(struct cp *cp, uint32_t object);

/* Makes the kernel's interfaces as configured. */
void cp_push_kernel(struct cp *cp);

/* --- servers that change by what checks say (cp_down.c) -------------------------------------------- */

int cp_down_init(struct cp *cp); /* 0 or -ENOMEM */
void cp_down_fini(struct cp *cp);

/*
 * The verdict of a node or member is another one than before (verdicts_get has it): tells the dataplane, and if
 * the server went down, does to its connections what each pool's service-down-action says.
 */
void cp_server_changed(struct cp *cp, uint32_t object, enum verdict before, enum verdict after);

/* The dataplane came: connections of servers that are down are dealt with. It went: what was asked is void. */
void cp_down_connected(struct cp *cp);
void cp_down_lost(struct cp *cp);

/* --- checks (cp_health.c) ------------------------------------------------------------------------- */

/* monitor_user: weir-mon's, NULL = root. Call before privileges are dropped. 0 or -errno, logged. */
int cp_health_init(struct cp *cp, const char *run_dir, const char *monitor_user);

/* The model changed, NULL: it is another one. Before the dataplane is told: new servers are not known to be up. */
void cp_health_changed(struct cp *cp, const struct model_changes *changes);

/* An operator enabled servers: those that waited for manual resume are let in again, which the note says. */
void cp_health_resume(struct cp *cp, struct model_changes *changes, const struct cp_user *author);

/* "running", or since when nobody probes. */
void cp_monitoring_text(const struct cp *cp, char *out, size_t size);

/* --- agents of servers (cp_agent.c) --------------------------------------------------------------- */

int cp_agent_init(struct cp *cp); /* 0 or -ENOMEM */
void cp_agent_fini(struct cp *cp);

/* An agent says something of its server, a node or member; monitor: the agent-check that heard it. */
void cp_agent_line(
	struct cp *cp, uint32_t object, uint32_t monitor, const struct health_agent *line);

/* What agents did is taken back when they are asked no more (cp_agent_gone.c). Its words are "MONITOR: WORDS". */
enum { CP_AGENT_NAME_MAX = 200 }; /* bytes of the monitor's path that agent-said has */

int cp_agent_gone_init(struct cp *cp); /* 0 or -ENOMEM */
void cp_agent_gone_fini(struct cp *cp);
/* Its note says what will be. */
void cp_agent_gone_changed(struct cp *cp, struct model_changes *changes);

/* --- servers known by name (cp_resolve.c) --------------------------------------------------------- */

int cp_resolve_init(struct cp *cp); /* 0 or -ENOMEM */

/* The model changed, NULL: it is another one. */
void cp_resolve_changed(struct cp *cp, const struct model_changes *changes);

/* A row of "show" is of a node that is known by its name, or of a member of one: puts in what became of the name. */
void cp_resolve_row(const struct cp *cp, const struct object *o, json_t *row);

/* The state of such a one as LTM's REST interface has it: "fqdn-up". */
const char *cp_resolve_state(const struct cp *cp, const struct object *o);

/* --- virtual addresses (cp_vaddr.c) --------------------------------------------------------------- */

/* Live row of a virtual address. */
void cp_vaddr_live(struct cp *cp, const struct object *o, struct live_row *out);

/* A member's state may be another one: so may be that of the addresses whose virtual servers use its pool. */
void cp_vaddr_member_changed(struct cp *cp, const struct object *member);

/* Any may be. */
void cp_vaddr_all_changed(struct cp *cp);

static inline bool cp_is_server(const struct object *o)
{
	return o->kind == KIND_NODE || o->kind == KIND_POOL_MEMBER;
}

/* --- requests (cp_request.c and the files of each) ------------------------------------------------ */

void cp_request(struct ipc_request *r, void *cp);

/* Ends a request with an error. */
void cp_refuse(struct ipc_request *r, int code, const char *field, const char *format, ...)
	__attribute__((format(printf, 4, 5)));
void cp_refuse_model(struct ipc_request *r, const struct model_error *err, json_t *more);

/* An argument that is text; NULL if it is absent. Wrong type: refuses and returns false. */
bool cp_argument(struct ipc_request *r, const char *name, char **value);

/* One that is true or false; false if it is absent. */
bool cp_flag(struct ipc_request *r, const char *name, bool *out);

/* Arguments beside op, id and as; NULL ends them. One that is not known is more likely a slip than nothing. */
bool cp_knows_all(struct ipc_request *r, const char *const *known);

struct cp_user;
void cp_edit(struct cp *cp, struct ipc_request *r, const struct cp_user *user);
void cp_transaction(struct cp *cp, struct ipc_request *r, const struct cp_user *user);
void cp_load(struct cp *cp, struct ipc_request *r, const struct cp_user *user);
void cp_save(struct cp *cp, struct ipc_request *r, const struct cp_user *user);
void cp_roll_back(struct cp *cp, struct ipc_request *r, const struct cp_user *user);
void cp_list(struct cp *cp, struct ipc_request *r, const struct cp_user *user);
void cp_show(struct cp *cp, struct ipc_request *r, const struct cp_user *user);
void cp_delete_connections(struct cp *cp, struct ipc_request *r, const struct cp_user *user);

/* Names of objects in a request, to objects. NULL: refused. owner_id: of child kinds, else ID_NONE. */
bool cp_find_owner(struct cp *cp, struct ipc_request *r, enum model_kind kind, const char *owner,
	uint32_t *owner_id);
const struct object *cp_find(struct cp *cp, struct ipc_request *r, enum model_kind kind,
	uint32_t owner_id, const char *name);

/* Kind by LTM's words ("ltm pool", "ltm pool members"), or -1. */
int cp_kind(const char *words);

/* Ids of objects that are gone through in an answer; those that vanish meanwhile are left out. */
struct cp_ids {
	uint32_t *id;
	unsigned count, size, next;
	unsigned total; /* before only a page was left */
};

bool cp_ids_add(struct cp_ids *ids, uint32_t id);
/* All objects of a kind (of one owner, if owner_id is not ID_NONE). False: no memory. */
bool cp_ids_kind(
	struct cp_ids *ids, const struct model *m, enum model_kind kind, uint32_t owner_id);
/* Takes those away that the user of the request may not read. */
void cp_ids_readable(struct cp_ids *ids, const struct ipc_request *r, const struct model *m);
/* The same, and leaves the page that the request asks for ("partition", "skip", "top"). False: refused. */
bool cp_ids_page(struct cp_ids *ids, struct ipc_request *r, const struct model *m);

/* --- drains (cp_drain.c) -------------------------------------------------------------------------- */

int cp_drains_init(struct cp *cp);
void cp_drains_fini(struct cp *cp);
void cp_start_drain(struct cp *cp, struct ipc_request *r, const struct cp_user *user);
void cp_end_drain(struct cp *cp, struct ipc_request *r, const struct cp_user *user);
void cp_wait_drain(struct cp *cp, struct ipc_request *r, const struct cp_user *user);

/* A drain as a row (cp_drain_row.c), with what is known of its connections; flows may be NULL. */
json_t *cp_drain_row(struct cp *cp, const struct drain *d, const struct drain_flows *flows);
void cp_show_drains(struct cp *cp, struct ipc_request *r);
bool cp_drain_readable(const struct cp *cp, const struct ipc_request *r, const struct drain *d);

/* The drain that a request names in this argument. NULL: refused. */
const struct drain *cp_find_drain(struct cp *cp, struct ipc_request *r, const char *argument);

/* --- events for those who follow them (cp_watch.c) ------------------------------------------------- */

/* Why something happened, and by whom. */
struct cp_cause {
	const char *text;
	enum hold_class class;
	const char *name, *address; /* "" where there is none */
};

struct cp_cause cp_cause_of(const struct cp_commit *commit);

int cp_watch_init(struct cp *cp); /* 0 or -ENOMEM */
void cp_watch_fini(struct cp *cp);
void cp_watch_second(struct cp *cp); /* every second */
void cp_watch(struct cp *cp, struct ipc_request *r, const struct cp_user *user);

/* An event's members but id and time; takes over before and after. NULL: no memory. */
json_t *cp_event_body(const char *type, const char *kind, const char *object, json_t *before,
	json_t *after, const struct cp_cause *cause);
/* Takes over body. object: those who may read it see it; ID_NONE: those who may what need says. */
void cp_event(struct cp *cp, uint32_t object, enum cp_need need, json_t *body);
void cp_event_commit(
	struct cp *cp, const struct cp_commit *commit, const struct model_changes *changes);
void cp_event_system(struct cp *cp, const char *kind, bool connected, const char *sentence);
void cp_event_drain(struct cp *cp, const struct drain *d);

/* --- the journal (cp_journal.c) -------------------------------------------------------------------- */

int cp_journal_init(struct cp *cp, const uint8_t machine_key[MODEL_KEY_BYTES]); /* 0 or -errno */
void cp_journal_reconcile(struct cp *cp);					/* after a start */
void cp_journal_second(struct cp *cp);						/* every second */
/* A sentence of one message, about o or nothing (NULL), by somebody or nobody (NULL). */
void cp_journal_note(struct cp *cp, enum event_message message, const struct object *o,
	const struct cp_user *user, const char *text);
/* A part of the machine is there, or gone: message says which. */
void cp_journal_part(
	struct cp *cp, enum event_message message, const char *kind, bool good, const char *text);
struct event_actor cp_journal_actor(const struct cp_user *user);
void cp_journal_commit(
	struct cp *cp, const struct cp_commit *commit, const struct model_changes *changes);

/* --- ratios (cp_live.c) ---------------------------------------------------------------------------- */

int cp_live_init(struct cp *cp); /* 0 or -ENOMEM */
void cp_live_fini(struct cp *cp);
void cp_live_commit(
	struct cp *cp, const struct cp_commit *commit, const struct model_changes *changes);
void cp_live_reset(struct cp *cp);	      /* the model is another one */
void cp_live_second(struct cp *cp, bool all); /* every second; all: what waits is told now */

/* --- connection limits and source ports, until they are no longer reached (cp_limits.c) ------------ */

/* A limit is reached (MESSAGE_LIMIT_REACHED), or there was no port (MESSAGE_PORT_EXHAUSTION). */
void cp_limit_reached(struct cp *cp, uint32_t object, enum event_message message);
/* The dataplane says that a limit is reached, or that there was no port. */
void cp_limit_event(struct cp *cp, const struct event_row *row);
void cp_limit_look(struct cp *cp, const struct object *o); /* every second, what has a limit */
void cp_limits_second(struct cp *cp);			   /* every second */
void cp_limits_fini(struct cp *cp);

/* --- the journal, for those who read it (cp_log.c) ------------------------------------------------- */

int cp_log_init(struct cp *cp); /* 0 or -ENOMEM */
void cp_log_fini(struct cp *cp);
void cp_log_written(void *cp); /* a record came */
void cp_log(struct cp *cp, struct ipc_request *r, const struct cp_user *user);
void cp_verify_log(struct cp *cp, struct ipc_request *r, const struct cp_user *user);

/* --- weir-notify (cp_notify.c, cp_notify_settings.c) ------------------------------------------------ */

int cp_notify_init(struct cp *cp); /* 0 or -ENOMEM */
void cp_notify_fini(struct cp *cp);

/* The model changed, NULL: it is another one. */
void cp_notify_changed(struct cp *cp, const struct model_changes *changes);

/* "host" and "receivers", with their secrets. NULL: no memory. */
json_t *cp_notify_settings_json(const struct model *m);

void cp_notify_settings(struct cp *cp, struct ipc_request *r, const struct cp_user *user);
void cp_notify_report(struct cp *cp, struct ipc_request *r, const struct cp_user *user);
void cp_test_receiver(struct cp *cp, struct ipc_request *r, const struct cp_user *user);
void cp_show_receivers(struct cp *cp, struct ipc_request *r);

/* --- sockets of parts of the machine that may ask a few things (cp_parts.c) ----------------------- */

/* Users' names, NULL: root's. Call before privileges are dropped, after everything else is there. 0 or -errno, logged. */
int cp_parts_init(
	struct cp *cp, const char *run_dir, const char *notify_user, const char *snmp_user);
void cp_parts_fini(struct cp *cp);

/* What weir-snmp runs snmpd with (cp_snmp.c). */
void cp_snmp_settings(struct cp *cp, struct ipc_request *r, const struct cp_user *user);
void cp_snmp_report(struct cp *cp, struct ipc_request *r, const struct cp_user *user);

/* --- changes of state, as events (cp_states.c) ---------------------------------------------------- */

int cp_states_init(struct cp *cp); /* 0 or -ENOMEM */
void cp_states_fini(struct cp *cp);
void cp_states_server(struct cp *cp, uint32_t object); /* checks say something else of it */
void cp_states_commit(
	struct cp *cp, const struct cp_commit *commit, const struct model_changes *changes);
void cp_states_reset(struct cp *cp);  /* the model is another one */
void cp_states_second(struct cp *cp); /* every second: limits */

/* A difference of configurations as an answer has it: passwords and their hashes masked. */
json_t *cp_difference(const struct text *difference);

/* --- show ----------------------------------------------------------------------------------------- */

/* One row of state and statistics; NULL: no memory, or the kind has none. */
json_t *cp_object_row(struct cp *cp, const struct object *o);

/*
 * Puts session and state of a node, a member, or the members that a pool's row has, as LTM's REST interface
 * has them: with what monitors say.
 */
void cp_rest_state(struct cp *cp, const struct object *o, json_t *row);

/* State of a node, pool, member, virtual server or address; reason gets the sentence about it, or is NULL. */
struct state cp_state(const struct cp *cp, const struct object *o, struct text *reason);

/* Why a node or member is in its state, in a sentence; parent: the node's side of a member, else NULL. */
void cp_reason(const struct cp *cp, const struct object *o, const struct state_side *own,
	const struct state_side *parent, struct text *out);

/* One connection as a row. */
json_t *cp_flow_row(const struct cp *cp, const struct flow_row *f);

/* A connection filter of a request (may be NULL: everything). False: refused. */
bool cp_flow_filter(
	struct cp *cp, struct ipc_request *r, const json_t *filter, struct flow_filter *out);

/* One "show" each; they end the request. */
void cp_show_system(struct cp *cp, struct ipc_request *r, const char *what);
void cp_show_connections(struct cp *cp, struct ipc_request *r);
void cp_show_neighbours(struct cp *cp, struct ipc_request *r, bool ipv6);
void cp_show_monitors(struct cp *cp, struct ipc_request *r, int kind); /* -1: of all types */
void cp_show_monitor_instances(struct cp *cp, struct ipc_request *r);
void cp_show_memory(struct cp *cp, struct ipc_request *r);
void cp_show_history(struct cp *cp, struct ipc_request *r);
void cp_show_difference(struct cp *cp, struct ipc_request *r);

#endif
