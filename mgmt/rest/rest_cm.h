/* SPDX-License-Identifier: BSD-3-Clause */
/* Commands of cm and of iApps LX that clients send to an appliance that stands alone. */
#ifndef WEIR_REST_REST_CM_H
#define WEIR_REST_REST_CM_H

#include "rest/rest_call.h"

/* POST cm/device {"command": "mv", "name", "target"}: the appliance's host name becomes the target. */
void rest_device_move(struct rest_call *call);

/* POST cm {"command": "run", "utilCmdArgs": "config-sync to-group NAME"}: there is no group. */
void rest_config_sync(struct rest_call *call);

/* Either of them with the header of a transaction: refused. */
void rest_cm_queue(struct rest_call *call);

/* /mgmt/shared/iapp/package-management-tasks: a query finds no packages. */
void rest_packages(struct rest_call *call);

#endif
