/* f16, IEEE 754's binary16: a sign, 5 bits of exponent, 10 of fraction. */
#ifndef BASE_HALF_H
#define BASE_HALF_H

#include <stdint.h>
#include <string.h>

/* The least magnitude that rounds to infinity, half way from the greatest f16 to the next one; and
 * the least normal one, below which an f16 has fewer than 11 bits. */
#define HALF_LIMIT 65520.0f
#define HALF_NORMAL 0x1p-14f

/* No denormal of f32 occurs, so that it does not matter whether these count as zero. */
static inline float half_to_float(uint16_t bits)
{
    const uint32_t sign = (uint32_t)(bits & 0x8000) << 16, rest = (uint32_t)(bits & 0x7FFF) << 13;
    uint32_t wide = rest + (UINT32_C(112) << 23); /* the difference of both exponents' offsets */
    float value;
    if (rest >= UINT32_C(31) << 23) /* infinite, or NaN */
        wide = rest | 0x7F800000;
    if (rest < UINT32_C(1) << 23) { /* below 2^-14: a float from there on, less 2^-14 */
        wide += UINT32_C(1) << 23;
        memcpy(&value, &wide, sizeof value);
        value -= 0x1p-14f;
        memcpy(&wide, &value, sizeof wide);
    }
    wide |= sign;
    memcpy(&value, &wide, sizeof value);
    return value;
}

/* Rounds to nearest, ties to even; a magnitude of HALF_LIMIT or more becomes infinite, NaN stays
 * NaN. */
static inline uint16_t half_from_float(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    const uint32_t sign = bits >> 16 & 0x8000;
    bits &= 0x7FFFFFFF;
    if (bits > 0x7F800000)
        return (uint16_t)(sign | 0x7E00);
    if (bits >= 0x477FF000) /* HALF_LIMIT */
        return (uint16_t)(sign | 0x7C00);
    if (bits < 0x38800000) { /* HALF_NORMAL: a unit is 2^-24, as it is of floats from 0.5 on */
        memcpy(&value, &bits, sizeof value);
        value += 0.5f;
        memcpy(&bits, &value, sizeof bits);
        return (uint16_t)(sign | (bits - 0x3F000000));
    }
    return (uint16_t)(sign | (bits - 0x38000000 + 0xFFF + (bits >> 13 & 1)) >> 13);
}

/* The same, but of a magnitude below HALF_NORMAL the least f16 that is not below it: only zero
 * becomes zero. */
static inline uint16_t half_at_least(float value)
{
    const uint16_t half = half_from_float(value);
    const float found = half_to_float(half & 0x7FFF), magnitude = value < 0 ? -value : value;
    return (uint16_t)(half + (magnitude < HALF_NORMAL && found < magnitude));
}

#endif
