/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Drains: operations that empty a server. The owner puts a hold on a pool member or node and begins a
 * drain; from then on its connections are followed, exactly, from the dataplane's shared counts, until
 * none is left. What stands in the way may be reset: what is left when a cap passes, and connections that
 * have been silent for too long.
 *
 * A drain runs until it is ended: it goes on watching after 0 was reached, because clients with a
 * persistence record may come back to a server that is only disabled. It ends by itself when its object is
 * deleted or its hold is taken away. Operations are kept over restarts in a file of the store; the last
 * that ended are kept to be looked at.
 *
 * Nothing here changes the configuration or writes to the journal: the owner does. One thread.
 */
#ifndef WEIR_DRAIN_DRAIN_H
#define WEIR_DRAIN_DRAIN_H

#include <event2/event.h>

#include "dataplane_link/dplink.h"
#include "model/model.h"

enum {
	DRAIN_RUNNING_MAX = 4096,
	DRAIN_ENDED_MAX = 100,	    /* that ended and are still shown */
	DRAIN_REASON_MAX = 400,	    /* bytes */
	DRAIN_SECONDS_MAX = 604800, /* of a cap or of the stuck rule */
	DRAIN_FLOWS_MAX = 10,	    /* connections that are shown to hold a drain up */
};

enum drain_state {
	DRAIN_STARTING, /* prepared, not begun */
	DRAIN_DRAINING,
	DRAIN_DRAINED,	 /* 0 was reached */
	DRAIN_TIMED_OUT, /* the cap passed first */
	DRAIN_CANCELLED, /* ended before either */
};

struct drain_order {
	uint32_t object;
	enum hold_class class; /* whose hold it is */
	bool force_offline;    /* persistent clients stay away too */
	bool cap_reset;	       /* when the cap passes, what is left is reset */
	uint32_t timeout;      /* cap, s; 0 = none */
	uint32_t stuck_time;   /* connections silent for so long are reset, s; 0 = none */
	const char *reason, *author;
};

struct drain {
	uint32_t id;
	uint32_t object;
	bool node; /* else a member */
	bool running;
	bool force_offline, cap_reset;
	uint8_t class; /* enum hold_class */
	uint8_t state; /* enum drain_state */
	uint32_t timeout, stuck_time;
	uint64_t started, ended; /* ms since 1970; ended 0: it runs */
	uint64_t took_ms;	 /* until its present state, or until it ended */
	int64_t connections;	 /* now; -1 = not known */
	int64_t first;		 /* when it began; -1 = not known */
	uint32_t capped, stuck;	 /* connections reset by the cap, by the stuck rule */
	uint32_t reopened;	 /* how often connections came after 0 */
	char pool[MODEL_NAME_MAX], name[MODEL_NAME_MAX]; /* pool "" for a node */
	char author[64], ended_by[64];
	char reason[DRAIN_REASON_MAX + 1];
	char said[160]; /* a sentence about the state, or "" */
};

struct drain_ops {
	/* A sentence for the journal. before: the state that was told last, if it is another one now; else NULL. */
	void (*note)(void *ctx, const struct drain *d, const char *before, const char *sentence);
	/* The state changed, or it ended. */
	void (*changed)(void *ctx, const struct drain *d);
};

struct drains;

/* Loads what the store's folder has. NULL: no memory. A file that cannot be used is logged and left out. */
struct drains *drains_new(struct event_base *base, struct dplink *link, const char *store_dir,
	const struct drain_ops *ops, void *ctx);
/* To be called when the link is gone: it tells its end. */
void drains_free(struct drains *s);

/*
 * Takes an order: it is in the store, not yet begun. The owner then puts the hold and calls drains_begin,
 * or drains_abandon if that failed. The operation, or NULL with errno set and a reason: EINVAL, EEXIST (one
 * of this class runs on the object), ENOSPC (too many), ENOMEM.
 */
const struct drain *drains_prepare(struct drains *s, const struct model *m,
	const struct drain_order *order, char *reason, size_t size);
void drains_begin(struct drains *s, uint32_t id);
void drains_abandon(struct drains *s, uint32_t id);

/* Ends it; the hold is the owner's business. */
void drains_end(struct drains *s, uint32_t id, const char *author);

/* To be called after each change of the model: ends those whose object or hold is gone. */
void drains_model_changed(struct drains *s, const struct model *m, const char *author);

/* What the link told. */
void drains_connected(struct drains *s);
void drains_lost(struct drains *s);
void drains_event(struct drains *s, const struct event_row *row, uint64_t lost);

/* The first with a higher id; NULL if there is none. */
const struct drain *drains_next(const struct drains *s, uint32_t id);
const struct drain *drains_find(const struct drains *s, uint32_t id);

const char *drain_state_name(unsigned state);
/* "Pool /Common/web member /Common/10.0.0.1:80", "Node /Common/10.0.0.1" into buf; returns buf. */
const char *drain_subject(const struct drain *d, char *buf, size_t size);

/* Current connections of a member or node, of all workers; 0 if the dataplane does not have it. */
uint32_t drain_connections(const struct counters *c, uint32_t id);

/* ---- what holds it up ---- */

struct drain_flows {
	unsigned count;	 /* rows in use */
	unsigned listed; /* connections that were looked at */
	bool all;	 /* there are no others */
	uint32_t silent; /* s: none of them has had a packet for so long */
	uint32_t left;	 /* s until the last of them goes, if none gets one; UINT32_MAX = never */
	struct flow_row row[DRAIN_FLOWS_MAX]; /* the oldest, oldest first */
};

struct drain_query;

/*
 * Asks the dataplane; done is called once, flows NULL if it could not answer. NULL with errno set if it
 * cannot be asked: no callback then.
 */
struct drain_query *drains_flows(struct drains *s, uint32_t id,
	void (*done)(void *ctx, const struct drain_flows *flows), void *ctx);
void drains_flows_cancel(struct drain_query *q);

enum drain_basis {
	BASIS_NONE,    /* nothing leaves: not known */
	BASIS_RATE,    /* as connections have been leaving */
	BASIS_SILENCE, /* all are silent and will time out */
	BASIS_STUCK,   /* the same, by the stuck rule */
	BASIS_CAP,     /* the cap will reset what is left */
};

/* s until 0 is reached, likely; -1 with BASIS_NONE. flows may be NULL. */
int64_t drains_forecast(const struct drains *s, uint32_t id, const struct drain_flows *flows,
	enum drain_basis *basis);
const char *drain_basis_name(unsigned basis);

#endif
