/* SPDX-License-Identifier: BSD-3-Clause */
/* weir-notify's side of weir-cp: it follows its settings, says how its receivers are, and tries one when asked to. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "main/cp.h"

#define TEST_SECONDS 60
#define TESTS_MAX 64u

/* Somebody waits for the result of a test. */
struct cp_test {
	LIST_ENTRY(cp_test) entry;
	struct cp *cp;
	struct ipc_request *r;
	uint64_t number;
	char *name;
	bool told; /* weir-notify */
	struct event *timeout;
};

struct cp_notify {
	struct follower *follower; /* the newest, NULL: weir-notify is away */
	json_t *settings;	   /* as they are */
	json_t *reports;	   /* by name */
	LIST_HEAD(, cp_test) tests;
	unsigned tests_count;
	uint64_t number;
	struct event *serve;
	bool changed; /* the model, since settings was made */
};

struct follower {
	struct cp *cp;
	struct ipc_request *r;
	json_t *told; /* settings */
	bool waiting, over;
};

static const json_t *settings(struct cp *cp)
{
	struct cp_notify *n = cp->notify;

	if (n->changed || !n->settings) {
		json_t *made = cp_notify_settings_json(cp->model);

		if (made && !json_equal(made, n->settings)) {
			json_decref(n->settings);
			n->settings = json_incref(made);
		}
		json_decref(made);
		n->changed = false;
	}
	return n->settings;
}

/* --- tests ------------------------------------------------------------------------------------------ */

static void test_free(void *ctx)
{
	struct cp_test *t = ctx;

	LIST_REMOVE(t, entry);
	t->cp->notify->tests_count--;
	if (t->timeout)
		event_free(t->timeout);
	free(t->name);
	free(t);
}

static void test_away(struct cp_test *t, const char *why)
{
	struct ipc_request *r = t->r;

	ipc_request_on_gone(r, NULL, NULL);
	cp_refuse(r, 504, "", "%s", why);
	test_free(t);
}

static void on_test_timeout(evutil_socket_t fd, short what, void *ctx)
{
	test_away(ctx, "weir-notify has no result yet");
}

static void tests_away(struct cp *cp)
{
	while (!LIST_EMPTY(&cp->notify->tests))
		test_away(LIST_FIRST(&cp->notify->tests), "weir-notify is gone");
}

static void test_result(struct cp *cp, const json_t *row)
{
	uint64_t number = (uint64_t)json_integer_value(json_object_get(row, "number"));
	const char *reason = json_string_value(json_object_get(row, "reason"));
	struct cp_test *t;

	LIST_FOREACH(t, &cp->notify->tests, entry)
	if (t->number == number) {
		ipc_request_on_gone(t->r, NULL, NULL);
		ipc_reply(
			t->r, json_pack("{s:b,s:s}", "ok", json_is_true(json_object_get(row, "ok")),
				      "reason", reason ? reason : ""));
		test_free(t);
		return;
	}
}

static bool known(struct cp *cp, const char *name)
{
	const json_t *row, *rows = json_object_get(settings(cp), "receivers");
	size_t i;

	json_array_foreach(rows, i, row)
	{
		const char *other = json_string_value(json_object_get(row, "name"));

		if (other && !strcmp(other, name))
			return true;
	}
	return false;
}

static void test_begin(struct cp *cp, struct ipc_request *r, char *name)
{
	struct timeval wait = {.tv_sec = TEST_SECONDS};
	struct cp_notify *n = cp->notify;
	struct cp_test *t = calloc(1, sizeof(*t));

	if (!t) {
		free(name);
		cp_refuse(r, 500, "", "no memory");
		return;
	}
	*t = (struct cp_test){.cp = cp, .r = r, .number = ++n->number, .name = name};
	LIST_INSERT_HEAD(&n->tests, t, entry);
	n->tests_count++;
	t->timeout = evtimer_new(cp->base, on_test_timeout, t);
	if (!t->timeout || evtimer_add(t->timeout, &wait)) {
		cp_refuse(r, 500, "", "no memory");
		test_free(t);
		return;
	}
	ipc_request_on_gone(r, test_free, t);
	event_active(n->serve, EV_TIMEOUT, 0);
}

void cp_test_receiver(struct cp *cp, struct ipc_request *r, const struct cp_user *user)
{
	const struct cp_notify *n = cp->notify;
	char *name;

	if (!cp_argument(r, "name", &name))
		return;
	if (!name)
		cp_refuse(r, 400, "name", "is missing");
	else if (!known(cp, name))
		cp_refuse(r, 404, "name", "there is no receiver %s", name);
	else if (!n->follower)
		cp_refuse(r, 504, "", "weir-notify is not running");
	else if (n->tests_count >= TESTS_MAX)
		cp_refuse(r, 503, "", "%u tests are running, which is the most", TESTS_MAX);
	else {
		test_begin(cp, r, name);
		return;
	}
	free(name);
}

/* --- settings, followed ----------------------------------------------------------------------------- */

static enum ipc_step follow_next(struct ipc_request *r, void *ctx)
{
	struct follower *f = ctx;
	struct cp_notify *n = f->cp->notify;
	const json_t *now = settings(f->cp);
	struct cp_test *t;

	if (f->over) {
		ipc_reply(r, json_object());
		return IPC_END;
	}
	if (now != f->told) {
		json_decref(f->told);
		f->told = json_incref((json_t *)now);
		ipc_row(r, json_incref((json_t *)now));
	}
	LIST_FOREACH(t, &n->tests, entry)
	{
		if (!t->told)
			ipc_row(r, json_pack("{s:{s:s,s:I}}", "test", "receiver", t->name, "number",
					   (json_int_t)t->number));
		t->told = true;
	}
	f->waiting = true;
	return IPC_WAIT;
}

static void follow_free(void *ctx)
{
	struct follower *f = ctx;
	struct cp_notify *n = f->cp->notify;

	if (n->follower == f) {
		n->follower = NULL;
		tests_away(f->cp);
	}
	json_decref(f->told);
	free(f);
}

static void follower_wake(struct follower *f)
{
	if (!f || !f->waiting)
		return;
	f->waiting = false;
	ipc_stream_resume(f->r);
}

static void on_serve(evutil_socket_t fd, short what, void *ctx)
{
	struct cp *cp = ctx;

	follower_wake(cp->notify->follower);
}

void cp_notify_settings(struct cp *cp, struct ipc_request *r, const struct cp_user *user)
{
	static const struct ipc_stream stream = {follow_next, follow_free};
	struct follower *before = cp->notify->follower;
	struct follower *f = calloc(1, sizeof(*f));

	if (!f) {
		cp_refuse(r, 500, "", "no memory");
		return;
	}
	*f = (struct follower){.cp = cp,
		.r = r,
		.over = !json_is_true(json_object_get(ipc_request_body(r), "follow"))};
	if (f->over) {
		ipc_row(r, json_incref((json_t *)settings(cp)));
	} else {
		/* One that was killed, and is not known to be gone yet. */
		cp->notify->follower = f;
		if (before) {
			before->over = true;
			follower_wake(before);
		}
	}
	ipc_stream(r, &stream, f);
}

void cp_notify_changed(struct cp *cp, const struct model_changes *changes)
{
	struct cp_notify *n = cp->notify;

	if (!n || (changes && !changes->config))
		return;
	n->changed = true;
	event_active(n->serve, EV_TIMEOUT, 0);
}

/* --- reports ---------------------------------------------------------------------------------------- */

void cp_notify_report(struct cp *cp, struct ipc_request *r, const struct cp_user *user)
{
	const json_t *body = ipc_request_body(r), *row;
	size_t i;

	json_object_clear(cp->notify->reports);
	json_array_foreach(json_object_get(body, "receivers"), i, row)
	{
		const char *name = json_string_value(json_object_get(row, "name"));

		if (name)
			json_object_set(cp->notify->reports, name, (json_t *)row);
	}
	json_array_foreach(json_object_get(body, "tested"), i, row) test_result(cp, row);
	ipc_reply(r, json_object());
}

void cp_show_receivers(struct cp *cp, struct ipc_request *r)
{
	static const char *const said[] = {"delivered", "waiting", "dropped", "error", "since"};
	const json_t *one, *rows = json_object_get(settings(cp), "receivers");
	size_t i;

	json_array_foreach(rows, i, one)
	{
		const json_t *name = json_object_get(one, "name");
		const json_t *report =
			json_object_get(cp->notify->reports, json_string_value(name));
		json_t *row = json_object();

		json_object_set(row, "name", (json_t *)name);
		json_object_set(row, "kind", json_object_get(one, "kind"));
		for (size_t m = 0; m < sizeof(said) / sizeof(*said); m++)
			json_object_set(row, said[m], json_object_get(report, said[m]));
		if (!cp->notify->follower || !report)
			json_object_set_new(row, "error",
				json_string(
					cp->notify->follower ? "" : "weir-notify is not running"));
		ipc_row(r, row);
	}
	ipc_reply(r, json_object());
}

/* --- start and end ---------------------------------------------------------------------------------- */

int cp_notify_init(struct cp *cp)
{
	struct cp_notify *n = calloc(1, sizeof(*n));

	if (!n)
		return -ENOMEM;
	LIST_INIT(&n->tests);
	n->reports = json_object();
	n->serve = event_new(cp->base, -1, 0, on_serve, cp);
	cp->notify = n;
	return n->reports && n->serve ? 0 : -ENOMEM;
}

void cp_notify_fini(struct cp *cp)
{
	struct cp_notify *n = cp->notify;

	if (!n)
		return;
	cp->notify = NULL;
	if (n->serve)
		event_free(n->serve);
	json_decref(n->settings);
	json_decref(n->reports);
	free(n);
}
