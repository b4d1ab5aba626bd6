/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What LTM does not have, below /mgmt/weir: metrics for Prometheus, events as they happen, and the description of the
 * REST interface. Each answers GET; who asks must be known, and sees what he may read.
 */
#ifndef WEIR_OBSERVE_OBSERVE_H
#define WEIR_OBSERVE_OBSERVE_H

#include "rest/rest.h"

#define OBSERVE_METRICS "/mgmt/weir/metrics"
#define OBSERVE_EVENTS "/mgmt/weir/events"
#define OBSERVE_OPENAPI "/mgmt/weir/openapi.json"
#define OBSERVE_LOG "/mgmt/weir/log"
#define OBSERVE_RECEIVERS "/mgmt/weir/receivers"
#define OBSERVE_LOG_STATS "/mgmt/tm/sys/log"

#define OBSERVE_ROWS_MAX 500000u /* objects whose metrics are held, by all requests together */

struct observe_backend {
	struct rest_backend rest;
	/* A connection to weir-cp that is the caller's, or -errno. */
	int (*connect)(void *ctx);
};

/* Text of Prometheus' exposition format 0.0.4. */
void observe_metrics(struct http_request *r, const struct observe_backend *b);

/* Server-sent events; Last-Event-ID (or the query's "after") says where to go on. */
void observe_events(struct http_request *r, const struct observe_backend *b);

/* Records of the journal; the query has the words of log_words.h. */
void observe_log(struct http_request *r, const struct observe_backend *b);

/* Who is told of events, and how far each is. */
void observe_receivers(struct http_request *r, const struct observe_backend *b);

/* The log as lines of text, where LTM has its logs: .../ltm/stats, .../audit/stats. */
void observe_log_stats(struct http_request *r, const struct observe_backend *b);

/* OpenAPI 3.0, from the schema of the model. */
void observe_openapi(struct http_request *r, const struct observe_backend *b);

/* Asks weir-cp for the client. False: *lost or *error (a new reference) say why. */
bool observe_ask(struct http_request *r, const struct observe_backend *b, json_t *request,
	rest_row *row, void *arg, json_t **error, int *lost);

/* Answers with what observe_ask left; takes over error. */
void observe_refuse(struct http_request *r, json_t *error, int lost);

/* Answers what is no GET. False: it was answered. */
bool observe_is_get(struct http_request *r);

#endif
