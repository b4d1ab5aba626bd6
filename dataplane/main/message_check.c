/* SPDX-License-Identifier: BSD-3-Clause */
#include "main/message_check.h"

#include <errno.h>
#include <stdio.h>

static int refuse(char *reason, size_t size, const char *message, const char *why)
{
	snprintf(reason, size, "%s: %s", message, why);
	return -EINVAL;
}

static bool all_zero(const uint8_t *bytes, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (bytes[i])
			return false;
	}
	return true;
}

static int check_live_row(const struct live_row *row, uint32_t index, char *reason, size_t size)
{
	const struct snap_live *l = &row->live;
	const char *field = NULL;

	if (row->id == ID_NONE)
		field = "id";
	else if (l->ratio == 0)
		field = "ratio";
	else if (l->avail & ~LIVE_BITS)
		field = "avail";
	else if (!all_zero(l->reserved, sizeof(l->reserved)))
		field = "reserved";
	if (!field)
		return 0;
	snprintf(reason, size, "live: row %u: %s is out of range", index, field);
	return -EINVAL;
}

static int check_live(const struct msg_live *m, size_t length, char *reason, size_t size)
{
	if (length < sizeof(*m))
		return refuse(reason, size, "live", "too short");
	if (m->count == 0 || m->count > LIVE_ROWS_MAX)
		return refuse(reason, size, "live", "count is out of range");
	if (length != sizeof(*m) + m->count * sizeof(m->row[0]))
		return refuse(reason, size, "live", "length does not fit count");
	if (m->reserved)
		return refuse(reason, size, "live", "reserved is not zero");
	for (uint32_t i = 0; i < m->count; i++) {
		if (check_live_row(&m->row[i], i, reason, size) < 0)
			return -EINVAL;
	}
	return 0;
}

static bool prefix_fits(const struct ip_addr *addr, uint8_t prefix)
{
	return prefix <= ip_prefix_max(addr);
}

static int check_scan(const struct msg_scan *m, size_t length, char *reason, size_t size)
{
	if (length != sizeof(*m))
		return refuse(reason, size, "scan", "wrong length");
	if (m->action >= SCAN_ACTIONS)
		return refuse(reason, size, "scan", "unknown action");
	if (m->filter.down > 1)
		return refuse(reason, size, "scan", "down is out of range");
	if (!all_zero(m->reserved, sizeof(m->reserved)) || m->filter.reserved2 ||
		m->filter.reserved3)
		return refuse(reason, size, "scan", "reserved is not zero");
	if (!prefix_fits(&m->filter.client, m->filter.client_prefix) ||
		!prefix_fits(&m->filter.server, m->filter.server_prefix))
		return refuse(reason, size, "scan", "prefix is out of range");
	return 0;
}

static int check_bare(const char *name, size_t length, char *reason, size_t size)
{
	if (length != sizeof(struct msg_header))
		return refuse(reason, size, name, "wrong length");
	return 0;
}

int message_check(
	const void *message, size_t length, unsigned descriptors, char *reason, size_t reason_size)
{
	const struct msg_header *h = message;

	if (length < sizeof(*h))
		return refuse(reason, reason_size, "message", "shorter than its header");
	if (length > MSG_LENGTH_MAX)
		return refuse(reason, reason_size, "message", "length is out of range");
	if (h->length != length)
		return refuse(reason, reason_size, "message", "length is not that of the packet");
	if (descriptors != (h->type == MSG_SNAPSHOT))
		return refuse(reason, reason_size, "message", "wrong number of descriptors");
	switch (h->type) {
	case MSG_SNAPSHOT:
		return check_bare("snapshot", length, reason, reason_size);
	case MSG_LIVE:
		return check_live(message, length, reason, reason_size);
	case MSG_SCAN:
		return check_scan(message, length, reason, reason_size);
	case MSG_NEIGHBOURS:
		return check_bare("neighbours", length, reason, reason_size);
	case MSG_MEMORY:
		return check_bare("memory", length, reason, reason_size);
	}
	return refuse(reason, reason_size, "message", "type is unknown or not for the dataplane");
}
