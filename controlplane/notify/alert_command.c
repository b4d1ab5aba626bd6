/* SPDX-License-Identifier: BSD-3-Clause */
/* Incidents as calls of a command: one call a message, one at a time, the whole as JSON on its standard input. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "alert/alert_text.h"
#include "base/clock.h"
#include "ipc/ipc.h"
#include "notify/alert.h"
#include "notify/alert_environment.h"
#include "notify/alert_runner.h"

#define NS_IN_S 1000000000ull

enum {
	OUTPUT_MAX = 65536, /* bytes that it may write; then it is killed */
	SAID_MAX = 200,	    /* of these, kept for the error */
	PATIENCE_S = 5,	    /* beyond its time, until it counts as lost */
};

struct command {
	struct alert *alert;
	json_t *settings;
	struct alert_wait wait;
	struct event *output;
	uint64_t test;	    /* number of the test that it is called for, */
	uint64_t next_test; /* or that waits until it has ended */
	uint64_t late_ns;
	size_t written;
	char said[SAID_MAX];
	size_t said_length;
};

/* --- the end of a call ------------------------------------------------------------------------------ */

static void output_close(struct command *c)
{
	if (!c->output)
		return;
	close(event_get_fd(c->output));
	event_free(c->output);
	c->output = NULL;
}

static void output_take(struct command *c)
{
	char bytes[4096];
	ssize_t n = -1;

	while (c->output && (n = read(event_get_fd(c->output), bytes, sizeof(bytes))) > 0) {
		size_t keep = SAID_MAX - 1 - c->said_length;

		keep = (size_t)n < keep ? (size_t)n : keep;
		memcpy(c->said + c->said_length, bytes, keep);
		c->said_length += keep;
		c->written += (size_t)n;
		if (c->written > OUTPUT_MAX) {
			alert_runner_stop(&c->wait);
			output_close(c);
		}
	}
	if (c->output && n == 0)
		output_close(c);
}

static void on_output(evutil_socket_t fd, short what, void *ctx)
{
	output_take(ctx);
}

/* Why it did not take the message, or NULL: it has. */
static const char *fault(struct command *c, int status, char *out, size_t size)
{
	const char *said = c->said;

	if (c->said_length >= sizeof(RUNNER_REFUSAL) &&
		!memcmp(said, RUNNER_REFUSAL, sizeof(RUNNER_REFUSAL))) {
		snprintf(out, size, "the command could not be started: %s",
			said + sizeof(RUNNER_REFUSAL));
		return out;
	}
	incident_clean(c->said);
	if (c->written > OUTPUT_MAX)
		snprintf(out, size, "the command wrote more than %d bytes", OUTPUT_MAX);
	else if (WIFSIGNALED(status) && clock_ns() + PATIENCE_S * NS_IN_S >= c->late_ns)
		snprintf(out, size, "the command was killed after %u s", c->alert->timeout_s);
	else if (WIFSIGNALED(status))
		snprintf(out, size, "the command ended with signal %d", WTERMSIG(status));
	else if (WEXITSTATUS(status))
		snprintf(out, size, "the command ended with %d%s%s", WEXITSTATUS(status),
			*said ? ": " : "", said);
	else
		return NULL;
	return out;
}

static void call_end(struct command *c, const char *reason)
{
	uint64_t test = c->test;

	output_close(c);
	c->test = 0;
	if (test)
		receiver_tested(c->alert->receiver, test, !reason, reason ? reason : "");
	else
		alert_sent(c->alert, reason ? ALERT_AGAIN : ALERT_TAKEN, NULL, reason);
}

static void on_ended(void *ctx, int status)
{
	struct command *c = ctx;
	char reason[SAID_MAX + 80];

	output_take(c);
	call_end(c, fault(c, status, reason, sizeof(reason)));
}

/* --- a call ----------------------------------------------------------------------------------------- */

/* A file in memory that holds text, to be read from its begin; or -errno. */
static int memory_file(const char *name, const char *text)
{
	int fd = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING);
	size_t length = strlen(text), at = 0;

	while (fd >= 0 && at < length) {
		ssize_t n = write(fd, text + at, length - at);

		if (n < 0) {
			int rc = -errno;

			close(fd);
			return rc;
		}
		at += (size_t)n;
	}
	if (fd < 0)
		return -errno;
	lseek(fd, 0, SEEK_SET);
	fcntl(fd, F_ADD_SEALS, F_SEAL_WRITE | F_SEAL_GROW | F_SEAL_SHRINK | F_SEAL_SEAL);
	return fd;
}

static int output_open(struct command *c)
{
	int ends[2];

	if (pipe2(ends, O_CLOEXEC))
		return -errno;
	fcntl(ends[0], F_SETFL, O_NONBLOCK);
	c->output = event_new(
		receiver_base(c->alert->receiver), ends[0], EV_READ | EV_PERSIST, on_output, c);
	if (c->output && event_add(c->output, NULL) == 0)
		return ends[1];
	if (c->output)
		event_free(c->output);
	c->output = NULL;
	close(ends[0]);
	close(ends[1]);
	return -ENOMEM;
}

static int call(struct command *c, const json_t *event)
{
	static struct alert_environment e;
	char *text = json_dumps(event, JSON_COMPACT);
	int in = text ? memory_file("weir-event", text) : -ENOMEM;
	int program = memory_file("weir-alert-script", ipc_string(c->settings, "script"));
	int out = output_open(c), rc = in < 0 ? in : program < 0 ? program : out;

	c->written = c->said_length = 0;
	memset(c->said, 0, sizeof(c->said));
	c->late_ns = clock_ns() + (c->alert->timeout_s + PATIENCE_S) * NS_IN_S;
	alert_environment_make(
		&e, ipc_string(c->settings, "name"), ipc_string(c->settings, "args"), event);
	struct child_program p = {.strings = e.bytes,
		.length = (uint32_t)e.length,
		.argc = e.argc,
		.envc = e.envc,
		.seconds = c->alert->timeout_s,
		.out = out,
		.in = in,
		.program = program,
		.report = true};
	if (rc >= 0)
		rc = e.full ? -E2BIG : alert_runner_start(&c->wait, &p);
	int all[] = {in, program, out};
	for (unsigned i = 0; i < 3; i++)
		if (all[i] >= 0)
			close(all[i]);
	free(text);
	return rc < 0 ? rc : 0;
}

static void call_begin(struct command *c, json_t *event)
{
	char reason[120];
	int rc = event ? call(c, event) : -ENOMEM;

	json_decref(event);
	if (rc == 0)
		return;
	snprintf(reason, sizeof(reason), "the command could not be started: %s", strerror(-rc));
	call_end(c, reason);
}

static void command_send(void *self, const struct digest_message *m)
{
	struct command *c = self;

	/* A test is being made: this comes again in a second. */
	if (c->wait.id) {
		alert_sent(c->alert, ALERT_AGAIN, NULL, "a test is being made");
		return;
	}
	call_begin(c, alert_json(receiver_host(c->alert->receiver), &c->alert->digest, m));
}

static void test_begin(struct command *c)
{
	c->test = c->next_test;
	c->next_test = 0;
	call_begin(c,
		json_pack("{s:s,s:s,s:s,s:i,s:i,s:[]}", "host", receiver_host(c->alert->receiver),
			"kind", "test", "subject", "test", "count", 0, "closed", 0, "incidents"));
}

static void command_test(void *self, uint64_t number)
{
	struct command *c = self;

	if (c->next_test || c->test) {
		receiver_tested(c->alert->receiver, number, false, "a test is on its way");
		return;
	}
	c->next_test = number;
	if (!c->wait.id)
		test_begin(c);
}

static void command_tick(void *self)
{
	struct command *c = self;

	if (c->wait.id && clock_ns() > c->late_ns) {
		alert_runner_stop(&c->wait);
		alert_runner_forget(&c->wait);
		call_end(c, "the command was lost");
	}
	if (c->next_test && !c->wait.id)
		test_begin(c);
}

static void command_free(void *self)
{
	struct command *c = self;

	alert_runner_stop(&c->wait);
	alert_runner_forget(&c->wait);
	output_close(c);
	json_decref(c->settings);
	free(c);
}

static void *command_create(struct alert *a, const json_t *settings, const char **reason)
{
	struct command *c = calloc(1, sizeof(*c));

	*reason = !c				     ? "no memory"
		  : !*ipc_string(settings, "script") ? "script: there is none"
						     : NULL;
	if (*reason) {
		free(c);
		return NULL;
	}
	*c = (struct command){.alert = a, .settings = json_deep_copy(settings)};
	c->wait.ended = on_ended;
	c->wait.ctx = c;
	return c;
}

static const struct alert_sender sender = {.create = command_create,
	.send = command_send,
	.test = command_test,
	.tick = command_tick,
	.free = command_free};

static void *create(struct receiver *r, const json_t *settings, const char **reason)
{
	return alert_new(r, &sender, settings, reason);
}

const struct receiver_kind receiver_command = ALERT_RECEIVER("command", create);
