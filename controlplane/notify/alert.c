/* SPDX-License-Identifier: BSD-3-Clause */
#include "notify/alert.h"

#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"

enum {
	WAIT_MAX_S = 60,
	REFUSED_TRIES = 3,   /* then a message that is refused is given up */
	DEFERRED_TRIES = 40, /* then those who may or may not have got it do not get it again */
	SEEN_SAVE_MS = 2000, /* between two writes, when nothing but records of no interest came */
};

void *alert_new(struct receiver *r, const struct alert_sender *sender, const json_t *settings,
	const char **reason)
{
	struct alert *a = calloc(1, sizeof(*a));

	if (!a) {
		*reason = "no memory";
		return NULL;
	}
	*a = (struct alert){.receiver = r, .sender = sender};
	digest_init(&a->digest, &(struct digest_settings){0});
	if (alert_settings(a, settings, reason) == 0) {
		if (alert_state_load(a) == 0)
			a->own = sender->create(a, settings, reason);
		else
			*reason = "its state cannot be read";
	}
	if (a->own)
		return a;
	digest_fini(&a->digest);
	free(a);
	return NULL;
}

/* Numbers of messages go on: their names must not come twice. */
void alert_forget(void *self)
{
	struct alert *a = self;
	struct digest_settings settings = a->digest.settings;
	uint64_t number = a->digest.message.kind ? a->digest.message.number : a->digest.number;

	digest_fini(&a->digest);
	digest_init(&a->digest, &settings);
	a->digest.number = number;
	a->saved_seq = 0;
	a->dirty = false;
	unlink(a->path);
}

enum receiver_answer alert_offer(void *self, const json_t *record)
{
	struct alert *a = self;

	if (digest_record(&a->digest, record, clock_wall_ms()))
		return RECEIVER_FULL;
	if (json_object_get(record, "incident"))
		a->dirty = true;
	return RECEIVER_HELD;
}

/* All that was offered is in the digest, and comes again harmlessly. */
void alert_reset(void *self) {}

void alert_gone(void *self, uint64_t records)
{
	struct alert *a = self;

	digest_gone(&a->digest, records, clock_wall_ms());
	a->dirty = true;
}

/* The core may forget what has reached the disk here. */
static void save(struct alert *a, uint64_t now_ms)
{
	bool seen = a->digest.seen != a->saved_seq && now_ms - a->saved_ms >= SEEN_SAVE_MS;

	if ((!a->dirty && !seen) || alert_state_save(a))
		return;
	a->saved_ms = now_ms;
	receiver_taken(a->receiver, a->saved_seq);
	receiver_more(a->receiver);
}

static bool is_quiet(const struct alert *a, uint64_t now_ms)
{
	time_t now = (time_t)(now_ms / 1000);
	struct tm local;

	return localtime_r(&now, &local) && quiet_at(&a->quiet, &local);
}

void alert_tick(void *self)
{
	struct alert *a = self;
	uint64_t now_ms = clock_wall_ms();
	bool quiet = is_quiet(a, now_ms), begins = false;

	if (a->sender->tick)
		a->sender->tick(a->own);
	if (!a->sending && (!digest_idle(&a->digest) || quiet) &&
		(now_ms >= a->retry_ms || a->retry_ms > now_ms + WAIT_MAX_S * 1000)) {
		begins = digest_next(&a->digest, now_ms, quiet) != NULL;
		a->sending = begins;
		a->dirty = a->dirty || begins;
	}
	/* First its number to the disk: after a crash it is sent under the same. */
	save(a, now_ms);
	if (begins)
		a->sender->send(a->own, &a->digest.message);
}

static void again(struct alert *a, bool frozen, json_t *left)
{
	digest_again(&a->digest, frozen, left);
	a->wait_s = !a->wait_s ? 1 : a->wait_s * 2 < WAIT_MAX_S ? a->wait_s * 2 : WAIT_MAX_S;
	a->retry_ms = clock_wall_ms() + a->wait_s * 1000;
}

/* Is it time to give the message up? */
static bool is_enough(const struct alert *a, enum alert_result result)
{
	if (a->tries_max && a->tries >= a->tries_max)
		return true;
	return (result == ALERT_REFUSED && a->tries >= REFUSED_TRIES) ||
	       (result == ALERT_UNSURE && a->tries >= DEFERRED_TRIES); /* each may have arrived */
}

void alert_sent(struct alert *a, enum alert_result result, json_t *left, const char *reason)
{
	uint64_t now_ms = clock_wall_ms();
	bool over = result == ALERT_TAKEN;

	a->sending = false;
	a->tries++;
	receiver_error(a->receiver, reason);
	if (over) {
		digest_taken(&a->digest, now_ms);
	} else if (is_enough(a, result)) {
		log_error("%s: a message is given up: %s", receiver_name(a->receiver), reason);
		over = true;
		if (result == ALERT_UNSURE)
			digest_taken(&a->digest, now_ms);
		else
			digest_refused(&a->digest, now_ms);
	} else {
		again(a, result == ALERT_UNSURE, left);
	}
	if (over) {
		a->tries = a->wait_s = 0;
		a->retry_ms = 0;
	}
	a->dirty = true;
	save(a, now_ms);
}

void alert_test(void *self, uint64_t number)
{
	struct alert *a = self;

	a->sender->test(a->own, number);
}

void alert_free(void *self)
{
	struct alert *a = self;

	if (!a)
		return;
	a->sender->free(a->own);
	if (a->dirty || a->digest.seen != a->saved_seq)
		alert_state_save(a);
	digest_fini(&a->digest);
	free(a);
}
