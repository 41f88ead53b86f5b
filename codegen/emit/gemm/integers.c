/* Rounding of rows of a to integers of 8 bits (runtime/product/integers.h, groups.h): a run of
 * terms, all of the row or a group, has a scale. The greatest magnitude first, then the terms.
 *
 *   greatest = max |x[l]|, as bits: those of magnitudes are in their order, NaN last
 *   out[l]   = the low bits of x[l] · (127 / greatest) + 1.5 · 2^23, which rounds half to even */
#include "codegen/emit/gemm/gemm.h"

enum { K, X, X_K, OUT, PARAMS }; /* of a TfcRoundRow */
enum { BYTES = 4, VECTORS = 2 };

/* IntegerRun: terms with one scale.
 *   n, end    how many there are; what is written: zeros after them
 *   x, step   the first term; elements from one to the next
 *   out       where integers go
 *   beside    step is 1 */
typedef struct IntegerRun {
    GemmEmit *g;
    LoValue n, end, x, step, out, inverse;
    bool beside;
} IntegerRun;

static LoType integer_type(const GemmEmit *g) { return form_has_bytes(&g->form) ? lo_i8 : lo_i16; }

/* Whether integers have INTEGERS_OFFSET added: where bytes without sign meet b's with one. */
static bool has_offset(const GemmEmit *g)
{
    return g->quads == TARGET_QUADS_DOTS && !form_has_groups(&g->form);
}

/* A loop over terms, in vectors where they lie beside each other. */
static LoLoop open_terms(const IntegerRun *r, const char *name)
{
    LoVector vector = {.lanes = (uint8_t)(r->beside ? r->g->lanes : 1),
                       .jam = r->beside && r->g->lanes > 1 ? VECTORS : 1};
    return lo_vector_open(&r->g->lo, lo_i64_of(&r->g->lo, 0), r->n, vector, name);
}

static LoValue load_term(const IntegerRun *r, LoValue index)
{
    Lo *lo = &r->g->lo;
    if (!r->beside)
        index = gemm_mul(r->g, index, r->step);
    return lo_load(lo, lo_f32, lo_at(lo, lo_f32, r->x, index), BYTES);
}

static LoValue greatest_of(const IntegerRun *r)
{
    Lo *lo = &r->g->lo;
    LoValue greatest = lo_accumulator(lo, LO_JOIN_MAX, lo_int(lo, lo_i32, 0));
    LoLoop loop = open_terms(r, "greatest");
    LoValue bits = lo_bitcast(lo, load_term(r, loop.index), lo_i32);
    lo_accumulate(lo, greatest, lo_and(lo, bits, lo_int(lo, lo_i32, INTEGERS_MAGNITUDE)));
    lo_for_close(lo, &loop);
    return lo_bitcast(lo, lo_total(lo, greatest), lo_f32);
}

static void store_integer(const IntegerRun *r, LoValue integer, LoValue index)
{
    Lo *lo = &r->g->lo;
    LoType type = integer_type(r->g);
    lo_store(lo, lo_trunc(lo, integer, type), lo_at(lo, type, r->out, index),
             type == lo_i8 ? 1 : 2);
}

/* Returns the sum of the bits of what was rounded. */
static LoValue round_terms(const IntegerRun *r)
{
    Lo *lo = &r->g->lo;
    LoValue sum = lo_accumulator(lo, LO_JOIN_ADD, lo_int(lo, lo_i32, 0));
    LoLoop loop = open_terms(r, "round");
    LoValue scaled = lo_mul(lo, load_term(r, loop.index), r->inverse);
    LoValue integer =
        lo_bitcast(lo, lo_add(lo, scaled, lo_real(lo, lo_f32, INTEGERS_ROUND)), lo_i32);
    lo_accumulate(lo, sum, integer);
    if (has_offset(r->g))
        integer = lo_add(lo, integer, lo_int(lo, lo_i32, INTEGERS_OFFSET));
    store_integer(r, integer, loop.index);
    lo_for_close(lo, &loop);
    return lo_total(lo, sum);
}

/* Writes the integers; returns their scale, and their sum times `factor`. */
static LoValue round_run(IntegerRun *r, int factor, LoValue *sum)
{
    enum { ROUND_BITS = 0x4B400000 }; /* of INTEGERS_ROUND */
    Lo *lo = &r->g->lo;
    LoValue greatest = greatest_of(r), zero = lo_real(lo, lo_f32, 0),
            most = lo_real(lo, lo_f32, INTEGERS_MOST);
    LoValue is_zero = lo_le(lo, greatest, lo_real(lo, lo_f32, INTEGERS_LEAST));
    r->inverse = lo_select(lo, is_zero, zero, lo_div(lo, most, greatest));
    LoValue scale = lo_select(lo, is_zero, zero, lo_div(lo, greatest, most));
    LoValue bits = round_terms(r);
    LoLoop rest = lo_for_open(lo, r->n, r->end, 1, "rest");
    store_integer(r, lo_int(lo, lo_i32, 0), rest.index);
    lo_for_close(lo, &rest);
    LoValue offsets = lo_mul(lo, lo_trunc(lo, r->n, lo_i32), lo_int(lo, lo_i32, ROUND_BITS));
    *sum = lo_mul(lo, lo_sub(lo, bits, offsets), lo_int(lo, lo_i32, factor));
    return scale;
}

/* Without groups: the row is a run. Of bytes b's panels have the sums. */
static void round_whole(GemmEmit *g, const LoValue *x, bool beside)
{
    Lo *lo = &g->lo;
    LoValue end =
                lo_and(lo, gemm_plus(g, x[K], INTEGERS_TERMS - 1), lo_i64_of(lo, -INTEGERS_TERMS)),
            sum;
    IntegerRun r = {
        .g = g, .n = x[K], .end = end, .x = x[X], .step = x[X_K], .out = x[OUT], .beside = beside};
    LoValue scale = round_run(&r, INTEGERS_OFFSET, &sum);
    LoValue trailer = lo_at(lo, integer_type(g), x[OUT], end);
    lo_store(lo, scale, trailer, BYTES);
    if (integer_type(g) == lo_i16)
        lo_store(lo, sum, gemm_byte(g, trailer, lo_i64_of(lo, BYTES)), BYTES);
}

/* A group is a run. The last turn may have groups without terms. */
static void round_groups(GemmEmit *g, const LoValue *x, bool beside)
{
    enum { TRAILER = INTEGERS_ROW_TRAILER * BYTES };
    Lo *lo = &g->lo;
    const int64_t offset = form_offset(&g->form);
    const int factor = offset ? -(int)offset : 1;
    const int64_t integer = integer_type(g) == lo_i8 ? 1 : 2, terms = TURN_TERMS * integer;
    LoLoop turns = lo_for_open(lo, lo_i64_of(lo, 0), x[K], TURN_TERMS, "turns");
    LoValue turn = lo_udiv(lo, turns.index, lo_i64_of(lo, TURN_TERMS));
    LoValue out = gemm_byte(g, x[OUT], gemm_times(g, turn, terms + TURN_GROUPS * TRAILER));
    for (int group = 0; group < TURN_GROUPS; group++) {
        LoValue first = gemm_plus(g, turns.index, group * GROUP_TERMS), sum,
                zero = lo_i64_of(lo, 0), whole = lo_i64_of(lo, GROUP_TERMS);
        LoValue left = gemm_sub(g, x[K], first);
        left = lo_select(lo, lo_lt(lo, left, zero), zero, left);
        IntegerRun r = {.g = g,
                        .n = lo_select(lo, lo_lt(lo, left, whole), left, whole),
                        .end = whole,
                        .x = lo_at(lo, lo_f32, x[X], gemm_mul(g, first, x[X_K])),
                        .step = x[X_K],
                        .out = gemm_byte(g, out, lo_i64_of(lo, group * GROUP_TERMS * integer)),
                        .beside = beside};
        LoValue scale = round_run(&r, factor, &sum);
        LoValue trailer = gemm_byte(g, out, lo_i64_of(lo, terms + group * TRAILER));
        lo_store(lo, scale, trailer, BYTES);
        lo_store(lo, sum, gemm_byte(g, trailer, lo_i64_of(lo, BYTES)), BYTES);
    }
    lo_for_close(lo, &turns);
}

LoFunction *gemm_round_row(GemmEmit *g)
{
    Lo *lo = &g->lo;
    LoValue x[PARAMS];
    LoFunction *function = gemm_open(g, "round_row", PARAMS, 1 << X | 1 << OUT, x);
    void (*round)(GemmEmit *, const LoValue *, bool) =
        form_has_groups(&g->form) ? round_groups : round_whole;
    LoIf beside = lo_if_open(lo, lo_eq(lo, x[X_K], lo_i64_of(lo, 1)));
    round(g, x, true);
    lo_else(lo, &beside);
    round(g, x, false);
    lo_if_close(lo, &beside);
    gemm_return(g);
    return function;
}
