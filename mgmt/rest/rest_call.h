/* SPDX-License-Identifier: BSD-3-Clause */
/* One request while it is answered: what all parts of the REST interface share. */
#ifndef WEIR_REST_REST_CALL_H
#define WEIR_REST_REST_CALL_H

#include "rest/rest.h"
#include "rest/rest_query.h"
#include "rest/rest_target.h"

#define REST_LINK "https://localhost" /* clients put their own host in its place */
#define REST_LIST_MAX (1024u << 20)   /* bytes of a list; longer ones are read in pages */
#define REST_REPLY_MAX (64u << 20)    /* bytes of a command's output */
#define REST_COORDINATION                                                                          \
	"X-F5-REST-Coordination-Id" /* header: the change belongs to a transaction */

struct rest_transactions;
struct rest_tasks;
struct files;

struct rest {
	char version[32];
	bool check_generation;
	struct files *uploads, *archives; /* NULL: no files are taken */
	_Atomic uint64_t kept_ns;	  /* when it was last looked whose they are */
	struct rest_tasks *tasks;
	_Atomic bool load_failed; /* of the last archive, as a device tells it */
	struct rest_transactions *transactions;
};

struct rest_call {
	struct http_request *http;
	struct rest *rest;
	const struct rest_backend *backend;
	json_t *body; /* an object, or NULL */
	struct rest_query query;
	struct rest_target target; /* below /mgmt/tm */
	json_t *error;		   /* why weir-cp refused, or NULL */
	int lost;		   /* or why it was not asked: -errno */
	json_t *more;		   /* members that all objects read get beside their own; or NULL */
};

/*
 * Asks weir-cp on behalf of the client (the request's reference is taken; NULL: no memory). True: done,
 * *result, if given, has a new reference. False: error or lost say why, and rest_refuse answers with it.
 */
bool rest_ask(struct rest_call *call, json_t *request, rest_row *row, void *arg, json_t **result);

/* The one row that such a request gives, a new reference. NULL: as above; none is error 404. */
json_t *rest_ask_row(struct rest_call *call, json_t *request);

/* "list" of the target; further arguments can be added. */
json_t *rest_list_request(const struct rest_target *t);

/*
 * Who the client is: the answer to "whoami". NULL: it is not known or weir-cp is gone, and is answered. For all
 * that is answered without asking weir-cp.
 */
json_t *rest_whoami(struct rest_call *call);

/* The text of a member, or "" if it has none. */
const char *rest_word(const json_t *object, const char *key);

/* Links get the version, text of any bytes becomes a string. */
void rest_shape(const struct rest *rest, json_t *value);

/* The same of an object that is read, with what is added to it and less what is not selected. */
void rest_shape_object(const struct rest_call *call, json_t *object);

/* Link of a path below the host: "https://localhost/mgmt/tm/ltm/pool?ver=15.1.0". */
json_t *rest_link(const struct rest *rest, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* Parses "tm:ltm:pool:poolstate" to "tm:ltm:pool:pool" + suffix. */
json_t *rest_kind(const char *rest_kind, const char *suffix);

/* "tm:ltm:monitor:monitor" + suffix of the path "ltm/monitor". */
json_t *rest_kind_of_path(const char *path, const char *suffix);

/* ---- the parts: each answers the request ---- */

void rest_read(struct rest_call *call);	  /* GET of a target */
void rest_change(struct rest_call *call); /* POST, PATCH, PUT, DELETE of a target */
void rest_stats(struct rest_call *call);

/* Answers with the target as it is now. */
void rest_reply_item(struct rest_call *call);

/* rest_refuse, where the target's partition may be what is missing. */
void rest_refuse_item(struct rest_call *call);

void rest_organise(struct rest_call *call);

#endif
