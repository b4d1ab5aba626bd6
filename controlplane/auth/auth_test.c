/* SPDX-License-Identifier: BSD-3-Clause */
/* Tokens, what is remembered of passwords, and whom wrong ones slow down. */
#include "auth/auth.h"

#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/ids.h"
#include "model/model.h"

#define BOB 7u
#define HERE "192.0.2.1"

static struct event_base *base;
static char *hash; /* of "right" */
static int answers, rights;
static char fresh_hash[256];

static void on_checked(void *ctx, bool right, const char *fresh)
{
	answers++;
	rights += right;
	snprintf(fresh_hash, sizeof(fresh_hash), "%s", fresh ? fresh : "");
}

static struct auth_check *last;
static unsigned retry;

static enum auth_admission ask(
	struct auth *a, const char *name, const char *password, const char *address)
{
	const struct auth_question q = {.user = strcmp(name, "bob") ? ID_NONE : BOB,
		.name = name,
		.hash = hash,
		.password = password,
		.address = address};

	return auth_check(a, &q, on_checked, NULL, &last, &retry);
}

static void wait_answers(int count)
{
	while (answers < count)
		event_base_loop(base, EVLOOP_ONCE);
	CHECK_INT(answers, count);
}

static struct auth *auth_fresh(void)
{
	struct auth *a = auth_new(base);

	CHECK(a != NULL);
	answers = rights = 0;
	return a;
}

static void test_tokens(void)
{
	struct auth *a = auth_fresh();
	char text[AUTH_TOKEN_LENGTH + 1], first[AUTH_TOKEN_LENGTH + 1],
		other[AUTH_TOKEN_LENGTH + 1];
	unsigned count = 0;

	CHECK(auth_token_new(a, BOB, 1, HERE, first) && auth_token_find(a, first));
	CHECK_INT(strlen(first), AUTH_TOKEN_LENGTH);
	CHECK(auth_token_new(a, 8, 1, HERE, other) != NULL);
	for (unsigned i = 1; i < AUTH_TOKENS_PER_USER; i++)
		CHECK(auth_token_new(a, BOB, 2, HERE, text) && strcmp(text, first));
	CHECK(auth_token_find(a, first));
	CHECK(auth_token_new(a, BOB, 2, HERE, text) != NULL);
	CHECK(!auth_token_find(a, first) && auth_token_find(a, other)); /* the oldest of Bob's */
	const struct auth_token *t = auth_token_find(a, text);
	CHECK(t == auth_token_by_id(a, t->id) && t->user == BOB && t->timeout == 1200);
	auth_token_extend(a, t, 60);
	CHECK_INT(t->expires - t->updated, 60000);
	auth_token_extend(a, t, 0); /* its time is over */
	CHECK(!auth_token_find(a, text));
	for (t = auth_token_next(a, NULL); t; t = auth_token_next(a, t))
		count++;
	CHECK_INT(count, AUTH_TOKENS_PER_USER); /* 99 of Bob's, one of the other */
	CHECK_INT(auth_tokens_keep(a, BOB, 2), 0);
	CHECK_INT(auth_tokens_keep(a, BOB, 3), AUTH_TOKENS_PER_USER - 1);
	CHECK(auth_token_find(a, other));
	auth_token_end(a, auth_token_find(a, other));
	CHECK(!auth_token_next(a, NULL));
	CHECK(!auth_token_find(a, "") && !auth_token_by_id(a, ""));
	auth_free(a);
}

static void test_many_tokens(void)
{
	struct auth *a = auth_fresh();
	char text[AUTH_TOKEN_LENGTH + 1];
	unsigned count = 0;

	for (uint32_t user = 1; user <= 300; user++)
		for (int i = 0; i < 70; i++)
			CHECK(auth_token_new(a, user, 1, HERE, text) != NULL);
	for (const struct auth_token *t = auth_token_next(a, NULL); t; t = auth_token_next(a, t))
		count++;
	CHECK_INT(count, AUTH_TOKENS_MAX);
	auth_free(a);
}

static void test_right(void)
{
	struct auth *a = auth_fresh();

	CHECK_INT(ask(a, "bob", "right", HERE), AUTH_WAIT);
	wait_answers(1);
	CHECK_INT(rights, 1);
	CHECK_INT(ask(a, "bob", "right", HERE), AUTH_RIGHT);
	CHECK_INT(ask(a, "bob", "right", "192.0.2.2"), AUTH_WAIT);
	wait_answers(2);
	CHECK_INT(ask(a, "bob", "rights", HERE), AUTH_WAIT);
	CHECK_INT(ask(a, "bobr", "ight", HERE), AUTH_WAIT);
	wait_answers(4);
	CHECK_INT(rights, 2);
	auth_tokens_keep(a, BOB, 1); /* he changed: nothing is remembered */
	CHECK_INT(ask(a, "bob", "right", HERE), AUTH_WAIT);
	auth_check_cancel(a, last);
	auth_free(a);
	CHECK_INT(answers, 4);
}

/* Many at once with the same password are one check; the wrong ones slow down nobody else. */
static void test_wrong(void)
{
	struct auth *a = auth_fresh();
	char password[16];

	for (int i = 0; i < 20; i++)
		CHECK_INT(ask(a, "bob", "same", HERE), AUTH_WAIT);
	CHECK_INT(auth_failures(a, "bob", HERE, &retry), 1);
	for (unsigned i = 1; i < AUTH_FREE_FAILURES; i++) {
		snprintf(password, sizeof(password), "wrong %u", i);
		CHECK_INT(ask(a, "bob", password, HERE), AUTH_WAIT);
	}
	CHECK_INT(ask(a, "bob", "right", HERE), AUTH_DELAYED);
	CHECK_INT(retry, 1);
	CHECK_INT(ask(a, "bob", "right", "192.0.2.2"), AUTH_WAIT);
	CHECK_INT(ask(a, "ann", "right", HERE), AUTH_WAIT);
	wait_answers(24);
	CHECK_INT(rights, 1);
	CHECK_INT(ask(a, "bob", "wrong", "2001:db8::1"), AUTH_WAIT);
	CHECK_INT(auth_failures(a, "bob", "2001:db8::2", &retry), 1); /* the same network */
	CHECK_INT(auth_failures(a, "bob", "2001:db8:0:1::2", &retry), 0);
	auth_free(a);
}

static void test_busy(void)
{
	struct auth *a = auth_fresh();
	char name[16];
	unsigned i = 0;
	enum auth_admission admission;

	do {
		snprintf(name, sizeof(name), "u%u", i++);
		admission = ask(a, name, "x", HERE);
	} while (admission == AUTH_WAIT);
	CHECK_INT(admission, AUTH_BUSY);
	CHECK_INT(i - 1, AUTH_CHECKS_MAX);
	CHECK_INT(auth_failures(a, name, HERE, &retry), 0);
	auth_free(a); /* with most of them still waiting */
}

static void test_fresh(void)
{
	struct auth *a = auth_fresh();
	struct auth_question q = {.user = BOB,
		.name = "bob",
		.hash = hash,
		.password = "right",
		.address = HERE,
		.fresh = "another one"};

	CHECK_INT(auth_check(a, &q, on_checked, NULL, &last, &retry), AUTH_WAIT);
	wait_answers(1);
	CHECK(rights == 1 && password_verify("another one", fresh_hash));
	q.password = "wrong";
	CHECK_INT(auth_check(a, &q, on_checked, NULL, &last, &retry), AUTH_WAIT);
	wait_answers(2);
	CHECK(rights == 1 && !*fresh_hash);
	auth_free(a);
}

int main(void)
{
	base = event_base_new();
	hash = password_hash("right");
	test_tokens();
	test_many_tokens();
	test_right();
	test_wrong();
	test_busy();
	test_fresh();
	free(hash);
	event_base_free(base);
	libevent_global_shutdown();
	return 0;
}
