/* SPDX-License-Identifier: BSD-3-Clause */
#include "main/mgmt_routes.h"

#define LOGIN_BODY_MAX 16384u

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
	const struct mgmt_parts *parts = ctx;
	json_t *result = NULL, *error = NULL;
	int rc = mgmt_cp_ask(parts->cp,
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

static void handle_rest(struct http_request *r, void *ctx)
{
	const struct mgmt_parts *parts = ctx;
	struct rest_backend backend = {mgmt_cp_ask, parts->cp};

	rest_handle(r, parts->rest, &backend);
}

unsigned mgmt_routes(struct http_route routes[MGMT_ROUTES_MAX], struct mgmt_parts *parts)
{
	const struct http_route all[] = {
		{"/mgmt", handle_rest, parts, {"application/json"}, HTTP_BODY_MAX, false},
		{"/mgmt/shared/authn/login", handle_rest, parts, {"application/json"},
			LOGIN_BODY_MAX, true},
		{"/mgmt/shared/file-transfer/uploads", handle_rest, parts,
			{"application/octet-stream"}, HTTP_UPLOAD_MAX, false},
		{"/iControl", handle_nothing, parts, {"text/xml"}, HTTP_BODY_MAX, false},
	};
	unsigned count = sizeof(all) / sizeof(*all);

	for (unsigned i = 0; i < count; i++)
		routes[i] = all[i];
	return count;
}
