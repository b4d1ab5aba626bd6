/* SPDX-License-Identifier: BSD-3-Clause */
#include "resolve/resolve_lookup.h"

#include <ares.h>
#include <arpa/nameser.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>

#include "resolve/resolve_socket.h"

enum {
	TRY_MS = 1000, /* until a server is asked again, or the next one */
	TRIES = 3,     /* each waits twice as long as the one before */
	LOOKUP_S = 10, /* then it has failed, whatever the servers still do */
	EDNS_SIZE = 1232,
	RECORD_MIN = 16, /* bytes of the shortest address record in an answer */
};

/* A socket of c-ares. */
struct watch {
	LIST_ENTRY(watch) entry;
	struct question *q;
	struct event *event;
	int fd;
};

LIST_HEAD(watch_list, watch);

struct question {
	struct resolve_lookup *lookup;
	ares_channel channel; /* NULL: could not be made */
	struct watch_list watches;
	struct event *timer;
	int type;  /* ns_t_a, ns_t_aaaa */
	int rcode; /* of the last answer, whether c-ares liked it or not */
	bool asked, ended;
};

struct resolve_lookup {
	struct event_base *base;
	struct question question[2];
	struct event *end; /* at the latest */
	resolve_done done;
	void *ctx;
	struct resolve_found found;
	bool told;
};

/* --- results -------------------------------------------------------------------------------------- */

/* c-ares calls it a refused connection when each server failed in its way. */
static int status_of(int status, int rcode)
{
	if (status != ARES_ECONNREFUSED)
		return status;
	switch (rcode) {
	case ns_r_servfail:
		return ARES_ESERVFAIL;
	case ns_r_refused:
		return ARES_EREFUSED;
	case ns_r_notimpl:
		return ARES_ENOTIMP;
	default:
		return status;
	}
}

static const char *failure(int status)
{
	switch (status) {
	case ARES_ENOTFOUND:
		return "the name does not exist (NXDOMAIN)";
	case ARES_ESERVFAIL:
		return "the name server failed (SERVFAIL)";
	case ARES_EREFUSED:
		return "the name server refused to answer";
	case ARES_ENOTIMP:
	case ARES_EFORMERR:
		return "the name server did not understand the question";
	case ARES_ETIMEOUT:
	case ARES_ECANCELLED:
		return "no name server answered in time";
	case ARES_ECONNREFUSED:
		return "no name server can be reached";
	case ARES_EBADRESP:
		return "the answer is damaged";
	case ARES_EBADNAME:
		return "it is not a domain name";
	default:
		return ares_strerror(status);
	}
}

static uint8_t *outcome_of(struct question *q)
{
	struct resolve_found *found = &q->lookup->found;

	return q->type == ns_t_a ? &found->ipv4 : &found->ipv6;
}

static void question_failed(struct question *q, int status)
{
	char *error = q->lookup->found.error;
	size_t length = strlen(error), size = sizeof(q->lookup->found.error);
	const char *why = failure(status_of(status, q->rcode));

	*outcome_of(q) = LOOKUP_FAILED;
	if (!length || !strstr(error, why))
		snprintf(error + length, size - length, "%s%s: %s", length ? "; " : "",
			q->type == ns_t_a ? "A" : "AAAA", why);
}

static void found_add(struct resolve_found *found, const struct ip_addr *addr, int ttl)
{
	uint32_t seconds = ttl < 0 ? 0 : (uint32_t)ttl;

	if (found->count == 0 || seconds < found->ttl)
		found->ttl = seconds;
	found->addr[found->count++] = *addr;
}

/* Room for all records an answer of that length can have. */
static bool found_reserve(struct resolve_found *found, int length)
{
	unsigned room = (unsigned)length / RECORD_MIN + 1;
	struct ip_addr *more = reallocarray(found->addr, found->count + room, sizeof(*more));

	if (more)
		found->addr = more;
	return more != NULL;
}

static int take_ipv4(struct resolve_found *found, const unsigned char *answer, int length)
{
	int count = length / RECORD_MIN + 1;
	struct ares_addrttl *row = calloc((size_t)count, sizeof(*row));
	int rc = row ? ares_parse_a_reply(answer, length, NULL, row, &count) : ARES_ENOMEM;

	for (int i = 0; rc == ARES_SUCCESS && i < count; i++) {
		struct ip_addr addr = ip_addr_v4(row[i].ipaddr.s_addr);
		found_add(found, &addr, row[i].ttl);
	}
	free(row);
	return rc;
}

static int take_ipv6(struct resolve_found *found, const unsigned char *answer, int length)
{
	int count = length / RECORD_MIN + 1;
	struct ares_addr6ttl *row = calloc((size_t)count, sizeof(*row));
	int rc = row ? ares_parse_aaaa_reply(answer, length, NULL, row, &count) : ARES_ENOMEM;

	for (int i = 0; rc == ARES_SUCCESS && i < count; i++) {
		struct ip_addr addr;
		memcpy(addr.b, &row[i].ip6addr, sizeof(addr.b));
		found_add(found, &addr, row[i].ttl);
	}
	free(row);
	return rc;
}

/* c-ares has an answer, or gives up. */
static void on_answer(void *ctx, int status, int timeouts, unsigned char *answer, int length)
{
	struct question *q = ctx;
	struct resolve_found *found = &q->lookup->found;

	if (q->ended || status == ARES_EDESTRUCTION)
		return;
	q->ended = true;
	if (status == ARES_SUCCESS && !found_reserve(found, length))
		status = ARES_ENOMEM;
	if (status == ARES_SUCCESS)
		status = q->type == ns_t_a ? take_ipv4(found, answer, length)
					   : take_ipv6(found, answer, length);
	if (status == ARES_SUCCESS)
		*outcome_of(q) = LOOKUP_ANSWERED;
	else if (status == ARES_ENODATA)
		*outcome_of(q) = LOOKUP_EMPTY;
	else
		question_failed(q, status);
}

/* --- the event loop ------------------------------------------------------------------------------- */

/* The last thing that an event does: the lookup may be gone afterwards. */
static void lookup_look(struct resolve_lookup *l)
{
	for (int i = 0; i < 2; i++)
		if (l->question[i].asked && !l->question[i].ended)
			return;
	if (l->told)
		return;
	l->told = true;
	l->done(l->ctx, &l->found);
}

static void timer_set(struct question *q)
{
	struct timeval tv;

	if (q->ended)
		event_del(q->timer);
	else if (ares_timeout(q->channel, NULL, &tv))
		event_add(q->timer, &tv);
}

static void on_timer(evutil_socket_t fd, short what, void *ctx)
{
	struct question *q = ctx;

	if (!q->ended)
		ares_process_fd(q->channel, ARES_SOCKET_BAD, ARES_SOCKET_BAD);
	timer_set(q);
	lookup_look(q->lookup);
}

static void on_socket(evutil_socket_t fd, short what, void *ctx)
{
	struct question *q = ((struct watch *)ctx)->q;

	ares_process_fd(q->channel, what & EV_READ ? fd : ARES_SOCKET_BAD,
		what & EV_WRITE ? fd : ARES_SOCKET_BAD);
	timer_set(q);
	lookup_look(q->lookup);
}

static void on_end(evutil_socket_t fd, short what, void *ctx)
{
	struct resolve_lookup *l = ctx;

	for (int i = 0; i < 2; i++)
		if (l->question[i].asked && !l->question[i].ended)
			ares_cancel(l->question[i].channel);
	lookup_look(l);
}

static void watch_free(struct watch *w)
{
	LIST_REMOVE(w, entry);
	event_free(w->event);
	free(w);
}

static struct watch *watch_find(struct question *q, int fd)
{
	struct watch *w;

	LIST_FOREACH(w, &q->watches, entry)
	if (w->fd == fd)
		return w;
	return NULL;
}

/* c-ares opened, closed or changed its mind about a socket. Without memory the time runs out instead. */
static void on_socket_state(void *ctx, ares_socket_t fd, int readable, int writable)
{
	struct question *q = ctx;
	struct watch *w = watch_find(q, fd);
	short what = EV_PERSIST | (readable ? EV_READ : 0) | (writable ? EV_WRITE : 0);

	if (w)
		watch_free(w);
	if (!readable && !writable)
		return;
	w = calloc(1, sizeof(*w));
	if (!w)
		return;
	*w = (struct watch){.q = q, .fd = fd};
	w->event = event_new(q->lookup->base, fd, what, on_socket, w);
	if (!w->event || event_add(w->event, NULL)) {
		if (w->event)
			event_free(w->event);
		free(w);
		return;
	}
	LIST_INSERT_HEAD(&q->watches, w, entry);
}

/* --- begin and end -------------------------------------------------------------------------------- */

static int servers_set(ares_channel channel, const struct resolve_servers *servers)
{
	struct ares_addr_port_node node[RESOLVE_SERVERS_MAX];

	for (unsigned i = 0; i < servers->servers; i++) {
		const struct resolve_server *s = &servers->server[i];
		bool v4 = ip_is_v4(&s->addr);

		node[i] = (struct ares_addr_port_node){
			.next = i + 1 < servers->servers ? &node[i + 1] : NULL,
			.family = v4 ? AF_INET : AF_INET6,
			.udp_port = s->port,
			.tcp_port = s->port};
		if (v4)
			node[i].addr.addr4.s_addr = s->addr.w[3];
		else
			memcpy(&node[i].addr.addr6, s->addr.b, sizeof(s->addr.b));
	}
	return servers->servers ? ares_set_servers_ports(channel, node) : ARES_SUCCESS;
}

static int channel_open(struct question *q, const struct resolve_servers *servers)
{
	char *domain[RESOLVE_DOMAINS_MAX];
	struct ares_options o = {.flags = ARES_FLAG_NOALIASES | ARES_FLAG_EDNS,
		.timeout = TRY_MS,
		.tries = TRIES,
		.ednspsz = EDNS_SIZE,
		.sock_state_cb = on_socket_state,
		.sock_state_cb_data = q,
		.domains = domain,
		.ndomains = (int)servers->domains};
	int mask = ARES_OPT_FLAGS | ARES_OPT_TIMEOUTMS | ARES_OPT_TRIES | ARES_OPT_EDNSPSZ |
		   ARES_OPT_SOCK_STATE_CB;

	for (unsigned i = 0; i < servers->domains; i++)
		domain[i] = (char *)servers->domain[i];
	/* resolv.conf's own count only when its servers are asked too. */
	if (servers->servers || servers->domains)
		mask |= ARES_OPT_DOMAINS;
	int rc = ares_init_options(&q->channel, &o, mask);
	if (rc != ARES_SUCCESS) {
		q->channel = NULL;
		return rc;
	}
	resolve_sockets(q->channel, &q->rcode);
	return servers_set(q->channel, servers);
}

static bool question_ask(struct question *q, struct resolve_lookup *l,
	const struct resolve_servers *servers, const char *name, int type)
{
	static const struct timeval now;

	*q = (struct question){.lookup = l, .type = type, .asked = true};
	LIST_INIT(&q->watches);
	q->timer = event_new(l->base, -1, 0, on_timer, q);
	if (!q->timer)
		return false;
	int rc = channel_open(q, servers);
	if (rc != ARES_SUCCESS)
		on_answer(q, rc, 0, NULL, 0);
	else if (strchr(name, '.'))
		ares_query(q->channel, name, ns_c_in, type, on_answer, q);
	else
		ares_search(q->channel, name, ns_c_in, type, on_answer, q);
	timer_set(q);
	/* It may have failed at once; that is told from the event loop. */
	return !q->ended || event_add(q->timer, &now) == 0;
}

static void question_end(struct question *q)
{
	struct watch *w;

	if (q->channel)
		ares_destroy(q->channel);
	while ((w = LIST_FIRST(&q->watches)))
		watch_free(w);
	if (q->timer)
		event_free(q->timer);
}

struct resolve_lookup *resolve_lookup_new(struct event_base *base,
	const struct resolve_servers *servers, const char *name, unsigned family, resolve_done done,
	void *ctx)
{
	static const struct timeval latest = {.tv_sec = LOOKUP_S};
	struct resolve_lookup *l = calloc(1, sizeof(*l));

	if (!l)
		return NULL;
	*l = (struct resolve_lookup){.base = base, .done = done, .ctx = ctx};
	l->end = event_new(base, -1, 0, on_end, l);
	bool ok = l->end && event_add(l->end, &latest) == 0;
	if (ok && (family & RESOLVE_IPV4))
		ok = question_ask(&l->question[0], l, servers, name, ns_t_a);
	if (ok && (family & RESOLVE_IPV6))
		ok = question_ask(&l->question[1], l, servers, name, ns_t_aaaa);
	if (ok)
		return l;
	resolve_lookup_free(l);
	return NULL;
}

void resolve_lookup_free(struct resolve_lookup *l)
{
	if (!l)
		return;
	for (int i = 0; i < 2; i++)
		question_end(&l->question[i]);
	if (l->end)
		event_free(l->end);
	free(l->found.addr);
	free(l);
}
