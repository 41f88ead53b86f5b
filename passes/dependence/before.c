/* Dimensions along the text, which may have positions before it, and the bounds of a number made of
 * positions and of the lengths that stand before the text. */
#include "passes/dependence/known.h"

#include "ir/position_form.h"
#include "passes/dependence/dependence.h"

#include <math.h>

bool is_made_of(const Module *module, int symbol, int of)
{
    if (symbol == of || symbol == NO_SYMBOL)
        return symbol == of;
    const DimFormula *formula = &module->symbols.data[symbol].formula;
    for (int i = 0; i < formula->n; i++)
        if (is_made_of(module, formula->terms[i].symbol, of))
            return true;
    return false;
}

/* Adds to `before` what stands before the text. */
static bool add_before(const Module *module, int symbol, int time, LengthSum *before)
{
    const DimFormula *formula = &module->symbols.data[symbol].formula;
    bool ok = dim_formula_is_sum(formula);
    int n_text = 0;
    for (int i = 0; ok && i < formula->n; i++) {
        const DimTerm *term = &formula->terms[i];
        if (is_made_of(module, term->symbol, time)) {
            n_text++;
            ok = term->times == 1 &&
                 (term->symbol == time || add_before(module, term->symbol, time, before));
        } else {
            ok = length_sum_add(module, before, dim_symbol(term->symbol), term->times);
        }
    }
    before->plus += formula->plus;
    return ok && n_text == 1;
}

bool find_before(const Module *module, int symbol, int time, LengthSum *before)
{
    DimFormula formula;
    *before = (LengthSum){0};
    if (symbol == time || !is_made_of(module, symbol, time))
        return symbol != NO_SYMBOL && symbol == time;
    return add_before(module, symbol, time, before) && length_sum_formula(before, 1, &formula) &&
           formula.n < MAX_DIM_TERMS;
}

/* ---- axes ---- */

const LinearBefore *before_axis(const Dependence *d, const Type *type, int axis)
{
    if (!is_time_axis(d, type, axis) || type->dims[axis].symbol == d->time)
        return NULL;
    return d->before[type->dims[axis].symbol];
}

Band band_of(const Dependence *d, const Type *type, int query, int key, Where where)
{
    return (Band){query, key, {where, before_axis(d, type, query), before_axis(d, type, key)}};
}
Band band_anywhere(void) { return (Band){-1, -1, {WHERE_ALL, NULL, NULL}}; }

/* ---- numbers ---- */

void add_factors(Known *k, const Known *a, double times, const Known *b)
{
    k->query = a->query + times * b->query;
    k->key = a->key + times * b->key;
    for (int i = 0; i < MAX_KNOWN_LENGTHS; i++)
        k->lengths[i] = a->lengths[i] + times * b->lengths[i];
}

static bool add_known_length(const Dependence *d, Known *k, int symbol, double times)
{
    const DimFormula *of = &d->module->symbols.data[symbol].formula;
    for (int i = 0; i < d->n_lengths; i++)
        if (d->lengths[i] == symbol) {
            k->lengths[i] += times;
            return true;
        }
    bool ok = dim_formula_is_sum(of) && !is_made_of(d->module, symbol, d->time);
    for (int i = 0; ok && i < of->n; i++)
        ok = add_known_length(d, k, of->terms[i].symbol, times * (double)of->terms[i].times);
    k->low = k->high += times * (double)of->plus;
    return ok;
}

Known known_length(const Dependence *d, int symbol)
{
    Known k = known_exactly(0);
    return add_known_length(d, &k, symbol, 1) ? k : known_between(0, INFINITY);
}

Known known_before(const LinearBefore *before)
{
    Known k = known_exactly(before ? before->plus : 0);
    for (int i = 0; before && i < MAX_KNOWN_LENGTHS; i++)
        k.lengths[i] = before->lengths[i];
    return k;
}

double known_step(const Known *k)
{
    double step = fmax(fabs(k->query), fabs(k->key));
    for (int i = 0; i < MAX_KNOWN_LENGTHS; i++)
        step = fmax(step, fabs(k->lengths[i]));
    return step;
}

double known_reach(const Known *k)
{
    double reach = fabs(k->query) + fabs(k->key);
    for (int i = 0; i < MAX_KNOWN_LENGTHS; i++)
        reach += fabs(k->lengths[i]);
    return reach * MOST_POSITION;
}

/* ---- bounds: the least and the greatest are at a corner ---- */

/* Corner: a sum of factors, each by a number from 0 up: two of positions, and the lengths; and
 * `plus`. */
typedef struct Corner {
    double a, b, lengths[MAX_KNOWN_LENGTHS], plus;
} Corner;

static Corner corner_at(const Known *k, double a, double b, double plus)
{
    Corner c = {.a = a, .b = b, .plus = plus};
    for (int i = 0; i < MAX_KNOWN_LENGTHS; i++)
        c.lengths[i] = k->lengths[i];
    return c;
}

/* The position of this factor is at the very beginning of its dimension. */
static void from_beginning(Corner *c, double factor, const LinearBefore *before)
{
    for (int i = 0; before && i < MAX_KNOWN_LENGTHS; i++)
        c->lengths[i] -= factor * before->lengths[i];
    c->plus -= before ? factor * before->plus : 0;
}

static void add_corner(const Corner *c, const Known *k, double *least, double *greatest)
{
    bool less = c->a < 0 || c->b < 0, more = c->a > 0 || c->b > 0;
    for (int i = 0; i < MAX_KNOWN_LENGTHS; i++) {
        less |= c->lengths[i] < 0;
        more |= c->lengths[i] > 0;
    }
    *least = fmin(*least, less ? -INFINITY : k->low + c->plus);
    *greatest = fmax(*greatest, more ? INFINITY : k->high + c->plus);
}

/* A token after a query before the text, of a text that has something before it. */
static void add_from_before(const Known *k, const LinearBefore *before, double *least,
                            double *greatest)
{
    Corner last = corner_at(k, 0, k->key, -k->query), first = corner_at(k, 0, k->key, 0);
    add_corner(&last, k, least, greatest);
    from_beginning(&first, k->query, before);
    if (before->plus > 0)
        add_corner(&first, k, least, greatest);
    for (int i = 0; before->plus <= 0 && i < MAX_KNOWN_LENGTHS; i++) {
        Corner one = first; /* the length is 1 or more */
        one.plus += one.lengths[i];
        if (before->lengths[i] > 0)
            add_corner(&one, k, least, greatest);
    }
}

void known_bounds(const Known *k, BandRange range, double *least, double *greatest)
{
    Corner c = corner_at(k, k->query, k->key, 0);
    *least = INFINITY;
    *greatest = -INFINITY;
    if (range.where == WHERE_AFTER) { /* the query is a token: key = query + 1 + … */
        c = corner_at(k, k->query + k->key, k->key, k->key);
        if (range.query)
            add_from_before(k, range.query, least, greatest);
    } else {
        if (range.where != WHERE_TEXT)
            from_beginning(&c, k->query, range.query);
        from_beginning(&c, k->key, range.key);
    }
    add_corner(&c, k, least, greatest);
}
