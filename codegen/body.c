/* Bodies of kernels; see body.h. */
#include "codegen/body.h"

bool op_is_own_kernel(const Op *op)
{
    switch (op->kind) {
    case OP_scatter_add:
    case OP_lookup_add:
    case OP_top_k:
    case OP_ctc:
    case OP_ctc_grad:
    case OP_append:
    case OP_concat: return true;
    default: return false;
    }
}

int body_number(const Body *body, const Value *value)
{
    for (int i = 0; i < body->n_inputs; i++)
        if (body->inputs[i] == value)
            return i;
    for (int i = 0; i < body->n_ops; i++)
        if (op_result((Op *)body->ops[i].op) == value)
            return body->n_inputs + i;
    return -1;
}

typedef struct BodyMarks {
    bool *used, *aligned; /* by number */
} BodyMarks;

static void mark(const Body *body, BodyMarks *marks, const Value *value, bool aligned)
{
    int n = body_number(body, value);
    marks->used[n] = true;
    marks->aligned[n] |= aligned;
}

/* From the results back: who is used, and who at aligned coordinates. */
static void mark_uses(const Body *body, BodyMarks *marks)
{
    for (int i = 0; i < body->n_results; i++)
        mark(body, marks, body->yields[i], true);
    for (int i = body->n_ops - 1; i >= 0; i--) {
        const Op *op = body->ops[i].op;
        int n = body->n_inputs + i;
        bool keeps = op_family(op) == FAMILY_elementwise || op_family(op) == FAMILY_reduce ||
                     op->kind == OP_broadcast;
        for (int j = 0; marks->used[n] && j < op->n_args; j++) {
            bool scores = op->kind == OP_dot && body_number(body, op->args[j]) >= body->n_inputs;
            mark(body, marks, op->args[j], scores || (marks->aligned[n] && keeps));
        }
    }
}

static void list_ops(Arena *arena, const Op *op, Body *body)
{
    int n = 0;
    if (!op->body) {
        body->ops = ARENA_ARRAY(arena, BodyOp, 1);
        body->ops[body->n_ops++].op = op;
        return;
    }
    FOR_OPS (inner, op->body)
        n++;
    body->ops = ARENA_ARRAY(arena, BodyOp, n);
    FOR_OPS (inner, op->body)
        if (inner->kind != OP_yield)
            body->ops[body->n_ops++].op = inner;
}

Body body_of(Arena *arena, const Op *op)
{
    Body body = {.n_inputs = op->n_args, .inputs = op->args, .n_results = op->n_results};
    list_ops(arena, op, &body);
    if (op->body) {
        body.yields = op->body->last->args;
    } else {
        Value **yields = ARENA_ARRAY(arena, Value *, 1);
        yields[0] = op_result((Op *)op);
        body.yields = yields;
    }
    int n = body.n_inputs + body.n_ops;
    BodyMarks marks = {ARENA_ARRAY(arena, bool, n), ARENA_ARRAY(arena, bool, n)};
    mark_uses(&body, &marks);
    int kept = 0, randoms = 0;
    for (int i = 0; i < body.n_ops; i++) {
        BodyOp b = body.ops[i];
        b.aligned = marks.aligned[body.n_inputs + i];
        b.random = -1;
        if (!marks.used[body.n_inputs + i])
            continue;
        if (b.op->kind == OP_dropout || b.op->kind == OP_random)
            b.random = randoms++;
        body.ops[kept++] = b;
    }
    body.n_ops = kept;
    body.input_aligned = marks.aligned;
    return body;
}
