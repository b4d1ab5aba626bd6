/* SPDX-License-Identifier: BSD-3-Clause */
#include "compile/compile.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "compile/compile_internal.h"

void *compile_row(struct compiler *c, enum snap_kind kind)
{
	/* Larger than any row. */
	static union {
		struct snap_virtual v;
		struct snap_route r;
	} nowhere;
	uint32_t i = c->next[kind]++;

	if (!c->buffer)
		return memset(&nowhere, 0, sizeof(nowhere));
	return (char *)c->buffer + c->buffer->tables[kind].offset + (size_t)i * snap_row_size[kind];
}

void compile_row_is(struct compiler *c, uint32_t id, enum snap_kind kind)
{
	c->row_of[id_slot(id)] = c->next[kind];
}

static void compile_settings(struct compiler *c)
{
	struct snap_settings *s = compile_row(c, SNAP_SETTINGS);

	s->auto_lasthop = model_db_value(c->m, "connection.autolasthop") != 0;
	s->reset_unmatched = model_db_value(c->m, "tm.rejectunmatched") != 0;
	s->arp_timeout = model_db_value(c->m, "arp.timeout");
	s->arp_retries = model_db_value(c->m, "arp.maxretries");
	s->maximum_arp = model_db_value(c->m, "arp.maxentries");
}

static void compile_all(struct compiler *c)
{
	memset(c->next, 0, sizeof(c->next));
	compile_settings(c);
	compile_net(c);
	compile_ltm(c);
}

/* The counting run: fills the header. Length, or -errno. */
static int64_t compiler_init(struct compiler *c, const struct model *m,
	const struct verdicts *verdicts, struct snap_header *head)
{
	*c = (struct compiler){
		.m = m, .verdicts = verdicts, .row_of = malloc(sizeof(uint32_t) * ID_SLOTS_MAX)};
	if (!c->row_of)
		return -ENOMEM;
	/* Not cleared: only ids that were compiled before in the same run are looked up. */
	compile_all(c);
	for (unsigned k = 0; k < SNAP_KINDS; k++)
		if (c->next[k] > SNAP_ROWS_MAX)
			return -E2BIG;
	uint64_t length = snapshot_layout(head, c->next);
	if (c->failed)
		return -ENOMEM;
	return length > SNAP_LENGTH_MAX ? -E2BIG : (int64_t)length;
}

/* The writing run, into a zeroed buffer. */
static int compiler_write(
	struct compiler *c, const struct snap_header *head, uint64_t origin, void *buffer)
{
	c->buffer = buffer;
	*c->buffer = *head;
	c->buffer->generation = model_generation(c->m);
	c->buffer->origin = origin;
	compile_all(c);
	c->buffer->checksum = snapshot_checksum(c->buffer + 1, head->length - sizeof(*head));
	return c->failed ? -ENOMEM : 0;
}

struct snap_header *compile_buffer(
	const struct model *m, const struct verdicts *verdicts, uint64_t origin, size_t *length)
{
	struct snap_header head;
	struct compiler c;
	int64_t n = compiler_init(&c, m, verdicts, &head);
	void *buffer = n < 0 ? NULL : calloc(1, (size_t)n);

	if (buffer && compiler_write(&c, &head, origin, buffer)) {
		free(buffer);
		buffer = NULL;
	}
	free(c.row_of);
	*length = buffer ? (size_t)n : 0;
	return buffer;
}

static int memfd_write(int fd, struct compiler *c, const struct snap_header *head, uint64_t origin)
{
	size_t length = head->length;

	if (ftruncate(fd, (off_t)length))
		return -errno;
	void *map = mmap(NULL, length, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, fd, 0);
	if (map == MAP_FAILED)
		return -errno;
	int rc = compiler_write(c, head, origin, map);
	/* The seal against writing is refused while a writable map exists. */
	munmap(map, length);
	if (rc == 0 &&
		fcntl(fd, F_ADD_SEALS, F_SEAL_WRITE | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL))
		rc = -errno;
	return rc;
}

int compile_snapshot(const struct model *m, const struct verdicts *verdicts, uint64_t origin)
{
	struct snap_header head;
	struct compiler c;
	int fd = -1;
	int64_t n = compiler_init(&c, m, verdicts, &head);

	if (n >= 0) {
		fd = memfd_create("weir-snapshot", MFD_CLOEXEC | MFD_ALLOW_SEALING);
		n = fd < 0 ? -errno : memfd_write(fd, &c, &head, origin);
	}
	free(c.row_of);
	if (n == 0)
		return fd;
	if (fd >= 0)
		close(fd);
	return (int)n;
}
