/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>

#include "main/cp.h"

int cp_authorise(const struct cp_user *user, enum model_role need)
{
	return user->role >= need ? 0 : -EPERM;
}
