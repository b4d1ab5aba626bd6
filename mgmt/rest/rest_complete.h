/* SPDX-License-Identifier: BSD-3-Clause */
/* What clients look for in objects beside the fields of the model. */
#ifndef WEIR_REST_REST_COMPLETE_H
#define WEIR_REST_REST_COMPLETE_H

#include <jansson.h>

/* object: as weir-cp gives it, before links have versions. */
void rest_complete(json_t *object);

#endif
