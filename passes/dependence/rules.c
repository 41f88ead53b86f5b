/* Whether an op's result is causal where its operands are. */
#include "passes/dependence/dependence.h"
#include "passes/dependence/known.h"

#include <math.h>

/* ---- axes ---- */

static int aligned_axis(const Op *op, int i, int axis)
{
    return axis - (op->results[0].type.rank - op->args[i]->type.rank);
}

/* Symbolic dimensions keep their order. */
static int reshaped_axis(const Op *op, int axis)
{
    const Type *x = &op->args[0]->type, *result = &op->results[0].type;
    const int symbol = result->dims[axis].symbol;
    int before = 0;
    for (int a = 0; a < axis; a++)
        before += result->dims[a].symbol == symbol;
    for (int a = 0; a < x->rank; a++)
        if (x->dims[a].symbol == symbol && before-- == 0)
            return a;
    return -1;
}

static int axis_of_dot(const Op *op, int side, int axis)
{
    const Attr *batch = op_attr(op, side ? ATTR_batch_b : ATTR_batch_a),
               *contract = op_attr(op, side ? ATTR_contract_b : ATTR_contract_a);
    if (axis < batch->n)
        return batch->ints[axis];
    int at = batch->n;
    if (side)
        at += op->args[0]->type.rank - batch->n - contract->n;
    for (int a = 0; a < op->args[side]->type.rank; a++)
        if (!attr_lists(batch, a) && !attr_lists(contract, a) && at++ == axis)
            return a;
    return -1;
}

static int axis_of_row(const Op *op, int i, int axis)
{
    int of_index = op->args[1]->type.rank;
    if (i == 1)
        return axis < of_index ? axis : -1;
    return axis < of_index ? -1 : axis - of_index + 1;
}

int operand_axis(const Dependence *d, const Op *op, int i, int axis)
{
    const Type *result = &op->results[0].type;
    if (!is_time_axis(d, result, axis))
        return -1;
    int own = axis;
    switch (op->kind) {
    case OP_reshape: own = reshaped_axis(op, axis); break;
    case OP_transpose: own = op_attr(op, ATTR_perm)->ints[axis]; break;
    case OP_dot: own = axis_of_dot(op, i, axis); break;
    case OP_grouped_dot: own = i == 1 ? -1 : axis; break;
    case OP_gather: own = axis_of_row(op, i, axis); break;
    case OP_lookup:
        own = i == 0 && axis == (int)op_int(op, ATTR_axis) ? -1 : aligned_axis(op, i, axis);
        break;
    default: own = aligned_axis(op, i, axis);
    }
    bool same = is_time_axis(d, &op->args[i]->type, own) &&
                op->args[i]->type.dims[own].symbol == result->dims[axis].symbol;
    return same ? own : -1;
}

/* ---- why not ---- */

static const char *later_alone(Dependence *d, const Op *op)
{
    (void)d, (void)op;
    return NULL;
}

static int batch_of(const Dependence *d) { return d->module->symbols.data[d->time].batch; }

static bool is_batch_axis(const Dependence *d, const Type *type, int axis)
{
    return type->dims[axis].symbol != NO_SYMBOL && type->dims[axis].symbol == batch_of(d);
}

static const char other_texts[] = "it combines the rows of the batch, which are other texts";

/* A number that the row of the batch has, not its text. */
static const char *later_count(Dependence *d, const Op *op)
{
    const Type *type = &op->results[0].type;
    for (int axis = 0; axis < type->rank; axis++)
        if (is_batch_axis(d, type, axis))
            return "it counts the rows of the batch, which are other texts";
    return NULL;
}

static const char *later_length(Dependence *d, const Op *op)
{
    if (op->kind == OP_size && op_int(op, ATTR_dim) == batch_of(d))
        return "it is the number of texts in the batch";
    return is_made_of(d->module, (int)op_int(op, ATTR_dim), d->time)
               ? "it is the length of the whole text"
               : NULL;
}

bool sees_own(Dependence *d, const Value *x, int query, int key)
{
    const Dim *dims = x->type.dims;
    Known same = known_of(d, x, band_of(d, &x->type, query, key, WHERE_SAME));
    return !same.minus && (!before_axis(d, &x->type, query) || dim_equal(dims[query], dims[key]));
}

bool is_masked(Dependence *d, const Value *x, int query, int key)
{
    Known after = known_of(d, x, band_of(d, &x->type, query, key, WHERE_AFTER));
    if (known_is(&after, -INFINITY))
        return true;
    return after.far && sees_own(d, x, query, key);
}

/* Whether x adds nothing after the query, along an axis that the op combines. */
static bool adds_nothing(Dependence *d, const Op *op, const Value *x, int query, int key)
{
    if (op->kind != OP_reduce_sum)
        return dtype_is_float(x->type.dtype) && is_masked(d, x, query, key);
    Known after = known_of(d, x, band_of(d, &x->type, query, key, WHERE_AFTER));
    return known_is(&after, 0);
}

static const char *later_along(Dependence *d, const Op *op)
{
    const Value *x = op->args[0];
    const Attr *axes = op_attr(op, ATTR_axes);
    int last = x->type.rank - 1;
    for (int key = 0; key < x->type.rank; key++) {
        bool found = false;
        if (axes ? !attr_lists(axes, key) : key != last)
            continue;
        if (is_batch_axis(d, &x->type, key))
            return other_texts;
        if (!is_time_axis(d, &x->type, key))
            continue;
        for (int query = 0; query < x->type.rank; query++)
            found |= query != key && is_time_axis(d, &x->type, query) &&
                     !(axes && attr_lists(axes, query)) && adds_nothing(d, op, x, query, key);
        if (!found)
            return op->kind == OP_reduce_sum
                       ? "it adds up positions, and nothing shows that its operand is 0 where the "
                         "key comes after the query"
                       : "it runs over the positions, and nothing shows that its operand is -inf "
                         "where the key comes after the query, as in `mask(scores, causal(T))`";
    }
    return NULL;
}

/* Whether the operand `side` is 0 for later positions of its contracted axis `key`. */
static bool looks_back(Dependence *d, const Op *op, int side, int key)
{
    const Value *x = op->args[side];
    const Attr *contract = op_attr(op, side ? ATTR_contract_b : ATTR_contract_a);
    Known other = known_of(d, op->args[!side], band_anywhere());
    for (int query = 0; query < x->type.rank; query++) {
        if (query == key || attr_lists(contract, query) || !is_time_axis(d, &x->type, query))
            continue;
        Known after = known_of(d, x, band_of(d, &x->type, query, key, WHERE_AFTER));
        if (known_is(&after, 0) && !other.minus && !other.plus)
            return true;
    }
    return false;
}

static const char *later_product(Dependence *d, const Op *op)
{
    const Attr *a = op_attr(op, ATTR_contract_a), *b = op_attr(op, ATTR_contract_b);
    for (int i = 0; i < a->n; i++)
        if (is_batch_axis(d, &op->args[0]->type, a->ints[i]))
            return other_texts;
    for (int i = 0; i < a->n; i++)
        if (is_time_axis(d, &op->args[0]->type, a->ints[i]) && !looks_back(d, op, 0, a->ints[i]) &&
            !looks_back(d, op, 1, b->ints[i]))
            return "it mixes positions, and nothing shows that its weights are 0 where the key comes "
                   "after the query, as in `softmax(mask(scores, causal(T)))`";
    return NULL;
}

static const char *later_row(Dependence *d, const Op *op)
{
    if (is_batch_axis(d, &op->args[0]->type, 0))
        return other_texts;
    return is_time_axis(d, &op->args[0]->type, 0) ? "it looks up positions" : NULL;
}

/* Whether v is at most the position along its axis, as one of a dimension that has `before`; -1: at
 * most that of the first token, which every text has; but what stands before the text, if there is
 * such a `reader`, may not read it. */
static bool is_at_most(Dependence *d, const Value *v, int axis, const LinearBefore *before,
                       bool reader)
{
    const Op *op = v->op;
    Band band = band_of(d, &v->type, axis, -1, WHERE_ALL);
    Known k = known_of(d, v, band), most = known_before(before);
    double least, greatest;
    most.query = axis >= 0;
    add_factors(&most, &k, -1, &most);
    most.low = k.low - (before ? before->plus : 0);
    most.high = k.high - (before ? before->plus : 0);
    known_bounds(&most, band.range, &least, &greatest);
    if (k.key == 0 && greatest <= (axis < 0 && reader ? -1 : 0))
        return true;
    bool least_of = op->kind == OP_min, all = op->kind == OP_max || op->kind == OP_select;
    int n = 0, first = op->kind == OP_select;
    for (int i = first; (least_of || all) && i < op->n_args; i++)
        n += is_at_most(d, op->args[i], operand_axis(d, op, i, axis), before, reader);
    return least_of ? n > 0 : all && n == op->n_args - first;
}

static const char *later_lookup(Dependence *d, const Op *op)
{
    const Value *x = op->args[0], *index = op->args[1];
    int looked_up = (int)op_int(op, ATTR_axis);
    const LinearBefore *before = before_axis(d, &x->type, looked_up);
    if (is_batch_axis(d, &x->type, looked_up))
        return other_texts;
    if (!is_time_axis(d, &x->type, looked_up))
        return NULL;
    const Type *result = &op->results[0].type;
    bool found = is_at_most(d, index, -1, before, d->has_before);
    for (int axis = 0; axis < result->rank; axis++)
        found |= is_time_axis(d, result, axis) &&
                 is_at_most(d, index, operand_axis(d, op, 1, axis), before,
                            before_axis(d, result, axis) != NULL);
    return found
               ? NULL
               : "nothing shows that the positions it looks up are not after its own, as those of "
                 "`position(T) - 1` are not";
}

int64_t dependence_reach(Dependence *d, const Op *lookup)
{
    const double most = 1 << 30;
    const int looked_up = (int)op_int(lookup, ATTR_axis);
    const int axis = operand_axis(d, lookup, 1, looked_up);
    if (axis < 0 || !is_time_axis(d, &lookup->args[0]->type, looked_up) ||
        !is_time_axis(d, &lookup->results[0].type, looked_up))
        return -1;
    Known k = known_of(d, lookup->args[1], band_of(d, &lookup->args[1]->type, axis, -1, WHERE_ALL));
    bool bounded = k.key == 0 && k.query == 1 && k.high <= 0 && k.low >= -most;
    for (int i = 0; i < MAX_KNOWN_LENGTHS; i++)
        bounded = bounded && k.lengths[i] == 0;
    return bounded ? (int64_t)ceil(-k.low) : -1;
}

static const char *later_chosen(Dependence *d, const Op *op)
{
    const Type *x = &op->args[0]->type;
    if (is_batch_axis(d, x, x->rank - 1))
        return other_texts;
    return is_time_axis(d, x, x->rank - 1)
               ? "it chooses among the positions of the whole text, later ones, too"
           : is_time_axis(d, &op->results[0].type, x->rank - 1)
               ? "it chooses as many as the whole text has positions"
               : NULL;
}

Found dependence_found(Dependence *d, const Op *op)
{
    const Value *x = op->args[0], *index = op->args[1];
    int looked_up = (int)op_int(op, ATTR_axis);
    Dim dim = x->type.dims[looked_up];
    int axis = operand_axis(d, op, 1, looked_up);
    Band band = band_of(d, &index->type, axis, -1, WHERE_TEXT);
    Known k = known_of(d, index, band), end;
    double least, greatest;
    known_bounds(&k, band.range, &least, &greatest);
    if (axis < 0 || greatest < 0)
        return axis < 0 ? FOUND_ANY : FOUND_NOTHING;
    if (is_time_axis(d, &x->type, looked_up))
        end = known_before(before_axis(d, &x->type, looked_up));
    else if (dim_is_const(dim))
        end = known_exactly((double)dim.size);
    else
        end = known_length(d, dim.symbol);
    end.query = is_time_axis(d, &x->type, looked_up);
    Known behind = {.low = k.low - end.high, .high = k.high - end.low};
    add_factors(&behind, &k, -1, &end);
    if (end.query)
        return known_is(&behind, 0) ? FOUND_OWN : FOUND_ANY;
    known_bounds(&behind, band.range, &least, &greatest);
    return least >= 0 ? FOUND_NOTHING : FOUND_ANY;
}

/* An op without a rule, where values have positions. */
static const char *later_without_rule(Dependence *d, const Op *op)
{
    bool has = false;
    for (int axis = 0; axis < MAX_RANK; axis++) {
        for (int i = 0; i < op->n_args; i++)
            has |= is_time_axis(d, &op->args[i]->type, axis);
        for (int i = 0; i < op->n_results; i++)
            has |= is_time_axis(d, &op->results[i].type, axis);
    }
    return has ? "nothing is known of what it makes of positions" : NULL;
}

const DependenceRule dependence_rules[OP_COUNT] = {
#define ELEMENTWISE(name, ...) [OP_##name] = {known_elements, later_alone},
#define OP(name, ...)
#include "ir/ops.def"
#define RULE(op, known, later) [OP_##op] = {known_##known, later_##later},
#include "passes/dependence/rules.def"
};

const char *why_later(Dependence *d, const Op *op)
{
    const DependenceRule *rule = &dependence_rules[op->kind];
    return rule->later ? rule->later(d, op) : later_without_rule(d, op);
}
