/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The XDP program of an af_xdp port, attached by a link that lasts as long as its descriptor: when
 * weir-dp ends, in whatever way, the interface is as before. The driver, which finds the program in place,
 * would attach one that stays behind, since at the end nobody has the privilege to take it away.
 */
#ifndef WEIR_PORT_XDP_H
#define WEIR_PORT_XDP_H

struct xdp_guard;

/* libxdp's own program for AF_XDP sockets, on the interface. NULL, with errno, if there is one already or
 * it cannot be attached: the driver then does as it thinks best. */
struct xdp_guard *xdp_guard_new(const char *interface);
/* Detaches. Needs no privilege. Accepts NULL. */
void xdp_guard_free(struct xdp_guard *g);

/* Keeps the chatter of libbpf and libxdp off our log. */
void xdp_silence(void);

#endif
