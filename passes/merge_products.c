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
 * Sums are taken in another order then: results differ by rounding. In functions that answer
 * (reads_panels) they stay apart, and so they do with integers in every function: each
 * reads its weight as panels (prepack, quantize), which are there once for all functions
 * and in the files of compiled models. */
#include "passes/merge_products.h"

#include "passes/clone.h"
#include "passes/fuse/fuse.h"
#include "passes/pass.h"

#include <string.h>

bool pass_merge_products(Function *function, PassContext *context);

/* How much of the op's scope names the block around it. */
static size_t parent_length(const Op *op)
{
    const char *dot = strrchr(op->scope, '.');
    return dot ? (size_t)(dot - op->scope) : 0;
}

bool merge_same_parent(const Op *a, const Op *b)
{
    return a->scope && b->scope && parent_length(a) == parent_length(b) &&
           !strncmp(a->scope, b->scope, parent_length(a));
}

static bool same_attr(const Op *a, const Op *b, AttrName name)
{
    const Attr *x = op_attr(a, name), *y = op_attr(b, name);
    return x->n == y->n && !memcmp(x->ints, y->ints, sizeof(int) * (size_t)x->n);
}

void merge_sort_by_scope(Op **group, int n)
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

/* ---- what needs what ---- */

/* What is known of an op. */
typedef struct MergeMark {
    OpPlace at;
    int place;    /* of a product: among Sharing.products */
    bool is_gone; /* of a product: another one has its place */
    bool is_told; /* of a product: that it stays apart is reported */
} MergeMark;

/* MergeSearch: users of a group's first may stand before what they read.
 *   needs   its marks: op → MergeMark */
typedef struct MergeSearch {
    Arena *arena;
    Needs needs;
} MergeSearch;

static MergeMark *mark_of(const MergeSearch *search, const Op *op)
{
    return side_of_op(&search->needs.marks, op);
}

static MergeMark *mark_op(MergeSearch *search, const Op *op, int position)
{
    MergeMark *mark = ARENA_NEW(search->arena, MergeMark);
    mark->at.position = position;
    side_set_op(&search->needs.marks, op, mark);
    return mark;
}

/* Whether both take the same sums of a first operand: a product of the forward and the gradient of
 * its weights share the operand, but nothing else. */
static bool same_sums(const Op *a, const Op *b)
{
    return a->results[0].type.dtype == b->results[0].type.dtype && same_attr(a, b, ATTR_batch_a) &&
           same_attr(a, b, ATTR_contract_a);
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
    if (!merge_same_parent(op, first))
        return MISS_PRODUCT_BLOCK;
    if (n == MOST_MERGED)
        return MISS_PRODUCT_MANY;
    for (int i = 0; i < n; i++)
        if (needs_op(&search->needs, op, group[i]))
            return MISS_PRODUCT_CHAIN;
    return MISS_NONE;
}

/* Products in order; those before `passed` are behind the pass. */
typedef struct ProductList {
    VEC(Op *) ops;
    size_t passed;
} ProductList;

/* Products that take the same sums of one operand. */
typedef struct Sharers {
    const Op *example;
    struct Sharers *next; /* of the same operand, with other sums */
    Map blocks;           /* scope of the block around → ProductList of its products */
    ProductList untold;   /* for reports: those not reported yet */
} Sharers;

typedef struct Sharing {
    PassContext *context;
    Arena *arena;
    bool panels;        /* products read their weights as panels */
    SideTable made;     /* with integers: of params alone, which are panels */
    SideTable sharers;  /* value → the first Sharers of the products whose first operand it is */
    VEC(Op *) products; /* in order; NULL: merged into a later one */
    MergeSearch search;
} Sharing;

static Sharers *sharers_of(Sharing *s, const Op *dot)
{
    Sharers *first = side_of_value(&s->sharers, dot->args[0]), *sharers = first;
    while (sharers && !same_sums(sharers->example, dot))
        sharers = sharers->next;
    if (sharers)
        return sharers;
    sharers = ARENA_NEW(s->arena, Sharers);
    *sharers = (Sharers){.example = dot, .next = first};
    map_init(&sharers->blocks, s->arena);
    side_set_value(&s->sharers, dot->args[0], sharers);
    return sharers;
}

/* NULL: nobody knows the product's block, and it stays apart. */
static ProductList *block_of(Sharing *s, Sharers *sharers, const Op *dot)
{
    if (!dot->scope)
        return NULL;
    const char *name = arena_strndup(s->arena, dot->scope, parent_length(dot));
    ProductList *block = map_get(&sharers->blocks, name);
    if (!block)
        map_set(&sharers->blocks, name, block = ARENA_NEW(s->arena, ProductList));
    return block;
}

static int position_of(const Sharing *s, const Op *op)
{
    return mark_of(&s->search, op)->at.position;
}

/* Adds a product to a list at its place in the order: the end, mostly. */
static void list_product(Sharing *s, ProductList *list, Op *dot)
{
    vec_push(s->arena, list->ops, dot);
    for (size_t i = list->ops.count - 1;
         i > list->passed && position_of(s, list->ops.data[i - 1]) > position_of(s, dot); i--) {
        list->ops.data[i] = list->ops.data[i - 1];
        list->ops.data[i - 1] = dot;
    }
}

static void add_product(Sharing *s, Op *dot)
{
    Sharers *sharers = sharers_of(s, dot);
    ProductList *block = block_of(s, sharers, dot);
    if (block)
        list_product(s, block, dot);
    if (s->context->report)
        list_product(s, &sharers->untold, dot);
}

/* The list's first product at place *at or behind it that stands behind `first`; NULL: none. */
static Op *next_behind(const Sharing *s, const ProductList *list, size_t *at, const Op *first)
{
    for (; list && *at < list->ops.count; (*at)++) {
        Op *op = list->ops.data[*at];
        if (!mark_of(&s->search, op)->is_gone && position_of(s, op) > position_of(s, first))
            return op;
    }
    return NULL;
}

static void tell_apart(Sharing *s, const Op *op, const Op *first, Miss why)
{
    if (s->context->report && !mark_of(&s->search, op)->is_told)
        report_miss(s->context->report, op, why, "dot with dot of %s",
                    first->scope ? first->scope : "the same operand");
    mark_of(&s->search, op)->is_told = true;
}

/* The group of products that `first` begins. Reports why the others behind it stay apart. */
static int find_sharing(Sharing *s, Op *first, Op **group)
{
    Sharers *sharers = sharers_of(s, first);
    ProductList *block = block_of(s, sharers, first), *untold = &sharers->untold;
    int n = 0;
    const Op *last = group[n++] = first;
    if (block)
        next_behind(s, block, &block->passed, first);
    for (size_t at = block ? block->passed : 0;;) {
        Op *x = n < MOST_MERGED && !s->panels ? next_behind(s, block, &at, first) : NULL;
        Op *y = next_behind(s, untold, &untold->passed, first);
        Op *op = x && (!y || position_of(s, x) <= position_of(s, y)) ? x : y;
        if (!op)
            return n;
        at += op == x;
        untold->passed += op == y;
        if (op == last)
            continue;
        last = op;
        Miss why = why_apart(op, n, group, &s->search);
        if (why == MISS_NONE && (s->panels || side_number(&s->made, op->args[1]->op)))
            why = MISS_PRODUCT_PANELS;
        if (why == MISS_NONE)
            group[n++] = op;
        else
            tell_apart(s, op, first, why);
    }
}

/* The only user of a product's result, if it adds a vector that is there from the
 * beginning; else NULL. */
static Op *bias_add(Op *dot)
{
    const Value *product = op_result(dot);
    Op *op = value_is_used_once(product) ? product->first_use->user : NULL;
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

/* Marks what was built in place of the group, up to its last, and joins their reach. */
static void settle_marks(Sharing *s, const Op *first, Op *last)
{
    MergeSearch *search = &s->search;
    for (const Op *op = last->previous; op && !mark_of(search, op); op = op->previous)
        mark_op(search, op, position_of(s, last));
    reach_join(&search->needs.reach, position_of(s, first), position_of(s, last));
}

/* Slices of the product for all that read the group's results, biases added or not. */
static void slice_product(Sharing *s, Builder *b, Value *product, int n, Op *const *group,
                          Value *const *wanted)
{
    int last = product->type.rank - 1;
    int64_t start = 0;
    for (int i = 0; i < n; i++) {
        const Type *part = &group[i]->args[1]->type;
        int64_t size = part->dims[part->rank - 1].size;
        b->loc = group[i]->loc;
        b->scope = group[i]->scope;
        Value *slice = build_slice(b, product, last, start, size);
        value_replace(wanted[i], slice);
        side_set_value(&s->sharers, slice, side_of_value(&s->sharers, wanted[i]));
        start += size;
    }
}

/* Places the merged product before the last of the group, where all are known;
 * users of the first may stand before: the order is mended at the end. */
static Op *merge_sharing(Sharing *s, Function *function, int n, Op **group)
{
    Op *const first = group[0], *const end = group[n - 1];
    Builder b = builder_before(function, &function->body, end);
    Value *parts[MOST_MERGED], *wanted[MOST_MERGED];
    for (int i = 0; i < n; i++)
        b.loc = loc_join(s->arena, b.loc, group[i]->loc);
    merge_sort_by_scope(group, n);
    for (int i = 0; i < n; i++)
        parts[i] = group[i]->args[1];
    Value *args[] = {first->args[0], build_concat(&b, n, parts, parts[0]->type.rank - 1)};
    Value *product = build(&b, OP_dot, 2, args, group[0]->n_attrs, group[0]->attrs);
    slice_product(s, &b, add_biases(&b, product, n, group, wanted), n, group, wanted);
    settle_marks(s, first, end);
    for (int i = 0; i < n; i++) {
        mark_of(&s->search, group[i])->is_gone = true;
        s->products.data[mark_of(&s->search, group[i])->place] = NULL;
        block_remove(&function->body, group[i]);
    }
    return product->op;
}

/* Whether nothing stands between the group's products: then the pass goes on behind the last. */
static bool are_neighbours(int n, Op *const *group)
{
    for (int i = 1; i < n; i++)
        if (group[i - 1]->next != group[i])
            return false;
    return true;
}

static void list_products(Sharing *s, Function *function)
{
    int position = 0;
    FOR_OPS (op, &function->body) {
        MergeMark *mark = mark_op(&s->search, op, position++);
        if (op->kind != OP_dot)
            continue;
        mark->place = (int)s->products.count;
        vec_push(s->arena, s->products, op);
        add_product(s, op);
    }
    s->search.needs.reach = reach_new(s->arena, position);
}

static void merge_products(Sharing *s, Function *function)
{
    list_products(s, function);
    for (size_t i = 0; i < s->products.count; i++) {
        Op *group[MOST_MERGED], *op = s->products.data[i];
        int n = op && ends_free(op) ? find_sharing(s, op, group) : 0;
        if (n < 2)
            continue;
        report_op(s->context->report, op, "products: %d share an operand", n);
        bool is_passed = are_neighbours(n, group);
        int place = mark_of(&s->search, group[n - 1])->place;
        Op *product = merge_sharing(s, function, n, group);
        mark_of(&s->search, product)->place = place;
        if (is_passed)
            continue;
        s->products.data[place] = product; /* it may be merged with later ones */
        add_product(s, product);
    }
}

bool pass_merge_products(Function *function, PassContext *context)
{
    Arena *arena = function->module->arena;
    Sharing sharing = {.context = context,
                       .arena = arena,
                       .panels = reads_panels(function),
                       .sharers = side_new(arena),
                       .search = {.arena = arena, .needs = {.marks = side_new(arena)}}};
    if (precision_quant(context->precision))
        sharing.made = find_made_of_params(function);
    merge_products(&sharing, function);
    remove_dead(function); /* what added the biases one by one */
    order_ops(function);
    merge_sums(function);
    report_apart_sums(function, context->report);
    merge_equal_ops(function); /* both kinds concatenate the same values */
    remove_dead(function);
    return true;
}
