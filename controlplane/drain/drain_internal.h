/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared by the files of drain/, by nobody else. */
#ifndef WEIR_DRAIN_INTERNAL_H
#define WEIR_DRAIN_INTERNAL_H

#include <stdio.h>

#include "drain/drain.h"
#include "drain/forecast.h"

#define TICK_MS 250u   /* between looks at the counters, besides events */
#define SETTLE_MS 200u /* a worker that has picked a server by the old state has counted by then */
#define SCAN_EVERY_MS 1000u /* between scans for one drain */

struct operation {
	struct drain d;
	struct forecast forecast;
	uint64_t begun_ns;   /* CLOCK_MONOTONIC */
	uint64_t settled_ns; /* the hold is in force since; 0: not known to be */
	uint64_t want;	     /* value of drains.wanted that tells it */
	uint64_t scan_due_ns;
	uint64_t instance; /* of the dataplane that its connections are in; 0 = not known */
	bool restarted;	   /* the dataplane came back without them */
	bool cap_noted;
	uint8_t told; /* state that was noted last */
};

struct drains {
	struct event_base *base;
	struct event *timer;
	struct dplink *link;
	const struct drain_ops *ops;
	void *ctx;
	struct operation **op; /* in order of id */
	unsigned count, size, running;
	uint32_t last_id;
	uint64_t wanted, waited; /* holds put so far; those that the wait under way is for */
	bool waiting;
	struct dplink_query *scan; /* under way for scan_id, or NULL */
	uint32_t scan_id;
	bool scan_capped; /* it is the cap's, not the stuck rule's */
	uint64_t scan_started_ns, scan_after_ns;
	char *path; /* of the file */
	int fd;	    /* open for appending, or -1 */
	unsigned lines;
};

struct operation *drains_operation(const struct drains *s, uint32_t id);
struct operation *drains_insert(struct drains *s); /* zeroed, at the end; NULL: no memory */
void drains_remove(struct drains *s, uint32_t id);
/* Its state is another one: says so, writes it down, tells the owner. */
void drains_turn(struct drains *s, struct operation *o, enum drain_state state);
void drains_note(struct drains *s, struct operation *o, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

uint64_t drain_wall_ms(void); /* since 1970 */

/* drain_watch.c */
void drains_look_soon(struct drains *s);
void drains_timer(struct drains *s); /* runs while anything does */
int drains_watch_init(struct drains *s);
bool drain_is_capped(const struct operation *o, uint64_t now);

/* drain_scan.c: resets what holds drains up. */
void drains_scan(struct drains *s, uint64_t now);

/* drain_file.c */
void drains_load(struct drains *s);
void drains_write(struct drains *s, const struct operation *o);
void drains_write_gone(struct drains *s, uint32_t id);

#endif
