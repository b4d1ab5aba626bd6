/* SPDX-License-Identifier: BSD-3-Clause */
/* Words that select connections: "cs-client-addr 10.0.0.0/8 cs-server-port 80 protocol tcp age 60".
 */
#ifndef WEIR_CLI_FILTER_H
#define WEIR_CLI_FILTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum filter_type {
	FILTER_ADDRESS,
	FILTER_PREFIX,	 /* an address, or a network with its prefix length */
	FILTER_PORT,	 /* 1-65535 */
	FILTER_PROTOCOL, /* tcp, udp, icmp, icmp6 or 1-255 */
	FILTER_SECONDS,
	FILTER_NAME, /* of an object */
};

struct filter_word {
	const char *name;
	const char *wire; /* its name in the local interface (docs/local-api.md) */
	enum filter_type type;
	const char *sentence;
};

/* Ends with name NULL. */
extern const struct filter_word filter_words[];

const struct filter_word *filter_find(const char *name);

/*
 * Checks a value; a number it stands for goes to *number (0 for addresses and names). 0, or -EINVAL
 * with what would be right in reason.
 */
int filter_check(const struct filter_word *f, const char *value, uint32_t *number, char *reason,
	size_t size);

#endif
