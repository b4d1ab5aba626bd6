/* SPDX-License-Identifier: BSD-3-Clause */
#include "main/mgmt_routes.h"

#include "observe/observe.h"

#define LOGIN_BODY_MAX 16384u

static bool admit(struct http_request *r, void *ctx)
{
	const struct mgmt_parts *parts = ctx;
	struct rest_backend backend = {mgmt_cp_ask, parts->cp};

	return rest_admit(r, parts->rest, &backend);
}

/* What is served and what not is told to users alone. */
static void handle_nothing(struct http_request *r, void *ctx)
{
	if (admit(r, ctx))
		http_reply_error(r, 404, "Public URI path not registered: %s", r->path);
}

static void handle_rest(struct http_request *r, void *ctx)
{
	const struct mgmt_parts *parts = ctx;
	struct rest_backend backend = {mgmt_cp_ask, parts->cp};

	rest_handle(r, parts->rest, &backend);
}

static struct observe_backend observed(const struct mgmt_parts *parts)
{
	return (struct observe_backend){{mgmt_cp_ask, parts->cp}, mgmt_cp_connect};
}

static void handle_metrics(struct http_request *r, void *ctx)
{
	struct observe_backend backend = observed(ctx);

	observe_metrics(r, &backend);
}

static void handle_events(struct http_request *r, void *ctx)
{
	struct observe_backend backend = observed(ctx);

	observe_events(r, &backend);
}

static void handle_log(struct http_request *r, void *ctx)
{
	struct observe_backend backend = observed(ctx);

	observe_log(r, &backend);
}

static void handle_receivers(struct http_request *r, void *ctx)
{
	struct observe_backend backend = observed(ctx);

	observe_receivers(r, &backend);
}

static void handle_log_stats(struct http_request *r, void *ctx)
{
	struct observe_backend backend = observed(ctx);

	observe_log_stats(r, &backend);
}

static void handle_openapi(struct http_request *r, void *ctx)
{
	struct observe_backend backend = observed(ctx);

	observe_openapi(r, &backend);
}

unsigned mgmt_routes(struct http_route routes[MGMT_ROUTES_MAX], struct mgmt_parts *parts)
{
	const struct http_route all[] = {
		{"/mgmt", handle_rest, parts, {"application/json"}, HTTP_BODY_MAX, false, admit},
		{"/mgmt/shared/authn/login", handle_rest, parts, {"application/json"},
			LOGIN_BODY_MAX, true, NULL},
		{"/mgmt/shared/file-transfer/uploads", handle_rest, parts,
			{"application/octet-stream"}, HTTP_UPLOAD_MAX, false, admit},
		{"/mgmt/shared/file-transfer", handle_rest, parts,
			{"application/octet-stream", "application/json"}, HTTP_BODY_MAX, false,
			admit},
		{OBSERVE_METRICS, handle_metrics, parts, {"application/json"}, HTTP_BODY_MAX, false,
			admit},
		{OBSERVE_EVENTS, handle_events, parts, {"application/json"}, HTTP_BODY_MAX, false,
			admit},
		{OBSERVE_LOG, handle_log, parts, {"application/json"}, HTTP_BODY_MAX, false, admit},
		{OBSERVE_RECEIVERS, handle_receivers, parts, {"application/json"}, HTTP_BODY_MAX,
			false, admit},
		{OBSERVE_LOG_STATS, handle_log_stats, parts, {"application/json"}, HTTP_BODY_MAX,
			false, admit},
		{OBSERVE_OPENAPI, handle_openapi, parts, {"application/json"}, HTTP_BODY_MAX, false,
			admit},
		{"/info/system", handle_rest, parts, {"application/json"}, LOGIN_BODY_MAX, true,
			NULL},
		{"/iControl", handle_nothing, parts, {"text/xml"}, HTTP_BODY_MAX, false, admit},
	};
	unsigned count = sizeof(all) / sizeof(*all);

	for (unsigned i = 0; i < count; i++)
		routes[i] = all[i];
	return count;
}
