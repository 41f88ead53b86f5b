/* repack: a training step that reads weights as bf16 makes those of the next one, too.
 *
 *   %h = cast %w {dtype = bf16}            %h = cast %w {dtype = bf16}
 *   …                                      …
 *   %n = sub %w, …                  ⇒      %n = sub %w, …
 *                                          %m = cast %n {dtype = bf16}
 *   assign %w, %n                          assign %w, %n
 *                                          keep %h, %m
 *
 * The optimizer has the new weights in registers when it rounds them. So params are cast
 * once, and again only when somebody else has changed them (codegen/plan/prepare.c). What is
 * kept lives throughout the step: within a memory budget that is not done. */
#include "ir/builder.h"
#include "passes/pass.h"

bool pass_repack(Function *function, PassContext *context);

/* The param as bf16, or NULL. */
static Value *half_of(const Value *param)
{
    FOR_USES (use, param)
        if (use->user->kind == OP_cast && op_result(use->user)->type.dtype == DT_BF16)
            return op_result(use->user);
    return NULL;
}

bool pass_repack(Function *function, PassContext *context)
{
    if (context->budget)
        return true;
    FOR_OPS (op, &function->body) {
        Value *half = op->kind == OP_assign ? half_of(op->args[0]) : NULL;
        if (!half)
            continue;
        Builder b = builder_behind(function, &function->body, op);
        b.scope = op->args[1]->op->scope;
        build_keep(&b, half, build_cast(&b, op->args[1], DT_BF16));
        report_op(context->report, half->op, "cast by the optimizer, for the next step");
    }
    return true;
}
