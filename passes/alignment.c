/* A forward pass that gives what its attentions look at, in the place of its outputs: of the last
 * one over the sources the mean over heads, which is how much each target token is made from each
 * source token (Bahdanau et al. 2015; of Transformers, Garg et al. 2019, section 3); or all of
 * them, by heads. */
#include "passes/clone.h"
#include "passes/pass.h"

/* Whether the value is attention of the one dimension over the other: [B, heads …, X, Y]. */
static bool is_attention(const Op *op, Dim over, Dim by)
{
    const Type *type = &op->results[0].type;
    return op->kind == OP_softmax && type->rank >= 3 &&
           dim_equal(type->dims[type->rank - 1], over) && dim_equal(type->dims[type->rank - 2], by);
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

Function *derive_alignment(Module *module, const char *source, const char *target)
{
    Function *function = derive_forward(module);
    const Op *from = find_input(function, source), *to = find_input(function, target);
    Op *found = NULL;
    function->name = function_names()[FUNCTION_ALIGNMENT]; /* beside a forward of the module */
    FOR_OPS (op, &function->body) {
        if (op->kind == OP_output)
            block_remove(&function->body, op);
        else if (from && to &&
                 is_attention(op, from->results[0].type.dims[1], to->results[0].type.dims[1]))
            found = op;
    }
    if (!found)
        return NULL;
    Builder b = builder_at_end(function);
    b.loc = found->loc;
    b.scope = found->scope;
    build_output(&b, "alignment", mean_of_heads(&b, op_result(found)));
    remove_dead(function);
    return function;
}

/* Between which sides the op's weights are; false: it is no attention of any two. */
static bool attention_sides(const Function *forward, const Op *op, const AttentionSide *sides,
                            size_t n, AttentionOutput *out)
{
    for (size_t q = 0; q < n; q++)
        for (size_t k = 0; k < n; k++) {
            const Op *over = sides[k].input ? find_input(forward, sides[k].input) : NULL,
                     *by = sides[q].input ? find_input(forward, sides[q].input) : NULL;
            if (!over || !by || (q != k && sides[k].is_target) ||
                !is_attention(op, over->results[0].type.dims[1], by->results[0].type.dims[1]))
                continue;
            out->queries = q;
            out->keys = k;
            out->kind = q != k               ? ATTENTION_CROSS
                        : sides[q].is_target ? ATTENTION_DECODER
                                             : ATTENTION_ENCODER;
            return true;
        }
    return false;
}

static int64_t count_heads(const Type *type)
{
    int64_t heads = 1;
    for (int i = 1; i < type->rank - 2; i++)
        heads *= type->dims[i].size;
    return heads;
}

size_t expose_attentions(Function *forward, const AttentionSide *sides, size_t n, unsigned kinds,
                         AttentionOutput **outputs)
{
    Arena *arena = forward->module->arena;
    VEC(AttentionOutput) found = {0};
    Op *last = forward->body.last;
    Builder b = builder_at_end(forward);
    forward->name = "attention"; /* beside a forward of the module */
    FOR_OPS (op, &forward->body) {
        AttentionOutput one;
        bool is_last = op == last; /* outputs of our own come behind it */
        if (op->kind == OP_output)
            block_remove(&forward->body, op);
        else if (attention_sides(forward, op, sides, n, &one) && kinds >> one.kind & 1) {
            one.output = arena_printf(arena, "attention.%zu", found.count);
            one.scope = op->scope ? op->scope : "";
            one.heads = count_heads(&op->results[0].type);
            b.loc = op->loc;
            b.scope = op->scope;
            build_output(&b, one.output, op_result(op));
            vec_push(arena, found, one);
        }
        if (is_last)
            break;
    }
    remove_dead(forward);
    *outputs = found.data;
    return found.count;
}
