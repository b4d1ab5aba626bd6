/* SPDX-License-Identifier: BSD-3-Clause */
#include "alert/incident.h"

#include <stdlib.h>
#include <string.h>

#include "base/utf8_read.h"
#include "event/event_message.h"
#include "ipc/ipc.h"

static const char *const texts[] = {"id", "module", "type", "kind", "object", "owner", "cause",
	"part", "level", "old", "new", "text"};
static const char *const numbers[] = {
	"seq", "time", "flows", "serving", "of", "count", "incident", "duration", "old", "new"};

#define COUNT(of) (sizeof(of) / sizeof(*(of)))

void incident_clean(char *text)
{
	char *out = text;
	uint32_t code;

	for (size_t left = strlen(text), n; left; left -= n, text += n) {
		n = utf8_read(text, left, &code);
		if (n && !utf8_harmful(code)) {
			memmove(out, text, n);
			out += n;
			continue;
		}
		*out++ = '?';
		n = n ? n : 1;
	}
	*out = 0;
}

/* Cuts at the end of a character. */
static void cut(char *text, size_t max)
{
	if (strlen(text) <= max)
		return;
	while (max && ((unsigned char)text[max] & 0xc0) == 0x80)
		max--;
	text[max] = 0;
}

/* Text of either form; a value that is none stays out. */
static bool put_text(json_t *to, const char *name, const json_t *value)
{
	char *text = value ? ipc_text_get(value, NULL) : NULL;
	json_t *clean;

	if (!text)
		return true;
	incident_clean(text);
	cut(text, INCIDENT_TEXT_MAX);
	clean = json_string(text);
	free(text);
	return json_object_set_new(to, name, clean) == 0;
}

static bool put_actor(json_t *to, const json_t *actor)
{
	json_t *own = json_object();
	bool ok = put_text(own, "class", json_object_get(actor, "class")) &&
		  put_text(own, "name", json_object_get(actor, "name")) &&
		  put_text(own, "address", json_object_get(actor, "address"));

	if (!ok || json_object_size(own) == 0) {
		json_decref(own);
		return ok;
	}
	return json_object_set_new(to, "actor", own) == 0;
}

json_t *incident_record(const json_t *record)
{
	json_t *to = json_object();
	bool ok = to != NULL;

	for (size_t i = 0; ok && i < COUNT(texts); i++)
		ok = put_text(to, texts[i], json_object_get(record, texts[i]));
	for (size_t i = 0; ok && i < COUNT(numbers); i++) {
		const json_t *value = json_object_get(record, numbers[i]);

		if (json_is_integer(value))
			ok = json_object_set_new(
				     to, numbers[i], json_integer(json_integer_value(value))) == 0;
	}
	ok = ok && put_actor(to, json_object_get(record, "actor"));
	if (ok)
		return to;
	json_decref(to);
	return NULL;
}

struct incident *incident_new(uint64_t number)
{
	struct incident *i = calloc(1, sizeof(*i));

	if (i)
		*i = (struct incident){.number = number, .level = EVENT_DEBUG};
	return i;
}

void incident_free(struct incident *i)
{
	if (!i)
		return;
	json_decref(i->open);
	json_decref(i->also);
	json_decref(i->close);
	free(i);
}

json_t *incident_save(const struct incident *i)
{
	return json_pack("{sI sI sI sI sI sI sI sb sb sb sb sb sb sI sO* sO* sO*}", "number",
		(json_int_t)i->number, "since", (json_int_t)i->since_ms, "told-at",
		(json_int_t)i->told_ms, "message", (json_int_t)i->message, "duration",
		(json_int_t)i->duration, "also-count", (json_int_t)i->also_count, "level",
		(json_int_t)i->level, "told", i->told, "closed", i->closed, "unsure", i->unsure,
		"sent", i->sent, "sent-closed", i->sent_closed, "again", i->again, "closed-at",
		(json_int_t)i->closed_ms, "open", i->open, "also", i->also, "close", i->close);
}

static json_t *kept(json_t *value, bool right)
{
	return right ? json_incref(value) : NULL;
}

struct incident *incident_load(const json_t *from)
{
	json_int_t number = 0, since = 0, told = 0, message = 0, duration = 0, also = 0, level = 0;
	json_t *open = NULL, *joined = NULL, *close = NULL;
	int is_told = 0, closed = 0, unsure = 0, sent = 0, sent_closed = 0, again = 0;
	json_int_t closed_at = 0;

	if (json_unpack((json_t *)from, "{sI sI sI sI sI sI sI sb sb sb sb sb s?b s?I s?o s?o s?o}",
		    "number", &number, "since", &since, "told-at", &told, "message", &message,
		    "duration", &duration, "also-count", &also, "level", &level, "told", &is_told,
		    "closed", &closed, "unsure", &unsure, "sent", &sent, "sent-closed",
		    &sent_closed, "again", &again, "closed-at", &closed_at, "open", &open, "also",
		    &joined, "close", &close) ||
		number <= 0 || level < 0 || level >= EVENT_LEVELS)
		return NULL;
	struct incident *i = incident_new((uint64_t)number);
	if (!i)
		return NULL;
	i->since_ms = (uint64_t)since;
	i->told_ms = (uint64_t)told;
	i->message = (uint64_t)message;
	i->duration = (uint32_t)duration;
	i->also_count = (uint32_t)also;
	i->level = (uint8_t)level;
	i->told = is_told;
	i->closed = closed;
	i->unsure = unsure;
	i->sent = sent;
	i->sent_closed = sent_closed;
	i->again = again;
	i->closed_ms = (uint64_t)closed_at;
	i->open = kept(open, json_is_object(open));
	i->also = kept(joined, json_is_array(joined));
	i->close = kept(close, json_is_object(close));
	return i;
}
