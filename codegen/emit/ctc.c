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
    LlType type;
    Rows rows;
    Coord sentence;
    LlValue frames, labels, states; /* T, L, 2L + 1 */
    LlValue width;                  /* elements of a row of a */
} Ctc;

static unsigned element_align(const Ctc *c)
{
    return c->type == c->e->ll.f64 ? 8 : 4;
}

static LlValue add(Ctc *c, LlValue a, int64_t b)
{
    return LLVMBuildNSWAdd(c->e->ll.builder, a, ll_i64(&c->e->ll, b), "");
}

static LlValue element_load(Ctc *c, LlValue row, LlValue i)
{
    return ll_load(&c->e->ll, c->type, ll_gep(&c->e->ll, c->type, row, i), element_align(c));
}

static void element_store(Ctc *c, LlValue x, LlValue row, LlValue i)
{
    ll_store(&c->e->ll, x, ll_gep(&c->e->ll, c->type, row, i), element_align(c));
}

/* ---- operands ---- */

/* How many positions the second dimension of an operand has in this sentence. */
static LlValue count_of(Ctc *c, int operand)
{
    Emit *e = c->e;
    Dim dim = e->op->args[operand]->type.dims[1];
    if (!symbol_is_ragged(e->module, dim.symbol))
        return extent_of(e, &(Axis){1, -1, dim});
    Coord length = table_lookup(e, dim.symbol, DIM_LENGTH, c->sentence);
    return coord_value(e, &length, e->ll.i64).v;
}

static LlValue longest(Emit *e, int operand)
{
    return extent_of(e, &(Axis){1, -1, e->op->args[operand]->type.dims[1]});
}

/* The class of a state; one outside the classes counts as blank. */
static LlValue class_of(Ctc *c, LlValue state)
{
    Emit *e = c->e;
    Ll *ll = &e->ll;
    Dim classes = e->op->args[0]->type.dims[2];
    LlValue n = extent_of(e, &(Axis){2, -1, classes});
    ll_resume(ll);
    LlValue odd = LLVMBuildTrunc(ll->builder, state, ll->i1, "");
    LlValue at = LLVMBuildAShr(ll->builder, state, ll_i64(ll, 1), "");
    Place place = {
        .rank = 2, .at = {c->sentence, coord_of(at, DEPTH_BODY)}, .valid = {odd, DEPTH_BODY}};
    Val label = emit_load_at(e, 1, &place);
    LlValue wide = LLVMBuildSExt(ll->builder, label.v, ll->i64, "");
    LlValue fits = LLVMBuildICmp(ll->builder, LLVMIntULT, wide, n, "");
    fits = LLVMBuildAnd(ll->builder, fits, odd, "");
    return LLVMBuildSelect(ll->builder, fits, wide, ll_i64(ll, 0), "");
}

/* Whether one may come to the state from two before: a label unlike the last. */
static LlValue may_skip(Ctc *c, LlValue state)
{
    Ll *ll = &c->e->ll;
    LlValue before = add(c, state, -2);
    LlValue inside = LLVMBuildICmp(ll->builder, LLVMIntSGE, before, ll_i64(ll, 0), "");
    LlValue safe = LLVMBuildSelect(ll->builder, inside, before, ll_i64(ll, 0), "");
    LlValue differs =
        LLVMBuildICmp(ll->builder, LLVMIntNE, class_of(c, state), class_of(c, safe), "");
    LlValue odd = LLVMBuildTrunc(ll->builder, state, ll->i1, "");
    return LLVMBuildAnd(ll->builder, LLVMBuildAnd(ll->builder, odd, inside, ""), differs, "");
}

static Place frame_place(Ctc *c, LlValue t, LlValue k)
{
    return (Place){.rank = 3,
                   .at = {c->sentence, coord_of(t, DEPTH_BODY), coord_of(k, DEPTH_BODY)}};
}

static LlValue log_prob(Ctc *c, LlValue t, LlValue state)
{
    Place place = frame_place(c, t, class_of(c, state));
    return emit_load_at(c->e, 0, &place).v;
}

/* log(e^x + e^y + e^z), which is -inf if all are. */
static LlValue log_sum(Ctc *c, LlValue x, LlValue y, LlValue z)
{
    Ll *ll = &c->e->ll;
    LlValue terms[3] = {x, y, z}, greatest = x, sum = ll_real(c->type, 0);
    for (int i = 1; i < 3; i++) {
        LlValue less = LLVMBuildFCmp(ll->builder, LLVMRealOLT, greatest, terms[i], "");
        greatest = LLVMBuildSelect(ll->builder, less, terms[i], greatest, "");
    }
    LlValue none =
        LLVMBuildFCmp(ll->builder, LLVMRealOEQ, greatest, ll_real(c->type, -INFINITY), "");
    LlValue base = LLVMBuildSelect(ll->builder, none, ll_real(c->type, 0), greatest, "");
    for (int i = 0; i < 3; i++)
        sum = ll_fadd(ll, sum, math_call(c->e, "exp", ll_fsub(ll, terms[i], base)));
    return ll_fadd(ll, base, math_call(c->e, "log", sum));
}

/* x if the condition holds, else -inf. */
static LlValue only_if(Ctc *c, LlValue condition, LlValue x)
{
    return LLVMBuildSelect(c->e->ll.builder, condition, x, ll_real(c->type, -INFINITY), "");
}

/* ---- forward ---- */

static void clear(Ctc *c, LlValue row, LlValue n, LlValue at)
{
    Ll *ll = &c->e->ll;
    LlLoop loop = ll_loop_open(ll, ll_i64(ll, 0), n, 1, "clear");
    element_store(c, ll_real(c->type, -INFINITY), row, loop.index);
    ll_loop_close(ll, &loop);
    element_store(c, ll_real(c->type, 0), row, at);
}

/* Fills row t + 1 of a from row t, for every frame (stride 0: one row, in place,
 * from the last state down), and gives log p(l). */
static LlValue forward(Ctc *c, LlValue a, LlValue stride)
{
    Ll *ll = &c->e->ll;
    clear(c, a, c->width, ll_i64(ll, 2));
    LlLoop frames = ll_loop_open(ll, ll_i64(ll, 0), c->frames, 1, "frames");
    LlValue from = LLVMBuildNSWMul(ll->builder, frames.index, stride, "");
    LlValue old = ll_gep(ll, c->type, a, from), new = ll_gep(ll, c->type, old, stride);
    LlLoop states = ll_loop_open(ll, ll_i64(ll, 0), c->states, 1, "states");
    LlValue s = LLVMBuildNSWSub(ll->builder, add(c, c->states, -1), states.index, "");
    LlValue skip = may_skip(c, s);
    LlValue sum = log_sum(c, element_load(c, old, add(c, s, 2)), element_load(c, old, add(c, s, 1)),
                          only_if(c, skip, element_load(c, old, s)));
    element_store(c, ll_fadd(ll, sum, log_prob(c, frames.index, s)), new, add(c, s, 2));
    ll_loop_close(ll, &states);
    for (int i = 0; i < 2; i++)
        element_store(c, ll_real(c->type, -INFINITY), new, ll_i64(ll, i));
    ll_loop_close(ll, &frames);
    LlValue end = ll_gep(ll, c->type, a, LLVMBuildNSWMul(ll->builder, c->frames, stride, ""));
    return log_sum(c, element_load(c, end, add(c, c->states, 1)), element_load(c, end, c->states),
                   ll_real(c->type, -INFINITY));
}

static Ctc open_ctc(Emit *e)
{
    Ctc c = {.e = e, .type = emit_type(e, e->op->args[0]->type.dtype)};
    Ll *ll = &e->ll;
    e->lanes = 1;
    longest(e, 0);
    longest(e, 1);
    c.rows = rows_open(e);
    c.sentence = e->space.at[0];
    c.frames = count_of(&c, 0);
    c.labels = count_of(&c, 1);
    ll_resume(ll);
    c.states = add(&c, LLVMBuildShl(ll->builder, c.labels, ll_i64(ll, 1), ""), 1);
    c.width = add(&c, c.states, 2);
    return c;
}

static LlValue scratch_row(Emit *e, LlType type, bool every_frame)
{
    Ll *ll = &e->ll;
    LlValue frames = longest(e, 0), labels = longest(e, 1);
    emit_at(e, DEPTH_ENTRY);
    LlValue n = LLVMBuildNSWAdd(ll->builder, LLVMBuildShl(ll->builder, labels, ll_i64(ll, 1), ""),
                                ll_i64(ll, 3), "");
    if (every_frame)
        n = LLVMBuildNSWMul(ll->builder, n, LLVMBuildNSWAdd(ll->builder, frames, ll_i64(ll, 1), ""),
                            "");
    LlValue row = LLVMBuildArrayAlloca(ll->builder, type, n, "states");
    ll_resume(ll);
    return row;
}

static Place sentence_place(const Ctc *c)
{
    return (Place){.rank = 1, .at = {c->sentence}};
}

void kernel_ctc(Emit *e)
{
    LlValue a = scratch_row(e, emit_type(e, e->op->args[0]->type.dtype), false);
    Ctc c = open_ctc(e);
    LlValue value = forward(&c, a, ll_i64(&e->ll, 0));
    Place place = sentence_place(&c);
    emit_store_at(e, 2, &place, (Val){LLVMBuildFNeg(e->ll.builder, value, ""), DEPTH_BODY});
    rows_close(e, &c.rows);
}

/* ---- backward ---- */

static void clear_gradient(Ctc *c)
{
    Emit *e = c->e;
    Ll *ll = &e->ll;
    LlValue classes = extent_of(e, &(Axis){2, -1, e->op->args[0]->type.dims[2]});
    ll_resume(ll);
    LlLoop frames = ll_loop_open(ll, ll_i64(ll, 0), c->frames, 1, "frames");
    LlLoop columns = ll_loop_open(ll, ll_i64(ll, 0), classes, 1, "classes");
    Place place = frame_place(c, frames.index, columns.index);
    emit_store_at(e, 3, &place, (Val){ll_real(c->type, 0), DEPTH_BODY});
    ll_resume(ll);
    ll_loop_close(ll, &columns);
    ll_loop_close(ll, &frames);
}

static void backward_state(Ctc *c, LlValue a, LlValue g, LlValue t, LlValue s, LlValue total,
                           LlValue scale)
{
    Emit *e = c->e;
    Ll *ll = &e->ll;
    LlValue two = add(c, s, 2), inside = LLVMBuildICmp(ll->builder, LLVMIntSLT, two, c->states, "");
    LlValue safe = LLVMBuildSelect(ll->builder, inside, two, ll_i64(ll, 0), "");
    LlValue skip = LLVMBuildAnd(ll->builder, may_skip(c, safe), inside, "");
    LlValue b = log_sum(c, element_load(c, g, s), element_load(c, g, add(c, s, 1)),
                        only_if(c, skip, element_load(c, g, two)));
    LlValue row = LLVMBuildNSWMul(ll->builder, add(c, t, 1), c->width, "");
    LlValue at = LLVMBuildNSWAdd(ll->builder, row, add(c, s, 2), "");
    LlValue share = ll_fsub(ll, ll_fadd(ll, element_load(c, a, at), b), total);
    Place place = frame_place(c, t, class_of(c, s));
    LlValue term = ll_fmul(ll, scale, math_call(e, "exp", share));
    emit_add_at(e, 3, &place, (Val){LLVMBuildFNeg(ll->builder, term, ""), DEPTH_BODY});
    element_store(c, ll_fadd(ll, b, log_prob(c, t, s)), g, s);
}

void kernel_ctc_grad(Emit *e)
{
    Ll *ll = &e->ll;
    LlType type = emit_type(e, e->op->args[0]->type.dtype);
    LlValue a = scratch_row(e, type, true), g = scratch_row(e, type, false);
    Ctc c = open_ctc(e);
    clear_gradient(&c);
    LlValue total = forward(&c, a, c.width);
    LlValue possible = LLVMBuildFCmp(ll->builder, LLVMRealOGT, total, ll_real(type, -INFINITY), "");
    LlIf some = ll_if_open(ll, possible);
    clear(&c, g, c.width, add(&c, c.states, -1));
    Place place = sentence_place(&c);
    LlValue scale = emit_load_at(e, 2, &place).v;
    ll_resume(ll);
    LlLoop frames = ll_loop_open(ll, ll_i64(ll, 0), c.frames, 1, "frames");
    LlValue t = LLVMBuildNSWSub(ll->builder, add(&c, c.frames, -1), frames.index, "");
    LlLoop states = ll_loop_open(ll, ll_i64(ll, 0), c.states, 1, "states");
    backward_state(&c, a, g, t, states.index, total, scale);
    ll_loop_close(ll, &states);
    ll_loop_close(ll, &frames);
    ll_if_close(ll, &some);
    rows_close(e, &c.rows);
}
