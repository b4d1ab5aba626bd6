/* SPDX-License-Identifier: BSD-3-Clause */
/* Which part of weir-mgmt serves which path. */
#ifndef WEIR_MAIN_MGMT_ROUTES_H
#define WEIR_MAIN_MGMT_ROUTES_H

#include "http/http.h"
#include "main/mgmt_cp.h"
#include "rest/rest.h"

#define MGMT_ROUTES_MAX 12u

/* What handlers need; it stays while they run. */
struct mgmt_parts {
	struct mgmt_cp *cp;
	struct rest *rest;
};

/* Fills routes; their number. */
unsigned mgmt_routes(struct http_route routes[MGMT_ROUTES_MAX], struct mgmt_parts *parts);

#endif
