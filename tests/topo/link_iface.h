/* SPDX-License-Identifier: BSD-3-Clause */
/* A kernel interface as a source and sink of raw Ethernet frames (packet socket). */
#ifndef WEIR_TESTS_LINK_IFACE_H
#define WEIR_TESTS_LINK_IFACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LINK_FRAME_MAX 65600u
#define LINK_BURST 32u

struct link_frame {
	uint8_t *data;
	size_t length;
};

struct link_iface {
	char name[16];
	int fd;
	uint64_t unfinished; /* frames whose sender had left the checksum to its NIC */
	struct link_burst *burst;
};

/* All frames of the interface, promiscuous, not those we send. 0 or -errno. */
int link_iface_open(struct link_iface *iface, const char *name);

void link_iface_close(struct link_iface *iface);

/*
 * Takes up to LINK_BURST waiting frames; their data is valid until the next call. A tag that the
 * kernel took out of the frame is back in. The number of frames, 0 if none waits, or -errno.
 */
int link_iface_receive(struct link_iface *iface, struct link_frame *frames);

/* True if the frame was taken. */
bool link_iface_send(struct link_iface *iface, const uint8_t *data, size_t length);

#endif
