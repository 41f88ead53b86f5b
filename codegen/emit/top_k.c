/* top_k: where the greatest elements of a row stand. A unit is a row, which is swept twice for each
 * index: for the greatest element x[i] of those behind what was chosen last, x[c] at c,
 *
 *   x[i] < x[c], or x[i] = x[c] and i > c
 *
 * and for the first place that has it. NaN is compared as inf. */
#include "codegen/emit/emit.h"

#include <math.h>

typedef struct TopK {
    Emit *e;
    const Type *of;
    LoType type;
    LoValue columns;         /* of the row, i64 */
    LoValue value, index;    /* slots: what was chosen last */
    LoValue least, greatest; /* of all numbers of the type */
} TopK;

/* Column: an element of the row, and whether it is behind what was chosen last. */
typedef struct Column {
    LoValue x, index, behind;
} Column;

static Column column_of(TopK *t, LoValue at, LoValue last, LoValue last_index)
{
    Emit *e = t->e;
    Lo *lo = &e->lo;
    Place place = place_aligned(t->of, &e->space);
    Coord own = {.base = at, .varies = true};
    if (!dim_is_one(t->of->dims[t->of->rank - 1]))
        place.at[t->of->rank - 1] = own;
    Column c = {.x = emit_load_at(e, 0, &place), .index = coord_value(e, &own, lo_i32)};
    if (dtype_is_float(t->of->dtype))
        c.x = lo_select(lo, lo_unordered(lo, c.x, c.x), t->greatest, c.x);
    LoValue equal = lo_eq(lo, c.x, last), later = lo_gt(lo, c.index, last_index);
    c.behind = lo_or(lo, lo_lt(lo, c.x, last), lo_and(lo, equal, later));
    return c;
}

static LoLoop columns_open(TopK *t)
{
    Lo *lo = &t->e->lo;
    LoVector vector = {.lanes = (uint8_t)t->e->vector};
    return lo_vector_open(lo, lo_i64_of(lo, 0), t->columns, vector, "columns");
}

static unsigned value_align(const TopK *t) { return t->type == lo_f64 ? 8 : 4; }

/* The greatest element behind what was chosen last. */
static LoValue next_value(TopK *t, LoValue last, LoValue last_index)
{
    Lo *lo = &t->e->lo;
    LoValue greatest = lo_accumulator(lo, LO_JOIN_MAX, t->least);
    LoLoop loop = columns_open(t);
    Column c = column_of(t, loop.index, last, last_index);
    lo_accumulate(lo, greatest, lo_select(lo, c.behind, c.x, t->least));
    lo_for_close(lo, &loop);
    return lo_total(lo, greatest);
}

/* -1 - the first place behind that has it: the greatest such number; INT32_MIN if there is none. */
static LoValue next_place(TopK *t, LoValue value, LoValue last, LoValue last_index)
{
    Lo *lo = &t->e->lo;
    LoValue none = lo_int(lo, lo_i32, INT32_MIN);
    LoValue first = lo_accumulator(lo, LO_JOIN_MAX, none);
    LoLoop loop = columns_open(t);
    Column c = column_of(t, loop.index, last, last_index);
    LoValue has = lo_and(lo, c.behind, lo_eq(lo, c.x, value));
    LoValue key = lo_sub(lo, lo_int(lo, lo_i32, -1), c.index);
    lo_accumulate(lo, first, lo_select(lo, has, key, none));
    lo_for_close(lo, &loop);
    return lo_total(lo, first);
}

/* Where no element is left, the place is INT32_MAX, behind which there is none either. */
static void choose_top_k(TopK *t, LoValue at)
{
    Emit *e = t->e;
    Lo *lo = &e->lo;
    LoValue last = lo_load(lo, t->type, t->value, value_align(t));
    LoValue last_index = lo_load(lo, lo_i32, t->index, 4);
    LoValue value = next_value(t, last, last_index);
    LoValue key = next_place(t, value, last, last_index);
    LoValue index = lo_sub(lo, lo_int(lo, lo_i32, -1), key);
    lo_store(lo, value, t->value, value_align(t));
    lo_store(lo, index, t->index, 4);
    LoValue none = lo_eq(lo, key, lo_int(lo, lo_i32, INT32_MIN));
    const Type *result = &e->op->results[0].type;
    Place to = place_aligned(result, &e->space);
    if (!dim_is_one(result->dims[result->rank - 1]))
        to.at[result->rank - 1] = coord_of(at);
    emit_store_at(e, 1, &to, lo_select(lo, none, lo_int(lo, lo_i32, -1), index));
}

void kernel_top_k(Emit *e)
{
    Lo *lo = &e->lo;
    const Type *of = &e->op->args[0]->type, *result = &e->op->results[0].type;
    TopK t = {.e = e, .of = of, .type = emit_type(e, of->dtype)};
    bool real = dtype_is_float(of->dtype);
    t.least = lo_identity(lo, LO_JOIN_MAX, t.type);
    t.greatest = real ? lo_real(lo, t.type, INFINITY) : lo_int(lo, t.type, INT32_MAX);
    t.value = lo_scratch(lo, t.type, 1, 0, "value");
    t.index = lo_scratch(lo, lo_i32, 1, 0, "index");
    RowLoop rows = rows_open(e);
    Coord n = length_along(e, of, of->rank - 1, &e->space),
          k = length_along(e, result, result->rank - 1, &e->space);
    t.columns = coord_value(e, &n, lo_i64);
    lo_store(lo, t.greatest, t.value, value_align(&t));
    lo_store(lo, lo_int(lo, lo_i32, -1), t.index, 4);
    LoLoop loop = lo_for_open(lo, lo_i64_of(lo, 0), coord_value(e, &k, lo_i64), 1, "chosen");
    choose_top_k(&t, loop.index);
    lo_for_close(lo, &loop);
    rows_close(e, &rows);
}
