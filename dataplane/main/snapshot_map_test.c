/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/check.h"
#include "main/snapshot_map.h"

#define ALL_SEALS (F_SEAL_WRITE | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL)

static char reason[256];

static int map(int fd)
{
	const struct snap_header *snap = NULL;
	size_t length;

	reason[0] = '\0';
	int err = snapshot_map(fd, &snap, &length, reason, sizeof(reason));
	CHECK(err == 0 || (reason[0] && snap == NULL));
	if (err == 0)
		snapshot_unmap(snap, length);
	close(fd);
	return err;
}

/* The smallest snapshot: settings alone, all tables at the end of the header or behind. */
static int memory_file(int seals, off_t length_lie)
{
	struct {
		struct snap_header header;
		uint8_t rest[1024];
	} s __attribute__((aligned(64))) = {0};
	size_t at = (sizeof(s.header) + SNAP_ALIGN - 1) / SNAP_ALIGN * SNAP_ALIGN;

	s.header.magic = SNAP_MAGIC;
	s.header.version = SNAP_VERSION;
	s.header.kinds = SNAP_KINDS;
	s.header.generation = 1;
	s.header.length = at + SNAP_ALIGN;
	struct snap_settings *settings = (void *)((char *)&s + at);
	*settings =
		(struct snap_settings){.arp_timeout = 300, .arp_retries = 3, .maximum_arp = 2048};
	for (unsigned i = 0; i < SNAP_KINDS; i++) {
		s.header.tables[i].offset = i == SNAP_SETTINGS ? at : s.header.length;
		s.header.tables[i].count = i == SNAP_SETTINGS;
		s.header.tables[i].row = snap_row_size[i];
	}
	s.header.checksum = snapshot_checksum(&s.header + 1, s.header.length - sizeof(s.header));
	int fd = memfd_create("snapshot", MFD_ALLOW_SEALING | MFD_CLOEXEC);
	CHECK(fd >= 0);
	CHECK_INT(write(fd, &s, s.header.length), s.header.length);
	if (length_lie)
		CHECK_INT(ftruncate(fd, length_lie), 0);
	if (seals)
		CHECK_INT(fcntl(fd, F_ADD_SEALS, seals), 0);
	return fd;
}

static void test_good(void)
{
	int err = map(memory_file(ALL_SEALS, 0));
	if (err)
		fprintf(stderr, "%s\n", reason);
	CHECK_INT(err, 0);
}

/* Each single missing seal is noticed. */
static void test_seals(void)
{
	const int seal[] = {F_SEAL_WRITE, F_SEAL_SHRINK, F_SEAL_GROW, F_SEAL_SEAL};

	CHECK_INT(map(memory_file(0, 0)), -EINVAL);
	for (unsigned i = 0; i < 4; i++) {
		CHECK_INT(map(memory_file(ALL_SEALS & ~seal[i], 0)), -EINVAL);
		CHECK(strstr(reason, "seal"));
	}
}

static void test_lengths(void)
{
	CHECK_INT(map(memory_file(ALL_SEALS, 1)), -EINVAL);
	CHECK_INT(map(memory_file(ALL_SEALS, sizeof(struct snap_header) - 1)), -EINVAL);
	CHECK_INT(map(memory_file(ALL_SEALS, sizeof(struct snap_header))), -EINVAL);
	CHECK_INT(map(memory_file(ALL_SEALS, 1 << 20)), -EINVAL);
	CHECK_INT(map(memory_file(ALL_SEALS, (off_t)SNAP_LENGTH_MAX + 1)), -EFBIG);
}

static void test_other_files(void)
{
	int pipes[2];

	CHECK_INT(pipe(pipes), 0);
	close(pipes[1]);
	CHECK_INT(map(pipes[0]), -EINVAL);
	CHECK_INT(map(open("/dev/zero", O_RDONLY)), -EINVAL);
	CHECK_INT(map(open("/proc/self/exe", O_RDONLY)), -EINVAL);
	CHECK_INT(map(open("/", O_RDONLY)), -EINVAL);
}

int main(void)
{
	test_good();
	test_seals();
	test_lengths();
	test_other_files();
	return 0;
}
