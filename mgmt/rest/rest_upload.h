/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WEIR_REST_REST_UPLOAD_H
#define WEIR_REST_REST_UPLOAD_H

#include "rest/rest_call.h"

void rest_upload(struct rest_call *call); /* POST of /mgmt/shared/file-transfer/uploads/NAME */

/*
 * Puts the text of a file that the client has sent into a body whose sourcePath names it, where the kind takes a
 * content. False: it cannot be read, and is answered.
 */
bool rest_upload_content(struct rest_call *call, enum model_kind kind, json_t *body);

#endif
