/* SPDX-License-Identifier: BSD-3-Clause */
#include "event/journal_store.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/log.h"
#include "event/journal_internal.h"
#include "store/atomic_file.h"

#define SEGMENT_MIN (64u << 10)

void journal_path(const struct journal_store *s, uint64_t first, char *out, size_t size)
{
	snprintf(out, size, "%s/%020" PRIu64 ".log", s->folder, first);
}

int journal_segment_add(struct journal_store *s, uint64_t first, uint64_t bytes)
{
	if (s->segments == s->room) {
		unsigned room = s->room ? 2 * s->room : 64;
		struct segment *more = reallocarray(s->segment, room, sizeof(*more));

		if (!more)
			return -ENOMEM;
		s->segment = more;
		s->room = room;
	}
	s->segment[s->segments++] = (struct segment){first, bytes};
	s->bytes += bytes;
	return 0;
}

struct journal_store *journal_store_open(
	const char *folder, const uint8_t key[JOURNAL_KEY_BYTES], char *found, size_t size)
{
	struct journal_store *s = calloc(1, sizeof(*s));

	*found = 0;
	if (!s)
		return NULL;
	*s = (struct journal_store){
		.folder = strdup(folder), .fd = -1, .limit = UINT64_MAX, .next = 1};
	memcpy(s->key, key, JOURNAL_KEY_BYTES);
	memset(s->hash, '0', EVENT_HASH_TEXT - 1);
	journal_sync_init(&s->sync);
	if (!s->folder || journal_stock(s, found, size)) {
		journal_store_close(s);
		return NULL;
	}
	return s;
}

void journal_store_close(struct journal_store *s)
{
	if (!s)
		return;
	if (s->dirty)
		journal_store_sync(s);
	journal_sync_fini(s);
	if (s->fd >= 0)
		close(s->fd);
	free(s->full);
	free(s->beside);
	free(s->segment);
	free(s->folder);
	explicit_bzero(s->key, sizeof(s->key));
	free(s);
}

/* --- bounds --------------------------------------------------------------------------------------- */

static uint64_t segment_max(const struct journal_store *s)
{
	uint64_t quarter = s->limit / 4;

	if (quarter > JOURNAL_SEGMENT_MAX)
		return JOURNAL_SEGMENT_MAX;
	return quarter < SEGMENT_MIN ? SEGMENT_MIN : quarter;
}

/* The oldest are no longer counted; the thread deletes them when the head says so. */
static void trim(struct journal_store *s)
{
	unsigned gone = 0;

	while (gone + 1 < s->segments && s->bytes > s->limit)
		s->bytes -= s->segment[gone++].bytes;
	if (!gone)
		return;
	memmove(s->segment, s->segment + gone, (s->segments - gone) * sizeof(*s->segment));
	s->segments -= gone;
	s->first = s->segment[0].first;
	s->trimmed = s->dirty = true;
}

void journal_store_limit(struct journal_store *s, uint64_t bytes)
{
	s->limit = bytes;
	trim(s);
}

/* --- writing -------------------------------------------------------------------------------------- */

/* The full file is flushed by the thread; without memory for that, now. */
static void segment_leave(struct journal_store *s)
{
	int *more = s->fd < 0 ? NULL : reallocarray(s->full, s->full_count + 1, sizeof(*s->full));

	if (more) {
		s->full = more;
		s->full[s->full_count++] = s->fd;
	} else if (s->fd >= 0) {
		fdatasync(s->fd);
		close(s->fd);
	}
	s->fd = -1;
}

static int segment_begin(struct journal_store *s)
{
	char path[4096];
	int fd;

	journal_path(s, s->next, path, sizeof(path));
	fd = open(path, O_WRONLY | O_APPEND | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (fd < 0 && errno == ENOENT && mkdir(s->folder, 0700) == 0)
		fd = open(path, O_WRONLY | O_APPEND | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (fd < 0)
		return -errno;
	if (s->segments && s->segment[s->segments - 1].first == s->next)
		s->segments--; /* nothing could be written to it */
	int rc = journal_segment_add(s, s->next, 0);
	if (rc) {
		close(fd);
		return rc;
	}
	segment_leave(s);
	s->fd = fd;
	return 0;
}

static int line_write(struct journal_store *s, const char *line, size_t length)
{
	struct segment *last = &s->segment[s->segments - 1];
	int rc = file_write_all(s->fd, line, length);

	if (rc == 0) {
		last->bytes += length;
		s->bytes += length;
		return 0;
	}
	/* Half a line would hide the next one. */
	if (ftruncate(s->fd, (off_t)last->bytes))
		segment_leave(s);
	return rc;
}

static void failure_tell(struct journal_store *s, int rc)
{
	if (rc && !s->failing)
		log_error("journal: %s: cannot be written: %s", s->folder, strerror(-rc));
	s->failing = rc != 0;
	if (rc)
		s->lost++;
}

int journal_store_put(struct journal_store *s, struct event_record *r)
{
	char line[EVENT_LINE_MAX], hash[EVENT_HASH_TEXT];
	struct timespec now;
	int rc = 0;

	clock_gettime(CLOCK_REALTIME, &now);
	r->time = (uint64_t)now.tv_sec * 1000000 + (uint64_t)now.tv_nsec / 1000;
	r->seq = s->next;
	if (s->fd < 0 || s->segment[s->segments - 1].bytes >= segment_max(s) - EVENT_LINE_MAX)
		rc = segment_begin(s);
	if (rc == 0) {
		bool first = s->segment[s->segments - 1].bytes == 0;
		size_t length = event_record_line(r, s->hash, first, line, hash);
		rc = line_write(s, line, length);
	}
	failure_tell(s, rc);
	if (rc)
		return rc;
	memcpy(s->hash, hash, sizeof(hash));
	s->next++;
	s->dirty = true;
	trim(s);
	return 0;
}

void journal_store_beside(struct journal_store *s, char *text)
{
	if (!text)
		return;
	free(s->beside);
	s->beside = text;
	s->dirty = true;
}

/* --- what there is -------------------------------------------------------------------------------- */

uint64_t journal_store_next(const struct journal_store *s)
{
	return s->next;
}

uint64_t journal_store_lost(struct journal_store *s)
{
	uint64_t lost = s->lost;

	s->lost = 0;
	return lost;
}

uint64_t journal_store_oldest(const struct journal_store *s)
{
	return s->segments ? s->segment[0].first : s->next;
}

uint64_t journal_store_first(const struct journal_store *s)
{
	return s->first ? s->first : journal_store_oldest(s);
}

uint64_t journal_store_newest(const struct journal_store *s)
{
	return s->next - 1;
}

void journal_store_hash(const struct journal_store *s, char hash[EVENT_HASH_TEXT])
{
	memcpy(hash, s->hash, EVENT_HASH_TEXT);
}
