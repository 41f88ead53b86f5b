/* A forward pass that gives what the last attention over the sources looks at, in the place of its
 * outputs: the mean over heads, which is how much each target token is made from each source token
 * (Bahdanau et al. 2015; of Transformers, Garg et al. 2019, section 3). */
#include "passes/clone.h"
#include "passes/pass.h"

/* Whether the value is attention of the one dimension over the other: [B, heads …, X, Y]. */
static bool is_attention(const Op *op, Dim over, Dim by)
{
    const Type *type = &op->results[0].type;
    return op->kind == OP_softmax && type->rank >= 3 && dim_equal(type->dims[type->rank - 1], over) &&
           dim_equal(type->dims[type->rank - 2], by);
}

static Value *mean_of_heads(Builder *b, Value *x)
{
    int axes[MAX_RANK], n = 0;
    double heads = 1;
    for (; n < x->type.rank - 3; n++) {
        axes[n] = n + 1;
        heads *= (double)x->type.dims[n + 1].size;
    }
    if (!n)
        return x;
    Value *sum = build_reduce(b, OP_reduce_sum, x, n, axes);
    return build_binary(b, OP_mul, sum, build_const(b, x->type.dtype, 1 / heads));
}

bool expose_alignment(Function *forward, const char *source, const char *target)
{
    const Op *from = find_input(forward, source), *to = find_input(forward, target);
    Op *found = NULL;
    FOR_OPS(op, &forward->body) {
        if (op->kind == OP_output)
            block_remove(&forward->body, op);
        else if (from && to && is_attention(op, from->results[0].type.dims[1], to->results[0].type.dims[1]))
            found = op;
    }
    if (!found)
        return false;
    forward->name = "alignment"; /* beside a forward of the module */
    Builder b = builder_at_end(forward);
    b.loc = found->loc;
    b.scope = found->scope;
    build_output(&b, "alignment", mean_of_heads(&b, op_result(found)));
    remove_dead(forward);
    return true;
}
