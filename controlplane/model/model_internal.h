/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared by the files of the model, by nobody else. */
#ifndef WEIR_MODEL_INTERNAL_H
#define WEIR_MODEL_INTERNAL_H

#include "model/model.h"

struct kind_alias {
	const char *words;
	enum model_kind kind;
};

extern const struct kind_alias model_kind_aliases[]; /* ends with words NULL */

#endif
