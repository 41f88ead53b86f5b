/* Rounding of the element types; see number.h. */
#include "oracle/number.h"

#include "base/bf16.h"

#include <float.h>

static const Rounding types[DT_COUNT] = {
    [DT_F32] = {DT_F32, 0x1p-24, FLT_MIN, FLT_MAX, 0x1p24, false},
    [DT_F64] = {DT_F64, 0x1p-53, DBL_MIN, DBL_MAX, 0x1p53, false},
    /* computed in f32 and rounded again */
    [DT_BF16] = {DT_BF16, 0x1p-8 + 0x1p-23, FLT_MIN, 0x1.fep127, 0x1p8, false},
    [DT_I32] = {DT_I32, 0, 0, INT32_MAX, INT32_MAX, false},
    [DT_BOOL] = {DT_BOOL, 0, 0, 2, 1, false},
};

Rounding rounding_of(DType type, DType compute)
{
    bool coarser =
        dtype_is_float(type) && dtype_is_float(compute) && types[compute].unit > types[type].unit;
    return types[coarser ? compute : type];
}

Rounding rounding_of_sums(DType type) { return types[type == DT_BF16 ? DT_F32 : type]; }

double num_nearest(DType dtype, double v)
{
    return dtype == DT_F32    ? (double)(float)v
           : dtype == DT_BF16 ? (double)bf16_to_float(bf16_from_float((float)v))
                              : v;
}

bool num_fits(const Rounding *r, double v)
{
    switch (r->dtype) {
    case DT_F32:
    case DT_BF16: return num_nearest(r->dtype, v) == v;
    case DT_I32: return v >= INT32_MIN && v <= INT32_MAX && v == rint(v);
    default: return true;
    }
}

Num num_given(const Rounding *r, double v)
{
    if (isnan(v))
        return num_nan();
    return num_fits(r, v) ? num_exact(v) : num_rounded(r, v, 0, 1);
}

Num num_wrapped(int64_t v) { return num_exact((int32_t)(uint32_t)(uint64_t)v); }

Num num_moved(const Rounding *r, double v, double e)
{
    if (isnan(v) || !(e < INFINITY))
        return num_undecided(v);
    if (r->dtype == DT_I32 && e == 0 && fabs(v) <= 0x1p53)
        return num_wrapped((int64_t)v);
    if (isinf(v))
        return num_exact(v);
    double least = r->dtype == DT_I32 ? -(double)INT32_MIN : r->most;
    return fabs(v) + e > (v < 0 ? least : r->most) ? num_undecided(v) : (Num){v, e};
}

Num num_rounded(const Rounding *r, double v, double e, double n)
{
    if (r->written && e == 0 && n == 1 && (v == 0 || fabs(v) >= r->tiny))
        return num_moved(r, num_nearest(r->dtype, v), 0);
    Num x = num_moved(r, v, e);
    if (n == 0 || isinf(v) || !(x.e < INFINITY) || (v == 0 && e == 0))
        return x;
    return num_moved(r, v, e + n * r->unit * (fabs(v) + e) + r->tiny);
}

Num sum_end(const OracleSum *s, double roundings, const Rounding *in, const Rounding *r)
{
    bool wraps = in->dtype == DT_I32; /* partial sums, too; s->v is exact up to 2^53 */
    bool exact = wraps ? s->size <= 0x1p53 : !s->part && s->size <= in->whole && num_fits(r, s->v);
    if (exact || !isfinite(s->v))
        return num_moved(r, s->v, s->e);
    if (wraps)
        return num_undecided(s->v);
    double n = ((double)(s->terms - 1) + roundings) * in->unit;
    if (n >= 1) /* more terms than digits: nothing is known */
        return num_undecided(s->v);
    double share = n / (1 - n) + (r->unit > in->unit ? r->unit : 0);
    return num_moved(r, s->v, s->e + share * s->size + r->tiny);
}
