/* SPDX-License-Identifier: BSD-3-Clause */
#include "notify/trap_engine.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "base/clock.h"
#include "base/log.h"
#include "store/atomic_file.h"

#define BOOTS_MAX                                                                                  \
	2147483647u /* RFC 3414, section 2.2.1: then it stays there, and nothing is believed */

size_t trap_engine_parse(const char *text, uint8_t *id)
{
	size_t length = 0;
	unsigned byte;

	if (strncmp(text, "0x", 2))
		return 0;
	for (text += 2; *text; text += 2) {
		if (length == 32 || strspn(text, "0123456789abcdefABCDEF") < 2 ||
			sscanf(text, "%2x", &byte) != 1)
			return 0;
		id[length++] = (uint8_t)byte;
	}
	return length < 5 ? 0 : length;
}

/* RFC 3411, snmpEngineID: net-snmp's enterprise, then octets of our own choice. */
static int engine_make(struct trap_engine *e)
{
	static const uint8_t head[] = {0x80, 0x00, 0x1f, 0x88, 5};

	memcpy(e->id, head, sizeof(head));
	e->length = sizeof(head) + 8;
	return getrandom(e->id + sizeof(head), 8, 0) == 8 ? 0 : -EIO;
}

static void engine_read(struct trap_engine *e, const char *text)
{
	char id[80];

	if (sscanf(text, "%79s %u", id, &e->boots) == 2)
		e->length = trap_engine_parse(id, e->id);
}

const struct trap_engine *trap_engine(const char *state_dir)
{
	static struct trap_engine e;
	char path[4096], line[128], *text = NULL;
	size_t length;
	int rc;

	if (e.started_ns)
		return &e;
	snprintf(path, sizeof(path), "%s/engine", state_dir);
	rc = file_read(path, &text, &length);
	if (rc == 0)
		engine_read(&e, text);
	free(text);
	if (rc == -ENOENT || (rc == 0 && !e.length))
		rc = engine_make(&e);
	if (e.boots < BOOTS_MAX)
		e.boots++;
	int at = snprintf(line, sizeof(line), "0x");
	for (size_t i = 0; i < e.length; i++)
		at += snprintf(line + at, sizeof(line) - (size_t)at, "%02x", e.id[i]);
	at += snprintf(line + at, sizeof(line) - (size_t)at, " %u\n", e.boots);
	if (rc == 0)
		rc = file_replace(path, line, (size_t)at, 0600);
	if (rc) {
		log_error("%s: %s", path, strerror(-rc));
		e = (struct trap_engine){0};
		return NULL;
	}
	e.started_ns = clock_ns();
	return &e;
}
