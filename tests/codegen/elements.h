/* The elements of tensors by their logical indices, in double: what goes into the tests of
 * kernels and plans, and what the oracle (oracle/oracle.h) makes of it. */
#ifndef TESTS_CODEGEN_ELEMENTS_H
#define TESTS_CODEGEN_ELEMENTS_H

#include "ir/graph.h"
#include "ir/layout.h"
#include "ir/side.h"

enum { MAX_SENTENCES = 16 };

/* The value of a symbol: its extent; of a ragged one, the sentences' lengths. */
typedef struct SymbolValue {
    int64_t extent;
    int32_t n, length[MAX_SENTENCES];
} SymbolValue;

typedef struct Elements {
    Type type;
    int64_t dims[MAX_RANK], count;
    double *data;      /* row-major over the logical dimensions */
    double *tolerance; /* of results: how far a program may be off; infinite: as it likes */
} Elements;

typedef struct BatchShape {
    const Module *module;
    Arena *arena;
    const SymbolValue *symbols; /* one a module symbol */
    SideTable *elements;        /* value → its Elements */
} BatchShape;

Elements *elements_new(const BatchShape *shape, const Type *type);
/* Moves to index + 1 in row-major order; false after the last. */
bool elements_next(const Elements *x, int64_t index[MAX_RANK]);
int64_t elements_at(const Elements *x, const int64_t index[MAX_RANK]);
/* Whether the element exists: no ragged index past its sentence's end. */
bool elements_exists(const BatchShape *shape, const Elements *x, const int64_t index[MAX_RANK]);
/* Where the element lies in storage order (ir/layout.h). */
int64_t elements_storage(const BatchShape *shape, const Elements *x, const int64_t index[MAX_RANK]);
int64_t elements_stored_count(const BatchShape *shape, const Type *type);
/* Whether a program may give `got` for element i of a result. */
bool elements_agree(const Elements *want, int64_t i, double got);

static inline Elements *elements_of(const BatchShape *shape, const Value *value)
{
    return side_of_value(shape->elements, value);
}
static inline void elements_set(const BatchShape *shape, const Value *value, Elements *x)
{
    side_set_value(shape->elements, value, x);
}

/* The function by the oracle: the values that its outputs and assigns take get their elements;
 * inputs and params must have theirs before. Seed and step as exec_set_rng. */
void elements_evaluate(const BatchShape *shape, const Function *function, uint64_t seed,
                       uint64_t step);

#endif
