/* SPDX-License-Identifier: BSD-3-Clause */
#undef NDEBUG
#include "health/health_agent.h"

#include <assert.h>
#include <string.h>

#define BOTH (HOLD_SESSION | HOLD_STATE)

static struct health_agent_hold now;

static struct health_agent line_of(const char *admin, const char *state, const char *why)
{
	return (struct health_agent){
		.weight = -1, .maxconn = -1, .admin = admin, .state = state, .description = why};
}

/* The agent says something; what it holds goes on from what it held. */
static void says(
	const char *admin, const char *state, const char *why, unsigned bits, const char *reason)
{
	struct health_agent line = line_of(admin, state, why);
	struct health_agent_hold next;

	if (health_agent_hold(now.bits, now.reason, &line, &next))
		now = next;
	assert(now.bits == bits);
	assert(!strcmp(now.reason, reason));
}

static void test_words(void)
{
	now = (struct health_agent_hold){0};
	says("drain", "", "", HOLD_SESSION, "agent says drain");
	says("ready", "", "", 0, "");
	says("maint", "", "backup", BOTH, "agent says maint: backup");
	says("ready", "", "", 0, "");
	says("", "down", "gc", HOLD_STATE, "agent says down: gc");
	says("", "up", "", 0, "");
	says("", "failed", "", HOLD_STATE, "agent says failed");
	says("", "stopped", "", HOLD_STATE, "agent says stopped");
	says("ready", "up", "", 0, "");
}

/* Each word takes back its own kind only. */
static void test_two_kinds(void)
{
	now = (struct health_agent_hold){0};
	says("drain", "", "", HOLD_SESSION, "agent says drain");
	says("", "down", "gc", BOTH, "agent says drain and down: gc");
	says("", "up", "", HOLD_SESSION, "agent says drain");
	says("", "down", "gc", BOTH, "agent says drain and down: gc");
	says("ready", "", "", HOLD_STATE, "agent says down");
	says("maint", "", "gc", BOTH, "agent says maint and down: gc");
	says("", "up", "", BOTH, "agent says maint");
	says("drain", "", "", HOLD_SESSION, "agent says drain");
}

/* What a line does not state stays. */
static void test_only_what_is_stated(void)
{
	struct health_agent line = line_of("", "", "only words");
	struct health_agent_hold out;

	line.weight = 50;
	assert(!health_agent_hold(BOTH, "agent says maint", &line, &out));
	line = line_of("maint", "", "");
	assert(!health_agent_hold(BOTH, "agent says maint", &line, &out));
	line = line_of("ready", "up", "");
	assert(!health_agent_hold(0, "", &line, &out));
}

/* An operator has cleared a part, or somebody else wrote the reason. */
static void test_changed_meanwhile(void)
{
	now = (struct health_agent_hold){HOLD_SESSION, "agent says maint: x"};
	says("", "down", "", BOTH, "agent says drain and down");
	now = (struct health_agent_hold){HOLD_STATE, "agent says drain and down"};
	says("ready", "", "", HOLD_STATE, "agent says down");
	now = (struct health_agent_hold){BOTH, "a person wrote this"};
	says("", "up", "", HOLD_SESSION, "agent says drain");
	now = (struct health_agent_hold){0, "agent says maint"};
	says("", "up", "", 0, "");
}

static void test_hostile(void)
{
	char long_text[5000];

	memset(long_text, 'x', sizeof(long_text) - 1);
	long_text[sizeof(long_text) - 1] = 0;
	now = (struct health_agent_hold){0};
	struct health_agent line = line_of("drain", "down", long_text);
	assert(health_agent_hold(0, "", &line, &now));
	assert(strlen(now.reason) < HOLD_REASON_MAX);
	line = line_of("shut", "perhaps", "\033[31m");
	assert(health_agent_hold(BOTH, "agent says maint", &line, &now) && now.bits == 0);
	line = line_of("", "down", "a\033[31m\nb");
	assert(health_agent_hold(0, "", &line, &now));
	assert(!strcmp(now.reason, "agent says down: a?[31m?b"));
	health_agent_text(&line, long_text, sizeof(long_text));
	assert(!strcmp(long_text, "down #a?[31m?b"));
	health_agent_text(&line, long_text, 8);
	assert(!strcmp(long_text, "down #a"));
}

static void test_text(void)
{
	struct health_agent line = line_of("", "", "");
	char out[100];

	line.weight = 75;
	health_agent_text(&line, out, sizeof(out));
	assert(!strcmp(out, "75%"));
	struct health_agent later = line_of("ready", "up", "fine");
	later.maxconn = 20;
	health_agent_merge(&line, &later);
	health_agent_text(&line, out, sizeof(out));
	assert(!strcmp(out, "ready up 75% maxconn:20 #fine"));
	line = line_of("", "", "");
	line.maxconn = 0;
	health_agent_text(&line, out, sizeof(out));
	assert(!strcmp(out, "maxconn:0"));
}

int main(void)
{
	test_words();
	test_two_kinds();
	test_only_what_is_stated();
	test_changed_meanwhile();
	test_hostile();
	test_text();
	return 0;
}
