/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Names in, addresses out: asks the name servers for each watched name again and again, as often as its
 * interval or the answer's TTL says, and keeps the last good answer. On libevent, without threads; c-ares
 * speaks DNS.
 *
 * An answer is good if it has at least one address of a host. Everything else (no answer, SERVFAIL, a name
 * that does not exist, an answer without addresses) leaves the addresses as they are and is told as state
 * and error.
 */
#ifndef WEIR_RESOLVE_RESOLVER_H
#define WEIR_RESOLVE_RESOLVER_H

#include <event2/event.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/ipaddr.h"

enum {
	RESOLVE_ADDRESSES_MAX = 64, /* of a name; what an answer has beyond is not used */
	RESOLVE_SERVERS_MAX = 8,
	RESOLVE_DOMAINS_MAX = 6,
	RESOLVE_NAME_MAX = 255, /* bytes, with the NUL */
	RESOLVE_WAIT_MIN = 1,	/* s between two lookups of a name, whatever TTL or interval says */
	RESOLVE_WAIT_MAX = 86400,
};

enum resolve_family { RESOLVE_IPV4 = 1, RESOLVE_IPV6 = 2, RESOLVE_ALL = 3 };

enum resolve_state {
	RESOLVE_CHECKING,   /* no lookup has ended yet */
	RESOLVE_UP,	    /* the last answer was good */
	RESOLVE_UP_NO_ADDR, /* the name exists, but the last answer had no address that can be used */
	RESOLVE_DOWN,	    /* the last lookup failed */
};

struct resolve_name {
	const char *name;
	uint8_t family;		/* enum resolve_family */
	uint32_t interval;	/* s between lookups; 0: the answer's TTL */
	uint32_t down_interval; /* s until the next try after a lookup that failed */
};

struct resolve_addresses {
	unsigned count;
	struct ip_addr v[RESOLVE_ADDRESSES_MAX];
};

struct resolve_status {
	uint8_t state;			  /* enum resolve_state */
	struct resolve_addresses address; /* of the last good answer; the oldest of them first */
	uint64_t answered_ns;		  /* clock_ns() of it, 0: none yet */
	uint32_t ttl;			  /* s, the shortest of its records */
	uint64_t next_ns;		  /* when it is asked next; 0: it is being asked */
	char error[200];   /* why the last lookup failed, or which part of it; or "" */
	char refused[200]; /* which addresses of the last answer cannot be used, and why; or "" */
};

struct resolve_server {
	struct ip_addr addr;
	uint16_t port;
};

/* Whom to ask. No servers: those of /etc/resolv.conf, as it is at each lookup, and its domains. */
struct resolve_servers {
	unsigned servers, domains;
	struct resolve_server server[RESOLVE_SERVERS_MAX];
	char domain[RESOLVE_DOMAINS_MAX][RESOLVE_NAME_MAX]; /* tried for names without a dot */
};

struct resolver_ops {
	/* A lookup of the name has ended. changed: it has other addresses now. */
	void (*done)(void *ctx, uint32_t key, bool changed);
	/* Why an address of a host must not be a server, or NULL. */
	const char *(*refuse)(void *ctx, const struct ip_addr *addr);
};

struct resolver;

struct resolver *resolver_new(
	struct event_base *base, const struct resolver_ops *ops, void *ctx); /* NULL: no memory */
void resolver_free(struct resolver *r);

/* In force from the next lookup on. */
void resolver_set_servers(struct resolver *r, const struct resolve_servers *servers);

/*
 * Begins to watch a name under a key of the caller's, or goes on with what has changed of it; a name that is
 * new or has changed is asked soon. known: addresses it had before, of a name that is new; may be NULL.
 * 0, -EINVAL (not a domain name), -ENOMEM.
 */
int resolver_watch(struct resolver *r, uint32_t key, const struct resolve_name *name,
	const struct resolve_addresses *known);
void resolver_forget(struct resolver *r, uint32_t key);

/* Asks soon for all names whose last lookup was not good: their servers may be reached now. */
void resolver_retry(struct resolver *r);

/* NULL: it is not watched. Valid until the next lookup ends. */
const struct resolve_status *resolver_status(const struct resolver *r, uint32_t key);

/* LTM's word: "fqdn-up". */
const char *resolve_state_name(unsigned state);

#endif
