/* Elementwise ops: one rule a row of ops.def, from a number with its bound for each operand to
 * one for the result. x moved by e moves f(x) by at most e times the greatest slope between
 * x - e and x + e; functions are computed within 2 ulp. */
#include "oracle/interpreter.h"

typedef struct Element {
    const Op *op;
    Rounding to;   /* of the result */
    Rounding from; /* of the first operand */
    uint32_t word; /* of dropout */
} Element;

typedef Num ElementRule(const Element *el, const Num *x);

enum { FUNCTION = 4, /* roundings in 2 ulp */ POWER = 16 };
static const double HALF_ROOT_PI = 0.88622692545275801;

static bool is_whole_type(const Element *el) { return el->to.dtype == DT_I32; }
static Num truth(bool decided, bool value) { return (Num){value, decided ? 0 : 1}; }

/* The least magnitude that it may have. */
static double least_size(Num x) { return fmax(fabs(x.v) - x.e, 0); }

/* A function of slope at most `slope` in reach of x. */
static Num function(const Element *el, Num x, double v, double slope)
{
    return num_rounded(&el->to, v, isinf(x.v) ? 0 : slope * x.e, FUNCTION);
}

/* ---- one operand ---- */

static Num element_neg(const Element *el, const Num *x)
{
    return num_moved(&el->to, -x[0].v, x[0].e);
}

static Num element_abs(const Element *el, const Num *x)
{
    return num_moved(&el->to, fabs(x[0].v), x[0].e);
}

static Num element_exp(const Element *el, const Num *x)
{
    double v = exp(x[0].v);
    double e = x[0].e == 0 ? 0 : v * expm1(x[0].e) + el->to.tiny;
    return num_rounded(&el->to, v, e, FUNCTION);
}

static Num element_log(const Element *el, const Num *x)
{
    if (x[0].e > 0 && !(x[0].v - x[0].e > 0))
        return num_undecided(log(x[0].v));
    return function(el, x[0], log(x[0].v), x[0].e == 0 ? 0 : 1 / (x[0].v - x[0].e));
}

static Num element_expm1(const Element *el, const Num *x)
{
    double e = x[0].e == 0 ? 0 : exp(x[0].v) * expm1(x[0].e) + el->to.tiny;
    return num_rounded(&el->to, expm1(x[0].v), e, FUNCTION);
}

static Num element_log1p(const Element *el, const Num *x)
{
    double low = 1 + (x[0].v - x[0].e);
    if (x[0].e > 0 && !(low > 0))
        return num_undecided(log1p(x[0].v));
    return function(el, x[0], log1p(x[0].v), x[0].e == 0 ? 0 : 1 / low);
}

static Num element_sqrt(const Element *el, const Num *x)
{
    double low = x[0].v - x[0].e, v = sqrt(x[0].v);
    if (x[0].e > 0 && low < 0)
        return num_undecided(v);
    return num_rounded(&el->to, v, x[0].e == 0 ? 0 : x[0].e / (v + sqrt(low)), 1);
}

/* At 0 the sign of the zero decides, which is nobody's. */
static Num element_rsqrt(const Element *el, const Num *x)
{
    double low = x[0].v - x[0].e, v = 1 / sqrt(x[0].v);
    if (!(low > 0))
        return num_undecided(v);
    return num_rounded(&el->to, v, isinf(x[0].v) ? 0 : 0.5 * x[0].e / (low * sqrt(low)), 2);
}

static Num element_tanh(const Element *el, const Num *x)
{
    double t = tanh(least_size(x[0]));
    return function(el, x[0], tanh(x[0].v), 1 - t * t);
}

static Num element_erf(const Element *el, const Num *x)
{
    double near = least_size(x[0]);
    return function(el, x[0], erf(x[0].v), exp(-near * near) / HALF_ROOT_PI);
}

static Num element_sigmoid(const Element *el, const Num *x)
{
    double t = exp(-least_size(x[0]));
    return function(el, x[0], 1 / (1 + exp(-x[0].v)), t / ((1 + t) * (1 + t)));
}

/* In f32 the argument is reduced in f64, which loses a little of a large one. */
static Num wave(const Element *el, Num x, double v)
{
    double reduced = el->to.dtype == DT_F64 ? 0 : fabs(x.v) * 0x1p-50;
    return num_rounded(&el->to, v, fmin(x.e, 2) + reduced, FUNCTION);
}

static Num element_sin(const Element *el, const Num *x) { return wave(el, x[0], sin(x[0].v)); }
static Num element_cos(const Element *el, const Num *x) { return wave(el, x[0], cos(x[0].v)); }

/* What rounds to whole numbers is as far off as the ends of its operand's interval go. */
static Num stepped(const Element *el, Num x, double (*step)(double))
{
    double v = step(x.v), e = 0;
    if (x.e > 0)
        e = fmax(fabs(step(x.v + x.e) - v), fabs(step(x.v - x.e) - v));
    return num_moved(&el->to, v, e);
}

static Num element_floor(const Element *el, const Num *x) { return stepped(el, x[0], floor); }

static Num element_relu(const Element *el, const Num *x)
{
    if (x[0].v + x[0].e <= 0)
        return num_exact(0);
    if (num_is_nan(x[0]))
        return num_nan();
    return num_moved(&el->to, x[0].v > 0 ? x[0].v : isnan(x[0].v) ? NAN : 0, x[0].e);
}

/* NaN is 0; too large is the nearest there is. */
static double to_whole(double x)
{
    return isnan(x) ? 0 : fmin(fmax(trunc(x), INT32_MIN), INT32_MAX);
}

static Num cast_to_truth(Num x) { return truth(x.e == 0 || fabs(x.v) > x.e, x.v != 0); }

static Num element_cast(const Element *el, const Num *x)
{
    DType to = el->op->results[0].type.dtype, from = el->op->args[0]->type.dtype;
    if (to == from || from == DT_BOOL)
        return x[0];
    if (to == DT_BOOL)
        return cast_to_truth(x[0]);
    if (to == DT_I32)
        return x[0].e < INFINITY ? stepped(el, x[0], to_whole) : num_undecided(to_whole(x[0].v));
    if (num_is_exact(x[0])) /* a program rounds this very number */
        return num_given(&el->to, el->to.dtype == to ? num_nearest(to, x[0].v) : x[0].v);
    return num_rounded(&el->to, x[0].v, x[0].e, el->to.unit > el->from.unit);
}

static Num element_stop_gradient(const Element *el, const Num *x)
{
    (void)el;
    return x[0];
}

static Num element_not(const Element *el, const Num *x)
{
    (void)el;
    return (Num){x[0].v == 0, x[0].e};
}

/* Kept where the word is at least rate × 2^32. */
static Num element_dropout(const Element *el, const Num *x)
{
    double rate = op_float(el->op, ATTR_rate), scale = 1 / (1 - rate);
    if (el->word < (uint32_t)(rate * 0x1p32))
        return num_exact(0);
    return rate == 0 ? x[0] : num_rounded(&el->to, x[0].v * scale, x[0].e * scale, 2);
}

/* ---- two operands ---- */

/* The sum v of a and b is theirs to the last bit, and the type has it. */
static bool sum_is_exact(const Element *el, Num a, Num b, double v)
{
    double of_b = v - a.v;
    return a.e == 0 && b.e == 0 && (a.v - (v - of_b)) + (b.v - of_b) == 0 && num_fits(&el->to, v);
}

static Num element_add(const Element *el, const Num *x)
{
    double v = x[0].v + x[1].v;
    bool exact = sum_is_exact(el, x[0], x[1], v);
    return num_rounded(&el->to, v, x[0].e + x[1].e, !exact && !is_whole_type(el));
}

static Num element_sub(const Element *el, const Num *x)
{
    return element_add(el, (Num[]){x[0], {-x[1].v, x[1].e}});
}

static Num element_mul(const Element *el, const Num *x)
{
    Num p = num_product(x[0], x[1]);
    if (is_whole_type(el) && p.e == 0)
        return num_wrapped((int64_t)x[0].v * (int64_t)x[1].v);
    bool infinite = isinf(x[0].v) || isinf(x[1].v);
    if (infinite) /* where no operand may be 0, it is as infinite */
        return least_size(x[0]) > 0 && least_size(x[1]) > 0 ? num_exact(p.v) : num_undecided(p.v);
    bool exact = p.e == 0 && fma(x[0].v, x[1].v, -p.v) == 0 && num_fits(&el->to, p.v);
    return exact ? num_moved(&el->to, p.v, 0) : num_rounded(&el->to, p.v, p.e, 1);
}

/* Integers towards zero; by 0 it is 0. Of undecided ones it is that of what they most likely are:
 * programs usually choose the same. */
static Num whole_quotient(const Element *el, const Num *x)
{
    double v = x[1].v == 0 ? 0 : trunc(x[0].v / x[1].v);
    return x[0].e > 0 || x[1].e > 0 ? num_undecided(v) : num_moved(&el->to, v, 0);
}

static Num element_div(const Element *el, const Num *x)
{
    double v = x[0].v / x[1].v, least = fabs(x[1].v) - x[1].e;
    if (is_whole_type(el))
        return whole_quotient(el, x);
    if (!(least > 0) && !isinf(x[1].v))
        return num_undecided(v);
    if (isinf(x[0].v) || isinf(x[1].v))
        return x[0].e + x[1].e < INFINITY ? num_moved(&el->to, v, 0) : num_undecided(v);
    double e = (x[0].e + fabs(v) * x[1].e) / least;
    bool exact = e == 0 && fma(v, x[1].v, -x[0].v) == 0 && num_fits(&el->to, v);
    return exact ? num_moved(&el->to, v, 0) : num_rounded(&el->to, v, e, 1);
}

/* As many products, which wrap; of an exponent below 0, 1 / a^-b towards zero, and 0 of 0. */
static Num whole_power(const Num *x)
{
    const int64_t a = (int64_t)x[0].v, b = (int64_t)x[1].v;
    uint32_t power = 1, square = (uint32_t)a;
    if (x[0].e > 0 || x[1].e > 0)
        return num_undecided(0);
    if (b < 0)
        return num_exact(a == 1 || (a == -1 && b % 2 == 0) ? 1 : a == -1 ? -1 : 0);
    for (int64_t n = b; n; n >>= 1) {
        power *= n & 1 ? square : 1;
        square *= square;
    }
    return num_wrapped(power);
}

/* a^b: of slope b a^(b-1) along a, and a^b ln a along b. */
static Num element_pow(const Element *el, const Num *x)
{
    Num a = x[0], b = x[1];
    double v = pow(a.v, b.v), least = least_size(a), most = fabs(a.v) + a.e;
    if (is_whole_type(el))
        return whole_power(x);
    if (!(a.e < INFINITY && b.e < INFINITY) || isinf(a.v) || isinf(b.v))
        return num_undecided(v);
    if (b.e == 0 &&
        (a.e == 0 ? a.v != 0 || b.v > 0 : b.v == rint(b.v) && (b.v >= 1 || least > 0))) {
        double slope = a.e == 0 ? 0 : fabs(b.v) * pow(b.v >= 1 ? most : least, b.v - 1);
        return num_rounded(&el->to, v, slope * a.e, POWER);
    }
    if (!(a.v - a.e > 0))
        return num_undecided(v);
    double exponent = (fabs(b.v) + b.e) * a.e / (a.v - a.e) + fabs(log(a.v)) * b.e;
    return num_rounded(&el->to, v, v * expm1(exponent), POWER);
}

/* The one of the two that is greater by more than both are off, or as far off as either; NaN if
 * one of them is. */
static Num extreme(const Element *el, Num a, Num b, bool first)
{
    if (num_is_nan(a) || num_is_nan(b))
        return num_nan();
    if (isnan(a.v) || isnan(b.v))
        return num_undecided(NAN);
    Num chosen = first ? a : b;
    bool apart = fabs(a.v - b.v) > a.e + b.e;
    return num_moved(&el->to, chosen.v, apart ? chosen.e : fmax(a.e, b.e));
}

static Num element_max(const Element *el, const Num *x)
{
    return extreme(el, x[0], x[1], x[0].v > x[1].v);
}

static Num element_min(const Element *el, const Num *x)
{
    return extreme(el, x[0], x[1], x[0].v < x[1].v);
}

static bool is_apart(const Num *x)
{
    return (x[0].e == 0 && x[1].e == 0 && !isnan(x[0].v) && !isnan(x[1].v)) ||
           fabs(x[0].v - x[1].v) > x[0].e + x[1].e;
}

static Num element_lt(const Element *el, const Num *x)
{
    (void)el;
    return truth(is_apart(x), x[0].v < x[1].v);
}

static Num element_le(const Element *el, const Num *x)
{
    (void)el;
    return truth(is_apart(x), x[0].v <= x[1].v);
}

static Num element_eq(const Element *el, const Num *x)
{
    (void)el;
    return truth(is_apart(x), x[0].v == x[1].v);
}

static Num element_and(const Element *el, const Num *x)
{
    (void)el;
    bool no = (x[0].e == 0 && x[0].v == 0) || (x[1].e == 0 && x[1].v == 0);
    return truth(no || (x[0].e == 0 && x[1].e == 0), x[0].v != 0 && x[1].v != 0);
}

static Num element_or(const Element *el, const Num *x)
{
    (void)el;
    bool yes = (x[0].e == 0 && x[0].v != 0) || (x[1].e == 0 && x[1].v != 0);
    return truth(yes || (x[0].e == 0 && x[1].e == 0), x[0].v != 0 || x[1].v != 0);
}

static Num element_select(const Element *el, const Num *x)
{
    Num chosen = x[0].v != 0 ? x[1] : x[2], other = x[0].v != 0 ? x[2] : x[1];
    if (x[0].e == 0)
        return chosen;
    double apart = chosen.v == other.v ? 0 : fabs(chosen.v - other.v);
    if (!(apart < INFINITY))
        return num_undecided(chosen.v);
    return num_moved(&el->to, chosen.v, fmax(chosen.e, apart + other.e));
}

/* ---- all elements ---- */

static ElementRule *const rules[OP_COUNT] = {
#define ELEMENTWISE(name, ...) [OP_##name] = element_##name,
#include "ir/ops.def"
};

/* Whether x is equal to its own greatest element is asked of one number twice, not of two that
 * are a rounding apart. */
static const Dense *own_top(const Dense *const *x)
{
    return x[1]->top_of == x[0] ? x[1] : x[0]->top_of == x[1] ? x[0] : NULL;
}

static Num compare_with_top(const Dense *const *x, const Dense *top, const OracleWalk *w,
                            Num by_value)
{
    int64_t at = top == x[0] ? w->at[0] : w->at[1];
    return by_value.e > 0 && by_value.v == 1 && top->sole[at] ? num_exact(1) : by_value;
}

/* Whether programs round the op's result as the type does. */
static bool is_written(const Interpreter *in, const Op *op, const Dense *out, const Rounding *to)
{
    bool ieee = op->kind == OP_add || op->kind == OP_sub || op->kind == OP_mul ||
                op->kind == OP_div || op->kind == OP_sqrt;
    return in->run->as_written && ieee && dtype_is_float(to->dtype) &&
           to->dtype == op->results[0].type.dtype && !out->constant;
}

void interpret_elementwise(Interpreter *in, const Op *op, Dense *out)
{
    enum { MOST = 3 };
    const Dense *x[MOST];
    OracleWalk w = walk_over(out->shape->rank, out->shape->extent);
    for (int k = 0; k < op->n_args; k++) {
        x[k] = operand(in, op, k);
        walk_broadcast(&w, k, x[k]->shape);
    }
    Element el = {op, rounding_for(in, op), rounding_of(op->args[0]->type.dtype, in->run->compute),
                  0};
    el.to.written = is_written(in, op, out, &el.to);
    const Dense *top = op->kind == OP_eq ? own_top(x) : NULL;
    const int64_t *number = op->kind == OP_dropout ? storage_numbers(in, out->shape) : NULL;
    ElementRule *rule = rules[op->kind];
    for (int64_t i = 0; i < w.count; i++, walk_next(&w)) {
        Num args[MOST];
        if (!dense_has(out, i))
            continue;
        for (int k = 0; k < op->n_args; k++)
            args[k] = x[k]->x[w.at[k]];
        if (number)
            el.word = philox_word(in, op_int(op, ATTR_site), number[i]);
        out->x[i] = rule(&el, args);
        if (top)
            out->x[i] = compare_with_top(x, top, &w, out->x[i]);
    }
}
