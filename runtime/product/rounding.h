/* What rounding to integers of 8 bits and of 4 shares. Loops with it are written so that compilers
 * make vectors of them; no multiplication and addition may be fused. */
#ifndef RUNTIME_PRODUCT_ROUNDING_H
#define RUNTIME_PRODUCT_ROUNDING_H

#include "runtime/product/form.h"

#include <string.h>

static inline int32_t rounding_bits(float x)
{
    int32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

static inline float rounding_float(int32_t bits)
{
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

/* x · inverse as an integer, in the low bits. */
static inline int32_t rounding_integer(float x, float inverse)
{
    float scaled = x * inverse;
    scaled += INTEGERS_ROUND;
    return rounding_bits(scaled);
}

/* The bits of the greater magnitude: of `greatest`, or of x. */
static inline int32_t rounding_greater(int32_t greatest, float x)
{
    const int32_t bits = rounding_bits(x) & INTEGERS_MAGNITUDE;
    return bits > greatest ? bits : greatest;
}

#endif
