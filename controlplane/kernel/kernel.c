/* SPDX-License-Identifier: BSD-3-Clause */
#include "kernel/kernel.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "compile/compile.h"
#include "kernel/kernel_internal.h"

int kernel_new(uid_t owner, struct kernel **out)
{
	struct kernel *k = calloc(1, sizeof(*k));

	if (!k)
		return -ENOMEM;
	k->owner = owner;
	int rc = rtnl_open(&k->nl);
	if (rc) {
		free(k);
		return rc;
	}
	*out = k;
	return 0;
}

void kernel_free(struct kernel *k)
{
	if (!k)
		return;
	rtnl_close(&k->nl);
	free(k->network);
	free(k->mark);
	free(k);
}

void pass_fault(struct pass *p, int rc, const char *format, ...)
{
	va_list ap;

	if (p->rc)
		return;
	p->rc = rc;
	va_start(ap, format);
	vsnprintf(p->fault, p->fault_size, format, ap);
	va_end(ap);
}

const struct tap *pass_tap(const struct pass *p, uint32_t vlan_id)
{
	for (unsigned i = 0; i < p->taps; i++)
		if (p->tap[i].vlan == vlan_id && p->tap[i].index)
			return &p->tap[i];
	return NULL;
}

int kernel_apply(struct kernel *k, const struct model *m, char *fault, size_t size)
{
	struct pass p = {.k = k,
		.m = m,
		.taps = model_count(m, KIND_VLAN),
		.fault = fault,
		.fault_size = size};

	p.tap = calloc(p.taps + 1, sizeof(*p.tap));
	if (!p.tap) {
		snprintf(fault, size, "no memory");
		return -ENOMEM;
	}
	for (unsigned i = 0; i < p.taps; i++) {
		const struct object *vlan = model_at(m, KIND_VLAN, i);

		p.tap[i].vlan = vlan->id;
		p.tap[i].mtu = model_vlan(vlan)->conf.mtu;
		compile_tap_name(vlan, p.tap[i].name);
	}
	pass_links(&p);
	pass_addresses(&p);
	pass_routes(&p);
	pass_marks(&p);
	free(p.tap);
	return p.rc;
}

int kernel_ports_reserve(void)
{
	static const char range[] = "49152 65535\n";
	int fd, rc = 1;

	/* The kernel has this setting, which is not per namespace, only in the initial one. */
	if (access("/proc/sys/net/core/netdev_max_backlog", F_OK) == 0)
		return 0;
	fd = open("/proc/sys/net/ipv4/ip_local_port_range", O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	if (write(fd, range, sizeof(range) - 1) < 0)
		rc = -errno;
	close(fd);
	return rc;
}
