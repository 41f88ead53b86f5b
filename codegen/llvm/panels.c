/* How a target's products want their panels, for files that have them. */
#include "codegen/cache.h"
#include "codegen/emit/gemm/gemm.h"

#include <inttypes.h>
#include <stdio.h>

typedef struct Question {
    const TargetOptions *options;
    TfcProductType type;
} Question;

static const char *tell_panels(const void *context, Arena *arena, Diagnostics *diags)
{
    const Question *q = context;
    CodeTarget target;
    if (!codegen_target(q->options, &target, diags))
        return NULL;
    const TfcFormSizes f = gemm_sizes(&target, q->type);
    return arena_printf(arena, "%" PRId64 " %" PRId64 " %" PRId64 " %" PRId64, f.columns, f.kept,
                        f.joined, f.whole);
}

bool codegen_panels(const TargetOptions *options, TfcProductType type, Arena *arena,
                    TfcFormSizes *out, Diagnostics *diags)
{
    const ProgramKey key =
        key_of_text(arena_printf(arena, "panels %d %s %s scalar %d", (int)type,
                                 options->triple ? options->triple : "",
                                 options->cpu ? options->cpu : "", options->scalar),
                    NULL);
    const Question question = {options, type};
    const char *text = cache_made_text(&key, tell_panels, &question, arena, diags);
    *out = (TfcFormSizes){0};
    return text && sscanf(text, "%" SCNd64 " %" SCNd64 " %" SCNd64 " %" SCNd64, &out->columns,
                          &out->kept, &out->joined, &out->whole) == 4;
}
