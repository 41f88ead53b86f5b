/* The oracle: a reference interpreter. It computes a function op by op from the
 * definitions of ir/ops.def, in f64, in the logical coordinates of each tensor. It shares
 * nothing with codegen, neither kernels nor layouts nor plans, so that the two cannot be
 * wrong together. It is slow and it is meant to be read.
 *
 * Every element is given with a bound of the rounding error of a program that computes
 * the same function (running error analysis: Higham, Accuracy and Stability of Numerical
 * Algorithms, 2002, section 3.3), so that a program in f32 or bf16 is compared within the
 * error that its arithmetic allows. The program may sum in any order. */
#ifndef ORACLE_ORACLE_H
#define ORACLE_ORACLE_H

#include "ir/graph.h"

/* A dimension of a batch: entry i is symbol i of the module. */
typedef struct OracleDim {
    int64_t extent;         /* of a ragged dimension the longest row */
    const int32_t *lengths; /* of a ragged dimension the length of each row; else NULL */
} OracleDim;

/* A tensor that goes in or comes out, in storage order (ir/layout.h). */
typedef struct OracleTensor {
    const char *name;
    Type type;
    int64_t count; /* elements stored */
    double *data;  /* the elements of any type, as double */

    /* of a result: a bound of |program's element - data|, absolute, to first order. 0: exact; 1: a
     * truth value that may be either one; infinite: any value is right (for example NaN, overflow,
     * a divisor that may be 0, a row at an index that may be another). Of inputs and params: not
     * read, their elements are exact */
    double *error;
    bool *exists; /* false: past a sentence's length, where any value is right; NULL: all exist */
} OracleTensor;

typedef VEC(OracleTensor) OracleTensors;

typedef struct OracleRun {
    const OracleDim *dims; /* one for each symbol of the module */
    uint64_t seed, step;   /* of random values and dropout, as exec_set_rng */
    bool training;         /* what op `training` gives, in functions that still have it */

    /* The program is assumed to round every op's result to the result's type or, if `compute` is
     * coarser, to `compute`; inputs and params are rounded first. DT_F32: the program computes in
     * f32 what this function computes in f64; DT_BF16: pass `precision` made the program a bf16
     * one; DT_F64: the program has the function's types. */
    DType compute;
    /* The program runs the function's very ops in its very types. Then the sum, difference,
     * product, quotient or root of exact operands is exact, too: correctly rounded (IEEE 754). */
    bool as_written;
    const OracleTensor *given; /* every input and param that the function reads, by name */
    int n_given;
    OracleTensors outputs;  /* filled in: outputs by name, in order of the function */
    OracleTensors assigned; /* filled in: the params that ops assign and append change */
} OracleRun;

/* Interprets a function, before or after any pass: the bodies of regions are ops like others, and
 * what only says how to compute (chunk, panels, epilogue, before, after, keep) changes nothing.
 * Results are in the arena. False, with a diagnostic: an input or param is missing or has another
 * number of elements. */
bool oracle_run(const Function *function, OracleRun *run, Arena *arena, Diagnostics *diags);

/* How many elements a tensor stores for these dimensions. */
int64_t oracle_count(const Module *module, const Type *type, const OracleDim *dims);

/* Copies a padded logical array to storage order. extents: its lengths, each at least the batch's
 * length along the same dimension. */
void oracle_pack(const Module *module, const Type *type, const OracleDim *dims,
                 const double *padded, const int64_t *extents, double *stored);

/* The greatest difference from element i that rounding can explain: 4 times its error bound, to
 * allow for what is not of first order. Infinite where any value is right. */
double oracle_tolerance(const OracleTensor *result, int64_t i);

/* Whether `found` is right where `value` is, give or take the tolerance: the same infinity is, and
 * NaN where it is NaN. */
bool oracle_is_close(double value, double tolerance, double found);
/* Whether a program's element i is right. */
bool oracle_agrees(const OracleTensor *result, int64_t i, double element);

#endif
