/* SPDX-License-Identifier: BSD-3-Clause */
#include "alert/smtp_loop.h"

#include <errno.h>
#include <stdlib.h>

struct smtp_loop {
	struct event_base *base;
	CURLM *multi;
	struct event *timer;
	smtp_loop_ended ended;
};

static void ended_tell(struct smtp_loop *l)
{
	const CURLMsg *message;
	int left;

	while ((message = curl_multi_info_read(l->multi, &left))) {
		CURL *easy = message->easy_handle;
		CURLcode code = message->data.result;

		if (message->msg != CURLMSG_DONE)
			continue;
		curl_multi_remove_handle(l->multi, easy); /* message is gone then */
		l->ended(easy, code);
	}
}

static void on_timer(evutil_socket_t fd, short what, void *ctx)
{
	struct smtp_loop *l = ctx;
	int running;

	curl_multi_socket_action(l->multi, CURL_SOCKET_TIMEOUT, 0, &running);
	ended_tell(l);
}

static void on_socket(evutil_socket_t fd, short what, void *ctx)
{
	struct smtp_loop *l = ctx;
	int running, ready = (what & EV_READ ? CURL_CSELECT_IN : 0) |
			     (what & EV_WRITE ? CURL_CSELECT_OUT : 0);

	curl_multi_socket_action(l->multi, fd, ready, &running);
	ended_tell(l);
}

/* libcurl changed its mind about a socket. Without memory its time runs out instead. */
static int socket_watch(CURL *easy, curl_socket_t fd, int what, void *ctx, void *old)
{
	struct smtp_loop *l = ctx;
	struct event *event = old;
	short wanted = EV_PERSIST;

	if (event)
		event_free(event);
	event = NULL;
	if (what != CURL_POLL_REMOVE) {
		wanted |= (short)(what != CURL_POLL_OUT ? EV_READ : 0);
		wanted |= (short)(what != CURL_POLL_IN ? EV_WRITE : 0);
		event = event_new(l->base, fd, wanted, on_socket, l);
		if (event)
			event_add(event, NULL);
	}
	curl_multi_assign(l->multi, fd, event);
	return 0;
}

static int timer_set(CURLM *multi, long ms, void *ctx)
{
	struct smtp_loop *l = ctx;
	struct timeval wait = {ms / 1000, ms % 1000 * 1000};

	if (ms < 0)
		event_del(l->timer);
	else
		event_add(l->timer, &wait);
	return 0;
}

struct smtp_loop *smtp_loop_new(struct event_base *base, smtp_loop_ended ended)
{
	struct smtp_loop *l = calloc(1, sizeof(*l));

	if (!l)
		return NULL;
	*l = (struct smtp_loop){.base = base, .ended = ended};
	l->timer = event_new(base, -1, 0, on_timer, l);
	l->multi = l->timer ? curl_multi_init() : NULL;
	if (!l->multi) {
		smtp_loop_free(l);
		return NULL;
	}
	curl_multi_setopt(l->multi, CURLMOPT_SOCKETFUNCTION, socket_watch);
	curl_multi_setopt(l->multi, CURLMOPT_SOCKETDATA, l);
	curl_multi_setopt(l->multi, CURLMOPT_TIMERFUNCTION, timer_set);
	curl_multi_setopt(l->multi, CURLMOPT_TIMERDATA, l);
	return l;
}

void smtp_loop_free(struct smtp_loop *l)
{
	if (!l)
		return;
	if (l->multi)
		curl_multi_cleanup(l->multi);
	if (l->timer)
		event_free(l->timer);
	free(l);
}

int smtp_loop_add(struct smtp_loop *l, CURL *easy)
{
	return curl_multi_add_handle(l->multi, easy) == CURLM_OK ? 0 : -ENOMEM;
}

void smtp_loop_remove(struct smtp_loop *l, CURL *easy)
{
	curl_multi_remove_handle(l->multi, easy);
}

struct event_base *smtp_loop_base(const struct smtp_loop *l)
{
	return l->base;
}
