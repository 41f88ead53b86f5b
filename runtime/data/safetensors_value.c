/* Conversions of the element types of safetensors. Data may be
 * unaligned, so elements are read by memcpy. */
#include "runtime/data/safetensors.h"

#include "base/bf16.h"
#include "base/half.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>

/* A case of a switch over tensor->type: the element at place `at`, read as `item`, gives
 * `result`. */
#define READ_CASE(at, kind, T, result)                                                       \
    case kind: {                                                                             \
        T item;                                                                              \
        memcpy(&item, (const char *)tensor->data + (size_t)(at) * sizeof item, sizeof item); \
        return result;                                                                       \
    }

static bool is_integer(const StTensor *tensor)
{
    return !element_info(tensor->type)->is_float && !tensor->scales.data;
}

static float scale_at(const StScales *s, int64_t i)
{
    float scale;
    uint16_t half;
    if (!s->is_half) {
        memcpy(&scale, (const char *)s->data + i * (int64_t)sizeof scale, sizeof scale);
        return scale;
    }
    memcpy(&half, (const char *)s->data + i * (int64_t)sizeof half, sizeof half);
    return half_to_float(half);
}

/* The value of an integer in a byte, of 4 bits in the upper half or in the lower, of run `run`. */
static float value_in(const StScales *s, uint8_t byte, bool upper, int64_t run)
{
    uint16_t minimum;
    const int of_4 = byte >> (upper ? 4 : 0) & 15;
    if (!s->minima)
        return scale_at(s, run) * (s->bits == 4 ? (float)(of_4 - 8) : (float)(int8_t)byte);
    memcpy(&minimum, (const char *)s->minima + run * (int64_t)sizeof minimum, sizeof minimum);
    const float scaled = scale_at(s, run) * (float)of_4;
    return scaled + half_to_float(minimum);
}

/* n elements of 16 bits, which have one scale. */
static void scaled_words(const StTensor *tensor, int64_t i, int64_t n, float *out)
{
    const float scale = scale_at(&tensor->scales, 0);
    for (int64_t k = 0; k < n; k++) {
        int16_t item;
        memcpy(&item, (const char *)tensor->data + (size_t)(i + k) * sizeof item, sizeof item);
        out[k] = scale * (float)item;
    }
}

/* n elements of a quantised tensor from the i-th on: of a run, which lie beside each other; where
 * runs do, of one place of the axis. */
static void scaled_values(const StTensor *tensor, int64_t i, int64_t n, float *out)
{
    const StScales *s = &tensor->scales;
    if (s->bits == 16) {
        scaled_words(tensor, tensor->first + i, n, out);
        return;
    }
    const uint8_t *data = tensor->data;
    const int64_t runs = s->n / s->run + (s->n % s->run != 0), halves = s->bits == 4 ? 2 : 1;
    for (int64_t k = 0, count; k < n; k += count) {
        /* element e is the one at [outer, at, beside] of a shape [.., s->n, s->inner] */
        const int64_t e = tensor->first + i + k, beside = e % s->inner;
        const int64_t at = e / s->inner % s->n, outer = e / s->inner / s->n;
        const int64_t scale = (outer * runs + at / s->run) * s->inner + beside;
        const int64_t byte = (outer * (s->n / halves) + at / halves) * s->inner + beside;
        const int64_t of_run = s->run - at % s->run, of_axis = s->n - at;
        const int64_t most = s->inner > 1 ? s->inner - beside : of_run < of_axis ? of_run : of_axis;
        count = n - k < most ? n - k : most;
        if (s->inner > 1) /* elements beside each other have the scales beside each other */
            for (int64_t j = 0; j < count; j++)
                out[k + j] = value_in(s, data[byte + j], at % 2, scale + j);
        else
            for (int64_t j = 0; j < count; j++)
                out[k + j] = value_in(s, data[(e + j) / halves], (e + j) % 2, scale);
    }
}

static float scaled_at(const StTensor *tensor, int64_t i)
{
    float value;
    scaled_values(tensor, i, 1, &value);
    return value;
}

/* ---- elements in other orders, and in blocks ---- */

/* Where the i-th element lies. */
static int64_t element_place(const StTensor *tensor, int64_t i)
{
    const StView *view = tensor->view;
    if (!view)
        return i;
    int64_t at = view->first;
    for (int d = view->rank; d-- > 0; i /= view->sizes[d])
        at += i % view->sizes[d] * view->strides[d];
    return at;
}

/* n elements of blocks from the one at place `at` on. */
static void decoded_values(const StTensor *tensor, int64_t at, int64_t n, float *out)
{
    const StBlocks *blocks = tensor->blocks;
    float block[ST_MAX_BLOCK];
    for (int64_t k = 0, count; k < n; k += count) {
        const int64_t skip = (at + k) % blocks->elements, left = blocks->elements - skip;
        const char *from =
            (const char *)tensor->data + (at + k) / blocks->elements * (int64_t)blocks->bytes;
        count = n - k < left ? n - k : left;
        if (count == blocks->elements) {
            blocks->decode(from, out + k);
            continue;
        }
        blocks->decode(from, block);
        memcpy(out + k, block + skip, (size_t)count * sizeof *out);
    }
}

const char *st_stored_type(const StTensor *tensor)
{
    return tensor->blocks ? tensor->blocks->name : element_info(tensor->type)->name;
}

bool st_count(StTensor *tensor)
{
    enum { MOST_EMPTY = 1 << 20 };
    int64_t count = 1, longest = 0;
    for (int d = 0; d < tensor->rank; d++) {
        longest = tensor->dims[d] > longest ? tensor->dims[d] : longest;
        if (tensor->dims[d] < 0 || __builtin_mul_overflow(count, tensor->dims[d], &count))
            return false;
    }
    tensor->count = count;
    return count || longest <= MOST_EMPTY;
}

static int64_t integer_at(const StTensor *tensor, int64_t i)
{
    i = element_place(tensor, i);
    switch (tensor->type) {
        READ_CASE(i, ST_I32, int32_t, item)
        READ_CASE(i, ST_I64, int64_t, item)
        READ_CASE(i, ST_I16, int16_t, item)
        READ_CASE(i, ST_I8, int8_t, item)
        READ_CASE(i, ST_U8, uint8_t, item)
        READ_CASE(i, ST_BOOL, uint8_t, item != 0)
    default: assert(false); return 0;
    }
}

double st_value(const StTensor *tensor, int64_t i)
{
    const int64_t at = element_place(tensor, i);
    if (tensor->scales.data)
        return (double)scaled_at(tensor, i);
    if (tensor->blocks) {
        float value;
        decoded_values(tensor, at, 1, &value);
        return (double)value;
    }
    switch (tensor->type) {
        READ_CASE(at, ST_F32, float, item)
        READ_CASE(at, ST_F64, double, item)
        READ_CASE(at, ST_F16, uint16_t, half_to_float(item))
        READ_CASE(at, ST_BF16, uint16_t, bf16_to_float(item))
    default: return (double)integer_at(tensor, i);
    }
}

/* Whether the 64-bit integer is an exact float with this many bits of fraction. */
static bool is_exact(int64_t value, int bits)
{
    uint64_t magnitude = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
    return magnitude == 0 || (magnitude >> __builtin_ctzll(magnitude)) < UINT64_C(1) << bits;
}

/* n elements that lie beside each other. */
static bool floats_at(const StTensor *tensor, int64_t i, int64_t n, float *out)
{
    const char *from = (const char *)tensor->data + (size_t)i * element_info(tensor->type)->bytes;
    if (n <= 0)
        return true;
    if (tensor->blocks) {
        decoded_values(tensor, i, n, out);
        return true;
    }
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
            out[k] = half_to_float(item);
        }
        return true;
    default: break;
    }
    if (tensor->scales.data)
        scaled_values(tensor, i, n, out);
    else if (tensor->type == ST_I8)
        for (int64_t k = 0; k < n; k++)
            out[k] = (float)(int8_t)from[k];
    else if (tensor->type == ST_U8)
        for (int64_t k = 0; k < n; k++)
            out[k] = (float)(uint8_t)from[k];
    else
        return false;
    return true;
}

bool st_floats(const StTensor *tensor, int64_t i, int64_t n, float *out)
{
    const StView *view = tensor->view;
    const int last = view ? view->rank - 1 : -1;
    if (last < 0)
        return floats_at(tensor, i + (view ? view->first : 0), n, out);
    bool ok = true;
    for (int64_t k = 0, run; ok && k < n; k += run) {
        const int64_t at = element_place(tensor, i + k), stride = view->strides[last];
        const int64_t left = view->sizes[last] - (i + k) % view->sizes[last];
        run = n - k < left ? n - k : left;
        if (stride == 1)
            ok = floats_at(tensor, at, run, out + k);
        else
            for (int64_t j = 0; ok && j < run; j++)
                ok = floats_at(tensor, at + j * stride, 1, out + k + j);
    }
    return ok;
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

bool st_check_finite(Diagnostics *diags, const char *path, const StTensor *tensor, StNotFinite bad,
                     int64_t from, bool is_part)
{
    if (bad.n)
        diag_error(diags, (Loc){0},
                   "%s: '%s' is not finite: %" PRId64 " of its %" PRId64
                   " values%s, number %" PRId64 " the first, is %s",
                   path, tensor->name, bad.n, tensor->count, is_part ? " here" : "",
                   from + bad.first + 1, isnan(st_value(tensor, bad.first)) ? "NaN" : "infinite");
    return !bad.n;
}
