/* SPDX-License-Identifier: BSD-3-Clause */
#include "notify/alert_runner.h"

#include <errno.h>
#include <pwd.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "base/rights.h"
#include "notify/alert.h"

static struct {
	struct child_runner *child;
	struct event *ended;
	uint64_t last_id;
	bool lost;
	LIST_HEAD(, alert_wait) waits;
} runner;

static struct alert_wait *wait_find(uint64_t id)
{
	struct alert_wait *w;

	LIST_FOREACH(w, &runner.waits, entry)
	if (w->id == id)
		return w;
	return NULL;
}

static void on_ended(evutil_socket_t fd, short what, void *ctx)
{
	uint64_t id;
	int status, rc;

	while ((rc = child_runner_ended(runner.child, &id, &status)) == 0) {
		struct alert_wait *w = wait_find(id);

		if (!w)
			continue;
		alert_runner_forget(w);
		w->ended(w->ctx, status);
	}
	if (rc == -EAGAIN)
		return;
	/* Without privileges no other can be started: who supervises us starts both anew. */
	log_error("commands: the process that starts them is gone: stop");
	runner.lost = true;
	event_base_loopbreak(ctx);
}

int alert_runner_start(struct alert_wait *w, const struct child_program *p)
{
	if (!runner.child)
		return -EPERM;
	int rc = child_runner_start(runner.child, ++runner.last_id, p);
	if (rc)
		return rc;
	w->id = runner.last_id;
	LIST_INSERT_HEAD(&runner.waits, w, entry);
	return 0;
}

void alert_runner_stop(const struct alert_wait *w)
{
	if (w->id && runner.child)
		child_runner_stop(runner.child, w->id, false);
}

void alert_runner_forget(struct alert_wait *w)
{
	if (w->id)
		LIST_REMOVE(w, entry);
	w->id = 0;
}

int alert_commands_init(struct event_base *base, const char *user, const char *hide)
{
	struct identity id;

	if (geteuid() != 0) {
		log_warning("commands: need to be started as root");
		return 0;
	}
	if (!user)
		user = getpwnam("weir-notify-ext") ? "weir-notify-ext" : "nobody";
	int rc = rights_identity("--script-user", user, &id);
	if (rc)
		return rc;
	LIST_INIT(&runner.waits);
	runner.child = child_runner_new("weir-notify-run", id.uid, id.gid, hide);
	if (!runner.child)
		return -errno;
	runner.ended = event_new(
		base, child_runner_fd(runner.child), EV_READ | EV_PERSIST, on_ended, base);
	return runner.ended && event_add(runner.ended, NULL) == 0 ? 0 : -ENOMEM;
}

bool alert_commands_lost(void)
{
	return runner.lost;
}

void alert_commands_fini(void)
{
	if (runner.ended)
		event_free(runner.ended);
	child_runner_free(runner.child);
	runner.ended = NULL;
	runner.child = NULL;
}
