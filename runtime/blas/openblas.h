/* OpenBLAS in tfc itself, which loads it for what is multiplied with it. Compiled models that use
 * it are linked with it. */
#ifndef RUNTIME_BLAS_OPENBLAS_H
#define RUNTIME_BLAS_OPENBLAS_H

#include "base/diag.h"

/* Before the first call of tfc_blas_f32, tfc_blas_f64 or tfc_blas_name; again it is nothing. False
 * after errors. */
bool openblas_load(Diagnostics *diags);
/* The file that openblas_load tries first. */
extern const char openblas_path[];

#endif
