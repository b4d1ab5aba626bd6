/* SPDX-License-Identifier: BSD-3-Clause */
/* Who we are to receivers of SNMPv3: an engine id that stays, and how often we were started since. */
#ifndef WEIR_NOTIFY_TRAP_ENGINE_H
#define WEIR_NOTIFY_TRAP_ENGINE_H

#include <stddef.h>
#include <stdint.h>

struct trap_engine {
	uint8_t id[32];
	size_t length;
	uint32_t boots;
	uint64_t started_ns;
};

/* The process's own, counted up in this folder at the first call. NULL: it cannot be kept, which is logged. */
const struct trap_engine *trap_engine(const char *state_dir);

/* "0x80001f88..." into id (32 bytes); 0: it is none. */
size_t trap_engine_parse(const char *text, uint8_t *id);

#endif
