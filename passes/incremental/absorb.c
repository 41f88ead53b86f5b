/* Products in another order, where keeping less is cheaper (multi-head latent attention,
 * DeepSeek-V2 2024, sec. 2.1.2).
 *
 *   k = c · W                 of each position: n numbers made of r, which all heads share
 *   scores = q · kᵀ           k is kept                     (absorb.c leaves it)
 *   scores = (q · Wᵀ) · cᵀ    c is kept; W is multiplied with the newest positions alone
 *   mixed  = (p · c) · W      the same for values
 *
 * Between the two products there may be what moves elements: heads, transposes, slices. They move
 * the weight's instead. Whether it is cheaper follows from sizes: a step reads what is kept of
 * every position so far, and multiplies it with the newest (absorb_find). Where many positions of a
 * row are new, as in a prompt, keys and values of all are made anew instead (rows.c). */
#include "passes/incremental/incremental.h"

#include "base/functions.h"

#include <math.h>
#include <string.h>

/* An axis of a value c · W, moved: one of c, or the next one of W. */
typedef struct SplitAxis {
    int latent; /* axis of c; -1: it is W's */
    Dim dim;
} SplitAxis;

/* A value as c · W. The weight's axes: those that are summed over, then its own in the order of the
 * value's. */
typedef struct LatentSplit {
    Op *product;
    int side; /* which operand c is */
    int n_moves;
    Op *moves[8]; /* from the value to the product */
    int n_axes, n_summed;
    SplitAxis axes[MAX_RANK];
} LatentSplit;

static Value *latent_of(const LatentSplit *x) { return x->product->args[x->side]; }
static Value *weight_of(const LatentSplit *x) { return x->product->args[1 - x->side]; }

static const Attr *contracted(const Op *dot, int side)
{
    return op_attr(dot, side ? ATTR_contract_b : ATTR_contract_a);
}

static const Attr *batched(const Op *dot, int side)
{
    return op_attr(dot, side ? ATTR_batch_b : ATTR_batch_a);
}

/* ---- moves ---- */

/* How many of the axes before this one are the weight's: its own axis of this number. */
static int own_axis(const LatentSplit *x, int axis)
{
    int n = 0;
    for (int i = 0; i < axis; i++)
        n += x->axes[i].latent < 0;
    return n;
}

static bool move_transposed(LatentSplit *x, const Op *move, Builder *b, Value **weight)
{
    const Attr *perm = op_attr(move, ATTR_perm);
    const LatentSplit old = *x;
    int mine[MAX_RANK], n = 0;
    for (; n < x->n_summed; n++)
        mine[n] = n;
    for (int i = 0; i < perm->n; i++) {
        x->axes[i] = old.axes[perm->ints[i]];
        if (x->axes[i].latent < 0)
            mine[n++] = x->n_summed + own_axis(&old, perm->ints[i]);
    }
    if (b)
        *weight = build_transpose(b, *weight, mine);
    return true;
}

static bool move_sliced(LatentSplit *x, const Op *move, Builder *b, Value **weight)
{
    int axis = (int)op_int(move, ATTR_axis);
    if (x->axes[axis].latent >= 0)
        return false;
    x->axes[axis].dim = move->results[0].type.dims[axis];
    if (b)
        *weight = build_slice(b, *weight, x->n_summed + own_axis(x, axis), op_int(move, ATTR_start),
                              op_int(move, ATTR_size));
    return true;
}

/* Axes of the latent stay as they are; the weight's between two of them are split or joined. */
static bool split_reshape(LatentSplit *x, const Type *to)
{
    const LatentSplit old = *x;
    int from = 0, n = 0;
    while (n < to->rank) {
        if (from < old.n_axes && old.axes[from].latent >= 0) {
            if (!dim_equal(old.axes[from].dim, to->dims[n]))
                return false;
            x->axes[n++] = old.axes[from++];
            continue;
        }
        int64_t had = 1, has = 1;
        for (; from < old.n_axes && old.axes[from].latent < 0; from++)
            had *= old.axes[from].dim.size;
        for (; n < to->rank && dim_is_const(to->dims[n]) && has * to->dims[n].size <= had; n++) {
            has *= to->dims[n].size;
            x->axes[n] = (SplitAxis){-1, to->dims[n]};
        }
        if (has != had)
            return false;
    }
    x->n_axes = to->rank;
    return from == old.n_axes;
}

static bool move_reshaped(LatentSplit *x, const Op *move, Builder *b, Value **weight)
{
    Dim dims[2 * MAX_RANK];
    int n = 0;
    for (; b && n < x->n_summed; n++)
        dims[n] = (*weight)->type.dims[n];
    if (!split_reshape(x, &move->results[0].type))
        return false;
    for (int i = 0; b && i < x->n_axes; i++)
        if (x->axes[i].latent < 0)
            dims[n++] = x->axes[i].dim;
    if (b)
        *weight = build_reshape(b, *weight, n, dims);
    return true;
}

/* The axes of the value behind a move, and the weight's; without a builder the axes alone. False:
 * it moves axes of both together. */
static bool follow_move(LatentSplit *x, const Op *move, Builder *b, Value **weight)
{
    bool ok = false;
    switch (move->kind) {
    case OP_transpose: ok = move_transposed(x, move, b, weight); break;
    case OP_slice: ok = move_sliced(x, move, b, weight); break;
    case OP_reshape: ok = move_reshaped(x, move, b, weight); break;
    default: break;
    }
    return ok && x->n_summed + own_axis(x, x->n_axes) <= MAX_RANK;
}

/* The axes of the product itself. Returns the weight with the axes that are summed over in
 * front. */
static Value *start_moves(LatentSplit *x, Builder *b, Value *weight)
{
    const Op *dot = x->product;
    const Attr *summed = contracted(dot, 1 - x->side);
    int perm[MAX_RANK], n = 0;
    x->n_axes = 0;
    x->n_summed = summed->n;
    for (int side = 0; side < 2; side++) {
        const Type *type = &dot->args[side]->type;
        for (int i = 0; i < type->rank; i++)
            if (!attr_lists(contracted(dot, side), i))
                x->axes[x->n_axes++] = (SplitAxis){side == x->side ? i : -1, type->dims[i]};
    }
    for (; n < summed->n; n++)
        perm[n] = summed->ints[n];
    for (int i = 0; i < weight_of(x)->type.rank; i++)
        if (!attr_lists(summed, i))
            perm[n++] = i;
    return b ? build_transpose(b, weight, perm) : NULL;
}

/* The weight, which in the function of the builder is `weight`, moved as the value is. */
static Value *move_weight(LatentSplit *x, Builder *b, Value *weight)
{
    weight = start_moves(x, b, weight);
    for (int i = x->n_moves - 1; i >= 0; i--)
        follow_move(x, x->moves[i], b, &weight);
    return weight;
}

/* ---- which values ---- */

/* Whether it is the same at each position and in each sentence. */
static bool is_fixed(const Step *s, const Value *v)
{
    const Origin *o = origin(s, v);
    return !o->target && !o->other && !o->length;
}

/* Whether there is one for each position of the text. */
static bool is_of_positions(const Step *s, const Value *v)
{
    return origin(s, v)->target && type_find_dim(&v->type, s->batch) >= 0 && count_times(s, v) == 1;
}

static bool split_value(const Step *s, Value *v, LatentSplit *x)
{
    *x = (LatentSplit){0};
    for (; op_is_view(v->op) && x->n_moves < 8; v = v->op->args[0])
        x->moves[x->n_moves++] = v->op;
    x->product = v->op;
    if (v->op->kind != OP_dot || batched(v->op, 0)->n)
        return false;
    x->side = is_fixed(s, v->op->args[0]);
    if (!is_of_positions(s, latent_of(x)) || !is_fixed(s, weight_of(x)))
        return false;
    start_moves(x, NULL, NULL);
    for (int i = x->n_moves - 1; i >= 0; i--)
        if (!follow_move(x, x->moves[i], NULL, NULL))
            return false;
    return true;
}

/* ---- which are cheaper ---- */

/* In the time of reading a byte of what is kept, a step multiplies and adds so often. */
#define MULTIPLIED_A_BYTE 1.25

/* Numbers for each row of the batch and position. */
static double numbers_of(const Type *type)
{
    double n = 1;
    for (int i = 0; i < type->rank; i++)
        n *= dim_is_const(type->dims[i]) ? (double)type->dims[i].size : 1;
    return n;
}

static double bytes_of(const Type *type)
{
    return numbers_of(type) * (double)dtype_bytes(type->dtype);
}

/* Multiplications for each pair of positions. */
static double multiplied(const Op *dot)
{
    double n = numbers_of(&dot->results[0].type);
    const Attr *sums = contracted(dot, 0);
    for (int i = 0; i < sums->n; i++)
        n *= dim_is_const(dot->args[0]->type.dims[sums->ints[i]])
                 ? (double)dot->args[0]->type.dims[sums->ints[i]].size
                 : 1;
    return n;
}

/* The same with the latent in the value's place: the weight's axes that both operands do not have
 * as batch are gone, and the latent's that the weight was summed over are there. */
static double multiplied_latent(const Op *dot, int side, const LatentSplit *x)
{
    double n = multiplied(dot);
    const Attr *summed = contracted(x->product, x->side);
    for (int i = 0; i < x->n_axes; i++)
        if (x->axes[i].latent < 0 && !attr_lists(batched(dot, side), i))
            n /= (double)x->axes[i].dim.size;
    for (int i = 0; i < summed->n; i++)
        n *= (double)latent_of(x)->type.dims[summed->ints[i]].size;
    return n;
}

/* Whether products alone read the value. */
static bool feeds_products(const Value *v)
{
    FOR_USES (use, v)
        if (use->user->kind != OP_dot)
            return false;
    return true;
}

/* How many bytes of each position need not be read if the operand's latent is kept in its place,
 * but for those of the latent. */
static double saving(const Step *s, const Op *dot, int side, const LatentSplit *x)
{
    const Value *v = dot->args[side];
    double more = multiplied_latent(dot, side, x) - multiplied(dot);
    return feeds_products(v) && origin(s, dot->args[1 - side])->target
               ? bytes_of(&v->type) / value_use_count(v) - more / MULTIPLIED_A_BYTE
               : 0;
}

void absorb_find(Step *s)
{
    FOR_OPS (dot, &s->forward->body)
        for (int side = 0; dot->kind == OP_dot && side < 2; side++) {
            LatentSplit *x = ARENA_NEW(s->module->arena, LatentSplit);
            Value *v = dot->args[side];
            if (!is_of_positions(s, v) || !split_value(s, v, x))
                continue;
            double saved = saving(s, dot, side, x);
            if (saved <= 0)
                continue;
            origin(s, latent_of(x))->saved += saved;
            origin(s, v)->split = x;
        }
}

/* Whether the products that read the latent, together, save more than it takes. */
static bool is_cheaper(const Step *s, const LatentSplit *x)
{
    return origin(s, latent_of(x))->saved > bytes_of(&latent_of(x)->type);
}

/* ---- where many positions are new ---- */

/* Multiplications that make the value's numbers of one position. */
static double multiplied_once(const Value *v, const LatentSplit *x)
{
    const Attr *summed = contracted(x->product, x->side);
    double n = numbers_of(&v->type);
    for (int i = 0; i < summed->n; i++)
        n *= (double)latent_of(x)->type.dims[summed->ints[i]].size;
    return n;
}

static void mark_made_of_latent(const Step *s, const Value *v, const LatentSplit *x)
{
    origin(s, v)->of_latent = true;
    for (int i = 0; i < x->n_moves; i++)
        origin(s, x->moves[i]->args[0])->of_latent = true;
}

/* With n new positions and m before them, n · (m + n / 2) pairs cost `more` each; making keys and
 * values of the m costs `once` each. Whatever m is, that is less if n · more > once. */
int64_t absorb_least_many(const Step *s)
{
    double more = 0, once = 0;
    for (size_t i = 0; i < s->absorbed.count; i++) {
        const Absorbed *a = &s->absorbed.data[i];
        const Value *v = a->dot->args[a->side];
        const LatentSplit *x = origin(s, v)->split;
        more += multiplied_latent(a->dot, a->side, x) - multiplied(a->dot);
        once += multiplied_once(v, x);
    }
    const double many = more > 0 ? fmax(2, ceil(once / more)) : 0;
    return many <= DECODE_STEP_FED ? (int64_t)many : 0;
}

void absorb_mark(Step *s)
{
    for (size_t i = 0; i < s->absorbed.count; i++) {
        const Absorbed *a = &s->absorbed.data[i];
        const Value *v = a->dot->args[a->side];
        mark_made_of_latent(s, v, origin(s, v)->split);
        origin(s, &a->dot->results[0])->absorbed = true;
    }
    FOR_OPS (op, &s->forward->body)
        for (int i = 0; i < op->n_args; i++)
            for (int r = 0; r < op->n_results; r++)
                origin(s, &op->results[r])->absorbed |=
                    count_times(s, op->args[i]) > 1 && origin(s, op->args[i])->absorbed;
    s->absorbed.count = 0;
}

/* ---- building ---- */

/* A value whose axes have labels: the same one where two values have the same axis. */
typedef struct AxisTerm {
    Value *value;
    int labels[MAX_RANK];
} AxisTerm;

static int label_axis(const AxisTerm *t, int label)
{
    for (int i = 0; t->value && i < t->value->type.rank; i++)
        if (t->labels[i] == label)
            return i;
    return -1;
}

/* The product of two terms, summed over the labels that both have and nobody wants. */
static AxisTerm term_product(Builder *b, AxisTerm x, AxisTerm y, uint32_t wanted)
{
    int batch[2][MAX_RANK], sum[2][MAX_RANK], n_batch = 0, n_sum = 0, n = 0;
    AxisTerm result = {0};
    for (int i = 0; i < x.value->type.rank; i++) {
        int at = label_axis(&y, x.labels[i]);
        bool keep = wanted >> x.labels[i] & 1;
        if (at < 0)
            continue;
        if (keep)
            result.labels[n++] = x.labels[i];
        (keep ? batch : sum)[0][keep ? n_batch : n_sum] = i;
        (keep ? batch : sum)[1][keep ? n_batch++ : n_sum++] = at;
    }
    for (int i = 0; i < x.value->type.rank; i++)
        if (label_axis(&y, x.labels[i]) < 0)
            result.labels[n++] = x.labels[i];
    for (int i = 0; i < y.value->type.rank; i++)
        if (label_axis(&x, y.labels[i]) < 0)
            result.labels[n++] = y.labels[i];
    result.value =
        build_dot(b, x.value, y.value, n_batch, batch[0], batch[1], n_sum, sum[0], sum[1]);
    return result;
}

static uint32_t labels_of(const AxisTerm *t)
{
    uint32_t set = 0;
    for (int i = 0; i < t->value->type.rank; i++)
        set |= UINT32_C(1) << t->labels[i];
    return set;
}

/* Labels: axis i of the other operand, i; of the value, MAX_RANK + i, unless the other has it, too;
 * of what is summed over in the value, 2 MAX_RANK + i. */
enum { VALUE_LABEL = MAX_RANK, SUM_LABEL = 2 * MAX_RANK };

static void label_value(const Op *dot, int side, int labels[MAX_RANK])
{
    const Attr *lists[2][2] = {{batched(dot, side), batched(dot, 1 - side)},
                               {contracted(dot, side), contracted(dot, 1 - side)}};
    for (int i = 0; i < MAX_RANK; i++)
        labels[i] = VALUE_LABEL + i;
    for (int l = 0; l < 2; l++)
        for (int i = 0; i < lists[l][0]->n; i++)
            labels[lists[l][0]->ints[i]] = lists[l][1]->ints[i];
}

/* The labels of the product's result, in order; returns how many. */
static int label_result(const Op *dot, int side, const int of_value[MAX_RANK], int labels[MAX_RANK])
{
    const Attr *batch = batched(dot, 0);
    int n = 0;
    for (int i = 0; i < batch->n; i++)
        labels[n++] = side ? batch->ints[i] : of_value[batch->ints[i]];
    for (int operand = 0; operand < 2; operand++)
        for (int i = 0; i < dot->args[operand]->type.rank; i++)
            if (!attr_lists(batched(dot, operand), i) && !attr_lists(contracted(dot, operand), i))
                labels[n++] = operand == side ? of_value[i] : i;
    return n;
}

static Value *in_order(Builder *b, const AxisTerm *t, int n, const int labels[MAX_RANK])
{
    int perm[MAX_RANK];
    for (int i = 0; i < n; i++)
        perm[i] = label_axis(t, labels[i]);
    return build_transpose(b, t->value, perm);
}

/* The terms of the value: its latent and its weight. */
static void terms_of(const LatentSplit *x, const int of_value[MAX_RANK], AxisTerm *latent,
                     AxisTerm *weight)
{
    const Attr *summed = contracted(x->product, x->side);
    int n = 0;
    for (int i = 0; i < summed->n; i++) {
        latent->labels[summed->ints[i]] = SUM_LABEL + i;
        weight->labels[n++] = SUM_LABEL + i;
    }
    for (int i = 0; i < x->n_axes; i++)
        if (x->axes[i].latent >= 0)
            latent->labels[x->axes[i].latent] = of_value[i];
        else
            weight->labels[n++] = of_value[i];
}

/* Whether the weight has an axis that the product sums over. */
static bool sums_weight(const Op *dot, int side, const LatentSplit *x)
{
    for (int i = 0; i < x->n_axes; i++)
        if (x->axes[i].latent < 0 && attr_lists(contracted(dot, side), i))
            return true;
    return false;
}

bool absorbs(const Step *s, const Op *dot, int side, Roles of_value)
{
    const Value *v = dot->args[side];
    const LatentSplit *x = origin(s, v)->split;
    return s->rows != ROWS_MANY && x && is_cheaper(s, x) &&
           of_value.of[target_axis(s, v)] == ROLE_P;
}

Value *build_absorbed(Step *s, const Op *dot, int side, Value *other)
{
    LatentSplit *x = origin(s, dot->args[side])->split;
    Roles newest = {{0}}, all = {{0}};
    Value *c = latent_of(x);
    all.of[target_axis(s, c)] = ROLE_P;
    AxisTerm latent = {build_step(s, c, all), {0}};
    AxisTerm weight = {latent.value ? build_step(s, weight_of(x), newest) : NULL, {0}};
    if (!weight.value)
        return NULL;
    s->b.loc = dot->loc;
    s->b.scope = dot->scope;
    weight.value = move_weight(x, &s->b, weight.value);
    vec_push(s->module->arena, s->absorbed, ((Absorbed){dot, side}));
    int of_value[MAX_RANK], of_result[MAX_RANK];
    label_value(dot, side, of_value);
    int n = label_result(dot, side, of_value, of_result);
    terms_of(x, of_value, &latent, &weight);
    AxisTerm term = {other, {0, 1, 2, 3, 4, 5, 6, 7}};
    bool first = sums_weight(dot, side, x);
    uint32_t wanted = 0;
    for (int i = 0; i < n; i++)
        wanted |= UINT32_C(1) << of_result[i];
    term = term_product(&s->b, term, first ? weight : latent,
                        wanted | labels_of(first ? &latent : &weight));
    term = term_product(&s->b, term, first ? latent : weight, wanted);
    return in_order(&s->b, &term, n, of_result);
}
