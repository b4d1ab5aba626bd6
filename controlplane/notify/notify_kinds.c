/* SPDX-License-Identifier: BSD-3-Clause */
#include "notify/receiver.h"

const struct receiver_kind *const receiver_kinds[] = {&receiver_syslog, &receiver_syslog_local,
	&receiver_trap, &receiver_mail, &receiver_command, NULL};
