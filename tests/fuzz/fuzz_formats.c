/* Files of weights of arbitrary bytes: of what is accepted each tensor has the elements that its
 * shape says, within the bytes. */
#include "driver/formats/formats.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

/* Reads the first elements and the last ones, one by one and in runs. */
static void read_tensor(const StTensor *tensor)
{
    enum { MOST = 300 };
    float run[MOST];
    if (!tensor->name || tensor->rank < 0 || tensor->rank > ST_MAX_RANK || tensor->count < 0)
        abort();
    const int64_t n = tensor->count < MOST ? tensor->count : MOST;
    for (int64_t i = 0; i < n; i++) {
        st_value(tensor, i);
        st_value(tensor, tensor->count - 1 - i);
    }
    st_floats(tensor, 0, n, run);
    st_floats(tensor, tensor->count - n, n, run);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    Arena *arena = arena_new();
    Diagnostics diags;
    diag_init(&diags, arena);
    const StFile *file = format_parse(&diags, arena, "fuzz", bytes, size);
    if (file ? diags.errors != 0 : diags.errors == 0)
        abort();
    for (int64_t i = 0; file && i < file->n; i++) {
        if (st_find(file, file->tensors[i].name) != &file->tensors[i])
            abort();
        read_tensor(&file->tensors[i]);
    }
    arena_free(arena);
    return 0;
}
