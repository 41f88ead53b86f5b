/* plan_program: the plan of a function, lifetimes, and the program's tables. */
#include "codegen/plan/plan.h"

#include "codegen/products.h"

#include <assert.h>

/* ---- dimensions ---- */

enum { NOT_USED = -1, NOT_ADDED = -2 };

static int push_dim(Plan *plan, int symbol, TfcProgramDim dim)
{
    dim.name = arena_strdup(plan->arena, plan->module->symbols.data[symbol].name);
    vec_push(plan->arena, plan->dims, dim);
    return plan->program_dim[symbol] = (int)plan->dims.count - 1;
}

/* Dimensions made of others are added behind all that are given. */
static void use_dim(Plan *plan, int symbol)
{
    const Symbol *s = &plan->module->symbols.data[symbol];
    if (plan->program_dim[symbol] != NOT_USED)
        return;
    plan->program_dim[symbol] = NOT_ADDED;
    if (s->batch != NO_SYMBOL)
        use_dim(plan, s->batch);
    for (int i = 0; i < s->formula.n; i++)
        use_dim(plan, s->formula.terms[i].symbol);
    if (!s->formula.n)
        push_dim(
            plan, symbol,
            (TfcProgramDim){.batch = s->batch == NO_SYMBOL ? -1 : plan->program_dim[s->batch]});
}

static void add_made_dims(Plan *plan)
{
    for (int symbol = 0; symbol < (int)plan->module->symbols.count; symbol++) {
        const Symbol *s = &plan->module->symbols.data[symbol];
        if (plan->program_dim[symbol] != NOT_ADDED)
            continue;
        TfcProgramDim dim = {.batch = s->batch == NO_SYMBOL ? -1 : plan->program_dim[s->batch],
                             .formula = s->formula};
        for (int i = 0; i < s->formula.n; i++)
            dim.formula.terms[i].symbol = plan->program_dim[s->formula.terms[i].symbol];
        push_dim(plan, symbol, dim);
    }
}

static void collect_dims(Plan *plan, const Block *block)
{
    FOR_OPS (op, block) {
        for (int r = 0; r < op->n_results; r++)
            for (int i = 0; i < op->results[r].type.rank; i++)
                if (!dim_is_const(op->results[r].type.dims[i]))
                    use_dim(plan, op->results[r].type.dims[i].symbol);
        if (op_attr(op, ATTR_dim))
            use_dim(plan, (int)op_int(op, ATTR_dim));
        if (op->body)
            collect_dims(plan, op->body);
    }
}

/* ---- lifetimes ---- */

typedef struct Touched {
    Plan *plan;
    int32_t step;
} Touched;

static void touch(void *data, int32_t buffer, bool written)
{
    Touched *touched = data;
    TfcBuffer *b = &touched->plan->buffers.data[buffer];
    (void)written;
    if (b->first < 0)
        b->first = touched->step;
    b->last = touched->step;
}

static void find_lifetimes(Plan *plan)
{
    for (size_t b = 0; b < plan->buffers.count; b++)
        plan->buffers.data[b].first = plan->buffers.data[b].last = -1;
    for (int32_t s = 0; s < (int32_t)plan->steps.count; s++) {
        const TfcStep *step = &plan->steps.data[s];
        /* an epilogue writes while the product before it still reads */
        bool epilogue = step->kind == TFC_STEP_KERNEL && step->kernel.epilogue;
        step_buffers(plan, step, touch, &(Touched){plan, s - epilogue});
    }
    for (size_t b = 0; b < plan->buffers.count; b++) {
        TfcBuffer *buffer = &plan->buffers.data[b];
        if (buffer->kind == TFC_BUFFER_SLAB && buffer->first >= 0 &&
            buffer->first < plan->n_prepared && buffer->last >= plan->n_prepared)
            buffer->kind = TFC_BUFFER_KEPT;
        if (buffer->kind == TFC_BUFFER_OUTPUT || buffer->kind == TFC_BUFFER_KEPT)
            buffer->last = (int32_t)plan->steps.count;
        else if (buffer->kind == TFC_BUFFER_SLAB && buffer->first < 0)
            buffer->size = TFC_SIZE_ZERO; /* no step needed it */
    }
}

/* ---- tables ---- */

static TfcProgram *tables(Plan *plan)
{
    TfcProgram *program = ARENA_NEW(plan->arena, TfcProgram);
    *program = (TfcProgram){
        .name = arena_strdup(plan->arena, plan->function->name),
        .n_dims = (int32_t)plan->dims.count,
        .n_given = plan->n_given,
        .n_sizes = (int32_t)plan->sizes.count,
        .n_buffers = (int32_t)plan->buffers.count,
        .n_steps = (int32_t)plan->steps.count,
        .n_prepared = plan->n_prepared,
        .trains = plan->trains,
        .n_loops = (int32_t)plan->loops.count,
        .n_groupings = (int32_t)plan->groupings.count,
        .n_kernels = (int32_t)plan->kernels.count,
        .n_inputs = (int32_t)plan->inputs.count,
        .n_outputs = (int32_t)plan->outputs.count,
        .n_tensors = (int32_t)plan->tensors.count,
        .dims = plan->dims.data,
        .sizes = plan->sizes.data,
        .buffers = plan->buffers.data,
        .steps = plan->steps.data,
        .loops = plan->loops.data,
        .groupings = plan->groupings.data,
        .inputs = plan->inputs.data,
        .outputs = plan->outputs.data,
        .tensors = plan->tensors.data,
    };
    const char **names = ARENA_ARRAY(plan->arena, const char *, program->n_kernels);
    for (int32_t k = 0; k < program->n_kernels; k++)
        names[k] = arena_strdup(plan->arena, kernels_name(plan->set, plan->kernels.data[k]));
    program->kernels = ARENA_ARRAY(plan->arena, TfcKernel, program->n_kernels);
    program->kernel_names = names;
    return program;
}

/* Records name a size by 16 bits; size_ref gives wrong numbers where there are more. */
static bool check_sizes(Plan *plan)
{
    if (plan->sizes.count <= (size_t)UINT16_MAX + 1)
        return true;
    diag_error(plan->diags, (Loc){0}, "%s is too large: its tensors have more than %d sizes",
               plan->function->name, UINT16_MAX + 1);
    return false;
}

static const TfcProgram *plan_with(Plan *plan)
{
    int n_symbols = (int)plan->module->symbols.count;
    plan->program_dim = ARENA_ARRAY(plan->arena, int, n_symbols);
    for (int i = 0; i < n_symbols; i++)
        plan->program_dim[i] = NOT_USED;
    collect_dims(plan, &plan->function->body);
    plan->n_given = (int32_t)plan->dims.count;
    add_made_dims(plan);
    vec_push(plan->arena, plan->sizes, size_const(0)); /* TFC_SIZE_ZERO */
    plan_uses(plan);
    plan_sorted(plan);
    if (!lower_function(plan))
        return NULL;
    prepare_constants(plan);
    find_lifetimes(plan);
    settle_loops(plan);
    return check_sizes(plan) ? tables(plan) : NULL;
}

static Plan new_plan(const Function *function, KernelSet *set, Arena *arena, Diagnostics *diags)
{
    return (Plan){.set = set,
                  .scratch = *function,
                  .function = function,
                  .module = function->module,
                  .arena = arena,
                  .placements = side_new(arena),
                  .reads = side_new(arena),
                  .sorted = side_new(arena),
                  .diags = diags,
                  .position = -1,
                  .chunk = NO_CHUNK,
                  .rows = {.symbol = NO_SYMBOL}};
}

const TfcProgram *plan_program(const Function *function, KernelSet *set, Arena *arena,
                               Diagnostics *diags)
{
    Plan plan = new_plan(function, set, arena, diags);
    return plan_with(&plan);
}

const TfcProgram *codegen_plan(const Function *function, Arena *arena, const Op *const **origins,
                               Diagnostics *diags)
{
    KernelSet set;
    kernels_init(&set, arena);
    Plan plan = new_plan(function, &set, arena, diags);
    const TfcProgram *program = plan_with(&plan);
    if (origins)
        *origins = plan.origins.data;
    return program;
}

/* A program names OpenBLAS's products if it goes to them: who loads it loads OpenBLAS. */
static void name_blas(TfcProgram *program, GemmChoice gemm)
{
    static TfcGemm *const blas[TFC_BLAS_TYPES] = {tfc_blas_f32, tfc_blas_f64};
    for (int type = 0; type < TFC_BLAS_TYPES; type++)
        if (program_has_product(program, (TfcProductType)type, GEMM_NATIVE) &&
            (gemm == GEMM_BLAS || (gemm == GEMM_AUTO && program->choice.blas[type])))
            program->products.blas[type] = blas[type];
    for (int type = 0; gemm == GEMM_BLAS && type < TFC_BLAS_TYPES; type++)
        if (program_has_product(program, (TfcProductType)type, gemm))
            program->choice.blas[type] = -1; /* the form is for products by groups alone */
}

const TfcProgram *const *plan_programs(const Function *const *functions, int n,
                                       const TargetOptions *target, KernelSet *set, Arena *arena,
                                       Diagnostics *diags)
{
    kernels_init(set, arena);
    const TfcProgram **programs = ARENA_ARRAY(arena, const TfcProgram *, n);
    for (int i = 0; i < n; i++) {
        TfcProgram *program = ARENA_NEW(arena, TfcProgram);
        const TfcProgram *planned = plan_program(functions[i], set, arena, diags);
        if (!planned)
            return NULL;
        *program = *planned;
        if (target && target->gemm == GEMM_AUTO && program->trains)
            program->choice = target->choice;
        name_blas(program, target ? target->gemm : GEMM_BLAS);
        programs[i] = program;
    }
    return programs;
}
