/* SPDX-License-Identifier: BSD-3-Clause */
/* A client's change as a request to weir-cp: at once, or when its transaction is committed. */
#ifndef WEIR_REST_REST_EDIT_H
#define WEIR_REST_REST_EDIT_H

#include "rest/rest_call.h"

struct rest_edit {
	enum http_method method;
	struct rest_target
		target; /* of POST: the collection, after rest_edit_request also the new name */
	json_t *body;	/* or NULL */
	char options[REST_NAME_MAX]; /* of DELETE of a collection: which names */
	bool echo;		     /* a command, whose answer repeats it */
	bool refused;		     /* and answered */
};

/* Takes what the request asks for. False: it cannot be, and is answered. */
bool rest_edit_take(struct rest_call *call, struct rest_edit *edit);

/*
 * weir-cp's request for it; a list of several for a deletion by pattern. It may ask weir-cp what is stored.
 * NULL: rest_refuse answers.
 */
json_t *rest_edit_request(struct rest_call *call, struct rest_edit *edit);

void rest_edit_fini(struct rest_edit *edit);

#endif
