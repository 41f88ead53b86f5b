/* dump --stage llvm and asm: the kernels of a function as text, for any CPU. */
#include "codegen/jit.h"

bool codegen_dump(const Function *function, const TargetOptions *options, bool assembly, Text *out,
                  Diagnostics *diags)
{
    Jit *jit = jit_new_dump(options, assembly, out, diags);
    if (!jit)
        return false;
    Arena *arena = arena_new();
    bool ok = jit_compile(jit, function, arena, diags) != NULL;
    arena_free(arena);
    jit_free(jit);
    return ok;
}
