/* What the files of the oracle share: tensors in dense logical coordinates, walks over
 * them, and the rules of the ops. */
#ifndef ORACLE_INTERPRETER_H
#define ORACLE_INTERPRETER_H

#include "oracle/number.h"
#include "oracle/oracle.h"

/* The dimensions of a tensor for one batch. The dense number of an element is its row-major number
 * in these extents; its storage number is that of ir/layout.h. */
typedef struct Shape {
    int rank;
    Dim dims[MAX_RANK];
    int64_t extent[MAX_RANK]; /* of a ragged one the longest row */
    int64_t stride[MAX_RANK]; /* row-major */
    int64_t count;            /* product of the extents */
    int64_t stored;           /* elements that are stored */
    const int64_t *order;     /* the dense number of each stored element; NULL: the same number */
    const bool *exists;       /* by dense number; NULL: all elements exist */
} Shape;

typedef struct Dense {
    const Shape *shape;
    DType dtype;
    Num *x; /* by dense number; elements that do not exist are ignored */

    /* of a result of reduce_max: its operand, and by dense number whether only one element of the
     * operand can be the greatest; else NULL */
    const struct Dense *top_of;
    const bool *sole;
    bool constant; /* made of constants alone, and so perhaps folded in f64 */
} Dense;

typedef struct Interpreter {
    const Module *module;
    OracleRun *run;
    Arena *arena;   /* freed after the run */
    Dense **values; /* by the id of a value of the function */
    VEC(const Shape *) shapes;
} Interpreter;

const Shape *shape_of(Interpreter *in, const Type *type);
Dense *dense_new(Interpreter *in, const Type *type);
static inline bool dense_has(const Dense *x, int64_t i)
{
    return !x->shape->exists || x->shape->exists[i];
}
static inline Dense *operand(const Interpreter *in, const Op *op, int i)
{
    return in->values[op->args[i]->id];
}
/* How an op's result is rounded. */
static inline Rounding rounding_for(const Interpreter *in, const Op *op)
{
    return rounding_of(op->results[0].type.dtype, in->run->compute);
}

/* A walk in row-major order through a box, with the dense number of the current element in up to
 * WALK_TENSORS tensors.
 *
 *   OracleWalk w = walk_over(rank, extents);
 *   w.step[0][i] = …                       // of tensor 0 along axis i
 *   for (int64_t i = 0; i < w.count; i++, walk_next(&w))
 *       … w.at[0] … */
enum { WALK_AXES = 2 * MAX_RANK, WALK_TENSORS = 4 };
typedef struct OracleWalk {
    int rank;
    int64_t count;
    int64_t extent[WALK_AXES], index[WALK_AXES];
    int64_t step[WALK_TENSORS][WALK_AXES], at[WALK_TENSORS];
} OracleWalk;

OracleWalk walk_over(int rank, const int64_t *extents);
/* Adds a last axis, with its steps in tensors 0 and 1. */
void walk_add_axis(OracleWalk *w, int64_t extent, int64_t step0, int64_t step1);
void walk_next(OracleWalk *w);
/* Sets the steps of tensor k, broadcast to the walk's axes as in numpy. */
void walk_broadcast(OracleWalk *w, int k, const Shape *shape);

/* One rule for each op, one for all elementwise ops; run.c interprets effects and regions itself. A
 * rule fills in the result, whose elements are 0 before. */
typedef void OracleRule(Interpreter *in, const Op *op, Dense *out);
#define ELEMENTWISE(name, ...)
#define EFFECT(name, ...)
#define REGION(name, ...)
#define OP(name, ...) OracleRule interpret_##name;
#include "ir/ops.def"
OracleRule interpret_elementwise;

/* Integers: of a tensor's runs along one axis, which are `run` terms each, the last perhaps fewer,
 * by dense number the integers, as `quant` has those of weights, and, at the first element of each
 * run, scale and minimum. */
typedef struct Integers {
    Num *x, *scale, *minimum;
} Integers;
Integers integers_of(Interpreter *in, const Dense *x, int axis, int64_t run, Quant quant);
/* Terms of a run of n terms. */
static inline int64_t integers_run(Quant quant, int64_t n)
{
    const int64_t group = quant_info(quant)->group;
    return group ? group : n ? n : 1;
}

/* The random word of an element (storage order) at a site: Philox4x32 keyed by the seed; the
 * counter is the element / 4, the site and the step; the word is number element mod 4. */
uint32_t philox_word(const Interpreter *in, int64_t site, int64_t element);
/* The storage number of each element that exists, by dense number; in the run's arena. */
const int64_t *storage_numbers(Interpreter *in, const Shape *shape);

#endif
