/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sockets of parts of the machine that are no administrators: each for one user, with a closed list of what it may
 * ask. weir-notify faces the network and starts commands; weir-snmp serves whoever has the community.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "base/rights.h"
#include "main/cp.h"

struct part_op {
	const char *op;
	void (*handle)(struct cp *cp, struct ipc_request *r, const struct cp_user *user);
};

/* All that may be asked there; new requests are added here. */
static const struct part_op notify_ops[] = {{"log", cp_log},
	{"notify-settings", cp_notify_settings}, {"notify-report", cp_notify_report}, {NULL, NULL}};
static const struct part_op snmp_ops[] = {{"show", cp_show}, {"snmp-settings", cp_snmp_settings},
	{"snmp-report", cp_snmp_report}, {NULL, NULL}};

static const struct {
	const char *name, *socket, *option;
	enum model_role role;
	const struct part_op *ops;
} parts[] = {
	{"weir-notify", "notify.sock", "--notify-user", ROLE_ADMIN, notify_ops},
	{"weir-snmp", "snmp.sock", "--snmp-user", ROLE_GUEST, snmp_ops},
};

#define PARTS (sizeof(parts) / sizeof(*parts))

struct cp_parts {
	struct part {
		struct cp *cp;
		unsigned number;
		uid_t uid;
		struct ipc_server *server;
	} part[PARTS];
};

static void handle(const struct part *p, struct ipc_request *r, const struct cp_user *user)
{
	const char *op = json_string_value(json_object_get(ipc_request_body(r), "op"));
	const struct part_op *known = parts[p->number].ops;

	while (known->op && (!op || strcmp(known->op, op)))
		known++;
	if (known->op)
		known->handle(p->cp, r, user);
	else
		cp_refuse(r, op ? 403 : 400, "op", op ? "%s is not for %s" : "is missing",
			op ? op : "", parts[p->number].name);
}

static void on_request(struct ipc_request *r, void *ctx)
{
	const struct part *p = ctx;
	const struct ipc_peer *peer = ipc_request_peer(r);
	struct cp_user *user;

	/* The mode of the socket says the same. */
	if (peer->uid != p->uid && peer->uid != 0 && peer->uid != geteuid()) {
		cp_refuse(r, 403, "", "this is for %s", parts[p->number].name);
		return;
	}
	user = calloc(1, sizeof(*user));
	if (!user) {
		cp_refuse(r, 500, "", "no memory");
		return;
	}
	*user = (struct cp_user){
		.cp = p->cp, .id = ID_NONE, .role = parts[p->number].role, .class = HOLD_SYSTEM};
	snprintf(user->name, sizeof(user->name), "%s", parts[p->number].name);
	ipc_request_keep(r, user, free);
	handle(p, r, user);
}

static int part_init(struct part *p, const char *run_dir, const char *user)
{
	struct identity id = {.uid = geteuid()};
	char path[4096];
	int rc = rights_user(parts[p->number].option, user, &id);

	if (rc)
		return rc;
	p->uid = id.uid;
	snprintf(path, sizeof(path), "%s/%s", run_dir, parts[p->number].socket);
	p->server = ipc_server_new(p->cp->base, path, on_request, p);
	if (p->server && (p->uid == geteuid() || chown(path, p->uid, (gid_t)-1) == 0))
		return 0;
	rc = -errno;
	log_error("%s: %s", path, strerror(errno));
	return rc;
}

int cp_parts_init(
	struct cp *cp, const char *run_dir, const char *notify_user, const char *snmp_user)
{
	const char *users[PARTS] = {notify_user, snmp_user};
	int rc = 0;

	cp->parts = calloc(1, sizeof(*cp->parts));
	if (!cp->parts)
		return -ENOMEM;
	for (unsigned i = 0; i < PARTS && rc == 0; i++) {
		cp->parts->part[i] = (struct part){.cp = cp, .number = i};
		rc = part_init(&cp->parts->part[i], run_dir, users[i]);
	}
	return rc;
}

void cp_parts_fini(struct cp *cp)
{
	for (unsigned i = 0; cp->parts && i < PARTS; i++)
		ipc_server_free(cp->parts->part[i].server);
	free(cp->parts);
	cp->parts = NULL;
}
