/* How long values live, what they hold meanwhile, and what it takes to make them: the
 * estimate that pass recompute goes by. What is written over an operand, copied for a
 * kernel or padded between buffers is not seen here. */
#include "passes/recompute/recompute.h"

#include <limits.h>
#include <string.h>

/* Operations that take as long as moving a byte; rows that a chunk holds, roughly. */
enum { OPERATIONS_A_BYTE = 10, CHUNK_ROWS = 256 };

/* ---- sizes and work ---- */

double held_bytes(const Recomputing *r, const Value *value)
{
    const Life *life = life_of(r, value);
    Layout layout = layout_of(r->function->module, &value->type);
    double bytes = sizes_bytes(&r->sizes, &value->type);
    if (life->root != value || life->in_param || op_family(value->op) == FAMILY_leaf)
        return 0;
    if (op_chunk(value->op) == NO_CHUNK || life->escapes || !layout.n)
        return bytes;
    double rows = sizes_axis(&r->sizes, &layout.axes[0]);
    return rows > CHUNK_ROWS ? bytes / rows * CHUNK_ROWS : bytes;
}

double work_of(const Recomputing *r, const Op *op)
{
    double bytes = 0;
    if (op_is_view(op))
        return 0;
    for (int i = 0; i < op->n_args; i++)
        bytes += sizes_bytes(&r->sizes, &op->args[i]->type);
    for (int i = 0; i < op->n_results; i++)
        bytes += sizes_bytes(&r->sizes, &op->results[i].type);
    return product_flops(&r->sizes, op) + OPERATIONS_A_BYTE * bytes;
}

/* ---- lives ---- */

Life *lives_add(Recomputing *r, Value *value)
{
    Life *life = ARENA_NEW(r->arena, Life);
    *life = (Life){.root = op_is_view(value->op) ? life_of(r, value->op->args[0])->root : value,
                   .from = INT_MAX};
    side_set_value(&r->lives, value, life);
    return life;
}

static void begin_lives(Recomputing *r, int *position)
{
    FOR_OPS (op, &r->function->body) {
        side_set_number(&r->positions, op, (*position)++);
        for (int i = 0; i < op->n_results; i++) {
            Life *life = life_of(r, &op->results[i]);
            life->from = life->to = position_of(r, op);
            life->gone = life->escapes = false;
        }
    }
}

static void end_lives(Recomputing *r, int end)
{
    FOR_OPS (op, &r->function->body)
        for (int i = 0; i < op->n_args; i++) {
            Life *life = root_life(r, op->args[i]);
            life->output |= op->kind == OP_output;
            life->to = life->output ? end : position_of(r, op);
            life->escapes |= op_chunk(op) != op_chunk(life->root->op);
            life->in_param |= op->kind == OP_assign && i == 1;
        }
}

Op *chunk_first(Op *op)
{
    while (op_chunk(op) != NO_CHUNK && op->previous && op_chunk(op->previous) == op_chunk(op))
        op = op->previous;
    return op;
}

static Op *chunk_last(Op *op)
{
    while (op_chunk(op) != NO_CHUNK && op->next && op_chunk(op->next) == op_chunk(op))
        op = op->next;
    return op;
}

void lives_measure(Recomputing *r)
{
    int n = 0;
    begin_lives(r, &n);
    end_lives(r, n);
    r->live = ARENA_ARRAY(r->arena, double, n + 2); /* zeros */
    FOR_OPS (op, &r->function->body)
        for (int i = 0; i < op->n_results; i++) {
            const Life *life = life_of(r, &op->results[i]);
            double bytes = held_bytes(r, &op->results[i]);
            r->live[life->from] += bytes;
            r->live[life->to + 1] -= bytes;
        }
    double sum = 0;
    r->peak = -1;
    FOR_OPS (op, &r->function->body) {
        sum += r->live[position_of(r, op)];
        if (sum > r->peak) {
            r->peak = sum;
            r->first = op;
        }
    }
    r->last = chunk_last(r->first);
    r->first = chunk_first(r->first);
}

static void set_sizes(Recomputing *r, const MemoryBudget *budget)
{
    const Module *module = r->function->module;
    r->sizes = sizes_new(r->arena, module);
    for (int i = 0; i < budget->n_dims; i++) {
        int s = module_symbol(module, budget->dims[i].name);
        if (s == NO_SYMBOL)
            continue;
        r->sizes.extents[s] = (double)budget->dims[i].extent;
        r->sizes.totals[s] = (double)budget->dims[i].total;
    }
    sizes_make(&r->sizes);
}

void lives_begin(Recomputing *r, const MemoryBudget *budget)
{
    set_sizes(r, budget);
    FOR_OPS (op, &r->function->body)
        for (int i = 0; i < op->n_results; i++)
            lives_add(r, &op->results[i]);
    lives_measure(r);
}
