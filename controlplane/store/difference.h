/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WEIR_STORE_DIFFERENCE_H
#define WEIR_STORE_DIFFERENCE_H

#include "model/model.h"

/*
 * Lines of `after` that differ from `before`: "-" and "+" lines, each group behind "@@ line N", N in
 * after. At most max_lines lines, then one that says how many more there are.
 */
void difference_lines(const char *before, const char *after, unsigned max_lines, struct text *out);

/*
 * An object before and after ("": it was not there), as model_print writes it: all lines, with " ", "-" or "+" before
 * them and *** for secrets. At most *left lines, of which it takes away what it wrote; lines beyond it are added to
 * *more.
 */
void difference_object(
	const char *before, const char *after, unsigned *left, unsigned *more, struct text *out);

#endif
