/* bfloat16: the upper half of an f32. */
#ifndef BASE_BF16_H
#define BASE_BF16_H

#include <stdint.h>
#include <string.h>

/* The least magnitude that rounds to infinity. */
#define BF16_LIMIT 0x1.FFp127f

static inline float bf16_to_float(uint16_t bits)
{
    uint32_t wide = (uint32_t)bits << 16;
    float value;
    memcpy(&value, &wide, sizeof value);
    return value;
}

/* Rounds to nearest, ties to even; a value that is too large becomes infinite, NaN stays NaN. */
static inline uint16_t bf16_from_float(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    if ((bits & 0x7FFFFFFF) > 0x7F800000)
        return (uint16_t)(bits >> 16 | 0x40);
    return (uint16_t)((bits + 0x7FFF + (bits >> 16 & 1)) >> 16);
}

#endif
