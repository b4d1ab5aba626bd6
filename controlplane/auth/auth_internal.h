/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared by the files of auth/, by nobody else. */
#ifndef WEIR_AUTH_INTERNAL_H
#define WEIR_AUTH_INTERNAL_H

#include <pthread.h>
#include <sys/queue.h>

#include "auth/auth.h"

enum { DIGEST = 32, THREADS = 2, REMEMBERED = 1024, TOKEN_BUCKETS = 4096, FAILURES_MAX = 4096 };

struct token {
	struct auth_token t;
	TAILQ_ENTRY(token) entry; /* all, oldest first */
	LIST_ENTRY(token) same;	  /* of the same bucket */
	uint8_t digest[DIGEST];
	uint64_t end_ns;
};

/* Wrong passwords for one name from one place. */
struct failures {
	TAILQ_ENTRY(failures) entry; /* all, the one that was used last at the end */
	uint64_t hash;
	uint64_t next_ns, forget_ns;
	unsigned count; /* those that are being checked are counted as wrong until they are right */
	char name[64];
	char place[64];
};

struct remembered {
	uint8_t digest[DIGEST];
	uint32_t user;
	uint64_t end_ns; /* 0: nothing */
};

/* Who waits for the end of a check. */
struct auth_check {
	TAILQ_ENTRY(auth_check) entry;
	struct job *job;
	auth_checked checked;
	void *ctx;
};

/* One password that is being checked, for all who ask for the same at the same time. */
struct job {
	TAILQ_ENTRY(job) entry;	 /* of all */
	STAILQ_ENTRY(job) queue; /* of those that wait, or are done */
	TAILQ_HEAD(, auth_check) asked;
	uint8_t digest[DIGEST];
	uint32_t user;
	char name[64], place[64];
	char *password, *hash, *fresh, *fresh_hash;
	bool begun; /* by a thread; also what is done was */
	bool right;
};

struct auth {
	uint8_t key[DIGEST];

	TAILQ_HEAD(tokens, token) tokens;
	LIST_HEAD(, token) bucket[TOKEN_BUCKETS];
	unsigned token_count;

	TAILQ_HEAD(, failures) failures;
	unsigned failure_count;

	struct remembered remembered[REMEMBERED];
	TAILQ_HEAD(, job) jobs;
	unsigned job_count;
	struct event *finished;
	pthread_t thread[THREADS];
	unsigned threads;
	/* shared with the threads */
	pthread_mutex_t lock;
	pthread_cond_t work;
	STAILQ_HEAD(job_queue, job) waiting, done;
	int wake[2]; /* pipe: some are done */
	bool stop;
};

/* Keyed digest of some texts, which cannot run into each other. */
void digest_texts(
	const struct auth *a, const char *const *text, unsigned count, uint8_t out[DIGEST]);
bool digest_same(const uint8_t a[DIGEST], const uint8_t b[DIGEST]);

uint64_t now_ms(void);

void tokens_free(struct auth *a);

/* "192.0.2.7"; of an IPv6 address its network of 64 bits, which one machine has. */
void place_of(const char *address, char out[64]);
/* 0 if a password may be looked at now, which counts as wrong until failures_forget; else s to wait. */
unsigned failures_admit(struct auth *a, const char *name, const char *place);
/* It was wrong: the time to wait begins now. */
void failures_delay(struct auth *a, const char *name, const char *place);
void failures_forget(struct auth *a, const char *name, const char *place);
void failures_free(struct auth *a);

int checks_init(struct auth *a, struct event_base *base);
void checks_free(struct auth *a);

#endif
