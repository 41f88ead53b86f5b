/* The oracle: what a function means, computed op by op from the definitions of
 * ir/ops.def, in f64, on the logical coordinates of each tensor. It shares nothing
 * with codegen, neither kernels nor layouts nor plans, so that the two cannot be wrong
 * together. It is slow and it is meant to be read.
 *
 * Every element is given with a bound of its rounding error (running error analysis:
 * Higham, Accuracy and Stability of Numerical Algorithms, 2002, section 3.3), so that
 * a program in f32 or bf16 is held to what its arithmetic allows, and no looser. */
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
    double *error; /* of results: the bound of |error| in units of the type's rounding (see
                      oracle_tolerance); infinite where a comparison, a rounding to an integer or
                      the choice of an index may go either way. Of what goes in: NULL, exact */
    bool *exists;  /* false: a position past a sentence's length, where any value is right; NULL: all are */
} OracleTensor;

typedef struct OracleRun {
    const OracleDim *dims; /* one a symbol of the module */
    uint64_t seed, step;   /* of random values and dropout, as exec_set_rng */
    const OracleTensor *given; /* every input and param that the function reads */
    int n_given;
    VEC(OracleTensor) outputs; /* filled in: outputs by name, in order of the function */
    VEC(OracleTensor) assigned; /* and the params that it assigns or keeps (ops assign, keep, append) */
} OracleRun;

/* Interprets a function, before or after any pass: the bodies of regions are ops like others, and
 * attributes that only say how to compute (chunk, packed, epilogue, before, after) change nothing.
 * Results live in the arena. False, with a diagnostic: an input is missing or has another number
 * of elements, or memory cannot be had. */
bool oracle_run(const Function *function, OracleRun *run, Arena *arena, Diagnostics *diags);

/* How many elements a tensor stores for these dimensions, and which of them exist. */
int64_t oracle_count(const Module *module, const Type *type, const OracleDim *dims);

/* The greatest difference from the oracle's element i that arithmetic in `compute` can explain:
 * a constant times the unit roundoff of that type times the bound. Infinite where undecided. */
double oracle_tolerance(const OracleTensor *result, int64_t i, DType compute);

#endif
