/* Rounding to integers; see integers.h. The loops are written so that compilers make vectors of
 * them; no multiplication and addition may be fused. */
#include "runtime/product/integers.h"

#include <string.h>

/* Numbers from -2^22 to 2^22 plus ROUND are rounded to whole ones, half to even; the low bits are
 * the integer. */
#define ROUND 0x1.8p23f
#define LEAST 0x1p-100f /* rows whose greatest magnitude is not above this are zero */
enum { MAGNITUDE = 0x7FFFFFFF, GROUP = 64 /* the most columns of a panel */ };

static int64_t lesser(int64_t a, int64_t b) { return a < b ? a : b; }

static int32_t bits_of(float x)
{
    int32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

static float float_of(int32_t bits)
{
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

/* In its low bytes. */
static inline int32_t integer_of(float x, float inverse)
{
    float scaled = x * inverse;
    scaled += ROUND;
    return bits_of(scaled);
}

/* Of the bits of a magnitude, which are in the order of magnitudes, NaN last. */
static float scale_of(int32_t greatest, float *inverse)
{
    const float g = float_of(greatest);
    const bool is_zero = g <= LEAST;
    *inverse = is_zero ? 0 : INTEGERS_MOST / g;
    return is_zero ? 0 : g / INTEGERS_MOST;
}

static int32_t greater_magnitude(int32_t greatest, float x)
{
    const int32_t bits = bits_of(x) & MAGNITUDE;
    return bits > greatest ? bits : greatest;
}

static int64_t quads_of(int64_t k) { return (k + INTEGERS_TERMS - 1) / INTEGERS_TERMS; }

static bool multiplies_bytes(const TfcFormSizes *f) { return f->joined == INTEGERS_TERMS; }

/* The byte of term i of an element. */
static int64_t byte_of_term(const TfcFormSizes *f, int64_t i)
{
    return multiplies_bytes(f) ? i : (i & 1) * 2 + (i >> 1);
}

static void find_greatest(int64_t k, const float *restrict x, int64_t x_k, int64_t x_column,
                          int64_t columns, int32_t *restrict greatest)
{
    memset(greatest, 0, GROUP * sizeof *greatest);
    for (int64_t l = 0; l < k; l++)
        for (int64_t j = 0; j < columns; j++)
            greatest[j] = greater_magnitude(greatest[j], x[l * x_k + j * x_column]);
}

static void round_columns(const TfcFormSizes *f, int64_t k, const float *x, int64_t x_k,
                       int64_t x_column, int64_t columns, int8_t *out)
{
    const int64_t width = f->columns, quads = quads_of(k);
    int32_t greatest[GROUP], sums[GROUP] = {0};
    float inverse[GROUP], scale[GROUP] = {0};
    const int32_t offset = multiplies_bytes(f) ? 0 : INTEGERS_OFFSET;
    memset(out, offset, (size_t)(quads * width * INTEGERS_TERMS));
    if (x_column == 1)
        find_greatest(k, x, x_k, 1, columns, greatest);
    else
        find_greatest(k, x, x_k, x_column, columns, greatest);
    for (int64_t j = 0; j < columns; j++)
        scale[j] = scale_of(greatest[j], &inverse[j]);
    for (int64_t l = 0; l < k; l++) {
        int8_t *row = out + l / INTEGERS_TERMS * width * INTEGERS_TERMS +
                      byte_of_term(f, l % INTEGERS_TERMS);
        for (int64_t j = 0; j < columns; j++) {
            const int8_t q = (int8_t)integer_of(x[l * x_k + j * x_column], inverse[j]);
            row[j * INTEGERS_TERMS] = (int8_t)(q + offset);
            sums[j] += q * INTEGERS_OFFSET;
        }
    }
    int8_t *trailer = out + quads * width * INTEGERS_TERMS;
    memcpy(trailer, scale, (size_t)width * sizeof *scale);
    if (multiplies_bytes(f))
        memcpy(trailer + (size_t)width * sizeof *scale, sums, (size_t)width * sizeof *sums);
}

void integers_pack_columns(const TfcFormSizes *f, int64_t k, const float *x, int64_t x_k,
                           int64_t x_column, int64_t columns, void *panels, int64_t pitch)
{
    for (int64_t j = 0; j < columns; j += f->columns)
        round_columns(f, k, x + j * x_column, x_k, x_column, lesser(columns - j, f->columns),
                   (int8_t *)panels + j * pitch);
}

void integers_unpack_columns(const TfcFormSizes *f, int64_t k, const void *panels, int64_t pitch,
                             float *x, int64_t x_k, int64_t x_column, int64_t columns)
{
    const int64_t width = f->columns, row = width * INTEGERS_TERMS;
    const uint8_t turn = multiplies_bytes(f) ? 0 : INTEGERS_OFFSET;
    for (int64_t j = 0; j < columns; j++) {
        const uint8_t *panel = (const uint8_t *)panels + j / width * width * pitch;
        const uint8_t *terms = panel + j % width * INTEGERS_TERMS;
        float scale;
        memcpy(&scale, terms + quads_of(k) * row, sizeof scale);
        for (int64_t l = 0; l < k; l++) {
            const uint8_t byte = terms[l / INTEGERS_TERMS * row + byte_of_term(f, l % INTEGERS_TERMS)];
            x[l * x_k + j * x_column] = scale * (int8_t)(byte - turn);
        }
    }
}
