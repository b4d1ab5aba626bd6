/* SPDX-License-Identifier: BSD-3-Clause */
/* Log-in, tokens and users below /mgmt/shared. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "rest/rest_list.h"
#include "rest/rest_login.h"
#include "rest/rest_refuse.h"

#define TOKENS "/mgmt/shared/authz/tokens"
#define USERS "/mgmt/shared/authz/users"
#define TOKEN_ID_LENGTH 16u

/* ---- a token as clients know it ---- */

static json_int_t number_of(const json_t *row, const char *key)
{
	return json_integer_value(json_object_get(row, key));
}

static json_t *start_time(json_int_t ms)
{
	time_t seconds = (time_t)(ms / 1000);
	char text[32];
	struct tm tm;

	strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%S", gmtime_r(&seconds, &tm));
	return json_sprintf("%s.%03dZ", text, (int)(ms % 1000));
}

/* token: its text, or of one that is not the caller's to know, its id. */
static json_t *token_json(const char *token, const json_t *row)
{
	return json_pack(
		"{s:s, s:s, s:s, s:s, s:{s:o}, s:I, s:o, s:s, s:s, s:i, s:I, s:I, s:s, s:o}",
		"token", token, "name", token, "userName", rest_word(row, "user"),
		"authProviderName", "tmos", "user", "link",
		json_sprintf(REST_LINK USERS "/%s", rest_word(row, "user")), "timeout",
		number_of(row, "timeout"), "startTime", start_time(number_of(row, "created")),
		"address", rest_word(row, "address"), "partition", "[All]", "generation", 1,
		"lastUpdateMicros", number_of(row, "updated") * 1000, "expirationMicros",
		number_of(row, "expires") * 1000, "kind", "shared:authz:tokens:authtokenitemstate",
		"selfLink", json_sprintf(REST_LINK TOKENS "/%s", token));
}

/* ---- log-in ---- */

/* The credentials of the body take the place of the header's; both at once must be of one user. */
static bool take_credentials(struct rest_call *call)
{
	const char *user = json_string_value(json_object_get(call->body, "username"));
	const char *password = json_string_value(json_object_get(call->body, "password"));
	struct credentials *c = &call->http->credentials;

	if (!user || !*user || !password || !*password) {
		rest_refuse_with(
			call, 400, REST_ERROR_FRAMEWORK, "username and password must not be null");
		return false;
	}
	if (c->user && strcmp(c->user, user)) {
		http_reply_unauthorised(call->http, "the header names another user than the body");
		return false;
	}
	credentials_fini(c);
	c->user = strdup(user);
	c->password = strdup(password);
	return true;
}

void rest_login(struct rest_call *call)
{
	const char *provider = json_string_value(json_object_get(call->body, "loginProviderName"));
	json_t *row = NULL;

	if (call->http->method != HTTP_POST) {
		http_reply_error(call->http, 405, "Log-in takes POST.");
		return;
	}
	if (!take_credentials(call))
		return;
	if (!rest_ask(call, json_pack("{s:s, s:s*}", "op", "login", "provider", provider), NULL,
		    NULL, &row)) {
		rest_refuse(call);
		return;
	}
	http_reply_json(call->http, 200,
		json_pack("{s:s, s:{s:s}, s:s, s:o, s:i, s:i}", "username", rest_word(row, "user"),
			"loginReference", "link",
			REST_LINK "/mgmt/cm/system/authn/providers/local/login",
			"loginProviderName", provider && *provider ? provider : "tmos", "token",
			token_json(rest_word(row, "token"), row), "generation", 0,
			"lastUpdateMicros", 0));
	json_decref(row);
}

/* ---- tokens ---- */

/* What a path names: the token, or the id that a list has in its place. */
static const char *token_key(const char *token)
{
	return strlen(token) == TOKEN_ID_LENGTH ? "token-id" : "token";
}

static void refuse_token(struct rest_call *call)
{
	if (json_integer_value(json_object_get(call->error, "code")) == 404)
		http_reply_error(call->http, 404, "The token does not exist, or its time is over.");
	else
		rest_refuse(call);
}

static bool token_row(void *arg, json_t *row)
{
	struct rest_list *list = arg;
	json_t *token = token_json(rest_word(row, "id"), row);
	bool more = rest_list_row(list, token);

	json_decref(token);
	return more;
}

static void list_tokens(struct rest_call *call)
{
	struct rest_list list;

	rest_list_begin(&list, call, json_string("shared:authz:tokens:authtokencollectionstate"),
		json_string(REST_LINK TOKENS));
	rest_list_page(&list);
	if (rest_ask(call, json_pack("{s:s}", "op", "list-tokens"), token_row, &list, NULL)) {
		rest_list_end(&list, list.matched);
	} else {
		rest_list_drop(&list);
		rest_refuse(call);
	}
}

static json_t *modify_token(struct rest_call *call, const char *token)
{
	json_t *timeout = json_object_get(call->body, "timeout"), *row = NULL;

	/* Some clients send the number as text. */
	json_int_t seconds = json_is_string(timeout) ? atoll(json_string_value(timeout))
						     : json_integer_value(timeout);
	rest_ask(call,
		json_pack("{s:s, s:s, s:I}", "op", "modify-token", token_key(token), token,
			"timeout", seconds),
		NULL, NULL, &row);
	return row;
}

static void handle_token(struct rest_call *call, const char *token)
{
	json_t *row;

	if (call->http->method == HTTP_DELETE) {
		if (rest_ask(call, json_pack("{s:s, s:s}", "op", "logout", token_key(token), token),
			    NULL, NULL, NULL))
			http_reply(call->http, 200, NULL, NULL, 0);
		else
			refuse_token(call);
		return;
	}
	if (call->http->method == HTTP_GET)
		row = rest_ask_row(call,
			json_pack("{s:s, s:s}", "op", "list-tokens", token_key(token), token));
	else
		row = modify_token(call, token);
	if (row)
		http_reply_json(call->http, 200, token_json(token, row));
	else
		refuse_token(call);
	json_decref(row);
}

void rest_tokens(struct rest_call *call)
{
	const struct http_request *r = call->http;

	if (r->segment_count == 5 && r->method != HTTP_POST)
		handle_token(call, r->segments[4]);
	else if (r->segment_count == 4 && r->method == HTTP_GET)
		list_tokens(call);
	else
		http_reply_error(call->http, 405, "Tokens are made by /mgmt/shared/authn/login.");
}

/* ---- users ---- */

static json_t *user_json(const json_t *row)
{
	const char *name = rest_word(row, "name"), *shown = rest_word(row, "description");

	return json_pack("{s:s, s:s, s:s, s:I, s:s, s:o}", "name", name, "displayName",
		*shown ? shown : name, "shell", rest_word(row, "shell"), "generation",
		number_of(row, "generation"), "kind", "shared:authz:users:usersworkerstate",
		"selfLink", json_sprintf(REST_LINK USERS "/%s", name));
}

static bool user_row(void *arg, json_t *row)
{
	struct rest_list *list = arg;
	json_t *user = user_json(row);
	bool more = rest_list_row(list, user);

	json_decref(user);
	return more;
}

static void list_users(struct rest_call *call)
{
	struct rest_list list;

	rest_list_begin(&list, call, json_string("shared:authz:users:userscollectionstate"),
		json_string(REST_LINK USERS));
	rest_list_page(&list);
	if (rest_ask(call, rest_list_request(&call->target), user_row, &list, NULL)) {
		rest_list_end(&list, list.matched);
	} else {
		rest_list_drop(&list);
		rest_refuse(call);
	}
}

/* {"oldPassword", "password"}: one's own. False: answered. */
static bool change_password(struct rest_call *call)
{
	json_t *who = rest_whoami(call);
	bool own = who && !strcmp(rest_word(who, "user"), call->target.name);

	json_decref(who);
	if (!who)
		return false;
	if (!own) {
		http_reply_error(call->http, 403, "oldPassword changes one's own password alone.");
		return false;
	}
	own = rest_ask(call,
		json_pack("{s:s, s:O?, s:O?}", "op", "change-password", "old",
			json_object_get(call->body, "oldPassword"), "new",
			json_object_get(call->body, "password")),
		NULL, NULL, NULL);
	if (!own)
		rest_refuse(call);
	return own;
}

static void handle_user(struct rest_call *call)
{
	bool own = json_object_get(call->body, "oldPassword") != NULL;
	json_t *row;

	if (call->http->method != HTTP_GET && !own) {
		rest_change(call);
		return;
	}
	if (own) {
		if (change_password(call))
			http_reply_json(
				call->http, 200, json_pack("{s:s}", "name", call->target.name));
		return;
	}
	row = rest_ask_row(call, rest_list_request(&call->target));
	if (row)
		http_reply_json(call->http, 200, user_json(row));
	else
		rest_refuse(call);
	json_decref(row);
}

void rest_users(struct rest_call *call)
{
	const struct http_request *r = call->http;

	call->target = (struct rest_target){.what = REST_COLLECTION, .kind = KIND_USER};
	if (r->segment_count == 5) {
		call->target.what = REST_ITEM;
		snprintf(call->target.name, sizeof(call->target.name), "%s", r->segments[4]);
		handle_user(call);
	} else if (r->method == HTTP_GET) {
		list_users(call);
	} else {
		rest_change(call);
	}
}
