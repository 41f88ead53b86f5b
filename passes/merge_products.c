/* merge_products: products of one block that share an operand become one.
 *
 *   %q = dot %x, %wq                      %w = concat %wq, %wk, %wv {axis = 1}
 *   %k = dot %x, %wk              ⇒       %y = dot %x, %w
 *   %v = dot %x, %wv                      %q = slice %y …; %k = slice %y …; …
 *
 * so that query, key and value are one product; where a bias is added to each of them,
 * the biases are put side by side, too, and added at once. The same for their weights'
 * gradients (x · dq, x · dk, x · dv). And the sum of products that comes back,
 *
 *   add (add (dot %dq, %wq) (dot %dk, %wk)) (dot %dv, %wv)
 *       ⇒   dot (concat %dq, %dk, %dv) (concat %wq, %wk, %wv)
 *
 * Only products whose scopes have the same parent (one attention block) are
 * merged: values of different layers would have to be kept for one another.
 * Sums are taken in another order then: results differ by rounding. In encode and in a
 * decoding step they stay apart, and so they do with integers in every function: each
 * reads its weight as panels (prepack, quantize), which are there once for all functions
 * and in the files of compiled models. */
#include "passes/clone.h"
#include "passes/pass.h"
#include "passes/prepack.h"
#include "passes/simplify.h"

#include <string.h>

bool pass_merge_products(Function *function, PassContext *context);

enum { MOST_MERGED = 4 };

static bool same_parent(const Op *a, const Op *b)
{
    if (!a->scope || !b->scope)
        return false;
    const char *x = strrchr(a->scope, '.'), *y = strrchr(b->scope, '.');
    size_t n = x ? (size_t)(x - a->scope) : 0, m = y ? (size_t)(y - b->scope) : 0;
    return n == m && !strncmp(a->scope, b->scope, n);
}

static bool same_attr(const Op *a, const Op *b, AttrName name)
{
    const Attr *x = op_attr(a, name), *y = op_attr(b, name);
    return x->n == y->n && !memcmp(x->ints, y->ints, sizeof(int) * (size_t)x->n);
}

/* All three kinds put their parts in the order of scopes (key, query, value), so
 * that they concatenate the same values. */
static void sort_by_scope(Op **group, int n)
{
    for (int i = 1; i < n; i++)
        for (int k = i; k > 0 && strcmp(group[k]->scope, group[k - 1]->scope) < 0; k--) {
            Op *other = group[k];
            group[k] = group[k - 1];
            group[k - 1] = other;
        }
}

/* The last axis of b is its only free one, constant, and there is no batch. */
static bool ends_free(const Op *dot)
{
    const Attr *contract = op_attr(dot, ATTR_contract_b);
    const Type *b = &dot->args[1]->type;
    bool last = false;
    for (int i = 0; i < contract->n; i++)
        last |= contract->ints[i] == b->rank - 1;
    return op_attr(dot, ATTR_batch_a)->n == 0 && contract->n == b->rank - 1 && !last &&
           dim_is_const(b->dims[b->rank - 1]);
}

/* Questions of what depends on what; each has a number of its own. */
typedef struct MergeSearch {
    SideTable visited; /* by the question of that number */
    int question;
} MergeSearch;

static bool is_above(MergeSearch *search, const Op *source, const Op *op)
{
    if (op == source)
        return true;
    if (side_number(&search->visited, op) == search->question)
        return false;
    side_set_number(&search->visited, op, search->question);
    for (int i = 0; i < op->n_args; i++)
        if (is_above(search, source, op->args[i]->op))
            return true;
    return false;
}

static bool depends_on(MergeSearch *search, const Op *op, const Op *source)
{
    search->question++;
    return is_above(search, source, op);
}

/* Whether both take the same sums of their first operand: a product of the forward
 * and the gradient of its weights share the operand, but nothing else. */
static bool same_sums(const Op *a, const Op *b)
{
    return a->args[0] == b->args[0] && a->results[0].type.dtype == b->results[0].type.dtype &&
           same_attr(a, b, ATTR_batch_a) && same_attr(a, b, ATTR_contract_a);
}

/* MISS_NONE if the product, which takes `first`'s sums, may join the group. */
static Miss why_apart(Op *op, int n, Op *const *group, MergeSearch *search)
{
    const Op *first = group[0];
    if (!same_attr(op, first, ATTR_contract_b) ||
        op->args[1]->type.rank != first->args[1]->type.rank)
        return MISS_PRODUCT_LAYOUT;
    if (!ends_free(op))
        return MISS_PRODUCT_COLUMNS;
    if (!same_parent(op, first))
        return MISS_PRODUCT_BLOCK;
    if (n == MOST_MERGED)
        return MISS_PRODUCT_MANY;
    for (int i = 0; i < n; i++)
        if (depends_on(search, op, group[i]))
            return MISS_PRODUCT_CHAIN;
    return MISS_NONE;
}

typedef struct Sharing {
    PassContext *context;
    Arena *arena;
    bool panels;    /* products read their weights as panels */
    SideTable made; /* with integers: of params alone, which are panels */
    MergeSearch search;
    VEC(const Op *) told; /* left apart and reported: once each is enough */
} Sharing;

static void tell_apart(Sharing *s, const Op *op, const Op *first, Miss why)
{
    for (size_t i = 0; i < s->told.count; i++)
        if (s->told.data[i] == op)
            return;
    vec_push(s->arena, s->told, op);
    report_miss(s->context->report, op, why, "dot with dot of %s",
                first->scope ? first->scope : "the same operand");
}

static int find_sharing(Sharing *s, Op *first, Op **group)
{
    int n = 0;
    group[n++] = first;
    for (Op *op = first->next; op; op = op->next) {
        if (op->kind != OP_dot || !same_sums(op, first))
            continue;
        Miss why = why_apart(op, n, group, &s->search);
        if (why == MISS_NONE && (s->panels || side_number(&s->made, op->args[1]->op)))
            why = MISS_PRODUCT_PANELS;
        if (why == MISS_NONE)
            group[n++] = op;
        else if (s->context->report)
            tell_apart(s, op, first, why);
    }
    return n;
}

static bool is_used_once(const Value *v) { return v->first_use && v->first_use == v->last_use; }

/* The only user of a product's result, if it adds a vector that is there from the
 * beginning; else NULL. */
static Op *bias_add(Op *dot)
{
    const Value *product = op_result(dot);
    Op *op = is_used_once(product) ? product->first_use->user : NULL;
    if (!op || op->kind != OP_add)
        return NULL;
    const Value *bias = op->args[op->args[0] == product];
    bool fits = op_family(bias->op) == FAMILY_leaf && bias->type.rank == 1 &&
                dim_equal(bias->type.dims[0], product->type.dims[product->type.rank - 1]);
    return fits ? op : NULL;
}

/* With the biases, if all of the group have one; `wanted` is what is to be sliced from
 * it: the sums, and else the products. */
static Value *add_biases(Builder *b, Value *product, int n, Op *const *group, Value **wanted)
{
    Value *biases[MOST_MERGED];
    int found = 0;
    for (Op *add; found < n && (add = bias_add(group[found])); found++) {
        biases[found] = add->args[add->args[0] == op_result(group[found])];
        wanted[found] = op_result(add);
    }
    if (found == n)
        return build_binary(b, OP_add, product, build_concat(b, n, biases, 0));
    for (int i = 0; i < n; i++)
        wanted[i] = op_result(group[i]);
    return product;
}

/* Places the merged product before the last of the group, where all are known;
 * users of the first may stand before: the order is mended at the end. */
static void merge_sharing(Function *function, int n, Op **group)
{
    Builder b = builder_before(function, &function->body, group[n - 1]);
    Value *parts[MOST_MERGED], *wanted[MOST_MERGED];
    for (int i = 0; i < n; i++)
        b.loc = loc_join(function->module->arena, b.loc, group[i]->loc);
    sort_by_scope(group, n);
    int axis = group[0]->args[1]->type.rank - 1, last = group[0]->results[0].type.rank - 1;
    for (int i = 0; i < n; i++)
        parts[i] = group[i]->args[1];
    Value *args[] = {group[0]->args[0], build_concat(&b, n, parts, axis)};
    Value *product = build(&b, OP_dot, 2, args, group[0]->n_attrs, group[0]->attrs);
    int64_t start = 0;
    product = add_biases(&b, product, n, group, wanted);
    for (int i = 0; i < n; i++) {
        int64_t size = parts[i]->type.dims[axis].size;
        b.loc = group[i]->loc;
        b.scope = group[i]->scope;
        Value *slice = build_slice(&b, product, last, start, size);
        value_replace(wanted[i], slice);
        start += size;
    }
    for (int i = 0; i < n; i++)
        block_remove(&function->body, group[i]);
}

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

/* The terms of a sum of adds that are used once. */
static int collect_terms(Value *v, bool root, Value **terms, int n, int most)
{
    Op *op = v->op;
    if (op->kind == OP_add && (root || is_used_once(v)) && n < most - 1 &&
        type_equal(&op->args[0]->type, &v->type) && type_equal(&op->args[1]->type, &v->type)) {
        n = collect_terms(op->args[0], false, terms, n, most);
        return collect_terms(op->args[1], false, terms, n, most);
    }
    if (n < most)
        terms[n++] = v;
    return n;
}

enum { MOST_TERMS = 12 };

static bool is_mergeable(const Value *term)
{
    return is_backward_product(term) && is_used_once(term);
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
                (i == first || same_parent(terms[i]->op, terms[first]->op)))
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

static bool merge_sum(Function *function, Op *add)
{
    Value *terms[MOST_TERMS];
    int count = collect_terms(op_result(add), true, terms, 0, MOST_TERMS);
    int members[MOST_MERGED], n = count < MOST_TERMS ? find_members(terms, count, members) : 0;
    if (!n)
        return false;
    Op *group[MOST_MERGED];
    for (int i = 0; i < n; i++) {
        group[i] = terms[members[i]]->op;
        terms[members[i]] = NULL;
    }
    sort_by_scope(group, n);
    Builder b = builder_before(function, &function->body, add);
    Value *sum = join_products(&b, group, n);
    for (int i = 0; i < count; i++)
        if (terms[i])
            sum = build_binary(&b, OP_add, sum, terms[i]);
    value_replace(op_result(add), sum);
    block_remove(&function->body, add);
    return true;
}

/* Sums of two such products that stayed. */
static void report_sums(Function *function, Report *report)
{
    FOR_OPS (add, &function->body) {
        if (add->kind != OP_add || !is_backward_product(add->args[0]) ||
            !is_backward_product(add->args[1]))
            continue;
        Miss why = !is_used_once(add->args[0]) || !is_used_once(add->args[1]) ? MISS_SUM_SHARED
                   : !same_parent(add->args[0]->op, add->args[1]->op)         ? MISS_SUM_BLOCKS
                                                                              : MISS_NONE;
        if (why != MISS_NONE)
            report_miss(report, add, why, "the sum of two dots into one");
    }
}

bool pass_merge_products(Function *function, PassContext *context)
{
    Sharing sharing = {.context = context,
                       .arena = function->module->arena,
                       .panels = reads_panels(function),
                       .search.visited = side_new(function->module->arena)};
    if (precision_quant(context->precision))
        sharing.made = find_made_of_params(function);
    for (Op *op = function->body.first, *next; op; op = next) {
        next = op->next;
        Op *group[MOST_MERGED];
        if (op->kind != OP_dot || !ends_free(op))
            continue;
        int n = find_sharing(&sharing, op, group);
        if (n < 2)
            continue;
        for (int i = 1; i < n; i++)
            if (group[i] == next)
                next = next->next;
        report_op(context->report, op, "products: %d share an operand", n);
        merge_sharing(function, n, group);
    }
    remove_dead(function); /* what added the biases one by one */
    order_ops(function);
    for (bool again = true; again;) {
        again = false;
        for (Op *op = function->body.last; op && !again; op = op->previous)
            again = op->kind == OP_add && op_result(op)->type.rank && merge_sum(function, op);
        if (again)
            remove_dead(function);
    }
    report_sums(function, context->report);
    merge_equal_ops(function); /* both kinds concatenate the same values */
    remove_dead(function);
    return true;
}
