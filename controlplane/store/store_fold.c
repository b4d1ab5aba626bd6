/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Folding: a new `running` takes the place of an old one and its log. Writing a large configuration takes a
 * second, so a child does it from its copy of memory, while commits go on into a new log:
 *
 *   log -> log.old, new log;  child: running.new -> running;  then log.old is removed
 *
 * At each moment running, log.old and log together, in this order, are all there is; records that running
 * contains already are told by their numbers.
 */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "store/atomic_file.h"
#include "store/store_internal.h"

#define FOLD_RETRY_SECONDS 60u

bool store_fold_due(const struct store *s)
{
	if (s->folder || clock_ns() < s->fold_not_before_ns)
		return false;
	return s->old_log_there || s->log_records > STORE_LOG_RECORDS_MAX ||
	       (s->log_bytes > STORE_LOG_BYTES_MAX && s->log_bytes > s->running_bytes);
}

static int running_write(const struct store *s, const struct model *m)
{
	struct text text = {0};
	size_t meta_size = 0, full_size = 0;
	char *json = store_meta_dump(s), *meta = NULL, *full = NULL, *both = NULL;
	struct record r = {.type = RECORD_META,
		.seq = s->seq,
		.generation = model_generation(m),
		.time = store_now_ms(),
		.author = "",
		.address = "",
		.what = "",
		.text = json,
		.length = json ? strlen(json) : 0};
	int rc = -ENOMEM;

	meta = json ? record_encode(&r, &meta_size) : NULL;
	model_print(m, PRINT_STORE, &text);
	r.type = RECORD_FULL;
	r.text = text.data;
	r.length = text.len;
	full = text.failed ? NULL : record_encode(&r, &full_size);
	if (meta && full)
		both = realloc(meta, meta_size + full_size);
	if (both) {
		meta = both;
		memcpy(both + meta_size, full, full_size);
		rc = file_replace(s->running, both, meta_size + full_size, 0600);
	}
	free(json);
	free(meta);
	free(full);
	text_fini(&text);
	return rc;
}

static void old_log_remove(struct store *s)
{
	struct stat st;

	if (stat(s->running, &st) == 0)
		s->running_bytes = (uint64_t)st.st_size;
	if (unlink(s->old_log) && errno != ENOENT)
		log_error("store: %s: cannot be removed: %s", s->old_log, strerror(errno));
	else
		s->old_log_there = false;
	s->fold_not_before_ns = 0;
	file_sync_folder(s->old_log);
}

int store_fold(struct store *s, const struct model *m)
{
	store_fold_stop(s);
	int rc = running_write(s, m);
	if (rc)
		return rc;
	if (s->empty)
		history_forget(s);
	s->empty = false;
	s->log_records = 0;
	s->sync_due = false;
	old_log_remove(s);
	return store_log_open(s, 0);
}

/* Commits go into a new log from here. One that is left from a fold that failed stays until one succeeds. */
static int log_rotate(struct store *s)
{
	if (s->old_log_there)
		return 0;
	store_sync(s);
	if (rename(s->log, s->old_log))
		return -errno;
	s->old_log_there = true;
	int rc = store_log_open(s, 0);
	if (rc == 0) {
		s->log_records = 0;
		return 0;
	}
	/* The descriptor still writes to the file that is called log.old now. */
	if (rename(s->old_log, s->log))
		log_error("store: %s: cannot be renamed: %s", s->old_log, strerror(errno));
	else
		s->old_log_there = false;
	return rc;
}

static void fold_in_child(struct store *s, const struct model *m, pid_t parent)
{
	/* Its file must not replace that of a successor; nor may it keep the store locked. */
	if (prctl(PR_SET_PDEATHSIG, SIGKILL) || getppid() != parent)
		_exit(1);
	close(s->lock_fd);
	_exit(running_write(s, m) ? 1 : 0);
}

int store_fold_begin(struct store *s, const struct model *m)
{
	pid_t parent = getpid();

	/* Should it fail: each try copies the whole configuration, too much for every second. */
	s->fold_not_before_ns = clock_ns() + FOLD_RETRY_SECONDS * 1000000000ull;
	int rc = log_rotate(s);

	if (rc)
		return rc;
	pid_t pid = fork();
	if (pid < 0)
		return -errno;
	if (pid == 0)
		fold_in_child(s, m, parent);
	s->folder = pid;
	return 0;
}

void store_fold_poll(struct store *s)
{
	int status;

	if (!s->folder || waitpid(s->folder, &status, WNOHANG) != s->folder)
		return;
	s->folder = 0;
	if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
		old_log_remove(s);
	else
		log_error("store: %s: cannot be written; it will be tried again in %u s",
			s->running, FOLD_RETRY_SECONDS);
}

void store_fold_stop(struct store *s)
{
	if (!s->folder)
		return;
	kill(s->folder, SIGKILL);
	waitpid(s->folder, NULL, 0);
	s->folder = 0;
}
