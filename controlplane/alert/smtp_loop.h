/* SPDX-License-Identifier: BSD-3-Clause */
/* libcurl's transfers on libevent. */
#ifndef WEIR_ALERT_SMTP_LOOP_H
#define WEIR_ALERT_SMTP_LOOP_H

#include <curl/curl.h>
#include <event2/event.h>

/* A transfer has ended; easy has been taken out. Called last: it may free what it likes but the loop. */
typedef void (*smtp_loop_ended)(CURL *easy, CURLcode code);

struct smtp_loop;

struct smtp_loop *smtp_loop_new(
	struct event_base *base, smtp_loop_ended ended); /* NULL: no memory */
void smtp_loop_free(struct smtp_loop *l);

/* 0 or -ENOMEM. Its end is told from the event loop, never from here. */
int smtp_loop_add(struct smtp_loop *l, CURL *easy);
void smtp_loop_remove(struct smtp_loop *l, CURL *easy);

struct event_base *smtp_loop_base(const struct smtp_loop *l);

#endif
