/* Lengths of dimensions that are made of others (TfcProgramDim.terms). */
#ifndef RUNTIME_EXEC_MADE_H
#define RUNTIME_EXEC_MADE_H

#include "runtime/exec/program.h"

static inline bool dim_is_made(const TfcProgram *program, int32_t d)
{
    return program->dims[d].n_terms > 0;
}

/* The length of dimension d, where of[i] is that of its term i; -1: more than 2^31 - 1. (made.c) */
int64_t made_length(const TfcProgram *program, int32_t d, const int64_t of[TFC_MAX_TERMS]);
/* Sets extent and total of each dimension made of others, from those of the others: for planning,
 * neither is less than that of any batch whose other dimensions have these. */
void made_bounds(const TfcProgram *program, TfcDim *dims);

#endif
