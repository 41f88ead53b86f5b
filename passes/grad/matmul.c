/* Gradients of contractions. For c = a · b, da contracts dc with b over b's free
 * axes, db contracts a with dc over a's free axes; the result is then put back
 * into the operand's order of axes. */
#include "passes/grad/grad.h"

typedef struct Side {
    int batch[MAX_RANK], contract[MAX_RANK], free[MAX_RANK], n_free;
} Side;

static Side side_of(const Type *type, const Attr *batch, const Attr *contract)
{
    Side side = {.n_free = 0};
    bool used[MAX_RANK] = {0};
    for (int i = 0; i < batch->n; i++)
        used[side.batch[i] = batch->ints[i]] = true;
    for (int i = 0; i < contract->n; i++)
        used[side.contract[i] = contract->ints[i]] = true;
    for (int i = 0; i < type->rank; i++)
        if (!used[i])
            side.free[side.n_free++] = i;
    return side;
}

/* Gradient of operand `which`. dy's axes are batch, free of a, free of b. The
 * operands of the new dot are in the order that gives the axes of x @ w's operands
 * as they are: da = dy · b, db = a · dy. */
static Value *side_gradient(Grad *g, Value *dy, Value *other, int which, const Side *mine,
                            const Side *theirs, int n_batch, int n_contract)
{
    int dy_batch[MAX_RANK], dy_contract[MAX_RANK], perm[MAX_RANK];
    DType type = other->type.dtype; /* of bf16 the product may be f32, and so its gradient */
    other = build_cast(&g->b, other, dy->type.dtype);
    int theirs_at = n_batch + (which == 0 ? mine->n_free : 0);
    for (int i = 0; i < n_batch; i++)
        dy_batch[i] = i;
    for (int i = 0; i < theirs->n_free; i++)
        dy_contract[i] = theirs_at + i;
    Value *dx = which == 0 ? build_dot(&g->b, dy, other, n_batch, dy_batch, theirs->batch,
                                       theirs->n_free, dy_contract, theirs->free)
                           : build_dot(&g->b, other, dy, n_batch, theirs->batch, dy_batch,
                                       theirs->n_free, theirs->free, dy_contract);
    /* dx's axes: batch; my free ones and, behind (da) or before (db) them, the
     * other's contracted axes in ascending order */
    int free_at = n_batch + (which == 0 ? 0 : n_contract);
    int contract_at = n_batch + (which == 0 ? mine->n_free : 0);
    for (int i = 0; i < n_batch; i++)
        perm[mine->batch[i]] = i;
    for (int i = 0; i < mine->n_free; i++)
        perm[mine->free[i]] = free_at + i;
    for (int i = 0; i < n_contract; i++) {
        int rank = 0;
        for (int j = 0; j < n_contract; j++)
            rank += theirs->contract[j] < theirs->contract[i];
        perm[mine->contract[i]] = contract_at + rank;
    }
    return dx ? build_cast(&g->b, build_transpose(&g->b, dx, perm), type) : NULL;
}

void grad_dot(Grad *g, Op *op, Value *dy)
{
    const Attr *batch_a = op_attr(op, ATTR_batch_a), *contract_a = op_attr(op, ATTR_contract_a);
    const Attr *batch_b = op_attr(op, ATTR_batch_b), *contract_b = op_attr(op, ATTR_contract_b);
    Value *a = op->args[0], *b = op->args[1];
    Side sa = side_of(&a->type, batch_a, contract_a), sb = side_of(&b->type, batch_b, contract_b);
    if (grad_wanted(g, op, 0))
        grad_give(g, op, 0, side_gradient(g, dy, b, 0, &sa, &sb, batch_a->n, contract_a->n));
    if (grad_wanted(g, op, 1))
        grad_give(g, op, 1, side_gradient(g, dy, a, 1, &sb, &sa, batch_a->n, contract_a->n));
}

/* Each row's matrix is the same one, the other way round; of a matrix, what its rows add. */
void grad_grouped_dot(Grad *g, Op *op, Value *dy)
{
    Value *x = op->args[0], *w = op->args[1], *index = op->args[2];
    const int axis = (int)op_int(op, ATTR_axis);
    const int64_t size = w->type.dims[0].size;
    Value *dy_as_x = build_cast(&g->b, dy, x->type.dtype);
    if (grad_wanted(g, op, 0))
        grad_give(g, op, 0,
                  build_cast(&g->b, build_grouped_dot(&g->b, dy_as_x, w, index, 3 - axis),
                             x->type.dtype));
    if (grad_wanted(g, op, 1))
        grad_give(g, op, 1,
                  build_cast(&g->b,
                             axis == 1 ? build_grouped_outer(&g->b, x, dy_as_x, index, size)
                                       : build_grouped_outer(&g->b, dy_as_x, x, index, size),
                             w->type.dtype));
}

void grad_grouped_outer(Grad *g, Op *op, Value *dy)
{
    Value *index = op->args[2];
    Value *w = build_cast(&g->b, dy, op->args[0]->type.dtype);
    for (int i = 0; i < 2; i++)
        if (grad_wanted(g, op, i))
            grad_give(g, op, i,
                      build_cast(&g->b, build_grouped_dot(&g->b, op->args[!i], w, index, i ? 1 : 2),
                                 op->args[i]->type.dtype));
}
