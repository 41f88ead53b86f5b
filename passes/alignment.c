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

/* Of what kind the op's weights are; false: it is no attention of the two. */
static bool attention_kind(const Op *op, const Op *from, const Op *to, AttentionKind *kind)
{
    const Dim *source = from ? &from->results[0].type.dims[1] : NULL,
              *target = to ? &to->results[0].type.dims[1] : NULL;
    if (source && is_attention(op, *source, *source))
        *kind = ATTENTION_ENCODER;
    else if (target && is_attention(op, *target, *target))
        *kind = ATTENTION_DECODER;
    else if (source && target && is_attention(op, *source, *target))
        *kind = ATTENTION_CROSS;
    else
        return false;
    return true;
}

static int64_t count_heads(const Type *type)
{
    int64_t heads = 1;
    for (int i = 1; i < type->rank - 2; i++)
        heads *= type->dims[i].size;
    return heads;
}

size_t expose_attentions(Function *forward, const char *source, const char *target, unsigned kinds,
                         AttentionOutput **outputs)
{
    Arena *arena = forward->module->arena;
    const Op *from = source ? find_input(forward, source) : NULL,
             *to = target ? find_input(forward, target) : NULL;
    VEC(AttentionOutput) found = {0};
    Op *last = forward->body.last;
    Builder b = builder_at_end(forward);
    forward->name = "attention"; /* beside a forward of the module */
    FOR_OPS (op, &forward->body) {
        AttentionKind kind;
        bool is_last = op == last; /* outputs of our own come behind it */
        if (op->kind == OP_output)
            block_remove(&forward->body, op);
        else if (attention_kind(op, from, to, &kind) && kinds >> kind & 1) {
            AttentionOutput one = {.output = arena_printf(arena, "attention.%zu", found.count),
                                   .scope = op->scope ? op->scope : "",
                                   .kind = kind,
                                   .heads = count_heads(&op->results[0].type)};
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
