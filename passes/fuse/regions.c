/* regions: every row op and column reduction that no fusion took becomes a region
 * of its own, so that codegen has one kind of thing to emit.
 *
 *   %1 = exp %0      ⇒      %1 = row(%0) { %1 = exp %0;  yield %1 }
 *
 * Constants, iotas and sizes go into the regions that use them; one that another
 * kind of op reads becomes a region, too. */
#include "passes/clone.h"
#include "passes/fuse/fuse.h"

/* What each row does with a matrix of its own; no region is made of it. */
static void report_grouped(Report *report, const Op *op)
{
    if (op->kind == OP_grouped_dot)
        report_op(report, op, "grouped_dot: each row by the one of %lld matrices that it looked up",
                  (long long)op->args[1]->type.dims[0].size);
    else if (op->kind == OP_grouped_outer)
        report_op(report, op, "grouped_outer: of each of %lld matrices the sum over its rows",
                  (long long)op->results[0].type.dims[0].size);
}

bool pass_regions(Function *function, PassContext *context);

static bool read_outside_regions(const Value *value)
{
    FOR_USES (use, value)
        if (op_family(use->user) != FAMILY_region)
            return true;
    return false;
}

/* `copies`: for build_region. */
static void wrap(Function *function, Op *op, OpKind kind, SideTable *copies)
{
    Arena *arena = function->module->arena;
    Members members = {0};
    for (int i = 0; i < op->n_args; i++) {
        bool seen = false;
        for (int j = 0; j < i; j++)
            seen |= op->args[j] == op->args[i];
        if (is_generator(op->args[i]->op) && !seen && !reads_elsewhere(op, i))
            vec_push(arena, members.ops, op->args[i]->op);
    }
    vec_push(arena, members.ops, op);
    Op *region = build_region(function, kind, &members, 1, (Value *[]){op_result(op)}, op, copies);
    value_replace(op_result(op), op_result(region));
    block_remove(&function->body, op);
}

bool pass_regions(Function *function, PassContext *context)
{
    const Module *module = function->module;
    SideTable copies = side_new(module->arena);
    FOR_OPS (op, &function->body) {
        report_grouped(context->report, op);
        if (is_column_reduction(module, op))
            wrap(function, op, OP_column, &copies);
        else if (is_row_op(module, op))
            wrap(function, op, OP_row, &copies);
    }
    FOR_OPS (op, &function->body)
        if (is_generator(op) && read_outside_regions(op_result(op)))
            wrap(function, op, OP_row, &copies);
    remove_dead(function);
    return true;
}
