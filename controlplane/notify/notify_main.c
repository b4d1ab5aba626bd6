/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/calls.h"
#include "base/log.h"
#include "base/rights.h"
#include "notify/alert.h"
#include "notify/notify.h"
#include "notify/notify_dial.h"

static const char usage[] =
	"weir-notify --run-dir DIR --state-dir DIR [options]\n"
	"  --run-dir DIR    where weir-cp's notify.sock is looked for\n"
	"  --state-dir DIR  places of the receivers in the journal, kept over restarts\n"
	"  --user NAME      becomes this user\n"
	"  --script-user NAME  commands run as this user\n"
	"  --debug          more messages\n";

struct options {
	const char *run_dir, *state_dir, *user, *script_user;
	bool debug;
};

static bool options_parse(int argc, char **argv, struct options *o)
{
	enum { RUN_DIR, STATE_DIR, USER, SCRIPT_USER, DEBUG, HELP };
	static const struct option known[] = {{"run-dir", 1, NULL, RUN_DIR},
		{"state-dir", 1, NULL, STATE_DIR}, {"user", 1, NULL, USER},
		{"script-user", 1, NULL, SCRIPT_USER}, {"debug", 0, NULL, DEBUG},
		{"help", 0, NULL, HELP}, {0}};
	int c;

	while ((c = getopt_long(argc, argv, "", known, NULL)) >= 0) {
		if (c == RUN_DIR)
			o->run_dir = optarg;
		else if (c == STATE_DIR)
			o->state_dir = optarg;
		else if (c == USER)
			o->user = optarg;
		else if (c == SCRIPT_USER)
			o->script_user = optarg;
		else if (c == DEBUG)
			o->debug = true;
		else
			return false;
	}
	return optind == argc && o->run_dir && o->state_dir;
}

static void on_signal(evutil_socket_t number, short what, void *ctx)
{
	struct notify *n = ctx;

	log_notice("signal %d: stop", (int)number);
	event_base_loopbreak(n->base);
}

static void on_save(evutil_socket_t fd, short what, void *ctx)
{
	notify_places_save(ctx);
}

static void on_second(evutil_socket_t fd, short what, void *ctx)
{
	struct notify *n = ctx;
	struct receiver *r;

	LIST_FOREACH(r, &n->receivers, entry)
	{
		if (r->self && !r->paused && r->kind->tick)
			r->kind->tick(r->self);
		notify_pump(r);
	}
	if (n->save_due)
		notify_places_save(n);
}

static int notify_init(struct notify *n, struct event *signals[2])
{
	static const int numbers[] = {SIGTERM, SIGINT};
	struct timeval second = {.tv_sec = 1};

	n->base = event_base_new();
	if (!n->base)
		return -ENOMEM;
	signal(SIGPIPE, SIG_IGN);
	for (int i = 0; i < 2; i++) {
		signals[i] = evsignal_new(n->base, numbers[i], on_signal, n);
		if (!signals[i] || event_add(signals[i], NULL))
			return -ENOMEM;
	}
	gethostname(n->host, sizeof(n->host) - 1);
	n->save = evtimer_new(n->base, on_save, n);
	n->second = event_new(n->base, -1, EV_PERSIST, on_second, n);
	return n->save && n->second && event_add(n->second, &second) == 0 ? 0 : -ENOMEM;
}

static void notify_fini(struct notify *n, struct event *signals[2])
{
	notify_link_free(n->link);
	if (n->places)
		notify_places_save(n);
	notify_clear(n);
	notify_dial_fini();
	alert_commands_fini();
	json_decref(n->places);
	struct event *events[] = {signals[0], signals[1], n->save, n->second};
	for (size_t i = 0; i < sizeof(events) / sizeof(*events); i++)
		if (events[i])
			event_free(events[i]);
	if (n->base)
		event_base_free(n->base);
	libevent_global_shutdown();
}

/* Makes the folder of places and gives it to the user. 0 or -errno, logged. */
static int state_dir(const char *path, const struct identity *id)
{
	struct stat st;
	int rc = mkdir(path, 0700) && errno != EEXIST ? -errno : 0;

	if (rc == 0 && (lstat(path, &st) || !S_ISDIR(st.st_mode)))
		rc = -ENOTDIR;
	if (rc == 0 && geteuid() == 0 && st.st_uid != id->uid && lchown(path, id->uid, id->gid))
		rc = -errno;
	if (rc)
		log_error("%s: %s", path, strerror(-rc));
	return rc;
}

static int run(struct notify *n, const struct options *o)
{
	uid_t started_as = geteuid();
	struct identity id = {geteuid(), getegid()};
	int rc = rights_identity("--user", o->user, &id);

	if (rc == 0)
		rc = state_dir(o->state_dir, &id);
	if (rc == 0)
		rc = alert_commands_init(n->base, o->script_user, o->run_dir);
	if (rc == 0)
		rc = rights_drop(&id, -1);
	if (rc == 0)
		rc = calls_refuse(CALLS_OWN);
	if (rc == 0)
		rc = notify_places_load(n);
	if (rc)
		return rc;
	if (notify_link_new(n, o->run_dir, started_as)) {
		log_error("%s: not a path for a socket", o->run_dir);
		return -EINVAL;
	}
	return event_base_dispatch(n->base) < 0 || alert_commands_lost() ? -EIO : 0;
}

int main(int argc, char **argv)
{
	struct notify n = {0};
	struct event *signals[2] = {NULL, NULL};
	struct options o = {0};

	if (!options_parse(argc, argv, &o)) {
		fputs(usage, stderr);
		return 2;
	}
	log_init("weir-notify", o.debug ? LOG_LEVEL_DEBUG : LOG_LEVEL_NOTICE);
	umask(0077);
	n.state_dir = o.state_dir;
	int rc = notify_init(&n, signals);
	if (rc == 0)
		rc = run(&n, &o);
	notify_fini(&n, signals);
	return rc ? EXIT_FAILURE : EXIT_SUCCESS;
}
