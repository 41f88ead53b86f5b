/* round_products: a product that is only read as bf16 gives it.
 *
 *   %3 = dot %x, %w {dtype = f32} : f32          %4 = dot %x, %w {dtype = bf16} : bf16
 *   %4 = cast %3 {dtype = bf16}            ⇒
 *
 * So does an attention region whose rows, sums over the keys, are only read as bf16. It comes
 * after fuse_attention, whose regions sum in f32 and round what they read. */
#include "passes/clone.h"
#include "passes/pass.h"

bool pass_round_products(Function *function, PassContext *context);

static bool is_of_bf16(const Op *dot)
{
    return dot->kind == OP_dot && dot->args[0]->type.dtype == DT_BF16;
}

/* The sums over keys that the region gives as this result, or NULL. */
static Op *rows_of(const Op *attention, const Value *result)
{
    Op *dot = attention->body->last->args[result->index]->op;
    const Attr *contract = is_of_bf16(dot) ? op_attr(dot, ATTR_contract_a) : NULL;
    bool keys = contract && contract->n == 1 && contract->ints[0] == dot->args[0]->type.rank - 1;
    return keys ? dot : NULL;
}

/* The product, if what it gives is read by this cast alone. */
static Op *product_of(Op *cast)
{
    if (cast->kind != OP_cast || op_result(cast)->type.dtype != DT_BF16)
        return NULL;
    Value *from = cast->args[0];
    Op *product = from->op->kind == OP_attention ? rows_of(from->op, from)
                  : is_of_bf16(from->op)         ? from->op
                                                 : NULL;
    return value_is_used_once(from) ? product : NULL;
}

bool pass_round_products(Function *function, PassContext *context)
{
    (void)context;
    FOR_OPS (cast, &function->body) {
        Op *product = product_of(cast);
        if (!product)
            continue;
        op_set_attr(function, product, (Attr){.name = ATTR_dtype, .i = DT_BF16});
        op_result(product)->type.dtype = DT_BF16;
        cast->args[0]->type.dtype = DT_BF16;
        value_replace(op_result(cast), cast->args[0]);
        block_remove(&function->body, cast);
    }
    remove_dead(function);
    return true;
}
