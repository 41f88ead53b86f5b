/* Numbers with the bound of their rounding error, and how each element type rounds. */
#ifndef ORACLE_NUMBER_H
#define ORACLE_NUMBER_H

#include "ir/type.h"

#include <math.h>

/* What a program gives for an element differs from v by at most e, to first order. e = 0:
 * every program gives v itself; infinite: there is no saying. */
typedef struct Num {
    double v, e;
} Num;

typedef struct Rounding {
    DType dtype;
    double unit;  /* unit roundoff u: fl(x) = x (1 + d), |d| <= u; 0 of integers */
    double tiny;  /* results below it may be taken as 0 */
    double most;  /* the greatest number */
    double whole; /* whole numbers up to this one are exact, and so are their sums */
    bool written; /* one rounding of an exact result gives the nearest number, and that exactly */
} Rounding;

/* Of the coarser of the two types, if the first is a float's. */
Rounding rounding_of(DType type, DType compute);
/* What sums of it are formed in: f32 for bf16. */
Rounding rounding_of_sums(DType type);

static inline Num num_exact(double v) { return (Num){v, 0}; }
static inline Num num_undecided(double v) { return (Num){v, INFINITY}; }
static inline bool num_is_exact(Num x) { return x.e == 0; }

/* Whether the type has this number. */
bool num_fits(const Rounding *r, double v);
/* The number of the type that is nearest to v. */
double num_nearest(DType dtype, double v);
/* v rounded once, if it has to be. */
Num num_given(const Rounding *r, double v);
/* The result v of an op that rounds it, `roundings` times, where the errors of its operands
 * move it by e. An infinite v is exact if e is finite: it came of an infinite operand. */
Num num_rounded(const Rounding *r, double v, double e, double roundings);
/* The same of an op that picks or moves: not rounded, but perhaps out of range. */
Num num_moved(const Rounding *r, double v, double e);

/* Sums of whatever order. */
typedef struct OracleSum {
    double v, size, e; /* the sum, of magnitudes, of errors */
    int64_t terms;     /* that are not exactly 0 */
    bool part;         /* one is no whole exact number */
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

/* Formed in type `in`, given in that of r, perhaps by way of partial sums in it; each term has
 * been rounded so many times before. */
Num sum_end(const OracleSum *s, double roundings, const Rounding *in, const Rounding *r);

static inline Num num_product(Num a, Num b)
{
    return (Num){a.v * b.v, fabs(a.v) * b.e + fabs(b.v) * a.e + a.e * b.e};
}

#endif
