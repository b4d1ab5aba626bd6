/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * UCS archives: the configuration in one file, to go back to or to set up another machine with. A tar.gz of
 *   manifest.json  product, format, version, machine, generation, time; size and SHA-256 of weir.conf
 *   weir.conf      the running configuration without its history; its secrets stay encrypted
 * Reading unpacks nothing to disk: both are read into memory, within bounds, and checked before anything is
 * believed. An archive with anything else in it is refused.
 */
#ifndef WEIR_FILES_UCS_H
#define WEIR_FILES_UCS_H

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

#include "files/files.h"

#define UCS_CONF_MAX (48u << 20) /* bytes of weir.conf */
#define UCS_ARCHIVE_MAX (64u << 20)

struct ucs_facts {
	const char *version, *machine; /* of Weir; the host's name */
	uint64_t generation;	       /* of the configuration */
	int64_t created;	       /* seconds since 1970 */
};

struct ucs {
	json_t *manifest;
	char *conf; /* NUL-terminated */
	size_t conf_length;
};

/* 0, or a negative errno with a reason; -EFBIG: weir.conf is too long. */
int ucs_write(int fd, const char *conf, size_t length, const struct ucs_facts *facts,
	char reason[FILES_REASON_MAX]);

/* Reads from the descriptor's place. -EBADMSG: it is no such archive, or damaged. */
int ucs_read(int fd, struct ucs *u, char reason[FILES_REASON_MAX]);
int ucs_read_memory(const void *data, size_t length, struct ucs *u, char reason[FILES_REASON_MAX]);

void ucs_fini(struct ucs *u);

/*
 * The encrypted secrets in the text of a weir.conf, each by its object and field as people name them
 * ("ltm monitor http /Common/web password"), to say which of them another machine cannot read. NULL: no memory.
 */
json_t *ucs_secrets(const char *conf, size_t length);

#endif
