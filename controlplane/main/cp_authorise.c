/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <pwd.h>
#include <stdio.h>
#include <unistd.h>

#include "main/cp.h"

/* The machine's root, and whoever runs weir-cp, administer it; there are no other users yet. */
int cp_authorise(const struct ipc_peer *peer, enum model_role need, struct cp_user *user)
{
	bool administrator = peer->uid == 0 || peer->uid == geteuid();
	struct passwd entry, *found = NULL;
	char space[1024];

	if (getpwuid_r(peer->uid, &entry, space, sizeof(space), &found) == 0 && found)
		snprintf(user->name, sizeof(user->name), "%s", found->pw_name);
	else
		snprintf(user->name, sizeof(user->name), "uid %u", peer->uid);
	user->class = HOLD_OPERATOR;
	user->role = administrator ? ROLE_ADMIN : ROLE_GUEST;
	return administrator && user->role >= need ? 0 : -EPERM;
}
