/* SPDX-License-Identifier: BSD-3-Clause */
/* The machine's own log: datagrams to /dev/log. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "notify/receiver.h"
#include "notify/syslog_form.h"

#define LOCAL_MAX 2048u

struct local {
	struct receiver *r;
	struct sockaddr_un address;
	int fd; /* -1: not connected */
};

static void *local_create(struct receiver *r, const json_t *settings, const char **reason)
{
	const char *path = json_string_value(json_object_get(settings, "path"));
	struct local *l = calloc(1, sizeof(*l));

	if (!path)
		path = "/dev/log";
	if (!l || strlen(path) >= sizeof(l->address.sun_path)) {
		*reason = "path: is too long for a socket";
		free(l);
		return NULL;
	}
	*l = (struct local){.r = r, .fd = -1, .address.sun_family = AF_UNIX};
	strcpy(l->address.sun_path, path);
	return l;
}

static void local_reset(void *self)
{
	struct local *l = self;

	if (l->fd >= 0)
		close(l->fd);
	l->fd = -1;
}

/* 0 or -errno. */
static int local_send(struct local *l, const json_t *record)
{
	size_t length;
	char *text = syslog_form_local(record, LOCAL_MAX, &length);
	int rc = text ? 0 : -ENOMEM;

	if (rc == 0 && l->fd < 0) {
		l->fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
		if (l->fd < 0 || connect(l->fd, (struct sockaddr *)&l->address, sizeof(l->address)))
			rc = -errno;
	}
	if (rc == 0 && send(l->fd, text, length, MSG_NOSIGNAL) < 0)
		rc = -errno;
	free(text);
	return rc;
}

static const char *local_fault(const struct local *l, int rc, char *out, size_t size)
{
	snprintf(out, size, "%s: %s", l->address.sun_path, strerror(-rc));
	return out;
}

static enum receiver_answer local_offer(void *self, const json_t *record)
{
	struct local *l = self;
	char reason[256];
	int rc = local_send(l, record);

	if (rc == 0) {
		receiver_error(l->r, NULL);
		return RECEIVER_TAKEN;
	}
	/* The log daemon is behind, which is no fault: see local_tick. */
	if (rc != -EAGAIN && rc != -ENOBUFS)
		receiver_failed(l->r, local_fault(l, rc, reason, sizeof(reason)));
	return RECEIVER_FULL;
}

static void local_tick(void *self)
{
	struct local *l = self;

	receiver_more(l->r);
}

static void local_test(void *self, uint64_t number)
{
	struct local *l = self;
	json_t *record = receiver_test_record(l->r, number);
	char reason[256];
	int rc = record ? local_send(l, record) : -ENOMEM;

	json_decref(record);
	receiver_tested(
		l->r, number, rc == 0, rc ? local_fault(l, rc, reason, sizeof(reason)) : "");
	if (rc)
		local_reset(l);
}

static void local_free(void *self)
{
	local_reset(self);
	free(self);
}

const struct receiver_kind receiver_syslog_local = {.name = "syslog-local",
	.create = local_create,
	.offer = local_offer,
	.reset = local_reset,
	.tick = local_tick,
	.test = local_test,
	.free = local_free};
