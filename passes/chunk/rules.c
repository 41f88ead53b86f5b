/* Which ops can run for a chunk of rows at a time:
 *
 *   row region            one whose rows they are
 *   column region         that sums over the rows and keeps none of them
 *   dot                   with the rows free in one operand, or contracted in both
 *   reshape, transpose    that leave the rows where they are
 *
 * A member reads other members' values only at the rows of the current chunk, and
 * what is no member's anywhere. */
#include "passes/chunk/chunk.h"

#include "ir/infer.h"

/* Wide: a row of so many elements, and of more than WIDER times as many as each is
 * the sum of. So the logits are made again by chunks, but no hidden layer. */
enum { WIDE = 4096, WIDER = 4 };

/* How the rows of the chunk lead a tensor. */
static Lead lead_of(const Chunk *c, const Type *type)
{
    return layout_lead(c->module, type, c->symbol, c->batch);
}

/* Whether the type has one of the rows' dimensions anywhere. */
static bool names_rows(const Chunk *c, const Type *type)
{
    for (int i = 0; i < type->rank; i++)
        if (!dim_is_const(type->dims[i]) &&
            (type->dims[i].symbol == c->symbol || type->dims[i].symbol == c->batch))
            return true;
    return false;
}

/* Elements a row, 0 if that is no constant. */
static int64_t row_elements(const Type *type, const Layout *layout)
{
    int64_t n = 1;
    for (int i = 1; i < layout->n; i++)
        n *= dim_is_const(layout->axes[i].extent) ? layout->axes[i].extent.size : 0;
    return layout->n > 1 ? n : 0;
}

bool chunk_is_wide(const Chunk *c, const Type *type)
{
    Layout layout = layout_of(c->module, type);
    return lead_of(c, type).dim && row_elements(type, &layout) >= WIDE;
}

bool chunk_begin(Chunk *c, Op *dot)
{
    const Type *type = &dot->results[0].type, *a = &dot->args[0]->type;
    const Attr *contract = op_attr(dot, ATTR_contract_a);
    Layout layout = layout_of(c->module, type);
    if (!layout.n || dim_is_const(layout.axes[0].extent))
        return false;
    c->seed = dot;
    c->symbol = layout.axes[0].extent.symbol;
    c->batch = layout_is_packed(&layout) ? c->module->symbols.data[c->symbol].batch : NO_SYMBOL;
    int64_t summed = 1;
    for (int i = 0; i < contract->n; i++)
        summed *= dim_is_const(a->dims[contract->ints[i]]) ? a->dims[contract->ints[i]].size : 0;
    return summed > 0 && chunk_is_wide(c, type) && row_elements(type, &layout) > WIDER * summed;
}

/* ---- regions ---- */

/* Broadcasts the space with a type; false if they are not aligned. */
static bool widen(Type *space, const Type *type)
{
    Type both;
    if (!shape_broadcast(space, type, &both))
        return false;
    *space = both;
    return true;
}

/* The types of the body's values, and what its reductions read, as one. */
static bool body_space(const Op *region, Type *space)
{
    *space = type_scalar(DT_F32);
    FOR_OPS (op, region->body) {
        if (op->kind == OP_yield)
            continue;
        if (!widen(space, &op->results[0].type) ||
            (op_family(op) == FAMILY_reduce && !widen(space, &op->args[0]->type)))
            return false;
    }
    return true;
}

static bool reads_table(const Op *region, const Value *value)
{
    FOR_OPS (op, region->body)
        if (op->kind == OP_gather && (op->args[0] == value || op->args[1] == value))
            return true;
    return false;
}

/* MISS_NONE if the region reads members' values at its own rows alone. */
static Miss why_not_operands(const Chunk *c, const Op *region, Lead space)
{
    for (int i = 0; i < region->n_args; i++) {
        const Value *value = region->args[i];
        if (!is_member(c, value->op))
            continue;
        if (chunk_sums(c, value->op))
            return MISS_CHUNK_TOTAL;
        if (!same_lead(lead_of(c, &value->type), space))
            return MISS_CHUNK_ROWS;
        if (reads_table(region, value))
            return MISS_CHUNK_WHOLE;
    }
    return MISS_NONE;
}

static Miss why_not_row(const Chunk *c, const Op *op)
{
    Type space;
    if (!body_space(op, &space))
        return MISS_CHUNK_ROWS;
    Lead lead = lead_of(c, &space);
    if (!lead.dim || layout_of(c->module, &space).n < 2)
        return MISS_CHUNK_ROWS;
    for (int r = 0; r < op->n_results; r++)
        if (!same_lead(lead_of(c, &op->results[r].type), lead))
            return MISS_CHUNK_ROWS;
    FOR_OPS (inner, op->body)
        if (inner->kind == OP_lookup)
            return MISS_CHUNK_WHOLE;
    return why_not_operands(c, op, lead);
}

/* What a kernel called for some of the rows would not know. */
static bool needs_all_rows(const Op *op)
{
    return op->kind == OP_dropout || op->kind == OP_random || op->kind == OP_size ||
           op->kind == OP_lengths || op->kind == OP_lookup;
}

static Miss why_not_column(const Chunk *c, const Op *op)
{
    Type space;
    if (!body_space(op, &space))
        return MISS_CHUNK_ROWS;
    FOR_OPS (inner, op->body) {
        if (op_family(inner) == FAMILY_reduce && inner->kind != OP_reduce_sum)
            return MISS_CHUNK_SUM;
        if (needs_all_rows(inner))
            return MISS_CHUNK_SUM;
    }
    for (int r = 0; r < op->n_results; r++)
        if (names_rows(c, &op->results[r].type))
            return MISS_CHUNK_SUM;
    Lead lead = lead_of(c, &space);
    return lead.dim ? why_not_operands(c, op, lead) : MISS_CHUNK_ROWS;
}

/* ---- products ---- */

/* Rows free, all else contracted, and the other operand has none. */
static bool rows_are_free(const Chunk *c, const Type *type, const Attr *contract, const Type *other)
{
    Lead lead = lead_of(c, type);
    if (!lead.dim || names_rows(c, other))
        return false;
    for (int i = 0; i < type->rank; i++) {
        bool rows = i == type->rank - lead.dim || (lead.batch && i == type->rank - lead.batch);
        if (rows == attr_lists(contract, i))
            return false;
    }
    return true;
}

/* Whether the product sums over the rows, and over nothing else. */
static bool rows_are_summed(const Chunk *c, const Op *dot)
{
    const Attr *ca = op_attr(dot, ATTR_contract_a), *cb = op_attr(dot, ATTR_contract_b);
    const Type *a = &dot->args[0]->type, *b = &dot->args[1]->type;
    Lead la = lead_of(c, a), lb = lead_of(c, b);
    if (!la.dim || !lb.dim || ca->n != (c->batch == NO_SYMBOL ? 1 : 2))
        return false;
    for (int i = 0; i < ca->n; i++) {
        bool dims = ca->ints[i] == a->rank - la.dim && cb->ints[i] == b->rank - lb.dim;
        bool batches =
            la.batch && ca->ints[i] == a->rank - la.batch && cb->ints[i] == b->rank - lb.batch;
        if (!dims && !batches)
            return false;
    }
    return true;
}

static Miss why_not_dot(const Chunk *c, const Op *op)
{
    const Attr *ca = op_attr(op, ATTR_contract_a), *cb = op_attr(op, ATTR_contract_b);
    const Type *a = &op->args[0]->type, *b = &op->args[1]->type;
    bool runs =
        op_attr(op, ATTR_batch_a)->n == 0 &&
        (rows_are_free(c, a, ca, b) || rows_are_free(c, b, cb, a) || rows_are_summed(c, op));
    return runs ? MISS_NONE : MISS_CHUNK_SIDE;
}

/* ---- all ops ---- */

bool chunk_sums(const Chunk *c, const Op *op)
{
    return op->n_results && !lead_of(c, &op->results[0].type).dim;
}

Miss chunk_why_not(const Chunk *c, const Op *op)
{
    if (op_attr(op, ATTR_chunk))
        return MISS_CHUNK_OTHER;
    switch (op->kind) {
    case OP_row: return why_not_row(c, op);
    case OP_column: return why_not_column(c, op);
    case OP_dot: return why_not_dot(c, op);
    case OP_reshape:
    case OP_transpose:
        return lead_of(c, &op->args[0]->type).dim && lead_of(c, &op->results[0].type).dim
                   ? MISS_NONE
                   : MISS_CHUNK_WHOLE;
    default: return MISS_CHUNK_WHOLE;
    }
}
