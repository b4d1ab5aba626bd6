/* SPDX-License-Identifier: BSD-3-Clause */
/* When which name is asked: each has its time; those that are due are asked a few at a time. */
#include "resolve/resolver.h"

#include <ares.h>
#include <errno.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>

#include "base/clock.h"
#include "resolve/resolve_answer.h"

enum {
	AT_ONCE = 64, /* lookups that are under way */
	PACE_MS = 2,  /* between the beginnings of two */
};

struct watched {
	uint32_t key;
	char *text; /* conf.name */
	struct resolve_name conf;
	struct resolver *resolver;
	struct event *due;
	TAILQ_ENTRY(watched) entry;
	bool waits; /* is in the queue of those that are due */
	struct resolve_lookup *lookup;
	struct resolve_status status;
};

struct resolver {
	struct event_base *base;
	const struct resolver_ops *ops;
	void *ctx;
	struct resolve_servers servers;
	void *names; /* tree of struct watched by key */
	TAILQ_HEAD(, watched) queue;
	unsigned asking;
	struct event *pace;
	uint64_t last_ns; /* when the last lookup began */
};

static int key_compare(const void *a, const void *b)
{
	const struct watched *x = a, *y = b;

	return x->key < y->key ? -1 : x->key > y->key;
}

static struct watched *find(const struct resolver *r, uint32_t key)
{
	struct watched wanted = {.key = key};
	struct watched *const *node = tfind(&wanted, &r->names, key_compare);

	return node ? *node : NULL;
}

static struct timeval milliseconds(uint64_t ms)
{
	return (struct timeval){
		.tv_sec = (time_t)(ms / 1000), .tv_usec = (suseconds_t)(ms % 1000 * 1000)};
}

/* --- asking --------------------------------------------------------------------------------------- */

static void pace_set(struct resolver *r)
{
	uint64_t next = r->last_ns + PACE_MS * 1000000ull, now = clock_ns();
	struct timeval tv = milliseconds(next > now ? (next - now + 999999) / 1000000 : 0);

	if (!TAILQ_EMPTY(&r->queue) && r->asking < AT_ONCE && !evtimer_pending(r->pace, NULL))
		event_add(r->pace, &tv);
}

static void enqueue(struct watched *w)
{
	struct resolver *r = w->resolver;

	w->status.next_ns = 0;
	if (!w->waits && !w->lookup) {
		TAILQ_INSERT_TAIL(&r->queue, w, entry);
		w->waits = true;
	}
	pace_set(r);
}

static void due_at(struct watched *w, uint64_t ms)
{
	struct timeval tv = milliseconds(ms);

	w->status.next_ns = clock_ns() + ms * 1000000;
	event_add(w->due, &tv);
}

static void on_due(evutil_socket_t fd, short what, void *ctx)
{
	enqueue(ctx);
}

static void lookup_end(struct watched *w)
{
	if (!w->lookup)
		return;
	resolve_lookup_free(w->lookup);
	w->lookup = NULL;
	w->resolver->asking--;
}

static void on_found(void *ctx, const struct resolve_found *found)
{
	struct watched *w = ctx;
	struct resolver *r = w->resolver;
	bool changed = resolve_take(&w->status, found, clock_ns(), r->ops->refuse, r->ctx);

	lookup_end(w);
	due_at(w, resolve_wait(&w->conf, &w->status, arc4random()));
	pace_set(r);
	r->ops->done(r->ctx, w->key, changed);
}

static void ask(struct watched *w)
{
	struct resolver *r = w->resolver;

	w->lookup =
		resolve_lookup_new(r->base, &r->servers, w->conf.name, w->conf.family, on_found, w);
	if (w->lookup)
		r->asking++;
	else
		due_at(w, RESOLVE_WAIT_MIN * 1000);
}

static void on_pace(evutil_socket_t fd, short what, void *ctx)
{
	struct resolver *r = ctx;
	struct watched *w = TAILQ_FIRST(&r->queue);

	if (!w || r->asking >= AT_ONCE)
		return;
	TAILQ_REMOVE(&r->queue, w, entry);
	w->waits = false;
	r->last_ns = clock_ns();
	ask(w);
	pace_set(r);
}

/* --- what is watched ------------------------------------------------------------------------------ */

static void watched_free(void *ctx)
{
	struct watched *w = ctx;

	if (w->waits)
		TAILQ_REMOVE(&w->resolver->queue, w, entry);
	lookup_end(w);
	if (w->due)
		event_free(w->due);
	free(w->text);
	free(w);
}

static struct watched *watched_new(struct resolver *r, uint32_t key)
{
	struct watched *w = calloc(1, sizeof(*w));

	if (!w)
		return NULL;
	*w = (struct watched){.key = key, .resolver = r};
	w->due = event_new(r->base, -1, 0, on_due, w);
	if (w->due && tsearch(w, &r->names, key_compare))
		return w;
	watched_free(w);
	return NULL;
}

static bool name_equal(const struct resolve_name *a, const struct resolve_name *b)
{
	return a->interval == b->interval && a->down_interval == b->down_interval &&
	       a->family == b->family && !strcmp(a->name, b->name);
}

/* Of another name nothing is known; of another family its addresses, until the next good answer. */
static void status_reset(
	struct watched *w, const struct resolve_name *name, const struct resolve_addresses *known)
{
	bool same = w->text && !strcmp(w->text, name->name);

	if (same && w->conf.family == name->family)
		return;
	w->status.state = RESOLVE_CHECKING;
	w->status.error[0] = w->status.refused[0] = 0;
	if (same)
		return;
	w->status.answered_ns = 0;
	w->status.address.count = 0;
	if (!w->text && known)
		w->status.address = *known;
}

int resolver_watch(struct resolver *r, uint32_t key, const struct resolve_name *name,
	const struct resolve_addresses *known)
{
	struct watched *w = find(r, key);

	if (w && name_equal(&w->conf, name))
		return 0;
	if (!resolve_name_ok(name->name))
		return -EINVAL;
	char *text = strdup(name->name);
	if (text && !w)
		w = watched_new(r, key);
	if (!text || !w) {
		free(text);
		return -ENOMEM;
	}
	status_reset(w, name, known);
	free(w->text);
	w->text = text;
	w->conf = *name;
	w->conf.name = text;
	lookup_end(w);
	event_del(w->due);
	enqueue(w);
	return 0;
}

static void retry(const void *node, VISIT visit, void *ctx)
{
	struct watched *w = *(struct watched *const *)node;

	if ((visit != postorder && visit != leaf) || w->status.state == RESOLVE_UP)
		return;
	lookup_end(w);
	event_del(w->due);
	enqueue(w);
}

void resolver_retry(struct resolver *r)
{
	twalk_r(r->names, retry, NULL);
}

void resolver_forget(struct resolver *r, uint32_t key)
{
	struct watched *w = find(r, key);

	if (!w)
		return;
	tdelete(w, &r->names, key_compare);
	watched_free(w);
	pace_set(r);
}

const struct resolve_status *resolver_status(const struct resolver *r, uint32_t key)
{
	const struct watched *w = find(r, key);

	return w ? &w->status : NULL;
}

void resolver_set_servers(struct resolver *r, const struct resolve_servers *servers)
{
	r->servers = *servers;
}

struct resolver *resolver_new(struct event_base *base, const struct resolver_ops *ops, void *ctx)
{
	struct resolver *r = calloc(1, sizeof(*r));

	if (!r)
		return NULL;
	*r = (struct resolver){.base = base, .ops = ops, .ctx = ctx};
	TAILQ_INIT(&r->queue);
	r->pace = event_new(base, -1, 0, on_pace, r);
	if (!r->pace || ares_library_init(ARES_LIB_INIT_ALL) != ARES_SUCCESS) {
		if (r->pace)
			event_free(r->pace);
		free(r);
		return NULL;
	}
	return r;
}

void resolver_free(struct resolver *r)
{
	if (!r)
		return;
	tdestroy(r->names, watched_free);
	event_free(r->pace);
	ares_library_cleanup();
	free(r);
}

const char *resolve_state_name(unsigned state)
{
	static const char *const names[] = {
		"fqdn-checking", "fqdn-up", "fqdn-up-no-addr", "fqdn-down"};

	return state < sizeof(names) / sizeof(*names) ? names[state] : "unknown";
}
