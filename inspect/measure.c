/* Shapes, work and memory of a program for one batch. */
#include "inspect/inspect.h"

#include "ir/text.h"
#include "ir/work.h"
#include "runtime/exec/made.h"
#include "runtime/exec/size.h"
#include "runtime/exec/slab.h"

#include <stdlib.h>
#include <string.h>

enum { LARGEST_SIZE = 1 << 24 };

typedef struct Sizing {
    Sizes sizes;
    const TfcProgram *program;
    TfcDim *dims;
} Sizing;

static int program_dim(const TfcProgram *program, const char *name, size_t length)
{
    for (int32_t i = 0; i < program->n_given; i++)
        if (strlen(program->dims[i].name) == length &&
            !strncmp(program->dims[i].name, name, length))
            return i;
    return -1;
}

/* The size in "NAME=SIZE" and how long the name is; 0 if the text is no such thing. */
static int64_t parse_size(const char *text, size_t *name_length)
{
    const char *equals = strchr(text, '=');
    int64_t size;
    if (!equals || !text_whole(equals + 1, &size) || size < 1 || size > LARGEST_SIZE)
        return 0;
    *name_length = (size_t)(equals - text);
    return size;
}

int64_t size_given(const char *const *sizes, size_t n, const char *name)
{
    int64_t given = DEFAULT_SIZE;
    for (size_t i = 0; i < n; i++) {
        size_t length;
        int64_t size = parse_size(sizes[i], &length);
        if (size && strlen(name) == length && !strncmp(name, sizes[i], length))
            given = size;
    }
    return given;
}

static bool read_sizes(Measured *m, const char *const *sizes, size_t n, Diagnostics *diags)
{
    for (size_t i = 0; i < n; i++) {
        size_t length;
        if (!parse_size(sizes[i], &length)) {
            diag_error(diags, (Loc){0}, "--dim %s: expected NAME=SIZE, a size from 1", sizes[i]);
            return false;
        }
        if (program_dim(m->program, sizes[i], length) < 0) {
            const char **names = ARENA_ARRAY(diags->arena, const char *, m->program->n_given + 1);
            for (int32_t d = 0; d < m->program->n_given; d++)
                names[d] = m->program->dims[d].name;
            diag_error(diags, (Loc){0}, "--dim %s: %s has no such dimension%s", sizes[i],
                       m->program->name,
                       text_known(diags->arena, "'", arena_strndup(diags->arena, sizes[i], length),
                                  names, (size_t)m->program->n_given));
            return false;
        }
    }
    for (int32_t d = 0; d < m->program->n_dims; d++)
        m->sizes[d] = size_given(sizes, n, m->program->dims[d].name);
    return true;
}

/* ---- work ---- */

static StepCost kernel_cost(const Sizing *s, const Op *op, Arena *arena)
{
    StepCost cost = {.flops = op_flops(&s->sizes, op)};
    const Type *space = op->n_results ? &op->results[0].type : &op->args[0]->type;
    for (int i = 0; i < op->n_args; i++) {
        cost.bytes += sizes_bytes(&s->sizes, &op->args[i]->type);
        if (sizes_elements(&s->sizes, &op->args[i]->type) > sizes_elements(&s->sizes, space))
            space = &op->args[i]->type;
    }
    for (int i = 0; i < op->n_results; i++)
        cost.bytes += sizes_bytes(&s->sizes, &op->results[i].type);
    cost.shape = ir_type_text(s->sizes.module, space, arena);
    return cost;
}

static double extent_value(const Sizing *s, const TfcExtent *extent)
{
    const double length =
        extent->kind == TFC_EXTENT_LENGTH ? (double)s->dims[extent->dim].extent : 1;
    return length * (double)program_size(s->program, extent->size, s->dims);
}

/* Of an element of b. */
static double weight_bytes(const TfcGemmStep *gemm)
{
    return product_quant(gemm->product) ? product_weight_bytes(gemm->product)
                                        : (double)type_bytes(gemm->type);
}

static StepCost gemm_cost(const Sizing *s, const TfcGemmStep *gemm, const Op *op, Arena *arena)
{
    double m = extent_value(s, &gemm->m), n = extent_value(s, &gemm->n),
           k = extent_value(s, &gemm->k);
    double times = 1;
    for (int32_t i = 0; i < gemm->n_loops; i++)
        times *= (double)program_size(s->program, gemm->loops[i], s->dims);
    const TfcGrouping *grouping = gemm_grouping(s->program, gemm);
    const int32_t groups = grouping ? grouping->n_groups : 1;
    const double matrices_b = grouping && grouping->kind == TFC_GROUPS_ROWS ? groups : 1,
                 matrices_c = grouping && grouping->kind == TFC_GROUPS_SUMS ? groups : 1;
    return (StepCost){.flops = product_flops(&s->sizes, op),
                      .bytes = times * (m * k * (double)type_bytes(gemm->type) +
                                        matrices_b * k * n * weight_bytes(gemm) +
                                        matrices_c * m * n * (double)type_bytes(gemm->result)),
                      .shape = arena_printf(arena, "%g × %g × %g%s", m, n, k,
                                            grouping ? arena_printf(arena, ", in %d groups", groups)
                                            : times > 1 ? arena_printf(arena, ", %g times", times)
                                                        : "")};
}

/* The buffer that a product, a packing or a copy writes. */
static int32_t written_by(const TfcStep *step)
{
    return step->kind == TFC_STEP_GEMM   ? step->gemm.c.buffer
           : step->kind == TFC_STEP_PACK ? step->gemm.panels - 1
                                         : step->copy.to;
}

static StepCost step_cost(const Sizing *s, const TfcStep *step, const Op *op, Arena *arena)
{
    if (step->kind == TFC_STEP_GEMM)
        return gemm_cost(s, &step->gemm, op, arena);
    if (step->kind == TFC_STEP_KERNEL)
        return kernel_cost(s, op, arena);
    const TfcBuffer *to = &s->program->buffers[written_by(step)];
    double n = (double)program_size(s->program, to->size, s->dims),
           size = (double)type_bytes(to->type);
    return (StepCost){.bytes = n * size * (step->kind == TFC_STEP_ZERO ? 1 : 2),
                      .shape = arena_printf(arena, "%g elements", n)};
}

/* ---- the slab ---- */

static int32_t first_writer(const TfcProgram *program, int32_t buffer)
{
    for (int32_t s = 0; s < program->n_steps; s++) {
        const TfcStep *step = &program->steps[s];
        if (step->kind == TFC_STEP_KERNEL) {
            for (int32_t v = step->kernel.n_views - step->kernel.n_results;
                 v < step->kernel.n_views; v++)
                if (step->kernel.views[v].buffer == buffer)
                    return s;
        } else if (written_by(step) == buffer)
            return s;
    }
    return -1;
}

static bool lay_out(Measured *m, const TfcDim *dims, Arena *arena)
{
    const TfcProgram *program = m->program;
    int64_t *bytes = ARENA_ARRAY(arena, int64_t, program->n_buffers + 1);
    int64_t *offsets = ARENA_ARRAY(arena, int64_t, program->n_buffers + 1);
    m->slab = ARENA_ARRAY(arena, SlabBuffer, program->n_buffers + 1);
    int64_t *live = ARENA_ARRAY(arena, int64_t, program->n_steps + 2);
    for (int32_t b = 0; b < program->n_buffers; b++) {
        const TfcBuffer *buffer = &program->buffers[b];
        if (!buffer_is_planned(buffer))
            continue;
        bytes[b] = buffer_bytes(program, b, dims);
        if (buffer->first < 0)
            continue;
        m->slab[m->n_slab++] = (SlabBuffer){.buffer = b,
                                            .first = buffer->first,
                                            .last = buffer->last,
                                            .writer = first_writer(program, b),
                                            .bytes = bytes[b]};
        for (int32_t s = buffer->first; s <= buffer->last; s++)
            live[s] += bytes[b];
    }
    SlabBlocks blocks;
    if (!slab_place(program, bytes, NULL, offsets, &blocks))
        return false;
    m->slab_bytes = blocks.slab + blocks.kept;
    for (int32_t i = 0; i < m->n_slab; i++) {
        int32_t b = m->slab[i].buffer;
        m->slab[i].offset =
            offsets[b] + (buffer_is_kept(program, &program->buffers[b]) ? blocks.slab : 0);
    }
    for (int32_t s = 0; s <= program->n_steps; s++)
        if (live[s] > m->peak_bytes) {
            m->peak_bytes = live[s];
            m->peak_step = s;
        }
    return true;
}

const char *slab_buffer_name(const Measured *measured, const SlabBuffer *buffer)
{
    const TfcProgram *program = measured->program;
    if (program->buffers[buffer->buffer].kind == TFC_BUFFER_OUTPUT)
        return program->outputs[program->buffers[buffer->buffer].index].name;
    const char *name = buffer->writer >= 0 ? program->steps[buffer->writer].name : NULL;
    return name ? name : "";
}

bool measure_program(const Function *function, const TfcProgram *program, const Op *const *origins,
                     const char *const *sizes, size_t n, Arena *arena, Measured *out,
                     Diagnostics *diags)
{
    *out = (Measured){.program = program,
                      .origins = origins,
                      .sizes = ARENA_ARRAY(arena, int64_t, program->n_dims + 1),
                      .steps = ARENA_ARRAY(arena, StepCost, program->n_steps + 1)};
    if (!read_sizes(out, sizes, n, diags))
        return false;
    const Module *module = function->module;
    Sizing sizing = {sizes_new(arena, module), program,
                     ARENA_ARRAY(arena, TfcDim, program->n_dims + 1)};
    for (size_t i = 0; i < module->symbols.count; i++)
        sizing.sizes.extents[i] = sizing.sizes.totals[i] = DEFAULT_SIZE;
    for (int32_t d = 0; d < program->n_dims; d++) {
        int32_t batch = program->dims[d].batch;
        sizing.dims[d].extent = out->sizes[d];
        sizing.dims[d].total = out->sizes[d] * (batch >= 0 ? out->sizes[batch] : 1);
    }
    made_bounds(program, sizing.dims);
    for (int32_t d = 0; d < program->n_dims; d++) {
        int symbol = module_symbol(module, program->dims[d].name);
        out->sizes[d] = sizing.dims[d].extent;
        if (symbol == NO_SYMBOL)
            continue;
        sizing.sizes.extents[symbol] = (double)sizing.dims[d].extent;
        sizing.sizes.totals[symbol] = (double)sizing.dims[d].total;
    }
    for (int32_t s = 0; s < program->n_steps; s++)
        out->steps[s] = step_cost(&sizing, &program->steps[s], origins[s], arena);
    if (lay_out(out, sizing.dims, arena))
        return true;
    diag_error(diags, (Loc){0}, "no memory to plan the slab");
    return false;
}
