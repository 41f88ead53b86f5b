/* Fuzz target: any bytes as the text of loop IR. What parses and verifies must print, and
 * the print must parse, verify and print the same again. */
#include "codegen/loop/text/text.h"
#include "codegen/loop/verify.h"

#include <stdint.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The module's text; NULL if the source is not accepted. */
static char *accepted_text(Arena *arena, const char *bytes, size_t size)
{
    Diagnostics diags;
    diag_init(&diags, arena);
    const Source *source = diag_source(arena, "fuzz.loop", bytes, size);
    LoModule *module = lo_parse(arena, &diags, source);
    bool fits = module && lo_verify(module, &diags);
    Text text = {0};
    if (fits) {
        lo_print_module(module, &text);
        return text.data;
    }
    if (!diags.errors)
        abort(); /* refused without a word */
    diag_render(&diags, &text);
    text_free(&text);
    return NULL;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    Arena *arena = arena_new();
    char *first = accepted_text(arena, (const char *)data, size);
    if (first) {
        char *second = accepted_text(arena, first, strlen(first));
        if (!second || strcmp(first, second))
            abort();
        free(second);
        free(first);
    }
    arena_free(arena);
    return 0;
}
