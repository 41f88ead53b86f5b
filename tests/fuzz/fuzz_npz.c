/* Archives of arrays, and arrays, of arbitrary bytes: what is accepted has as many elements as its
 * bytes, and comes back as it was. */
#include "driver/formats/npz.h"
#include "tests/fuzz/budget.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static void check_array(const NpyArray *array, const void *end)
{
    size_t length = (size_t)array->count * element_info(array->type)->bytes;
    if (array->rank > NPY_MAX_RANK || (const char *)array->data + length != (const char *)end)
        abort();
    Text again = {0};
    npy_put_header(array, 0, &again);
    text_put(&again, array->data, length);
    NpyArray read = {0};
    const char *problem;
    if (!npy_parse(again.data, again.length, &read, &problem) || read.rank != array->rank ||
        memcmp(read.dims, array->dims, sizeof read.dims))
        abort();
    text_free(&again);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    Arena *arena = arena_new();
    Diagnostics diags;
    diag_init(&diags, arena);
    NpyArray array = {.name = "fuzz"};
    const char *problem = NULL;
    if (npy_parse(bytes, size, &array, &problem))
        check_array(&array, bytes + size);
    else if (!problem)
        abort();
    BudgetScope scope;
    Arena *own = budget_begin(&scope, BUDGET_BINARY, &diags, arena, "fuzz", size);
    const Npz *npz = npz_parse(&diags, own, "fuzz", bytes, size);
    npz = budget_end(&scope) ? npz : NULL;
    if (npz ? diags.errors != 0 : diags.errors == 0)
        abort();
    need_budget(arena, BUDGET_BINARY, size);
    for (size_t i = 0; npz && i < npz->arrays.count; i++)
        if (npz_find(npz, npz->arrays.data[i]->name) != npz->arrays.data[i])
            abort();
    arena_free(arena);
    return 0;
}
