/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Verdicts in a file of the store, so that neither a restart of weir-cp nor one of both daemons changes what
 * is usable. The file is a head, then one record for each object whenever something of it has changed; the last
 * one counts. What changes in one turn of the loop is appended at its end; the file is written anew when most of
 * it is old. It needs no fsync: after a crash of the machine old verdicts are as good as none, since probes tell.
 */
#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "api/snapshot.h"
#include "base/log.h"
#include "health/health_internal.h"
#include "store/atomic_file.h"

#define FILE_NAME "verdicts"
#define FILE_MAGIC 0x31544352454dull
#define SLACK (1u << 16) /* bytes of old records that are always allowed */

/* In the machine's byte order: the store never leaves the machine. */
struct file_head {
	uint64_t magic, origin;
};

struct object_record {
	uint64_t checksum; /* of what follows, with the instances */
	uint32_t length;   /* of the record, a multiple of 8 */
	uint32_t id;
	uint64_t since;
	uint32_t instances;
	uint8_t verdict; /* VERDICT_UNCHECKED and no instances: forgotten */
	uint8_t resume;
	uint8_t reserved[2];
};

/* Its reason follows, padded to 8 bytes. */
struct inst_record {
	uint64_t since;
	uint32_t monitor;
	uint16_t reason; /* bytes */
	uint8_t said, resume;
};

#define CHECKED_FROM offsetof(struct object_record, length)

struct kept {
	uint32_t id;
	size_t offset;
};

struct health_store {
	struct health *h;
	char *path;
	uint64_t origin;
	struct event *timer;
	uint32_t *changed; /* ids of objects */
	unsigned count, room;
	size_t length, live; /* of the file; of its last records when it was written anew */
	bool loading;
	char *data; /* what was read, while objects are filled */
	struct kept *kept;
	unsigned kept_count;
	bool broken; /* cannot be written; said once */
};

/* --- reading -------------------------------------------------------------------------------------- */

static bool record_good(const char *data, size_t room, struct object_record *r)
{
	if (room < sizeof(*r))
		return false;
	memcpy(r, data, sizeof(*r));
	return r->length >= sizeof(*r) && r->length % 8 == 0 && r->length <= room &&
	       r->verdict < VERDICTS && r->instances <= MODEL_RULE_MAX &&
	       r->checksum == snapshot_checksum(data + CHECKED_FROM, r->length - CHECKED_FROM);
}

static int kept_order(const void *a, const void *b)
{
	const struct kept *x = a, *y = b;

	if (x->id != y->id)
		return x->id < y->id ? -1 : 1;
	return x->offset < y->offset ? -1 : x->offset > y->offset;
}

/* The last record of each object stays. */
static void kept_unique(struct health_store *s)
{
	unsigned n = 0;

	qsort(s->kept, s->kept_count, sizeof(*s->kept), kept_order);
	for (unsigned i = 0; i < s->kept_count; i++)
		if (i + 1 == s->kept_count || s->kept[i + 1].id != s->kept[i].id)
			s->kept[n++] = s->kept[i];
	s->kept_count = n;
}

static void records_find(struct health_store *s, size_t size)
{
	size_t most = size / sizeof(struct object_record), at = sizeof(struct file_head);
	struct object_record r;

	s->kept = most ? calloc(most, sizeof(*s->kept)) : NULL;
	if (!s->kept)
		return;
	for (; record_good(s->data + at, size - at, &r); at += r.length)
		s->kept[s->kept_count++] = (struct kept){r.id, at};
	if (at < size)
		log_error("%s: damaged at byte %zu of %zu: what stands behind it is lost, those "
			  "servers "
			  "are as before it or checked anew",
			s->path, at, size);
	kept_unique(s);
}

static void file_load(struct health_store *s)
{
	struct file_head head = {0};
	size_t size;
	int rc = file_read(s->path, &s->data, &size);

	if (rc) {
		s->data = NULL;
		if (rc != -ENOENT)
			log_error("%s: cannot be read: %s", s->path, strerror(-rc));
		return;
	}
	memcpy(&head, s->data, size < sizeof(head) ? size : sizeof(head));
	if (size < sizeof(head) || head.magic != FILE_MAGIC)
		log_error("%s: damaged: all servers are checked anew", s->path);
	else if (head.origin != s->origin)
		log_notice("%s: of another configuration: all servers are checked anew", s->path);
	else
		records_find(s, size);
}

static const char *record_of(const struct health_store *s, uint32_t id, struct object_record *r)
{
	struct kept key = {.id = id};
	unsigned low = 0, high = s->kept_count;

	while (low < high) {
		unsigned middle = low + (high - low) / 2;

		if (s->kept[middle].id < key.id)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == s->kept_count || s->kept[low].id != id)
		return NULL;
	memcpy(r, s->data + s->kept[low].offset, sizeof(*r));
	return s->data + s->kept[low].offset;
}

bool health_store_object(struct health *h, struct health_object *o)
{
	struct object_record r;

	if (!h->store || !record_of(h->store, o->id, &r))
		return false;
	o->fresh = false;
	o->resume = r.resume;
	return verdicts_set(h->verdicts, o->id, r.verdict, r.since, NULL) >= 0;
}

static const char *inst_find(
	const char *at, const char *end, uint32_t monitor, struct inst_record *r)
{
	while (at + sizeof(*r) <= end) {
		memcpy(r, at, sizeof(*r));
		at += sizeof(*r);
		if (r->reason > end - at)
			return NULL;
		if (r->monitor == monitor)
			return at;
		at += (r->reason + 7u) & ~7u;
	}
	return NULL;
}

bool health_store_instance(struct health *h, struct health_inst *in)
{
	struct object_record r;
	struct inst_record i;
	const char *record = h->store ? record_of(h->store, in->object->id, &r) : NULL;
	const char *reason =
		record ? inst_find(record + sizeof(r), record + r.length, in->monitor->id, &i)
		       : NULL;

	if (!reason || i.said >= MON_VERDICTS)
		return false;
	in->said = i.said;
	in->since = i.since;
	in->resume = i.resume;
	in->reason = i.reason ? strndup(reason, i.reason) : NULL;
	return true;
}

/* --- writing -------------------------------------------------------------------------------------- */

static void object_encode(const struct health *h, const struct health_object *o, struct text *out)
{
	static const char zero[8];
	struct verdict_row v = verdicts_get(h->verdicts, o->id);
	struct object_record r = {
		.id = o->id, .since = v.since, .verdict = v.verdict, .resume = o->resume};
	size_t start = out->len;

	text_add(out, (const char *)&r, sizeof(r));
	for (const struct health_inst *in = o->instances; in; in = in->next) {
		struct inst_record i = {.since = in->since,
			.monitor = in->monitor->id,
			.reason = (uint16_t)(in->reason ? strlen(in->reason) : 0),
			.said = in->said,
			.resume = in->resume};

		text_add(out, (const char *)&i, sizeof(i));
		text_add(out, in->reason ? in->reason : "", i.reason);
		text_add(out, zero, -i.reason & 7u);
		r.instances++;
	}
	if (out->failed)
		return;
	r.length = (uint32_t)(out->len - start);
	memcpy(out->data + start, &r, sizeof(r));
	r.checksum = snapshot_checksum(out->data + start + CHECKED_FROM, r.length - CHECKED_FROM);
	memcpy(out->data + start, &r, sizeof(r));
}

static int file_renew(struct health_store *s)
{
	const struct file_head head = {FILE_MAGIC, s->origin};
	struct text out = {0};

	text_add(&out, (const char *)&head, sizeof(head));
	for (uint32_t i = 0; i < s->h->objects; i++)
		if (s->h->object[i] && (s->h->object[i]->instances || s->h->object[i]->resume))
			object_encode(s->h, s->h->object[i], &out);
	int rc = out.failed ? -ENOMEM : file_replace(s->path, out.data, out.len, 0600);
	if (rc == 0)
		s->length = s->live = out.len;
	text_fini(&out);
	return rc;
}

static int append(const struct health_store *s, const struct text *out)
{
	int fd = open(s->path, O_WRONLY | O_APPEND | O_CLOEXEC | O_NOFOLLOW);

	if (fd < 0)
		return -errno;
	int rc = file_write_all(fd, out->data, out->len);
	close(fd);
	return rc;
}

static int changes_write(struct health_store *s)
{
	struct text out = {0};

	for (unsigned i = 0; i < s->count; i++) {
		const struct health_object gone = {.id = s->changed[i]};
		const struct health_object *o = health_object_get(s->h, s->changed[i]);

		object_encode(s->h, o ? o : &gone, &out);
	}
	int rc = out.failed ? -ENOMEM : append(s, &out);
	if (rc == 0)
		s->length += out.len;
	text_fini(&out);
	return rc;
}

void health_store_save(struct health_store *s)
{
	if (!s->count)
		return;
	int rc = s->broken ? -EIO : changes_write(s);
	/* A record that is cut off would hide those behind it. */
	if (rc || s->length > 2 * s->live + SLACK)
		rc = file_renew(s);
	if (rc && !s->broken)
		log_error("%s: cannot be written: %s", s->path, strerror(-rc));
	s->broken = rc != 0;
	if (rc) {
		event_add(s->timer, &(struct timeval){.tv_sec = 1});
		return;
	}
	for (unsigned i = 0; i < s->count; i++) {
		struct health_object *o = health_object_get(s->h, s->changed[i]);
		if (o)
			o->unsaved = false;
	}
	s->count = 0;
	event_del(s->timer);
}

static void on_timer(evutil_socket_t fd, short what, void *ctx)
{
	health_store_save(ctx);
}

static bool changed_room(struct health_store *s)
{
	unsigned room = s->room ? 2 * s->room : 256;

	if (s->count < s->room)
		return true;
	uint32_t *more = reallocarray(s->changed, room, sizeof(*more));
	if (!more)
		return false;
	s->changed = more;
	s->room = room;
	return true;
}

void health_store_changed(struct health_store *s, uint32_t object)
{
	struct health_object *o = health_object_get(s->h, object);

	if (s->loading || (o && o->unsaved))
		return;
	if (!changed_room(s)) {
		log_error("%s: no memory", s->path);
		return;
	}
	s->changed[s->count++] = object;
	if (o)
		o->unsaved = true;
	if (s->count == 1)
		event_add(s->timer, &(struct timeval){0});
}

/* --- open and close ------------------------------------------------------------------------------- */

struct health_store *health_store_open(
	struct health *h, const char *dir, uint64_t origin, char *reason, size_t size)
{
	struct health_store *s = calloc(1, sizeof(*s));

	snprintf(reason, size, "no memory");
	if (!s)
		return NULL;
	s->h = h;
	s->loading = true;
	s->origin = origin;
	s->timer = evtimer_new(h->base, on_timer, s);
	if (!s->timer || asprintf(&s->path, "%s/" FILE_NAME, dir) < 0) {
		s->path = NULL;
		health_store_close(s);
		return NULL;
	}
	file_load(s);
	return s;
}

void health_store_loaded(struct health_store *s)
{
	free(s->data);
	free(s->kept);
	s->data = NULL;
	s->kept = NULL;
	s->kept_count = 0;
	s->loading = false;
	int rc = file_renew(s);
	if (rc)
		log_error("%s: cannot be written: %s", s->path, strerror(-rc));
	s->broken = rc != 0;
}

void health_store_close(struct health_store *s)
{
	if (!s)
		return;
	if (!s->loading)
		health_store_save(s);
	if (s->timer)
		event_free(s->timer);
	free(s->changed);
	free(s->data);
	free(s->kept);
	free(s->path);
	free(s);
}
