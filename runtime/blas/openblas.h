/* OpenBLAS for tfc itself, which loads it at run time. Compiled models that use OpenBLAS are linked
 * with it. */
#ifndef RUNTIME_BLAS_OPENBLAS_H
#define RUNTIME_BLAS_OPENBLAS_H

#include "base/diag.h"

/* Loads OpenBLAS, unless it is loaded already. Must succeed before the first call of tfc_blas_f32,
 * tfc_blas_f64 or tfc_blas_name. False after errors. */
bool openblas_load(Diagnostics *diags);
/* The file that openblas_load tries first. */
extern const char openblas_path[];

#endif
