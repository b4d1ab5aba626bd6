/* SPDX-License-Identifier: BSD-3-Clause */
#include "api/counters.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/ids.h"

#define COUNTERS_ALIGN 64u
#define COUNTERS_WORKERS_MAX 1024u

#ifndef F_SEAL_FUTURE_WRITE
#define F_SEAL_FUTURE_WRITE 0x0010
#endif

_Static_assert(sizeof(struct counter_shared) == COUNTERS_ALIGN, "one cache line per object");

const char *const worker_counter_name[WORKER_COUNTERS] = {
#define X(name, text) [WORKER_##name] = text,
	WORKER_COUNTER_LIST(X)
#undef X
};

const char *const drop_reason_name[DROP_REASONS] = {
#define X(name, text) [DROP_##name] = text,
	DROP_REASON_LIST(X)
#undef X
};

static uint64_t align_up(uint64_t bytes)
{
	return (bytes + COUNTERS_ALIGN - 1) / COUNTERS_ALIGN * COUNTERS_ALIGN;
}

/* The only layout there is for these numbers: written by the creator, compared by the reader. */
static void layout(unsigned workers, unsigned slots, struct counters_header *h)
{
	uint64_t at = align_up(sizeof(*h));

	*h = (struct counters_header){
		.magic = COUNTERS_MAGIC,
		.version = COUNTERS_VERSION,
		.workers = workers,
		.slots = slots,
		.worker_counters = WORKER_COUNTERS,
		.drop_reasons = DROP_REASONS,
		.object_counters = OBJECT_COUNTERS,
	};
	h->worker_offset = at;
	at += workers * COUNTERS_STRIDE(WORKER_COUNTERS) * sizeof(uint64_t);
	h->drop_offset = at;
	at += workers * COUNTERS_STRIDE(DROP_REASONS) * sizeof(uint64_t);
	h->shared_offset = at;
	at += slots * sizeof(struct counter_shared);
	h->object_offset = at;
	at += (uint64_t)slots * workers * OBJECT_COUNTERS * sizeof(uint64_t);
	h->length = at;
}

static void attach(void *map, struct counters *out)
{
	char *base = map;
	struct counters_header *h = map;

	out->header = h;
	out->worker = (uint64_t *)(base + h->worker_offset);
	out->drop = (uint64_t *)(base + h->drop_offset);
	out->shared = (struct counter_shared *)(base + h->shared_offset);
	out->object = (uint64_t *)(base + h->object_offset);
}

int counters_create(unsigned workers, unsigned slots, struct counters *out)
{
	struct counters_header h;
	int err;

	if (workers == 0 || workers > COUNTERS_WORKERS_MAX || slots == 0 || slots > ID_SLOTS_MAX)
		return -EINVAL;
	layout(workers, slots, &h);
	int fd = memfd_create("weir-counters", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (fd < 0)
		return -errno;
	if (ftruncate(fd, (off_t)h.length) < 0)
		goto fail;
	void *map = mmap(NULL, h.length, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (map == MAP_FAILED)
		goto fail;
	if (fcntl(fd, F_ADD_SEALS,
		    F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_FUTURE_WRITE | F_SEAL_SEAL) < 0) {
		err = -errno;
		munmap(map, h.length);
		close(fd);
		return err;
	}
	memcpy(map, &h, sizeof(h));
	attach(map, out);
	return fd;
fail:
	err = -errno;
	close(fd);
	return err;
}

int counters_map(int fd, struct counters *out)
{
	const int need = F_SEAL_SHRINK | F_SEAL_GROW;
	struct counters_header h, want;
	struct stat st;

	int seals = fcntl(fd, F_GET_SEALS);
	if (seals < 0 || (seals & need) != need)
		return -EINVAL;
	if (fstat(fd, &st) < 0)
		return -errno;
	if (pread(fd, &h, sizeof(h), 0) != (ssize_t)sizeof(h))
		return -EINVAL;
	if (h.workers == 0 || h.workers > COUNTERS_WORKERS_MAX || h.slots == 0 ||
		h.slots > ID_SLOTS_MAX)
		return -EINVAL;
	layout(h.workers, h.slots, &want);
	if (memcmp(&h, &want, sizeof(h)) != 0 || (uint64_t)st.st_size != h.length)
		return -EINVAL;
	void *map = mmap(NULL, h.length, PROT_READ, MAP_SHARED, fd, 0);
	if (map == MAP_FAILED)
		return -errno;
	attach(map, out);
	return 0;
}

void counters_unmap(struct counters *c)
{
	if (c->header)
		munmap(c->header, c->header->length);
	*c = (struct counters){0};
}

uint64_t counters_object_sum(const struct counters *c, unsigned slot, enum object_counter which)
{
	uint64_t sum = 0;

	if (slot >= c->header->slots)
		return 0;
	for (unsigned w = 0; w < c->header->workers; w++)
		sum += counters_object(c, slot, w)[which];
	return sum;
}

uint64_t counters_worker_sum(const struct counters *c, enum worker_counter which)
{
	uint64_t sum = 0;

	for (unsigned w = 0; w < c->header->workers; w++)
		sum += counters_worker(c, w)[which];
	return sum;
}

uint64_t counters_drop_sum(const struct counters *c, enum drop_reason which)
{
	uint64_t sum = 0;

	for (unsigned w = 0; w < c->header->workers; w++)
		sum += counters_drop(c, w)[which];
	return sum;
}
