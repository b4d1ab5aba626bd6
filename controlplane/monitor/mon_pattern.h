/* SPDX-License-Identifier: BSD-3-Clause */
/* Receive patterns: PCRE2 with limits, so that no answer can cost more than a little time. */
#ifndef WEIR_MONITOR_MON_PATTERN_H
#define WEIR_MONITOR_MON_PATTERN_H

#include <stddef.h>

#define MON_SEARCH_MAX 5120u /* bytes of an answer that are searched */

struct mon_pattern;

/* NULL if text is no pattern; why[size] says why then. */
struct mon_pattern *mon_pattern_new(const char *text, size_t length, char *why, size_t size);
void mon_pattern_free(struct mon_pattern *p);

/* 1 found, 0 not, -E2BIG the search was too expensive and was given up. */
int mon_pattern_search(const struct mon_pattern *p, const char *bytes, size_t length);

#endif
