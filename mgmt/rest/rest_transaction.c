/* SPDX-License-Identifier: BSD-3-Clause */
#include "rest/rest_transaction.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>

#include "base/clock.h"
#include "rest/rest_edit.h"
#include "rest/rest_refuse.h"

#define PATH "/mgmt/tm/transaction"
#define JSON_BYTES 48u	  /* of a value with its allocation and its place in a list */
#define OBJECT_BYTES 192u /* of an object without members, beside that */
#define KEY_BYTES 64u	  /* of a member beside its name and value */
#define LIFE_NS (REST_TRANSACTION_SECONDS * 1000000000ull)

struct command {
	struct rest_edit edit;
	char *path; /* that the client asked for */
	size_t bytes;
};

struct transaction {
	LIST_ENTRY(transaction) link;
	uint64_t id, used_ns;
	char user[CREDENTIALS_USER_MAX + 1];
	const char *state;
	char *failure; /* NULL: none */
	struct command *command;
	unsigned count, size;
	size_t bytes;
};

struct rest_transactions {
	pthread_mutex_t lock; /* of all below */
	LIST_HEAD(, transaction) list;
	unsigned count;
	uint64_t last_id;
	size_t bytes;
};

struct rest_transactions *rest_transactions_new(void)
{
	struct rest_transactions *all = calloc(1, sizeof(*all));

	if (!all)
		return NULL;
	pthread_mutex_init(&all->lock, NULL);
	/* A number of before a restart is not one of after it. */
	all->last_id = clock_ns() / 1000;
	return all;
}

static void commands_free(struct transaction *t)
{
	for (unsigned i = 0; i < t->count; i++) {
		rest_edit_fini(&t->command[i].edit);
		free(t->command[i].path);
	}
	free(t->command);
	t->command = NULL;
	t->count = t->size = 0;
	t->bytes = 0;
}

static void transaction_free(struct transaction *t)
{
	if (!t)
		return;
	commands_free(t);
	free(t->failure);
	free(t);
}

/* Takes it out of the list; it is the caller's then. */
static void transaction_take(struct rest_transactions *all, struct transaction *t)
{
	LIST_REMOVE(t, link);
	all->count--;
	all->bytes -= t->bytes;
}

void rest_transactions_free(struct rest_transactions *all)
{
	struct transaction *t;

	if (!all)
		return;
	while ((t = LIST_FIRST(&all->list))) {
		transaction_take(all, t);
		transaction_free(t);
	}
	pthread_mutex_destroy(&all->lock);
	free(all);
}

static void expire(struct rest_transactions *all)
{
	struct transaction *t, *next;
	uint64_t now = clock_ns();

	for (t = LIST_FIRST(&all->list); t; t = next) {
		next = LIST_NEXT(t, link);
		if (now - t->used_ns < LIFE_NS)
			continue;
		transaction_take(all, t);
		transaction_free(t);
	}
}

/* Others' do not exist. Locked. */
static struct transaction *find(struct rest_transactions *all, const char *user, const char *id)
{
	uint64_t number = strtoull(id, NULL, 10);
	struct transaction *t;

	expire(all);
	LIST_FOREACH(t, &all->list, link)
	{
		if (t->id == number && !strcmp(t->user, user))
			return t;
	}
	return NULL;
}

/* ---- as clients see them ---- */

static json_t *transaction_json(const struct rest *rest, const struct transaction *t)
{
	return json_pack("{s:I, s:s, s:i, s:b, s:b, s:i, s:i, s:s, s:s, s:o}", "transId",
		(json_int_t)t->id, "state", t->state, "timeoutSeconds",
		(int)REST_TRANSACTION_SECONDS, "asyncExecution", 0, "validateOnly", 0,
		"executionTimeout", 300, "executionTime", 0, "failureReason",
		t->failure ? t->failure : "", "kind", "tm:transactionstate", "selfLink",
		rest_link(rest, PATH "/%llu", (unsigned long long)t->id));
}

static json_t *command_json(const struct rest *rest, const struct transaction *t, unsigned i)
{
	static const char *const method[] = {[HTTP_POST] = "POST",
		[HTTP_PUT] = "PUT",
		[HTTP_PATCH] = "PATCH",
		[HTTP_DELETE] = "DELETE"};
	const struct command *c = &t->command[i];

	return json_pack("{s:s, s:s+, s:O*, s:i, s:i, s:s, s:o}", "method", method[c->edit.method],
		"uri", REST_LINK, c->path, "body", c->edit.body, "evalOrder", (int)i + 1,
		"commandId", (int)i + 1, "kind", "tm:transaction:commandsstate", "selfLink",
		rest_link(rest, PATH "/%llu/commands/%u", (unsigned long long)t->id, i + 1));
}

static void refuse_missing(struct rest_call *call, const char *id)
{
	rest_refuse_with(call, 404, REST_ERROR_OBJECT,
		"there is no transaction %s: it was committed or discarded, or its time is over",
		id);
}

/* ---- making ---- */

static struct transaction *transaction_new(struct rest_transactions *all, const char *user)
{
	struct transaction *t, *other;
	unsigned own = 0;

	expire(all);
	LIST_FOREACH(other, &all->list, link)
	{
		own += !strcmp(other->user, user);
	}
	if (own >= REST_TRANSACTIONS_EACH || all->count >= REST_TRANSACTIONS_MAX)
		return NULL;
	t = calloc(1, sizeof(*t));
	if (!t)
		return NULL;
	t->id = ++all->last_id;
	t->used_ns = clock_ns();
	t->state = "STARTED";
	snprintf(t->user, sizeof(t->user), "%s", user);
	LIST_INSERT_HEAD(&all->list, t, link);
	all->count++;
	return t;
}

static void make(struct rest_call *call, const char *user)
{
	struct rest_transactions *all = call->rest->transactions;
	json_t *reply = NULL;

	pthread_mutex_lock(&all->lock);
	struct transaction *t = transaction_new(all, user);
	if (t)
		reply = transaction_json(call->rest, t);
	pthread_mutex_unlock(&all->lock);
	if (reply)
		http_reply_json(call->http, 200, reply);
	else
		http_reply_busy(call->http);
}

/* ---- adding changes ---- */

/* About what it takes of memory: a body of "{}" again and again takes a hundred times its text. */
static size_t json_bytes(const json_t *value)
{
	size_t bytes = JSON_BYTES + (json_is_string(value) ? json_string_length(value) : 0), i;
	const char *key;
	json_t *each;

	if (json_is_object(value))
		bytes += OBJECT_BYTES;
	json_array_foreach((json_t *)value, i, each) bytes += json_bytes(each);
	json_object_foreach((json_t *)value, key, each) bytes +=
		KEY_BYTES + strlen(key) + json_bytes(each);
	return bytes;
}

static size_t edit_bytes(const struct rest_call *call, const struct rest_edit *edit)
{
	return sizeof(struct command) + json_bytes(edit->body) + strlen(call->http->path);
}

/* Why it cannot take one more, or NULL. */
static const char *full(
	const struct rest_transactions *all, const struct transaction *t, size_t bytes)
{
	if (t->count >= REST_COMMANDS_MAX)
		return "the transaction has too many commands";
	if (t->bytes + bytes > REST_TRANSACTION_MAX)
		return "the transaction's commands are too large";
	if (all->bytes + bytes > REST_TRANSACTIONS_BYTES)
		return "there are too many commands in all transactions";
	return NULL;
}

/* The edit is taken over. NULL, or why not. */
static const char *command_add(struct rest_transactions *all, struct transaction *t,
	const struct rest_call *call, struct rest_edit *edit)
{
	size_t bytes = edit_bytes(call, edit);
	const char *why = full(all, t, bytes);
	char *path = why ? NULL : strdup(call->http->path);

	if (!why && path && t->count == t->size) {
		unsigned size = t->size ? 2 * t->size : 16;
		struct command *more = reallocarray(t->command, size, sizeof(*more));

		if (more) {
			t->command = more;
			t->size = size;
		}
	}
	if (!why && (!path || t->count == t->size))
		why = "no memory";
	if (why) {
		free(path);
		return why;
	}
	t->command[t->count++] = (struct command){*edit, path, bytes};
	*edit = (struct rest_edit){0};
	t->bytes += bytes;
	all->bytes += bytes;
	t->used_ns = clock_ns();
	return NULL;
}

static void queue(struct rest_call *call, const char *user, const char *id, struct rest_edit *edit)
{
	struct rest_transactions *all = call->rest->transactions;
	const char *why = NULL;
	json_t *reply = NULL;

	pthread_mutex_lock(&all->lock);
	struct transaction *t = find(all, user, id);
	if (t) {
		why = command_add(all, t, call, edit);
		reply = why ? NULL : command_json(call->rest, t, t->count - 1);
	}
	pthread_mutex_unlock(&all->lock);
	if (reply)
		http_reply_json(call->http, 200, reply);
	else if (why)
		rest_refuse_with(call, 400, REST_ERROR_TRANSACTION, "transaction failed:%s", why);
	else
		refuse_missing(call, id);
}

void rest_transaction_queue(struct rest_call *call, const char *id)
{
	struct rest_edit edit = {0};
	json_t *who = rest_whoami(call);

	if (who && rest_edit_take(call, &edit))
		queue(call, rest_word(who, "identity"), id, &edit);
	rest_edit_fini(&edit);
	json_decref(who);
}

/* ---- committing ---- */

/* All commands as one list; commands gets the number of the one that each came from. NULL: rest_refuse answers. */
static json_t *requests_of(struct rest_call *call, struct transaction *t, json_t *commands)
{
	json_t *requests = json_array(), *request, *each;
	size_t j;

	for (unsigned i = 0; i < t->count; i++) {
		request = rest_edit_request(call, &t->command[i].edit);
		if (!request) {
			json_decref(requests);
			return NULL;
		}
		if (!json_is_array(request)) {
			json_array_append_new(requests, request);
			json_array_append_new(commands, json_integer(i));
			continue;
		}
		json_array_foreach(request, j, each)
		{
			json_array_append(requests, each);
			json_array_append_new(commands, json_integer(i));
		}
		json_decref(request);
	}
	return requests;
}

/* Says which command failed as it would have, had it come alone. */
static void refuse_commit(struct rest_call *call, struct transaction *t, const json_t *commands)
{
	size_t at = (size_t)json_integer_value(json_object_get(call->error, "request"));
	bool known = json_object_get(call->error, "request") && at < json_array_size(commands);
	const struct command *c =
		known ? &t->command[json_integer_value(json_array_get(commands, at))] : NULL;
	struct rest_target none = {0};
	struct rest_question q = {c ? c->edit.method : HTTP_PATCH, c ? &c->edit.target : &none,
		c ? c->edit.body : NULL};
	struct rest_refusal refusal;

	rest_refusal_of(&q, call->error, &refusal);
	if (!refusal.api_error) {
		rest_refuse(call);
	} else {
		free(t->failure);
		t->failure = strdup(refusal.message.data ? refusal.message.data : "");
		rest_refuse_with(call, 400, REST_ERROR_TRANSACTION, "transaction failed:%s",
			t->failure ? t->failure : "");
	}
	text_fini(&refusal.message);
}

/* False: it failed, and is answered. */
static bool commit_ask(struct rest_call *call, struct transaction *t, bool verify)
{
	json_t *commands = json_array();
	json_t *requests = requests_of(call, t, commands);
	bool done = requests && rest_ask(call,
					json_pack("{s:s, s:O, s:b}", "op", "transaction",
						"requests", requests, "verify", verify),
					NULL, NULL, NULL);

	if (!done && requests && call->error)
		refuse_commit(call, t, commands);
	else if (!done)
		rest_refuse(call);
	json_decref(requests);
	json_decref(commands);
	return done;
}

/* Back into the list, if it is to be looked at or committed again. */
static void put_back(struct rest_transactions *all, struct transaction *t)
{
	pthread_mutex_lock(&all->lock);
	t->used_ns = clock_ns();
	LIST_INSERT_HEAD(&all->list, t, link);
	all->count++;
	all->bytes += t->bytes;
	pthread_mutex_unlock(&all->lock);
}

static void commit(struct rest_call *call, struct transaction *t)
{
	bool verify = json_is_true(json_object_get(call->body, "validateOnly"));
	json_t *reply;

	if (!commit_ask(call, t, verify)) {
		commands_free(t);
		t->state = "FAILED";
		put_back(call->rest->transactions, t);
		return;
	}
	t->state = "COMPLETED";
	reply = transaction_json(call->rest, t);
	json_object_set_new(reply, "validateOnly", json_boolean(verify));
	http_reply_json(call->http, 200, reply);
	t->state = "STARTED";
	if (verify)
		put_back(call->rest->transactions, t);
	else
		transaction_free(t);
}

/* While it is committed it is in no list: nobody else commits, changes or discards it. */
static struct transaction *take_out(struct rest_call *call, const char *user, const char *id)
{
	struct rest_transactions *all = call->rest->transactions;

	pthread_mutex_lock(&all->lock);
	struct transaction *t = find(all, user, id);
	if (t)
		transaction_take(all, t);
	pthread_mutex_unlock(&all->lock);
	if (!t)
		refuse_missing(call, id);
	return t;
}

static void commit_named(struct rest_call *call, const char *user, const char *id)
{
	const char *state = json_string_value(json_object_get(call->body, "state"));
	struct transaction *t;

	if (!state || strcmp(state, "VALIDATING")) {
		rest_refuse_with(call, 400, REST_ERROR_VALUE,
			"invalid property value \"state\":\"%s\"", state ? state : "");
		return;
	}
	t = take_out(call, user, id);
	if (!t)
		return;
	if (t->count) {
		commit(call, t);
		return;
	}
	put_back(call->rest->transactions, t);
	rest_refuse_with(
		call, 404, REST_ERROR_OBJECT, "there is no command to commit in the transaction.");
}

/* ---- looking, discarding ---- */

static void discard(struct rest_call *call, const char *user, const char *id)
{
	struct transaction *t = take_out(call, user, id);

	if (t)
		http_reply(call->http, 200, NULL, NULL, 0);
	transaction_free(t);
}

static json_t *own_transactions(struct rest_call *call, const char *user)
{
	struct rest_transactions *all = call->rest->transactions;
	json_t *items = json_array();
	struct transaction *t;

	pthread_mutex_lock(&all->lock);
	expire(all);
	LIST_FOREACH(t, &all->list, link)
	{
		if (!strcmp(t->user, user))
			json_array_append_new(items, transaction_json(call->rest, t));
	}
	pthread_mutex_unlock(&all->lock);
	return items;
}

static void reply_items(struct rest_call *call, const char *kind, json_t *items)
{
	json_t *reply = json_pack("{s:s, s:o}", "kind", kind, "selfLink",
		rest_link(call->rest, "%s", call->http->path));

	if (json_array_size(items))
		json_object_set(reply, "items", items);
	json_decref(items);
	http_reply_json(call->http, 200, reply);
}

static json_t *commands_json(struct rest_call *call, const struct transaction *t)
{
	json_t *items = json_array();

	for (unsigned i = 0; i < t->count; i++)
		json_array_append_new(items, command_json(call->rest, t, i));
	return items;
}

/* .../ID, .../ID/commands, .../ID/commands/N */
static void look(struct rest_call *call, const char *user)
{
	struct rest_transactions *all = call->rest->transactions;
	const struct http_request *r = call->http;
	unsigned number = r->segment_count > 5 ? (unsigned)strtoul(r->segments[5], NULL, 10) : 0;
	json_t *reply = NULL, *items = NULL;

	pthread_mutex_lock(&all->lock);
	struct transaction *t = find(all, user, r->segments[3]);
	if (t && r->segment_count == 4)
		reply = transaction_json(call->rest, t);
	else if (t && r->segment_count == 5)
		items = commands_json(call, t);
	else if (t && number > 0 && number <= t->count)
		reply = command_json(call->rest, t, number - 1);
	pthread_mutex_unlock(&all->lock);
	if (items)
		reply_items(call, "tm:transaction:commandscollectionstate", items);
	else if (reply)
		http_reply_json(call->http, 200, reply);
	else
		refuse_missing(call, r->segments[3]);
}

static void handle(struct rest_call *call, const char *user)
{
	const struct http_request *r = call->http;
	bool commands = r->segment_count > 4 && !strcmp(r->segments[4], "commands") &&
			r->segment_count <= 6;

	if (r->segment_count == 3 && r->method == HTTP_POST)
		make(call, user);
	else if (r->segment_count == 3 && r->method == HTTP_GET)
		reply_items(call, "tm:transactioncollectionstate", own_transactions(call, user));
	else if (r->segment_count == 4 && (r->method == HTTP_PATCH || r->method == HTTP_PUT))
		commit_named(call, user, r->segments[3]);
	else if (r->segment_count == 4 && r->method == HTTP_DELETE)
		discard(call, user, r->segments[3]);
	else if (r->method == HTTP_GET && (r->segment_count == 4 || commands))
		look(call, user);
	else
		http_reply_error(call->http, 405, "This is not done to transactions: %s", r->path);
}

void rest_transaction(struct rest_call *call)
{
	json_t *who = rest_whoami(call);

	if (who)
		handle(call, rest_word(who, "identity"));
	json_decref(who);
}
