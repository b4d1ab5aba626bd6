/* SPDX-License-Identifier: BSD-3-Clause */
/* weir-notify as a whole. One thread, libevent. */
#ifndef WEIR_NOTIFY_NOTIFY_H
#define WEIR_NOTIFY_NOTIFY_H

#include <sys/queue.h>
#include <sys/types.h>

#include "notify/receiver.h"

#define NOTIFY_SOCKET_NAME "notify.sock" /* within the run directory */

struct notify_conn;
struct notify_link;

struct receiver {
	LIST_ENTRY(receiver) entry;
	struct notify *notify;
	const struct receiver_kind *kind;
	void *self;	  /* NULL: it could not be made */
	json_t *settings; /* its row, */
	const char *name; /* of which this is a part */
	int level;	  /* this or worse */
	bool started;	  /* its place is known */
	bool paused;	  /* after a failure, until retry */
	bool full;	  /* it answered so */
	bool offering;
	bool bad;	    /* error holds */
	uint64_t place;	    /* all up to here is taken */
	uint64_t scanned;   /* offered, or not for it */
	uint64_t held;	    /* newest that it holds */
	uint64_t dropped;   /* deleted before they could be offered, */
	uint64_t counted;   /* of these the newest */
	uint64_t read;	    /* number of the request that reads for it, 0: none */
	json_t *queue;	    /* what was read; NULL: nothing */
	size_t queue_next;  /* in queue */
	uint64_t queue_end; /* scanned when queue is through */
	unsigned wait_s;    /* before the next try */
	struct event *retry;
	char error[256];
	uint64_t since_ms; /* of the last change between good and bad */
};

struct notify {
	struct event_base *base;
	struct notify_link *link;
	LIST_HEAD(, receiver) receivers;
	const char *state_dir;
	char host[256];
	uint64_t last;	 /* newest record that is known, if */
	bool last_known; /* any; not before weir-cp has told it */
	json_t *places;	 /* as the file has them */
	struct event *save, *second;
	bool save_due;
};

/* --- receivers (notify_receiver.c, notify_offer.c) ------------------------------------------------- */

/* The settings are these rows now. */
void notify_settings(struct notify *n, const json_t *rows);
struct receiver *notify_find(struct notify *n, const char *name);
void notify_receiver_free(struct receiver *r);
void notify_clear(struct notify *n);
json_t *notify_report_row(const struct receiver *r);

/* Is the record for this receiver? */
bool notify_wants(const struct receiver *r, const json_t *record);

/* Offers what there is to one that is ready, or asks for more. */
void notify_pump(struct receiver *r);
void notify_pump_all(struct notify *n);

/* A record that has just been written: goes to all that are up to date. */
void notify_record(struct notify *n, const json_t *record);

/* The newest number, when the connection is there: who has no place begins here. */
void notify_last(struct notify *n, uint64_t last);

/* What a receiver asked for: rows, and the end with "next" and "gone". */
void notify_rows(struct notify *n, uint64_t read, const json_t *rows);
void notify_rows_end(struct notify *n, uint64_t read, const json_t *result);
/* The connection is gone, or (read not 0) that request was refused. */
void notify_rows_lost(struct notify *n, uint64_t read);

/* --- places (notify_place.c) ------------------------------------------------------------------------ */

int notify_places_load(struct notify *n);
void notify_place_get(struct receiver *r);
void notify_place_changed(struct receiver *r); /* written within 0.2 s */
void notify_places_save(struct notify *n);     /* now */

/* --- towards weir-cp (notify_link.c, notify_conn.c) ------------------------------------------------- */

struct notify_conn_ops {
	void (*up)(void *ctx);
	void (*message)(void *ctx, const json_t *message);
	void (*down)(void *ctx);
};

/* A connection that is tried again each half second. NULL: no memory, or path too long. */
struct notify_conn *notify_conn_new(struct event_base *base, const char *path, uid_t started_as,
	const struct notify_conn_ops *ops, void *ctx);
void notify_conn_free(struct notify_conn *c);
bool notify_conn_send(struct notify_conn *c, json_t *message); /* takes it over */
void notify_conn_again(struct notify_conn *c);		       /* closes and tries anew */

int notify_link_new(struct notify *n, const char *run_dir, uid_t started_as);
void notify_link_free(struct notify_link *l);

/* Asks for records after a number; 0: not connected, else the request's number. */
uint64_t notify_link_read(struct notify *n, uint64_t after, unsigned limit);
void notify_link_report_due(struct notify *n);
void notify_link_tested(struct notify *n, uint64_t number, bool ok, const char *reason);

#endif
