/* Numbers with a bound of their rounding error, and how each element type rounds. */
#ifndef ORACLE_NUMBER_H
#define ORACLE_NUMBER_H

#include "ir/type.h"

#include <math.h>

/* The element that a program computes differs from v by at most e, to first order. e = 0: every
 * program computes v itself; e infinite: any value is right. */
typedef struct Num {
    double v, e;
} Num;

typedef struct Rounding {
    DType dtype;
    double unit;  /* unit roundoff u: fl(x) = x (1 + d), |d| <= u; 0 of integers */
    double tiny;  /* results of a smaller magnitude may be rounded to 0 */
    double most;  /* the greatest number */
    double whole; /* whole numbers up to this one are exact, and so are their sums */
    bool written; /* one rounding of an exact result gives the type's nearest number */
} Rounding;

/* The rounding of `type`; if both are float types and `compute` is coarser, of `compute`. */
Rounding rounding_of(DType type, DType compute);
/* The rounding of partial sums of elements of the type: of f32 for bf16. */
Rounding rounding_of_sums(DType type);

static inline Num num_exact(double v) { return (Num){v, 0}; }
static inline Num num_undecided(double v) { return (Num){v, INFINITY}; }
static inline bool num_is_exact(Num x) { return x.e == 0; }
/* NaN in every program: one that was given, or what maxima, rows of a softmax and ops that move
 * elements make of it. NaN that arithmetic gives is undecided. */
static inline Num num_nan(void) { return num_exact(NAN); }
static inline bool num_is_nan(Num x) { return isnan(x.v) && x.e == 0; }

/* Whether v is a number of the type. */
bool num_fits(const Rounding *r, double v);
/* The number of the type that is nearest to v, of f32 and bf16; v itself for other types. */
double num_nearest(DType dtype, double v);
/* v, exact if it is a number of the type, else rounded once. */
Num num_given(const Rounding *r, double v);
/* The result v of an op that rounds it `roundings` times; the errors of its operands move it by at
 * most e. An infinite v is exact if e is finite: an operand was infinite. */
Num num_rounded(const Rounding *r, double v, double e, double roundings);
/* An integer's value in i32, which wraps around. */
Num num_wrapped(int64_t v);
/* The result v of an op that picks or moves elements, off by at most e: not rounded. Out of the
 * type's range an exact integer is num_wrapped, anything else num_undecided. */
Num num_moved(const Rounding *r, double v, double e);

/* A sum that programs may form in any order. */
typedef struct OracleSum {
    double v, size, e; /* sums of the terms, of their magnitudes, of their errors */
    int64_t terms;     /* how many terms are not exactly 0 */
    bool part;         /* a term is not an exact whole number */
} OracleSum;

static inline void sum_add(OracleSum *s, Num x)
{
    if (x.v == 0 && x.e == 0)
        return;
    s->v += x.v;
    s->size += fabs(x.v) + x.e;
    s->e += x.e;
    s->terms++;
    s->part |= x.e != 0 || x.v != rint(x.v);
}

/* The result of a sum that is formed in the type of `in` and rounded to the type of r; partial sums
 * may be rounded to the type of r, too. Each term has been rounded `roundings` times before. */
Num sum_end(const OracleSum *s, double roundings, const Rounding *in, const Rounding *r);

static inline Num num_product(Num a, Num b)
{
    return (Num){a.v * b.v, fabs(a.v) * b.e + fabs(b.v) * a.e + a.e * b.e};
}

#endif
