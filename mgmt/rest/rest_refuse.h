/* SPDX-License-Identifier: BSD-3-Clause */
/* weir-cp's refusals, and our own, in the two forms and with the codes and words that LTM's clients know. */
#ifndef WEIR_REST_REST_REFUSE_H
#define WEIR_REST_REST_REFUSE_H

#include "rest/rest_call.h"

/* apiError */
#define REST_ERROR_FRAMEWORK 0 /* the framework's form, without apiError */
#define REST_ERROR_OBJECT 1
#define REST_ERROR_TRANSACTION 2
#define REST_ERROR_CONFIG 3
#define REST_ERROR_VALUE 26214401
#define REST_ERROR_LOST 32768001

/* What was asked: it decides about words. */
struct rest_question {
	enum http_method method;
	const struct rest_target *target;
	const json_t *body; /* or NULL */
};

struct rest_refusal {
	unsigned status;
	int api_error;
	struct text message;
	const char *reason; /* weir-cp's own words where message does not have them; the error's */
};

/* Puts weir-cp's error into LTM's words. Free the message with text_fini. */
void rest_refusal_of(const struct rest_question *q, const json_t *error, struct rest_refusal *out);

/* Answers with what rest_ask left: error or lost. */
void rest_refuse(struct rest_call *call);

/* Answers with one of our own. */
void rest_refuse_with(struct rest_call *call, unsigned status, int api_error, const char *format,
	...) __attribute__((format(printf, 4, 5)));

#endif
