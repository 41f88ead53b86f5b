/* Products of attention regions; see tiles.h. */
#include "codegen/tiles.h"

#include <assert.h>

static bool is_operand(const Op *region, const Value *value)
{
    for (int i = 0; i < region->n_args; i++)
        if (region->args[i] == value)
            return true;
    return false;
}

static bool lists(const Attr *attr, int axis, int *at)
{
    for (*at = 0; *at < attr->n; (*at)++)
        if (attr->ints[*at] == axis)
            return true;
    return false;
}

/* [batch, queries…, d] with [batch, keys, d]: the result's axes are the scores'. */
static void find_scores_axes(TileProduct *p)
{
    const Type *a = &p->op->args[0]->type;
    int n_batch = op_attr(p->op, ATTR_batch_a)->n;
    p->use = TILE_SCORES;
    p->depth = a->dims[a->rank - 1].size;
    for (int i = 0; i + 1 < a->rank; i++)
        p->axes[0][i] = i;
    for (int i = 0; i < n_batch; i++)
        p->axes[1][i] = i;
    p->axes[1][n_batch] = p->op->results[0].type.rank - 1;
    p->axes[0][a->rank - 1] = p->axes[1][n_batch + 1] = DEPTH_AXIS;
}

/* Scores with [batch, contracted…, d]: the result has batch, the scores' other axes, d. */
static void find_use_axes(TileProduct *p)
{
    const Type *a = &p->op->args[0]->type, *b = &p->op->args[1]->type;
    const Attr *batch = op_attr(p->op, ATTR_batch_a), *contract = op_attr(p->op, ATTR_contract_a);
    int keys = a->rank - 1, at, n = 0;
    p->use = contract->n == 1 && contract->ints[0] == keys ? TILE_ROWS : TILE_COLUMNS;
    p->depth = b->dims[b->rank - 1].size;
    for (int i = 0; i < batch->n; i++)
        p->axes[1][i] = p->axes[2][n++] = batch->ints[i];
    for (int i = 0; i < contract->n; i++)
        p->axes[1][batch->n + i] = contract->ints[i];
    for (int i = 0; i < a->rank; i++)
        if (!lists(batch, i, &at) && !lists(contract, i, &at))
            p->axes[2][n++] = i;
    p->axes[1][b->rank - 1] = p->axes[2][n] = DEPTH_AXIS;
}

static void keep_batch(Tiles *t, const TileProduct *p)
{
    int at;
    for (int i = 0; i + 2 < t->scores.rank; i++)
        t->unit[i] &= lists(op_attr(p->op, ATTR_batch_a), i, &at);
}

Tiles tiles_of(const Op *attention)
{
    Tiles t = {0};
    FOR_OPS (op, attention->body) {
        if (op->kind != OP_dot)
            continue;
        assert(t.n < MAX_TILE_PRODUCTS);
        TileProduct *p = &t.products[t.n++];
        p->op = op;
        if (is_operand(attention, op->args[0])) {
            find_scores_axes(p);
            t.scores = op->results[0].type;
        } else {
            find_use_axes(p);
        }
    }
    assert(t.scores.rank >= 2 && "an attention region has scores");
    for (int i = 0; i < t.scores.rank; i++)
        t.unit[i] = i + 2 < t.scores.rank;
    for (int i = 0; i < t.n; i++)
        keep_batch(&t, &t.products[i]);
    return t;
}
