/* Translation memories of arbitrary bytes: what is accepted is lines with a tab each. */
#include "runtime/data/tmx.h"
#include "tests/fuzz/budget.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    Arena *arena = arena_new();
    Diagnostics diags;
    diag_init(&diags, arena);
    const char *copy = arena_strndup(arena, (const char *)bytes, size);
    const Source *pairs = tmx_parse(&diags, arena, diag_source(arena, "fuzz", copy, size), "en,de");
    if (pairs ? diags.errors != 0 || !pairs->length : diags.errors == 0)
        abort();
    need_budget(arena, BUDGET_TEXT, size);
    for (size_t at = 0; pairs && at < pairs->length;) {
        const char *line = pairs->text + at;
        const char *end = memchr(line, '\n', pairs->length - at),
                   *tab = memchr(line, '\t', pairs->length - at);
        if (!end || !tab || tab > end || memchr(tab + 1, '\t', (size_t)(end - tab - 1)))
            abort();
        at += (size_t)(end - line) + 1;
    }
    Text text = {0};
    diag_render(&diags, &text);
    text_free(&text);
    arena_free(arena);
    return 0;
}
