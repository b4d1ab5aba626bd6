/* SPDX-License-Identifier: BSD-3-Clause */
#include "store/record.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "api/snapshot.h"

#define RECORD_MAGIC 0x57524332u

/* In the machine's byte order: the store never leaves the machine. Padded to 8 bytes. */
struct record_head {
	uint32_t magic;
	uint32_t type;
	uint64_t size;	   /* of the whole record with padding */
	uint64_t checksum; /* over everything behind this field */
	uint64_t seq, generation, time;
	/* numbers and bytes (with NUL) of the parts that follow */
	uint32_t changes, ids, author, address, what, unused;
	uint64_t length; /* of the text */
};

#define CHECKED_FROM offsetof(struct record_head, seq)

static uint64_t checksum_of(const struct record_head *h)
{
	return snapshot_checksum((const char *)h + CHECKED_FROM, h->size - CHECKED_FROM);
}

void *record_encode(const struct record *r, size_t *size)
{
	struct record_head head = {
		.magic = RECORD_MAGIC,
		.type = r->type,
		.seq = r->seq,
		.generation = r->generation,
		.time = r->time,
		.changes = r->changes,
		.ids = r->ids ? r->changes : 0,
		.author = (uint32_t)strlen(r->author) + 1,
		.address = (uint32_t)strlen(r->address) + 1,
		.what = (uint32_t)strlen(r->what) + 1,
		.length = r->length,
	};
	const struct {
		const void *bytes;
		size_t length;
	} part[] = {{r->ids, head.ids * sizeof(uint32_t)}, {r->author, head.author},
		{r->address, head.address}, {r->what, head.what}, {r->text, r->length}};
	size_t length = sizeof(head), parts = sizeof(part) / sizeof(*part);

	for (size_t i = 0; i < parts; i++)
		length += part[i].length;
	head.size = (length + 7) & ~(size_t)7;
	char *bytes = calloc(1, head.size), *p = bytes + sizeof(head);
	if (!bytes)
		return NULL;
	for (size_t i = 0; i < parts; p += part[i++].length)
		if (part[i].length)
			memcpy(p, part[i].bytes, part[i].length);
	memcpy(bytes, &head, sizeof(head));
	head.checksum = checksum_of((struct record_head *)bytes);
	memcpy(bytes, &head, sizeof(head));
	*size = head.size;
	return bytes;
}

static bool head_is_good(const struct record_head *h, size_t room)
{
	uint64_t parts =
		sizeof(*h) + (uint64_t)h->ids * sizeof(uint32_t) + h->author + h->address + h->what;

	if (h->magic != RECORD_MAGIC || h->size > room || h->size < sizeof(*h) || h->size % 8)
		return false;
	return h->author && h->address && h->what && parts <= h->size &&
	       h->length <= h->size - parts;
}

int record_decode(const char *data, size_t size, size_t *offset, struct record *r)
{
	size_t room = size - *offset;
	const struct record_head *h = (const void *)(data + *offset);

	if (room == 0)
		return -ENODATA;
	if (room < sizeof(*h) || !head_is_good(h, room) || h->checksum != checksum_of(h))
		return -EBADMSG;
	const char *p = (const char *)(h + 1), *author = p + h->ids * sizeof(uint32_t);
	const char *address = author + h->author, *what = address + h->address;
	if (author[h->author - 1] || address[h->address - 1] || what[h->what - 1] ||
		(h->ids && h->ids != h->changes))
		return -EBADMSG;
	*r = (struct record){
		.type = h->type,
		.changes = h->changes,
		.seq = h->seq,
		.generation = h->generation,
		.time = h->time,
		.author = author,
		.address = address,
		.what = what,
		.ids = h->ids ? (const uint32_t *)p : NULL,
		.text = what + h->what,
		.length = h->length,
	};
	*offset += h->size;
	return 0;
}
