/* SPDX-License-Identifier: BSD-3-Clause */
/* When a message goes and what is in it. */
#include "alert/digest.h"

#include <string.h>

#include "alert/digest_internal.h"

#define MS_IN_S 1000u
#define MS_IN_MIN 60000u
#define DIGEST_LASTS_MS 60000u
#define DIGEST_UNSURE_MS (30ull * 24 * 60 * MS_IN_MIN)

/* May it be told of now? */
static bool allowed(const struct digest *d, const struct incident *i, bool quiet)
{
	return !quiet || i->level <= d->settings.quiet_level;
}

/* A clock that was set back must not hold a message for ever. */
static bool is_over(uint64_t since_ms, uint64_t length_ms, uint64_t now_ms)
{
	return now_ms < since_ms || now_ms - since_ms >= length_ms;
}

/* What goes bad again and again is over when it stays good for a while: else people would be told each time. */
static bool has_ended(const struct digest *d, const struct incident *i)
{
	return i->closed && (!i->again || is_over(i->closed_ms, DIGEST_LASTS_MS, d->now_ms));
}

/* It has something to say that has not been said. */
static bool has_news(const struct digest *d, const struct incident *i)
{
	return !i->told || has_ended(d, i);
}

static bool choose_opened(const struct digest *d, const struct incident *i, bool quiet)
{
	return !i->told && allowed(d, i, quiet);
}

static bool choose_closed(const struct digest *d, const struct incident *i, bool quiet)
{
	return i->told && has_ended(d, i) && allowed(d, i, quiet);
}

static bool choose_open(const struct digest *d, const struct incident *i, bool quiet)
{
	return i->told && !i->closed && !i->unsure && allowed(d, i, quiet);
}

static bool choose_news(const struct digest *d, const struct incident *i, bool quiet)
{
	return has_news(d, i);
}

typedef bool (*choice)(const struct digest *d, const struct incident *i, bool quiet);

static const struct digest_message *message_make(
	struct digest *d, enum digest_kind kind, choice chosen, bool quiet)
{
	struct digest_message *m = &d->message;

	*m = (struct digest_message){.kind = kind,
		.number = d->number + 1,
		.gone = d->gone,
		.refused = d->refused,
		.beyond = d->beyond};
	for (unsigned n = 0; n < d->count; n++) {
		struct incident *i = d->incident[n];

		i->sent = chosen(d, i, quiet);
		i->sent_closed = i->sent && has_ended(d, i);
		m->count += i->sent;
		m->closed += i->sent_closed;
	}
	return m;
}

/* Has one of the chosen waited for so long? */
static bool is_due(const struct digest *d, choice chosen, bool quiet, uint64_t now_ms)
{
	uint64_t length_ms = (uint64_t)d->settings.digest_s * MS_IN_S;

	for (unsigned n = 0; n < d->count; n++)
		if (chosen(d, d->incident[n], quiet) &&
			is_over(d->incident[n]->since_ms, length_ms, now_ms))
			return true;
	return false;
}

static bool is_reminder_due(const struct digest *d, bool quiet, uint64_t now_ms)
{
	uint64_t length_ms = (uint64_t)d->settings.remind_min * MS_IN_MIN;

	for (unsigned n = 0; length_ms && n < d->count; n++)
		if (choose_open(d, d->incident[n], quiet) &&
			is_over(d->incident[n]->told_ms, length_ms, now_ms))
			return true;
	return false;
}

static bool has_held_back(const struct digest *d)
{
	for (unsigned n = 0; n < d->count; n++)
		if (has_news(d, d->incident[n]))
			return true;
	return false;
}

static bool is_over_and_told(const struct digest *d, const struct incident *i)
{
	return i->told && has_ended(d, i);
}

/* Its end may have been among records that are gone: nobody can wait for ever. */
static bool is_lost(const struct digest *d, const struct incident *i)
{
	return i->told && !i->closed && i->unsure && i->told_ms + DIGEST_UNSURE_MS <= d->now_ms;
}

const struct digest_message *digest_next(struct digest *d, uint64_t now_ms, bool quiet)
{
	bool ended = d->was_quiet && !quiet;

	d->now_ms = now_ms;
	if (d->message.kind)
		return &d->message;
	if (d->settings.no_ends)
		digest_purge(d, is_over_and_told);
	digest_purge(d, is_lost);
	d->was_quiet = quiet;
	if (ended && has_held_back(d))
		return message_make(d, DIGEST_SUMMARY, choose_news, quiet);
	if (is_due(d, choose_opened, quiet, now_ms))
		return message_make(d, DIGEST_OPENED, choose_opened, quiet);
	if (is_due(d, choose_closed, quiet, now_ms))
		return message_make(d, DIGEST_CLOSED, choose_closed, quiet);
	if (is_reminder_due(d, quiet, now_ms))
		return message_make(d, DIGEST_REMINDER, choose_open, quiet);
	if (!quiet && d->news_ms && is_over(d->news_ms, d->settings.digest_s * MS_IN_S, now_ms))
		return message_make(d, DIGEST_OPENED, choose_opened, quiet);
	return NULL;
}

bool digest_idle(const struct digest *d)
{
	return d->count == 0 && !d->news_ms && !d->message.kind && !d->was_quiet;
}

/* Has it ended, and been told so? */
static bool is_done(const struct digest *d, const struct incident *i)
{
	return i->sent && i->sent_closed && i->closed;
}

static void message_end(struct digest *d)
{
	digest_purge(d, is_done);
	for (unsigned n = 0; n < d->count; n++)
		d->incident[n]->sent = d->incident[n]->sent_closed = false;
	d->number = d->message.number;
	json_decref(d->message.left);
	d->message = (struct digest_message){0};
}

static void incidents_told(struct digest *d, uint64_t message, uint64_t now_ms)
{
	for (unsigned n = 0; n < d->count; n++) {
		struct incident *i = d->incident[n];

		if (!i->sent)
			continue;
		/* It ended while the message was on its way: that is news of now. */
		if (!i->told && i->closed)
			i->since_ms = now_ms;
		if (!i->told)
			i->message = message;
		i->told = true;
		i->told_ms = now_ms;
		/* It opened again while its end was on its way. */
		if (i->sent_closed && !i->closed) {
			i->told = false;
			i->since_ms = now_ms;
		}
	}
}

void digest_taken(struct digest *d, uint64_t now_ms)
{
	if (!d->message.kind)
		return;
	incidents_told(d, d->message.number, now_ms);
	/* What became known since then is left for the next. */
	d->gone -= d->message.gone;
	d->refused -= d->message.refused;
	d->beyond -= d->message.beyond;
	d->news_ms = d->gone || d->refused || d->beyond ? now_ms : 0;
	message_end(d);
}

void digest_refused(struct digest *d, uint64_t now_ms)
{
	if (!d->message.kind)
		return;
	incidents_told(d, 0, now_ms);
	/* A message that says nothing but this would be refused like the one before. */
	if (d->message.count)
		d->refused++;
	message_end(d);
}

void digest_again(struct digest *d, bool frozen, json_t *left)
{
	struct digest_message *m = &d->message;

	if (!m->kind)
		return;
	if (frozen) {
		json_incref(left);
		json_decref(m->left);
		m->left = left;
		m->frozen = true;
		return;
	}
	if (m->frozen)
		return;
	/* What was held back in quiet hours is still one summary. */
	d->was_quiet = d->was_quiet || m->kind == DIGEST_SUMMARY;
	*m = (struct digest_message){0};
	for (unsigned n = 0; n < d->count; n++)
		d->incident[n]->sent = d->incident[n]->sent_closed = false;
}

const struct incident *digest_sent(const struct digest *d, uint64_t number)
{
	for (unsigned n = digest_place(d, number + 1); n < d->count; n++)
		if (d->incident[n]->sent)
			return d->incident[n];
	return NULL;
}
