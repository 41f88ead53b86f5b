/* OpenBLAS, loaded when it is needed: base/library.h. */
#include "runtime/blas/openblas.h"

#include "base/library.h"
#include "base/machine.h"

#define FUNCTION(f) LIBRARY_FUNCTION(f)
#include "runtime/blas/functions.def"
#undef FUNCTION

static const LibraryFunction functions[] = {
#define FUNCTION(f) LIBRARY_ENTRY(f)
#include "runtime/blas/functions.def"
#undef FUNCTION
};

const char openblas_path[] = TFC_OPENBLAS;

/* What loading it takes of the address space: 40 MB of code, and 128 MB of a buffer, which its
 * initialiser asks for again for ever where there are none. */
#define OPENBLAS_NEEDS 200e6

bool openblas_load(Diagnostics *diags)
{
    static bool is_there;
    const double left = (double)machine_limits_free();
    if (!is_there && left < OPENBLAS_NEEDS) {
        diag_error(diags, (Loc){0},
                   "OpenBLAS needs %.0f MB of address space, and the limits of this process leave "
                   "%.0f MB: raise them (ulimit -v), or leave it out by --gemm native",
                   OPENBLAS_NEEDS / 1e6, left / 1e6);
        return false;
    }
    is_there = true;
    static Library library = {.path = openblas_path,
                              .name = TFC_OPENBLAS_NAME,
                              .package = "libopenblas0-openmp",
                              LIBRARY_TABLE(functions)};
    return library_load(&library, diags);
}
