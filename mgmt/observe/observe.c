/* SPDX-License-Identifier: BSD-3-Clause */
#include "observe/observe.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "ipc/ipc.h"

extern const char openapi_text[];

bool observe_ask(struct http_request *r, const struct observe_backend *b, json_t *request,
	rest_row *row, void *arg, json_t **error, int *lost)
{
	json_t *as = credentials_as(&r->credentials, r->address), *result = NULL;

	*error = NULL;
	*lost = -ENOMEM;
	if (!request || !as || json_object_set_new(request, "as", as)) {
		json_decref(request);
		return false;
	}
	*lost = b->rest.ask(b->rest.ctx, request, row, arg, &result, error);
	json_decref(result);
	return !*lost && !*error;
}

void observe_refuse(struct http_request *r, json_t *error, int lost)
{
	int code = (int)json_integer_value(json_object_get(error, "code"));
	char *reason = ipc_text_get(json_object_get(error, "text"), NULL);
	char retry[24];

	if (!error)
		lost == -ENOMEM ? http_reply_busy(r) : http_reply_restarting(r);
	else if (code == 401)
		http_reply_unauthorised(r, reason ? reason : "");
	else
		http_reply_error(r, code >= 400 && code < 600 ? (unsigned)code : 500, "%s",
			reason ? reason : "");
	if (code == 429) {
		snprintf(retry, sizeof(retry), "%d",
			(int)json_integer_value(json_object_get(error, "retry")));
		http_reply_header(r, "Retry-After", retry);
	}
	free(reason);
	json_decref(error);
}

bool observe_is_get(struct http_request *r)
{
	if (r->method == HTTP_GET)
		return true;
	http_reply_error(r, 405, "only GET is known here");
	http_reply_header(r, "Allow", "GET, HEAD");
	return false;
}

void observe_openapi(struct http_request *r, const struct observe_backend *b)
{
	json_t *error;
	int lost;

	if (!observe_is_get(r))
		return;
	if (!observe_ask(r, b, json_pack("{s:s}", "op", "whoami"), NULL, NULL, &error, &lost)) {
		observe_refuse(r, error, lost);
		return;
	}
	char *body = strdup(openapi_text);
	if (body)
		http_reply(r, 200, "application/json", body, strlen(body));
	else
		http_reply_busy(r);
}
