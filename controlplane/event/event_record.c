/* SPDX-License-Identifier: BSD-3-Clause */
#include "event/event_record.h"

#include <inttypes.h>
#include <openssl/evp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/utf8_read.h"

#define HASH_KEY ",\"hash\":\""
#define HASH_TAIL (sizeof(HASH_KEY) - 1 + 64 + 2) /* with the quote and the brace */
#define PREVIOUS_KEY ",\"previous\":\""

/* What one text may take of a line, so that all together never exceed it. */
#define NAME_ROOM 700u
#define CAUSE_ROOM 2500u
#define TEXT_ROOM 7000u

struct out {
	char *p;
	size_t used;
};

static void put(struct out *o, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void put(struct out *o, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	o->used += (size_t)vsnprintf(o->p + o->used, EVENT_LINE_MAX - o->used, format, ap);
	va_end(ap);
}

static void put_text(struct out *o, const char *text, size_t room)
{
	size_t left = strlen(text), end = o->used + room;

	o->p[o->used++] = '"';
	while (left && o->used + 4 < end) {
		uint32_t code;
		unsigned n = utf8_read(text, left, &code);

		if (!n || utf8_harmful(code)) {
			o->p[o->used++] = '?';
		} else {
			if (code == '"' || code == '\\')
				o->p[o->used++] = '\\';
			memcpy(o->p + o->used, text, n);
			o->used += n;
		}
		text += n ? n : 1;
		left -= n ? n : 1;
	}
	o->p[o->used++] = '"';
}

static void put_member(struct out *o, const char *key, const char *value, size_t room)
{
	if (!value)
		return;
	put(o, ",\"%s\":", key);
	put_text(o, value, room);
}

static void put_number(struct out *o, const char *key, uint64_t value, bool wanted)
{
	if (wanted)
		put(o, ",\"%s\":%" PRIu64, key, value);
}

static void put_value(struct out *o, const char *key, const struct event_value *v)
{
	if (v->kind == EVENT_TEXT)
		put_member(o, key, v->text, NAME_ROOM);
	else if (v->kind == EVENT_NUMBER)
		put(o, ",\"%s\":%" PRId64, key, v->number);
}

static void put_actor(struct out *o, const struct event_actor *a)
{
	put(o, ",\"actor\":{\"class\":\"%s\"", a->class ? a->class : "system");
	put_member(o, "name", a->name ? a->name : "", NAME_ROOM);
	put_member(o, "address", a->address ? a->address : "", NAME_ROOM);
	put(o, "}");
}

static void put_incident(struct out *o, const struct event_record *r)
{
	put_number(o, "incident", r->incident, r->part != EVENT_NO_PART);
	if (r->part != EVENT_NO_PART)
		put(o, ",\"part\":\"%s\"", event_part_name(r->part));
	put_number(o, "duration", r->duration, r->part == EVENT_CLOSES);
}

static void hash_of(const char *before, const char *line, size_t length, char out[EVENT_HASH_TEXT])
{
	EVP_MD_CTX *ctx = EVP_MD_CTX_new();
	unsigned char digest[EVP_MAX_MD_SIZE];

	/* SHA-256 is always there: without memory there is no journal to be kept. */
	if (!ctx || EVP_DigestInit_ex(ctx, EVP_sha256(), NULL) != 1 ||
		EVP_DigestUpdate(ctx, before, EVENT_HASH_TEXT - 1) != 1 ||
		EVP_DigestUpdate(ctx, line, length) != 1 ||
		EVP_DigestFinal_ex(ctx, digest, NULL) != 1)
		abort();
	EVP_MD_CTX_free(ctx);
	for (int i = 0; i < 32; i++)
		snprintf(out + 2 * i, 3, "%02x", digest[i]);
}

size_t event_record_line(const struct event_record *r, const char before[EVENT_HASH_TEXT],
	bool first, char out[EVENT_LINE_MAX], char hash[EVENT_HASH_TEXT])
{
	const struct event_message_row *m = &event_messages[r->message];
	struct out o = {out, 0};

	put(&o,
		"{\"seq\":%" PRIu64 ",\"time\":%" PRIu64
		",\"id\":\"%s\",\"level\":\"%s\",\"module\":\"%s\",\"type\":\"%s\"",
		r->seq, r->time, m->id, event_level_name(m->level), m->module, m->type);
	put_member(&o, "kind", r->kind, NAME_ROOM);
	put_member(&o, "object", r->object, NAME_ROOM);
	put_member(&o, "owner", r->owner, NAME_ROOM);
	put_actor(&o, &r->actor);
	put_value(&o, "old", &r->before);
	put_value(&o, "new", &r->after);
	put_member(&o, "cause", r->cause, CAUSE_ROOM);
	put_number(&o, "flows", r->flows, r->flows_known);
	put_number(&o, "serving", r->serving, r->of > 0);
	put_number(&o, "of", r->of, r->of > 0);
	put_number(&o, "count", r->count, r->count > 1);
	put_incident(&o, r);
	put_member(&o, "text", r->text ? r->text : "", TEXT_ROOM);
	if (first)
		put(&o, PREVIOUS_KEY "%s\"", before);
	hash_of(before, out, o.used, hash);
	put(&o, HASH_KEY "%s\"}\n", hash);
	return o.used;
}

/* --- reading -------------------------------------------------------------------------------------- */

static bool hex_copy(const char *from, char out[EVENT_HASH_TEXT])
{
	for (int i = 0; i < 64; i++)
		if (!strchr("0123456789abcdef", from[i]) || !from[i])
			return false;
	memcpy(out, from, 64);
	out[64] = 0;
	return true;
}

uint64_t event_line_seq(const char *line, size_t length)
{
	static const char key[] = "{\"seq\":";
	size_t i = sizeof(key) - 1;
	uint64_t seq = 0;

	if (length < 32 || memcmp(line, key, sizeof(key) - 1))
		return 0;
	for (; i < 27 && line[i] >= '0' && line[i] <= '9'; i++) {
		if (seq > (UINT64_MAX - 9) / 10)
			return 0;
		seq = seq * 10 + (uint64_t)(line[i] - '0');
	}
	return line[i] == ',' ? seq : 0;
}

bool event_line_parse(const char *line, size_t length, struct event_line *out)
{
	*out = (struct event_line){.seq = event_line_seq(line, length)};
	if (!out->seq || length < 2 * HASH_TAIL || memchr(line, 0, length))
		return false;
	out->hashed = length - HASH_TAIL;
	const char *tail = line + out->hashed;
	if (memcmp(tail, HASH_KEY, sizeof(HASH_KEY) - 1) || memcmp(line + length - 2, "\"}", 2) ||
		!hex_copy(tail + sizeof(HASH_KEY) - 1, out->hash))
		return false;
	/* The text before it cannot end like this: its quotes are escaped. */
	const char *previous = tail - (sizeof(PREVIOUS_KEY) - 1 + 64 + 1);
	if (previous > line && !memcmp(previous, PREVIOUS_KEY, sizeof(PREVIOUS_KEY) - 1) &&
		!hex_copy(previous + sizeof(PREVIOUS_KEY) - 1, out->previous))
		return false;
	return true;
}

bool event_line_holds(
	const char *line, const struct event_line *l, const char before[EVENT_HASH_TEXT])
{
	char hash[EVENT_HASH_TEXT];

	hash_of(before, line, l->hashed, hash);
	return !memcmp(hash, l->hash, EVENT_HASH_TEXT);
}
