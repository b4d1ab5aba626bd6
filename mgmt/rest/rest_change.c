/* SPDX-License-Identifier: BSD-3-Clause */
/* POST, PATCH, PUT and DELETE outside of transactions. */
#include "rest/rest_command.h"
#include "rest/rest_edit.h"
#include "rest/rest_refuse.h"

static json_t *commit_of(json_t *request)
{
	return json_is_array(request)
		       ? json_pack("{s:s, s:o}", "op", "transaction", "requests", request)
		       : request;
}

static bool is_nothing(const json_t *request)
{
	return json_is_array(request) && json_array_size(request) == 0;
}

static void change_make(struct rest_call *call, struct rest_edit *edit)
{
	json_t *request = rest_edit_request(call, edit);

	call->target = edit->target; /* a new object has its name now */
	if (!request) {
		rest_refuse_item(call);
		return;
	}
	if (is_nothing(request)) {
		json_decref(request);
		http_reply(call->http, 200, NULL, NULL, 0);
		return;
	}
	if (!rest_ask(call, commit_of(request), NULL, NULL, NULL))
		rest_refuse_item(call);
	else if (edit->echo)
		rest_reply_echo(call, model_kinds[KIND_POLICY].rest_kind, NULL);
	else if (edit->method == HTTP_DELETE)
		http_reply(call->http, 200, NULL, NULL, 0);
	else
		rest_reply_item(call);
}

void rest_change(struct rest_call *call)
{
	struct rest_edit edit;

	if (rest_edit_take(call, &edit))
		change_make(call, &edit);
	rest_edit_fini(&edit);
}
