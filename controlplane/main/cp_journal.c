/* SPDX-License-Identifier: BSD-3-Clause */
/* Where the journal lies, and what weir-cp as a whole writes to it. */
#include <errno.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <stdio.h>
#include <string.h>

#include "main/cp.h"

#define MIB (1ull << 20)

/* A key of its own: what authenticates the journal must not decrypt passwords. */
static bool key_derive(const uint8_t machine_key[MODEL_KEY_BYTES], uint8_t key[JOURNAL_KEY_BYTES])
{
	static const unsigned char purpose[] = "weir journal head";
	unsigned length = 0;

	return HMAC(EVP_sha256(), machine_key, MODEL_KEY_BYTES, purpose, sizeof(purpose) - 1, key,
		       &length) &&
	       length == JOURNAL_KEY_BYTES;
}

int cp_journal_init(struct cp *cp, const uint8_t machine_key[MODEL_KEY_BYTES])
{
	uint8_t key[JOURNAL_KEY_BYTES];
	char folder[4000];
	int rc = -ENOMEM;

	snprintf(folder, sizeof(folder), "%s/journal", cp->store_dir);
	if (key_derive(machine_key, key))
		rc = journal_open(&cp->journal, folder, key, cp_log_written, cp);
	explicit_bzero(key, sizeof(key));
	return rc;
}

void cp_journal_second(struct cp *cp)
{
	journal_store_limit(cp->journal.store, model_db_value(cp->model, "log.journal.size") * MIB);
	cp_limits_second(cp);
	cp_live_second(cp, false);
	journal_second(&cp->journal);
	journal_store_sync(cp->journal.store);
}

void cp_journal_note(struct cp *cp, enum event_message message, const struct object *o,
	const struct cp_user *user, const char *text)
{
	const struct object *owner = o ? model_get(cp->model, o->owner) : NULL;

	journal_write(&cp->journal,
		&(struct event_record){.message = message,
			.kind = o ? model_kinds[o->kind].full : NULL,
			.object = o ? o->path : NULL,
			.owner = owner ? owner->path : NULL,
			.actor = user ? cp_journal_actor(user) : (struct event_actor){0},
			.text = text});
}

void cp_journal_part(
	struct cp *cp, enum event_message message, const char *kind, bool good, const char *text)
{
	journal_tell(&cp->journal,
		&(struct event_record){.message = message, .kind = kind, .text = text},
		&(struct journal_ask){.turn = good ? JOURNAL_GOOD : JOURNAL_BAD});
}

static const struct object *find(
	const struct cp *cp, const char *kind, const char *owner, const char *object)
{
	int k = kind ? cp_kind(kind) : -1;
	const struct object *over = NULL;

	if (k < 0 || (model_kinds[k].owner >= 0) != (owner != NULL) || !object)
		return NULL;
	if (owner && !(over = model_find(cp->model, model_kinds[k].owner, ID_NONE, owner)))
		return NULL;
	return model_find(cp->model, k, over ? over->id : ID_NONE, object);
}

static bool exists(void *ctx, const char *kind, const char *owner, const char *object)
{
	return find(ctx, kind, owner, object);
}

/* A limit that was reached before the start: who is at it now is looked at as ever. */
static void limit_take_up(void *ctx, const struct incident_entry *e)
{
	static const enum event_message messages[] = {
		MESSAGE_LIMIT_REACHED, MESSAGE_PORT_EXHAUSTION};
	struct cp *cp = ctx;

	for (size_t i = 0; i < sizeof(messages) / sizeof(*messages) && !e->good; i++) {
		const struct object *o =
			e->thing.aspect == journal_aspect(messages[i])
				? find(cp, e->thing.kind, e->thing.owner, e->thing.object)
				: NULL;

		if (o)
			cp_limit_reached(cp, o->id, messages[i]);
	}
}

/* Of objects that another process deleted, or a start from another configuration. */
void cp_journal_reconcile(struct cp *cp)
{
	journal_reconcile(&cp->journal, exists, cp);
	incidents_each(cp->journal.incidents, limit_take_up, cp);
}

struct event_actor cp_journal_actor(const struct cp_user *user)
{
	return (struct event_actor){.class = hold_class_name[user->class],
		.name = user->name,
		.address = user->address};
}

/* The path of a child stands behind its owner's. */
static void row_gone(struct cp *cp, const struct model_change *row)
{
	const struct kind *kind = &model_kinds[row->kind];
	char owner[MODEL_NAME_MAX];
	size_t n = strcspn(row->path, " ");

	if (kind->owner < 0) {
		journal_gone(&cp->journal, kind->full, NULL, row->path);
		return;
	}
	snprintf(owner, sizeof(owner), "%.*s", (int)n, row->path);
	journal_gone(&cp->journal, kind->full, owner, row->path + n + (row->path[n] == ' '));
}

void cp_journal_commit(
	struct cp *cp, const struct cp_commit *commit, const struct model_changes *changes)
{
	const struct event_actor actor = cp_journal_actor(commit->user);

	if (changes->config)
		journal_commit(&cp->journal, &actor, commit->what, changes);
	cp_live_commit(cp, commit, changes);
	for (unsigned i = 0; i < changes->count; i++)
		if (changes->row[i].what == CHANGE_DELETED)
			row_gone(cp, &changes->row[i]);
}
