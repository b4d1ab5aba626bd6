/* SPDX-License-Identifier: BSD-3-Clause */
/* Scripts as monitors, with LTM's arguments and environment: any output on stdout means up. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ipc/ipc.h"
#include "monitor/mon.h"
#include "child/child_runner.h"

#define VARIABLES_MAX 200u
#define ROOM 512u /* for names, address and port */

struct external {
	uint64_t id; /* 0: not started */
};

/* Strings one after the other, with their NULs. */
struct strings {
	char bytes[RUNNER_MESSAGE_MAX];
	size_t length;
	bool full;
};

static void add(struct strings *s, const char *name, const char *value, size_t length)
{
	size_t head = name ? strlen(name) + 1 : 0;

	if (s->length + head + length + 1 > sizeof(s->bytes)) {
		s->full = true;
		return;
	}
	if (name) {
		memcpy(s->bytes + s->length, name, head - 1);
		s->bytes[s->length + head - 1] = '=';
	}
	memcpy(s->bytes + s->length + head, value, length);
	s->length += head + length;
	s->bytes[s->length++] = 0;
}

static void variable(struct strings *s, const char *name, const char *value)
{
	add(s, name, value, strlen(value));
}

/* LTM: the address in IPv6 form, the port, then the monitor's own arguments. */
static unsigned arguments(
	struct strings *s, const struct mon_monitor *m, const char *ip, unsigned port)
{
	const char *p = m->text[MON_F_ARGS];
	char number[8];
	unsigned count = 3;

	add(s, NULL, m->text[MON_F_SCRIPT], m->length[MON_F_SCRIPT]);
	add(s, NULL, ip, strlen(ip));
	snprintf(number, sizeof(number), "%u", port);
	add(s, NULL, number, strlen(number));
	while (*(p += strspn(p, " \t")) && count < 255) {
		size_t length = strcspn(p, " \t");

		add(s, NULL, p, length);
		p += length;
		count++;
	}
	return count;
}

static unsigned environment(
	struct strings *s, const struct mon_monitor *m, const char *ip, unsigned port)
{
	json_t *variables = json_object_get(m->source, "variables"), *value;
	const char *name;
	char number[8];
	unsigned count = 6;

	snprintf(number, sizeof(number), "%u", port);
	variable(s, "PATH", "/usr/local/bin:/usr/bin:/bin:/usr/local/sbin:/usr/sbin:/sbin");
	variable(s, "MON_TMPL_NAME", m->text[MON_F_NAME]);
	variable(s, "NODE_IP", ip);
	variable(s, "NODE_PORT", number);
	variable(s, "RUN_I", m->text[MON_F_SCRIPT]);
	variable(s, "ARGS_I", m->text[MON_F_ARGS]);
	json_object_foreach(variables, name, value)
	{
		char *text = count < 255 ? ipc_text_get(value, NULL) : NULL;

		if (!text)
			continue;
		variable(s, name, text);
		explicit_bzero(text, strlen(text));
		free(text);
		count++;
	}
	return count;
}

static int external_start(struct mon_probe *p)
{
	static struct strings s;
	static uint64_t last_id;
	const struct mon_instance *in = p->in;
	struct external *own = p->own;
	char address[IP_ADDR_TEXT], ip[IP_ADDR_TEXT + 8];
	int ends[2];

	if (!in->mon->runner)
		return -EPERM;
	if (pipe2(ends, O_CLOEXEC))
		return -errno;
	p->fd = ends[0];
	p->connected = true;
	fcntl(ends[0], F_SETFL, O_NONBLOCK);
	ip_format(&in->to_address, address);
	snprintf(ip, sizeof(ip), "%s%s", ip_is_v4(&in->to_address) ? "::ffff:" : "", address);
	s.length = 0;
	s.full = false;
	unsigned argc = arguments(&s, in->monitor, ip, in->to_port);
	unsigned envc = environment(&s, in->monitor, ip, in->to_port);
	struct child_program program = {.strings = s.bytes,
		.length = (uint32_t)s.length,
		.argc = argc,
		.envc = envc,
		.seconds = (unsigned)(in->monitor->timing.timeout / 1000),
		.out = ends[1],
		.in = -1,
		.program = -1};
	int rc = s.full ? -E2BIG : child_runner_start(in->mon->runner, ++last_id, &program);
	explicit_bzero(s.bytes, s.length);
	close(ends[1]);
	if (rc)
		return rc;
	own->id = last_id;
	return mon_io_add(in->mon->io, p);
}

static void external_stop(struct mon_probe *p)
{
	struct external *own = p->own;

	if (own && own->id)
		child_runner_stop(p->in->mon->runner, own->id, p->any);
}

static enum mon_outcome external_input(
	struct mon_probe *p, const char *bytes, size_t length, bool end)
{
	size_t part = length < sizeof(RUNNER_REFUSAL) ? length : sizeof(RUNNER_REFUSAL);

	if (!length)
		return mon_say(p, MON_BAD, "the script ended without output");
	if (memcmp(bytes, RUNNER_REFUSAL, part))
		return MON_GOOD;
	if (!end)
		return MON_MORE;
	if (length < sizeof(RUNNER_REFUSAL))
		return MON_GOOD;
	bytes += part;
	return mon_say_answer(p, MON_NOTHING, "not probed", bytes, length - part);
}

static int external_check(struct mon_monitor *m, struct mon_fault *fault)
{
	json_t *variables = json_object_get(m->source, "variables"), *value;
	const char *name;
	/* Script, name and arguments are both argument and variable; blanks may be one byte each. */
	size_t bytes = ROOM + 2 * m->length[MON_F_SCRIPT] + 2 * m->length[MON_F_ARGS] +
		       m->length[MON_F_NAME];

	if (m->text[MON_F_SCRIPT][0] != '/')
		return mon_fault(fault, "script", "must be an absolute path");
	if (access(m->text[MON_F_SCRIPT], F_OK))
		return mon_fault(fault, "script", "%s: %s", m->text[MON_F_SCRIPT], strerror(errno));
	if (variables && !json_is_object(variables))
		return mon_fault(fault, "variables", "must be an object of texts");
	json_object_foreach(variables, name, value)
	{
		if (!*name || strpbrk(name, "= \t\n") || !json_is_string(value))
			return mon_fault(fault, "variables", "%.40s: no name or no text", name);
		bytes += strlen(name) + json_string_length(value) + 2;
	}
	if (bytes > RUNNER_MESSAGE_MAX || json_object_size(variables) > VARIABLES_MAX)
		return mon_fault(fault, "variables", "must be at most %u, %u bytes with args",
			VARIABLES_MAX, RUNNER_MESSAGE_MAX - ROOM);
	return 0;
}

const struct mon_type mon_external = {.name = "external",
	.private_size = sizeof(struct external),
	.check = external_check,
	.start = external_start,
	.stop = external_stop,
	.input = external_input};
