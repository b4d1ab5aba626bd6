/* SPDX-License-Identifier: BSD-3-Clause */
/* What a worker does in a turn, stage by stage. */
#ifndef WEIR_MAIN_PIPELINE_H
#define WEIR_MAIN_PIPELINE_H

#include "core/worker.h"

extern const struct worker_ops pipeline_ops;

#endif
