/* Conversions of the element types of safetensors. Data may be
 * unaligned, so elements are read by memcpy. */
#include "runtime/data/safetensors.h"

#include "base/bf16.h"

#include <assert.h>
#include <math.h>

float st_from_f16(uint16_t bits)
{
    int exponent = bits >> 10 & 31, fraction = bits & 1023;
    float magnitude = exponent == 31 ? (fraction ? NAN : INFINITY)
                      : exponent     ? ldexpf((float)(1024 + fraction), exponent - 25)
                                     : ldexpf((float)fraction, -24);
    return bits >> 15 ? -magnitude : magnitude;
}

/* A case of a switch over tensor->type: element i, read as `item`, gives `result`. */
#define READ_CASE(kind, T, result)                                                        \
    case kind: {                                                                          \
        T item;                                                                           \
        memcpy(&item, (const char *)tensor->data + (size_t)i * sizeof item, sizeof item); \
        return result;                                                                    \
    }

static bool is_integer(const StTensor *tensor)
{
    return !element_info(tensor->type)->is_float && !tensor->scales.data;
}

/* Element i of a quantised tensor. */
static float scaled_at(const StTensor *tensor, int64_t i)
{
    const StScales *s = &tensor->scales;
    float scale;
    int8_t integer;
    memcpy(&scale, (const char *)s->data + (tensor->first + i) / s->inner % s->n * 4, sizeof scale);
    memcpy(&integer, (const char *)tensor->data + i, sizeof integer);
    return scale * (float)integer;
}

static int64_t integer_at(const StTensor *tensor, int64_t i)
{
    switch (tensor->type) {
        READ_CASE(ST_I32, int32_t, item)
        READ_CASE(ST_I64, int64_t, item)
        READ_CASE(ST_I16, int16_t, item)
        READ_CASE(ST_I8, int8_t, item)
        READ_CASE(ST_U8, uint8_t, item)
        READ_CASE(ST_BOOL, uint8_t, item != 0)
    default: assert(false); return 0;
    }
}

double st_value(const StTensor *tensor, int64_t i)
{
    if (tensor->scales.data)
        return (double)scaled_at(tensor, i);
    switch (tensor->type) {
        READ_CASE(ST_F32, float, item)
        READ_CASE(ST_F64, double, item)
        READ_CASE(ST_F16, uint16_t, st_from_f16(item))
        READ_CASE(ST_BF16, uint16_t, bf16_to_float(item))
    default: return (double)integer_at(tensor, i);
    }
}

/* Whether the 64-bit integer is an exact float with this many bits of fraction. */
static bool is_exact(int64_t value, int bits)
{
    uint64_t magnitude = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
    return magnitude == 0 || (magnitude >> __builtin_ctzll(magnitude)) < UINT64_C(1) << bits;
}

bool st_floats(const StTensor *tensor, int64_t i, int64_t n, float *out)
{
    const char *from = (const char *)tensor->data + (size_t)i * element_info(tensor->type)->bytes;
    if (n <= 0)
        return true;
    switch (tensor->type) {
    case ST_F32: memcpy(out, from, (size_t)n * sizeof *out); return true;
    case ST_BF16:
#pragma omp simd
        for (int64_t k = 0; k < n; k++) {
            uint16_t item;
            memcpy(&item, from + (size_t)k * sizeof item, sizeof item);
            out[k] = bf16_to_float(item);
        }
        return true;
    case ST_F16:
        for (int64_t k = 0; k < n; k++) {
            uint16_t item;
            memcpy(&item, from + (size_t)k * sizeof item, sizeof item);
            out[k] = st_from_f16(item);
        }
        return true;
    default: break;
    }
    for (int64_t k = 0; tensor->scales.data && k < n; k++)
        out[k] = scaled_at(tensor, i + k);
    return tensor->scales.data != NULL;
}

bool st_to_f32(const StTensor *tensor, float *out)
{
    if (st_floats(tensor, 0, tensor->count, out))
        return true;
    for (int64_t i = 0; i < tensor->count; i++) {
        if (is_integer(tensor) && !is_exact(integer_at(tensor, i), 24))
            return false;
        double value = st_value(tensor, i);
        out[i] = (float)value;
        if (isinf(out[i]) && !isinf(value))
            return false;
    }
    return true;
}

bool st_to_f64(const StTensor *tensor, double *out)
{
    for (int64_t i = 0; i < tensor->count; i++) {
        if (is_integer(tensor) && !is_exact(integer_at(tensor, i), 53))
            return false;
        out[i] = st_value(tensor, i);
    }
    return true;
}

bool st_to_i32(const StTensor *tensor, int32_t *out)
{
    for (int64_t i = 0; i < tensor->count; i++) {
        if (is_integer(tensor)) {
            int64_t value = integer_at(tensor, i);
            if (value < INT32_MIN || value > INT32_MAX)
                return false;
            out[i] = (int32_t)value;
        } else {
            double value = st_value(tensor, i);
            if (!(value >= INT32_MIN && value <= INT32_MAX) || value != trunc(value))
                return false;
            out[i] = (int32_t)value;
        }
    }
    return true;
}
