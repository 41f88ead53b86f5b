/* SentencePiece's trainer, in a module that is loaded when a vocabulary is trained:
 * base/library.h. */
#include "runtime/data/sentencepiece.h"

#include "base/library.h"

LIBRARY_FUNCTION(sp_train)
LIBRARY_FUNCTION(sp_version)

bool sp_load(Diagnostics *diags)
{
    static const LibraryFunction functions[] = {LIBRARY_ENTRY(sp_train) LIBRARY_ENTRY(sp_version)};
    static Library library = {
        .name = "tfc-sentencepiece.so", .package = "tfc", LIBRARY_TABLE(functions)};
    const char *path = library_module(diags->arena, library.name);
    library.path = path ? path : library.name;
    return library_load(&library, diags);
}
