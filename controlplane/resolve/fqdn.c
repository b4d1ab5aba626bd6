/* SPDX-License-Identifier: BSD-3-Clause */
/* Which names are watched, and when the model is made what they ask for. */
#include "resolve/fqdn.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "resolve/fqdn_internal.h"

enum {
	GATHER_MS = 200, /* answers that come together make one commit */
	LEAVE_MS = 1000, /* between looks at the connections of those that leave */
	RETRY_MS = 10000,
	DNS_PORT = 53,
	ADDRESSES_TOLD = 8, /* one by one */
};

bool fqdn_reserve(void **rows, unsigned *size, unsigned count, size_t row)
{
	if (count < *size)
		return true;
	unsigned more = *size ? 2 * *size : 16;
	void *grown = reallocarray(*rows, more, row);
	if (!grown)
		return false;
	*rows = grown;
	*size = more;
	return true;
}

/* --- turns ---------------------------------------------------------------------------------------- */

static void turn_at(struct fqdn *f, unsigned ms)
{
	uint64_t at = clock_ns() + ms * 1000000ull;
	struct timeval tv = {.tv_sec = ms / 1000, .tv_usec = (suseconds_t)(ms % 1000 * 1000)};

	if (evtimer_pending(f->turn, NULL) && f->turn_ns <= at)
		return;
	f->turn_ns = at;
	event_add(f->turn, &tv);
}

static void on_turn(evutil_socket_t fd, short what, void *ctx)
{
	struct fqdn *f = ctx;

	f->applying = true;
	int rc = f->ops->commit(f->ctx);
	f->applying = false;
	if (rc)
		turn_at(f, RETRY_MS);
	else if (f->leavings)
		turn_at(f, LEAVE_MS);
}

/* --- names ---------------------------------------------------------------------------------------- */

static unsigned name_place(const struct fqdn *f, uint32_t node)
{
	unsigned low = 0, high = f->names;

	while (low < high) {
		unsigned middle = (low + high) / 2;

		if (f->name[middle].node < node)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static struct fqdn_name *name_find(const struct fqdn *f, uint32_t node)
{
	unsigned i = name_place(f, node);

	return i < f->names && f->name[i].node == node ? &f->name[i] : NULL;
}

static bool name_add(struct fqdn *f, uint32_t node)
{
	unsigned i = name_place(f, node);

	if (i < f->names && f->name[i].node == node)
		return true;
	if (!fqdn_reserve((void **)&f->name, &f->names_size, f->names, sizeof(*f->name)))
		return false;
	memmove(&f->name[i + 1], &f->name[i], (f->names++ - i) * sizeof(*f->name));
	f->name[i] = (struct fqdn_name){.node = node, .told = RESOLVE_CHECKING};
	return true;
}

static void name_remove(struct fqdn *f, uint32_t node)
{
	unsigned i = name_place(f, node);

	resolver_forget(f->resolver, node);
	if (i < f->names && f->name[i].node == node)
		memmove(&f->name[i], &f->name[i + 1], (--f->names - i) * sizeof(*f->name));
}

static void name_watch(struct fqdn *f, const struct object *o)
{
	static const uint8_t family[] = {[NODE_FQDN_ADDRESS_FAMILY_IPV4] = RESOLVE_IPV4,
		[NODE_FQDN_ADDRESS_FAMILY_IPV6] = RESOLVE_IPV6,
		[NODE_FQDN_ADDRESS_FAMILY_ALL] = RESOLVE_ALL};
	const struct node_conf *conf = &model_node(o)->conf;
	struct resolve_name name = {.name = model_string(f->model, conf->fqdn_name),
		.family = family[conf->fqdn_address_family],
		.interval = conf->fqdn_interval,
		.down_interval = conf->fqdn_down_interval};
	struct resolve_addresses known = {0};

	if (!name_find(f, o->id))
		fqdn_known(f, o, &known);
	int rc = name_add(f, o->id) ? resolver_watch(f->resolver, o->id, &name, &known) : -ENOMEM;
	if (rc)
		log_error("ltm node %s: its name cannot be watched: %s", o->path, strerror(-rc));
}

/* --- what changes --------------------------------------------------------------------------------- */

/* Whom to ask, as "sys dns" says. */
static void servers_set(struct fqdn *f)
{
	const struct dns *d = model_dns(model_at(f->model, KIND_DNS, 0));
	struct resolve_servers servers = {0};

	for (unsigned i = 0; i < d->conf.name_servers.count && i < RESOLVE_SERVERS_MAX; i++) {
		struct resolve_server *s = &servers.server[servers.servers];

		s->port = DNS_PORT;
		if (ip_parse(model_string(f->model, d->conf.name_servers.entry[i]), &s->addr) == 0)
			servers.servers++;
	}
	for (unsigned i = 0; i < d->conf.search.count && i < RESOLVE_DOMAINS_MAX; i++)
		snprintf(servers.domain[servers.domains++], RESOLVE_NAME_MAX, "%s",
			model_string(f->model, d->conf.search.entry[i]));
	resolver_set_servers(f->resolver, &servers);
}

static void all_changed(struct fqdn *f)
{
	const struct object *o;

	f->pools_known = f->own_known = false;
	servers_set(f);
	for (unsigned i = f->names; i-- > 0;) {
		o = model_get(f->model, f->name[i].node);
		if (!o || !model_node(o) || !model_is_template(f->model, o))
			name_remove(f, f->name[i].node);
	}
	fqdn_pools(f, f->model);
	for (unsigned i = 0; (o = model_at(f->model, KIND_NODE, i)); i++)
		if (model_is_template(f->model, o))
			name_watch(f, o);
	/* Our own commit failed: not again at once. */
	if (!f->applying)
		turn_at(f, 0);
}

/* True if what is made may be another. */
static bool node_changed(struct fqdn *f, const struct model_change *row)
{
	const struct object *o = model_get(f->model, row->id);

	if (row->what == CHANGE_DELETED && name_find(f, row->id)) {
		name_remove(f, row->id);
		return true;
	}
	if (o && model_is_template(f->model, o)) {
		name_watch(f, o);
		return true;
	}
	return row->what != CHANGE_MODIFIED || row->ephemeral;
}

static bool member_changed(struct fqdn *f, const struct model_change *row)
{
	const struct object *o = model_get(f->model, row->id);

	if (row->what != CHANGE_MODIFIED)
		f->pools_known = false;
	return row->what != CHANGE_MODIFIED || row->ephemeral ||
	       (o && model_is_template(f->model, o));
}

static bool row_changed(struct fqdn *f, const struct model_change *row)
{
	switch (row->kind) {
	case KIND_NODE:
		return node_changed(f, row);
	case KIND_POOL_MEMBER:
		return member_changed(f, row);
	case KIND_DNS:
		servers_set(f);
		return false;
	case KIND_SELF:
	case KIND_VIRTUAL_ADDRESS:
	case KIND_SNAT_TRANSLATION:
		f->own_known = false;
		return false;
	default:
		return false;
	}
}

void fqdn_model_changed(struct fqdn *f, const struct model *m, const struct model_changes *changes)
{
	bool some = false;

	f->model = m;
	if (!changes) {
		all_changed(f);
		return;
	}
	for (unsigned i = 0; i < changes->count && !f->applying; i++)
		some |= row_changed(f, &changes->row[i]);
	if (some && (f->names || f->made || f->leavings))
		turn_at(f, 0);
}

/* --- answers -------------------------------------------------------------------------------------- */

static void addresses_text(const struct resolve_addresses *addresses, struct text *out)
{
	char text[IP_ADDR_TEXT];

	text_printf(out, "%u address%s", addresses->count, addresses->count == 1 ? "" : "es");
	for (unsigned i = 0; i < addresses->count && i < ADDRESSES_TOLD; i++)
		text_printf(out, "%s%s", i ? ", " : ": ", ip_format(&addresses->v[i], text));
	if (addresses->count > ADDRESSES_TOLD)
		text_printf(out, " and %u more", addresses->count - ADDRESSES_TOLD);
}

static void tell(
	struct fqdn *f, const struct object *o, unsigned before, const struct resolve_status *s)
{
	struct text text = {0};

	text_printf(&text, "ltm node %s: %s: ", o->path, resolve_state_name(s->state));
	if (s->state != RESOLVE_UP)
		text_printf(&text, "%s; in use stay ", s->error);
	addresses_text(&s->address, &text);
	if (s->refused[0])
		text_printf(&text, "; refused: %s", s->refused);
	f->ops->note(f->ctx, o, resolve_state_name(before), resolve_state_name(s->state),
		text.data ? text.data : "");
	text_fini(&text);
}

static void on_done(void *ctx, uint32_t key, bool changed)
{
	struct fqdn *f = ctx;
	struct fqdn_name *name = name_find(f, key);
	const struct resolve_status *s = resolver_status(f->resolver, key);
	const struct object *o = model_get(f->model, key);

	if (!name || !o || !s)
		return;
	if (changed || name->told != s->state)
		tell(f, o, name->told, s);
	name->told = s->state;
	if (changed)
		turn_at(f, GATHER_MS);
}

static const char *on_refuse(void *ctx, const struct ip_addr *addr)
{
	return fqdn_own_reason(ctx, addr);
}

const struct resolve_status *fqdn_status(const struct fqdn *f, uint32_t node)
{
	return name_find(f, node) ? resolver_status(f->resolver, node) : NULL;
}

void fqdn_retry(struct fqdn *f)
{
	resolver_retry(f->resolver);
}

static void ago(uint64_t from_ns, uint64_t now, char *out, size_t size)
{
	uint64_t seconds = now > from_ns ? (now - from_ns) / 1000000000 : 0;

	if (seconds < 120)
		snprintf(out, size, "%u s", (unsigned)seconds);
	else if (seconds < 7200)
		snprintf(out, size, "%u min", (unsigned)(seconds / 60));
	else
		snprintf(out, size, "%u h", (unsigned)(seconds / 3600));
}

const char *fqdn_sentence(const struct resolve_status *s, uint64_t now, char *buf, size_t size)
{
	const char *many = s->address.count == 1 ? "address" : "addresses";
	const char *stay = s->address.count == 1 ? "stays" : "stay";
	char age[24], next[40] = "being asked now";
	struct text text = {0};

	if (s->next_ns) {
		ago(now, s->next_ns, age, sizeof(age));
		snprintf(next, sizeof(next), "next in %s", age);
	}
	ago(s->answered_ns, now, age, sizeof(age));
	if (s->state == RESOLVE_UP)
		text_printf(&text, "resolved %s ago to %u %s", age, s->address.count, many);
	else if (s->state == RESOLVE_CHECKING)
		text_printf(&text, "not resolved yet");
	if (s->error[0])
		text_printf(&text, "%s%s", text.len ? "; " : "", s->error);
	if (s->refused[0])
		text_printf(&text, "; refused: %s", s->refused);
	if (s->state != RESOLVE_UP && s->address.count && s->answered_ns)
		text_printf(&text, "; the %u %s of %s ago %s in use", s->address.count, many, age,
			stay);
	else if (s->state != RESOLVE_UP && s->address.count)
		text_printf(&text, "; the %u %s from before the start %s in use", s->address.count,
			many, stay);
	text_printf(&text, ", %s", next);
	snprintf(buf, size, "%s", text.data ? text.data : "");
	text_fini(&text);
	return buf;
}

/* --- up ------------------------------------------------------------------------------------------- */

struct fqdn *fqdn_new(
	struct event_base *base, const struct model *m, const struct fqdn_ops *ops, void *ctx)
{
	static const struct resolver_ops resolver_ops = {.done = on_done, .refuse = on_refuse};
	struct fqdn *f = calloc(1, sizeof(*f));

	if (!f)
		return NULL;
	*f = (struct fqdn){.ops = ops, .ctx = ctx, .model = m};
	f->turn = event_new(base, -1, 0, on_turn, f);
	f->resolver = resolver_new(base, &resolver_ops, f);
	if (!f->turn || !f->resolver) {
		fqdn_free(f);
		return NULL;
	}
	all_changed(f);
	return f;
}

void fqdn_free(struct fqdn *f)
{
	if (!f)
		return;
	resolver_free(f->resolver);
	if (f->turn)
		event_free(f->turn);
	free(f->name);
	free(f->own);
	free(f->pool);
	free(f->leaving);
	free(f);
}
