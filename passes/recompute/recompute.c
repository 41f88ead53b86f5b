/* recompute: what would be kept from the forward for the backward is made again just
 * before the backward reads it, until the function fits a budget of memory.
 *
 *   %q = row(%x)                         %q = row(%x)
 *   %y = attention(%q)                   %y = attention(%q)
 *   … the peak …                    ⇒    … the peak …
 *                                        %q2 = row(%x)
 *   %dq = attention(%q, %dy)             %dq = attention(%q2, %dy)
 *
 * It runs last, over regions: a copy is the same kernel over the same values, dropout
 * masks included (they follow from counters), and so no result changes by a bit.
 *
 * At the position where most bytes live, each value that is only waiting there is
 * weighed: the work of making it again, from what waits there too or is itself made
 * again, a byte that it frees. What is cheapest goes first, with what comes out of the
 * same ops (query, key and value out of one product). A choice after which the peak
 * would be higher is taken back. Bytes are those of values, an estimate: the slab is
 * planned by codegen, and whoever set the budget compares. (Chen et al. 2016, "Training
 * Deep Nets with Sublinear Memory Cost"; greedy as in Kirisame et al. 2021, "Dynamic
 * Tensor Rematerialization".) */
#include "passes/clone.h"
#include "passes/recompute/recompute.h"

bool pass_recompute(Function *function, PassContext *context);

/* Ops to make again together, the values that this frees, and the work. */
typedef struct Choice {
    Op *seed;
    VEC(Op *) ops;
    VEC(Value *) values;
    double work, bytes;
} Choice;

/* ---- choosing ---- */

static bool reads_memory(const Recomputing *r, const Op *op, const Value *root)
{
    for (int i = 0; i < op->n_args; i++)
        if (life_of(r, op->args[i])->root == root)
            return true;
    return false;
}

/* Its memory is there behind the peak, whatever is made again. */
static bool is_kept(const Recomputing *r, const Value *value)
{
    const Life *life = root_life(r, value);
    return op_family(life->root->op) == FAMILY_leaf || (!life->gone && life->to > end_of(r));
}

/* It is only made behind the peak. */
static bool is_behind(const Recomputing *r, const Value *value)
{
    return life_of(r, value)->from > end_of(r);
}

/* The value or its last copy before the peak. */
static Value *newest(const Recomputing *r, Value *value)
{
    while (life_of(r, value)->copy && !is_behind(r, life_of(r, value)->copy))
        value = life_of(r, value)->copy;
    return value;
}

static bool is_at_hand(const Recomputing *r, Value *value)
{
    const Value *root = newest(r, life_of(r, value)->root);
    return is_kept(r, value) || is_kept(r, root) || life_of(r, root)->copy;
}

/* Neither made nor read at the peak, but before and after it. */
static bool waits(const Recomputing *r, const Value *value)
{
    const Life *life = life_of(r, value);
    if (life->root != value || life->copy || life->in_param || life->output ||
        life->from >= begin_of(r) || life->to <= end_of(r) || op_family(value->op) == FAMILY_leaf)
        return false;
    for (const Op *op = r->first; op != r->last->next; op = op->next)
        if (reads_memory(r, op, value))
            return false;
    return true;
}

static bool can_repeat(const Recomputing *r, const Op *op)
{
    OpFamily family = op_family(op);
    for (int i = 0; i < op->n_results; i++)
        if (life_of(r, &op->results[i])->copy)
            return false;
    return family != FAMILY_leaf && family != FAMILY_effect && op->kind != OP_append &&
           op->n_results && op_chunk(op) == NO_CHUNK;
}

static bool is_chosen(const Recomputing *r, const Op *op)
{
    return op->n_results && life_of(r, &op->results[0])->stamp == r->stamp;
}

/* The op, and what has to be made again for it. */
static bool choose_op(Recomputing *r, Choice *choice, Op *op)
{
    if (is_chosen(r, op))
        return true;
    if (!can_repeat(r, op))
        return false;
    life_of(r, &op->results[0])->stamp = r->stamp;
    choice->work += work_of(r, op);
    vec_push(r->arena, choice->ops, op);
    for (int i = 0; i < op->n_args; i++)
        if (!is_at_hand(r, op->args[i]) && !choose_op(r, choice, newest(r, op->args[i])->op))
            return false;
    return true;
}

static void choose_values(Recomputing *r, Choice *choice, Op *op)
{
    for (int i = 0; i < op->n_results; i++)
        if (waits(r, &op->results[i])) {
            vec_push(r->arena, choice->values, &op->results[i]);
            choice->bytes += held_bytes(r, &op->results[i]);
        }
}

/* What else comes of the chosen ops and costs less a byte. */
static void choose_beside(Recomputing *r, Choice *choice, Op *op)
{
    double bytes = 0;
    bool comes = false, possible = can_repeat(r, op) && !is_chosen(r, op);
    for (int i = 0; possible && i < op->n_args; i++) {
        bool chosen = is_chosen(r, life_of(r, op->args[i])->root->op);
        comes |= chosen;
        possible = chosen || is_at_hand(r, op->args[i]);
    }
    if (!comes || !possible)
        return;
    for (int i = 0; i < op->n_results; i++)
        bytes += waits(r, &op->results[i]) ? held_bytes(r, &op->results[i]) : 0;
    double work = work_of(r, op);
    if (work * choice->bytes >= choice->work * bytes)
        return;
    choice->work += work;
    choose_values(r, choice, op);
}

static Choice choose_from(Recomputing *r, Op *seed)
{
    Choice choice = {.seed = seed};
    r->stamp++;
    if (!choose_op(r, &choice, seed))
        return (Choice){0};
    for (size_t i = 0; i < choice.ops.count; i++)
        choose_values(r, &choice, choice.ops.data[i]);
    for (Op *op = seed->next; op != r->first; op = op->next)
        choose_beside(r, &choice, op);
    return choice;
}

static bool is_cheaper(const Choice *a, const Choice *b)
{
    return !b->seed || a->work * b->bytes < b->work * a->bytes;
}

/* The cheapest a byte; no seed: nothing that waits can be made again. */
static Choice choose_recomputation(Recomputing *r)
{
    Choice best = {0};
    for (Op *op = r->function->body.first; op != r->first; op = op->next) {
        bool any = false;
        for (int i = 0; i < op->n_results; i++)
            any |= waits(r, &op->results[i]) && !life_of(r, &op->results[i])->rejected;
        Choice choice = any ? choose_from(r, op) : (Choice){0};
        if (choice.bytes > 0 && is_cheaper(&choice, &best))
            best = choice;
    }
    return best;
}

/* ---- making again ---- */

/* The op over other operands. */
static Op *copy_op(Recomputing *r, Op *op, Value *const *args)
{
    for (int i = 0; i < op->n_args; i++)
        side_set_value(&r->copies, op->args[i], args[i]);
    Op *copy = clone_op(r->function, op, &r->copies);
    for (int i = 0; i < op->n_args; i++)
        side_set_value(&r->copies, op->args[i], NULL);
    for (int i = 0; i < copy->n_results; i++) {
        side_set_value(&r->copies, &op->results[i], NULL);
        lives_add(r, &copy->results[i])->is_copy = true;
        life_of(r, &op->results[i])->copy = &copy->results[i];
    }
    return copy;
}

static bool stands_behind(const Op *op, const Op *place)
{
    while (place && place != op)
        place = place->next;
    return place != NULL;
}

/* A copy that something reads earlier now, with the copies that it reads. */
static void move_forward(Recomputing *r, Op *op, Op *place)
{
    if (!stands_behind(op, place))
        return;
    for (int i = 0; i < op->n_args; i++)
        if (life_of(r, op->args[i])->is_copy)
            move_forward(r, op->args[i]->op, place);
    vec_push(r->arena, r->changes, ((Change){.op = op, .next = op->next}));
    block_remove(&r->function->body, op);
    block_insert_before(&r->function->body, place, op);
}

/* The value, or what equals it, for ops from `place` on. */
static Value *make_again(Recomputing *r, Value *value, Op *place)
{
    value = is_kept(r, value) ? value : newest(r, value);
    const Life *life = life_of(r, value);
    Op *op = value->op;
    if (is_kept(r, value))
        return value;
    if (life->copy) {
        move_forward(r, life->copy->op, place);
        return life->copy;
    }
    Value *args[op->n_args + 1];
    for (int i = 0; i < op->n_args; i++)
        args[i] = make_again(r, op->args[i], place);
    Op *copy = copy_op(r, op, args);
    block_insert_before(&r->function->body, place, copy);
    vec_push(r->arena, r->changes, ((Change){.op = copy, .original = op}));
    return life->copy;
}

static Op *first_reader(const Recomputing *r, const Value *value)
{
    Op *op = r->last->next;
    while (!reads_memory(r, op, value))
        op = op->next;
    return chunk_first(op);
}

/* Whoever reads the value behind the peak, by itself or as a view, reads a copy. */
static void release(Recomputing *r, Value *value)
{
    Op *place = first_reader(r, value);
    VEC(Value *) moved = {0};
    life_of(r, value)->gone = true;
    for (Op *op = place; op; op = op->next)
        for (int i = 0; i < op->n_args; i++) {
            Value *arg = op->args[i];
            Life *life = life_of(r, arg);
            if (life->root != value || life->instead || position_of(r, arg->op) > end_of(r))
                continue;
            life->instead = make_again(r, arg, place);
            vec_push(r->arena, moved, arg);
        }
    for (size_t i = 0; i < moved.count; i++) {
        Life *life = life_of(r, moved.data[i]);
        for (Op *op = place; op; op = op->next)
            op_replace_arg(op, moved.data[i], life->instead);
        life->instead = NULL;
    }
}

static void take_back(Recomputing *r, const Choice *choice)
{
    for (size_t c = r->changes.count; c-- > 0;) {
        const Change *change = &r->changes.data[c];
        for (int i = 0; change->original && i < change->op->n_results; i++) {
            value_replace(&change->op->results[i], &change->original->results[i]);
            life_of(r, &change->original->results[i])->copy = NULL;
        }
        if (change->original)
            continue;
        block_remove(&r->function->body, change->op);
        block_insert_before(&r->function->body, change->next, change->op);
    }
    for (size_t c = 0; c < r->changes.count; c++)
        if (r->changes.data[c].original)
            block_remove(&r->function->body, r->changes.data[c].op);
    for (int i = 0; i < choice->seed->n_results; i++)
        life_of(r, &choice->seed->results[i])->rejected = true;
}

/* ---- the pass ---- */

/* False: nothing is left to try. */
static bool lower_peak(Recomputing *r, Report *report)
{
    double before = r->peak;
    Choice choice = choose_recomputation(r);
    if (!choice.seed)
        return false;
    r->changes.count = 0;
    for (size_t i = 0; i < choice.values.count; i++)
        release(r, choice.values.data[i]);
    lives_measure(r);
    if (r->peak < before || (r->peak == before && !life_of(r, op_result(choice.seed))->is_copy)) {
        report_op(report, choice.seed, "made again in the backward: %.3g MB of %s",
                  choice.bytes / 1e6, op_info[choice.seed->kind].name);
        return true;
    }
    take_back(r, &choice);
    lives_measure(r);
    return true;
}

bool pass_recompute(Function *function, PassContext *context)
{
    const MemoryBudget *budget = context->budget;
    if (!budget || !function->body.first)
        return true;
    Arena *arena = arena_new();
    Recomputing r = {.function = function,
                     .arena = arena,
                     .lives = side_new(arena),
                     .positions = side_new(arena),
                     .copies = side_new(arena)};
    lives_begin(&r, budget);
    while (r.peak > (double)budget->bytes && lower_peak(&r, context->report))
        continue;
    arena_free(arena);
    return true;
}
