/* Whether OpenBLAS or the program's own form multiplies a shape, if the program has both. The
 * choice (TfcChoice) is a part of the program, so that the same program gives the same bits. */
#ifndef RUNTIME_EXEC_CHOICE_H
#define RUNTIME_EXEC_CHOICE_H

#include "runtime/exec/program.h"

/* How many bins each side of a product has, and how many classes they make. */
enum {
    SHAPE_ROWS = 0
#define ROWS(to, at) +1
#include "runtime/exec/shapes.def"
    ,
    SHAPE_COLUMNS = 0
#define COLUMNS(to, at) +1
#include "runtime/exec/shapes.def"
    ,
    SHAPE_TERMS = 0
#define TERMS(to, at) +1
#include "runtime/exec/shapes.def"
    ,
    SHAPE_CLASSES = SHAPE_ROWS * SHAPE_COLUMNS * SHAPE_TERMS
};
static_assert(SHAPE_CLASSES < 64, "a bit of an int64_t a class");

/* The class of a product's shape, below SHAPE_CLASSES: terms vary fastest, then columns. */
static inline int shape_class(int64_t m, int64_t n, int64_t k)
{
    int rows = 0, columns = 0, terms = 0;
#define ROWS(to, at) rows += m > (to);
#define COLUMNS(to, at) columns += n > (to);
#define TERMS(to, at) terms += k > (to);
#include "runtime/exec/shapes.def"
    return (rows * SHAPE_COLUMNS + columns) * SHAPE_TERMS + terms;
}

/* Whether OpenBLAS multiplies this shape; `type` is f32 or f64. */
static inline bool choice_is_blas(const TfcChoice *choice, TfcType type, int64_t m, int64_t n,
                                  int64_t k)
{
    return choice->blas[type] >> shape_class(m, n, k) & 1;
}

#endif
