/* Pass share: what was computed already is not computed again (common-subexpression elimination).
 *
 *   f32x16 %9 = splat %8                 f32x16 %9 = splat %8
 *   for i64 %10 = … {                    for i64 %10 = … {
 *     f32x16 %11 = splat %8        →       f32x16 %12 = mul %7, %9
 *     f32x16 %12 = mul %7, %11             …
 *
 * An op is the same as one before it, in its block or in one around it, if both have the same kind,
 * type, operands and fields. Pure ops are shared, and loads of memory that does not change. */
#include "codegen/loop/passes/passes.h"

#include "base/map.h"

#include <string.h>

/* Shared: the ops of the blocks around, by hash; `log` lists their slots, for the end of a
 * block. */
typedef struct Shared {
    Arena *arena;
    LoOp **slots;
    size_t n_slots;
    VEC(size_t) log;
} Shared;

static bool may_share(const LoOp *op)
{
    return lo_is_pure(op) || (op->kind == LO_load && op->memory != LO_CHANGES);
}

static uint64_t hash_op(const LoOp *op)
{
    uint64_t h = hash_u64(HASH_SEED, (uint64_t)op->kind << 32 | op->type);
    h = hash_u64(h, (uint64_t)op->element << 16 | op->align);
    for (int i = 0; i < op->n_args; i++)
        h = hash_u64(h, (uint64_t)(uintptr_t)op->args[i]);
    return hash_bytes(h, op->order, (size_t)op->n_order * sizeof *op->order);
}

static bool is_same(const LoOp *a, const LoOp *b)
{
    return a->kind == b->kind && a->type == b->type && a->memory == b->memory &&
           a->align == b->align && a->element == b->element && a->n_args == b->n_args &&
           a->n_order == b->n_order &&
           !memcmp(a->args, b->args, (size_t)a->n_args * sizeof *a->args) &&
           (!a->n_order || !memcmp(a->order, b->order, (size_t)a->n_order * sizeof *a->order)) &&
           (!a->name) == (!b->name) && (!a->name || !strcmp(a->name, b->name));
}

/* The slot of the op or of one like it, or a free one. */
static size_t find_slot(const Shared *s, const LoOp *op)
{
    size_t at = hash_op(op) % s->n_slots;
    while (s->slots[at] && !is_same(s->slots[at], op))
        at = (at + 1) % s->n_slots;
    return at;
}

static void share_block(Shared *s, LoBlock *block)
{
    size_t outside = s->log.count;
    for (LoOp *op = block->first, *after; op; op = after) {
        after = op->after;
        lo_resolve_args(op);
        if (may_share(op)) {
            size_t at = find_slot(s, op);
            if (s->slots[at]) {
                op->instead = s->slots[at];
                lo_remove(op);
                continue;
            }
            s->slots[at] = op;
            vec_push(s->arena, s->log, at);
        }
        if (op->body)
            share_block(s, op->body);
        if (op->other)
            share_block(s, op->other);
    }
    /* The last ones first: a chain of slots then never has a hole. */
    while (s->log.count > outside)
        s->slots[s->log.data[--s->log.count]] = NULL;
}

static size_t count_ops(const LoBlock *block)
{
    size_t n = 0;
    FOR_LOOP_OPS (op, block)
        n += 1 + (op->body ? count_ops(op->body) : 0) + (op->other ? count_ops(op->other) : 0);
    return n;
}

void lo_share(LoModule *module, const CodeTarget *target)
{
    (void)target;
    for (size_t i = 0; i < module->functions.count; i++) {
        Arena *arena = arena_new();
        Shared s = {.arena = arena, .n_slots = 2 * count_ops(module->functions.data[i]->body) + 1};
        s.slots = ARENA_ARRAY(arena, LoOp *, s.n_slots);
        share_block(&s, module->functions.data[i]->body);
        arena_free(arena);
    }
}
