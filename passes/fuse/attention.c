/* fuse_attention: what lies between the product that gives scores and the products
 * that use them up becomes one region with those products, so that scores exist in
 * small tiles alone.
 *
 *   %3 = dot %q, %k : f32[B, 8, S~, T~]               %6, %m, %r = attention(%q, %k, %v) {
 *   %4 = … scale, mask, softmax, dropout of %3   ⇒      %3 = dot %q, %k;  %4 = …
 *   %6 = dot %4, %v : f32[B, 8, S~, 64]                 %6 = dot %4, %v;  yield %6, %m, %r }
 *
 * 1. A set of scores: a product with sentences or heads as batch, and every value of
 *    its shape that is computed from or with it. All of them are fused or none.
 * 2. Levels: what needs a result of the set's regions through other ops (the gradient
 *    of the attention's output) belongs to a later region: the forward is level 0, the
 *    backward level 1. A region computes the scores it needs again from its operands;
 *    from a region before it only row values pass (the maximum, the reciprocal sum).
 * 3. Products in one form: scores from [batch, queries, d] and [batch, keys, d], results
 *    from scores as the left operand, so that the codegen has one kind of loop.
 *
 * Nothing here knows of softmax: any elementwise ops and reductions along the keys will do,
 * casts to bf16 and back included. */
#include "passes/fuse/attention.h"

#include "passes/clone.h"
#include "passes/pass.h"

#include <stdlib.h>

bool pass_fuse_attention(Function *function, PassContext *context);

static void visit_all(Fuser *f)
{
    function_order_uses(f->function); /* sets are gathered in the order of the function */
    int position = 0;
    FOR_OPS (op, &f->function->body) {
        ScoresNode *node = ARENA_NEW(f->arena, ScoresNode);
        node->op = op;
        node->position = position++;
        side_set_op(&f->nodes, op, node);
        if (op->kind == OP_append)
            vec_push(f->arena, f->appends, op);
    }
}

/* ---- levels ---- */

static bool is_read_outside(const Fuser *f, const FusedScores *s, const Op *op)
{
    FOR_USES (use, &op->results[0])
        if (node_of(f, use->user)->scores != s)
            return true;
    return false;
}

static int compare_positions(const void *a, const void *b)
{
    const ScoresNode *x = *(ScoresNode *const *)a, *y = *(ScoresNode *const *)b;
    return x->position < y->position ? -1 : x->position > y->position;
}

/* The set's ops in the order of the function. */
static ScoresNode **sort_set(const Fuser *f, const FusedScores *s)
{
    ScoresNode **sorted = ARENA_ARRAY(f->arena, ScoresNode *, s->ops.count);
    for (size_t i = 0; i < s->ops.count; i++)
        sorted[i] = node_of(f, s->ops.data[i]);
    qsort(sorted, s->ops.count, sizeof *sorted, compare_positions);
    return sorted;
}

typedef struct Levels {
    Fuser *f;
    const FusedScores *scores;
    VEC(const ScoresNode *) left; /* ops of the set that others read, so far */
} Levels;

/* How many of the set's regions come before the value is there. */
static int level_of_operand(Levels *l, const Value *value)
{
    const ScoresNode *node = node_of(l->f, value->op);
    int level = 0;
    if (node->scores == l->scores)
        return node->level + (node->part == PART_PRODUCT);
    for (size_t i = 0; i < l->left.count; i++)
        if (l->left.data[i]->level >= level &&
            paths_needs(&l->f->paths, value->op, l->left.data[i]->op))
            level = l->left.data[i]->level + 1;
    return level;
}

static void find_levels(Fuser *f, FusedScores *s)
{
    Levels l = {.f = f, .scores = s};
    ScoresNode **sorted = sort_set(f, s);
    for (size_t i = 0; i < s->ops.count; i++) {
        ScoresNode *node = sorted[i];
        node->level = 0;
        for (int a = 0; a < node->op->n_args; a++) {
            int above = level_of_operand(&l, node->op->args[a]);
            node->level = above > node->level ? above : node->level;
        }
        if (node->level >= s->n_levels)
            s->n_levels = node->level + 1;
        if (is_read_outside(f, s, node->op))
            vec_push(f->arena, l.left, node);
    }
}

/* ---- members of a level's region ---- */

/* Computed from constants and positions alone. */
static bool is_from_nothing(const Value *value, int depth)
{
    const Op *op = value->op;
    if (is_generator(op))
        return true;
    if (depth == 0 || op->kind == OP_dropout ||
        (op_family(op) != FAMILY_elementwise && op->kind != OP_broadcast))
        return false;
    for (int i = 0; i < op->n_args; i++)
        if (!is_from_nothing(op->args[i], depth - 1))
            return false;
    return true;
}

enum { DEEPEST = 16 };

/* The op, after all that it needs and that the region computes: an order that depends on
 * nothing but the region, so that equal ones of several layers become one kernel. What
 * products multiply scores with is read from memory, constant or not. */
static void take_scores(ScoresRegion *r, Op *op)
{
    ScoresNode *node = node_of(r->f, op);
    if (node->taken == r)
        return;
    node->taken = r;
    r->products |= node->part == PART_SCORES && op->kind == OP_dot;
    for (int i = 0; i < op->n_args; i++) {
        Value *above = op->args[i];
        ScoresNode *theirs = node_of(r->f, above->op);
        if (!theirs)
            continue;
        bool of_set = theirs->scores == r->scores;
        if (of_set && theirs->part == PART_ROW && theirs->level < r->level)
            theirs->needed = true; /* given by the region that has it */
        else if (of_set ? theirs->part != PART_PRODUCT
                        : op->kind != OP_dot && is_from_nothing(above, DEEPEST))
            take_scores(r, above->op);
    }
    vec_push(r->f->arena, r->members, op);
}

static ScoresRegion *gather_region(Fuser *f, FusedScores *s, int level)
{
    ScoresRegion *r = ARENA_NEW(f->arena, ScoresRegion);
    *r = (ScoresRegion){.f = f, .scores = s, .level = level};
    for (size_t i = 0; i < s->ops.count; i++) {
        Op *op = s->ops.data[i];
        ScoresNode *node = node_of(f, op);
        bool given = node->part == PART_PRODUCT ||
                     (node->part == PART_ROW && (node->needed || is_read_outside(f, s, op)));
        if (node->level != level || !given)
            continue;
        vec_push(f->arena, r->outputs, op_result(op));
        take_scores(r, op);
    }
    return r;
}

/* The regions of a set, the last level first: it says what rows the ones before give. */
static Miss gather_regions(Fuser *f, FusedScores *s)
{
    for (int level = s->n_levels - 1; level >= 0; level--) {
        ScoresRegion *r = gather_region(f, s, level);
        if (!r->outputs.count)
            continue;
        if (!r->products)
            return MISS_SCORES_ALONE;
        r->window = window_of(f, s, r->members.count, r->members.data);
        vec_push(f->arena, s->regions, r);
    }
    return MISS_NONE;
}

static Op *in_one_form(const Fuser *f, Op *op)
{
    return node_of(f, op)->unified ? node_of(f, op)->unified : op;
}

static int64_t window_end(int64_t distance)
{
    return distance >= WINDOW_OPEN ? -1 : distance < 0 ? 0 : distance;
}

static void set_window(Fuser *f, Op *region, Window window)
{
    op_set_attr(f->function, region, attr_int(ATTR_before, window_end(-window.from)));
    op_set_attr(f->function, region, attr_int(ATTR_after, window_end(window.to)));
    if (window.from_end)
        op_set_attr(f->function, region, attr_int(ATTR_from_end, 1));
    if (window.gaps)
        op_set_attr(f->function, region, attr_int(ATTR_gaps, 1));
}

static bool has_mask(const Members *members)
{
    for (size_t i = 0; i < members->ops.count; i++)
        if (members->ops.data[i]->kind == OP_select)
            return true;
    return false;
}

/* For the report: which keys the masks let the kernel leave out. */
static const char *describe_window(const Fuser *f, Window window, const Members *members)
{
    const char *blocks = "; skips blocks of keys that the mask excludes";
    if (window.stride)
        return arena_printf(f->arena, "%s, computes keys of the stride %lld one by one", blocks,
                            (long long)window.stride);
    if (window.gaps)
        return blocks;
    bool all = window.from <= -WINDOW_OPEN && window.to >= WINDOW_OPEN;
    return all && has_mask(members) ? "; the mask is no formula of positions: all keys are computed"
                                    : "";
}

static void build_regions(Fuser *f, FusedScores *s)
{
    for (size_t i = 0; i < s->regions.count; i++) {
        ScoresRegion *r = s->regions.data[i];
        Members members = {0};
        for (size_t m = 0; m < r->members.count; m++)
            vec_push(f->arena, members.ops, in_one_form(f, r->members.data[m]));
        for (size_t v = 0; v < r->outputs.count; v++)
            r->outputs.data[v] = op_result(in_one_form(f, r->outputs.data[v]->op));
        Op *region = build_region(f->function, OP_attention, &members, (int)r->outputs.count,
                                  r->outputs.data, vec_last(members.ops), &f->copies);
        set_window(f, region, r->window);
        for (size_t v = 0; v < r->outputs.count; v++)
            vec_push(f->arena, f->replaced, ((Replaced){r->outputs.data[v], &region->results[v]}));
        report_op(f->context->report, region, "attention: %s%s",
                  describe_members(&members, f->arena), describe_window(f, r->window, &members));
    }
}

/* Whether the set's regions give its results, or its ops stay as they are. */
static void set_givers(const Fuser *f, const FusedScores *s, bool fused)
{
    for (size_t i = 0; i < s->regions.count; i++) {
        const ScoresRegion *r = s->regions.data[i];
        for (size_t v = 0; v < r->outputs.count; v++)
            node_of(f, r->outputs.data[v]->op)->giver = fused ? r : NULL;
    }
}

typedef VEC(FusedScores *) ScoresSets;

/* Levels keep a set from needing its own results. Two sets may still need each other's, since all
 * results of a region wait for all that it reads: then the later set is not fused. */
static void part_circles(Fuser *f, ScoresSets *sets)
{
    const size_t n = sets->count;
    if (n < 2 || !regions_have_circle(f))
        return;
    for (size_t i = 0; i < n; i++)
        set_givers(f, sets->data[i], false);
    sets->count = 0;
    for (size_t i = 0; i < n; i++) {
        FusedScores *s = sets->data[i];
        set_givers(f, s, true);
        if (!regions_have_circle(f)) {
            sets->data[sets->count++] = s;
            continue;
        }
        set_givers(f, s, false);
        report_miss(f->context->report, s->ops.data[0], MISS_SCORES_CIRCLE, "scores");
    }
}

bool pass_fuse_attention(Function *function, PassContext *context)
{
    Fuser f = {.function = function,
               .context = context,
               .arena = function->module->arena,
               .nodes = side_new(function->module->arena),
               .copies = side_new(function->module->arena),
               .paths = paths_new(function, function->module->arena)};
    ScoresSets sets = {0};
    visit_all(&f);
    FOR_OPS (op, &function->body) {
        if (node_of(&f, op)->scores || !is_scores_product(function->module, op))
            continue;
        FusedScores *s = ARENA_NEW(f.arena, FusedScores);
        Miss why = gather_scores(&f, s, op);
        if (why == MISS_NONE) {
            find_levels(&f, s);
            why = gather_regions(&f, s);
        }
        if (why != MISS_NONE)
            report_miss(context->report, s->where ? s->where : op, why, "scores");
        else {
            vec_push(f.arena, sets, s);
            set_givers(&f, s, true);
        }
    }
    part_circles(&f, &sets);
    for (size_t i = 0; i < sets.count; i++)
        unify_products(&f, sets.data[i]);
    for (size_t i = 0; i < sets.count; i++)
        build_regions(&f, sets.data[i]);
    for (size_t i = 0; i < f.replaced.count; i++)
        value_replace(f.replaced.data[i].from, f.replaced.data[i].to);
    remove_dead(function);
    order_ops(function);
    if (sets.count)
        merge_equal_ops(function); /* transposes of one operand for several products */
    return true;
}
