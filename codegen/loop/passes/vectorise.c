/* Pass vectorise: turns of a loop become lanes.
 *
 *   f32 %4 = accumulator "add" f32 0             f32x16 %4 = accumulator "add" f32x16 0
 *   for i64 %5 = i64 0 to %3 step 1 vector 16    for i64 %5 = i64 0 to %whole step 16 {
 *     ptr %6 = at f32 %1, %5                 →     ptr %6 = at f32 %1, %5
 *     f32 %7 = load %6                             f32x16 %7 = load %6
 *     accumulate %4, %7                            accumulate %4, %7
 *   f32 %8 = total %4                            if … { the same under a mask }
 *                                                f32x16 %8 = total %4, and its lanes folded
 *
 * What is the same in every turn stays scalar; indices that grow by a step stay one number and a
 * step, as long as no op needs their lanes (widen.c). Where the number of turns is not a multiple
 * of the lanes, the last vector is under a mask: lanes that are off are not loaded, stored or
 * accumulated.
 *
 * `jam` vectors go through the body together, so that loops within it run once for all of them.
 *
 * A sum's order: an accumulator outside of a loop of `lanes` lanes and `jam` vectors, to which the
 * loop adds floats, has lanes × jam partial sums. Partial sum i has the terms i, i + lanes × jam, …
 * in order. If its total is added to another accumulator, that one has as many. At the end the
 * upper half of the partial sums is added to the lower half until one is left. So the order depends
 * on lanes × jam, which builders choose, and not on how many lanes a register has. */
#include "codegen/loop/passes/widen.h"

#include <assert.h>

/* ---- accumulators of the loop that stand outside of it ---- */

static LoValue fold_lanes(Lo *lo, LoJoin by, LoValue vector)
{
    int order[LO_MAX_LANES];
    for (int lanes = lo_lanes(vector->type); lanes > 1; lanes /= 2) {
        LoValue halves[2];
        for (int h = 0; h < 2; h++) {
            for (int i = 0; i < lanes / 2; i++)
                order[i] = h * lanes / 2 + i;
            halves[h] = lanes == 2 ? lo_extract(lo, vector, order[0])
                                   : lo_shuffle(lo, vector, vector, order, lanes / 2);
        }
        vector = lo_join(lo, by, halves[0], halves[1]);
    }
    return vector;
}

/* The partial sums of an accumulator that became several vectors, or one; 0: it is as it was. */
static int parts_of(const Wide *values, const LoOp *accumulator)
{
    int n = 0;
    while (n < LO_MAX_JAM && values[accumulator->id].vectors[n])
        n++;
    return n;
}

/* The total of all partial sums. */
static LoValue fold_parts(Lo *lo, const Wide *values, const LoOp *accumulator)
{
    LoValue totals[LO_MAX_JAM];
    LoJoin by = lo_join_of(accumulator);
    int n = parts_of(values, accumulator);
    for (int i = 0; i < n; i++)
        totals[i] = lo_total(lo, values[accumulator->id].vectors[i]);
    for (n /= 2; n; n /= 2)
        for (int i = 0; i < n; i++)
            totals[i] = lo_join(lo, by, totals[i], totals[i + n]);
    return fold_lanes(lo, by, totals[0]);
}

/* `n` vectors of partial sums in place of an accumulator. All begin with what the first value is,
 * which is the same for all: what joining leaves alone. */
static void split_accumulator(LoModule *module, Wide *values, LoOp *accumulator, int lanes, int n)
{
    Wide *parts = &values[accumulator->id];
    LoValue first = accumulator->args[0];
    Lo lo;
    assert(lo_is_constant(first));
    lo_reopen(&lo, module, accumulator->block->function, accumulator);
    *parts = (Wide){.kind = WIDE_VECTOR};
    for (int i = 1; i < n; i++)
        parts->vectors[i] =
            lo_accumulator(&lo, lo_join_of(accumulator), lo_splat(&lo, first, lanes));
    accumulator->args[0] = lo_splat(&lo, first, lanes);
    accumulator->type = accumulator->args[0]->type;
    accumulator->parts = 0;
    parts->vectors[0] = accumulator;
}

/* Where the total of partial sums is added to another sum, that one has as many: they are folded
 * once, at the end. True if an accumulator was split. */
static bool split_outer(LoModule *module, Wide *values, LoBlock *block)
{
    bool some = false;
    FOR_LOOP_OPS (op, block) {
        lo_resolve_args(op);
        if (op->kind == LO_accumulate && op->args[1]->kind == LO_total) {
            LoOp *outer = op->args[0], *inner = op->args[1]->args[0];
            int n = parts_of(values, inner);
            if (n && !parts_of(values, outer)) {
                split_accumulator(module, values, outer, lo_lanes(inner->type), n);
                some = true;
            }
        }
        if (op->body)
            some |= split_outer(module, values, op->body);
        if (op->other)
            some |= split_outer(module, values, op->other);
    }
    return some;
}

/* The total of partial sums that is added to as many: part by part. */
static void add_parts(LoModule *module, const Wide *values, LoOp *op)
{
    const Wide *outer = &values[op->args[0]->id], *inner = &values[op->args[1]->args[0]->id];
    Lo lo;
    lo_reopen(&lo, module, op->block->function, op);
    for (int i = 0; i < LO_MAX_JAM && outer->vectors[i]; i++)
        lo_accumulate(&lo, outer->vectors[i], lo_total(&lo, inner->vectors[i]));
    lo_remove(op);
}

/* Totals of the accumulators that became vectors are added part by part, or folded: `folds`. */
static void close_totals(LoModule *module, const Wide *values, LoBlock *block, bool folds)
{
    for (LoOp *op = block->first, *after; op; op = after) {
        after = op->after;
        lo_resolve_args(op);
        if (folds && op->kind == LO_total && op->type != op->args[0]->type) {
            Lo lo;
            lo_reopen(&lo, module, block->function, op);
            op->instead = fold_parts(&lo, values, op->args[0]);
            lo_remove(op);
            continue;
        }
        if (!folds && op->kind == LO_accumulate && op->args[1]->kind == LO_total &&
            parts_of(values, op->args[0])) {
            add_parts(module, values, op);
            continue;
        }
        if (op->body)
            close_totals(module, values, op->body, folds);
        if (op->other)
            close_totals(module, values, op->other, folds);
    }
}

/* Whether the order of what is joined changes the result. */
static bool is_ordered(const LoOp *accumulator)
{
    return lo_join_of(accumulator) == LO_JOIN_ADD && lo_is_float(accumulator->type);
}

/* Splits what the loop adds to; true if vectors that go together have partial sums of their own. */
static bool split_accumulators(Widen *w, LoModule *module, int jam, const LoBlock *block)
{
    bool apart = false;
    FOR_LOOP_OPS (op, block) {
        if (op->kind == LO_accumulate && !widen_is_inside(w, op->args[0])) {
            bool ordered = is_ordered(op->args[0]);
            if (!parts_of(w->values, op->args[0]))
                split_accumulator(module, w->values, op->args[0], w->lanes, ordered ? jam : 1);
            apart |= ordered && jam > 1;
        }
        if (op->body)
            apart |= split_accumulators(w, module, jam, op->body);
        if (op->other)
            apart |= split_accumulators(w, module, jam, op->other);
    }
    return apart;
}

/* ---- the loop ---- */

static bool is_multiple(LoValue start, LoValue end, int lanes)
{
    return lo_is_int(start) && lo_is_int(end) && (end->number - start->number) % lanes == 0;
}

/* The vectors that are left, `n` at most: each adds to its own partial sums. */
static void write_rest(Widen *w, LoValue start, LoValue end, int n)
{
    Lo *lo = &w->lo;
    w->copies = 1;
    for (w->part = 0; w->part < n; w->part++) {
        LoValue at = lo_iadd(lo, start, lo_i64_of(lo, (int64_t)w->part * w->lanes));
        LoIf some = lo_if_open(lo, lo_lt(lo, at, end));
        w->mask[0] = lo_lanes_below(lo, lo_isub(lo, end, at), 0, w->lanes);
        widen_body(w, at);
        lo_if_close(lo, &some);
    }
    w->part = 0;
}

static void vectorise_loop(LoModule *module, LoOp *loop, Wide *values, bool *varies)
{
    Widen w = widen_start(module, loop, values, varies, loop->vector.lanes);
    Lo *lo = &w.lo;
    int jam = loop->vector.jam ? loop->vector.jam : 1;
    LoValue start = loop->args[0], end = loop->args[1], whole = end;
    bool apart = split_accumulators(&w, module, jam, loop->body);
    bool partial = !loop->vector.whole && !is_multiple(start, end, jam * w.lanes);
    if (partial && loop->vector.masked && jam == 1) {
        widen_turns(&w, start, end, 1, true);
        return;
    }
    if (partial) {
        LoValue odd = lo_and(lo, lo_isub(lo, end, start), lo_i64_of(lo, jam * w.lanes - 1));
        whole = lo_isub(lo, end, odd);
    }
    if (!lo_same(whole, start))
        widen_turns(&w, start, whole, jam, false);
    if (partial && (jam == 1 || apart))
        write_rest(&w, whole, end, jam);
    else if (partial)
        widen_turns(&w, whole, end, 1, true);
}

/* Ops that are made later have ids of none. */
static void forget(Wide *values, const LoBlock *block)
{
    FOR_LOOP_OPS (op, block) {
        values[op->id] = (Wide){0};
        if (op->body)
            forget(values, op->body);
        if (op->other)
            forget(values, op->other);
    }
}

static bool vectorise_block(LoModule *module, LoBlock *block, Wide *values, bool *varies)
{
    bool some = false;
    for (LoOp *op = block->first, *after; op; op = after) {
        after = op->after;
        if (op->kind == LO_for && op->vector.lanes > 1) {
            vectorise_loop(module, op, values, varies);
            forget(values, op->body);
            lo_remove(op);
            some = true;
            continue;
        }
        if (op->body)
            some |= vectorise_block(module, op->body, values, varies);
        if (op->other)
            some |= vectorise_block(module, op->other, values, varies);
    }
    return some;
}

void lo_vectorise(LoModule *module, const CodeTarget *target)
{
    (void)target;
    for (size_t i = 0; i < module->functions.count; i++) {
        LoFunction *f = module->functions.data[i];
        Arena *arena = arena_new();
        lo_number(f);
        Wide *values = ARENA_ARRAY(arena, Wide, f->n_ids + 1);
        if (vectorise_block(module, f->body, values, ARENA_ARRAY(arena, bool, f->n_ids + 1))) {
            while (split_outer(module, values, f->body)) {}
            close_totals(module, values, f->body, false);
            close_totals(module, values, f->body, true);
        }
        arena_free(arena);
    }
}
