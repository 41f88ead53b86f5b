/* Fuzz target: any bytes as a model. What the frontend accepts must be a graph
 * that verifies; what it refuses it must tell why. */
#include "frontend/frontend.h"
#include "ir/text.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    Arena *arena = arena_new();
    Diagnostics diags;
    diag_init(&diags, arena);
    const Source *source = diag_source(arena, "fuzz.tfg", (const char *)data, size);
    FrontendOptions options = {.library = "models/lib", .float_type = DT_F32};
    Model *model = model_parse(arena, &diags, source, &options);
    if (model ? diags.errors != 0 || !ir_verify(model->module, &diags) : diags.errors == 0) {
        Text text = {0};
        diag_render(&diags, &text);
        fputs(text.data ? text.data : "refused without a word\n", stderr);
        abort();
    }
    Text text = {0};
    diag_render(&diags, &text);
    text_free(&text);
    arena_free(arena);
    return 0;
}
