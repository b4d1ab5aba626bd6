/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Health: which monitors look at which node and member, what each says, and what that makes of the object.
 *
 * It listens on mon.sock for weir-mon (docs/monitor-protocol.md), keeps one instance per (object, monitor),
 * combines their verdicts by the object's monitor rule (all of them, or at least n), keeps verdicts over
 * restarts in a file of the store, and tells the owner what changed. It does not touch the dataplane or the
 * configuration: the owner does, when it is told.
 *
 * Those of agent-check and snmp-dca advise and do not judge: their instances stand outside the rule (an object
 * with nothing else is unchecked), what they say is told by ops->agent and ops->dynamic_ratio. An agent is asked
 * whatever holds there are, or it could never take its own "maint" back.
 *
 * While weir-mon is not connected all verdicts stay as they are. A server that had been usable when its
 * first monitor came stays usable until it is known to be down; a new one waits for its first good answer.
 */
#ifndef WEIR_HEALTH_HEALTH_H
#define WEIR_HEALTH_HEALTH_H

#include <event2/event.h>
#include <sys/types.h>

#include "api/message.h"
#include "model/model.h"
#include "state/verdicts.h"

struct health;
struct kernel;

/* What an agent said in one line (agent-check); fields that it did not name are -1, or "". */
struct health_agent {
	int weight;	   /* percent, 0-256 */
	int64_t maxconn;   /* connections */
	const char *admin; /* "ready", "drain", "maint" */
	const char *state; /* "up", "down", "stopped", "failed" */
	const char *description;
};

struct health_ops {
	/* The verdict of a node or member changed; verdicts_get(health_verdicts()) has the new one. */
	void (*verdict)(void *ctx, uint32_t object, enum verdict before, uint64_t before_since);
	/* An agent's line differs from the one before. monitor: id of its agent-check. */
	void (*agent)(
		void *ctx, uint32_t object, uint32_t monitor, const struct health_agent *line);
	/* snmp-dca: 1-100. */
	void (*dynamic_ratio)(void *ctx, uint32_t object, unsigned ratio);
	/* weir-mon came (synchronised) or went. */
	void (*connected)(void *ctx, bool connected);
};

struct health_config {
	const char *run_dir;   /* mon.sock is made here */
	const char *store_dir; /* verdicts are kept here */
	uint64_t origin;       /* of the store: says whose ids they are */
	const char *file_dir;  /* files that monitors name: certificates, scripts */
	uid_t mon_uid;	       /* weir-mon's user */
	struct kernel *kernel; /* of transparent monitors; NULL: there are none */
};

/* Loads the kept verdicts, makes the socket. Call before privileges are dropped. NULL: *reason says why. */
struct health *health_new(struct event_base *base, const struct model *m,
	const struct health_config *config, const struct health_ops *ops, void *ctx, char *reason,
	size_t size);
void health_free(struct health *h);

const struct verdicts *health_verdicts(const struct health *h);

/*
 * The model changed. changes NULL: everything may have (the model is another one). Only what differs is
 * told to weir-mon; what does not keeps its timers and verdict. Call it before the snapshot is compiled:
 * new members must be there as "checking".
 */
void health_model_changed(
	struct health *h, const struct model *m, const struct model_changes *changes);

/* Passive checks (inband) count these. */
void health_event(struct health *h, const struct event_row *row);

/*
 * An operator's manual resume of a node or member, or of one that an inband monitor without retry-time keeps down: 0, or
 * -EINVAL if it does not wait for one.
 */
int health_resume(struct health *h, uint32_t object);

/*
 * The dataplane carries probes, or it does not: then nobody is asked and no server is blamed. Until the first call it
 * does not.
 */
void health_path(struct health *h, bool open);
bool health_path_open(const struct health *h);

bool health_connected(const struct health *h);

/* ---- for show ---- */

struct health_instance {
	uint32_t object, monitor;
	uint8_t verdict; /* enum verdict */
	uint64_t since;	 /* ms since 1970 */
	const char *reason;
	bool active; /* false: passive (inband), has no statistics of probes */
};

/* Instances of a monitor (object ID_NONE), or of an object (monitor ID_NONE), or all: walks them. */
void health_instances(const struct health *h, uint32_t object, uint32_t monitor,
	void (*each)(void *ctx, const struct health_instance *instance), void *ctx);

/* Statistics of probes, from weir-mon: rows are docs/monitor-protocol.md's. */
struct health_stats_ops {
	void (*rows)(void *ctx, const json_t *rows);
	void (*done)(void *ctx, int status); /* 0; -ENOTCONN, -ETIMEDOUT */
};

struct health_query;

/* NULL with errno set (ENOTCONN, ENOMEM): no callback then. ID_NONE: all. */
struct health_query *health_stats(struct health *h, uint32_t object, uint32_t monitor,
	const struct health_stats_ops *ops, void *ctx);
void health_stats_cancel(struct health_query *q);

#endif
