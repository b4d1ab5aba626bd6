/* SPDX-License-Identifier: BSD-3-Clause */
/* The table of instances follows the model; its verdicts survive. weir-mon is not there: the test speaks for it. */
#include "health/health.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/check.h"
#include "health/health_internal.h"

#define POOLS 10000u
#define MEMBERS_EACH 10u

static const struct model_actor actor = {.class = HOLD_OPERATOR, .role = ROLE_ADMIN};
static char dir[] = "/tmp/health_test.XXXXXX";
static unsigned told;

static void on_verdict(void *ctx, uint32_t object, enum verdict before, uint64_t since)
{
	told++;
}

static const struct health_ops ops = {.verdict = on_verdict};

struct rig {
	struct event_base *base;
	struct model *m;
	struct health *h;
};

static void health_start(struct rig *r, uint64_t origin)
{
	const struct health_config config = {.run_dir = dir,
		.store_dir = dir,
		.file_dir = dir,
		.origin = origin,
		.mon_uid = getuid()};
	char reason[300];

	r->h = health_new(r->base, r->m, &config, &ops, NULL, reason, sizeof(reason));
	if (!r->h) {
		fprintf(stderr, "%s\n", reason);
		abort();
	}
}

static void rig_init(struct rig *r, const char *conf)
{
	struct model_error err;
	char text[1000];

	*r = (struct rig){event_base_new(), model_new(), NULL};
	CHECK(r->base && r->m && model_begin(r->m, &actor) == 0);
	if (model_load(r->m, conf, strlen(conf), "test", 0, &err) ||
		model_commit(r->m, NULL, &err)) {
		fprintf(stderr, "%s\n", model_error_text(&err, text, sizeof(text)));
		abort();
	}
	health_start(r, 1);
}

static void rig_fini(struct rig *r)
{
	health_free(r->h);
	model_free(r->m);
	event_base_free(r->base);
	libevent_global_shutdown();
}

static void edit(struct rig *r, enum model_verb verb, const char *text)
{
	struct model_changes changes;
	struct model_error err;
	char sentence[1000];

	CHECK_INT(model_begin(r->m, &actor), 0);
	if (model_edit(r->m, verb, text, &err) || model_commit(r->m, &changes, &err)) {
		fprintf(stderr, "%s\n", model_error_text(&err, sentence, sizeof(sentence)));
		abort();
	}
	health_model_changed(r->h, r->m, &changes);
	model_changes_fini(&changes);
}

static uint32_t member_id(const struct rig *r, const char *pool, const char *name)
{
	return model_find(
		r->m, KIND_POOL_MEMBER, model_find(r->m, KIND_POOL, ID_NONE, pool)->id, name)
		->id;
}

static uint32_t monitor_id(const struct rig *r, const char *name)
{
	return model_monitor_find(r->m, name)->id;
}

static void say(struct rig *r, uint32_t object, const char *monitor, enum mon_verdict said)
{
	struct health_inst *in = health_inst_get(r->h, object, monitor_id(r, monitor));

	CHECK(in != NULL);
	health_say(r->h, in, said, 1000, said == MON_DOWN ? "refused" : NULL);
}

/* As a macro: a failure tells the line. */
#define is(r, object, expected)                                                                    \
	CHECK_INT(verdicts_get(health_verdicts((r)->h), object).verdict, expected)

static const char conf[] =
	"ltm monitor tcp a { }\n"
	"ltm monitor http b { manual-resume enabled }\n"
	"ltm monitor inband passive { failures 3 failure-interval 10 retry-time 0 }\n"
	"ltm monitor agent-check agent { }\n"
	"ltm pool web { monitor a members {\n"
	"  10.0.0.1:80 { address 10.0.0.1 }\n"
	"  10.0.0.2:80 { address 10.0.0.2 monitor a and b }\n"
	"  10.0.0.3:80 { address 10.0.0.3 monitor none } } }\n"
	"ltm pool other { members { 10.0.0.1:81 { address 10.0.0.1 } } }\n";

static void test_rules(void)
{
	struct rig r;

	rig_init(&r, conf);
	uint32_t one = member_id(&r, "web", "10.0.0.1:80"),
		 two = member_id(&r, "web", "10.0.0.2:80");
	uint32_t three = member_id(&r, "web", "10.0.0.3:80");
	is(&r, one, VERDICT_CHECKING);
	is(&r, two, VERDICT_CHECKING);
	is(&r, three, VERDICT_UNCHECKED);
	say(&r, one, "a", MON_UP);
	say(&r, two, "a", MON_UP);
	is(&r, one, VERDICT_UP);
	is(&r, two, VERDICT_CHECKING);
	say(&r, two, "b", MON_DOWN);
	is(&r, two, VERDICT_DOWN);
	CHECK_STR(verdicts_get(health_verdicts(r.h), two).reason, "/Common/b: refused");
	say(&r, two, "b", MON_UP);
	is(&r, two, VERDICT_RESUME);
	CHECK_INT(health_resume(r.h, one), -EINVAL);
	CHECK_INT(health_resume(r.h, two), 0);
	is(&r, two, VERDICT_UP);
	/* Merged: what stays keeps its verdict. */
	edit(&r, VERB_MODIFY, "ltm pool web monitor a and b");
	is(&r, one, VERDICT_RECHECKING);
	is(&r, two, VERDICT_UP);
	edit(&r, VERB_MODIFY, "ltm pool web monitor min 1 of { a b }");
	is(&r, one, VERDICT_UP);
	edit(&r, VERB_MODIFY, "ltm pool web members modify { 10.0.0.3:80 { monitor a } }");
	is(&r, three, VERDICT_RECHECKING);
	edit(&r, VERB_MODIFY, "ltm pool web monitor none");
	is(&r, one, VERDICT_UNCHECKED);
	CHECK(health_inst_get(r.h, one, monitor_id(&r, "a")) == NULL);
	edit(&r, VERB_DELETE, "ltm pool web");
	is(&r, two, VERDICT_UNCHECKED);
	rig_fini(&r);
}

static void test_forced_offline(void)
{
	struct rig r;

	rig_init(&r, conf);
	uint32_t one = member_id(&r, "web", "10.0.0.1:80");
	say(&r, one, "a", MON_UP);
	edit(&r, VERB_MODIFY, "ltm node 10.0.0.1 session user-disabled");
	is(&r, one, VERDICT_UP);
	edit(&r, VERB_MODIFY, "ltm node 10.0.0.1 state user-down");
	is(&r, one, VERDICT_UNCHECKED);
	edit(&r, VERB_MODIFY, "ltm node 10.0.0.1 state user-up");
	is(&r, one, VERDICT_CHECKING);
	/* An agent is asked all the time, and judges nothing. */
	edit(&r, VERB_MODIFY, "ltm pool web monitor agent");
	is(&r, one, VERDICT_UNCHECKED);
	edit(&r, VERB_MODIFY, "ltm pool web members modify { 10.0.0.1:80 { state user-down } }");
	say(&r, one, "agent", MON_DOWN);
	is(&r, one, VERDICT_UNCHECKED);
	rig_fini(&r);
}

static void connections_failed(struct rig *r, uint32_t member, uint32_t count, unsigned second)
{
	const struct event_row row = {.type = EVENT_CONNECT_FAILED,
		.object = member,
		.detail = count,
		.time = second * 1000000000ull};

	health_event(r->h, &row);
}

static void test_passive(void)
{
	struct rig r;

	rig_init(&r, conf);
	uint32_t one = member_id(&r, "other", "10.0.0.1:81");
	edit(&r, VERB_MODIFY, "ltm pool other monitor passive");
	is(&r, one, VERDICT_UP);
	connections_failed(&r, one, 1, 1);
	connections_failed(&r, one, 1, 8);
	connections_failed(&r, one, 1, 12); /* 11 s after the first */
	is(&r, one, VERDICT_UP);
	connections_failed(&r, one, 1, 18);
	is(&r, one, VERDICT_DOWN);
	CHECK_STR(verdicts_get(health_verdicts(r.h), one).reason,
		"/Common/passive: 3 connections failed within 10 s");
	edit(&r, VERB_MODIFY, "ltm pool other monitor none");
	edit(&r, VERB_MODIFY, "ltm pool other monitor passive and a");
	is(&r, one, VERDICT_RECHECKING);
	connections_failed(&r, one, 2, 20);
	connections_failed(&r, one, 1000, 20);
	is(&r, one, VERDICT_DOWN);
	rig_fini(&r);
}

/* retry-time 0: another monitor brings it back. */
static void test_passive_and_another(void)
{
	struct rig r;

	rig_init(&r, conf);
	uint32_t one = member_id(&r, "other", "10.0.0.1:81");
	edit(&r, VERB_MODIFY, "ltm pool other monitor passive and a");
	say(&r, one, "a", MON_UP);
	connections_failed(&r, one, 3, 1);
	say(&r, one, "a", MON_UP); /* as before: it has not looked yet */
	is(&r, one, VERDICT_DOWN);
	say(&r, one, "a", MON_DOWN);
	say(&r, one, "a", MON_UP);
	is(&r, one, VERDICT_UP);
	/* It never finds a fault, and had time to. */
	connections_failed(&r, one, 3, 2);
	event_base_loop(r.base, EVLOOP_NONBLOCK);
	is(&r, one, VERDICT_DOWN);
	struct health_inst *in = health_inst_get(r.h, one, monitor_id(&r, "passive"));
	in->since -= 16000;
	health_passive_changed(r.h, in);
	event_base_loop(r.base, EVLOOP_NONBLOCK);
	is(&r, one, VERDICT_UP);
	/* Nobody is there who could: a person must say so. */
	CHECK_INT(health_resume(r.h, one), -EINVAL);
	edit(&r, VERB_MODIFY, "ltm pool other monitor passive");
	connections_failed(&r, one, 3, 3);
	event_base_loop(r.base, EVLOOP_NONBLOCK);
	is(&r, one, VERDICT_DOWN);
	CHECK_INT(health_resume(r.h, one), 0);
	is(&r, one, VERDICT_UP);
	rig_fini(&r);
}

static void hold(struct rig *r, uint32_t object, enum hold_class class, unsigned bits)
{
	struct model_changes changes;
	struct model_error err;

	CHECK_INT(model_begin(r->m, &actor), 0);
	CHECK_INT(model_hold(r->m, object, class, bits, "", &err), 0);
	CHECK_INT(model_commit(r->m, &changes, &err), 0);
	health_model_changed(r->h, r->m, &changes);
	model_changes_fini(&changes);
}

/* An agent's maint and ready are no person's resume. */
static void test_resume_outlives_offline(void)
{
	struct rig r;

	rig_init(&r, conf);
	uint32_t one = member_id(&r, "other", "10.0.0.1:81");
	edit(&r, VERB_MODIFY, "ltm monitor tcp a manual-resume enabled");
	edit(&r, VERB_MODIFY, "ltm pool other monitor a");
	say(&r, one, "a", MON_UP);
	say(&r, one, "a", MON_DOWN);
	hold(&r, one, HOLD_AGENT, HOLD_STATE);
	health_free(r.h);
	health_start(&r, 1);
	hold(&r, one, HOLD_AGENT, 0);
	is(&r, one, VERDICT_RESUME);
	say(&r, one, "a", MON_UP);
	is(&r, one, VERDICT_RESUME);
	hold(&r, one, HOLD_OPERATOR, HOLD_STATE);
	CHECK_INT(health_resume(r.h, one), -EINVAL); /* does not wait now, nor later */
	hold(&r, one, HOLD_OPERATOR, 0);
	is(&r, one, VERDICT_CHECKING);
	say(&r, one, "a", MON_UP);
	is(&r, one, VERDICT_UP);
	rig_fini(&r);
}

static void verdicts_of_file(struct rig *r, uint64_t origin)
{
	health_free(r->h);
	health_start(r, origin);
}

static off_t file_size(char path[100])
{
	struct stat st;

	snprintf(path, 100, "%s/verdicts", dir);
	CHECK_INT(stat(path, &st), 0);
	return st.st_size;
}

static void test_kept(void)
{
	struct rig r;
	char path[100];

	rig_init(&r, conf);
	uint32_t one = member_id(&r, "web", "10.0.0.1:80"),
		 two = member_id(&r, "web", "10.0.0.2:80");
	say(&r, one, "a", MON_UP);
	say(&r, two, "a", MON_UP);
	say(&r, two, "b", MON_DOWN);
	say(&r, two, "b", MON_UP);
	verdicts_of_file(&r, 1);
	is(&r, one, VERDICT_UP);
	is(&r, two, VERDICT_RESUME);
	CHECK_INT(health_inst_get(r.h, one, monitor_id(&r, "a"))->since, 1000);
	/* A record that was cut off, and what is no record. */
	off_t size = file_size(path);
	CHECK_INT(truncate(path, size - 1), 0);
	verdicts_of_file(&r, 1);
	is(&r, one, VERDICT_UP);
	is(&r, two, VERDICT_CHECKING);
	int fd = open(path, O_WRONLY);
	CHECK_INT(pwrite(fd, "????????", 8, 0), 8);
	close(fd);
	verdicts_of_file(&r, 1);
	is(&r, one, VERDICT_CHECKING);
	/* Ids of another store mean other objects. */
	say(&r, one, "a", MON_UP);
	verdicts_of_file(&r, 2);
	is(&r, one, VERDICT_CHECKING);
	/* It stays small however often they change. */
	for (unsigned i = 0; i < 20000; i++) {
		say(&r, one, "a", i % 2 ? MON_UP : MON_DOWN);
		event_base_loop(r.base, EVLOOP_NONBLOCK);
	}
	CHECK(file_size(path) < 100000);
	verdicts_of_file(&r, 2);
	is(&r, one, VERDICT_UP);
	rig_fini(&r);
}

static uint64_t cpu_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

/* One object among 100,000 members with monitors costs what it is, not what there is. */
static void test_large(void)
{
	struct text t = {0};
	struct rig r;

	text_printf(&t, "ltm monitor tcp a { }\n");
	for (unsigned i = 0; i < POOLS; i++) {
		text_printf(&t, "ltm pool p%u { monitor a members {", i);
		for (unsigned k = 0; k < MEMBERS_EACH; k++)
			text_printf(&t, " 10.%u.%u.%u:80 { address 10.%u.%u.%u }", 1 + i / 256,
				i % 256, k + 1, 1 + i / 256, i % 256, k + 1);
		text_printf(&t, " } }\n");
	}
	rig_init(&r, t.data);
	text_fini(&t);
	CHECK(health_inst_get(r.h, member_id(&r, "p9999", "10.40.15.10:80"), monitor_id(&r, "a")));
	const struct object *pool = model_find(r.m, KIND_POOL, ID_NONE, "p5000");
	struct model_change row = {.id = pool->id, .what = CHANGE_MODIFIED, .kind = KIND_POOL};
	const struct model_changes changes = {.row = &row, .count = 1, .config = true};
	uint64_t begin = cpu_ns();
	health_model_changed(r.h, r.m, &changes);
	uint64_t took = cpu_ns() - begin;
	printf("one pool of %u: %.3f ms\n", POOLS, (double)took / 1e6);
	CHECK(took < 2000000);
	rig_fini(&r);
}

int main(void)
{
	char path[100];

	CHECK(mkdtemp(dir) != NULL);
	test_rules();
	test_forced_offline();
	test_passive();
	test_passive_and_another();
	test_resume_outlives_offline();
	test_kept();
	test_large();
	CHECK(told > 0);
	file_size(path);
	unlink(path);
	CHECK_INT(rmdir(dir), 0);
	return 0;
}
