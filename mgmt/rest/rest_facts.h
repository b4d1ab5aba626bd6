/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What clients read below /mgmt/tm that is no object of the model: facts of the machine, and lists of what Weir
 * does not have, which clients look through nevertheless.
 */
#ifndef WEIR_REST_REST_FACTS_H
#define WEIR_REST_REST_FACTS_H

#include "rest/rest_call.h"

enum rest_fact_form {
	FACT_ITEM,  /* json is the object */
	FACT_STATS, /* json is the entries behind the path; "" of the path itself */
	FACT_LIST,  /* json is its rows */
};

/*
 * In the texts of json stand for themselves: $version$ (LTM's), $weir$ (ours), $host$, $date$, $uptime$ and
 * so on (rest_facts.c). A row of a list has name alone, or more; partition, fullPath and links are added.
 */
struct rest_fact {
	const char *path; /* "sys/version" */
	enum rest_fact_form form;
	const char *json;
};

extern const struct rest_fact rest_facts[]; /* ends with path NULL */

/* The fact that segments name, *item its row's name ("" none); NULL: there is none. */
const struct rest_fact *rest_fact_find(
	const char *const *segments, unsigned count, const char **item);

/* Answers a GET of it. */
void rest_fact_read(struct rest_call *call, const struct rest_fact *fact, const char *item);

/* Answers with statistics of a path; the entries are taken: names that begin with '/' have entries themselves. */
void rest_fact_stats(struct rest_call *call, const char *path, json_t *entries);

/* Whether there are facts below a path. */
bool rest_fact_below(const char *const *segments, unsigned count);

/* Answers a request for /mgmt/shared/identified-devices/config/device-info. */
void rest_device_info(struct rest_call *call);

/* Takes what the machine knows of the target's objects to add to them: cm/device. */
void rest_fact_add(struct rest_call *call);

#endif
