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
 * A sum's order: lane i has the terms i, i + lanes, … in order; at the end the upper half of the
 * lanes is added to the lower half until one is left. It depends on the vector width alone. */
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

/* Totals of the accumulators that became vectors are folded. */
static void fold_totals(LoModule *module, LoBlock *block)
{
    for (LoOp *op = block->first, *after; op; op = after) {
        after = op->after;
        lo_resolve_args(op);
        if (op->kind == LO_total && op->args[0]->type != op->type) {
            Lo lo;
            lo_reopen(&lo, module, block->function, op);
            LoValue vector = lo_total(&lo, op->args[0]);
            op->instead = fold_lanes(&lo, lo_join_of(op->args[0]), vector);
            lo_remove(op);
        }
        if (op->body)
            fold_totals(module, op->body);
        if (op->other)
            fold_totals(module, op->other);
    }
}

/* Lanes begin with what the first value is, which is the same for all: what joining leaves
 * alone. */
static void widen_accumulators(Widen *w, const LoBlock *block)
{
    FOR_LOOP_OPS (op, block) {
        if (op->kind == LO_accumulate && !widen_is_inside(w, op->args[0]) &&
            !lo_is_vector(op->args[0]->type)) {
            LoOp *accumulator = op->args[0];
            assert(lo_is_constant(accumulator->args[0]));
            accumulator->type = lo_vector(accumulator->type, w->lanes);
            accumulator->args[0] = lo_splat(&w->lo, accumulator->args[0], w->lanes);
        }
        if (op->body)
            widen_accumulators(w, op->body);
        if (op->other)
            widen_accumulators(w, op->other);
    }
}

/* ---- the loop ---- */

static bool is_multiple(LoValue start, LoValue end, int lanes)
{
    return lo_is_int(start) && lo_is_int(end) && (end->number - start->number) % lanes == 0;
}

/* The one vector that is left, if there is one. */
static void write_rest(Widen *w, LoValue start, LoValue end)
{
    Lo *lo = &w->lo;
    LoIf some = lo_if_open(lo, lo_lt(lo, start, end));
    w->copies = 1;
    w->mask[0] = lo_lanes_below(lo, lo_isub(lo, end, start), 0, w->lanes);
    widen_body(w, start);
    lo_if_close(lo, &some);
}

static void vectorise_loop(LoModule *module, LoOp *loop, Wide *values, bool *varies)
{
    Widen w = widen_start(module, loop, values, varies, loop->vector.lanes);
    Lo *lo = &w.lo;
    int jam = loop->vector.jam ? loop->vector.jam : 1;
    LoValue start = loop->args[0], end = loop->args[1], whole = end;
    widen_accumulators(&w, loop->body);
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
    if (partial && jam == 1)
        write_rest(&w, whole, end);
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
        if (vectorise_block(module, f->body, ARENA_ARRAY(arena, Wide, f->n_ids + 1),
                            ARENA_ARRAY(arena, bool, f->n_ids + 1)))
            fold_totals(module, f->body);
        arena_free(arena);
    }
}
