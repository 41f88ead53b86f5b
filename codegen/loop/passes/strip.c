/* Pass strip: what nothing uses goes, and builders' seams.
 *
 *   f32 %7 = load %3
 *   f32 %8 = mul %7, %7      # not used      →      (nothing)
 *   seam
 *
 * Backwards, so that what only a dead op uses is dead, too. */
#include "codegen/loop/passes/passes.h"

static bool has_effect(const LoOp *op)
{
    return op->type == lo_none || op->body || op->kind == LO_carry || op->kind == LO_accumulator;
}

/* `id` counts uses here. */
static void strip_block(LoBlock *block)
{
    for (LoOp *op = block->last, *before; op; op = before) {
        before = op->before;
        if (op->other)
            strip_block(op->other);
        if (op->body)
            strip_block(op->body);
        if (op->kind != LO_seam && (has_effect(op) || op->id > 0))
            continue;
        for (int i = 0; i < op->n_args; i++)
            op->args[i]->id--;
        lo_remove(op);
    }
}

static void clear_counts(LoBlock *block)
{
    FOR_LOOP_OPS(op, block) {
        op->id = 0;
        if (op->body)
            clear_counts(op->body);
        if (op->other)
            clear_counts(op->other);
    }
}

static void count_uses(LoBlock *block)
{
    FOR_LOOP_OPS(op, block) {
        for (int i = 0; i < op->n_args; i++)
            op->args[i]->id++;
        if (op->body)
            count_uses(op->body);
        if (op->other)
            count_uses(op->other);
    }
}

void lo_strip(LoModule *module, const CodeTarget *target)
{
    (void)target;
    for (size_t i = 0; i < module->functions.count; i++) {
        LoBlock *body = module->functions.data[i]->body;
        clear_counts(body);
        count_uses(body);
        strip_block(body);
    }
}
