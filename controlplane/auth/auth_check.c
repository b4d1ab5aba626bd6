/* SPDX-License-Identifier: BSD-3-Clause */
/* Passwords against hashes: what was right a moment ago is remembered, the rest is done by a few threads. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "auth/auth_internal.h"
#include "base/clock.h"
#include "base/ids.h"
#include "model/model.h"

/* --- remembered ----------------------------------------------------------------------------------- */

static struct remembered *place_in_memory(struct auth *a, const uint8_t digest[DIGEST])
{
	return &a->remembered[(digest[0] | (unsigned)digest[1] << 8) % REMEMBERED];
}

static bool is_remembered(struct auth *a, const uint8_t digest[DIGEST])
{
	const struct remembered *r = place_in_memory(a, digest);

	return r->end_ns > clock_ns() && digest_same(r->digest, digest);
}

static void remember(struct auth *a, const struct job *job)
{
	struct remembered *r = place_in_memory(a, job->digest);

	*r = (struct remembered){
		.user = job->user, .end_ns = clock_ns() + AUTH_REMEMBER_SECONDS * 1000000000ull};
	memcpy(r->digest, job->digest, DIGEST);
}

/* --- jobs ----------------------------------------------------------------------------------------- */

static void secret_wipe(char *text)
{
	if (text)
		explicit_bzero(text, strlen(text));
	free(text);
}

static void job_free(struct job *job)
{
	secret_wipe(job->password);
	secret_wipe(job->fresh);
	secret_wipe(job->hash);
	secret_wipe(job->fresh_hash);
	free(job);
}

static struct job *job_find(const struct auth *a, const uint8_t digest[DIGEST])
{
	struct job *job;

	TAILQ_FOREACH(job, &a->jobs, entry)
	if (!job->fresh && digest_same(job->digest, digest))
		return job;
	return NULL;
}

/* What is checked for a user who has nothing to check. */
static const char nobody[] =
	"$y$j9T$1oudBnFQHkLI6cUDr0BXB1$wACSOATPauIxMXxjtOOXKo5j.cXdyVYrQ20rX52efw9";

/*
 * In a thread. Every answer takes as long as one check of the hashes that are made today: so the time does not tell
 * that a user does not exist, or has an older hash.
 */
static void job_do(struct job *job)
{
	bool usual = !strncmp(job->hash, nobody, 6);

	if (!usual)
		password_verify(job->password, nobody);
	job->right = *job->hash && password_verify(job->password, job->hash);
	if (job->right && job->fresh)
		job->fresh_hash = password_hash(job->fresh);
}

static void *thread_run(void *ctx)
{
	struct auth *a = ctx;

	pthread_mutex_lock(&a->lock);
	while (!a->stop) {
		struct job *job = STAILQ_FIRST(&a->waiting);
		if (!job) {
			pthread_cond_wait(&a->work, &a->lock);
			continue;
		}
		STAILQ_REMOVE_HEAD(&a->waiting, queue);
		job->begun = true;
		pthread_mutex_unlock(&a->lock);
		job_do(job);
		pthread_mutex_lock(&a->lock);
		STAILQ_INSERT_TAIL(&a->done, job, queue);
		if (write(a->wake[1], "", 1) < 0 && errno != EAGAIN)
			break;
	}
	pthread_mutex_unlock(&a->lock);
	return NULL;
}

/* Not before the first check: then privileges are given up, also for the threads. */
static bool threads_start(struct auth *a)
{
	sigset_t all, before;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	while (a->threads < THREADS &&
		pthread_create(&a->thread[a->threads], NULL, thread_run, a) == 0)
		a->threads++;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return a->threads > 0;
}

static void job_finish(struct auth *a, struct job *job)
{
	struct auth_check *check;

	TAILQ_REMOVE(&a->jobs, job, entry);
	a->job_count--;
	if (job->right) {
		failures_forget(a, job->name, job->place);
		remember(a, job);
	} else {
		failures_delay(a, job->name, job->place);
	}
	while ((check = TAILQ_FIRST(&job->asked))) {
		TAILQ_REMOVE(&job->asked, check, entry);
		check->checked(check->ctx, job->right, job->fresh_hash);
		free(check);
	}
	job_free(job);
}

static void on_finished(evutil_socket_t fd, short what, void *ctx)
{
	struct auth *a = ctx;
	struct job_queue done = STAILQ_HEAD_INITIALIZER(done);
	struct job *job;
	char bytes[64];

	while (read(fd, bytes, sizeof(bytes)) > 0)
		;
	pthread_mutex_lock(&a->lock);
	STAILQ_CONCAT(&done, &a->done);
	pthread_mutex_unlock(&a->lock);
	while ((job = STAILQ_FIRST(&done))) {
		STAILQ_REMOVE_HEAD(&done, queue);
		job_finish(a, job);
	}
}

int checks_init(struct auth *a, struct event_base *base)
{
	TAILQ_INIT(&a->jobs);
	STAILQ_INIT(&a->waiting);
	STAILQ_INIT(&a->done);
	a->wake[0] = a->wake[1] = -1;
	pthread_mutex_init(&a->lock, NULL);
	pthread_cond_init(&a->work, NULL);
	if (pipe2(a->wake, O_NONBLOCK | O_CLOEXEC))
		return -ENOMEM;
	a->finished = event_new(base, a->wake[0], EV_READ | EV_PERSIST, on_finished, a);
	return a->finished && event_add(a->finished, NULL) == 0 ? 0 : -ENOMEM;
}

static void job_drop(struct job *job)
{
	struct auth_check *check;

	while ((check = TAILQ_FIRST(&job->asked))) {
		TAILQ_REMOVE(&job->asked, check, entry);
		free(check);
	}
	job_free(job);
}

void checks_free(struct auth *a)
{
	struct job *job;

	pthread_mutex_lock(&a->lock);
	a->stop = true;
	pthread_cond_broadcast(&a->work);
	pthread_mutex_unlock(&a->lock);
	for (unsigned i = 0; i < a->threads; i++)
		pthread_join(a->thread[i], NULL);
	while ((job = TAILQ_FIRST(&a->jobs))) {
		TAILQ_REMOVE(&a->jobs, job, entry);
		job_drop(job);
	}
	if (a->finished)
		event_free(a->finished);
	for (unsigned i = 0; i < 2; i++)
		if (a->wake[i] >= 0)
			close(a->wake[i]);
	pthread_cond_destroy(&a->work);
	pthread_mutex_destroy(&a->lock);
}

/* --- asking --------------------------------------------------------------------------------------- */

static struct job *job_new(struct auth *a, const struct auth_question *q,
	const uint8_t digest[DIGEST], const char *place)
{
	struct job *job = calloc(1, sizeof(*job));

	if (!job)
		return NULL;
	TAILQ_INIT(&job->asked);
	memcpy(job->digest, digest, DIGEST);
	job->user = q->user;
	snprintf(job->name, sizeof(job->name), "%s", q->name);
	snprintf(job->place, sizeof(job->place), "%s", place);
	job->password = strdup(q->password);
	job->hash = strdup(q->user == ID_NONE ? "" : q->hash);
	job->fresh = q->fresh ? strdup(q->fresh) : NULL;
	if (!job->password || !job->hash || (q->fresh && !job->fresh)) {
		job_free(job);
		return NULL;
	}
	TAILQ_INSERT_TAIL(&a->jobs, job, entry);
	a->job_count++;
	pthread_mutex_lock(&a->lock);
	STAILQ_INSERT_TAIL(&a->waiting, job, queue);
	pthread_cond_signal(&a->work);
	pthread_mutex_unlock(&a->lock);
	return job;
}

enum auth_admission auth_check(struct auth *a, const struct auth_question *q, auth_checked checked,
	void *ctx, struct auth_check **check, unsigned *retry)
{
	const char *const texts[] = {"password", q->name, q->hash, q->address, q->password};
	uint8_t digest[DIGEST];
	char place[64];
	struct job *job;

	digest_texts(a, texts, 5, digest);
	place_of(q->address, place);
	job = q->fresh ? NULL : job_find(a, digest);
	if (!job && a->job_count >= AUTH_CHECKS_MAX)
		return AUTH_BUSY;
	if (!job) {
		*retry = failures_admit(a, q->name, place);
		if (*retry)
			return AUTH_DELAYED;
		if (!q->fresh && is_remembered(a, digest)) {
			failures_forget(a, q->name, place);
			return AUTH_RIGHT;
		}
	}
	*check = calloc(1, sizeof(**check));
	if (!job && *check && (a->threads || threads_start(a)))
		job = job_new(a, q, digest, place);
	if (!*check || !job) {
		free(*check);
		return AUTH_BUSY;
	}
	**check = (struct auth_check){.job = job, .checked = checked, .ctx = ctx};
	TAILQ_INSERT_TAIL(&job->asked, *check, entry);
	return AUTH_WAIT;
}

/* What nobody waits for is not begun. */
void auth_check_cancel(struct auth *a, struct auth_check *check)
{
	struct job *job = check->job;
	bool needless = false;

	TAILQ_REMOVE(&job->asked, check, entry);
	free(check);
	pthread_mutex_lock(&a->lock);
	needless = TAILQ_EMPTY(&job->asked) && !job->begun;
	if (needless)
		STAILQ_REMOVE(&a->waiting, job, job, queue);
	pthread_mutex_unlock(&a->lock);
	if (!needless)
		return;
	TAILQ_REMOVE(&a->jobs, job, entry);
	a->job_count--;
	job_free(job);
}
