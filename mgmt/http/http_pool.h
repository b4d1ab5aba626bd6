/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The threads that handle requests. Requests wait in line for one; who of one address has enough at work is passed
 * over, and who waits too long is told to come again.
 */
#ifndef WEIR_HTTP_HTTP_POOL_H
#define WEIR_HTTP_HTTP_POOL_H

#include "http/http_table.h"

struct http_job {
	/* Called once, in a thread of the pool with turn true, or where there is none for it with false. */
	void (*run)(struct http_job *job, bool turn);
	void (*done)(struct http_job *job); /* then, as the last that is heard of it */
	struct http_place *place;
	uint64_t until_ns; /* for its turn */
	struct http_job *next;
};

struct http_pool;

/* So many threads; the table says who may enter. NULL: no memory, or no threads. */
struct http_pool *http_pool_new(struct http_table *table, unsigned threads);

/* Puts a job in line; it stays until it is done. */
void http_pool_put(struct http_pool *pool, struct http_job *job);

/* Ends the waiting of those whose time for a turn is over. */
void http_pool_sweep(struct http_pool *pool, uint64_t now_ns);

/* From now on nobody gets a turn; those at work go on. */
void http_pool_stop(struct http_pool *pool);

/* After a stop: waits for those at work. */
void http_pool_wait(struct http_pool *pool);

void http_pool_free(struct http_pool *pool);

#endif
