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
	journal_second(&cp->journal);
	journal_store_sync(cp->journal.store);
}

struct event_actor cp_journal_actor(const struct cp_user *user)
{
	return (struct event_actor){.class = hold_class_name[user->class],
		.name = user->name,
		.address = user->address};
}

void cp_journal_commit(
	struct cp *cp, const struct cp_commit *commit, const struct model_changes *changes)
{
	const struct event_actor actor = cp_journal_actor(commit->user);

	if (changes->config)
		journal_commit(&cp->journal, &actor, commit->what, changes);
}
