/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Object ids: 32 bits, a slot (low 22 bits) and that slot's generation (high 10 bits). weir-cp gives
 * them out, keeps them over restarts, and raises the generation when a slot is used again, so a flow
 * that holds an old id can tell that its object is gone.
 */
#ifndef WEIR_BASE_IDS_H
#define WEIR_BASE_IDS_H

#include <stdint.h>

#define ID_NONE 0u /* slot 0 is never given out */
#define ID_SLOT_BITS 22
#define ID_SLOTS_MAX (1u << ID_SLOT_BITS)

static inline uint32_t id_slot(uint32_t id)
{
	return id & (ID_SLOTS_MAX - 1);
}

static inline uint32_t id_generation(uint32_t id)
{
	return id >> ID_SLOT_BITS;
}

static inline uint32_t id_make(uint32_t slot, uint32_t generation)
{
	return (generation << ID_SLOT_BITS) | slot;
}

#endif
