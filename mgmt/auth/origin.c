/* SPDX-License-Identifier: BSD-3-Clause */
#include "auth/origin.h"

#include <string.h>
#include <strings.h>

static const char scheme[] = "https://";
static const char default_port[] = ":443";

/* Bytes of host without the port that https has anyway. */
static size_t host_length(const char *host)
{
	size_t length = strlen(host), port = strlen(default_port);

	return length > port && !strcmp(host + length - port, default_port) ? length - port
									    : length;
}

bool origin_is_ours(const char *origin, const char *fetch_site, const char *host)
{
	if (fetch_site && strcmp(fetch_site, "same-origin") && strcmp(fetch_site, "none"))
		return false;
	if (!origin)
		return true;
	if (!host || strncasecmp(origin, scheme, strlen(scheme)))
		return false;
	origin += strlen(scheme);
	size_t length = host_length(origin);
	return length > 0 && length == host_length(host) && !strncasecmp(origin, host, length);
}
