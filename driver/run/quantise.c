/* Which params are quantised along which axis, and the new folder; see quantise.h. */
#include "driver/run/quantise.h"

#include "base/file.h"
#include "base/half.h"
#include "driver/ports/patterns.h"
#include "driver/run/folder.h"
#include "driver/run/new_folder.h"
#include "driver/run/weights.h"
#include "passes/pass.h"
#include "runtime/product/integers.h"
#include "runtime/product/nibbles.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { UNKNOWN = 0, SEVERAL = -1 };

/* ---- the axis that is summed over ---- */

/* Of each param 1 + the axis along which products sum, or a lookup copies; UNKNOWN: neither reads
 * it; SEVERAL: they do not agree. */
typedef struct Channels {
    Map axis;
} Channels;

static void note_axis(Channels *channels, const Op *param, int axis)
{
    const char *name = op_string(param, ATTR_name);
    const intptr_t known = (intptr_t)map_get(&channels->axis, name), found = axis + 1;
    map_set(&channels->axis, name,
            (void *)(known == UNKNOWN || known == found ? found : (intptr_t)SEVERAL));
}

/* The params that a product's matrix is, or is put together from. */
static void trace(Channels *channels, const Value *matrix, int axis)
{
    const Op *op = matrix->op;
    if (op->kind == OP_param && matrix->type.rank == 2)
        note_axis(channels, op, axis);
    else if (op->kind == OP_transpose)
        trace(channels, op->args[0], op_attr(op, ATTR_perm)->ints[axis]);
    else if (op->kind == OP_concat && op_attr(op, ATTR_axis)->i != axis)
        for (int i = 0; i < op->n_args; i++)
            trace(channels, op->args[i], axis);
}

/* In the function `forward` as the pass `quantize` leaves it. Products decide before lookups. */
static bool find_channels(Job *job, Session *session, Channels *channels)
{
    Function *function = session_function(session, "forward");
    const PipelineOptions passes = {.passes = "expand,quantize"};
    map_init(&channels->axis, job->arena);
    if (!function || !pipeline_run(function, &passes, &job->diags))
        return false;
    FOR_OPS (op, &function->body)
        if (op->kind == OP_dot && op_attr(op, ATTR_bits))
            trace(channels, op->args[1], op_attr(op, ATTR_contract_b)->ints[0]);
    FOR_OPS (op, &function->body)
        if (op->kind == OP_gather && op->args[0]->op->kind == OP_param &&
            op->args[0]->type.rank == 2 &&
            map_get(&channels->axis, op_string(op->args[0]->op, ATTR_name)) == UNKNOWN)
            note_axis(channels, op->args[0]->op, 1);
    return true;
}

/* ---- one param ---- */

typedef struct Tensors {
    Job *job;
    bool of_4; /* bits; else 8 */
    VEC(StTensor) list;
} Tensors;

static void add_tensor(Tensors *t, const char *name, StType type, int rank, const int64_t *dims,
                       const void *data)
{
    StTensor tensor = {.name = name, .type = type, .rank = rank, .data = data};
    memcpy(tensor.dims, dims, sizeof *dims * (size_t)rank);
    vec_push(t->job->arena, t->list, tensor);
}

/* A matrix as integers: runs of `run` elements along the summed axis, which are `step` apart in
 * both, with a scale each; squares of what is lost and of all. */
typedef struct Rounded {
    int64_t run, step;
    int8_t *integers;
    void *scales; /* f32, of 4 bits f16; as many along the axis as it has runs */
    double lost, all;
} Rounded;

static void round_run(Rounded *r, const float *x, int64_t n, int64_t first, int64_t at, bool of_4)
{
    int8_t *out = r->integers + first;
    float scale;
    if (of_4) {
        const uint16_t half = nibbles_round(n, x + first, r->step, out);
        scale = half_to_float(half);
        ((uint16_t *)r->scales)[at] = half;
    } else {
        scale = integers_round(n, x + first, r->step, out);
        ((float *)r->scales)[at] = scale;
    }
    for (int64_t i = 0; i < n * r->step; i += r->step) {
        const double value = (double)x[first + i];
        const double lost = value - (double)(scale * (float)out[i]);
        r->lost += lost * lost;
        r->all += value * value;
    }
}

/* Pairs of integers that are `step` apart as bytes, the first in the lower half; in place. */
static void join_nibbles(int8_t *integers, int64_t count, int64_t step)
{
    for (int64_t i = 0, to = 0; i < count; i += 2 * step)
        for (int64_t j = i; j < i + step; j++)
            integers[to++] =
                (int8_t)(uint8_t)((integers[j] + NIBBLES_OFFSET) |
                                  (integers[j + step] + NIBBLES_OFFSET) << NIBBLES_BITS);
}

/* `axis`: the one that is summed over. */
static void add_quantised(Tensors *t, const StoreTensor *param, int axis, QuantisedParam *about)
{
    Arena *arena = t->job->arena;
    const int64_t channels = param->dims[1 - axis], n = param->dims[axis];
    const int64_t channel = axis == 0 ? 1 : n, run = t->of_4 ? NIBBLES_GROUP : n;
    const int64_t runs = run ? n / run : 1;
    Rounded r = {.run = run, .step = axis == 0 ? channels : 1};
    r.integers = ARENA_ARRAY(arena, int8_t, param->count + 1);
    r.scales = ARENA_ARRAY(arena, float, channels *runs + 1);
    for (int64_t c = 0; c < channels; c++)
        for (int64_t i = 0; i < runs; i++)
            round_run(&r, param->data, run, c * channel + i * run * r.step,
                      axis == 0 ? i * channels + c : c * runs + i, t->of_4);
    int64_t dims[] = {param->dims[0], param->dims[1]};
    if (t->of_4) {
        join_nibbles(r.integers, param->count, r.step);
        dims[axis] /= 2;
    }
    add_tensor(t, arena_printf(arena, "%s.%s", param->name, t->of_4 ? "int4" : "int8"),
               t->of_4 ? ST_U8 : ST_I8, 2, dims, r.integers);
    dims[axis] = runs;
    add_tensor(t, arena_printf(arena, "%s.scale", param->name), t->of_4 ? ST_F16 : ST_F32, 2, dims,
               r.scales);
    about->bytes = param->count / (t->of_4 ? 2 : 1) +
                   channels * runs * (int64_t)(t->of_4 ? sizeof(uint16_t) : sizeof(float));
    about->error = r.all == 0 ? 0 : sqrt(r.lost / r.all); /* NaN: one is not finite */
}

/* Why a param stays as it is; NULL: it does not. */
static const char *why_stays(const Tensors *t, const Channels *channels, const QuantiseOptions *o,
                             const ParamInfo *param)
{
    const intptr_t axis = (intptr_t)map_get(&channels->axis, param->name);
    return patterns_meet(&o->keep, param->name) ? "kept"
           : param->type.dtype != DT_F32        ? "not f32"
           : param->type.rank != 2              ? "no matrix"
           : axis == UNKNOWN                    ? "no product by it, and no lookup in it"
           : axis == SEVERAL                    ? "products sum over both of its axes"
           : t->of_4 && param->type.dims[axis - 1].size % NIBBLES_GROUP
               ? "its terms are no multiple of 32"
               : NULL;
}

static StoreTensor tensor_of(const ParamInfo *info)
{
    StoreTensor tensor = {.name = info->name,
                          .type = (TfcType)info->type.dtype,
                          .role = TFC_TRAINED,
                          .rank = info->type.rank,
                          .count = 1};
    for (int i = 0; i < tensor.rank; i++)
        tensor.count *= tensor.dims[i] = info->type.dims[i].size;
    return tensor;
}

static bool add_param(Tensors *t, const WeightsFile *file, const Channels *channels,
                      const QuantiseOptions *o, const ParamInfo *info, QuantisedParams *params)
{
    StoreTensor param = tensor_of(info);
    QuantisedParam about = {.name = info->name, .stays = why_stays(t, channels, o, info)};
    const size_t bytes = (size_t)param.count * element_info((StType)param.type)->bytes;
    void *data = about.stays ? arena_array(t->job->arena, bytes + 1, 1) : malloc(bytes + 1);
    param.data = data;
    about.before = about.bytes = (int64_t)bytes;
    bool ok = data ? weights_read(file, &param) &&
                         checkpoint_check_tensor(&t->job->diags, file->shards->path, &param)
                   : job_no_memory(t->job);
    if (ok && about.stays)
        add_tensor(t, param.name, (StType)param.type, param.rank, param.dims, data);
    else if (ok)
        add_quantised(t, &param, (int)(intptr_t)map_get(&channels->axis, info->name) - 1, &about);
    if (!about.stays)
        free(data);
    if (ok && !isfinite(about.error))
        ok = job_error(t->job, "%s: '%s' has an element that is not finite%s", file->shards->path,
                       info->name, t->of_4 ? ", or too large for a scale in f16" : "");
    vec_push(t->job->arena, *params, about);
    return ok;
}

/* ---- the run ---- */

static bool write_params(Job *job, Session *session, const QuantiseOptions *o,
                         const char *checkpoint, const char *folder, QuantisedParams *params)
{
    const StMeta meta = {ST_QUANTISED, o->dtype};
    Channels channels;
    WeightsFile file;
    Tensors tensors = {.job = job, .of_4 = !strcmp(o->dtype, "int4")};
    if (!patterns_check(job, "keep", &o->keep, session->model->module) ||
        !find_channels(job, session, &channels))
        return false;
    if (!weights_open(job, session->model, checkpoint, &file))
        return job_error(job, "%s cannot be read", checkpoint);
    bool ok = true;
    const Module *module = session->model->module;
    for (size_t i = 0; ok && i < module->params.count; i++)
        ok = add_param(&tensors, &file, &channels, o, module->params.data[i], params);
    weights_close(&file);
    return ok && file_make_folder(&job->diags, file_in(job->arena, folder, RUN_WEIGHTS)) &&
           st_write_checked(&job->diags,
                            file_in(job->arena, folder, RUN_WEIGHTS "/model.safetensors"),
                            tensors.list.data, (int64_t)tensors.list.count, &meta, 1);
}

static bool write_run(Job *job, RunFolder *run, RunRecord *record, const QuantiseOptions *o,
                      QuantisedParams *params)
{
    NewFolder new;
    const char *checkpoint = run_checkpoint(job, o->run, o->checkpoint);
    if (!checkpoint || !new_folder_begin(job, o->out, &new))
        return false;
    record->quantised = o->dtype;
    record->command = o->command;
    return new_folder_end(&new,
                          write_params(job, &run->session, o, checkpoint, new.made, params) &&
                              run_folder_write(job, new.made, &run->session, run->vocab, record));
}

bool quantise_check(Job *job, const QuantiseOptions *o)
{
    RunRecord record;
    if (!new_folder_is_free(o->out))
        return job_error(job, "%s is there already: -o names a folder that is to be made", o->out);
    if (is_run_folder(o->run) && run_record_read(job, o->run, &record) && record.quantised)
        return job_error(job, "%s is quantised already (%s)", o->run, record.quantised);
    return true;
}

bool quantise_run(Job *job, const QuantiseOptions *o, QuantisedParams *params)
{
    RunFolder run;
    RunRecord record;
    bool ok = run_folder_open(job, &(RunSource){.path = o->run}, &run) &&
              run_record_read(job, o->run, &record) && write_run(job, &run, &record, o, params);
    run_folder_close(&run);
    return ok;
}
