/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a start finds. Only the newest file is looked through; verify looks at all. What is damaged stays as it is:
 * people can read it, and verify goes on telling of it.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/log.h"
#include "event/journal_internal.h"
#include "store/atomic_file.h"

/* --- files ---------------------------------------------------------------------------------------- */

/* Number in the name of one of our files; 0: it is none. */
static uint64_t number_of(const char *name)
{
	uint64_t number = 0;

	if (strlen(name) != 24 || strcmp(name + 20, ".log") || *name > '1')
		return 0;
	for (int i = 0; i < 20; i++) {
		if (name[i] < '0' || name[i] > '9')
			return 0;
		number = number * 10 + (uint64_t)(name[i] - '0');
	}
	return number;
}

void journal_unlink_below(const char *folder, uint64_t first)
{
	DIR *dir = first ? opendir(folder) : NULL;
	const struct dirent *entry;

	while (dir && (entry = readdir(dir))) {
		uint64_t number = number_of(entry->d_name);

		if (number && number < first)
			unlinkat(dirfd(dir), entry->d_name, 0);
	}
	if (dir)
		closedir(dir);
}

static int by_number(const void *a, const void *b)
{
	const struct segment *x = a, *y = b;

	return x->first < y->first ? -1 : x->first > y->first;
}

static int list(struct journal_store *s)
{
	DIR *dir = opendir(s->folder);
	const struct dirent *entry;
	int rc = 0;

	while (dir && rc == 0 && (entry = readdir(dir))) {
		uint64_t number = number_of(entry->d_name);
		struct stat st;

		if (number && fstatat(dirfd(dir), entry->d_name, &st, 0) == 0)
			rc = journal_segment_add(s, number, (uint64_t)st.st_size);
	}
	if (dir)
		closedir(dir);
	if (s->segments)
		qsort(s->segment, s->segments, sizeof(*s->segment), by_number);
	return rc;
}

/* --- the newest file ------------------------------------------------------------------------------ */

struct look {
	uint64_t next; /* number that is expected */
	uint64_t lines;
	char hash[EVENT_HASH_TEXT];	 /* of the last good record */
	char head_hash[EVENT_HASH_TEXT]; /* of the record that the head names, if it is there */
	bool bad;
};

static void look_at_line(
	struct look *l, const struct journal_head *head, const char *line, size_t length)
{
	struct event_line is;

	l->lines++;
	if (l->bad)
		return;
	l->bad = !event_line_parse(line, length, &is) || is.seq != l->next;
	if (!l->bad && l->lines == 1 && is.previous[0])
		memcpy(l->hash, is.previous, sizeof(l->hash));
	l->bad = l->bad || !event_line_holds(line, &is, l->hash);
	if (l->bad)
		return;
	memcpy(l->hash, is.hash, sizeof(l->hash));
	if (is.seq == head->seq)
		memcpy(l->head_hash, is.hash, sizeof(l->hash));
	l->next++;
}

/* Looks at all lines; the length of those that are whole. */
static size_t look_at_lines(
	struct look *l, const struct journal_head *head, const char *data, size_t length)
{
	size_t at = 0;
	const char *end;

	while ((end = memchr(data + at, '\n', length - at))) {
		look_at_line(l, head, data + at, (size_t)(end - data) - at);
		at = (size_t)(end - data) + 1;
	}
	return at;
}

static void tail_cut(struct journal_store *s, size_t whole)
{
	struct segment *last = &s->segment[s->segments - 1];
	char path[4096];

	journal_path(s, last->first, path, sizeof(path));
	log_notice("journal: %s: its last record was not finished, and is cut off", path);
	if (truncate(path, (off_t)whole) == 0) {
		s->bytes -= last->bytes - whole;
		last->bytes = whole;
	}
}

static void go_on(struct journal_store *s)
{
	char path[4096];

	journal_path(s, s->segment[s->segments - 1].first, path, sizeof(path));
	s->fd = open(path, O_WRONLY | O_APPEND | O_CLOEXEC);
}

static void find(char *found, size_t size, const char *what, uint64_t seq)
{
	if (!*found)
		snprintf(found, size, "%s: record %" PRIu64, what, seq);
}

/* What is missing behind the last record, or was put in its place, by the head's word. */
static void compare(struct journal_store *s, const struct journal_head *head, const struct look *l,
	char *found, size_t size)
{
	if (head->seq >= l->next) {
		if (!l->bad)
			find(found, size, "records at its end are missing, up to", head->seq);
		s->next = head->seq + 1;
		memcpy(s->hash, head->hash, sizeof(s->hash));
	} else if (l->head_hash[0] && strcmp(l->head_hash, head->hash)) {
		find(found, size, "another record stands in the place of", head->seq);
	}
}

static void newest(
	struct journal_store *s, const struct journal_head *head, char *found, size_t size)
{
	const struct segment *last = &s->segment[s->segments - 1];
	struct look l = {.next = last->first};
	char path[4096], *data = NULL;
	size_t length = 0;

	journal_path(s, last->first, path, sizeof(path));
	memset(l.hash, '0', EVENT_HASH_TEXT - 1);
	if (last->first == head->seq + 1)
		memcpy(l.hash, head->hash, sizeof(l.hash));
	if (file_read(path, &data, &length))
		l.bad = true;
	size_t whole = data ? look_at_lines(&l, head, data, length) : 0;
	free(data);
	if (l.bad)
		find(found, size, "damaged", l.next);
	/* What follows a damaged line may be records: their numbers are not given again. */
	s->next = l.bad ? last->first + l.lines : l.next;
	memcpy(s->hash, l.hash, sizeof(s->hash));
	compare(s, head, &l, found, size);
	if (*found)
		return; /* and a new file begins */
	if (whole < length)
		tail_cut(s, whole);
	go_on(s);
}

int journal_stock(struct journal_store *s, char *found, size_t size)
{
	struct journal_head head;

	if (mkdir(s->folder, 0700) && errno != EEXIST)
		log_error("journal: %s: cannot be made: %s", s->folder, strerror(errno));
	int rc = journal_head_read(s, &head);
	if (rc && rc != -ENOENT)
		snprintf(found, size, "its head is damaged, or was made elsewhere");
	s->first = head.first;
	journal_unlink_below(s->folder, head.first);
	rc = list(s);
	if (rc)
		return rc;
	bool none = !s->segments;
	/* The first second of a journal has none. */
	if (!none && !*found && head.seq == 0 && s->segment[s->segments - 1].first > 1)
		snprintf(found, size, "its head is missing");
	if (head.seq && (none || s->segment[0].first != head.first))
		find(found, size, "its oldest records are missing, from", head.first);
	if (!none) {
		newest(s, &head, found, size);
	} else if (head.seq) {
		s->next = head.seq + 1;
		memcpy(s->hash, head.hash, sizeof(s->hash));
	}
	return 0;
}
