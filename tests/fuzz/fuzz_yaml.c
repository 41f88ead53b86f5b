/* YAML of arbitrary bytes: a value, or an error. */
#include "driver/exchange/npz_yaml.h"
#include "tests/fuzz/budget.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    Arena *arena = arena_new();
    Diagnostics diags;
    diag_init(&diags, arena);
    const char *copy = arena_strndup(arena, (const char *)bytes, size);
    const JsonValue *value = yaml_read(&diags, arena, diag_source(arena, "fuzz", copy, size));
    if (value ? diags.errors != 0 : diags.errors == 0)
        abort();
    need_budget(arena, BUDGET_TEXT, size);
    Text text = {0};
    diag_render(&diags, &text);
    text_free(&text);
    arena_free(arena);
    return 0;
}
