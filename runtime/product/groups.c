/* Rounding to integers in groups; see groups.h. */
#include "runtime/product/groups.h"

#include "base/half.h"
#include "runtime/product/rounding.h"

#include <string.h>

enum { GROUP_COLUMNS = TFC_PANEL_COLUMNS };

static int64_t fewer_of(int64_t a, int64_t b) { return a < b ? a : b; }

/* ---- one group ---- */

float groups_limit(Quant quant)
{
    const QuantInfo *q = quant_info(quant);
    return q->has_minimum ? HALF_LIMIT : HALF_LIMIT * (q->bits == 8 ? INTEGERS_MOST : 8);
}

/* With the bounds' offset. */
static inline int32_t group_integer(float x, float minimum, float inverse, GroupBounds bounds)
{
    const float above = x - minimum;
    const int32_t integer =
        rounding_integer(above, inverse) - (rounding_bits(INTEGERS_ROUND) - bounds.offset);
    const int32_t within = integer > bounds.most ? bounds.most : integer;
    return within < bounds.least ? bounds.least : within;
}

GroupScale groups_round(Quant quant, int64_t n, const float *x, int64_t step, int8_t *out)
{
    const GroupBounds bounds = group_bounds(quant);
    const GroupRule rule = group_rule(quant, n, x, step);
    for (int64_t i = 0; i < n; i++)
        out[i * step] = (int8_t)(group_integer(x[i * step], rule.minimum, rule.inverse, bounds) -
                                 bounds.offset);
    return rule.of;
}

/* ---- columns ---- */

/* A group of up to GROUP_COLUMNS columns beside each other. */
typedef struct GroupColumns {
    const float *x;
    int64_t terms, x_k, x_column, n;
    GroupBounds bounds;
    int32_t flip; /* of a term of 8 bits with a sign */
    float inverse[GROUP_COLUMNS], minimum[GROUP_COLUMNS];
    uint32_t scales[GROUP_COLUMNS], minima[GROUP_COLUMNS]; /* of a turn */
} GroupColumns;

/* Group g of a turn. Its scale and minimum join those of the group before it. */
static void find_rules(Quant quant, GroupColumns *c, int64_t g)
{
    enum { HALF = 16 };
    for (int64_t j = 0; j < c->n; j++) {
        const GroupRule rule = group_rule(quant, c->terms, c->x + j * c->x_column, c->x_k);
        c->inverse[j] = rule.inverse;
        c->minimum[j] = rule.minimum;
        c->scales[j] |= (uint32_t)rule.of.scale << g * HALF;
        c->minima[j] |= (uint32_t)rule.of.minimum << g * HALF;
    }
}

static inline __attribute__((always_inline)) void
put_terms(const GroupColumns *c, int64_t term, int64_t step, int shift, uint32_t *restrict out)
{
    for (int64_t j = 0; j < c->n; j++) {
        const float x = c->x[term * c->x_k + j * step];
        const int32_t integer = group_integer(x, c->minimum[j], c->inverse[j], c->bounds);
        out[j] |= (uint32_t)(integer ^ c->flip) << shift;
    }
}

/* Element e; terms past the end meet zeros. */
static void round_element_terms(const TfcFormSizes *f, const GroupColumns *c, int64_t e,
                                uint32_t *out)
{
    const int64_t terms = group_element_terms(f->integers), first = e * terms;
    memset(out, 0, GROUP_COLUMNS * sizeof *out);
    for (int64_t i = 0; i < terms && first + i < c->terms; i++)
        if (c->x_column == 1)
            put_terms(c, first + i, 1, (int)group_shift(f, i), out);
        else
            put_terms(c, first + i, c->x_column, (int)group_shift(f, i), out);
}

/* One element of each column, into their panels. */
static void put_elements(const TfcFormSizes *f, const GroupColumns *c, const uint32_t *elements,
                         char *panels, int64_t pitch)
{
    for (int64_t j = 0; j < c->n; j += f->columns)
        memcpy(panels + j * pitch, elements + j, (size_t)f->columns * sizeof *elements);
}

/* Bytes of a row of elements, and of a turn, of a panel. */
static int64_t row_bytes(const TfcFormSizes *f) { return f->columns * INTEGERS_TERMS; }

static int64_t turn_bytes(const TfcFormSizes *f)
{
    const bool has_minimum = quant_info((Quant)f->quant)->has_minimum;
    return row_bytes(f) * group_turn_rows(f->integers, has_minimum);
}

/* Terms from the l-th on of columns whose terms lie from x on. */
static void pack_turn(const TfcFormSizes *f, GroupColumns *c, const float *x, int64_t l, int64_t k,
                      char *turn, int64_t pitch)
{
    const Quant quant = (Quant)f->quant;
    const int64_t elements = GROUP_TERMS / group_element_terms(f->integers);
    uint32_t element[GROUP_COLUMNS] = {0};
    memset(c->scales, 0, sizeof c->scales);
    memset(c->minima, 0, sizeof c->minima);
    for (int64_t g = 0; g < TURN_GROUPS; g++) {
        const int64_t first = l + g * GROUP_TERMS;
        c->terms = first < k ? fewer_of(k - first, GROUP_TERMS) : 0;
        c->x = x + (c->terms ? first * c->x_k : 0);
        find_rules(quant, c, g);
        for (int64_t e = 0; e < elements; e++) {
            round_element_terms(f, c, e, element);
            put_elements(f, c, element, turn + (g * elements + e) * row_bytes(f), pitch);
        }
    }
    turn += TURN_GROUPS * elements * row_bytes(f);
    put_elements(f, c, c->scales, turn, pitch);
    if (quant_info(quant)->has_minimum)
        put_elements(f, c, c->minima, turn + row_bytes(f), pitch);
}

/* What a term of 8 bits differs by that has its sign. */
static int32_t flip_of(const TfcFormSizes *f)
{
    return f->integers == 8 && form_has_bytes(f) ? INTEGERS_OFFSET : 0;
}

void groups_pack_columns(const TfcFormSizes *f, int64_t k, const float *x, int64_t x_k,
                         int64_t x_column, int64_t columns, void *panels, int64_t pitch)
{
    GroupColumns c = {.x_k = x_k,
                      .x_column = x_column,
                      .bounds = group_bounds((Quant)f->quant),
                      .flip = flip_of(f)};
    for (int64_t j = 0; j < columns; j += GROUP_COLUMNS) {
        c.n = fewer_of(columns - j, GROUP_COLUMNS);
        for (int64_t l = 0; l < k; l += TURN_TERMS)
            pack_turn(f, &c, x + j * x_column, l, k,
                      (char *)panels + j * pitch + l / TURN_TERMS * turn_bytes(f), pitch);
    }
}

static float value_of(const TfcFormSizes *f, const char *turn, int64_t term)
{
    const int64_t terms = group_element_terms(f->integers), g = term / GROUP_TERMS;
    const char *trailer = turn + TURN_TERMS / terms * row_bytes(f);
    uint32_t element;
    uint16_t scales[TURN_GROUPS], minima[TURN_GROUPS] = {0};
    memcpy(&element, turn + term / terms * row_bytes(f), sizeof element);
    memcpy(scales, trailer, sizeof scales);
    if (quant_info((Quant)f->quant)->has_minimum)
        memcpy(minima, trailer + row_bytes(f), sizeof minima);
    element = element >> group_shift(f, term % terms) & ((1u << f->integers) - 1);
    const int32_t integer = (int32_t)element ^ flip_of(f);
    const float value = half_to_float(scales[g]) * (float)(integer - (int32_t)form_offset(f));
    return value + half_to_float(minima[g]);
}

void groups_unpack_columns(const TfcFormSizes *f, int64_t k, const void *panels, int64_t pitch,
                           float *x, int64_t x_k, int64_t x_column, int64_t columns)
{
    const int64_t width = f->columns;
    for (int64_t j = 0; j < columns; j++)
        for (int64_t l = 0; l < k; l++) {
            const char *turn = (const char *)panels + j / width * width * pitch +
                               j % width * INTEGERS_TERMS + l / TURN_TERMS * turn_bytes(f);
            x[l * x_k + j * x_column] = value_of(f, turn, l % TURN_TERMS);
        }
}
