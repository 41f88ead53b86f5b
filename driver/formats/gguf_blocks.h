/* What both files of GGUF's blocks share: gguf_blocks.c has the table of types, gguf_few_bits.c
 * those of two to four bits that are only read. */
#ifndef DRIVER_FORMATS_GGUF_BLOCKS_H
#define DRIVER_FORMATS_GGUF_BLOCKS_H

#include "base/half.h"
#include "driver/formats/gguf.h"

enum { GGUF_SMALL = 32, GGUF_SUPER = 256 }; /* elements of a block */

static inline float gguf_half_at(const uint8_t *at)
{
    return half_to_float((uint16_t)(at[0] | at[1] << 8));
}

extern const StBlocks gguf_q2_k, gguf_q3_k, gguf_iq4_nl, gguf_iq4_xs, gguf_iq3_s, gguf_tq1_0,
    gguf_tq2_0;

#endif
