/* SPDX-License-Identifier: BSD-3-Clause */
#include "port/xdp.h"

#include <errno.h>
#include <net/if.h>
#include <stdlib.h>

#include <bpf/libbpf.h>
#include <xdp/libxdp.h>

struct xdp_guard {
	struct xdp_program *program;
	struct bpf_link *link;
};

static struct bpf_link *attach(struct xdp_program *program, unsigned interface)
{
	struct bpf_object *object = xdp_program__bpf_obj(program);

	if (!object || bpf_object__load(object) != 0)
		return NULL;
	struct bpf_program *xsk = bpf_object__find_program_by_name(object, "xsk_def_prog");
	return xsk ? bpf_program__attach_xdp(xsk, (int)interface) : NULL;
}

struct xdp_guard *xdp_guard_new(const char *interface)
{
	struct xdp_guard *g = calloc(1, sizeof(*g));
	unsigned index = if_nametoindex(interface);

	if (!g || index == 0) {
		free(g);
		return NULL;
	}
	struct xdp_program *program = xdp_program__find_file("xsk_def_xdp_prog.o", NULL, NULL);
	if (libxdp_get_error(program)) {
		free(g);
		return NULL;
	}
	g->program = program;
	g->link = attach(program, index);
	if (!g->link) {
		int err = errno;
		xdp_guard_free(g);
		errno = err;
		return NULL;
	}
	return g;
}

void xdp_guard_free(struct xdp_guard *g)
{
	if (!g)
		return;
	bpf_link__destroy(g->link);
	xdp_program__close(g->program);
	free(g);
}

void xdp_silence(void)
{
	libbpf_set_print(NULL);
	libxdp_set_print(NULL);
}

#ifdef WEIR_SANITIZE

const char *__lsan_default_suppressions(void);

/* Closing its sockets, libxdp stops half-way when it may not touch the program any more. */
const char *__lsan_default_suppressions(void)
{
	return "leak:xsk_umem__create\n";
}

#endif
