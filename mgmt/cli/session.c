/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/session.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "ipc/ipc.h"

#define ANSWER_TIMEOUT_MS 120000u

static volatile sig_atomic_t interrupted;
static volatile sig_atomic_t busy_fd = -1; /* connection of the request that is under way */

/* A reader of the socket then sees its end, wherever it stands. */
static void on_interrupt(int number)
{
	int saved = errno;

	(void)number;
	interrupted = 1;
	if (busy_fd >= 0)
		shutdown(busy_fd, SHUT_RDWR);
	errno = saved;
}

void session_catch_interrupt(void)
{
	struct sigaction action = {.sa_handler = on_interrupt}; /* no SA_RESTART: writes end too */

	sigaction(SIGINT, &action, NULL);
}

bool session_wait_input(int fd)
{
	struct pollfd poll = {.fd = fd, .events = POLLIN};
	sigset_t interrupt, before;
	bool there = false;

	sigemptyset(&interrupt);
	sigaddset(&interrupt, SIGINT);
	sigprocmask(SIG_BLOCK, &interrupt, &before);
	while (!there && !interrupted)
		there = ppoll(&poll, 1, NULL, &before) > 0 || errno != EINTR;
	sigprocmask(SIG_SETMASK, &before, NULL);
	return there;
}

bool session_interrupted(void)
{
	bool was = interrupted;

	interrupted = 0;
	return was;
}

void session_init(struct session *s, const char *run_dir)
{
	*s = (struct session){.fd = -1};
	int n = snprintf(s->path, sizeof(s->path), "%s/%s", run_dir, IPC_SOCKET_NAME);
	if (n >= (int)sizeof(s->path)) /* too long for a socket anyhow; connect will say so */
		s->path[sizeof(s->path) - 1] = 0;
}

static void session_close(struct session *s)
{
	busy_fd = -1;
	if (s->fd >= 0)
		close(s->fd);
	s->fd = -1;
}

static void session_forget(struct session *s)
{
	free(s->error);
	json_decref(s->refusal);
	s->error = NULL;
	s->refusal = NULL;
}

void session_fini(struct session *s)
{
	session_close(s);
	session_forget(s);
}

void session_fail(struct session *s, const char *format, ...)
{
	va_list ap;

	free(s->error);
	va_start(ap, format);
	if (vasprintf(&s->error, format, ap) < 0)
		s->error = NULL;
	va_end(ap);
}

static enum outcome session_stopped(struct session *s)
{
	session_close(s);
	session_fail(s, "interrupted");
	return OUTCOME_INTERRUPTED;
}

static enum outcome session_connect(struct session *s)
{
	s->fd = ipc_connect(s->path, ANSWER_TIMEOUT_MS);
	if (s->fd >= 0)
		return OUTCOME_OK;
	int status = s->fd;
	s->fd = -1;
	if (interrupted)
		return session_stopped(s);
	const char *why = status == -ENOENT || status == -ECONNREFUSED
				  ? "weir-cp does not run there (see --run-dir)"
				  : strerror(-status);
	session_fail(s, "%s: not connected: %s", s->path, why);
	return OUTCOME_DISCONNECTED;
}

static enum outcome session_unsent(struct session *s, int status)
{
	if (interrupted)
		return session_stopped(s);
	session_close(s);
	if (status == -EINVAL || status == -EMSGSIZE) {
		session_fail(s, "the command cannot be sent: %s",
			status == -EMSGSIZE ? "it is too long" : "it is no UTF-8");
		return OUTCOME_REFUSED;
	}
	session_fail(s, "%s: sending failed: %s", s->path, strerror(-status));
	return OUTCOME_DISCONNECTED;
}

/* A connection that weir-cp closed while we waited for a command is replaced; nothing was lost then. */
static enum outcome session_send(struct session *s, const json_t *request)
{
	bool fresh = s->fd < 0;
	int status;

	for (;;) {
		if (s->fd < 0) {
			enum outcome outcome = session_connect(s);
			if (outcome)
				return outcome;
		}
		busy_fd = s->fd;
		if (interrupted) /* before the handler knew the connection */
			return session_stopped(s);
		status = ipc_send(s->fd, request);
		if (status != -EPIPE || fresh || interrupted)
			break;
		session_close(s);
		fresh = true;
	}
	return status ? session_unsent(s, status) : OUTCOME_OK;
}

static enum outcome session_lost(struct session *s, int status)
{
	if (interrupted)
		return session_stopped(s);
	session_close(s);
	if (status == -EPIPE)
		session_fail(s,
			"%s: weir-cp closed the connection before the answer was complete; a "
			"change may "
			"have been made or not",
			s->path);
	else if (status == -EAGAIN)
		session_fail(s, "%s: no answer from weir-cp within %u s", s->path,
			ANSWER_TIMEOUT_MS / 1000);
	else
		session_fail(
			s, "%s: no proper answer from weir-cp: %s", s->path, strerror(-status));
	return OUTCOME_DISCONNECTED;
}

static enum outcome session_refused(struct session *s, const json_t *error)
{
	const char *names[] = {"kind", "object", "field", "reason"};
	char *text = ipc_text_get(json_object_get(error, "text"), NULL);
	char *line = NULL;
	size_t size;

	s->refusal = json_incref((json_t *)error);
	if (!text) {
		FILE *out = open_memstream(&line, &size);

		for (size_t i = 0; out && i < 4; i++) {
			char *part = ipc_text_get(json_object_get(error, names[i]), NULL);

			if (part && *part)
				fprintf(out, "%s%s", ftell(out) ? (i == 1 ? " " : ": ") : "", part);
			free(part);
		}
		if (out)
			fclose(out);
	}
	session_fail(s, "%s", text ? text : line && *line ? line : "refused without a reason");
	free(text);
	free(line);
	return OUTCOME_REFUSED;
}

/* One frame of the answer. *done is set at its end. */
static enum outcome session_frame(struct session *s, const json_t *frame, session_row *row,
	void *arg, json_t **result, bool *done)
{
	const json_t *rows = json_object_get(frame, "rows");
	const json_t *error = json_object_get(frame, "error");
	json_t *end = json_object_get(frame, "result");

	*done = error || end;
	if (error)
		return session_refused(s, error);
	if (end) {
		if (result)
			*result = json_incref(end);
		return OUTCOME_OK;
	}
	if (!json_is_array(rows))
		return session_lost(s, -EPROTO);
	for (size_t i = 0; row && i < json_array_size(rows) && !interrupted; i++) {
		enum outcome outcome = row(arg, json_array_get(rows, i));
		if (outcome)
			return outcome;
	}
	return OUTCOME_OK;
}

enum outcome session_ask(
	struct session *s, json_t *request, session_row *row, void *arg, json_t **result)
{
	enum outcome outcome;
	bool done = false;

	session_forget(s);
	if (result)
		*result = NULL;
	if (!request) {
		session_fail(s, "out of memory");
		return OUTCOME_REFUSED;
	}
	outcome = session_send(s, request);
	json_decref(request);
	while (!outcome && !done) {
		json_t *frame = NULL;
		int status = ipc_receive(s->fd, &frame);

		outcome = status || interrupted ? session_lost(s, status)
						: session_frame(s, frame, row, arg, result, &done);
		json_decref(frame);
	}
	busy_fd = -1;
	if (!done)
		session_close(s); /* the rest of the answer is not for the next request */
	return outcome;
}
