/* round_products: a product that is only read as bf16 gives it.
 *
 *   %3 = dot %x, %w {dtype = f32} : f32          %4 = dot %x, %w {dtype = bf16} : bf16
 *   %4 = cast %3 {dtype = bf16}            ⇒
 *
 * It comes after fuse_attention, whose regions sum in f32 and round what they read. */
#include "passes/clone.h"
#include "passes/pass.h"

#include <stdint.h>

bool pass_round_products(Function *function, PassContext *context);

/* The product, if what it gives is read by this cast alone. */
static Op *product_of(Op *cast)
{
    if (cast->kind != OP_cast || op_result(cast)->type.dtype != DT_BF16)
        return NULL;
    Value *from = cast->args[0];
    bool product = from->op->kind == OP_dot && from->op->args[0]->type.dtype == DT_BF16;
    return product && (uintptr_t)from->scratch == 1 ? from->op : NULL;
}

bool pass_round_products(Function *function, PassContext *context)
{
    (void)context;
    FOR_OPS(op, &function->body)
        for (int r = 0; r < op->n_results; r++)
            op->results[r].scratch = NULL;
    function_count_uses(function);
    FOR_OPS(cast, &function->body) {
        op_settle(cast);
        Op *product = product_of(cast);
        if (!product)
            continue;
        op_set_attr(function, product, (Attr){.name = ATTR_dtype, .i = DT_BF16});
        op_result(product)->type.dtype = DT_BF16;
        op_result(cast)->moved_to = op_result(product);
        block_remove(&function->body, cast);
    }
    function_settle(function);
    remove_dead(function);
    return true;
}
