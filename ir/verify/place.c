/* What may stand where: in a function, and in the bodies of regions. */
#include "ir/layout.h"
#include "ir/verify/verify.h"

/* What may stand in a region's body: what is computed element by element, and reductions;
 * nothing with a kernel of its own. NULL, or what is wrong. */
static const char *body_problem(const Op *region, const Op *op)
{
    switch (op_family(op)) {
    case FAMILY_elementwise:
    case FAMILY_reduce:
    case FAMILY_shape:
    case FAMILY_index: return NULL;
    case FAMILY_matmul:
        if (region->kind == OP_attention)
            return NULL;
        break;
    case FAMILY_leaf:
        if (op->kind == OP_input || op->kind == OP_param)
            return "stands in the body of a region; pass it as an operand";
        return NULL;
    case FAMILY_effect:
        if (op->kind != OP_yield)
            return "stands in the body of a region";
        return op == region->body->last ? NULL : "is not the last op of the body";
    default: break;
    }
    return "cannot stand in the body of a region";
}

bool verify_place(Verifier *v, const Op *op)
{
    const char *problem = NULL;
    if (v->region)
        problem = body_problem(v->region, op);
    else if (op->kind == OP_yield)
        problem = "stands outside a region";
    return problem ? verify_fail(v, op, "%s", problem) : true;
}

/* Marks what the body reads from outside; each must be an operand, once. */
static bool check_captures(Verifier *v, const Op *region)
{
    bool fits = true;
    Map read;
    map_init(&read, v->arena);
    for (const Op *op = region->body->first; op; op = op->next)
        for (int i = 0; i < op->n_args; i++)
            if (op->args[i]->op != region && verify_region_of(v, op->args[i]) != region)
                map_set(&read, arena_printf(v->arena, "%p", (void *)op->args[i]), op->args[i]);
    for (int i = 0; i < region->n_args; i++) {
        const char *key = arena_printf(v->arena, "%p", (void *)region->args[i]);
        for (int j = 0; j < i; j++)
            if (region->args[j] == region->args[i])
                return verify_fail(v, region, "operand %%%d is listed twice", region->args[i]->id);
        if (!map_has(&read, key))
            fits =
                verify_fail(v, region, "operand %%%d is not read by the body", region->args[i]->id);
        map_set(&read, key, NULL);
    }
    for (size_t i = 0; i < read.count; i++)
        if (read.entries[i].value)
            fits = verify_fail(v, region, "the body reads %%%d, which is no operand",
                               ((Value *)read.entries[i].value)->id);
    return fits;
}

/* What follows a product reads it, and makes one element of each of its elements. */
static bool check_epilogue(Verifier *v, const Op *region)
{
    const Attr *attr = op_attr(region, ATTR_epilogue);
    if (!attr)
        return true;
    if (attr->i < 0 || attr->i >= region->n_args || region->args[attr->i]->op->kind != OP_dot)
        return verify_fail(v, region, "attribute epilogue names no operand that is a product");
    for (int r = 0; r < region->n_results; r++)
        if (!type_same_shape(&region->results[r].type, &region->args[attr->i]->type))
            return verify_fail(v, region, "an epilogue gives results of its product's shape");
    FOR_OPS (op, region->body)
        if (op_family(op) != FAMILY_elementwise && op_family(op) != FAMILY_leaf &&
            op->kind != OP_broadcast && op->kind != OP_yield)
            return verify_fail(v, op, "cannot stand in an epilogue, which goes element by element");
    return true;
}

bool verify_region(Verifier *v, const Op *op)
{
    if (v->region)
        return verify_fail(v, op, "cannot stand in the body of a region");
    if (!op->body || !op->body->last || op->body->last->kind != OP_yield)
        return verify_fail(v, op, "the body must end with a yield");
    v->region = op;
    bool fits = verify_block(v, op->body);
    v->region = NULL;
    return fits && check_captures(v, op) && check_epilogue(v, op);
}

/* Rows are reduced along the last axis as it is stored, columns along the others. */
bool verify_reduction(Verifier *v, const Op *op)
{
    const Attr *axes = op_attr(op, ATTR_axes);
    bool row = v->region->kind != OP_column;
    Layout layout = layout_of(v->module, &op->args[0]->type);
    int last = layout.axes[layout.n - 1].dim; /* a reduction has an axis */
    for (int i = 0; i < axes->n; i++)
        if ((axes->ints[i] == last) != row)
            return verify_fail(v, op, "in a %s region it goes along %s, not along axis %d",
                               op_info[v->region->kind].name,
                               row ? "the last axis" : "axes other than the last", axes->ints[i]);
    return true;
}

/* A cache has a place for each position. */
static bool is_cache(const Type *type) { return type->rank > 0 && !dim_is_const(type->dims[0]); }

/* A lookup in the table that a program does not have in the same form; NULL: there is none. */
static const Op *other_lookup(const Op *op, const Op *gather)
{
    if (op->body)
        FOR_OPS (inner, op->body)
            if (inner->kind == OP_gather && other_lookup(inner, gather))
                return inner;
    return op->kind == OP_gather && op->args[0] == gather->args[0] &&
                   (!op_is_packed_lookup(op) || op_quant(op) != op_quant(gather))
               ? op
               : NULL;
}

/* A program has the table in another form, in which no other op of the region can read it. */
bool verify_table(Verifier *v, const Op *gather)
{
    const Value *table = gather->args[0];
    if (!op_is_packed_lookup(gather))
        return true;
    if (table->op->kind != OP_param)
        return verify_fail(v, gather, "panels need a param as the table");
    FOR_OPS (op, &v->function->body) {
        if (op->kind == OP_assign && !is_cache(&op->args[0]->type))
            return verify_fail(v, gather, "panels need a function that assigns no params");
        if (other_lookup(op, gather))
            return verify_fail(v, gather, "another lookup reads its table in another form");
    }
    if (v->region)
        FOR_OPS (op, v->region->body)
            for (int i = 0; i < op->n_args; i++)
                if (op->args[i] == table && (i || op->kind != OP_gather))
                    return verify_fail(v, gather, "another op of the region reads its table, too");
    return true;
}
