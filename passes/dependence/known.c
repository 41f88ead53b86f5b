/* What is known of a value in a band, by its op: one function a kind of op, in rules.def. Each
 * value is looked at once a band. */
#include "passes/dependence/known.h"

#include <math.h>

/* What was found of a value. */
typedef struct Facts {
    Band band;
    Known known;
    struct Facts *next;
} Facts;

/* An axis as the op's operand i has it, in the same band. */
static Band operand_band(const Dependence *d, const Op *op, int i, Band band)
{
    band.query = operand_axis(d, op, i, band.query);
    band.key = operand_axis(d, op, i, band.key);
    return band;
}

Known known_leaf(Dependence *d, const Op *op, Band band)
{
    const Type *type = &op->results[0].type;
    int axis = type_long_dim(type);
    if (op->kind == OP_const)
        return known_exactly(op_float(op, ATTR_value));
    if (type->dtype == DT_BOOL)
        return known_between(0, 1);
    if (op->kind == OP_size || op->kind == OP_lengths) {
        int symbol = (int)op_int(op, ATTR_dim);
        bool of_text = symbol_is_ragged(d->module, symbol) == (op->kind == OP_lengths);
        return of_text ? known_length(d, symbol) : known_between(0, INFINITY);
    }
    if (op->kind != OP_iota)
        return known_nothing();
    if (axis < 0)
        return known_exactly(0);
    if (dim_is_const(type->dims[axis]))
        return known_between(0, (double)type->dims[axis].size - 1);
    if (axis != band.query && axis != band.key)
        return known_between(0, INFINITY);
    Known k = known_before(before_axis(d, type, axis));
    *(axis == band.query || band.range.where == WHERE_SAME ? &k.query : &k.key) = 1;
    return k;
}

Known known_elements(Dependence *d, const Op *op, Band band)
{
    Known args[3];
    for (int i = 0; i < op->n_args; i++)
        args[i] = known_of(d, op->args[i], operand_band(d, op, i, band));
    return known_elementwise(op, args, band.range);
}

Known known_moved(Dependence *d, const Op *op, Band band)
{
    return known_of(d, op->args[0], operand_band(d, op, 0, band));
}

Known known_joined(Dependence *d, const Op *op, Band band)
{
    Known k = op->kind == OP_pad ? known_exactly(0) : known_moved(d, op, band);
    for (int i = op->kind == OP_concat; i < op->n_args; i++)
        k = known_either(k, known_of(d, op->args[i], operand_band(d, op, i, band)));
    return k;
}

/* Whether every row along the last axis has an element that is not masked: the query's own. */
static bool sees_itself(Dependence *d, const Value *x)
{
    int last = x->type.rank - 1;
    for (int query = 0; query < last && is_time_axis(d, &x->type, last); query++)
        if (is_time_axis(d, &x->type, query) && sees_own(d, x, query, last))
            return true;
    return false;
}

/* Sums of zeros; the greatest of equal ones; a sum of exponentials that are all 0. */
Known known_reduced(Dependence *d, const Op *op, Band band)
{
    const Attr *axes = op_attr(op, ATTR_axes);
    Known x = known_moved(d, op, band);
    bool last = !axes || (axes->n == 1 && axes->ints[0] == op->args[0]->type.rank - 1);
    if (known_is(&x, op->kind == OP_reduce_sum ? 0 : -INFINITY))
        return x;
    if (op->kind != OP_reduce_sum && last && sees_itself(d, op->args[0]))
        x.minus = false;
    return known_forgotten(&x);
}

Known known_share(Dependence *d, const Op *op, Band band)
{
    const Value *x = op->args[0];
    int last = x->type.rank - 1;
    Band all = band_anywhere();
    Known here = known_of(d, x, band), anywhere = known_of(d, x, all);
    bool masked = known_is(&here, -INFINITY) ||
                  (here.far && band.range.where == WHERE_AFTER && band.key == last &&
                   band.query >= 0 && is_masked(d, x, band.query, band.key));
    return masked && !anywhere.plus ? known_exactly(0) : known_between(0, 1);
}

/* Whether the operand of a dot is 0 in the band, and so is the result. */
static bool is_zero_in(Dependence *d, const Op *op, int side, Band band)
{
    Band all = band_anywhere();
    Known here = known_of(d, op->args[side], operand_band(d, op, side, band)),
          other = known_of(d, op->args[!side], all);
    return known_is(&here, 0) && !other.minus && !other.plus;
}

/* Whether the result [i, j] is 0 where j > i, because the operand `side`, with the axis i, is 0
 * where the contracted k > i, and the other one, with j, where j > k: if j > i, then k > i or
 * j > k. */
static bool is_zero_by_steps(Dependence *d, const Op *op, int side, Band band)
{
    const Attr *first = op_attr(op, side ? ATTR_contract_b : ATTR_contract_a),
               *second = op_attr(op, side ? ATTR_contract_a : ATTR_contract_b);
    int i = operand_axis(d, op, side, band.query), j = operand_axis(d, op, !side, band.key);
    for (int n = 0; i >= 0 && j >= 0 && n < first->n; n++) {
        const Value *a = op->args[side], *b = op->args[!side];
        Band of_first = band_of(d, &a->type, i, first->ints[n], WHERE_AFTER),
             of_second = band_of(d, &b->type, second->ints[n], j, WHERE_AFTER);
        Band all = band_anywhere();
        if (!is_time_axis(d, &a->type, of_first.key) || i == of_first.key || j == of_second.query)
            continue;
        Known x = known_of(d, a, of_first), y = known_of(d, b, of_second),
              any_x = known_of(d, a, all), any_y = known_of(d, b, all);
        if (known_is(&x, 0) && known_is(&y, 0) && !any_x.minus && !any_x.plus && !any_y.minus &&
            !any_y.plus)
            return true;
    }
    return false;
}

Known known_product(Dependence *d, const Op *op, Band band)
{
    Band all = band_anywhere();
    Known result = known_nothing();
    for (int side = 0; side < 2; side++) {
        Known k = known_of(d, op->args[side], all), any = known_forgotten(&k);
        result.minus |= k.minus || k.plus;
        result.up |= any.down || any.up;
        if (is_zero_in(d, op, side, band) ||
            (band.range.where == WHERE_AFTER && is_zero_by_steps(d, op, side, band)))
            return known_exactly(0);
    }
    result.plus = result.minus;
    result.down = result.up;
    return result;
}

/* An index outside the table gives zeros. */
Known known_row(Dependence *d, const Op *op, Band band)
{
    Known table = known_of(d, op->args[0], operand_band(d, op, 0, band)),
          index = known_of(d, op->args[1], operand_band(d, op, 1, band));
    Dim n = op->args[0]->type.dims[0];
    double least, greatest;
    known_bounds(&index, band.range, &least, &greatest);
    if (greatest < 0 || (dim_is_const(n) && least >= (double)n.size))
        return known_exactly(0);
    return known_either(table, known_exactly(0));
}

/* An index, or -1. */
Known known_index(Dependence *d, const Op *op, Band band)
{
    const Type *x = &op->args[0]->type;
    Dim n = x->dims[x->rank - 1];
    (void)d, (void)band;
    return known_between(-1, dim_is_const(n) ? (double)n.size - 1 : INFINITY);
}

/* Elements of x, or zeros. */
Known known_found(Dependence *d, const Op *op, Band band)
{
    return known_either(known_moved(d, op, band), known_exactly(0));
}

Known known_plain(Dependence *d, const Op *op, Band band)
{
    (void)band;
    Known k = known_nothing();
    for (int i = 0; i < op->n_args; i++) {
        Known x = known_of(d, op->args[i], band_anywhere());
        const Known any = known_forgotten(&x);
        k.minus |= x.minus;
        k.plus |= x.plus;
        k.down |= any.down;
        k.up |= any.up;
    }
    return k;
}

static Known known_new(Dependence *d, const Value *v, Band band)
{
    const DependenceRule *rule = &dependence_rules[v->op->kind];
    return (rule->known ? rule->known : known_plain)(d, v->op, band);
}

static bool same_band(const Band *a, const Band *b)
{
    return a->query == b->query && a->key == b->key && a->range.where == b->range.where &&
           a->range.query == b->range.query && a->range.key == b->range.key;
}

Known known_of(Dependence *d, const Value *v, Band band)
{
    if (!is_time_axis(d, &v->type, band.query))
        band.query = -1;
    if (!is_time_axis(d, &v->type, band.key))
        band.key = -1;
    Facts *first = side_of_value(&d->facts, v);
    for (const Facts *f = first; f; f = f->next)
        if (same_band(&f->band, &band))
            return f->known;
    Known known = known_new(d, v, band);
    Facts *found = ARENA_NEW(d->arena, Facts);
    *found = (Facts){band, known, side_of_value(&d->facts, v)};
    side_set_value(&d->facts, v, found);
    return known;
}
