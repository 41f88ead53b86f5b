/* The order of sums, which is the same on every processor (docs/loop-ir.md, Sums).
 *
 *   for i64 %1 = i64 0 to %n step 4096 {             blocks of 16 blocks
 *     f32 %2 = accumulator "add" f32 0
 *     for i64 %3 = %1 to … step 256 {                blocks of 16 turns
 *       f32 %4 = accumulator "add" f32 0
 *       for i64 %5 = %3 to … step 1 vector 8 jam 2   turns of 16 columns
 *         accumulate %4, …
 *       accumulate %2, total %4
 *     accumulate %0, total %2
 *
 * Maxima and sums of integers are the same in any order, and have no blocks. */
#include "codegen/emit/emit.h"

int64_t sum_block(LoValue start, LoValue end, int64_t turn)
{
    int64_t block = 0, next = turn * SUM_TURNS;
    bool known = lo_is_int(start) && lo_is_int(end);
    while (next <= SUM_LARGEST && (!known || next < end->number - start->number)) {
        block = next;
        next *= SUM_TURNS;
    }
    return block;
}

static bool is_ordered(const Op *op)
{
    return op_family(op) == FAMILY_reduce && reduce_join(op) == LO_JOIN_ADD &&
           dtype_is_float(op->results[0].type.dtype);
}

void sum_open(Emit *e, SumSlots *slots, const Op *op, int i)
{
    LoType type = emit_type(e, op->results[0].type.dtype);
    LoValue first = lo_identity(&e->lo, reduce_join(op), type);
    slots->of[i] = lo_accumulator(&e->lo, reduce_join(op), first);
    slots->of[i]->parts = is_ordered(op) ? slots->parts : 0;
}

LoValue *sum_enter(Emit *e, SumSlots *slots)
{
    LoValue *outer = ARENA_ARRAY(e->arena, LoValue, e->body.n_ops);
    for (int i = 0; i < e->body.n_ops; i++) {
        const Op *op = e->body.ops[i].op;
        outer[i] = slots->of[i];
        if (!slots->of[i] || !is_ordered(op))
            continue;
        emit_from(e, e->body.n_inputs + i);
        sum_open(e, slots, op, i);
    }
    emit_from_whole(e);
    return outer;
}

void sum_leave(Emit *e, SumSlots *slots, LoValue *outer)
{
    for (int i = 0; i < e->body.n_ops; i++) {
        if (outer[i] != slots->of[i]) {
            emit_from(e, e->body.n_inputs + i);
            lo_accumulate(&e->lo, outer[i], lo_total(&e->lo, slots->of[i]));
        }
        slots->of[i] = outer[i];
    }
    emit_from_whole(e);
}

/* ---- partial sums, one number at a time ---- */

static LoValue at_part(Emit *e, const PartLoop *parts, int i, LoValue part)
{
    return lo_at(&e->lo, lo_type(parts->outer[i]), parts->memory[i], part);
}

static int part_align(const PartLoop *parts, int i)
{
    return lo_bits(lo_type(parts->outer[i])) / 8;
}

PartLoop sum_parts_open(Emit *e, int n, LoValue **slots)
{
    Lo *lo = &e->lo;
    PartLoop parts = {.n = n, .slots = slots};
    if (e->vector > 1 || e->sum_lanes == 1)
        return parts;
    parts.outer = ARENA_ARRAY(e->arena, LoValue, n);
    parts.memory = ARENA_ARRAY(e->arena, LoValue, n);
    for (int i = 0; i < n; i++) {
        parts.outer[i] = *slots[i];
        parts.memory[i] = lo_scratch(lo, lo_type(*slots[i]), e->sum_lanes, 0, "parts");
    }
    parts.loop = lo_for_open(lo, lo_i64_of(lo, 0), lo_i64_of(lo, e->sum_lanes), 1, "parts");
    for (int i = 0; i < n; i++)
        *slots[i] = lo_accumulator(lo, LO_JOIN_ADD, lo_zero(lo, lo_type(parts.outer[i])));
    e->part = parts.loop.index;
    return parts;
}

/* As pass vectorise folds lanes: the upper half is added to the lower half. */
static LoValue fold_part(Emit *e, const PartLoop *parts, int i)
{
    Lo *lo = &e->lo;
    LoValue *totals = ARENA_ARRAY(e->arena, LoValue, e->sum_lanes);
    for (int k = 0; k < e->sum_lanes; k++)
        totals[k] = lo_load(lo, lo_type(parts->outer[i]), at_part(e, parts, i, lo_i64_of(lo, k)),
                            part_align(parts, i));
    for (int half = e->sum_lanes / 2; half; half /= 2)
        for (int k = 0; k < half; k++)
            totals[k] = lo_add(lo, totals[k], totals[k + half]);
    return totals[0];
}

void sum_parts_close(Emit *e, PartLoop *parts)
{
    Lo *lo = &e->lo;
    if (!parts->loop.index)
        return;
    for (int i = 0; i < parts->n; i++)
        lo_store(lo, lo_total(lo, *parts->slots[i]), at_part(e, parts, i, parts->loop.index),
                 part_align(parts, i));
    lo_for_close(lo, &parts->loop);
    e->part = NULL;
    for (int i = 0; i < parts->n; i++) {
        *parts->slots[i] = parts->outer[i];
        lo_accumulate(lo, parts->outer[i], fold_part(e, parts, i));
    }
}

PartLoop slots_parts_open(Emit *e, SumSlots *const *rows, int n)
{
    LoValue **slots = ARENA_ARRAY(e->arena, LoValue *, n * e->body.n_ops);
    int count = 0;
    for (int r = 0; r < n; r++)
        for (int i = 0; i < e->body.n_ops; i++)
            if (rows[r]->of[i] && is_ordered(e->body.ops[i].op))
                slots[count++] = &rows[r]->of[i];
    return sum_parts_open(e, count, slots);
}

/* ---- columns ---- */

typedef struct ColumnSums {
    LoVector vector;
    ColumnBody body;
    void *data;
    SumSlots *const *rows;
    int n;
} ColumnSums;

static void sum_level(Emit *e, const ColumnSums *sums, LoValue start, LoValue limit, int64_t block)
{
    Lo *lo = &e->lo;
    LoValue **outer;
    if (block <= e->sum_lanes) {
        LoLoop loop =
            e->part ? lo_for_open(lo, lo_iadd(lo, start, e->part), limit, e->sum_lanes, "columns")
                    : lo_vector_open(lo, start, limit, sums->vector, "columns");
        stand_at_column(e, loop.index);
        sums->body(e, sums->data);
        lo_for_close(lo, &loop);
        return;
    }
    bool whole =
        lo_is_int(start) && lo_is_int(limit) && (limit->number - start->number) % block == 0;
    LoLoop loop = lo_for_open(lo, start, limit, block, "blocks");
    LoValue end = lo_iadd(lo, loop.index, loop.step);
    outer = ARENA_ARRAY(e->arena, LoValue *, sums->n);
    for (int r = 0; r < sums->n; r++)
        outer[r] = sum_enter(e, sums->rows[r]);
    sum_level(e, sums, loop.index, whole ? end : lo_min(lo, end, limit), block / SUM_TURNS);
    for (int r = 0; r < sums->n; r++)
        sum_leave(e, sums->rows[r], outer[r]);
    lo_for_close(lo, &loop);
}

LoVector sum_vector(const Emit *e, bool whole)
{
    int jam = e->vector > 1 ? e->sum_lanes / e->vector : 1;
    return (LoVector){
        .lanes = (uint8_t)e->vector, .jam = (uint8_t)(jam > 1 ? jam : 0), .whole = whole};
}

void sum_columns(Emit *e, LoValue start, LoValue limit, ColumnBody body, void *data,
                 SumSlots *const *rows, int n)
{
    if (!limit) {
        each_column(e, start, limit, body, data);
        return;
    }
    bool known = lo_is_int(start) && lo_is_int(limit);
    bool whole = known && (limit->number - start->number) % e->sum_lanes == 0;
    ColumnSums sums = {
        .vector = sum_vector(e, whole), .body = body, .data = data, .rows = rows, .n = n};
    sums.vector.masked = !sums.vector.jam && masks_throughout(e, limit);
    PartLoop parts = {0};
    if (!e->part) /* else it is around the rows */
        parts = slots_parts_open(e, rows, n);
    sum_level(e, &sums, start, limit, sum_block(start, limit, e->sum_lanes));
    sum_parts_close(e, &parts);
    stand_at_column(e, NULL);
}
