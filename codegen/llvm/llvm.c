/* LLVM, loaded when something is compiled: base/library.h. */
#include "base/library.h"
#include "codegen/build_id.h"
#include "codegen/llvm/llvm.h"

#define FUNCTION(f) LIBRARY_FUNCTION(f)
#include "codegen/llvm/functions.def"
#undef FUNCTION

static const LibraryFunction functions[] = {
#define FUNCTION(f) LIBRARY_ENTRY(f)
#include "codegen/llvm/functions.def"
#undef FUNCTION
};

static Library library = {
    .path = TFC_LLVM, .name = TFC_LLVM_NAME, .package = "libllvm19", LIBRARY_TABLE(functions)};

bool llvm_load(Diagnostics *diags) { return library_load(&library, diags); }

void llvm_add_build(Sha256 *sha)
{
    if (build_id_add_file(sha, TFC_LLVM))
        return;
    Arena *arena = arena_new();
    Diagnostics ignored; /* compiling reports them */
    diag_init(&ignored, arena);
    if (llvm_load(&ignored))
        build_id_add(sha, library_LLVMGetVersion);
    arena_free(arena);
}
