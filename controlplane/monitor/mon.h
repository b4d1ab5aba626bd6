/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * weir-mon inside: one thread, one libevent loop. A monitor has instances (one per object it watches), an instance has
 * a few probes in flight. Probes' sockets are in an epoll of their own (mon_io.c), edge-triggered, so that a
 * probe costs one registration.
 */
#ifndef WEIR_MONITOR_MON_H
#define WEIR_MONITOR_MON_H

#include <event2/event.h>
#include <event2/event_struct.h>
#include <jansson.h>
#include <openssl/types.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>
#include <sys/socket.h>

#include "monitor/mon_config.h"
#include "monitor/mon_type.h"

#define MON_FLIGHT_MAX 4u      /* probes of one instance in flight */
#define MON_FLIGHT_DOWN_MAX 2u /* the same while it is down */

/* One attempt to get an answer. */
struct mon_probe {
	TAILQ_ENTRY(mon_probe) entry; /* in the instance, newest last; later: among the dead */
	struct mon_instance *in;
	uint64_t start_ns;  /* later than it was, if we stood still since */
	uint64_t expire_ms; /* ends then, with whatever quiet says */
	int fd;		    /* -1: none */
	bool connected, peer_done, quiet, dead;
	bool any; /* something has come */
	SSL *ssl;
	char *out; /* not sent yet */
	size_t out_length;
	char *buf;	      /* came and was not taken */
	size_t length, limit; /* limit: bytes that are kept, 0: MON_SEARCH_MAX */
	size_t came;	      /* bytes in all, and some for each portion */
	uint64_t search_ns;   /* spent on patterns */
	unsigned step;	      /* of the type's conversation; advice: 1 if there is some */
	void *own;	      /* private_size bytes of the type */
	char reason[MON_REASON_MAX];
};

struct mon_instance {
	LIST_ENTRY(mon_instance) entry; /* in the monitor */
	TAILQ_HEAD(mon_probes, mon_probe) probes;
	uint32_t object;
	unsigned seen;
	struct mon *mon;
	struct mon_monitor *monitor;
	struct ip_addr address, to_address;
	uint16_t port, to_port; /* to_*: where the probe goes */
	uint32_t mark;
	struct mon_rule rule;
	struct mon_mean mean;
	struct event timer;
	uint64_t slot_ms, due_ms,
		armed_ms; /* planned time of the last probe; of the next; the timer's */
	uint16_t flight;
	bool judged;				 /* a probe ended since the last one was due */
	bool placed;				 /* has found its place in the interval */
	char *reason, *last_error;		 /* NULL: none */
	int64_t verdict_time, error_time;	 /* ms since 1970 */
	double response_ms, verdict_response_ms; /* < 0: none */
	uint64_t probes_count, good_count, bad_count;
	json_t *advice; /* the last message of an agent */
};

struct mon {
	struct event_base *base;
	void *monitors, *instances; /* search trees */
	unsigned instances_count;
	struct mon_io *io;
	struct mon_icmp *icmp;
	struct child_runner *runner;
	struct mon_link *link;
	unsigned flight, flight_max; /* probes with a descriptor */
	unsigned sync;		     /* number of the current sync; 0: none yet */
	bool syncing;
	uint64_t spread;	/* instances placed so far */
	uint64_t next_first_ns; /* first probes of new instances keep a distance */
	struct event *watch;	/* on ourselves, mon_stall.c */
	uint64_t watched_ms;
	bool path_closed; /* nobody can be asked: told by weir-cp */
};

uint64_t mon_now_ms(void); /* monotonic */

/* --- mon_table.c: what is defined --- */
struct mon_monitor *mon_monitor_get(struct mon *mon, uint32_t id);
struct mon_instance *mon_instance_get(struct mon *mon, uint32_t object, uint32_t monitor);
int mon_monitor_define(struct mon *mon, const json_t *message, struct mon_fault *fault);
int mon_instance_define(struct mon *mon, const json_t *message, struct mon_fault *fault);
/* Transparent, but there is no way through the server to what is behind it. */
bool mon_goes_astray(const struct mon_instance *in);
void mon_monitor_delete(struct mon *mon, struct mon_monitor *m);
void mon_instance_delete(struct mon_instance *in);
void mon_sync_begin(struct mon *mon);
void mon_sync_end(struct mon *mon); /* forgets what the sync did not name */
void mon_each_instance(struct mon *mon, void (*each)(struct mon_instance *, void *), void *ctx);
void mon_clear(struct mon *mon);

/* --- mon_instance.c: when it is probed, what follows --- */
void mon_instance_start(struct mon_instance *in);
void mon_instance_changed(struct mon_instance *in); /* monitor or target was replaced */
void mon_instance_stop(struct mon_instance *in);    /* ends its probes and its timer */
/* Probes can reach servers, or cannot: then nothing is sent, and no time counts. */
void mon_path_set(struct mon *mon, bool open);
void mon_instance_probe_now(struct mon_instance *in);
/* What an agent says: kept, told if it differs from what it said before. Takes the message over. */
void mon_instance_advise(struct mon_instance *in, json_t *message);

/* We stood still for so long: that is no server's fault. */
void mon_instance_forgive(struct mon_instance *in, uint64_t late_ms);

/* --- mon_stall.c: notices that weir-mon, or the machine, stood still --- */
int mon_stall_watch(struct mon *mon);
void mon_stall_unwatch(struct mon *mon);

/* --- mon_probe.c --- */
/* Starts one; it may have ended when this returns. False: no memory. */
bool mon_probe_start(struct mon_instance *in);
/* Ends it with an outcome other than MON_MORE and tells the instance; p must not be used any more. */
void mon_probe_end(struct mon_probe *p, enum mon_outcome outcome);
/* Ends it without telling anybody. */
void mon_probe_abort(struct mon_probe *p);
/* Its time is over. */
void mon_probe_expire(struct mon_probe *p);
/* A fault of ours (no descriptors, no port, ...) says nothing about the server. error > 0. */
enum mon_outcome mon_probe_errno(struct mon_probe *p, int error);
/* Sets the reason and returns outcome. */
enum mon_outcome mon_say(struct mon_probe *p, enum mon_outcome outcome, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
/* The same with the server's words after it. */
enum mon_outcome mon_say_answer(struct mon_probe *p, enum mon_outcome outcome, const char *what,
	const char *bytes, size_t length);

/* called by mon_probe.c when a probe has ended */
void mon_instance_result(struct mon_instance *in, const struct mon_probe *p, enum mon_outcome o);

/* --- mon_stream.c: conversations --- */
int mon_stream_start(struct mon_probe *p);
void mon_stream_ready(struct mon_probe *p);
/* The instance's target as a socket address; its length. */
socklen_t mon_target(const struct mon_instance *in, unsigned port, struct sockaddr_storage *out);
void mon_address_of(const struct sockaddr_storage *from, struct ip_addr *out);
/* Queues bytes; they go when open() or input() returns, or as soon as the kernel takes them. */
void mon_send(struct mon_probe *p, const void *bytes, size_t length);
/* From now on it is TLS (STARTTLS): what came and was not taken is forgotten. What is sent goes after the handshake. */
enum mon_outcome mon_tls_begin(struct mon_probe *p);
/* Forgets the first length bytes of the input; only within input(). */
void mon_take(struct mon_probe *p, size_t length);

/* --- mon_io.c --- */
struct mon_io *mon_io_new(struct event_base *base);
void mon_io_free(struct mon_io *io);
/* Watches p->fd for everything, edge-triggered, until it is closed. 0 or -errno. */
int mon_io_add(struct mon_io *io, struct mon_probe *p);
/* Something may still be there to be read: mon_stream_ready() comes again. */
void mon_io_again(struct mon_io *io, struct mon_probe *p);
/* p is freed when nothing can point to it any more. */
void mon_io_bury(struct mon_io *io, struct mon_probe *p);

/* --- mon_icmp.c --- */
struct mon_icmp *mon_icmp_new(void); /* opens raw sockets: before privileges are dropped */
int mon_icmp_listen(struct mon_icmp *i, struct event_base *base);
void mon_icmp_free(struct mon_icmp *i);

/* --- mon_link.c: weir-cp --- */
struct mon_link *mon_link_new(struct mon *mon, const char *path, uid_t started_as);
void mon_link_free(struct mon_link *l);
void mon_link_verdict(struct mon_instance *in);
void mon_link_send(
	struct mon *mon, json_t *message); /* takes it over; dropped while not connected */

#endif
