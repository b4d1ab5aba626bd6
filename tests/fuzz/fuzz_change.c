/* SPDX-License-Identifier: BSD-3-Clause */
/* Commands and REST bodies on a standing configuration: refused without a trace, or taken and kept. */
#include "model/model.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	model_fuzz_change((const char *)data, size);
	return 0;
}
