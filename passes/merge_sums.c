/* The other half of merge_products: a sum of products of one block becomes one product.
 *
 *   add (add (dot %dq, %wq) (dot %dk, %wk)) (dot %dv, %wv)
 *       ⇒   dot (concat %dq, %dk, %dv) (concat %wq, %wk, %wv)
 *
 * The last sum of the function goes first, and of sums within sums the outermost. */
#include "passes/merge_products.h"

#include "passes/clone.h"

/* dot a, b over the last axis of a and the last of b (rank 2). */
static bool is_backward_product(const Value *v)
{
    const Op *op = v->op;
    if (op->kind != OP_dot || op_attr(op, ATTR_batch_a)->n)
        return false;
    const Attr *ca = op_attr(op, ATTR_contract_a), *cb = op_attr(op, ATTR_contract_b);
    return ca->n == 1 && ca->ints[0] == op->args[0]->type.rank - 1 && cb->ints[0] == 1 &&
           op->args[1]->type.rank == 2 && dim_is_const(op->args[1]->type.dims[1]);
}

enum { MOST_TERMS = 12 };

static bool is_sum(const Op *op)
{
    const Type *type = &op->results[0].type;
    return op->kind == OP_add && type_equal(&op->args[0]->type, type) &&
           type_equal(&op->args[1]->type, type);
}

/* The terms of a sum of adds that are used once, behind n others and before `more` to come;
 * MOST_TERMS: there are as many or more. */
static int collect_terms(Value *v, bool root, Value **terms, int n, int more)
{
    if (n + more + 1 >= MOST_TERMS)
        return MOST_TERMS;
    if (!is_sum(v->op) || !(root || value_is_used_once(v))) {
        terms[n] = v;
        return n + 1;
    }
    n = collect_terms(v->op->args[0], false, terms, n, more + 1);
    return n == MOST_TERMS ? n : collect_terms(v->op->args[1], false, terms, n, more);
}

static bool is_mergeable(const Value *term)
{
    return is_backward_product(term) && value_is_used_once(term);
}

/* Places among the terms of the first one that may be merged and of all that go with it, in
 * `members`; how many, 0 where no two do. */
static int find_members(Value *const *terms, int count, int members[MOST_MERGED])
{
    for (int first = 0; first < count; first++) {
        int n = 0;
        for (int i = first; is_mergeable(terms[first]) && i < count && n < MOST_MERGED; i++)
            if (is_mergeable(terms[i]) &&
                terms[i]->op->args[0]->type.dtype == terms[first]->op->args[0]->type.dtype &&
                (i == first || merge_same_parent(terms[i]->op, terms[first]->op)))
                members[n++] = i;
        if (n >= 2)
            return n;
    }
    return 0;
}

/* One product of operands joined along what is summed over. */
static Value *join_products(Builder *b, Op **group, int n)
{
    Value *parts_a[MOST_MERGED], *parts_b[MOST_MERGED];
    for (int i = 0; i < n; i++) {
        b->loc = loc_join(b->function->module->arena, b->loc, group[i]->loc);
        parts_a[i] = group[i]->args[0];
        parts_b[i] = group[i]->args[1];
    }
    Value *x = build_concat(b, n, parts_a, parts_a[0]->type.rank - 1);
    Value *w = build_concat(b, n, parts_b, 1);
    return build(b, OP_dot, 2, (Value *[]){x, w}, group[0]->n_attrs, group[0]->attrs);
}

/* The sum with products that belong together as one; NULL: there are none. */
static Value *merge_sum(Function *function, Op *add)
{
    Value *terms[MOST_TERMS];
    int count = collect_terms(op_result(add), true, terms, 0, 0);
    int members[MOST_MERGED], n = count < MOST_TERMS ? find_members(terms, count, members) : 0;
    if (!n)
        return NULL;
    Op *group[MOST_MERGED];
    for (int i = 0; i < n; i++) {
        group[i] = terms[members[i]]->op;
        terms[members[i]] = NULL;
    }
    merge_sort_by_scope(group, n);
    Builder b = builder_before(function, &function->body, add);
    Value *sum = join_products(&b, group, n);
    for (int i = 0; i < count; i++)
        if (terms[i])
            sum = build_binary(&b, OP_add, sum, terms[i]);
    value_replace(op_result(add), sum);
    remove_unused(function, add);
    return sum;
}

/* The sum of which this one is a term or a part; NULL: there is none. */
static Op *sum_around(const Op *op)
{
    const Value *v = &op->results[0];
    Op *user = value_is_used_once(v) ? v->first_use->user : NULL;
    return user && is_sum(user) ? user : NULL;
}

/* A sum around one that was merged has fewer terms now, and may be merged in turn: the outermost
 * that can be. What it became, or NULL. */
static Op *merge_around(Function *function, const Op *merged)
{
    Op *around[MOST_TERMS];
    int n = 0;
    for (Op *op = sum_around(merged); op && n < MOST_TERMS; op = sum_around(op))
        around[n++] = op;
    while (n-- > 0) {
        const Value *sum = merge_sum(function, around[n]);
        if (sum)
            return sum->op;
    }
    return NULL;
}

void merge_sums(Function *function)
{
    for (Op *op = function->body.last; op; op = op->previous)
        while (op->n_results && op_result(op)->type.rank && is_sum(op)) {
            const Value *sum = merge_sum(function, op);
            if (!sum)
                break;
            op = sum->op;
            for (Op *around; (around = merge_around(function, op));)
                op = around;
        }
}

void report_apart_sums(Function *function, Report *report)
{
    FOR_OPS (add, &function->body) {
        if (add->kind != OP_add || !is_backward_product(add->args[0]) ||
            !is_backward_product(add->args[1]))
            continue;
        Miss why = !value_is_used_once(add->args[0]) || !value_is_used_once(add->args[1])
                       ? MISS_SUM_SHARED
                   : !merge_same_parent(add->args[0]->op, add->args[1]->op) ? MISS_SUM_BLOCKS
                                                                            : MISS_NONE;
        if (why != MISS_NONE)
            report_miss(report, add, why, "the sum of two dots into one");
    }
}
