/* What is known of an elementwise op's result, from what is known of its operands in the same band:
 * positions stay linear through sums, scaling and casts, so that comparisons of them are decided,
 * and what is one number is computed (ir/fold.h). */
#include "passes/dependence/known.h"

#include "base/portable_math.h"

#include "ir/fold.h"

#include <float.h>
#include <math.h>

#define FAR_BELOW (-1e9)
#define LARGE (-FAR_BELOW / 2) /* beside which what is far may not stay so */

/* What is known to reach half as far, on either side, may be infinite: subtracted, it is so on the
 * other. */
static Known with_ends(Known k)
{
    k.minus |= (k.low <= -LARGE && !isinf(k.low)) || k.high <= -LARGE;
    k.plus |= (k.high >= LARGE && !isinf(k.high)) || k.low >= LARGE;
    return k;
}

Known known_exactly(double c)
{
    if (isnan(c))
        return known_infinite(true, true);
    return with_ends((Known){.low = c, .high = c, .far = c <= FAR_BELOW && c > -INFINITY});
}

Known known_between(double low, double high)
{
    return with_ends((Known){.low = low, .high = high});
}
Known known_nothing(void) { return known_between(-INFINITY, INFINITY); }

Known known_infinite(bool minus, bool plus)
{
    Known k = known_nothing();
    k.minus = minus;
    k.plus = plus;
    return k;
}

static Known marked(Known k, bool down, bool up)
{
    k.down = down;
    k.up = up;
    return k;
}

Known known_forgotten(const Known *k)
{
    bool large = known_reach(k) >= LARGE;
    return marked(known_infinite(k->minus, k->plus), k->down || large, k->up || large);
}

Known known_either(Known a, Known b)
{
    Known k = known_forgotten(&a), other = known_forgotten(&b);
    k.minus |= other.minus;
    k.plus |= other.plus;
    k.down |= other.down;
    k.up |= other.up;
    k.far = a.far && b.far;
    Known difference;
    add_factors(&difference, &a, -1, &b);
    if (!known_step(&difference)) {
        add_factors(&k, &a, 0, &b);
        k.low = fmin(a.low, b.low);
        k.high = fmax(a.high, b.high);
    }
    return k;
}

static bool is_infinite(const Known *k) { return known_is_exact(k) && isinf(k->low); }
static bool has_positions(const Known *k) { return known_step(k) != 0; }

/* ---- arithmetic ---- */

static Known negated(Known a)
{
    if (known_is_exact(&a))
        return known_exactly(-a.low);
    Known k = {.low = -a.high, .high = -a.low, .minus = a.plus, .plus = a.minus};
    k = marked(k, a.up, a.down);
    add_factors(&k, &k, -1, &a);
    return k;
}

/* Whether a + b is as far below as a: what is added is not known to be large. */
static bool stays_far(const Known *a, Known b, BandRange range)
{
    double least, most;
    if (isinf(b.high))
        b.low = b.high = 0;
    known_bounds(&b, range, &least, &most);
    return a->far && !b.plus && !b.up && fmin(most, known_reach(&b) + b.high) <= LARGE;
}

static Known sum(Known a, Known b, BandRange range)
{
    if (is_infinite(&b) && !is_infinite(&a))
        return sum(b, a, range);
    if (is_infinite(&a)) /* and b may not be the other infinity */
        return (a.low > 0 ? b.minus : b.plus) ? known_infinite(true, true) : a;
    Known k = {.low = a.low + b.low,
               .high = a.high + b.high,
               .minus = a.minus || b.minus,
               .plus = a.plus || b.plus};
    add_factors(&k, &a, 1, &b);
    if (known_is_exact(&k))
        return known_exactly(k.low);
    k = marked(k, a.down || b.down, a.up || b.up);
    k.far = stays_far(&a, b, range) || stays_far(&b, a, range);
    k.minus |= k.far;
    return with_ends(k);
}

/* Whether both are one function of positions that rises, rounded down: of the query's the one, of
 * the key's the other. */
static bool round_alike(const Known *a, const Known *b)
{
    double slope = a->query + a->key;
    bool alike = a->rounded_down && b->rounded_down && a->query * a->key == 0 &&
                 b->query * b->key == 0 && slope > 0 && slope == b->query + b->key &&
                 a->high == b->high;
    for (int i = 0; i < MAX_KNOWN_LENGTHS; i++)
        alike = alike && a->lengths[i] == b->lengths[i];
    return alike;
}

/* a - b. What is rounded down stays in order. */
static Known difference_of(Known a, Known b, BandRange range)
{
    Known k = sum(a, negated(b), range), unrounded = k;
    double least, greatest;
    if (!round_alike(&a, &b))
        return k;
    unrounded.low = unrounded.high = 0;
    known_bounds(&unrounded, range, &least, &greatest);
    if (least >= 0 || greatest <= 0)
        return known_between(least >= 0 ? 0 : -INFINITY, greatest <= 0 ? 0 : INFINITY);
    return k;
}

static Known scaled(Known a, double c)
{
    if (c == 0 && !a.minus && !a.plus)
        return known_exactly(0);
    if (c == 0 || isinf(c))
        return known_infinite(true, true);
    if (c < 0)
        return scaled(negated(a), -c);
    bool large = c >= LARGE; /* of any number, what is scaled so may be far */
    Known k = a, none = {0};
    add_factors(&k, &none, c, &a);
    k.rounded_down = false;
    k.low *= c;
    k.high *= c;
    k.far = a.far && c >= 1;
    k.minus |= large && isinf(a.low) && !has_positions(&a);
    k.plus |= large && isinf(a.high) && !has_positions(&a);
    return with_ends(k);
}

/* How large it is known to be, without sign; another number counts as 1. */
static double size_of(const Known *k)
{
    double most = fmax(fabs(k->low), fabs(k->high));
    return isinf(most) ? fmax(known_reach(k), 1) : most + known_reach(k);
}

/* `same`: a and b are one value. */
static Known product(Known a, Known b, bool same)
{
    if (known_is_exact(&a) && known_is_exact(&b))
        return known_exactly(a.low * b.low);
    if (known_is_exact(&a))
        return scaled(b, a.low);
    if (known_is_exact(&b))
        return scaled(a, b.low);
    bool infinite = a.minus || a.plus || b.minus || b.plus;
    if (!infinite && !has_positions(&a) && !has_positions(&b) && a.low >= 0 && b.low >= 0)
        return known_between(a.low * b.low, a.high == 0 || b.high == 0 ? 0 : a.high * b.high);
    bool large = a.down || a.up || b.down || b.up ||
                 ((has_positions(&a) || has_positions(&b)) && size_of(&a) * size_of(&b) >= LARGE);
    return marked(known_infinite(infinite, infinite), large && !same, large);
}

/* Rounded down, or towards zero. */
static Known to_whole(Known a, bool down, BandRange range)
{
    double least, greatest;
    if (known_is_exact(&a) && !isinf(a.low))
        return known_exactly(down ? floor(a.low) : trunc(a.low));
    known_bounds(&a, range, &least, &greatest);
    a.rounded_down = a.low == a.high && (down || least >= 0);
    a.low -= 1;
    a.high += !down && least < 0;
    a.far = false;
    return a;
}

/* Whether it may be 0, as the model's constants say; a length, or what else has no bounds, is
 * not. */
static bool may_be_zero(const Known *k)
{
    return k->low <= 0 && k->high >= 0 && !isinf(k->low) && !isinf(k->high);
}

static Known quotient(Known a, Known b, DType dtype, BandRange range)
{
    bool zero = may_be_zero(&b);
    bool infinite = a.minus || a.plus || zero;
    if (!dtype_is_float(dtype)) {
        if (known_is_exact(&a) && known_is_exact(&b) && b.low != 0)
            return known_exactly(trunc(a.low / b.low));
        return known_is_exact(&b) && b.low > 0 ? to_whole(scaled(a, 1 / b.low), false, range)
                                               : known_forgotten(&a);
    }
    if (known_is(&a, 0) && !zero)
        return a;
    if (known_is_exact(&b) && b.low != 0 && !isinf(b.low))
        return known_is_exact(&a) ? known_exactly(a.low / b.low) : scaled(a, 1 / b.low);
    bool large = a.down || a.up || known_reach(&a) >= LARGE;
    return marked(known_infinite(infinite, infinite), large, large);
}

static Known power(Known a, Known b)
{
    if (known_is_exact(&a) && known_is_exact(&b))
        return known_exactly(portable_pow(a.low, b.low));
    if (known_is(&a, 0) && b.low > 0 && !has_positions(&b))
        return a;
    bool infinite = a.minus || a.plus || b.minus || b.plus || known_is(&a, 0);
    bool positions = has_positions(&a) || has_positions(&b), large = a.down || a.up || b.up;
    bool even = known_is_exact(&b) && fmod(b.low, 2) == 0;
    large |= positions && !(known_is_exact(&b) && portable_pow(size_of(&a), b.low) < LARGE);
    return marked(known_infinite(infinite, infinite), large && !even, large);
}

static Known greater(Known a, Known b, BandRange range)
{
    double least, greatest;
    Known difference = sum(a, negated(b), range), k = known_either(a, b);
    known_bounds(&difference, range, &least, &greatest);
    if (least >= 0 || greatest <= 0)
        return least >= 0 ? a : b;
    k.minus = a.minus && b.minus;
    k.down = known_forgotten(&a).down && known_forgotten(&b).down;
    if (!has_positions(&a) && !has_positions(&b)) {
        k.low = fmax(a.low, b.low);
        k.high = fmax(a.high, b.high);
    }
    return k;
}

static bool is_small_whole(double c) { return c == floor(c) && fabs(c) <= 0x1p22; }

/* Whether it is a whole number of positions and lengths, which floats have exactly. */
static bool is_whole(const Known *k)
{
    bool whole = k->low == k->high && is_small_whole(k->low) && is_small_whole(k->query) &&
                 is_small_whole(k->key) && known_step(k) <= 1;
    for (int i = 0; i < MAX_KNOWN_LENGTHS; i++)
        whole = whole && is_small_whole(k->lengths[i]);
    return whole;
}

/* a <= b, or a < b. Floats round: if they are of positions and not whole they must differ by half
 * of a step, other numbers by more than rounding, or not at all. */
static Known is_less(Known a, Known b, bool or_equal, bool floats, BandRange range)
{
    double least, greatest;
    Known difference = difference_of(a, b, range);
    known_bounds(&difference, range, &least, &greatest);
    if (is_whole(&a) && is_whole(&b))
        floats = false;
    if (floats && has_positions(&difference)) {
        double margin = known_step(&difference) / 2;
        if (greatest <= -margin || least >= margin)
            return known_exactly(greatest < 0);
        return known_between(0, 1);
    }
    const double rounding = floats ? 1e-5 * (1 + fmin(fabs(a.low), fabs(b.low))) : 0;
    if ((greatest != 0 && fabs(greatest) <= rounding) || (least != 0 && fabs(least) <= rounding))
        return known_between(0, 1);
    if (or_equal ? greatest <= 0 : greatest < 0)
        return known_exactly(1);
    if (or_equal ? least > 0 : least >= 0)
        return known_exactly(0);
    return known_between(0, 1);
}

static Known is_equal(Known a, Known b, bool floats, BandRange range)
{
    if (known_is_exact(&a) && known_is_exact(&b))
        return known_exactly(a.low == b.low);
    Known less = is_less(a, b, false, floats, range), more = is_less(b, a, false, floats, range);
    return known_is(&less, 1) || known_is(&more, 1) ? known_exactly(0) : known_between(0, 1);
}

/* ---- functions of one number ---- */

static Known absolute(Known a, BandRange range)
{
    double least, greatest;
    known_bounds(&a, range, &least, &greatest);
    if (least >= 0)
        return a;
    if (greatest <= 0)
        return negated(a);
    Known k = known_infinite(false, a.minus || a.plus), any = known_forgotten(&a);
    k.up = any.down || any.up;
    k.low = 0;
    return k;
}

/* Positions in bf16 are no longer integers. */
static Known converted(Known a, DType from, DType to, BandRange range)
{
    bool exact = known_is_exact(&a);
    if (to == DT_BOOL)
        return exact ? known_exactly(a.low != 0) : known_between(0, 1);
    if (!dtype_is_float(to) && dtype_is_float(from))
        return a.minus || a.plus || isinf(a.low) ? known_forgotten(&a) : to_whole(a, false, range);
    if (dtype_is_float(to) && dtype_bytes(to) < 4 && !isinf(a.low) && a.low != 0 && a.low != 1)
        return known_forgotten(&a);
    return a;
}

/* Any other function: infinite where it is so of an infinity, or of a 0 that the operand may be. */
static Known of_function(const Op *op, Known a, DType dtype, BandRange range)
{
    double value, least, greatest, ends[] = {-INFINITY, INFINITY, 0};
    const bool may_be[] = {a.minus, a.plus, may_be_zero(&a)};
    Known k = known_nothing();
    if (known_is_exact(&a) && fold_value(op->kind, dtype, &a.low, &value))
        return known_exactly(value);
    for (int i = 0; i < 3; i++) {
        bool known = fold_value(op->kind, dtype, &ends[i], &value);
        k.minus |= may_be[i] && (!known || isnan(value) || value == -INFINITY);
        k.plus |= may_be[i] && (!known || isnan(value) || value == INFINITY);
    }
    known_bounds(&a, range, &least, &greatest);
    const double large[] = {a.down ? -INFINITY : fmax(least, -size_of(&a)),
                            a.up ? INFINITY : fmin(greatest, size_of(&a))};
    for (int i = 0; i < 2; i++)
        if (has_positions(&a) || a.down || a.up) {
            bool known = fold_value(op->kind, dtype, &large[i], &value);
            k.down |= !known || value <= -LARGE;
            k.up |= !known || value >= LARGE;
        }
    return k;
}

/* Notes whether positions below MOST_POSITION have different numbers: integers must not wrap, and
 * floats must not be so large that a step is rounded away. */
static Known told_apart(Known k, DType dtype)
{
    const double step = known_step(&k);
    double beside = isinf(k.low) ? 0 : fabs(k.low);
    if (!isinf(k.high))
        beside = fmax(beside, fabs(k.high));
    bool apart = dtype_is_float(dtype) ? step > 1e-30 && step < 1e30 && beside <= step * 0x1p22
                                       : step <= 0x1p7 && beside < 0x1p30;
    return !has_positions(&k) || apart ? k : known_forgotten(&k);
}

static Known known_of_kind(const Op *op, const Known *args, BandRange range)
{
    Known a = args[0], b = args[op->n_args > 1];
    DType from = op->args[0]->type.dtype, to = op->results[0].type.dtype;
    switch (op->kind) {
    case OP_neg: return negated(a);
    case OP_add: return sum(a, b, range);
    case OP_sub: return difference_of(a, b, range);
    case OP_mul: return product(a, b, op->args[0] == op->args[1]);
    case OP_div: return quotient(a, b, to, range);
    case OP_pow: {
        Known k = power(a, b);
        return dtype_is_float(to) ? k : marked(known_nothing(), k.down, k.up);
    }
    case OP_max: return greater(a, b, range);
    case OP_min: return negated(greater(negated(a), negated(b), range));
    case OP_relu: return a.far ? known_exactly(0) : greater(a, known_exactly(0), range);
    case OP_abs: return absolute(a, range);
    case OP_lt: return is_less(a, b, false, dtype_is_float(from), range);
    case OP_le: return is_less(a, b, true, dtype_is_float(from), range);
    case OP_eq: return is_equal(a, b, dtype_is_float(from), range);
    case OP_not: return known_between(1 - a.high, 1 - a.low);
    case OP_and: return known_between(fmin(a.low, b.low), fmin(a.high, b.high));
    case OP_or: return known_between(fmax(a.low, b.low), fmax(a.high, b.high));
    case OP_select:
        return known_is(&a, 1)   ? args[1]
               : known_is(&a, 0) ? args[2]
                                 : known_either(args[1], args[2]);
    case OP_cast: return converted(a, from, to, range);
    case OP_floor: return to_whole(a, true, range);
    case OP_stop_gradient: return a;
    case OP_dropout: return known_is(&a, 0) ? a : known_forgotten(&a);
    case OP_exp:
    case OP_sigmoid: {
        if (a.far)
            return known_exactly(0);
        Known k = of_function(op, a, to, range);
        if (!known_is_exact(&k))
            k.low = DBL_TRUE_MIN; /* above 0, if rounding does not make it 0 */
        return k;
    }
    default: return of_function(op, a, to, range);
    }
}

Known known_elementwise(const Op *op, const Known *args, BandRange range)
{
    return told_apart(known_of_kind(op, args, range), op->results[0].type.dtype);
}
