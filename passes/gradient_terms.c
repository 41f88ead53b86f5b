/* Splitting a sum into its sparse and its other terms. */
#include "passes/derive.h"

#include "ir/builder.h"

static bool is_sparse(const SideTable *sparse, const Value *value)
{
    return side_number(sparse, value->op);
}

static bool gives_sparse(const SideTable *sparse, const Op *op)
{
    switch (op->kind) {
    case OP_scatter_add: return true;
    case OP_add: return is_sparse(sparse, op->args[0]) && is_sparse(sparse, op->args[1]);
    case OP_mul: return is_sparse(sparse, op->args[0]) || is_sparse(sparse, op->args[1]);
    default: return false;
    }
}

SideTable find_sparse(const Function *function)
{
    SideTable sparse = side_new(function->module->arena);
    FOR_OPS (op, &function->body)
        side_set_number(&sparse, op, gives_sparse(&sparse, op));
    return sparse;
}

/* A sum of two that may belong to both kinds. */
static bool is_mixed(const SideTable *sparse, const Value *sum)
{
    const Op *op = sum->op;
    return op->kind == OP_add && !is_sparse(sparse, sum) &&
           type_equal(&op->args[0]->type, &sum->type) && type_equal(&op->args[1]->type, &sum->type);
}

static bool has_sparse(const SideTable *sparse, const Value *sum)
{
    bool has = is_sparse(sparse, sum);
    for (; !has && is_mixed(sparse, sum); sum = sum->op->args[0])
        has = is_sparse(sparse, sum->op->args[0]) || is_sparse(sparse, sum->op->args[1]);
    return has;
}

/* `at`: the op that added the term, NULL for the first. */
static void add_term(Function *function, const SideTable *sparse, GradientTerms *terms, Value *term,
                     Op *at)
{
    Value **sum = is_sparse(sparse, term) ? &terms->sparse : &terms->dense;
    if (!*sum) {
        *sum = term;
        return;
    }
    Builder b = builder_behind(function, &function->body, at);
    b.loc = at->loc;
    b.scope = at->scope;
    *sum = build_binary(&b, OP_add, *sum, term);
}

static void add_terms(Function *function, const SideTable *sparse, GradientTerms *terms, Value *sum)
{
    if (!is_mixed(sparse, sum)) {
        add_term(function, sparse, terms, sum, NULL);
        return;
    }
    add_terms(function, sparse, terms, sum->op->args[0]);
    add_term(function, sparse, terms, sum->op->args[1], sum->op);
}

GradientTerms split_terms(Function *function, const SideTable *sparse, Value *sum)
{
    GradientTerms terms = {0};
    if (has_sparse(sparse, sum))
        add_terms(function, sparse, &terms, sum);
    else
        terms.dense = sum;
    return terms;
}
