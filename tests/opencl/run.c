/* A program's steps on a device; see run.h. An Exec has the batch's sizes and the places of buffers
 * in the slab and beside it, which here are two memories of the device. */
#include "tests/opencl/run.h"

#include "base/arena.h"
#include "base/vec.h"
#include "runtime/exec/gemm_tasks.h"
#include "runtime/exec/size.h"
#include "runtime/exec/state.h"

#include <string.h>

/* OclStep: a step, and for this batch
 *   words  what its kernel reads besides buffers (runtime/exec/device.h)
 *   units  of its kernel */
typedef struct OclStep {
    cl_kernel kernel; /* NULL: a copy or zeros */
    int32_t n_buffers, *buffers;
    cl_mem words;
    int64_t units;
} OclStep;

/* Words of a step, being written. */
typedef struct Words {
    Arena *arena;
    VEC(int64_t) list;
} Words;

struct OclRun {
    OclDevice *device;
    const TfcDeviceCode *code;
    Exec *batch;
    Arena *arena;
    cl_program kernels;
    OclStep *steps;
    cl_mem slab, kept, numbers, *tensors, *inputs;
    int64_t slab_bytes, kept_bytes, *input_bytes;
    int64_t *tables; /* of each dimension: where its four tables begin in the numbers */
    int64_t version; /* of the store, as the device has it */
};

static const TfcProgram *program_of(const OclRun *run) { return run->code->program; }

/* ---- opening ---- */

static void note_buffers(OclRun *run, const TfcStep *step, OclStep *to)
{
    bool product = step->kind == TFC_STEP_GEMM;
    to->n_buffers = product ? 3 : step->kind == TFC_STEP_KERNEL ? step->kernel.n_views : 0;
    to->buffers = ARENA_ARRAY(run->arena, int32_t, to->n_buffers + 1);
    for (int32_t v = 0; v < to->n_buffers && !product; v++)
        to->buffers[v] = step->kernel.views[v].buffer;
    if (product)
        memcpy(to->buffers,
               (int32_t[]){step->gemm.a.buffer, step->gemm.b.buffer, step->gemm.c.buffer},
               3 * sizeof(int32_t));
}

static bool open_kernels(OclRun *run)
{
    cl_int status = CL_SUCCESS;
    run->kernels = ocl_build(run->device, run->code->source);
    for (int32_t s = 0; run->kernels && s < program_of(run)->n_steps; s++) {
        note_buffers(run, &program_of(run)->steps[s], &run->steps[s]);
        if (!run->code->entries[s])
            continue;
        run->steps[s].kernel = clCreateKernel(run->kernels, run->code->entries[s], &status);
        if (!ocl_ok(run->device, status, run->code->entries[s]))
            return false;
    }
    return run->kernels != NULL;
}

OclRun *ocl_run_new(OclDevice *device, const TfcDeviceCode *code, Store *store)
{
    Arena *arena = arena_new();
    const TfcProgram *program = code->program;
    OclRun *run = ARENA_NEW(arena, OclRun);
    *run =
        (OclRun){.device = device, .code = code, .arena = arena, .batch = exec_new(program, store)};
    run->steps = ARENA_ARRAY(arena, OclStep, program->n_steps + 1);
    run->tensors = ARENA_ARRAY(arena, cl_mem, program->n_tensors + 1);
    run->inputs = ARENA_ARRAY(arena, cl_mem, program->n_inputs + 1);
    run->input_bytes = ARENA_ARRAY(arena, int64_t, program->n_inputs + 1);
    run->tables = ARENA_ARRAY(arena, int64_t, 4 * program->n_dims + 1);
    if (run->batch && open_kernels(run))
        return run;
    ocl_run_free(run);
    return NULL;
}

static void release(cl_mem *memory)
{
    if (*memory)
        clReleaseMemObject(*memory);
    *memory = NULL;
}

void ocl_run_free(OclRun *run)
{
    if (!run)
        return;
    for (int32_t s = 0; s < program_of(run)->n_steps; s++) {
        if (run->steps[s].kernel)
            clReleaseKernel(run->steps[s].kernel);
        release(&run->steps[s].words);
    }
    for (int32_t t = 0; t < program_of(run)->n_tensors; t++)
        release(&run->tensors[t]);
    for (int32_t i = 0; i < program_of(run)->n_inputs; i++)
        release(&run->inputs[i]);
    release(&run->slab);
    release(&run->kept);
    release(&run->numbers);
    if (run->kernels)
        clReleaseProgram(run->kernels);
    exec_free(run->batch);
    arena_free(run->arena);
}

Exec *ocl_run_batch(OclRun *run) { return run->batch; }

/* ---- memory ---- */

static cl_mem memory_of(const OclRun *run, int32_t buffer)
{
    const TfcBuffer *b = &program_of(run)->buffers[buffer];
    return b->kind == TFC_BUFFER_TENSOR         ? run->tensors[b->index]
           : b->kind == TFC_BUFFER_INPUT        ? run->inputs[b->index]
           : buffer_is_kept(program_of(run), b) ? run->kept
                                                : run->slab;
}

/* Bytes from the memory's beginning to the buffer's. */
static int64_t place_of(const OclRun *run, int32_t buffer)
{
    return buffer_is_planned(&program_of(run)->buffers[buffer]) ? run->batch->offsets[buffer] : 0;
}

static int64_t bytes_of(const OclRun *run, int32_t buffer)
{
    const TfcBuffer *b = &program_of(run)->buffers[buffer];
    return run->batch->sizes[b->size] * type_bytes(b->type);
}

/* Memory that is there already is taken if it is large enough. */
static bool have_memory(OclRun *run, cl_mem *memory, int64_t *had, int64_t bytes)
{
    if (*memory && *had >= bytes)
        return true;
    release(memory);
    *had = bytes;
    *memory = ocl_memory(run->device, (size_t)bytes);
    return *memory != NULL;
}

/* Of a param; a cache (NULL) has none here. */
static size_t param_bytes(const StoreTensor *tensor)
{
    return tensor ? (size_t)(tensor->count * type_bytes(tensor->type)) : 0;
}

/* Params, where they have changed. */
static bool send_params(OclRun *run)
{
    int64_t version = store_version(run->batch->store);
    for (int32_t t = 0; t < program_of(run)->n_tensors && run->version != version; t++) {
        const StoreTensor *tensor = run->batch->tensors[t];
        size_t bytes = param_bytes(tensor);
        if (!run->tensors[t])
            run->tensors[t] = ocl_memory(run->device, bytes);
        if (!run->tensors[t] ||
            (bytes && !ocl_write(run->device, run->tensors[t], 0, tensor->data, bytes)))
            return false;
    }
    return true;
}

static bool send_inputs(OclRun *run)
{
    const TfcProgram *program = program_of(run);
    for (int32_t b = 0; b < program->n_buffers; b++) {
        if (program->buffers[b].kind != TFC_BUFFER_INPUT)
            continue;
        int32_t i = program->buffers[b].index;
        int64_t bytes = bytes_of(run, b);
        if (!run->batch->inputs[i] && bytes > 0) {
            diag_error(run->device->diags, (Loc){0}, "the input '%s' is missing",
                       program->inputs[i].name);
            return false;
        }
        if (!have_memory(run, &run->inputs[i], &run->input_bytes[i], bytes) ||
            !ocl_write(run->device, run->inputs[i], 0, run->batch->inputs[i], (size_t)bytes))
            return false;
    }
    return true;
}

/* ---- words and numbers ---- */

static void put_word(Words *words, int64_t word) { vec_push(words->arena, words->list, word); }

/* The tables of every ragged dimension, one after the other. */
static bool send_numbers(OclRun *run, Arena *scratch)
{
    VEC(int32_t) numbers = {0};
    const TfcProgram *program = program_of(run);
    for (int32_t d = 0; d < program->n_dims; d++) {
        const TfcDim *dim = &run->batch->dims[d];
        int64_t rows =
            program->dims[d].batch < 0 ? 0 : run->batch->dims[program->dims[d].batch].extent;
        const int32_t *const tables[] = {dim->offset, dim->length, dim->batch, dim->position};
        for (int t = 0; t < 4; t++) {
            int64_t n = !tables[t] ? 0 : t < 2 ? rows : dim->total;
            run->tables[4 * d + t] = (int64_t)numbers.count;
            for (int64_t i = 0; i < n; i++)
                vec_push(scratch, numbers, tables[t][i]);
        }
    }
    size_t bytes = numbers.count * sizeof(int32_t);
    release(&run->numbers);
    run->numbers = ocl_memory(run->device, bytes);
    return run->numbers && ocl_write(run->device, run->numbers, 0, numbers.data, bytes);
}

static void put_kernel_words(OclRun *run, const TfcKernelStep *step, Words *words)
{
    for (int32_t v = 0; v < step->n_views; v++) {
        const TfcView *view = &step->views[v];
        int64_t size = type_bytes(program_of(run)->buffers[view->buffer].type);
        put_word(words, place_of(run, view->buffer) + view->offset * size);
    }
    for (int32_t v = 0; v < step->n_views; v++)
        for (int32_t axis = 0; axis < TFC_MAX_AXES; axis++)
            put_word(words, axis < step->views[v].n_axes
                                ? run->batch->sizes[step->views[v].strides[axis]]
                                : 0);
    for (int32_t d = 0; d < step->n_dims; d++) {
        const TfcDim *dim = &run->batch->dims[step->dims[d]];
        put_word(words, dim->extent);
        put_word(words, dim->total);
        for (int t = 0; t < 4; t++)
            put_word(words, run->tables[4 * step->dims[d] + t]);
    }
    for (int32_t i = 0; i < step->n_ints; i++)
        put_word(words, step->ints[i]);
    for (int i = 0; i < 2; i++)
        put_word(words, 0); /* the generator's state, which every run writes */
    assert(words->list.count ==
           (size_t)tfc_device_words(step->n_views, step->n_dims, step->n_ints).count);
}

static void put_product(OclRun *run, const BoundGemm *bound, const int64_t index[TFC_MAX_LOOPS],
                        Words *words)
{
    GemmShape p = gemm_shape_at(bound, index);
    const GemmMatrix *const matrices[] = {&bound->a, &bound->b, &bound->c};
    put_word(words, p.m);
    put_word(words, p.n);
    put_word(words, p.k);
    for (int i = 0; i < 3; i++) {
        TfcType type = program_of(run)->buffers[matrices[i]->buffer].type;
        put_word(words, place_of(run, matrices[i]->buffer) / type_bytes(type) +
                            gemm_origin(bound, matrices[i], index));
    }
}

/* How many units there are. */
static int64_t put_gemm_words(OclRun *run, const BoundGemm *bound, Words *words)
{
    int64_t index[TFC_MAX_LOOPS] = {0}, most_m = 0, most_n = 0;
    const int64_t common[] = {0,
                              0,
                              bound->sum_iterations,
                              bound->a.row_stride,
                              bound->a.column_stride,
                              bound->b.row_stride,
                              bound->b.column_stride,
                              bound->c.row_stride,
                              bound->c.column_stride};
    static_assert(sizeof common == sizeof(TfcDeviceGemm), "a word a field");
    for (size_t i = 0; i < sizeof common / sizeof *common; i++)
        put_word(words, common[i]);
    for (int64_t i = 0; i < bound->iterations; i++) {
        gemm_indices(bound, bound->free, bound->n_free, i, index);
        for (int64_t s = 0; s < bound->sum_iterations; s++) {
            gemm_indices(bound, bound->sums, bound->n_sums, s, index);
            GemmShape p = gemm_shape_at(bound, index);
            most_m = p.m > most_m ? p.m : most_m;
            most_n = p.n > most_n ? p.n : most_n;
            put_product(run, bound, index, words);
        }
    }
    words->list.data[offsetof(TfcDeviceGemm, m) / 8] = most_m;
    words->list.data[offsetof(TfcDeviceGemm, n) / 8] = most_n;
    return bound->iterations * tfc_device_tiles(most_m) * tfc_device_tiles(most_n);
}

static bool bind_step(OclRun *run, int32_t s, Arena *scratch)
{
    const TfcStep *step = &program_of(run)->steps[s];
    OclStep *to = &run->steps[s];
    Words words = {.arena = scratch};
    if (step->kind == TFC_STEP_KERNEL) {
        put_kernel_words(run, &step->kernel, &words);
        to->units = run->batch->sizes[step->kernel.range];
    } else if (step->kind == TFC_STEP_GEMM) {
        BoundGemm bound = {0};
        if (!gemm_bind(&bound, &step->gemm, run->batch->sizes, run->batch->dims,
                       &program_of(run)->products, &program_of(run)->choice))
            return false;
        to->units = put_gemm_words(run, &bound, &words);
        gemm_release(&bound);
    }
    release(&to->words);
    size_t bytes = words.list.count * sizeof(int64_t);
    to->words = bytes ? ocl_memory(run->device, bytes) : NULL;
    return !bytes || (to->words && ocl_write(run->device, to->words, 0, words.list.data, bytes));
}

/* Everything that follows from the batch's shape. */
static bool bind_batch(OclRun *run)
{
    if (!exec_measure(run->batch)) {
        diag_error(run->device->diags, (Loc){0}, "the batch is too large");
        return false;
    }
    Arena *scratch = arena_new();
    const SlabBlocks *blocks = &run->batch->blocks;
    bool ok = send_numbers(run, scratch) &&
              have_memory(run, &run->slab, &run->slab_bytes, blocks->slab) &&
              have_memory(run, &run->kept, &run->kept_bytes, blocks->kept);
    for (int32_t s = 0; ok && s < program_of(run)->n_steps; s++)
        ok = bind_step(run, s, scratch);
    arena_free(scratch);
    run->batch->bound = ok;
    return ok;
}

/* ---- steps ---- */

static void set_argument(OclRun *run, cl_kernel kernel, cl_uint *i, size_t size, const void *value)
{
    ocl_ok(run->device, clSetKernelArg(kernel, (*i)++, size, value), "clSetKernelArg");
}

/* A kernel's arguments: words, units, numbers, buffers. */
static bool call_kernel(OclRun *run, const OclStep *step)
{
    cl_uint i = 0;
    cl_long units = step->units;
    set_argument(run, step->kernel, &i, sizeof step->words, &step->words);
    set_argument(run, step->kernel, &i, sizeof units, &units);
    set_argument(run, step->kernel, &i, sizeof run->numbers, &run->numbers);
    for (int32_t b = 0; b < step->n_buffers; b++) {
        cl_mem memory = memory_of(run, step->buffers[b]);
        set_argument(run, step->kernel, &i, sizeof memory, &memory);
    }
    return ocl_run(run->device, step->kernel, units);
}

/* The state of the generator is another at each run. */
static bool send_random(OclRun *run, const TfcKernelStep *kernel, cl_mem words)
{
    int64_t at = tfc_device_words(kernel->n_views, kernel->n_dims, kernel->n_ints).random;
    return !kernel->n_ints || ocl_write(run->device, words, (size_t)at * sizeof(int64_t),
                                        run->batch->rng, sizeof run->batch->rng);
}

static bool run_step(OclRun *run, int32_t s)
{
    const TfcStep *step = &program_of(run)->steps[s];
    if (step->kind == TFC_STEP_KERNEL || step->kind == TFC_STEP_GEMM)
        return (step->kind == TFC_STEP_GEMM ||
                send_random(run, &step->kernel, run->steps[s].words)) &&
               call_kernel(run, &run->steps[s]);
    int32_t to = step->copy.to;
    size_t at = (size_t)place_of(run, to);
    size_t bytes = (size_t)(run->batch->sizes[step->copy.size] *
                            type_bytes(program_of(run)->buffers[to].type));
    if (step->kind == TFC_STEP_ZERO)
        return ocl_zero(run->device, memory_of(run, to), at, bytes);
    assert(step->kind == TFC_STEP_COPY);
    int32_t from = step->copy.from;
    return ocl_copy(run->device, memory_of(run, from), (size_t)place_of(run, from),
                    memory_of(run, to), at, bytes);
}

bool ocl_run_all(OclRun *run)
{
    int64_t version = store_version(run->batch->store);
    bool ok = !run->device->failed && (run->batch->bound || bind_batch(run)) && send_params(run) &&
              send_inputs(run);
    int32_t first = run->version == version ? program_of(run)->n_prepared : 0;
    for (int32_t s = first; ok && s < program_of(run)->n_steps; s++)
        ok = run_step(run, s);
    run->version = ok ? version : 0;
    return ok;
}

bool ocl_run_output(OclRun *run, const char *name, void *out)
{
    const TfcProgram *program = program_of(run);
    for (int32_t i = 0; i < program->n_outputs; i++)
        if (!strcmp(program->outputs[i].name, name)) {
            int32_t buffer = program->outputs[i].buffer;
            return ocl_read(run->device, memory_of(run, buffer), (size_t)place_of(run, buffer), out,
                            (size_t)bytes_of(run, buffer));
        }
    return false;
}

bool ocl_run_fetch(OclRun *run)
{
    for (int32_t t = 0; t < program_of(run)->n_tensors; t++) {
        const StoreTensor *tensor = run->batch->tensors[t];
        size_t bytes = param_bytes(tensor);
        if (bytes && !ocl_read(run->device, run->tensors[t], 0, tensor->data, bytes))
            return false;
    }
    return true;
}
