/* The oracle: what a function means, computed op by op from the definitions of
 * ir/ops.def, in f64, on the logical coordinates of each tensor. It shares nothing
 * with codegen, neither kernels nor layouts nor plans, so that the two cannot be wrong
 * together. It is slow and it is meant to be read.
 *
 * Every element is given with a bound of the rounding error of a program that computes
 * the same (running error analysis: Higham, Accuracy and Stability of Numerical
 * Algorithms, 2002, section 3.3), so that a program in f32 or bf16 is held to what its
 * arithmetic allows, and no looser. The program may sum in any order. */
#ifndef ORACLE_ORACLE_H
#define ORACLE_ORACLE_H

#include "ir/graph.h"

/* A dimension of a batch: entry i is symbol i of the module. */
typedef struct OracleDim {
    int64_t extent;         /* of a ragged one the longest row */
    const int32_t *lengths; /* of a ragged one: one a row of its batch; else NULL */
} OracleDim;

/* A tensor that goes in or comes out, in storage order (ir/layout.h). */
typedef struct OracleTensor {
    const char *name;
    Type type;
    int64_t count; /* elements stored */
    double *data;  /* the elements, whatever their type */

    /* of results: the bound of |program's element - data|, absolute, to first order. 0: exact. Of a
     * truth value that may go either way 1; infinite where anything is right: NaN, overflow, a
     * divisor or logarithm that may be of 0, the row of an index that may be another. Of what goes
     * in: NULL, exact */
    double *error;
    bool *exists; /* false: past a sentence's length, where any value is right; NULL: all exist */
} OracleTensor;

typedef VEC(OracleTensor) OracleTensors;

typedef struct OracleRun {
    const OracleDim *dims; /* one a symbol of the module */
    uint64_t seed, step;   /* of random values and dropout, as exec_set_rng */
    bool training;         /* what op `training` gives, in functions that still have it */

    /* Every op is taken to round in the type of its result. If `compute` is a coarser type, it is
     * taken to round in that, and what is given is rounded first: DT_F32 for a program that was
     * made in f32 of this function in f64, DT_BF16 where pass `precision` made one of bf16.
     * DT_F64: types are as they stand. */
    DType compute;
    /* Sums, differences, products, quotients and roots of exact operands are exact, too: the number
     * that the type rounds to, as IEEE has it. For what was made of this very function, ops and
     * types. */
    bool as_written;
    const OracleTensor *given; /* every input and param that the function reads, by name */
    int n_given;
    OracleTensors outputs;  /* filled in: outputs by name, in order of the function */
    OracleTensors assigned; /* and the params that it changes, by op assign or append */
} OracleRun;

/* Interprets a function, before or after any pass: the bodies of regions are ops like others, and
 * what only says how to compute (chunk, panels, epilogue, before, after, keep) changes nothing.
 * Results live in the arena. False, with a diagnostic: an input is missing or has another number
 * of elements. */
bool oracle_run(const Function *function, OracleRun *run, Arena *arena, Diagnostics *diags);

/* How many elements a tensor stores for these dimensions. */
int64_t oracle_count(const Module *module, const Type *type, const OracleDim *dims);

/* A logical array, `extents` long along each dimension (at least as long as the batch), to storage
 * order. */
void oracle_pack(const Module *module, const Type *type, const OracleDim *dims,
                 const double *padded, const int64_t *extents, double *stored);

/* The greatest difference from element i that arithmetic can explain: a small constant times its
 * bound, for what is not of first order. Infinite where any value is right. */
double oracle_tolerance(const OracleTensor *result, int64_t i);

/* Whether a program's element i is right: within the tolerance, or the same infinity. */
bool oracle_agrees(const OracleTensor *result, int64_t i, double element);

#endif
