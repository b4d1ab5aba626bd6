/* SPDX-License-Identifier: BSD-3-Clause */
/* Whether a browser sends a request on behalf of another site (docs/threat-model.md). */
#ifndef WEIR_AUTH_ORIGIN_H
#define WEIR_AUTH_ORIGIN_H

#include <stdbool.h>

/*
 * Takes a request's Origin, Sec-Fetch-Site and Host headers, NULL = it has none. True if it comes from our own
 * pages or from no browser; an Origin is ours if it is https with the very host that the request names.
 */
bool origin_is_ours(const char *origin, const char *fetch_site, const char *host);

#endif
