/* SPDX-License-Identifier: BSD-3-Clause */
/* weir.conf and the running store: any bytes are refused with a reason, or come back the same. */
#include "model/model.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	model_fuzz_conf((const char *)data, size);
	return 0;
}
