/* SPDX-License-Identifier: BSD-3-Clause */
/* The thread that brings the journal to the disk. A disk that hangs leaves it behind, and nobody else. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "event/journal_internal.h"
#include "store/atomic_file.h"

void journal_sync_init(struct journal_sync *y)
{
	pthread_mutex_init(&y->lock, NULL);
	pthread_cond_init(&y->wake, NULL);
}

static bool flush_all(struct journal_sync *y)
{
	bool ok = true;

	for (unsigned i = 0; i < y->count; i++) {
		ok &= fdatasync(y->fd[i]) == 0;
		close(y->fd[i]);
	}
	free(y->fd);
	y->fd = NULL;
	y->count = 0;
	return ok;
}

static void beside_write(const struct journal_store *s)
{
	char path[4096];

	snprintf(path, sizeof(path), "%s/incidents", s->folder);
	if (s->sync.beside)
		file_replace(path, s->sync.beside, strlen(s->sync.beside), 0600);
	free(s->sync.beside);
}

/* A head must not tell of what is not on the disk: after a failure of power that would look like a cut end. */
static void work(struct journal_store *s)
{
	struct journal_sync *y = &s->sync;

	if (flush_all(y) && journal_head_write(s->folder, s->key, &y->head) == 0)
		journal_unlink_below(s->folder, y->unlink_below);
	beside_write(s);
}

static void *run(void *ctx)
{
	struct journal_store *s = ctx;
	struct journal_sync *y = &s->sync;

	pthread_mutex_lock(&y->lock);
	while (y->busy || !y->stop) {
		if (!y->busy) {
			pthread_cond_wait(&y->wake, &y->lock);
			continue;
		}
		pthread_mutex_unlock(&y->lock);
		work(s);
		pthread_mutex_lock(&y->lock);
		y->busy = false;
	}
	pthread_mutex_unlock(&y->lock);
	return NULL;
}

static bool start(struct journal_store *s)
{
	sigset_t all, old;

	if (s->sync.running)
		return true;
	/* Signals are the event loop's. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	s->sync.running = pthread_create(&s->sync.thread, NULL, run, s) == 0;
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	return s->sync.running;
}

/* Under the lock, while the thread has nothing to do. */
static void hand_over(struct journal_store *s)
{
	struct journal_sync *y = &s->sync;
	int fd = s->fd < 0 ? -1 : fcntl(s->fd, F_DUPFD_CLOEXEC, 0);
	int *more = reallocarray(s->full, s->full_count + 1, sizeof(*more));

	if (!more || (s->fd >= 0 && fd < 0)) {
		s->full = more ? more : s->full;
		if (fd >= 0)
			close(fd);
		return; /* again in a second */
	}
	if (fd >= 0)
		more[s->full_count++] = fd;
	y->fd = more;
	y->count = s->full_count;
	s->full = NULL;
	s->full_count = 0;
	y->head = (struct journal_head){journal_store_first(s), s->next - 1, ""};
	memcpy(y->head.hash, s->hash, sizeof(s->hash));
	y->beside = s->beside;
	s->beside = NULL;
	y->unlink_below = s->trimmed ? y->head.first : 0;
	s->trimmed = false;
	s->dirty = false;
	y->busy = true;
	pthread_cond_signal(&y->wake);
}

void journal_store_sync(struct journal_store *s)
{
	if (!s->dirty || !start(s) || pthread_mutex_trylock(&s->sync.lock))
		return;
	if (!s->sync.busy)
		hand_over(s);
	pthread_mutex_unlock(&s->sync.lock);
}

void journal_sync_fini(struct journal_store *s)
{
	struct journal_sync *y = &s->sync;

	if (y->running) {
		pthread_mutex_lock(&y->lock);
		y->stop = true;
		pthread_cond_signal(&y->wake);
		pthread_mutex_unlock(&y->lock);
		pthread_join(y->thread, NULL);
	}
	/* What came while it was busy. */
	if (s->dirty && s->folder) {
		y->stop = y->running = false;
		hand_over(s);
		if (y->busy)
			work(s);
	}
	pthread_cond_destroy(&y->wake);
	pthread_mutex_destroy(&y->lock);
}
