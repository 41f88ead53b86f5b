/* The oracle of the plan's tests: evaluates functions op by op on dense arrays of
 * double, ragged dimensions as long as the longest sentence and zero past each
 * end. Slow and plain; shares nothing with the plan but the layout rule. */
#ifndef TESTS_CODEGEN_DENSE_H
#define TESTS_CODEGEN_DENSE_H

#include "ir/graph.h"
#include "ir/layout.h"

enum { MAX_SENTENCES = 16 };

/* The value of a symbol: its extent; of a ragged one, the sentences' lengths. */
typedef struct SymbolValue {
    int64_t extent;
    int32_t n, length[MAX_SENTENCES];
} SymbolValue;

typedef struct Dense {
    Type type;
    int64_t dims[MAX_RANK], count;
    double *data; /* row-major over the logical dimensions */
} Dense;

typedef struct Oracle {
    const Module *module;
    Arena *arena;
    const SymbolValue *symbols; /* one a module symbol */
} Oracle;

Dense *dense_new(const Oracle *o, const Type *type);
/* Moves to index + 1 in row-major order; false after the last. */
bool dense_next(const Dense *x, int64_t index[MAX_RANK]);
int64_t dense_at(const Dense *x, const int64_t index[MAX_RANK]);
/* Whether the element exists: no ragged index past its sentence's end. */
bool dense_exists(const Oracle *o, const Dense *x, const int64_t index[MAX_RANK]);
/* Where the element lies in storage order (ir/layout.h). */
int64_t dense_storage(const Oracle *o, const Dense *x, const int64_t index[MAX_RANK]);
int64_t dense_stored_count(const Oracle *o, const Type *type);

/* Evaluates the ops of a block; the value of v is afterwards dense_of(v). Inputs
 * and params must have theirs before (dense_set). */
void dense_run(const Oracle *o, const Block *block);
static inline Dense *dense_of(const Value *value) { return value->scratch; }
static inline void dense_set(Value *value, Dense *x) { value->scratch = x; }

#endif
