/* prepared.json of arbitrary bytes: whatever is accepted has shards that add up, and is cut into
 * windows that hold each of them. */
#include "runtime/data/prepared.h"
#include "tests/fuzz/budget.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    Arena *arena = arena_new();
    Diagnostics diags;
    diag_init(&diags, arena);
    const Source *text = diag_source(arena, "prepared.json", (const char *)bytes, size);
    const Prepared *p = prepared_parse(&diags, arena, "fuzz", text);
    if (p ? diags.errors != 0 : diags.errors == 0)
        abort();
    need_budget(arena, BUDGET_TEXT, size);
    int64_t rows = 0;
    for (size_t i = 0; p && i < p->shards.count; i++)
        rows += p->shards.data[i].rows;
    const PreparedPart part = {.prepared = p, .weight = 0.5};
    for (int mixed = 0; p && mixed < 2; mixed++) {
        const Corpus whole = {.prepared = p, .mixed = &part, .n_mixed = mixed};
        const int64_t windows = prepared_windows(&whole, 1, 2);
        if (rows != p->rows || windows < 1 || windows > (int64_t)p->shards.count)
            abort();
    }
    arena_free(arena);
    return 0;
}
