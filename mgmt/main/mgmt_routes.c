/* SPDX-License-Identifier: BSD-3-Clause */
#include "main/mgmt_routes.h"

static void refuse(struct http_request *r, const json_t *error)
{
	const char *reason = json_string_value(json_object_get(error, "reason"));
	int code = (int)json_integer_value(json_object_get(error, "code"));

	if (code == 401)
		http_reply_unauthorised(r, reason);
	else
		http_reply_error(r, (unsigned)code, "%s", reason ? reason : "");
}

/* What is served and what not is told to users alone. */
static void handle_nothing(struct http_request *r, void *ctx)
{
	json_t *result = NULL, *error = NULL;
	int rc = mgmt_cp_ask(ctx,
		json_pack("{s:s, s:s, s:o*}", "op", "show", "what", "sys version", "as",
			credentials_as(&r->credentials, r->address)),
		NULL, NULL, &result, &error);

	if (rc)
		http_reply_restarting(r);
	else if (error)
		refuse(r, error);
	else
		http_reply_error(r, 404, "Public URI path not registered: %s", r->path);
	json_decref(result);
	json_decref(error);
}

unsigned mgmt_routes(struct http_route routes[MGMT_ROUTES_MAX], struct mgmt_cp *cp)
{
	const struct http_route all[] = {
		{"/mgmt", handle_nothing, cp, {"application/json"}, HTTP_BODY_MAX, false},
		{"/iControl", handle_nothing, cp, {"text/xml"}, HTTP_BODY_MAX, false},
	};
	unsigned count = sizeof(all) / sizeof(*all);

	for (unsigned i = 0; i < count; i++)
		routes[i] = all[i];
	return count;
}
