/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "api/counters.h"
#include "base/check.h"
#include "base/ids.h"

static void test_names(void)
{
	for (unsigned i = 0; i < WORKER_COUNTERS; i++)
		CHECK(worker_counter_name[i] && worker_counter_name[i][0]);
	for (unsigned i = 0; i < DROP_REASONS; i++)
		CHECK(drop_reason_name[i] && drop_reason_name[i][0]);
	CHECK_STR(drop_reason_name[DROP_MARTIAN], "martian");
}

static void test_write_and_read(void)
{
	struct counters writer, reader;
	int fd = counters_create(2, 100, &writer);
	CHECK(fd >= 0);
	CHECK_INT(counters_map(fd, &reader), 0);
	counters_object(&writer, 99, 0)[OBJECT_CONNECTIONS] = 5;
	counters_object(&writer, 99, 1)[OBJECT_CONNECTIONS] = 7;
	counters_worker(&writer, 1)[WORKER_EVENTS] = 3;
	counters_drop(&writer, 0)[DROP_DELETED] = 2;
	counters_drop(&writer, 1)[DROP_DELETED] = 2;
	writer.shared[99].current = 11;
	CHECK_INT(counters_object_sum(&reader, 99, OBJECT_CONNECTIONS), 12);
	CHECK_INT(counters_object_sum(&reader, 98, OBJECT_CONNECTIONS), 0);
	CHECK_INT(counters_object_sum(&reader, 100, OBJECT_CONNECTIONS), 0);
	CHECK_INT(counters_worker_sum(&reader, WORKER_EVENTS), 3);
	CHECK_INT(counters_drop_sum(&reader, DROP_DELETED), 4);
	CHECK_INT(counters_drop_sum(&reader, DROP_TX_FULL), 0);
	CHECK_INT(reader.shared[99].current, 11);
	counters_unmap(&reader);
	counters_unmap(&writer);
	close(fd);
}

/* Rows of different workers lie on different cache lines. */
static void test_no_shared_lines(void)
{
	struct counters c;
	int fd = counters_create(3, 1, &c);
	CHECK(fd >= 0);
	for (unsigned w = 0; w < 3; w++) {
		CHECK_INT((uintptr_t)counters_worker(&c, w) % 64, 0);
		CHECK_INT((uintptr_t)counters_drop(&c, w) % 64, 0);
	}
	CHECK_INT((uintptr_t)c.shared % 64, 0);
	CHECK_INT((uintptr_t)c.object % 64, 0);
	counters_unmap(&c);
	close(fd);
}

/* Readers cannot write, and nobody can resize. */
static void test_seals(void)
{
	struct counters c;
	int fd = counters_create(1, 10, &c);
	CHECK(fd >= 0);
	CHECK(ftruncate(fd, 64) < 0);
	CHECK(mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0) == MAP_FAILED);
	CHECK(write(fd, "x", 1) < 0);
	counters_unmap(&c);
	close(fd);
}

static void test_refuses_foreign_files(void)
{
	struct counters c, reader;
	int fd = memfd_create("foreign", MFD_ALLOW_SEALING);
	CHECK(fd >= 0);
	CHECK_INT(ftruncate(fd, 4096), 0);
	CHECK_INT(counters_map(fd, &reader), -EINVAL);
	CHECK_INT(fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW), 0);
	CHECK_INT(counters_map(fd, &reader), -EINVAL);
	close(fd);

	int good = counters_create(1, 10, &c);
	CHECK(good >= 0);
	struct counters_header lie = *c.header;
	for (int i = 0; i < 3; i++) {
		fd = memfd_create("lie", MFD_ALLOW_SEALING);
		lie = *c.header;
		if (i == 0)
			lie.slots = 11;
		else if (i == 1)
			lie.object_offset += 64;
		else
			lie.workers = UINT32_MAX;
		CHECK_INT(write(fd, &lie, sizeof(lie)), sizeof(lie));
		CHECK_INT(ftruncate(fd, (off_t)c.header->length), 0);
		CHECK_INT(fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW), 0);
		CHECK_INT(counters_map(fd, &reader), -EINVAL);
		close(fd);
	}
	counters_unmap(&c);
	close(good);
}

static void test_limits(void)
{
	struct counters c;
	CHECK_INT(counters_create(0, 1, &c), -EINVAL);
	CHECK_INT(counters_create(1, 0, &c), -EINVAL);
	CHECK_INT(counters_create(1, ID_SLOTS_MAX + 1, &c), -EINVAL);
	int fd = counters_create(16, ID_SLOTS_MAX, &c);
	CHECK(fd >= 0);
	counters_object(&c, ID_SLOTS_MAX - 1, 15)[OBJECT_COUNTERS - 1] = 1;
	CHECK_INT(counters_object_sum(&c, ID_SLOTS_MAX - 1, OBJECT_COUNTERS - 1), 1);
	counters_unmap(&c);
	close(fd);
}

int main(void)
{
	test_names();
	test_write_and_read();
	test_no_shared_lines();
	test_seals();
	test_refuses_foreign_files();
	test_limits();
	return 0;
}
