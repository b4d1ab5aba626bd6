/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WEIR_REST_REST_DOWNLOAD_H
#define WEIR_REST_REST_DOWNLOAD_H

#include "rest/rest_call.h"

void rest_ucs_download(struct rest_call *call); /* /mgmt/shared/file-transfer/ucs-downloads/NAME */
void rest_download(
	struct rest_call *call); /* .../downloads/NAME, .../madm/NAME: the caller's own */

#endif
