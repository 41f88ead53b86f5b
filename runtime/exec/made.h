/* Lengths of dimensions that are made of others (TfcProgramDim.formula). */
#ifndef RUNTIME_EXEC_MADE_H
#define RUNTIME_EXEC_MADE_H

#include "runtime/exec/program.h"

static inline bool dim_is_made(const TfcProgram *program, int32_t d)
{
    return program->dims[d].formula.n > 0;
}

/* Sets extent and total of each dimension made of others, from those of the others: for planning,
 * neither is less than that of any batch whose other dimensions have these. (made.c) */
void made_bounds(const TfcProgram *program, TfcDim *dims);

#endif
