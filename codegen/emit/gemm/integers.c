/* Rounding of rows of a to integers of 8 bits (runtime/product/integers.h): the greatest
 * magnitude first, then the terms.
 *
 *   greatest = max |x[l]|, as bits: those of magnitudes are in their order, NaN last
 *   out[l]   = the low bits of x[l] · (127 / greatest) + 1.5 · 2^23, which rounds half to even */
#include "codegen/emit/gemm/gemm.h"

enum { K, X, X_K, OUT, PARAMS }; /* of a TfcRoundRow */
enum { BYTES = 4, VECTORS = 2 };

typedef struct IntegerRow {
    GemmEmit *g;
    LoValue x[PARAMS], inverse;
    bool beside; /* terms lie beside each other */
} IntegerRow;

static LoType integer_type(const GemmEmit *g)
{
    return g->quads == TARGET_QUADS_DOTS ? lo_i8 : lo_i16;
}

/* A loop over terms, in vectors where they lie beside each other. */
static LoLoop open_terms(const IntegerRow *r, const char *name)
{
    LoVector vector = {.lanes = (uint8_t)(r->beside ? r->g->lanes : 1),
                       .jam = r->beside && r->g->lanes > 1 ? VECTORS : 1};
    return lo_vector_open(&r->g->lo, lo_i64_of(&r->g->lo, 0), r->x[K], vector, name);
}

static LoValue load_term(const IntegerRow *r, LoValue index)
{
    Lo *lo = &r->g->lo;
    if (!r->beside)
        index = gemm_mul(r->g, index, r->x[X_K]);
    return lo_load(lo, lo_f32, lo_at(lo, lo_f32, r->x[X], index), BYTES);
}

static LoValue greatest_of(const IntegerRow *r)
{
    Lo *lo = &r->g->lo;
    LoValue greatest = lo_accumulator(lo, LO_JOIN_MAX, lo_int(lo, lo_i32, 0));
    LoLoop loop = open_terms(r, "greatest");
    LoValue bits = lo_bitcast(lo, load_term(r, loop.index), lo_i32);
    lo_accumulate(lo, greatest, lo_and(lo, bits, lo_int(lo, lo_i32, INTEGERS_MAGNITUDE)));
    lo_for_close(lo, &loop);
    return lo_bitcast(lo, lo_total(lo, greatest), lo_f32);
}

static void store_integer(const IntegerRow *r, LoValue integer, LoValue index)
{
    Lo *lo = &r->g->lo;
    LoType type = integer_type(r->g);
    lo_store(lo, lo_trunc(lo, integer, type), lo_at(lo, type, r->x[OUT], index),
             type == lo_i8 ? 1 : 2);
}

/* Returns the sum of the bits of what was rounded. */
static LoValue round_terms(const IntegerRow *r)
{
    Lo *lo = &r->g->lo;
    LoValue sum = lo_accumulator(lo, LO_JOIN_ADD, lo_int(lo, lo_i32, 0));
    LoLoop loop = open_terms(r, "round");
    LoValue scaled = lo_mul(lo, load_term(r, loop.index), r->inverse);
    LoValue integer =
        lo_bitcast(lo, lo_add(lo, scaled, lo_real(lo, lo_f32, INTEGERS_ROUND)), lo_i32);
    lo_accumulate(lo, sum, integer);
    if (integer_type(r->g) == lo_i8)
        integer = lo_add(lo, integer, lo_int(lo, lo_i32, INTEGERS_OFFSET));
    store_integer(r, integer, loop.index);
    lo_for_close(lo, &loop);
    return lo_total(lo, sum);
}

static void store_trailer(const IntegerRow *r, LoValue scale, LoValue bits)
{
    enum { ROUND_BITS = 0x4B400000 }; /* of INTEGERS_ROUND */
    GemmEmit *g = r->g;
    Lo *lo = &g->lo;
    LoValue four = lo_i64_of(lo, -INTEGERS_TERMS), zero = lo_int(lo, lo_i32, 0);
    LoValue end = lo_and(lo, gemm_plus(g, r->x[K], INTEGERS_TERMS - 1), four);
    LoLoop rest = lo_for_open(lo, r->x[K], end, 1, "rest");
    store_integer(r, zero, rest.index);
    lo_for_close(lo, &rest);
    LoValue trailer = lo_at(lo, integer_type(g), r->x[OUT], end);
    lo_store(lo, scale, trailer, BYTES);
    if (integer_type(g) == lo_i8)
        return;
    LoValue offsets = lo_mul(lo, lo_trunc(lo, r->x[K], lo_i32), lo_int(lo, lo_i32, ROUND_BITS));
    LoValue sum = lo_mul(lo, lo_sub(lo, bits, offsets), lo_int(lo, lo_i32, INTEGERS_OFFSET));
    lo_store(lo, sum, gemm_byte(g, trailer, lo_i64_of(lo, BYTES)), BYTES);
}

static void round_row(IntegerRow *r)
{
    Lo *lo = &r->g->lo;
    LoValue greatest = greatest_of(r), zero = lo_real(lo, lo_f32, 0),
            most = lo_real(lo, lo_f32, INTEGERS_MOST);
    LoValue is_zero = lo_le(lo, greatest, lo_real(lo, lo_f32, INTEGERS_LEAST));
    r->inverse = lo_select(lo, is_zero, zero, lo_div(lo, most, greatest));
    LoValue scale = lo_select(lo, is_zero, zero, lo_div(lo, greatest, most));
    store_trailer(r, scale, round_terms(r));
}

LoFunction *gemm_round_row(GemmEmit *g)
{
    Lo *lo = &g->lo;
    IntegerRow r = {.g = g};
    LoFunction *function = gemm_open(g, "round_row", PARAMS, 1 << X | 1 << OUT, r.x);
    LoIf beside = lo_if_open(lo, lo_eq(lo, r.x[X_K], lo_i64_of(lo, 1)));
    r.beside = true;
    round_row(&r);
    lo_else(lo, &beside);
    r.beside = false;
    round_row(&r);
    lo_if_close(lo, &beside);
    gemm_return(g);
    return function;
}
