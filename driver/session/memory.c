/* --memory: the search for a program that fits. Pass recompute gets lower and lower budgets, and
 * each outcome is planned until params and slab together are within the limit. A budget is a
 * fraction of the slab without the pass and does not depend on the limit: so the least that an
 * error names can be asked for and is reached. */
#include "driver/session/session.h"

#include "codegen/codegen.h"
#include "passes/clone.h"
#include "runtime/exec/exec.h"
#include "runtime/exec/size.h"

#include <inttypes.h>
#include <string.h>

enum { LEVELS = 24 };

static bool has_tensor(const TfcProgram *program, const char *name)
{
    for (int32_t i = 0; program && i < program->n_tensors; i++)
        if (!strcmp(program->tensors[i].name, name))
            return true;
    return false;
}

static int64_t param_bytes(const TfcProgram *program, const TfcProgram *beside)
{
    int64_t sum = 0;
    for (int32_t i = 0; i < program->n_tensors; i++) {
        const TfcTensor *tensor = &program->tensors[i];
        int64_t bytes = type_bytes(tensor->type);
        for (int32_t d = 0; d < tensor->shape.rank; d++)
            bytes *= tensor->shape.dims[d].size;
        sum += has_tensor(beside, tensor->name) ? 0 : bytes;
    }
    return sum;
}

static int64_t slab_bytes(const TfcProgram *program, const MemoryLimit *limit)
{
    ExecDim shape[program->n_dims + 1];
    for (int32_t d = 0; d < program->n_dims; d++) {
        shape[d] = (ExecDim){1, 1};
        for (int i = 0; i < limit->n_dims; i++)
            if (!strcmp(limit->dims[i].name, program->dims[d].name))
                shape[d] = (ExecDim){limit->dims[i].extent, limit->dims[i].total};
    }
    return exec_slab_needed(program, shape);
}

const char *memory_text(Arena *arena, const MemoryLimit *limit)
{
    if (!limit->bytes)
        return "";
    const char *text = arena_printf(arena, " memory %" PRId64 " beside %" PRId64, limit->bytes,
                                    limit->beside ? param_bytes(limit->beside, NULL) : 0);
    for (int i = 0; i < limit->n_dims; i++)
        text = arena_printf(arena, "%s %s %" PRId64 " %" PRId64, text, limit->dims[i].name,
                            limit->dims[i].extent, limit->dims[i].total);
    return text;
}

/* ---- trying ---- */

/* What is fitted, and for whom. */
typedef struct Fitting {
    Job *job;
    const MemoryLimit *limit;
    Report *report;
    Function *function;
} Fitting;

typedef struct Try {
    Function *function;   /* NULL after errors */
    int64_t params, slab; /* bytes; params: of the program beside it, too */
    int64_t beside;       /* slab of that */
} Try;

static bool measure_try(const Fitting *f, Try *try)
{
    const MemoryLimit *limit = f->limit;
    Arena *arena = arena_new();
    const TfcProgram *program = codegen_plan(try->function, arena, NULL, &f->job->diags);
    if (program) {
        try->params = param_bytes(program, limit->beside);
        try->slab = slab_bytes(program, limit);
        if (limit->beside) {
            try->params += param_bytes(limit->beside, NULL);
            try->beside = slab_bytes(limit->beside, limit);
        }
    }
    arena_free(arena);
    return program && ((try->slab >= 0 && try->beside >= 0) || job_no_memory(f->job));
}

/* A copy of the function with what is above the budget recomputed, and what it takes. */
static Try try_budget(const Fitting *f, int64_t bytes)
{
    MemoryBudget budget = {bytes, f->limit->dims, f->limit->n_dims};
    PipelineOptions options = {.passes = "recompute", .budget = &budget, .report = f->report};
    const char *name = arena_printf(f->job->arena, "%s within %" PRId64, f->function->name, bytes);
    Try try = {.function = clone_function(f->function, name)};
    if (!pipeline_run(try.function, &options, &f->job->diags) || !measure_try(f, &try))
        try.function = NULL;
    return try;
}

static int64_t total(const Try *try) { return try->params + try->slab + try->beside; }

static bool fits_memory(const Fitting *f, const Try *try) { return total(try) <= f->limit->bytes; }

/* Rounded up, as the option takes it. */
static const char *size_text(Arena *arena, int64_t bytes)
{
    int64_t unit = bytes > 10000000 ? 1000000 : 1000;
    return arena_printf(arena, "%" PRId64 "%c", (bytes + unit - 1) / unit,
                        unit == 1000 ? 'k' : 'M');
}

static bool too_little(const Fitting *f, const Try *least)
{
    Arena *arena = f->job->arena;
    return job_error(
        f->job,
        "--memory: %s needs %s at least for its largest batch, with all recomputed "
        "that can be: %s of params and %s of values; give --memory %s, or smaller batches",
        f->function->name, size_text(arena, total(least)), size_text(arena, least->params),
        size_text(arena, least->slab + least->beside), size_text(arena, total(least)));
}

bool memory_fit(Job *job, const MemoryLimit *limit, Report *report, Function *function)
{
    const Fitting f = {job, limit, report, function};
    Try whole = {.function = function}, least;
    if (!limit->bytes)
        return true;
    if (!measure_try(&f, &whole))
        return false;
    size_t told = report->lines.count, functions = function->module->functions.count;
    least = whole;
    for (int level = LEVELS - 1; level >= 0 && !fits_memory(&f, &least); level--) {
        int64_t budget = whole.slab / LEVELS * level;
        if (level && total(&whole) - whole.slab + budget > limit->bytes)
            continue;
        report->lines.count = told;
        Try try = try_budget(&f, budget);
        if (!try.function)
            return false;
        if (try.slab < least.slab)
            least = try;
    }
    function->module->functions.count = functions; /* what was tried is no function of the model */
    if (!fits_memory(&f, &least))
        return too_little(&f, &least);
    function->body = least.function->body;
    function->next_value = least.function->next_value;
    function->next_op = least.function->next_op;
    return true;
}
