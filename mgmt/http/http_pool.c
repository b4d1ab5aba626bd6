/* SPDX-License-Identifier: BSD-3-Clause */
#include "http/http_pool.h"

#include <pthread.h>
#include <stdlib.h>

#define STACK_BYTES (1u << 20)

struct http_pool {
	struct http_table *table;
	pthread_mutex_t lock; /* of all below */
	pthread_cond_t changed;
	bool stopping;
	struct http_job *first, **last;
	unsigned count;
	pthread_t threads[];
};

/* The first in line that may be handled now, taken out; it has entered. NULL: none. */
static struct http_job *job_next(struct http_pool *pool)
{
	for (struct http_job **at = &pool->first; *at; at = &(*at)->next) {
		struct http_job *job = *at;

		if (!http_table_enter(pool->table, job->place))
			continue;
		*at = job->next;
		if (!job->next)
			pool->last = at;
		return job;
	}
	return NULL;
}

static void *work(void *ctx)
{
	struct http_pool *pool = ctx;

	pthread_mutex_lock(&pool->lock);
	while (!pool->stopping) {
		struct http_job *job = job_next(pool);

		if (!job) {
			pthread_cond_wait(&pool->changed, &pool->lock);
			continue;
		}
		pthread_mutex_unlock(&pool->lock);
		job->run(job, true);
		http_table_leave(pool->table, job->place);
		job->done(job);
		pthread_mutex_lock(&pool->lock);
	}
	pthread_mutex_unlock(&pool->lock);
	return NULL;
}

struct http_pool *http_pool_new(struct http_table *table, unsigned threads)
{
	struct http_pool *pool = calloc(1, sizeof(*pool) + threads * sizeof(pool->threads[0]));
	pthread_attr_t attributes;

	if (!pool)
		return NULL;
	pool->table = table;
	pool->last = &pool->first;
	pthread_mutex_init(&pool->lock, NULL);
	pthread_cond_init(&pool->changed, NULL);
	pthread_attr_init(&attributes);
	pthread_attr_setstacksize(&attributes, STACK_BYTES);
	while (pool->count < threads &&
		!pthread_create(&pool->threads[pool->count], &attributes, work, pool))
		pool->count++;
	pthread_attr_destroy(&attributes);
	if (pool->count == threads)
		return pool;
	http_pool_free(pool);
	return NULL;
}

/* Takes out those whose time is over at now_ns. */
static struct http_job *jobs_late(struct http_pool *pool, uint64_t now_ns)
{
	struct http_job *late = NULL, **at = &pool->first;

	while (*at) {
		struct http_job *job = *at;

		if (job->until_ns > now_ns) {
			at = &job->next;
			continue;
		}
		*at = job->next;
		job->next = late;
		late = job;
	}
	pool->last = at;
	return late;
}

static void jobs_refuse(struct http_job *job)
{
	while (job) {
		struct http_job *next = job->next;

		job->run(job, false);
		job->done(job);
		job = next;
	}
}

void http_pool_put(struct http_pool *pool, struct http_job *job)
{
	job->next = NULL;
	pthread_mutex_lock(&pool->lock);
	bool stopping = pool->stopping;
	if (!stopping) {
		*pool->last = job;
		pool->last = &job->next;
		pthread_cond_signal(&pool->changed);
	}
	pthread_mutex_unlock(&pool->lock);
	if (stopping)
		jobs_refuse(job);
}

void http_pool_sweep(struct http_pool *pool, uint64_t now_ns)
{
	pthread_mutex_lock(&pool->lock);
	struct http_job *late = jobs_late(pool, now_ns);
	pthread_mutex_unlock(&pool->lock);
	jobs_refuse(late);
}

void http_pool_stop(struct http_pool *pool)
{
	pthread_mutex_lock(&pool->lock);
	pool->stopping = true;
	struct http_job *waiting = jobs_late(pool, UINT64_MAX);
	pthread_cond_broadcast(&pool->changed);
	pthread_mutex_unlock(&pool->lock);
	jobs_refuse(waiting);
}

void http_pool_wait(struct http_pool *pool)
{
	for (; pool->count > 0; pool->count--)
		pthread_join(pool->threads[pool->count - 1], NULL);
}

void http_pool_free(struct http_pool *pool)
{
	if (!pool)
		return;
	http_pool_stop(pool);
	http_pool_wait(pool);
	pthread_cond_destroy(&pool->changed);
	pthread_mutex_destroy(&pool->lock);
	free(pool);
}
