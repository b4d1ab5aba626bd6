/* SPDX-License-Identifier: BSD-3-Clause */
/* What the store remembers beside the configuration: who changed what when, and what is not saved. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "store/store_internal.h"

#define HISTORY_FOLDED 200u /* commits that are kept when the log is folded */

uint64_t store_now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_REALTIME, &ts);
	return (uint64_t)ts.tv_sec * 1000 + (uint64_t)ts.tv_nsec / 1000000;
}

static void unsaved_clear(struct store *s)
{
	id_set_clear(&s->unsaved);
	s->unsaved_commits = 0;
}

static void commit_fill(struct store_commit *c, const struct record *r)
{
	*c = (struct store_commit){.generation = r->generation,
		.time = r->time,
		.changes = r->changes,
		.config = r->type == RECORD_COMMIT || (r->type == RECORD_PASSING && !r->ids),
		.passing = r->type == RECORD_PASSING,
		.live_id = r->ids && r->changes == 1 ? r->ids[0] : ID_NONE};
	strncpy(c->author, r->author, sizeof(c->author) - 1);
	strncpy(c->address, r->address, sizeof(c->address) - 1);
	strncpy(c->what, r->what, sizeof(c->what) - 1);
}

static void commit_add(struct store *s, const struct record *r)
{
	commit_fill(&s->history[s->history_next], r);
	s->history_next = (s->history_next + 1) % STORE_HISTORY;
	if (s->history_count < STORE_HISTORY)
		s->history_count++;
}

/* A name that has other addresses every minute does not push out what people did. */
static struct store_commit *commit_of_passing(struct store *s, const struct record *r)
{
	struct store_commit *newest =
		s->history_count
			? &s->history[(s->history_next + STORE_HISTORY - 1) % STORE_HISTORY]
			: NULL;

	return r->type == RECORD_PASSING && !r->ids && newest && newest->passing &&
			       newest->config && !strcmp(newest->author, r->author)
		       ? newest
		       : NULL;
}

/* An agent that pushes a ratio every few seconds takes one place per object, with the newest push. */
static struct store_commit *commit_of_object(struct store *s, const struct record *r)
{
	for (unsigned i = 0; r->ids && r->changes == 1 && i < s->history_count; i++)
		if (s->history[i].live_id == r->ids[0] && !strcmp(s->history[i].author, r->author))
			return &s->history[i];
	return NULL;
}

int store_note(struct store *s, const struct record *r)
{
	int rc = 0;

	s->seq = r->seq;
	if (r->type == RECORD_SAVED) {
		s->saved_generation = r->generation;
		unsaved_clear(s);
		return 0;
	}
	if (r->type == RECORD_COMMIT)
		s->unsaved_commits++;
	for (uint32_t i = 0; r->ids && i < r->changes && rc == 0 && r->type == RECORD_LIVE; i++)
		rc = id_set_add(&s->unsaved, r->ids[i]);
	struct store_commit *same = commit_of_passing(s, r);
	if (!same)
		same = commit_of_object(s, r);
	if (same)
		commit_fill(same, r);
	else
		commit_add(s, r);
	return rc;
}

const struct store_commit *store_commit_at(const struct store *s, unsigned i)
{
	if (i >= s->history_count)
		return NULL;
	return &s->history[(s->history_next + STORE_HISTORY - 1 - i) % STORE_HISTORY];
}

/* Text that came from a client may be cut within a character: then it goes without. */
static json_t *text_or_empty(const char *text)
{
	json_t *value = json_string(text);
	return value ? value : json_string("");
}

char *store_meta_dump(const struct store *s)
{
	json_t *ids = json_array(), *history = json_array();
	unsigned count = s->history_count < HISTORY_FOLDED ? s->history_count : HISTORY_FOLDED;

	for (unsigned i = 0; i < s->unsaved.count; i++)
		json_array_append_new(ids, json_integer(s->unsaved.id[i]));
	for (unsigned i = count; i-- > 0;) {
		const struct store_commit *c = store_commit_at(s, i);
		json_array_append_new(history,
			json_pack("{s:I,s:I,s:i,s:b,s:b,s:o,s:o,s:o}", "generation",
				(json_int_t)c->generation, "time", (json_int_t)c->time, "changes",
				(int)c->changes, "config", c->config, "passing", c->passing,
				"author", text_or_empty(c->author), "address",
				text_or_empty(c->address), "what", text_or_empty(c->what)));
	}
	char origin[20];
	snprintf(origin, sizeof(origin), "%016" PRIx64, s->origin);
	json_t *meta = json_pack("{s:s,s:I,s:i,s:o,s:o}", "origin", origin, "saved-generation",
		(json_int_t)s->saved_generation, "unsaved-commits", (int)s->unsaved_commits,
		"unsaved-ids", ids, "history", history);
	char *dump = meta ? json_dumps(meta, JSON_COMPACT) : NULL;
	json_decref(meta);
	return dump;
}

static enum record_type type_of(const json_t *commit)
{
	if (!json_is_true(json_object_get(commit, "config")))
		return RECORD_LIVE;
	return json_is_true(json_object_get(commit, "passing")) ? RECORD_PASSING : RECORD_COMMIT;
}

static void commits_load(struct store *s, const json_t *history)
{
	const json_t *c;
	size_t i;

	json_array_foreach(history, i, c)
	{
		const char *author = json_string_value(json_object_get(c, "author"));
		const char *address = json_string_value(json_object_get(c, "address"));
		const char *what = json_string_value(json_object_get(c, "what"));

		commit_add(s,
			&(struct record){
				.type = type_of(c),
				.generation = (uint64_t)json_integer_value(
					json_object_get(c, "generation")),
				.time = (uint64_t)json_integer_value(json_object_get(c, "time")),
				.changes =
					(uint32_t)json_integer_value(json_object_get(c, "changes")),
				.author = author ? author : "",
				.address = address ? address : "",
				.what = what ? what : "",
			});
	}
}

int store_meta_load(struct store *s, const char *json, size_t length)
{
	json_t *meta = json_loadb(json, length, 0, NULL);
	const char *origin = json_string_value(json_object_get(meta, "origin"));
	const json_t *id;
	size_t i;
	int rc = origin ? 0 : -EBADMSG;

	if (origin)
		s->origin = strtoull(origin, NULL, 16);
	s->saved_generation =
		(uint64_t)json_integer_value(json_object_get(meta, "saved-generation"));
	s->unsaved_commits = (unsigned)json_integer_value(json_object_get(meta, "unsaved-commits"));
	json_array_foreach(json_object_get(meta, "unsaved-ids"), i, id) rc =
		rc ? rc : id_set_add(&s->unsaved, (uint32_t)json_integer_value(id));
	commits_load(s, json_object_get(meta, "history"));
	json_decref(meta);
	return rc;
}

unsigned store_unsaved(const struct store *s)
{
	return s->unsaved_commits + s->unsaved.count;
}

uint64_t store_saved_generation(const struct store *s)
{
	return s->saved_generation;
}

uint64_t store_origin(const struct store *s)
{
	return s->origin;
}
