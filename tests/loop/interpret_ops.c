/* Arithmetic, types and lanes of the interpreter, lane by lane; see interpret.h. */
#include "tests/loop/interpret_state.h"

#include <inttypes.h>
#include <math.h>

/* ---- bf16 pairs ---- */

float lo_without_denormals(float x) { return fpclassify(x) == FP_SUBNORMAL ? copysignf(0, x) : x; }

float lo_add_pair(float sum, uint32_t a, uint32_t b, bool odd)
{
    float x = lo_f32_of(odd ? a & 0xffff0000u : a << 16);
    float y = lo_f32_of(odd ? b & 0xffff0000u : b << 16);
    return lo_without_denormals(
        fmaf(lo_without_denormals(x), lo_without_denormals(y), lo_without_denormals(sum)));
}

static uint64_t pair_dot(uint64_t sum, uint64_t a, uint64_t b)
{
    float odd = lo_add_pair(lo_f32_of(sum), (uint32_t)a, (uint32_t)b, true);
    return lo_bits_of_f32(lo_add_pair(odd, (uint32_t)a, (uint32_t)b, false));
}

/* ---- integers, several a lane ---- */

static uint64_t word_dot(uint64_t sum, uint64_t a, uint64_t b)
{
    for (int i = 0; i < 32; i += 16)
        sum += (uint64_t)((int64_t)(int16_t)(a >> i) * (int16_t)(b >> i));
    return (uint32_t)sum;
}

static uint64_t byte_dot(uint64_t sum, uint64_t a, uint64_t b)
{
    for (int i = 0; i < 32; i += 8)
        sum += (uint64_t)((int64_t)(uint8_t)(a >> i) * (int8_t)(b >> i));
    return (uint32_t)sum;
}

/* Halves wrap. */
static uint64_t byte_pairs(uint64_t sum, uint64_t a, uint64_t b)
{
    uint64_t out = 0;
    for (int half = 0; half < 32; half += 16) {
        int32_t x = (int16_t)(sum >> half);
        for (int i = half; i < half + 16; i += 8)
            x += (uint8_t)(a >> i) * (int8_t)(b >> i);
        out |= (uint64_t)(uint16_t)x << half;
    }
    return out;
}

static uint64_t signed_dot(uint64_t sum, uint64_t a, uint64_t b)
{
    for (int i = 0; i < 32; i += 8)
        sum += (uint64_t)((int64_t)(int8_t)(a >> i) * (int8_t)(b >> i));
    return (uint32_t)sum;
}

/* ---- floats ---- */

/* a · 2^b; an f64 holds every step of an f32, so that one rounding is left. */
static double scale2(double a, double b)
{
    enum { FAR = 5000 };
    if (isnan(a) || isnan(b))
        return a + b;
    return ldexp(a, b > FAR ? FAR : b < -FAR ? -FAR : (int)floor(b));
}

#define NAME_f32(name) name##f
#define NAME_f64(name) name
#define FN(name, suffix) NAME_##suffix(name)
#define CALL_1(function, a, b) function(a)
#define CALL_2(function, a, b) function(a, b)
#define ONE(name, n, suffix)                     \
    if (!strcmp(#name, op_name)) {               \
        *out = CALL_##n(FN(name, suffix), a, b); \
        return true;                             \
    }

static bool math_f32(const char *op_name, float a, float b, float *out)
{
#define FUNCTION(name, n) ONE(name, n, f32)
#include "codegen/loop/functions.def"
    return false;
}

static bool math_f64(const char *op_name, double a, double b, double *out)
{
#define FUNCTION(name, n) ONE(name, n, f64)
#include "codegen/loop/functions.def"
    return false;
}

/* Each operation on floats of one width, rounded to it. */
#define DEFINE_FLOATS(T, suffix)                                                            \
    static bool float_##suffix(const LoOp *op, T a, T b, T c, bool fused, T *out)           \
    {                                                                                       \
        T product = a * b;                                                                  \
        switch (op->kind) {                                                                 \
        case LO_add: *out = a + b; return true;                                             \
        case LO_sub: *out = a - b; return true;                                             \
        case LO_mul: *out = product; return true;                                           \
        case LO_div: *out = a / b; return true;                                             \
        case LO_neg: *out = -a; return true;                                                \
        case LO_muladd: *out = fused ? FN(fma, suffix)(a, b, c) : product + c; return true; \
        case LO_sqrt: *out = FN(sqrt, suffix)(a); return true;                              \
        case LO_floor: *out = FN(floor, suffix)(a); return true;                            \
        case LO_abs: *out = FN(fabs, suffix)(a); return true;                               \
        case LO_copysign: *out = FN(copysign, suffix)(a, b); return true;                   \
        case LO_scale2: *out = (T)scale2(a, b); return true;                                \
        case LO_math: return math_##suffix(op->name, a, b, out);                            \
        default: return false;                                                              \
        }                                                                                   \
    }
DEFINE_FLOATS(float, f32)
DEFINE_FLOATS(double, f64)

static bool float_lane(LoFrame *f, const LoOp *op, const uint64_t x[3], uint64_t *out)
{
    bool fused = f->in->run->fused, done;
    float narrow = 0;
    double wide = 0;
    if (lo_element(op->type) == lo_f32) {
        done = float_f32(op, lo_f32_of(x[0]), lo_f32_of(x[1]), lo_f32_of(x[2]), fused, &narrow);
        *out = lo_bits_of_f32(narrow);
    } else {
        done = float_f64(op, lo_f64_of(x[0]), lo_f64_of(x[1]), lo_f64_of(x[2]), fused, &wide);
        *out = lo_bits_of_f64(wide);
    }
    return done || lo_stop(f, op, "no such operation on floats");
}

/* ---- sums ---- */

/* Whether the maximum of a and b is b: where b is NaN, too. */
static bool is_greater(LoType type, uint64_t a, uint64_t b)
{
    if (!lo_is_float(type))
        return lo_signed(type, b) > lo_signed(type, a);
    if (lo_element(type) == lo_f32)
        return lo_f32_of(b) > lo_f32_of(a) || isnan(lo_f32_of(b));
    return lo_f64_of(b) > lo_f64_of(a) || isnan(lo_f64_of(b));
}

uint64_t lo_join_lane(LoType type, LoJoin by, uint64_t a, uint64_t b)
{
    if (by == LO_JOIN_MAX)
        return is_greater(type, a, b) ? b : a;
    if (!lo_is_float(type))
        return (a + b) & lo_mask_of(type);
    return lo_element(type) == lo_f32 ? lo_bits_of_f32(lo_f32_of(a) + lo_f32_of(b))
                                      : lo_bits_of_f64(lo_f64_of(a) + lo_f64_of(b));
}

/* ---- integers ---- */

static bool divide(LoFrame *f, const LoOp *op, LoType type, uint64_t x, uint64_t y, uint64_t *out)
{
    int64_t a = lo_signed(type, x), b = lo_signed(type, y);
    bool quotient = op->kind == LO_div || op->kind == LO_udiv;
    if (y == 0)
        return lo_stop(f, op, "it divides by 0");
    if (op->kind == LO_udiv || op->kind == LO_urem)
        *out = quotient ? x / y : x % y;
    else if (b == -1 && x == UINT64_C(1) << (lo_bits(type) - 1))
        return lo_stop(f, op, "the quotient of the least number and -1 does not fit");
    else
        *out = (uint64_t)(quotient ? a / b : a % b);
    return true;
}

static bool shift(LoFrame *f, const LoOp *op, LoType type, uint64_t x, uint64_t by, uint64_t *out)
{
    if (by >= (uint64_t)lo_bits(type))
        return lo_stop(f, op, "it shifts by %" PRIu64 ", which is the width or more", by);
    *out = op->kind == LO_shl    ? x << by
           : op->kind == LO_lshr ? x >> by
                                 : (uint64_t)(lo_signed(type, x) >> by);
    return true;
}

static bool index_lane(LoFrame *f, const LoOp *op, int64_t a, int64_t b, uint64_t *out)
{
    int64_t result;
    bool over = op->kind == LO_iadd   ? __builtin_add_overflow(a, b, &result)
                : op->kind == LO_isub ? __builtin_sub_overflow(a, b, &result)
                                      : __builtin_mul_overflow(a, b, &result);
    *out = (uint64_t)result;
    return !over || lo_stop(f, op, "%" PRId64 " and %" PRId64 " overflow", a, b);
}

static bool integer_lane(LoFrame *f, const LoOp *op, const uint64_t v[3], uint64_t *out)
{
    LoType type = op->type;
    uint64_t x = v[0], y = v[1];
    switch (op->kind) {
    case LO_add: *out = x + y; return true;
    case LO_sub: *out = x - y; return true;
    case LO_mul: *out = x * y; return true;
    case LO_neg: *out = 0 - x; return true;
    case LO_abs: *out = lo_signed(type, x) < 0 ? 0 - x : x; return true;
    case LO_and: *out = x & y; return true;
    case LO_or: *out = x | y; return true;
    case LO_xor: *out = x ^ y; return true;
    case LO_div:
    case LO_rem:
    case LO_udiv:
    case LO_urem: return divide(f, op, type, x, y, out);
    case LO_shl:
    case LO_lshr:
    case LO_ashr: return shift(f, op, type, x, y, out);
    case LO_iadd:
    case LO_isub:
    case LO_imul: return index_lane(f, op, (int64_t)x, (int64_t)y, out);
    default: return lo_stop(f, op, "no such operation on integers");
    }
}

/* ---- comparisons ---- */

typedef struct Order {
    bool less, equal, unordered, below; /* below: as unsigned numbers */
} Order;

static Order compare(LoType type, uint64_t x, uint64_t y)
{
    if (lo_is_float(type)) {
        bool narrow = lo_element(type) == lo_f32;
        double a = narrow ? lo_f32_of(x) : lo_f64_of(x), b = narrow ? lo_f32_of(y) : lo_f64_of(y);
        return (Order){a < b, a == b, isnan(a) || isnan(b), false};
    }
    return (Order){lo_signed(type, x) < lo_signed(type, y), x == y, false, x < y};
}

static uint64_t truth(LoKind kind, Order is)
{
    bool greater = !is.less && !is.equal && !is.unordered;
    switch (kind) {
    case LO_lt: return is.less;
    case LO_le: return is.less || is.equal;
    case LO_gt: return greater;
    case LO_ge: return greater || is.equal;
    case LO_eq: return is.equal;
    case LO_ne: return !is.equal;
    case LO_ult: return is.below;
    case LO_ule: return is.below || is.equal;
    case LO_uge: return !is.below;
    default: return is.unordered;
    }
}

/* ---- types ---- */

static double value_of(LoType type, uint64_t bits)
{
    return lo_element(type) == lo_f32 ? lo_f32_of(bits) : lo_f64_of(bits);
}

/* Toward zero; the nearest there is where it does not fit. */
static uint64_t to_int(LoType type, double x)
{
    int bits = lo_bits(type);
    if (isnan(x))
        return 0;
    if (x >= ldexp(1, bits - 1))
        return lo_mask_of(type) >> 1;
    if (x < -ldexp(1, bits - 1))
        return UINT64_C(1) << (bits - 1);
    return (uint64_t)(int64_t)x;
}

static uint64_t cast_lane(const LoOp *op, uint64_t x)
{
    LoType from = op->args[0]->type;
    bool narrow = lo_element(op->type) == lo_f32;
    int64_t number = lo_signed(from, x);
    switch (op->kind) {
    case LO_sext: return (uint64_t)number;
    case LO_fcast:
        return narrow ? lo_bits_of_f32((float)value_of(from, x))
                      : lo_bits_of_f64(value_of(from, x));
    case LO_from_int:
        return narrow ? lo_bits_of_f32((float)number) : lo_bits_of_f64((double)number);
    case LO_from_uint: return narrow ? lo_bits_of_f32((float)x) : lo_bits_of_f64((double)x);
    case LO_to_int: return to_int(op->type, value_of(from, x));
    default: return x; /* trunc, zext */
    }
}

/* The same bits in a row, from the lowest of lane 0 on. */
static void bitcast(LoType from, LoType to, const LoLanes x, LoLanes out)
{
    int n = lo_bits(from) * lo_lanes(from), of = lo_bits(from), as = lo_bits(to);
    for (int bit = 0; bit < n; bit++)
        out[bit / as] |= (x[bit / of] >> bit % of & 1) << bit % as;
}

/* ---- which one ---- */

static uint64_t address(const LoOp *op, uint64_t pointer, uint64_t index)
{
    uint64_t each = (uint64_t)(lo_bits(op->element) * lo_lanes(op->element)) / 8;
    return pointer + index * each;
}

/* One lane of an op that has its operands lane by lane. */
static bool compute_lane(LoFrame *f, const LoOp *op, const uint64_t x[3], uint64_t *out)
{
    if (lo_info[op->kind].result == LO_RESULT_TRUTH) {
        *out = truth(op->kind, compare(op->args[0]->type, x[0], x[1]));
        return true;
    }
    switch (op->kind) {
    case LO_select: *out = x[0] ? x[1] : x[2]; return true;
    case LO_pair_dot: *out = pair_dot(x[0], x[1], x[2]); return true;
    case LO_word_dot: *out = word_dot(x[0], x[1], x[2]); return true;
    case LO_byte_dot: *out = byte_dot(x[0], x[1], x[2]); return true;
    case LO_byte_pairs: *out = byte_pairs(x[0], x[1], x[2]); return true;
    case LO_signed_dot: *out = signed_dot(x[0], x[1], x[2]); return true;
    case LO_at: *out = address(op, x[0], x[1]); return true;
    case LO_splat: *out = x[0]; return true;
    case LO_trunc:
    case LO_zext:
    case LO_sext:
    case LO_fcast:
    case LO_from_int:
    case LO_from_uint:
    case LO_to_int: *out = cast_lane(op, x[0]); return true;
    default: return lo_is_float(op->type) ? float_lane(f, op, x, out) : integer_lane(f, op, x, out);
    }
}

bool lo_compute(LoFrame *f, const LoOp *op, LoLanes out)
{
    LoLanes args[3] = {{0}};
    for (int i = 0; i < op->n_args && i < 3; i++)
        lo_fetch(f, op->args[i], args[i]);
    if (op->kind == LO_bitcast) {
        bitcast(op->args[0]->type, op->type, args[0], out);
        return true;
    }
    for (int i = 0; i < lo_lanes(op->type); i++) {
        uint64_t x[3];
        if (op->kind == LO_shuffle || op->kind == LO_extract) {
            int lane = op->order[i], n = lo_lanes(op->args[0]->type);
            out[i] = lane < n ? args[0][lane] : args[1][lane - n];
            continue;
        }
        for (int j = 0; j < 3; j++) /* one lane serves all: a condition, a pointer, a splat */
            x[j] = args[j][j < op->n_args && lo_is_vector(op->args[j]->type) ? i : 0];
        if (!compute_lane(f, op, x, &out[i]))
            return false;
        out[i] &= lo_mask_of(op->type);
    }
    return true;
}
