/* Rounding to integers of 8 bits; see integers.h. */
#include "runtime/product/integers.h"

#include "runtime/product/groups.h"
#include "runtime/product/rounding.h"

#include <string.h>

enum { GROUP = TFC_PANEL_COLUMNS };

static int64_t lesser(int64_t a, int64_t b) { return a < b ? a : b; }

/* Of the bits of the greatest magnitude. */
static float scale_of(int32_t greatest, float *inverse)
{
    const float g = rounding_float(greatest);
    const bool is_zero = g <= INTEGERS_LEAST;
    *inverse = is_zero ? 0 : INTEGERS_MOST / g;
    return is_zero ? 0 : g / INTEGERS_MOST;
}

float integers_round(int64_t n, const float *x, int64_t step, int8_t *out)
{
    int32_t greatest = 0;
    float inverse;
    for (int64_t i = 0; i < n; i++)
        greatest = rounding_greater(greatest, x[i * step]);
    const float scale = scale_of(greatest, &inverse);
    for (int64_t i = 0; i < n; i++)
        out[i * step] = (int8_t)rounding_integer(x[i * step], inverse);
    return scale;
}

static int64_t turns_of(int64_t k, int64_t terms) { return (k + terms - 1) / terms; }
static int64_t quads_of(int64_t k) { return turns_of(k, INTEGERS_TERMS); }

int64_t integers_turns(const TfcFormSizes *f, int64_t k)
{
    return form_has_groups(f) ? turns_of(k, TURN_TERMS) : quads_of(k) * INTEGERS_TERMS / f->joined;
}

int64_t integers_row_bytes(const TfcFormSizes *f, int64_t k)
{
    const int64_t term = INTEGERS_TERMS / f->joined; /* bytes */
    const int64_t trailer = INTEGERS_ROW_TRAILER * INTEGERS_TERMS;
    return form_has_groups(f)
               ? turns_of(k, TURN_TERMS) * (TURN_TERMS * term + TURN_GROUPS * trailer)
               : quads_of(k) * INTEGERS_TERMS * term + trailer;
}

int64_t integers_column_bytes(const TfcFormSizes *f, int64_t k)
{
    return INTEGERS_TERMS * form_column_elements(f, k);
}

/* The term of an element that its byte i has, and the other way round. */
static int64_t term_of_byte(const TfcFormSizes *f, int64_t i)
{
    return form_has_bytes(f) ? i : (i & 1) * 2 + (i >> 1);
}

/* Up to GROUP columns beside each other, of panels that may be narrower: so the page that a row of
 * b lies in is found once. */
typedef struct RoundedColumns {
    const float *x;
    int64_t k, x_k, x_column, n;
    int32_t greatest[GROUP], sums[GROUP];
    float inverse[GROUP], scale[GROUP];
} RoundedColumns;

static inline __attribute__((always_inline)) void find_greatest(RoundedColumns *c, int64_t step)
{
    for (int64_t l = 0; l < c->k; l++)
        for (int64_t j = 0; j < c->n; j++)
            c->greatest[j] = rounding_greater(c->greatest[j], c->x[l * c->x_k + j * step]);
}

/* Elements of four terms in the order of their bytes. Adds the bits of the integers to sums. */
static inline __attribute__((always_inline)) void
round_quad(RoundedColumns *c, const float *const terms[INTEGERS_TERMS], const int64_t step,
           const uint32_t offset, uint32_t *restrict out)
{
    for (int64_t j = 0; j < c->n; j++) {
        uint32_t element = 0;
        for (int i = 0; i < INTEGERS_TERMS; i++) {
            const int32_t bits = rounding_integer(terms[i][j * step], c->inverse[j]);
            c->sums[j] = (int32_t)((uint32_t)c->sums[j] + (uint32_t)bits);
            element |= (((uint32_t)bits + offset) & 0xFF) << 8 * i;
        }
        out[j] = element;
    }
}

/* Element p of the columns; terms past the end are zero. */
static void round_element(const TfcFormSizes *f, RoundedColumns *c, int64_t p, uint32_t *out)
{
    static const float zeros[GROUP];
    const float *terms[INTEGERS_TERMS];
    const uint32_t offset = form_has_bytes(f) ? 0 : INTEGERS_OFFSET;
    bool is_whole = true;
    for (int64_t i = 0; i < INTEGERS_TERMS; i++) {
        const int64_t l = p * INTEGERS_TERMS + term_of_byte(f, i);
        is_whole &= l < c->k;
        terms[i] = l < c->k ? c->x + l * c->x_k : zeros;
    }
    if (c->x_column == 1) {
        round_quad(c, terms, 1, offset, out);
        return;
    }
    float apart[INTEGERS_TERMS][GROUP] = {{0}};
    for (int64_t i = 0; !is_whole && i < INTEGERS_TERMS; i++) {
        for (int64_t j = 0; terms[i] != zeros && j < c->n; j++)
            apart[i][j] = terms[i][j * c->x_column];
        terms[i] = apart[i];
    }
    round_quad(c, terms, is_whole ? c->x_column : 1, offset, out);
}

/* RoundedColumns [first, first + width) of the group as a panel's. */
static void put_trailer(const TfcFormSizes *f, const RoundedColumns *c, int64_t first, char *out)
{
    const size_t bytes = (size_t)f->columns * sizeof(float);
    memcpy(out, c->scale + first, bytes);
    if (form_has_bytes(f))
        memcpy(out + bytes, c->sums + first, bytes);
}

static void round_columns(const TfcFormSizes *f, RoundedColumns *c, char *panels, int64_t pitch)
{
    const int64_t quads = quads_of(c->k), row = f->columns * INTEGERS_TERMS;
    const uint32_t rounds =
        (uint32_t)rounding_bits(INTEGERS_ROUND) * (uint32_t)(quads * INTEGERS_TERMS);
    uint32_t element[GROUP] = {0};
    if (c->x_column == 1)
        find_greatest(c, 1);
    else
        find_greatest(c, c->x_column);
    for (int64_t j = 0; j < c->n; j++)
        c->scale[j] = scale_of(c->greatest[j], &c->inverse[j]);
    for (int64_t p = 0; p < quads; p++) {
        round_element(f, c, p, element);
        for (int64_t j = 0; j < c->n; j += f->columns)
            memcpy(panels + j * pitch + p * row, element + j, (size_t)row);
    }
    for (int64_t j = 0; j < c->n; j++)
        c->sums[j] = (int32_t)(((uint32_t)c->sums[j] - rounds) * INTEGERS_OFFSET);
    for (int64_t j = 0; j < c->n; j += f->columns)
        put_trailer(f, c, j, panels + j * pitch + quads * row);
}

void integers_pack_columns(const TfcFormSizes *f, int64_t k, const float *x, int64_t x_k,
                           int64_t x_column, int64_t columns, void *panels, int64_t pitch)
{
    if (form_has_groups(f)) {
        groups_pack_columns(f, k, x, x_k, x_column, columns, panels, pitch);
        return;
    }
    for (int64_t j = 0; j < columns; j += GROUP) {
        RoundedColumns c = {.x = x + j * x_column,
                            .k = k,
                            .x_k = x_k,
                            .x_column = x_column,
                            .n = lesser(columns - j, GROUP)};
        round_columns(f, &c, (char *)panels + j * pitch, pitch);
    }
}

void integers_unpack_columns(const TfcFormSizes *f, int64_t k, const void *panels, int64_t pitch,
                             float *x, int64_t x_k, int64_t x_column, int64_t columns)
{
    if (form_has_groups(f)) {
        groups_unpack_columns(f, k, panels, pitch, x, x_k, x_column, columns);
        return;
    }
    const int64_t width = f->columns, row = width * INTEGERS_TERMS;
    const uint8_t turn = form_has_bytes(f) ? 0 : INTEGERS_OFFSET;
    for (int64_t j = 0; j < columns; j++) {
        const uint8_t *panel = (const uint8_t *)panels + j / width * width * pitch;
        const uint8_t *terms = panel + j % width * INTEGERS_TERMS;
        float scale;
        memcpy(&scale, terms + quads_of(k) * row, sizeof scale);
        for (int64_t l = 0; l < k; l++) {
            const uint8_t byte =
                terms[l / INTEGERS_TERMS * row + term_of_byte(f, l % INTEGERS_TERMS)];
            x[l * x_k + j * x_column] = scale * (int8_t)(byte - turn);
        }
    }
}
