/* OpenBLAS, loaded when it is needed: base/library.h. */
#include "runtime/blas/openblas.h"

#include "base/library.h"

#define FUNCTION(f) LIBRARY_FUNCTION(f)
#include "runtime/blas/functions.def"
#undef FUNCTION

static const LibraryFunction functions[] = {
#define FUNCTION(f) LIBRARY_ENTRY(f)
#include "runtime/blas/functions.def"
#undef FUNCTION
};

const char openblas_path[] = TFC_OPENBLAS;

bool openblas_load(Diagnostics *diags)
{
    static Library library = {.path = openblas_path,
                              .name = TFC_OPENBLAS_NAME,
                              .package = "libopenblas0-openmp",
                              LIBRARY_TABLE(functions)};
    return library_load(&library, diags);
}
