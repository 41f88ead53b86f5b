/* The safetensors reader on arbitrary bytes: whatever it accepts can be read. */
#include "runtime/data/safetensors.h"
#include "tests/fuzz/budget.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static void read_all(const StTensor *tensor)
{
    float *values = malloc((size_t)tensor->count * sizeof *values + 1);
    int32_t *whole = malloc((size_t)tensor->count * sizeof *whole + 1);
    if (!values || !whole)
        abort();
    st_to_f32(tensor, values);
    st_to_i32(tensor, whole);
    free(values);
    free(whole);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    Arena *arena = arena_new();
    Diagnostics diags;
    diag_init(&diags, arena);
    StFile *file = st_parse(&diags, arena, "fuzz", bytes, size);
    if (file ? diags.errors != 0 : diags.errors == 0)
        abort();
    need_budget(arena, BUDGET_BINARY, size);
    for (int64_t i = 0; file && i < file->n; i++) {
        if (st_find(file, file->tensors[i].name) != &file->tensors[i])
            abort();
        read_all(&file->tensors[i]);
    }
    Text text = {0};
    diag_render(&diags, &text);
    text_free(&text);
    st_close(file);
    arena_free(arena);
    return 0;
}
