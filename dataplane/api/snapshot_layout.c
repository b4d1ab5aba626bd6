/* SPDX-License-Identifier: BSD-3-Clause */
#include "api/snapshot.h"

/* Four lanes keep four multiplications in flight; xor-multiply per 8 bytes, as FNV does per byte. */
uint64_t snapshot_checksum(const void *bytes, size_t length)
{
	const uint64_t prime = 0x9e3779b97f4a7c15ull;
	uint64_t lane[4] = {1, 2, 3, 4}, word[4];
	const uint8_t *p = bytes;
	size_t left = length;

	for (; left >= sizeof(word); left -= sizeof(word), p += sizeof(word)) {
		memcpy(word, p, sizeof(word));
		for (unsigned i = 0; i < 4; i++) {
			lane[i] = (lane[i] ^ word[i]) * prime;
			lane[i] ^= lane[i] >> 29;
		}
	}
	for (; left > 0; left--, p++)
		lane[0] = (lane[0] ^ *p) * prime;
	uint64_t sum = length;
	for (unsigned i = 0; i < 4; i++) {
		sum = (sum ^ lane[i]) * prime;
		sum ^= sum >> 32;
	}
	return sum;
}

uint64_t snapshot_layout(struct snap_header *h, const uint32_t count[SNAP_KINDS])
{
	uint64_t end = sizeof(*h);

	*h = (struct snap_header){
		.magic = SNAP_MAGIC, .version = SNAP_VERSION, .kinds = SNAP_KINDS};
	for (unsigned k = 0; k < SNAP_KINDS; k++) {
		end = (end + SNAP_ALIGN - 1) / SNAP_ALIGN * SNAP_ALIGN;
		h->tables[k] = (struct snap_table){end, count[k], snap_row_size[k]};
		end += (uint64_t)count[k] * snap_row_size[k];
	}
	h->length = end;
	return end;
}
