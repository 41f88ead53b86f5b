/* Connectionist temporal classification (Graves et al. 2006), in log space, a
 * sentence a unit.
 *
 * The labels l of length L become states 0 … 2L: blanks (class 0) at even ones,
 * l[(s-1)/2] at odd ones. From a state one may stay, go one on, or go two on into
 * a label that differs from the one two before.
 *
 *   a(s) ← log p[t, class(s)] + log(e^a(s) + e^a(s-1) [+ e^a(s-2)])    before t = 0: a(0) = 0
 *   log p(l) = log(e^a(2L) + e^a(2L-1))                                eq. 8
 *
 * ctc gives -log p(l): infinite if the labels do not fit into the frames. The
 * gradient goes back with g, where g(s) holds what follows from s at t + 1,
 *
 *   b(s) = log(e^g(s) + e^g(s+1) [+ e^g(s+2)]),  g(s) ← b(s) + log p[t, class(s)]
 *   d/d log p[t, k] = -Σ_{class(s) = k} e^(a_t(s) + b(s) - log p(l))   eq. 16
 *
 * and is zero where log p(l) is infinite. Rows of a have two elements of -inf
 * before them and rows of g two behind, so no state is at an edge. They live on
 * the stack: T × (2L + 3) elements for the longest sentence. */
#include "codegen/emit/emit.h"

#include <math.h>

typedef struct Ctc {
    Emit *e;
    LoType type;
    RowLoop rows;
    Coord sentence;
    LoValue frames, labels, states; /* T, L, 2L + 1 */
    LoValue width;                  /* elements of a row of a */
} Ctc;

static unsigned element_align(const Ctc *c) { return c->type == lo_f64 ? 8 : 4; }

static LoValue add_ctc_offset(Ctc *c, LoValue a, int64_t b)
{
    return lo_iadd(&c->e->lo, a, lo_i64_of(&c->e->lo, b));
}

static LoValue element_load(Ctc *c, LoValue row, LoValue i)
{
    return lo_load(&c->e->lo, c->type, lo_at(&c->e->lo, c->type, row, i), element_align(c));
}

static void element_store(Ctc *c, LoValue x, LoValue row, LoValue i)
{
    lo_store(&c->e->lo, x, lo_at(&c->e->lo, c->type, row, i), element_align(c));
}

/* ---- operands ---- */

/* How many positions the second dimension of an operand has in this sentence. */
static LoValue count_of(Ctc *c, int operand)
{
    Emit *e = c->e;
    Dim dim = e->op->args[operand]->type.dims[1];
    if (!symbol_is_ragged(e->module, dim.symbol))
        return extent_of(e, &(Axis){1, -1, dim});
    Coord length = table_lookup(e, dim.symbol, DIM_LENGTH, c->sentence);
    return coord_value(e, &length, lo_i64);
}

static LoValue longest(Emit *e, int operand)
{
    return extent_of(e, &(Axis){1, -1, e->op->args[operand]->type.dims[1]});
}

/* The class of a state; one outside the classes counts as blank. */
static LoValue class_of(Ctc *c, LoValue state)
{
    Emit *e = c->e;
    Lo *lo = &e->lo;
    Dim classes = e->op->args[0]->type.dims[2];
    LoValue n = extent_of(e, &(Axis){2, -1, classes});
    LoValue odd = lo_trunc(lo, state, lo_i1);
    LoValue at = lo_ashr(lo, state, lo_i64_of(lo, 1));
    Place place = {.rank = 2, .at = {c->sentence, coord_of(at)}, .valid = odd};
    LoValue label = emit_load_at(e, 1, &place);
    LoValue wide = lo_sext(lo, label, lo_i64);
    LoValue fits = lo_ult(lo, wide, n);
    fits = lo_and(lo, fits, odd);
    return lo_select(lo, fits, wide, lo_i64_of(lo, 0));
}

/* Whether one may come to the state from two before: a label unlike the last. */
static LoValue may_skip(Ctc *c, LoValue state)
{
    Lo *lo = &c->e->lo;
    LoValue before = add_ctc_offset(c, state, -2);
    LoValue inside = lo_ge(lo, before, lo_i64_of(lo, 0));
    LoValue safe = lo_select(lo, inside, before, lo_i64_of(lo, 0));
    LoValue differs = lo_ne(lo, class_of(c, state), class_of(c, safe));
    LoValue odd = lo_trunc(lo, state, lo_i1);
    return lo_and(lo, lo_and(lo, odd, inside), differs);
}

static Place frame_place(Ctc *c, LoValue t, LoValue k)
{
    return (Place){.rank = 3, .at = {c->sentence, coord_of(t), coord_of(k)}};
}

static LoValue log_prob(Ctc *c, LoValue t, LoValue state)
{
    Place place = frame_place(c, t, class_of(c, state));
    return emit_load_at(c->e, 0, &place);
}

static LoValue exp_of(Ctc *c, LoValue x) { return lo_math(&c->e->lo, "exp", 1, &x); }

/* log(e^x + e^y + e^z), which is -inf if all are. */
static LoValue log_sum(Ctc *c, LoValue x, LoValue y, LoValue z)
{
    Lo *lo = &c->e->lo;
    LoValue terms[3] = {x, y, z}, greatest = x, sum = lo_real(lo, c->type, 0);
    for (int i = 1; i < 3; i++) {
        LoValue less = lo_lt(lo, greatest, terms[i]);
        greatest = lo_select(lo, less, terms[i], greatest);
    }
    LoValue none = lo_eq(lo, greatest, lo_real(lo, c->type, -INFINITY));
    LoValue base = lo_select(lo, none, lo_real(lo, c->type, 0), greatest);
    for (int i = 0; i < 3; i++)
        sum = lo_add(lo, sum, exp_of(c, lo_sub(lo, terms[i], base)));
    return lo_add(lo, base, lo_math(lo, "log", 1, &sum));
}

/* x if the condition holds, else -inf. */
static LoValue only_if(Ctc *c, LoValue condition, LoValue x)
{
    return lo_select(&c->e->lo, condition, x, lo_real(&c->e->lo, c->type, -INFINITY));
}

/* ---- forward ---- */

static void clear(Ctc *c, LoValue row, LoValue n, LoValue at)
{
    Lo *lo = &c->e->lo;
    LoLoop loop = lo_for_open(lo, lo_i64_of(lo, 0), n, 1, "clear");
    element_store(c, lo_real(lo, c->type, -INFINITY), row, loop.index);
    lo_for_close(lo, &loop);
    element_store(c, lo_real(lo, c->type, 0), row, at);
}

/* Fills row t + 1 of a from row t, for every frame (stride 0: one row, in place,
 * from the last state down), and gives log p(l). */
static LoValue forward(Ctc *c, LoValue a, LoValue stride)
{
    Lo *lo = &c->e->lo;
    clear(c, a, c->width, lo_i64_of(lo, 2));
    LoLoop frames = lo_for_open(lo, lo_i64_of(lo, 0), c->frames, 1, "frames");
    LoValue from = lo_imul(lo, frames.index, stride);
    LoValue old = lo_at(lo, c->type, a, from), new = lo_at(lo, c->type, old, stride);
    LoLoop states = lo_for_open(lo, lo_i64_of(lo, 0), c->states, 1, "states");
    LoValue s = lo_isub(lo, add_ctc_offset(c, c->states, -1), states.index);
    LoValue skip = may_skip(c, s);
    LoValue sum = log_sum(c, element_load(c, old, add_ctc_offset(c, s, 2)),
                          element_load(c, old, add_ctc_offset(c, s, 1)),
                          only_if(c, skip, element_load(c, old, s)));
    element_store(c, lo_add(lo, sum, log_prob(c, frames.index, s)), new, add_ctc_offset(c, s, 2));
    lo_for_close(lo, &states);
    for (int i = 0; i < 2; i++)
        element_store(c, lo_real(lo, c->type, -INFINITY), new, lo_i64_of(lo, i));
    lo_for_close(lo, &frames);
    LoValue end = lo_at(lo, c->type, a, lo_imul(lo, c->frames, stride));
    return log_sum(c, element_load(c, end, add_ctc_offset(c, c->states, 1)),
                   element_load(c, end, c->states), lo_real(lo, c->type, -INFINITY));
}

static Ctc open_ctc(Emit *e)
{
    Ctc c = {.e = e, .type = emit_type(e, e->op->args[0]->type.dtype)};
    Lo *lo = &e->lo;
    longest(e, 0);
    longest(e, 1);
    c.rows = rows_open(e);
    c.sentence = e->space.at[0];
    c.frames = count_of(&c, 0);
    c.labels = count_of(&c, 1);
    c.states = add_ctc_offset(&c, lo_shl(lo, c.labels, lo_i64_of(lo, 1)), 1);
    c.width = add_ctc_offset(&c, c.states, 2);
    return c;
}

static LoValue scratch_row(Emit *e, LoType type, bool every_frame)
{
    Lo *lo = &e->lo;
    LoValue frames = longest(e, 0), labels = longest(e, 1);
    emit_at_entry(e);
    LoValue n = lo_iadd(lo, lo_shl(lo, labels, lo_i64_of(lo, 1)), lo_i64_of(lo, 3));
    if (every_frame)
        n = lo_imul(lo, n, lo_iadd(lo, frames, lo_i64_of(lo, 1)));
    LoValue row = lo_scratch_of(lo, type, n, 0, "states");
    lo_resume(lo);
    return row;
}

static Place sentence_place(const Ctc *c) { return (Place){.rank = 1, .at = {c->sentence}}; }

void kernel_ctc(Emit *e)
{
    LoValue a = scratch_row(e, emit_type(e, e->op->args[0]->type.dtype), false);
    Ctc c = open_ctc(e);
    LoValue value = forward(&c, a, lo_i64_of(&e->lo, 0));
    Place place = sentence_place(&c);
    emit_store_at(e, 2, &place, lo_neg(&e->lo, value));
    rows_close(e, &c.rows);
}

/* ---- backward ---- */

static void clear_gradient(Ctc *c)
{
    Emit *e = c->e;
    Lo *lo = &e->lo;
    LoValue classes = extent_of(e, &(Axis){2, -1, e->op->args[0]->type.dims[2]});
    LoLoop frames = lo_for_open(lo, lo_i64_of(lo, 0), c->frames, 1, "frames");
    LoLoop columns = lo_for_open(lo, lo_i64_of(lo, 0), classes, 1, "classes");
    Place place = frame_place(c, frames.index, columns.index);
    emit_store_at(e, 3, &place, lo_real(lo, c->type, 0));
    lo_for_close(lo, &columns);
    lo_for_close(lo, &frames);
}

static void backward_state(Ctc *c, LoValue a, LoValue g, LoValue t, LoValue s, LoValue total,
                           LoValue scale)
{
    Emit *e = c->e;
    Lo *lo = &e->lo;
    LoValue two = add_ctc_offset(c, s, 2), inside = lo_lt(lo, two, c->states);
    LoValue safe = lo_select(lo, inside, two, lo_i64_of(lo, 0));
    LoValue skip = lo_and(lo, may_skip(c, safe), inside);
    LoValue b = log_sum(c, element_load(c, g, s), element_load(c, g, add_ctc_offset(c, s, 1)),
                        only_if(c, skip, element_load(c, g, two)));
    LoValue row = lo_imul(lo, add_ctc_offset(c, t, 1), c->width);
    LoValue at = lo_iadd(lo, row, add_ctc_offset(c, s, 2));
    LoValue share = lo_sub(lo, lo_add(lo, element_load(c, a, at), b), total);
    Place place = frame_place(c, t, class_of(c, s));
    LoValue term = lo_mul(lo, scale, exp_of(c, share));
    emit_add_at(e, 3, &place, lo_neg(lo, term));
    element_store(c, lo_add(lo, b, log_prob(c, t, s)), g, s);
}

void kernel_ctc_grad(Emit *e)
{
    Lo *lo = &e->lo;
    LoType type = emit_type(e, e->op->args[0]->type.dtype);
    LoValue a = scratch_row(e, type, true), g = scratch_row(e, type, false);
    Ctc c = open_ctc(e);
    clear_gradient(&c);
    LoValue total = forward(&c, a, c.width);
    LoValue possible = lo_gt(lo, total, lo_real(lo, type, -INFINITY));
    LoIf some = lo_if_open(lo, possible);
    clear(&c, g, c.width, add_ctc_offset(&c, c.states, -1));
    Place place = sentence_place(&c);
    LoValue scale = emit_load_at(e, 2, &place);
    LoLoop frames = lo_for_open(lo, lo_i64_of(lo, 0), c.frames, 1, "frames");
    LoValue t = lo_isub(lo, add_ctc_offset(&c, c.frames, -1), frames.index);
    LoLoop states = lo_for_open(lo, lo_i64_of(lo, 0), c.states, 1, "states");
    backward_state(&c, a, g, t, states.index, total, scale);
    lo_for_close(lo, &states);
    lo_for_close(lo, &frames);
    lo_if_close(lo, &some);
    rows_close(e, &c.rows);
}
