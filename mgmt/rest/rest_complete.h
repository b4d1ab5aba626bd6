/* SPDX-License-Identifier: BSD-3-Clause */
/* What clients look for in objects beside the fields of the model. */
#ifndef WEIR_REST_REST_COMPLETE_H
#define WEIR_REST_REST_COMPLETE_H

#include <jansson.h>

/* object: as weir-cp gives it, before links have versions. */
void rest_complete(json_t *object);

/* body: of a change to an object of this kind ("ltm monitor external"); what rest_complete adds becomes fields. */
void rest_complete_taken(const char *kind, json_t *body);

#endif
