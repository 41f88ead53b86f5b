/* Pass strip: what nothing uses goes (dead-code elimination), and so do builders' seams.
 *
 *   f32 %7 = load %3
 *   f32 %8 = mul %7, %7      # not used      →      (nothing)
 *   seam
 *
 * It walks backwards, so that what only a dead op uses is dead, too. Functions go that neither a
 * kernel nor a record reaches, directly or by calls; in a module without any of these all stay. */
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
    FOR_LOOP_OPS (op, block) {
        op->id = 0;
        if (op->body)
            clear_counts(op->body);
        if (op->other)
            clear_counts(op->other);
    }
}

static void count_uses(LoBlock *block)
{
    FOR_LOOP_OPS (op, block) {
        for (int i = 0; i < op->n_args; i++)
            op->args[i]->id++;
        if (op->body)
            count_uses(op->body);
        if (op->other)
            count_uses(op->other);
    }
}

/* ---- functions ---- */

typedef struct Reached {
    const LoModule *module;
    bool *has; /* of each function */
} Reached;

static void reach_block(Reached *r, const LoBlock *block);

static void reach(Reached *r, const LoFunction *f)
{
    size_t i = 0;
    while (i < r->module->functions.count && r->module->functions.data[i] != f)
        i++;
    if (i == r->module->functions.count || r->has[i])
        return;
    r->has[i] = true;
    reach_block(r, f->body);
}

static void reach_block(Reached *r, const LoBlock *block)
{
    FOR_LOOP_OPS (op, block) {
        if (op->kind == LO_call)
            reach(r, op->callee);
        if (op->body)
            reach_block(r, op->body);
        if (op->other)
            reach_block(r, op->other);
    }
}

static void strip_functions(LoModule *module)
{
    Reached r = {module, ARENA_ARRAY(module->arena, bool, module->functions.count + 1)};
    size_t kept = 0;
    bool any = false;
    for (size_t i = 0; i < module->functions.count; i++)
        if (module->functions.data[i]->is_kernel) {
            any = true;
            reach(&r, module->functions.data[i]);
        }
    for (size_t i = 0; i < module->records.count; i++)
        for (int k = 0; k < module->records.data[i]->n_functions; k++)
            if (module->records.data[i]->functions[k]) {
                any = true;
                reach(&r, module->records.data[i]->functions[k]);
            }
    for (size_t i = 0; i < module->functions.count; i++)
        if (!any || r.has[i])
            module->functions.data[kept++] = module->functions.data[i];
    module->functions.count = kept;
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
    strip_functions(module);
}
