/* Which params are quantised along which axis, and the new folder; see quantise.h. */
#include "driver/run/quantise.h"

#include "base/file.h"
#include "driver/ports/patterns.h"
#include "driver/run/folder.h"
#include "driver/run/new_folder.h"
#include "driver/run/weights.h"
#include "passes/pass.h"
#include "runtime/product/integers.h"

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
    VEC(StTensor) list;
} Tensors;

static void add_tensor(Tensors *t, const char *name, StType type, int rank, const int64_t *dims,
                       const void *data)
{
    StTensor tensor = {.name = name, .type = type, .rank = rank, .data = data};
    memcpy(tensor.dims, dims, sizeof *dims * (size_t)rank);
    vec_push(t->job->arena, t->list, tensor);
}

/* n elements, `step` apart, as integers; adds squares of what is lost and of all to sums. */
static float round_channel(const float *x, int64_t n, int64_t step, int8_t *out, double sums[2])
{
    const float scale = integers_round(n, x, step, out);
    for (int64_t i = 0; i < n; i++) {
        const double lost = (double)x[i * step] - (double)(scale * (float)out[i * step]);
        sums[0] += lost * lost;
        sums[1] += (double)x[i * step] * (double)x[i * step];
    }
    return scale;
}

/* `axis`: the one that is summed over. */
static void add_quantised(Tensors *t, const StoreTensor *param, int axis, QuantisedParam *about)
{
    Arena *arena = t->job->arena;
    const int64_t channels = param->dims[1 - axis], n = param->dims[axis];
    const int64_t channel = axis == 0 ? 1 : n, step = axis == 0 ? channels : 1;
    int8_t *integers = ARENA_ARRAY(arena, int8_t, param->count + 1);
    float *scales = ARENA_ARRAY(arena, float, channels + 1);
    double sums[2] = {0, 0};
    for (int64_t c = 0; c < channels; c++)
        scales[c] = round_channel((const float *)param->data + c * channel, n, step,
                                  integers + c * channel, sums);
    const int64_t dims[] = {axis == 0 ? 1 : channels, axis == 0 ? channels : 1};
    add_tensor(t, arena_printf(arena, "%s.int8", param->name), ST_I8, 2, param->dims, integers);
    add_tensor(t, arena_printf(arena, "%s.scale", param->name), ST_F32, 2, dims, scales);
    about->bytes = param->count + channels * (int64_t)sizeof(float);
    about->error = sums[1] == 0 ? 0 : sqrt(sums[0] / sums[1]); /* NaN: one is not finite */
}

/* Why a param stays as it is; NULL: it does not. */
static const char *why_stays(const Channels *channels, const QuantiseOptions *o,
                             const ParamInfo *param)
{
    const intptr_t axis = (intptr_t)map_get(&channels->axis, param->name);
    return patterns_meet(&o->keep, param->name) ? "kept"
           : param->type.dtype != DT_F32        ? "not f32"
           : param->type.rank != 2              ? "no matrix"
           : axis == UNKNOWN                    ? "no product by it, and no lookup in it"
           : axis == SEVERAL                    ? "products sum over both of its axes"
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
    QuantisedParam about = {.name = info->name, .stays = why_stays(channels, o, info)};
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
    if (ok && isnan(about.error))
        ok = job_error(t->job, "%s: '%s' has an element that is not finite", file->shards->path,
                       info->name);
    vec_push(t->job->arena, *params, about);
    return ok;
}

/* ---- the run ---- */

static bool write_params(Job *job, Session *session, const QuantiseOptions *o,
                         const char *checkpoint, const char *folder, QuantisedParams *params)
{
    static const StMeta meta = {ST_QUANTISED, "int8"};
    Channels channels;
    WeightsFile file;
    Tensors tensors = {.job = job};
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
    record->quantised = "int8";
    record->command = o->command;
    return new_folder_end(&new,
                          write_params(job, &run->session, o, checkpoint, new.made, params) &&
                              run_folder_write(job, new.made, &run->session, run->vocab, record));
}

bool quantise_run(Job *job, const QuantiseOptions *o, QuantisedParams *params)
{
    RunFolder run;
    RunRecord record;
    if (!new_folder_is_free(o->out))
        return job_error(job, "%s is there already: -o names a folder that is to be made", o->out);
    if (is_run_folder(o->run) && run_record_read(job, o->run, &record) && record.quantised)
        return job_error(job, "%s is quantised already (%s)", o->run, record.quantised);
    bool ok = run_folder_open(job, &(RunSource){.path = o->run}, &run) &&
              run_record_read(job, o->run, &record) && write_run(job, &run, &record, o, params);
    run_folder_close(&run);
    return ok;
}
