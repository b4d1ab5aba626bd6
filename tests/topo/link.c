/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The wire of the tests: joins kernel interfaces in user space and spoils what passes, from a seed.
 *
 *   link --seed N --report FILE --join A,B[,key=value...] [--join ...]
 *
 * A key holds for both directions, or for A to B with "up." and for B to A with "down." in front; the
 * keys are those of link_params_set, and tag=N: frames carry that 802.1Q tag on B, which several joins
 * may share (a trunk). Writes "ready" when it forwards, the report at SIGUSR1 and at its end (SIGTERM).
 */
#include <arpa/inet.h>
#include <errno.h>
#include <getopt.h>
#include <linux/if_ether.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "link_iface.h"
#include "link_queue.h"
#include "link_way.h"

#define JOINS_MAX 16u
#define IFACES_MAX (2 * JOINS_MAX)
#define MACS 12u
#define TAG 4u

enum side { UP, DOWN }; /* A to B, B to A */

struct join {
	struct link_iface *iface[2]; /* source of UP, source of DOWN */
	struct link_way way[2];
	uint16_t tag; /* on iface[1]; 0 = none */
};

struct link {
	struct link_iface ifaces[IFACES_MAX];
	struct join joins[JOINS_MAX];
	struct pollfd polls[IFACES_MAX];
	struct link_queue queue;
	unsigned iface_count, join_count;
	uint64_t seed, unknown_tag;
	const char *report;
};

static volatile sig_atomic_t stop_wanted, report_wanted;

static void signal_take(int number)
{
	if (number == SIGUSR1)
		report_wanted = 1;
	else
		stop_wanted = 1;
}

static int fail(const char *what, const char *detail)
{
	fprintf(stderr, "link: %s: %s\n", what, detail);
	return -EINVAL;
}

static struct link_iface *iface_get(struct link *link, const char *name)
{
	for (unsigned i = 0; i < link->iface_count; i++)
		if (!strcmp(link->ifaces[i].name, name))
			return &link->ifaces[i];
	struct link_iface *iface = &link->ifaces[link->iface_count];
	int error = link_iface_open(iface, name);
	if (error) {
		fail(name, strerror(-error));
		return NULL;
	}
	link->polls[link->iface_count++] = (struct pollfd){.fd = iface->fd, .events = POLLIN};
	return iface;
}

/* "up.loss=1" and the like. */
static int option_read(struct join *join, struct link_params params[2], char *word)
{
	char *value = strchr(word, '=');
	if (!value)
		return fail(word, "no value");
	*value++ = '\0';
	if (!strcmp(word, "tag")) {
		join->tag = (uint16_t)atoi(value);
		return join->tag >= 1 && join->tag <= 4094 ? 0 : fail(value, "no 802.1Q tag");
	}
	bool up = strncmp(word, "down.", 5), down = strncmp(word, "up.", 3);
	const char *key = !up ? word + 5 : !down ? word + 3 : word;
	if ((up && link_params_set(&params[UP], key, value)) ||
		(down && link_params_set(&params[DOWN], key, value)))
		return fail(word, "unknown option or bad value");
	return 0;
}

static int join_read(struct link *link, char *text)
{
	struct link_params params[2];
	char *rest = text, *word;
	if (link->join_count == JOINS_MAX)
		return fail(text, "too many joins");
	struct join *join = &link->joins[link->join_count];
	for (enum side side = UP; side <= DOWN; side++) {
		link_params_init(&params[side]);
		word = strsep(&rest, ",");
		if (!word || !(join->iface[side] = iface_get(link, word)))
			return fail("--join", "needs two interfaces");
	}
	while ((word = strsep(&rest, ",")))
		if (option_read(join, params, word))
			return -EINVAL;
	for (enum side side = UP; side <= DOWN; side++)
		link_way_init(
			&join->way[side], &params[side], link->seed, link->join_count * 2 + side);
	link->join_count++;
	return 0;
}

/* The tag in front of a frame's type, 0 if there is none. */
static uint16_t frame_tag(const struct link_frame *frame)
{
	uint16_t words[2];
	if (frame->length < MACS + TAG + 2)
		return 0;
	memcpy(words, frame->data + MACS, TAG);
	return words[0] == htons(ETH_P_8021Q) ? ntohs(words[1]) & 0xfff : 0;
}

static struct join *join_find(struct link *link, const struct link_iface *from,
	const struct link_frame *frame, enum side *side)
{
	uint16_t tag = frame_tag(frame);
	for (unsigned i = 0; i < link->join_count; i++) {
		struct join *join = &link->joins[i];
		for (*side = UP; *side <= DOWN; ++*side)
			if (join->iface[*side] == from &&
				(*side == UP || !join->tag || join->tag == tag))
				return join;
	}
	return NULL;
}

/* The frame as it leaves: with a tag more, a tag less, or as it came. */
static struct link_item *item_new(
	const struct join *join, enum side side, const struct link_frame *frame)
{
	struct link_item *item = malloc(sizeof(*item) + frame->length + TAG);
	if (!item)
		return NULL;
	size_t skip = 0, put = 0;
	if (join->tag && side == UP) {
		uint16_t tag[2] = {htons(ETH_P_8021Q), htons(join->tag)};
		memcpy(item->data + MACS, tag, TAG);
		put = TAG;
	} else if (join->tag) {
		skip = TAG;
	}
	memcpy(item->data, frame->data, MACS);
	memcpy(item->data + MACS + put, frame->data + MACS + skip, frame->length - MACS - skip);
	item->length = frame->length + put - skip;
	return item;
}

static void frame_take(
	struct link *link, struct link_iface *from, const struct link_frame *frame, uint64_t now)
{
	enum side side;
	if (frame->length <= MACS)
		return;
	struct join *join = join_find(link, from, frame, &side);
	if (!join) {
		link->unknown_tag++;
		return;
	}
	struct link_way *way = &join->way[side];
	size_t tag = frame_tag(frame) ? TAG : 0;
	struct link_fate fate = link_way_decide(way, now, frame->length - tag);
	if (fate.copies && join->tag)
		++*(side == UP ? &way->counts.tagged : &way->counts.untagged);
	for (unsigned copy = 0; copy < fate.copies; copy++) {
		struct link_item *item = item_new(join, side, frame);
		if (!item)
			return;
		if (fate.corrupt_bit / 8 < item->length)
			item->data[fate.corrupt_bit / 8] ^=
				fate.corrupt_bit ? 1u << fate.corrupt_bit % 8 : 0;
		item->at = fate.depart[copy];
		item->owner = join;
		item->number = fate.number * 2 + side;
		item->duplicate = copy > 0;
		if (link_queue_push(&link->queue, item))
			free(item);
	}
}

static void item_send(struct link_item *item)
{
	struct join *join = item->owner;
	enum side side = item->number % 2;
	struct link_way *way = &join->way[side];
	if (link_iface_send(join->iface[!side], item->data, item->length))
		link_way_sent(way, item->number / 2, item->length, item->duplicate);
	else
		way->counts.send_failed++;
}

/* Sends all that is due. Nanoseconds until the next one, or -1. */
static int64_t queue_drain(struct link *link)
{
	struct link_item *item;
	uint64_t now = clock_ns();
	while ((item = link_queue_first(&link->queue))) {
		if (item->at > now && item->at > (now = clock_ns()))
			return (int64_t)(item->at - now);
		item_send(item);
		free(link_queue_pop(&link->queue));
	}
	return -1;
}

static void counts_write(FILE *out, const char *name, const struct link_counts *counts)
{
	fprintf(out, "\"%s\": {", name);
	const char *comma = "";
#define X(field)                                                                                   \
	fprintf(out, "%s\"%s\": %llu", comma, #field, (unsigned long long)counts->field);          \
	comma = ", ";
	LINK_COUNT_LIST(X)
#undef X
	fprintf(out, "}");
}

static int report_write(const struct link *link)
{
	char path[4096];
	snprintf(path, sizeof(path), "%s.new", link->report);
	FILE *out = fopen(path, "w");
	if (!out)
		return fail(path, strerror(errno));
	uint64_t unfinished = 0;
	for (unsigned i = 0; i < link->iface_count; i++)
		unfinished += link->ifaces[i].unfinished;
	fprintf(out,
		"{\"seed\": %llu, \"unknown_tag\": %llu, \"unfinished_checksum\": %llu, \"joins\": "
		"[",
		(unsigned long long)link->seed, (unsigned long long)link->unknown_tag,
		(unsigned long long)unfinished);
	for (unsigned i = 0; i < link->join_count; i++) {
		const struct join *join = &link->joins[i];
		fprintf(out, "%s\n{\"a\": \"%s\", \"b\": \"%s\", \"tag\": %u, ", i ? "," : "",
			join->iface[0]->name, join->iface[1]->name, join->tag);
		counts_write(out, "up", &join->way[UP].counts);
		fprintf(out, ", ");
		counts_write(out, "down", &join->way[DOWN].counts);
		fprintf(out, "}");
	}
	fprintf(out, "]}\n");
	if (fclose(out) || rename(path, link->report))
		return fail(link->report, strerror(errno));
	return 0;
}

static int link_run(struct link *link, const sigset_t *unblocked)
{
	struct link_frame frames[LINK_BURST];
	while (!stop_wanted) {
		int64_t wait = queue_drain(link);
		struct timespec ts = {wait / 1000000000, wait % 1000000000};
		if (ppoll(link->polls, link->iface_count, wait < 0 ? NULL : &ts, unblocked) < 0 &&
			errno != EINTR)
			return fail("poll", strerror(errno));
		for (unsigned i = 0; i < link->iface_count; i++) {
			int count = link_iface_receive(&link->ifaces[i], frames);
			if (count < 0 && count != -ENETDOWN)
				return fail(link->ifaces[i].name, strerror(-count));
			uint64_t now = clock_ns();
			for (int j = 0; j < count; j++)
				frame_take(link, &link->ifaces[i], &frames[j], now);
		}
		if (report_wanted) {
			report_wanted = 0;
			report_write(link);
		}
	}
	return report_write(link);
}

static int arguments_read(struct link *link, int argc, char **argv)
{
	static const struct option options[] = {
		{"seed", 1, NULL, 's'}, {"report", 1, NULL, 'r'}, {"join", 1, NULL, 'j'}, {0}};
	int option;
	while ((option = getopt_long(argc, argv, "", options, NULL)) != -1) {
		if (option == 's')
			link->seed = strtoull(optarg, NULL, 0);
		else if (option == 'r')
			link->report = optarg;
		else if (option != 'j' || join_read(link, optarg))
			return -EINVAL;
	}
	if (!link->join_count || !link->report)
		return fail("arguments", "--report and --join are needed, --seed before --join");
	return 0;
}

int main(int argc, char **argv)
{
	struct link *link = calloc(1, sizeof(*link));
	struct sigaction action = {.sa_handler = signal_take};
	sigset_t blocked, unblocked;

	if (!link || arguments_read(link, argc, argv))
		return 1;
	sigemptyset(&blocked);
	const int signals[] = {SIGUSR1, SIGTERM, SIGINT};
	for (unsigned i = 0; i < 3; i++) {
		sigaddset(&blocked, signals[i]);
		sigaction(signals[i], &action, NULL);
	}
	sigprocmask(SIG_BLOCK, &blocked, &unblocked);
	puts("ready");
	fflush(stdout);
	int error = link_run(link, &unblocked);
	link_queue_fini(&link->queue);
	for (unsigned i = 0; i < link->iface_count; i++)
		link_iface_close(&link->ifaces[i]);
	free(link);
	return error ? 1 : 0;
}
