/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What weir-mon says, one message a line: it changes verdicts by its own words only, what reaches people is clean,
 * and a restart knows all of it.
 */
#include <arpa/inet.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "health/health_agent.h"
#include "health/health_internal.h"

#define OBJECTS_MAX 64u

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

/* Ids follow from the order: the corpus names them. */
static const char conf[] = "ltm monitor tcp a { }\n"
			   "ltm monitor http b { manual-resume enabled }\n"
			   "ltm monitor agent-check c { }\n"
			   "ltm monitor snmp-dca d { }\n"
			   "ltm monitor inband e { failures 3 failure-interval 10 }\n"
			   "ltm node 10.0.0.1 { address 10.0.0.1 monitor icmp }\n"
			   "ltm pool p { monitor min 1 of { a b } members {\n"
			   "  10.0.0.1:80 { address 10.0.0.1 }\n"
			   "  10.0.0.2:80 { address 10.0.0.2 monitor a and b and c and d }\n"
			   "  10.0.0.3:80 { address 10.0.0.3 monitor e and b } } }\n";

static char dir[] = "/tmp/fuzz_health.XXXXXX";
static struct event_base *base;
static struct model *model;

static void check_clean(const char *text)
{
	for (const char *p = text ? text : ""; *p; p++)
		if (*p < ' ' || *p > '~')
			abort();
}

static void on_verdict(void *ctx, uint32_t object, enum verdict before, uint64_t since)
{
	if (!model_get(model, object))
		abort();
}

static void on_agent(void *ctx, uint32_t object, uint32_t monitor, const struct health_agent *line)
{
	struct health_agent_hold hold;
	char text[512];

	if (!model_get(model, object) || line->weight > 256)
		abort();
	health_agent_text(line, text, sizeof(text));
	check_clean(text);
	if (health_agent_hold(0, "", line, &hold))
		check_clean(hold.reason);
}

static void on_ratio(void *ctx, uint32_t object, unsigned ratio)
{
	if (!model_get(model, object) || ratio < 1 || ratio > 100)
		abort();
}

static void on_connected(void *ctx, bool connected)
{
	*(bool *)ctx = connected;
}

static void on_rows(void *ctx, const json_t *rows)
{
	if (!json_is_array(rows))
		abort();
}

static void on_done(void *ctx, int status)
{
	*(bool *)ctx = true;
}

static void remove_dir(void)
{
	rmdir(dir);
}

static void model_make(void)
{
	const struct model_actor actor = {.class = HOLD_OPERATOR, .role = ROLE_ADMIN};
	struct model_error err;

	base = event_base_new();
	model = model_new();
	if (!mkdtemp(dir) || model_begin(model, &actor) ||
		model_load(model, conf, sizeof(conf) - 1, "fuzz", 0, &err) ||
		model_commit(model, NULL, &err))
		abort();
	atexit(remove_dir);
}

static struct health *start(bool *connected)
{
	static const struct health_ops ops = {.verdict = on_verdict,
		.agent = on_agent,
		.dynamic_ratio = on_ratio,
		.connected = on_connected};
	const struct health_config config = {.run_dir = dir,
		.store_dir = dir,
		.file_dir = dir,
		.origin = 1,
		.mon_uid = getuid()};
	char reason[300];
	struct health *h =
		health_new(base, model, &config, &ops, connected, reason, sizeof(reason));

	if (!h)
		abort();
	return h;
}

/* As weir-mon, so that questions are asked; what is sent to it nobody reads. */
static int greet(const bool *connected)
{
	static const char hello[] =
		"{\"type\":\"hello\",\"version\":1,\"kinds\":[\"tcp\",\"http\",\"agent-check\"]}";
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	uint32_t length = htonl(sizeof(hello) - 1);
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);

	snprintf(address.sun_path, sizeof(address.sun_path), "%s/" MON_SOCKET_NAME, dir);
	if (connect(fd, (struct sockaddr *)&address, sizeof(address)) ||
		write(fd, &length, sizeof(length)) != sizeof(length) ||
		write(fd, hello, sizeof(hello) - 1) != sizeof(hello) - 1)
		abort();
	while (!*connected)
		event_base_loop(base, EVLOOP_ONCE);
	return fd;
}

static void say_lines(struct health *h, const char *text, size_t len)
{
	for (const char *end = text + len, *next; text < end; text = next) {
		const char *nl = memchr(text, '\n', (size_t)(end - text));
		size_t n = (size_t)((nl ? nl : end) - text);
		json_t *message = json_loadb(text, n, JSON_REJECT_DUPLICATES, NULL);

		next = text + n + (nl != NULL);
		if (json_is_object(message))
			health_message(h, message);
		json_decref(message);
	}
}

struct known {
	uint32_t object, monitor;
	uint8_t verdict;
	uint64_t since;
	char reason[MON_REASON_MAX * 2];
};

struct all_known {
	struct known row[OBJECTS_MAX];
	unsigned count;
};

static void on_instance(void *ctx, const struct health_instance *in)
{
	struct all_known *all = ctx;
	struct known *k = &all->row[all->count++];

	if (all->count == OBJECTS_MAX)
		abort();
	k->object = in->object;
	k->monitor = in->monitor;
	k->verdict = in->verdict;
	k->since = in->since;
	snprintf(k->reason, sizeof(k->reason), "%s", in->reason ? in->reason : "");
	check_clean(in->reason);
}

static void know(const struct health *h, struct all_known *all)
{
	memset(all, 0, sizeof(*all));
	health_instances(h, ID_NONE, ID_NONE, on_instance, all);
	for (unsigned i = 0; i < all->count; i++)
		check_clean(verdicts_get(health_verdicts(h), all->row[i].object).reason);
}

static void fault(const struct known *a, const struct known *b)
{
	fprintf(stderr, "object %u monitor %u: %u since %llu \"%s\"; then %u since %llu \"%s\"\n",
		a->object, a->monitor, a->verdict, (unsigned long long)a->since, a->reason,
		b->verdict, (unsigned long long)b->since, b->reason);
	abort();
}

/* What a fault of its own said is said again after the start, if it still is one. */
static bool same(const struct known *a, const struct known *b)
{
	return a->object == b->object && a->monitor == b->monitor && a->verdict == b->verdict &&
	       (a->verdict == VERDICT_CHECKING ||
		       (a->since == b->since && !strcmp(a->reason, b->reason)));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	static const struct health_stats_ops stats = {.rows = on_rows, .done = on_done};
	static struct all_known before, after;
	bool connected = false, done = false;
	char path[100];

	if (!model)
		model_make();
	struct health *h = start(&connected);
	int fd = greet(&connected);
	struct health_query *q = health_stats(h, ID_NONE, ID_NONE, &stats, &done);
	say_lines(h, (const char *)data, len);
	if (!done)
		health_stats_cancel(q);
	know(h, &before);
	health_free(h);
	close(fd);
	h = start(&connected);
	know(h, &after);
	health_free(h);
	if (before.count != after.count)
		abort();
	for (unsigned i = 0; i < before.count; i++)
		if (!same(&before.row[i], &after.row[i]))
			fault(&before.row[i], &after.row[i]);
	snprintf(path, sizeof(path), "%s/verdicts", dir);
	unlink(path);
	return 0;
}
