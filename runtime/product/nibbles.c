/* Rounding to integers of 4 bits; see nibbles.h. */
#include "runtime/product/nibbles.h"

#include "base/half.h"
#include "runtime/product/rounding.h"

#include <string.h>

enum { NIBBLE_COLUMNS = TFC_PANEL_COLUMNS, NIBBLE_MASK = (1 << NIBBLES_BITS) - 1 };

static int64_t fewer_of(int64_t a, int64_t b) { return a < b ? a : b; }

/* The bits of x, if its magnitude is above that of what is there. */
static inline int32_t extreme_of(int32_t extreme, float x)
{
    const int32_t bits = rounding_bits(x);
    return (bits & INTEGERS_MAGNITUDE) > (extreme & INTEGERS_MAGNITUDE) ? bits : extreme;
}

/* The term with the greatest magnitude becomes -8, but for the rounding of the scale. */
static uint16_t nibble_scale(int32_t extreme, float *inverse)
{
    const uint16_t scale = half_from_float(rounding_float(extreme) / -NIBBLES_OFFSET);
    const float value = half_to_float(scale);
    *inverse = value == 0 ? 0 : 1 / value;
    return scale;
}

/* From 0 to 15. */
static inline int32_t nibble_of(float x, float inverse)
{
    const int32_t offset = rounding_bits(INTEGERS_ROUND) - NIBBLES_OFFSET;
    const int32_t integer = rounding_integer(x, inverse) - offset;
    const int32_t above = integer > NIBBLE_MASK ? NIBBLE_MASK : integer;
    return above < 0 ? 0 : above;
}

uint16_t nibbles_round(int64_t n, const float *x, int64_t step, int8_t *out)
{
    int32_t extreme = 0;
    float inverse;
    for (int64_t i = 0; i < n; i++)
        extreme = extreme_of(extreme, x[i * step]);
    const uint16_t scale = nibble_scale(extreme, &inverse);
    for (int64_t i = 0; i < n; i++)
        out[i * step] = (int8_t)(nibble_of(x[i * step], inverse) - NIBBLES_OFFSET);
    return scale;
}

/* The lowest bit of a term of an element. */
static int nibble_shift(const TfcFormSizes *f, int64_t term)
{
    enum { WORD = 16, BYTE = 8 };
    return (int)(form_has_bytes(f)
                     ? term % INTEGERS_TERMS * BYTE + term / INTEGERS_TERMS * NIBBLES_BITS
                     : term % 2 * WORD + term / 2 * NIBBLES_BITS);
}

/* A group of up to NIBBLE_COLUMNS columns beside each other. */
typedef struct NibbleColumns {
    const float *x;
    int64_t terms, x_k, x_column, n;
    int32_t extreme[NIBBLE_COLUMNS];
    float inverse[NIBBLE_COLUMNS];
    uint32_t scale[NIBBLE_COLUMNS];
} NibbleColumns;

static inline __attribute__((always_inline)) void find_extremes(NibbleColumns *c, int64_t step)
{
    memset(c->extreme, 0, sizeof c->extreme);
    for (int64_t l = 0; l < c->terms; l++)
        for (int64_t j = 0; j < c->n; j++)
            c->extreme[j] = extreme_of(c->extreme[j], c->x[l * c->x_k + j * step]);
}

static inline __attribute__((always_inline)) void
put_nibbles(const NibbleColumns *c, int64_t term, int64_t step, int shift, uint32_t *restrict out)
{
    for (int64_t j = 0; j < c->n; j++)
        out[j] |= (uint32_t)nibble_of(c->x[term * c->x_k + j * step], c->inverse[j]) << shift;
}

/* Element e; terms past the end meet zeros. */
static void round_nibbles(const TfcFormSizes *f, const NibbleColumns *c, int64_t e, uint32_t *out)
{
    memset(out, 0, NIBBLE_COLUMNS * sizeof *out);
    for (int64_t i = 0; i < NIBBLES_TERMS && e * NIBBLES_TERMS + i < c->terms; i++)
        if (c->x_column == 1)
            put_nibbles(c, e * NIBBLES_TERMS + i, 1, nibble_shift(f, i), out);
        else
            put_nibbles(c, e * NIBBLES_TERMS + i, c->x_column, nibble_shift(f, i), out);
}

/* One element of each column, into their panels. */
static void put_elements(const TfcFormSizes *f, const NibbleColumns *c, const uint32_t *elements,
                         char *panels, int64_t pitch)
{
    for (int64_t j = 0; j < c->n; j += f->columns)
        memcpy(panels + j * pitch, elements + j, (size_t)f->columns * sizeof *elements);
}

/* Group g of a turn, at whose place `panels` is. Its scale joins those of the groups before it. */
static void pack_nibbles(const TfcFormSizes *f, NibbleColumns *c, int64_t g, char *panels,
                         int64_t pitch)
{
    enum { ELEMENTS = NIBBLES_GROUP / NIBBLES_TERMS, HALF = 16 };
    const int64_t row = f->columns * INTEGERS_TERMS;
    uint32_t elements[NIBBLE_COLUMNS] = {0};
    if (c->x_column == 1)
        find_extremes(c, 1);
    else
        find_extremes(c, c->x_column);
    for (int64_t j = 0; j < c->n; j++)
        c->scale[j] |= (uint32_t)nibble_scale(c->extreme[j], &c->inverse[j]) << g * HALF;
    for (int64_t e = 0; e < ELEMENTS; e++) {
        round_nibbles(f, c, e, elements);
        put_elements(f, c, elements, panels + (g * ELEMENTS + e) * row, pitch);
    }
}

void nibbles_pack_columns(const TfcFormSizes *f, int64_t k, const float *x, int64_t x_k,
                          int64_t x_column, int64_t columns, void *panels, int64_t pitch)
{
    const int64_t row = f->columns * INTEGERS_TERMS;
    for (int64_t j = 0; j < columns; j += NIBBLE_COLUMNS)
        for (int64_t l = 0; l < k; l += NIBBLES_TURN) {
            char *turn = (char *)panels + j * pitch + l / NIBBLES_TURN * NIBBLES_ROWS * row;
            NibbleColumns c = {
                .x_k = x_k, .x_column = x_column, .n = fewer_of(columns - j, NIBBLE_COLUMNS)};
            for (int64_t g = 0; g < NIBBLES_GROUPS; g++) {
                const int64_t first = l + g * NIBBLES_GROUP;
                c.terms = first < k ? fewer_of(k - first, NIBBLES_GROUP) : 0;
                c.x = x + (c.terms ? first * x_k : 0) + j * x_column;
                pack_nibbles(f, &c, g, turn, pitch);
            }
            put_elements(f, &c, c.scale, turn + (NIBBLES_ROWS - 1) * row, pitch);
        }
}

void nibbles_unpack_columns(const TfcFormSizes *f, int64_t k, const void *panels, int64_t pitch,
                            float *x, int64_t x_k, int64_t x_column, int64_t columns)
{
    const int64_t width = f->columns, row = width * INTEGERS_TERMS;
    for (int64_t j = 0; j < columns; j++)
        for (int64_t l = 0; l < k; l++) {
            const char *turn = (const char *)panels + j / width * width * pitch +
                               j % width * INTEGERS_TERMS + l / NIBBLES_TURN * NIBBLES_ROWS * row;
            const int64_t term = l % NIBBLES_TURN, g = term / NIBBLES_GROUP;
            uint32_t element;
            uint16_t scales[NIBBLES_GROUPS];
            memcpy(&element, turn + term / NIBBLES_TERMS * row, sizeof element);
            memcpy(scales, turn + (NIBBLES_ROWS - 1) * row, sizeof scales);
            element = element >> nibble_shift(f, term % NIBBLES_TERMS) & NIBBLE_MASK;
            x[l * x_k + j * x_column] =
                half_to_float(scales[g]) * (float)((int32_t)element - NIBBLES_OFFSET);
        }
}
