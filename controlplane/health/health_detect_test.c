/* SPDX-License-Identifier: BSD-3-Clause */
#undef NDEBUG
#include "health/health_detect.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

static void expect(struct health_timers t, uint64_t silent, uint64_t refusing, uint64_t wrong)
{
	struct health_detection d = health_detect(&t);

	assert(d.silent == silent);
	assert(d.refusing == refusing);
	assert(d.wrong == wrong);
}

static void test_by_timeout(void)
{
	/* LTM's defaults: three calls without answer. */
	expect((struct health_timers){.interval = 5, .timeout = 16}, 16, 5, 16);
	/* A long interval while up is waited for once. */
	expect((struct health_timers){.interval = 5, .up_interval = 60, .timeout = 16}, 71, 60, 71);
	/* A timeout within the interval starts with the probe. */
	expect((struct health_timers){.interval = 30, .timeout = 10}, 40, 30, 40);
	expect((struct health_timers){.interval = 30, .timeout = 30}, 60, 30, 60);
	expect((struct health_timers){.interval = 86400, .up_interval = 86400, .timeout = 900},
		87300, 86400, 87300);
}

static void test_by_count(void)
{
	expect((struct health_timers){.interval = 5, .timeout = 16, .failures = 1}, 10, 5, 5);
	expect((struct health_timers){.interval = 5, .timeout = 31, .failures = 3}, 20, 5, 15);
	/* Whatever comes first. */
	expect((struct health_timers){.interval = 5, .timeout = 16, .failures = 100}, 16, 5, 16);
	expect((struct health_timers){.interval = 86400, .timeout = 900, .failures = UINT32_MAX},
		87300, 86400, 87300);
}

static void test_warning(void)
{
	struct health_timers t = {.interval = 5, .up_interval = 60, .timeout = 16};
	char text[400];

	assert(health_detect_warn("ltm monitor http /Common/app", &t, 60, text, sizeof(text)));
	assert(!strncmp(text, "ltm monitor http /Common/app: a server that falls silent ", 57));
	assert(strstr(text, " 71 s") && strstr(text, "the 60 s of sys db monitor.detectlimit"));
	assert(strstr(text, "lower up-interval"));
	/* The limit itself is met. */
	assert(!health_detect_warn("", &t, 71, text, sizeof(text)));
	assert(health_detect_warn("", &t, 70, text, sizeof(text)));
	/* 0: nobody wants to know. */
	assert(!health_detect_warn("", &t, 0, text, sizeof(text)));
	t = (struct health_timers){.interval = 30, .timeout = 91};
	assert(health_detect_warn("", &t, 60, text, sizeof(text)));
	assert(strstr(text, "lower timeout or interval"));
}

/* --- of a model ----------------------------------------------------------------------------------- */

static const struct model_actor actor = {.class = HOLD_OPERATOR, .role = ROLE_ADMIN};

static void said(void *ctx, const char *sentence)
{
	char *all = ctx;
	size_t len = strlen(all);

	snprintf(all + len, 2000 - len, "%.*s;", (int)strcspn(sentence, ":"), sentence);
}

static const char *check(const struct model *m, const struct model_changes *changes)
{
	static char all[2000];

	all[0] = 0;
	health_detect_check(m, changes, said, all);
	return all;
}

static void edit(struct model *m, enum model_verb verb, const char *text, const char *warns)
{
	struct model_changes changes;
	struct model_error err;

	assert(model_begin(m, &actor) == 0);
	assert(model_edit(m, verb, text, &err) == 0);
	int rc = model_commit(m, &changes, &err);
	if (rc)
		fprintf(stderr, "%s: %s\n", text, err.reason);
	assert(rc == 0);
	assert(!strcmp(check(m, &changes), warns));
	model_changes_fini(&changes);
}

static void test_model(void)
{
	struct model *m = model_new();

	assert(!strcmp(check(m, NULL), ""));
	edit(m, VERB_CREATE, "ltm monitor http slow { up-interval 60 }", "");
	edit(m, VERB_CREATE, "ltm monitor http child { defaults-from slow }", "");
	edit(m, VERB_CREATE, "ltm monitor tcp quick { interval 10 timeout 31 }", "");
	edit(m, VERB_CREATE, "ltm monitor agent-check agent { interval 200 timeout 601 }", "");
	/* Those that no rule names are nobody's concern. */
	assert(!strcmp(check(m, NULL), ""));
	edit(m, VERB_CREATE, "ltm pool web monitor quick and slow and inband and agent",
		"ltm monitor http /Common/slow;");
	edit(m, VERB_CREATE, "ltm pool other", "");
	edit(m, VERB_MODIFY, "ltm pool other members add { 10.0.0.1:80 { monitor child } }",
		"ltm monitor http /Common/child;");
	/* What it inherits counts, and what changes for its children. */
	edit(m, VERB_MODIFY, "ltm monitor http slow up-interval 50",
		"ltm monitor http "
		"/Common/child;ltm monitor "
		"http /Common/slow;");
	edit(m, VERB_MODIFY, "ltm pool web description x", "ltm monitor http /Common/slow;");
	edit(m, VERB_CREATE, "ltm virtual v destination 10.0.0.9:80", "");
	edit(m, VERB_MODIFY, "ltm monitor http slow up-interval 49", "");
	edit(m, VERB_MODIFY, "ltm default-node-monitor rule icmp", "");
	edit(m, VERB_MODIFY, "sys db monitor.detectlimit value 30", "");
	assert(!strcmp(check(m, NULL), "ltm monitor tcp /Common/quick;ltm monitor http "
				       "/Common/child;ltm monitor http /Common/slow;"));
	edit(m, VERB_MODIFY, "sys db monitor.detectlimit value 0", "");
	assert(!strcmp(check(m, NULL), ""));
	model_free(m);
}

int main(void)
{
	test_by_timeout();
	test_by_count();
	test_warning();
	test_model();
	return 0;
}
