/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared by the files of health/, by nobody else. */
#ifndef WEIR_HEALTH_INTERNAL_H
#define WEIR_HEALTH_INTERNAL_H

#include <sys/queue.h>

#include "health/health.h"
#include "monitor/mon_protocol.h"

struct health_link;
struct health_store;
struct health_passive;

/* A monitor that somebody uses. */
struct health_monitor {
	uint32_t id;
	bool active;  /* weir-mon probes; else it is fed by events */
	bool advises; /* stands outside the rule */
	bool manual_resume;
	char *name;
	json_t *message;	   /* as weir-mon gets it; NULL: it cannot, fault says why */
	char *fault;		   /* why nobody probes, or NULL */
	bool refused;		   /* by weir-mon: it cannot do it, or said so */
	bool files;		   /* it names some: they are read again now and then */
	struct ip_addr to_address; /* alias destination; all zero bytes: the object's own */
	uint16_t to_port;	   /* 0: the object's own */
	struct health_passive_conf {
		unsigned failures, failure_interval, retry_time; /* s; 0: not used */
	} passive;
	LIST_HEAD(, health_inst) instances;
};

/* One (object, monitor). */
struct health_inst {
	LIST_ENTRY(health_inst) of_monitor;
	struct health_inst *next; /* of the object, in the order of its rule */
	struct health_object *object;
	struct health_monitor *monitor;
	uint8_t said; /* enum mon_verdict */
	bool resume;  /* it took the object down and waits for a person */
	uint64_t since;
	char *reason; /* NULL = "" */
	struct health_passive *passive;
	struct ip_addr through; /* transparent: the kernel has a way; all zero bytes: none */
};

/* A node, member or pool. */
struct health_object {
	uint32_t id;
	uint8_t kind;
	bool fresh;    /* nobody has used it yet, or not since it was forced offline */
	bool offline;  /* forced: only agents are asked */
	bool resume;   /* it waited for a person when it was forced offline */
	bool unsaved;  /* stands in the list of what the file lacks */
	unsigned need; /* of its monitors; 0 = all */
	struct health_inst *instances;
	uint32_t node; /* of a member */
	LIST_ENTRY(health_object) of_node;
	LIST_HEAD(, health_object) members; /* of a node */
	struct ip_addr address;
	uint16_t port;
	struct model_monitor_rule *rule; /* of a pool; NULL = none */
};

struct health {
	struct event_base *base;
	const struct model *model;
	struct health_ops ops;
	void *ctx;
	char *file_dir;
	bool path_open;
	bool started; /* the owner is told from now on */
	struct verdicts *verdicts;
	struct health_object **object; /* by id_slot() */
	uint32_t objects;	       /* slots */
	struct health_monitor **monitor;
	uint32_t monitors;
	LIST_HEAD(, health_query) queries; /* that wait for weir-mon */
	uint32_t query_number;
	struct event *files;
	struct health_complaints {
		uint64_t second;
		unsigned written, held_back;
	} complaints; /* of what weir-mon says */
	struct health_link *link;
	struct health_store *store;
	struct kernel *kernel; /* NULL: no ways through servers */
};

/* --- time ----------------------------------------------------------------------------------------- */

uint64_t health_now_ms(void); /* since 1970 */

/* --- what there is (health_table.c) --------------------------------------------------------------- */

struct health_object *health_object_get(const struct health *h, uint32_t id);
struct health_monitor *health_monitor_get(const struct health *h, uint32_t id);
struct health_inst *health_inst_get(const struct health *h, uint32_t object, uint32_t monitor);

void health_table_load(struct health *h); /* everything, anew: what stays keeps what it knows */
void health_table_changed(struct health *h, const struct model_changes *changes);
/* Monitors whose files may be other ones by now. */
void health_table_files(struct health *h);
void health_table_free(struct health *h);

/* --- judging (health.c) --------------------------------------------------------------------------- */

/* It took the object down, and lets it back only when a person says so. */
bool health_waits(const struct health_inst *in);

/* An instance says something new; judges its object. reason may be NULL. */
void health_say(struct health *h, struct health_inst *in, enum mon_verdict said, uint64_t since,
	const char *reason);

/* Sets the object's verdict by what its instances say, and tells the owner. */
void health_judge(struct health *h, struct health_object *o);

/* --- the model's words (health_model.c) ----------------------------------------------------------- */

/* All but id and instances. */
void health_model_monitor(const struct health *h, const struct object *o, struct health_monitor *m);

/* --- weir-mon (health_link.c, health_message.c, health_stats.c) ------------------------------------ */

struct health_link *health_link_new(
	struct health *h, const char *run_dir, uid_t mon_uid, char *reason, size_t size);
void health_link_free(struct health_link *l);
bool health_link_connected(const struct health_link *l);

/* Nothing is sent while weir-mon is not connected: when it comes it gets everything. */
void health_link_send(struct health_link *l, json_t *message); /* takes it over; may be NULL */
void health_link_path(struct health_link *l);
void health_link_monitor(struct health_link *l, struct health_monitor *m);
void health_link_refuse(struct health *h, struct health_monitor *m, const char *why);
void health_link_monitor_gone(struct health_link *l, uint32_t id);
void health_link_instance(struct health_link *l, const struct health_inst *in);
void health_link_instance_gone(struct health_link *l, const struct health_inst *in);

/* A message of weir-mon's. */
void health_message(struct health *h, const json_t *message);

/* Answers of weir-mon, and its end: all queries are done. */
void health_stats_message(struct health *h, const json_t *message, bool end);
void health_stats_lost(struct health *h);

/* --- transparent monitors (health_through.c) ------------------------------------------------------- */

/* Its monitor or its address may have changed: before weir-mon is told. True: something has. */
bool health_through_changed(struct health *h, struct health_inst *in);
void health_through_gone(struct health *h, struct health_inst *in);

/* --- passive monitors (health_inband.c) ------------------------------------------------------------ */

int health_passive_start(struct health *h, struct health_inst *in);
void health_passive_free(struct health_passive *p);
void health_passive_failed(
	struct health *h, struct health_inst *in, unsigned connections, uint64_t now_ns);
/* Another monitor of the object has become content. */
void health_passive_well(struct health *h, struct health_object *o);
/* A person wants it back whom nobody else would bring back. True: it is. */
bool health_passive_forgive(struct health *h, struct health_object *o);
/* Its fields have changed, or the monitors beside it. */
void health_passive_changed(struct health *h, struct health_inst *in);

/* --- the file (health_store.c) --------------------------------------------------------------------- */

/* Reads it; NULL: *reason says why. */
struct health_store *health_store_open(
	struct health *h, const char *dir, uint64_t origin, char *reason, size_t size);
void health_store_close(struct health_store *s);

/* Fills an object, resp. an instance, that the file knows. The file's content is let go by the first save. */
bool health_store_object(struct health *h, struct health_object *o);
bool health_store_instance(struct health *h, struct health_inst *in);
void health_store_loaded(struct health_store *s);

/* The object's record in the file is old: written at the end of the loop's turn, or at once by save. */
void health_store_changed(struct health_store *s, uint32_t object);
void health_store_save(struct health_store *s);

#endif
