/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "event/journal_internal.h"

struct journal_place journal_store_begin(const struct journal_store *s)
{
	return s->segments ? (struct journal_place){s->segment[0].first, 0}
			   : (struct journal_place){s->next, 0};
}

struct journal_place journal_store_end(const struct journal_store *s)
{
	const struct segment *last = s->segments ? &s->segment[s->segments - 1] : NULL;

	return last ? (struct journal_place){last->first, last->bytes}
		    : (struct journal_place){s->next, 0};
}

/* The last file that begins at or before the number; the first file if none does. */
static unsigned index_of(const struct journal_store *s, uint64_t seq)
{
	unsigned low = 0, high = s->segments;

	while (low < high) {
		unsigned middle = (low + high) / 2;

		if (s->segment[middle].first <= seq)
			low = middle + 1;
		else
			high = middle;
	}
	return low ? low - 1 : 0;
}

struct journal_place journal_store_seek(const struct journal_store *s, uint64_t seq)
{
	if (!s->segments)
		return journal_store_begin(s);
	return (struct journal_place){s->segment[index_of(s, seq)].first, 0};
}

/* The file of a place, or the next (back: the one before) that has something there. NULL: there is none. */
static const struct segment *segment_at(
	const struct journal_store *s, struct journal_place *at, bool back)
{
	if (!s->segments)
		return NULL;
	unsigned i = index_of(s, at->first);
	const struct segment *g = &s->segment[i];

	if (g->first != at->first) /* deleted meanwhile */
		*at = (struct journal_place){g->first, back ? g->bytes : 0};
	if (at->offset > g->bytes)
		at->offset = g->bytes;
	while (back ? at->offset == 0 : at->offset == g->bytes) {
		if (back ? i == 0 : i + 1 == s->segments)
			return NULL;
		g = &s->segment[back ? --i : ++i];
		*at = (struct journal_place){g->first, back ? g->bytes : 0};
	}
	return g;
}

static ssize_t piece_read(const struct journal_store *s, const struct segment *g, uint64_t offset,
	size_t size, char *buf)
{
	char path[4096];

	journal_path(s, g->first, path, sizeof(path));
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	ssize_t n = pread(fd, buf, size, (off_t)offset);
	int error = errno;
	close(fd);
	if (n < 0)
		return -error;
	return n ? n : -ENODATA;
}

static ssize_t read_forward(
	const struct journal_store *s, const struct segment *g, struct journal_place *at, char *buf)
{
	ssize_t n = piece_read(s, g, at->offset, JOURNAL_SLICE, buf);
	const char *end = n > 0 ? memrchr(buf, '\n', (size_t)n) : NULL;

	if (n < 0) {
		at->offset = g->bytes;
		return n;
	}
	/* No line is so long: it is passed over. */
	size_t whole = end ? (size_t)(end - buf) + 1 : (size_t)n;
	at->offset += whole;
	return (ssize_t)whole;
}

static ssize_t read_back(
	const struct journal_store *s, const struct segment *g, struct journal_place *at, char *buf)
{
	uint64_t from = at->offset > JOURNAL_SLICE ? at->offset - JOURNAL_SLICE : 0;
	size_t size = (size_t)(at->offset - from);
	ssize_t n = piece_read(s, g, from, size, buf);

	if (n >= 0 && (size_t)n < size)
		n = -ENODATA;
	if (n < 0) {
		at->offset = 0;
		return n;
	}
	at->offset = from;
	const char *begin = from ? memchr(buf, '\n', size - 1) : NULL;
	if (!begin)
		return n;
	/* The first line is cut: it comes with the next piece. */
	size_t cut = (size_t)(begin - buf) + 1;
	memmove(buf, buf + cut, size - cut);
	at->offset = from + cut;
	return (ssize_t)(size - cut);
}

ssize_t journal_store_read(
	const struct journal_store *s, struct journal_place *at, bool back, char buf[JOURNAL_SLICE])
{
	const struct segment *g = segment_at(s, at, back);

	if (!g)
		return 0;
	return back ? read_back(s, g, at, buf) : read_forward(s, g, at, buf);
}
