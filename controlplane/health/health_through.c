/* SPDX-License-Identifier: BSD-3-Clause */
/* Transparent monitors: the kernel's way through the server, as long as an instance needs it. */
#include <errno.h>
#include <string.h>

#include "base/log.h"
#include "health/health_internal.h"
#include "kernel/kernel.h"

static const struct ip_addr nowhere;

static void leave(struct health *h, struct health_inst *in)
{
	if (h->kernel && kernel_mark_of(&in->through))
		kernel_mark_put(h->kernel, &in->through);
	in->through = nowhere;
}

bool health_through_changed(struct health *h, struct health_inst *in)
{
	const json_t *transparent = json_object_get(in->monitor->message, "transparent");
	const struct ip_addr *want = json_is_true(transparent) ? &in->object->address : &nowhere;
	char text[IP_ADDR_TEXT];

	if (!h->kernel || !kernel_mark_of(want))
		want = &nowhere; /* weir-mon refuses it then, unless it asks the server itself */
	if (ip_equal(&in->through, want))
		return false;
	leave(h, in);
	in->through = *want;
	if (!kernel_mark_of(want))
		return true;
	int rc = kernel_mark_get(h->kernel, want);
	if (rc)
		log_warning("monitor %s: no way through %s: %s", in->monitor->name,
			ip_format(want, text), strerror(-rc));
	return true;
}

void health_through_gone(struct health *h, struct health_inst *in)
{
	leave(h, in);
}
