/* SPDX-License-Identifier: BSD-3-Clause */
/* What receivers of incidents have in common: the digest, its state on the disk, when a message is tried again. */
#ifndef WEIR_NOTIFY_ALERT_H
#define WEIR_NOTIFY_ALERT_H

#include "alert/digest.h"
#include "alert/quiet.h"
#include "notify/receiver.h"

enum alert_result {
	ALERT_TAKEN,   /* reason, if any: who did not get it */
	ALERT_AGAIN,   /* not by anybody */
	ALERT_UNSURE,  /* by some, or nobody knows: the same message again, to those left */
	ALERT_REFUSED, /* trying again will hardly help */
};

struct alert;

/* How a message is sent: one at a time, each ended by alert_sent. */
struct alert_sender {
	void *(*create)(struct alert *a, const json_t *settings, const char **reason);
	void (*send)(void *self, const struct digest_message *m);
	void (*test)(void *self, uint64_t number);
	void (*tick)(void *self); /* once a second; may be NULL */
	void (*free)(void *self);
};

struct alert {
	struct receiver *receiver;
	const struct alert_sender *sender;
	void *own;
	struct digest digest;
	struct quiet quiet;
	char token[17];	    /* of this receiver: names its messages */
	char path[512];	    /* of its state */
	unsigned tries_max; /* 0: no end */
	unsigned timeout_s; /* of a try */
	unsigned tries;	    /* of the message that is on its way */
	unsigned wait_s;    /* before the next */
	uint64_t retry_ms;  /* not before */
	uint64_t saved_seq; /* newest that the state on the disk has seen */
	uint64_t saved_ms;
	bool sending, dirty;
};

/* Parts of the vtables of both. */
void *alert_new(struct receiver *r, const struct alert_sender *sender, const json_t *settings,
	const char **reason);
enum receiver_answer alert_offer(void *self, const json_t *record);
void alert_reset(void *self);
void alert_gone(void *self, uint64_t records);
void alert_forget(void *self);
void alert_tick(void *self);
void alert_test(void *self, uint64_t number);
void alert_free(void *self);

/* create calls alert_new. */
#define ALERT_RECEIVER(word, made_by)                                                              \
	{                                                                                          \
		.name = (word), .incidents = true, .create = (made_by), .offer = alert_offer,      \
		.reset = alert_reset, .gone = alert_gone, .forget = alert_forget,                  \
		.tick = alert_tick, .test = alert_test, .free = alert_free                         \
	}

/* What became of the message that was sent. left: with ALERT_UNSURE, who is still to get it; may be NULL. */
void alert_sent(struct alert *a, enum alert_result result, json_t *left, const char *reason);

/* 0, or -EINVAL with *reason set. */
int alert_settings(struct alert *a, const json_t *settings, const char **reason);

/* Reads the state, makes a new one where there is none; writes it. 0 or -errno. */
int alert_state_load(struct alert *a);
int alert_state_save(struct alert *a);

/*
 * The user that commands run as; called before the privileges are given up. 0 or -errno, logged. If the process that
 * starts commands is lost the loop is left.
 */
int alert_commands_init(struct event_base *base, const char *user, const char *hide);
bool alert_commands_lost(void);
void alert_commands_fini(void);

#endif
