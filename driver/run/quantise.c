/* Which params are quantised along which axis, and the new folder; see quantise.h. */
#define _POSIX_C_SOURCE 200809L
#include "driver/run/quantise.h"

#include "base/file.h"
#include "base/half.h"
#include "driver/ports/patterns.h"
#include "driver/run/folder.h"
#include "driver/run/model_argument.h"
#include "driver/run/new_folder.h"
#include "driver/run/published.h"
#include "driver/run/weights.h"
#include "passes/pass.h"
#include "runtime/product/integers.h"
#include "runtime/product/groups.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { UNKNOWN = 0, SEVERAL = -1, READ = -2 };
static_assert((int)ST_RUN == (int)GROUP_TERMS, "files have the runs of products");

/* ---- the axis that is summed over ---- */

/* Of each param 1 + the axis along which products sum, or a lookup copies; UNKNOWN: neither reads
 * it; SEVERAL: they do not agree; READ: other ops read it, too. */
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

/* Whether nothing but products and lookups of integers reads the value. */
static bool is_for_integers(const Value *value)
{
    for (const Use *use = value->first_use; use; use = use->next) {
        const Op *user = use->user;
        const bool carries = user->kind == OP_transpose || user->kind == OP_concat;
        if (carries ? !is_for_integers(&user->results[0]) : !op_quant(user))
            return false;
    }
    return true;
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
        if (op->kind == OP_dot && op_quant(op))
            trace(channels, op->args[1], op_attr(op, ATTR_contract_b)->ints[0]);
    FOR_OPS (op, &function->body)
        if (op->kind == OP_gather && op_quant(op) &&
            map_get(&channels->axis, op_string(op->args[0]->op, ATTR_name)) == UNKNOWN)
            note_axis(channels, op->args[0]->op, 1);
    FOR_OPS (op, &function->body)
        if (op->kind == OP_param && !is_for_integers(op_result(op)) &&
            map_get(&channels->axis, op_string(op, ATTR_name)) != UNKNOWN)
            map_set(&channels->axis, op_string(op, ATTR_name), (void *)(intptr_t)READ);
    return true;
}

/* ---- one param ---- */

/* Tensors of the new run. Their bytes are in `room`, a file without a name that is mapped, so that
 * memory need not hold all of them. */
typedef struct Tensors {
    Job *job;
    Quant quant;
    VEC(StTensor) list;
    char *room;
    size_t used, bytes; /* of the room */
} Tensors;

enum { ALIGNMENT = 64 };
static size_t aligned(size_t bytes) { return (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT; }

static void *room_take(Tensors *t, size_t bytes)
{
    void *place = t->room + t->used;
    t->used += aligned(bytes);
    assert(t->used <= t->bytes);
    return place;
}

/* All of it is on the disk at once: a full disk is an error here, and not when it is written. */
static bool room_open(Tensors *t, const char *folder)
{
    const char *path = file_in(t->job->arena, folder, "tensors");
    int fd = open(path, O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, 0600);
    int error = fd < 0 ? errno : posix_fallocate(fd, 0, (off_t)t->bytes + 1);
    unlink(path);
    t->room =
        error ? MAP_FAILED : mmap(NULL, t->bytes + 1, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    error = !error && t->room == MAP_FAILED ? errno : error;
    if (fd >= 0)
        close(fd);
    if (error)
        diag_errno(&t->job->diags, "write", folder, error);
    return !error;
}

static void add_tensor(Tensors *t, const char *name, StType type, int rank, const int64_t *dims,
                       const void *data)
{
    StTensor tensor = {.name = name, .type = type, .rank = rank, .data = data};
    memcpy(tensor.dims, dims, sizeof *dims * (size_t)rank);
    vec_push(t->job->arena, t->list, tensor);
}

static const QuantInfo *info_of(const Tensors *t) { return quant_info(t->quant); }

/* Squares of what is lost of elements, and of all of them. */
typedef struct Loss {
    double lost, all;
} Loss;

static void loss_add(Loss *to, Loss more)
{
    to->lost += more.lost;
    to->all += more.all;
}

/* NaN: an element is not finite. */
static double loss_error(Loss loss) { return loss.all == 0 ? 0 : sqrt(loss.lost / loss.all); }

/* A matrix as integers: runs of elements along the summed axis, which are `step` apart in both,
 * with a scale each; what is lost of it, and of its runs of small scales. */
typedef struct Rounded {
    Quant quant;
    int64_t step;
    int8_t *integers;
    void *scales, *minima; /* f32, in groups f16; as many along the axis as it has runs */
    Loss loss, of_small;
    int64_t small;
} Rounded;

static void round_run(Rounded *r, const float *x, int64_t n, int64_t first, int64_t at)
{
    int8_t *out = r->integers + first;
    float scale, minimum = 0;
    Loss loss = {0, 0};
    if (quant_info(r->quant)->group) {
        const GroupScale of = groups_round(r->quant, n, x + first, r->step, out);
        scale = half_to_float(of.scale);
        minimum = half_to_float(of.minimum);
        ((uint16_t *)r->scales)[at] = of.scale;
        if (r->minima)
            ((uint16_t *)r->minima)[at] = of.minimum;
    } else {
        scale = integers_round(n, x + first, r->step, out);
        ((float *)r->scales)[at] = scale;
    }
    for (int64_t i = 0; i < n * r->step; i += r->step) {
        const double value = (double)x[first + i];
        const float scaled = scale * (float)out[i];
        const double lost = value - (double)(scaled + minimum);
        loss_add(&loss, (Loss){lost * lost, value * value});
    }
    loss_add(&r->loss, loss);
    if (!quant_info(r->quant)->group || loss.all == 0 || !(fabsf(scale) < HALF_NORMAL))
        return;
    loss_add(&r->of_small, loss);
    r->small++;
}

/* Pairs of integers that are `step` apart as bytes, the first in the lower half; in place. */
static void join_nibbles(int8_t *integers, int64_t count, int64_t step, int offset)
{
    enum { BITS = 4 };
    for (int64_t i = 0, to = 0; i < count; i += 2 * step)
        for (int64_t j = i; j < i + step; j++)
            integers[to++] =
                (int8_t)(uint8_t)((integers[j] + offset) | (integers[j + step] + offset) << BITS);
}

/* Bytes of the integers, of the scales and of the minima of a matrix. */
static size_t integers_bytes(const Tensors *t, const StoreTensor *param)
{
    enum { BYTE = 8 };
    return (size_t)(param->count * info_of(t)->bits / BYTE);
}

/* Runs of the n elements of a channel; the last may be shorter. */
static int64_t runs_of(const Tensors *t, int64_t n)
{
    const int64_t group = info_of(t)->group;
    return group ? (n + group - 1) / group : 1;
}

static size_t scales_bytes(const Tensors *t, const StoreTensor *param, int axis)
{
    const size_t scales = (size_t)(param->dims[1 - axis] * runs_of(t, param->dims[axis]));
    return scales * (info_of(t)->group ? sizeof(uint16_t) : sizeof(float));
}

static size_t minima_bytes(const Tensors *t, const StoreTensor *param, int axis)
{
    return info_of(t)->has_minimum ? scales_bytes(t, param, axis) : 0;
}

static void add_part(Tensors *t, const StoreTensor *param, const char *part, StType type,
                     const int64_t *dims, const void *data)
{
    add_tensor(t, arena_printf(t->job->arena, "%s.%s", param->name, part), type, 2, dims, data);
}

/* `axis`: the one that is summed over; `integers`: room for one of each element. */
static void add_quantised(Tensors *t, const StoreTensor *param, int axis, int8_t *integers,
                          QuantisedParam *about)
{
    const QuantInfo *q = info_of(t);
    const bool of_4 = q->bits == 4;
    const int64_t channels = param->dims[1 - axis], n = param->dims[axis];
    const int64_t channel = axis == 0 ? 1 : n, run = q->group ? q->group : n;
    const int64_t runs = runs_of(t, n);
    const size_t bytes = integers_bytes(t, param), of_scales = scales_bytes(t, param, axis),
                 of_minima = minima_bytes(t, param, axis);
    Rounded r = {.quant = t->quant,
                 .step = axis == 0 ? channels : 1,
                 .integers = integers,
                 .scales = room_take(t, of_scales),
                 .minima = of_minima ? room_take(t, of_minima) : NULL};
    for (int64_t c = 0; c < channels; c++)
        for (int64_t i = 0, left = n; i < runs; i++, left -= run)
            round_run(&r, param->data, left < run ? left : run, c * channel + i * run * r.step,
                      axis == 0 ? i * channels + c : c * runs + i);
    int64_t dims[] = {param->dims[0], param->dims[1]};
    if (of_4) {
        join_nibbles(integers, param->count, r.step, q->has_minimum ? 0 : 8);
        dims[axis] /= 2;
    }
    void *kept = memcpy(room_take(t, bytes), integers, bytes);
    add_part(t, param, of_4 ? "int4" : "int8", of_4 ? ST_U8 : ST_I8, dims, kept);
    dims[axis] = runs;
    add_part(t, param, "scale", q->group ? ST_F16 : ST_F32, dims, r.scales);
    if (r.minima)
        add_part(t, param, "minimum", ST_F16, dims, r.minima);
    about->bytes = (int64_t)(bytes + of_scales + of_minima);
    about->error = loss_error(r.loss);
    about->groups = channels * runs;
    about->small = r.small;
    about->small_error = loss_error(r.of_small);
}

/* Why a matrix is not stored by pairs of terms; NULL: it is. With a single pair a reader could not
 * tell which axis is summed over. */
static const char *why_no_nibbles(const Type *type, int axis)
{
    const int64_t n = type->dims[axis].size;
    return n % 2                                      ? "an odd number of terms"
           : n == 2 && type->dims[1 - axis].size == 1 ? "it has two elements"
                                                      : NULL;
}

/* Why a param stays as it is; NULL: it does not. */
static const char *why_stays(const Tensors *t, const Channels *channels, const QuantiseOptions *o,
                             const ParamInfo *param)
{
    const intptr_t axis = (intptr_t)map_get(&channels->axis, param->name);
    return patterns_meet(&o->keep, param->name) ? "kept"
           : param->type.dtype != DT_F32        ? "not f32"
           : param->type.rank != 2              ? "no matrix"
           : axis == UNKNOWN       ? "no product by it, and no lookup in it, is of integers"
           : axis == SEVERAL       ? "products sum over both of its axes"
           : axis == READ          ? "other ops read it, too"
           : info_of(t)->bits == 4 ? why_no_nibbles(&param->type, axis - 1)
                                   : NULL;
}

static size_t tensor_bytes(const StoreTensor *tensor)
{
    return (size_t)tensor->count * element_info((StType)tensor->type)->bytes;
}

static StoreTensor tensor_of(const ParamInfo *info)
{
    StoreTensor tensor = {.name = info->name,
                          .type = (TfcType)info->type.dtype,
                          .role = (TfcRole)info->role,
                          .rank = info->type.rank,
                          .count = 1};
    for (int i = 0; i < tensor.rank; i++)
        tensor.count *= tensor.dims[i] = info->type.dims[i].size;
    return tensor;
}

/* QuantisedPart: a param before it is read. */
typedef struct QuantisedPart {
    StoreTensor param;
    const char *stays;
    int axis;
} QuantisedPart;

static QuantisedPart part_of(Tensors *t, const Channels *channels, const QuantiseOptions *o,
                             const ParamInfo *info)
{
    QuantisedPart part = {.param = tensor_of(info),
                          .stays = why_stays(t, channels, o, info),
                          .axis = (int)(intptr_t)map_get(&channels->axis, info->name) - 1};
    t->bytes += part.stays ? aligned(tensor_bytes(&part.param))
                           : aligned(integers_bytes(t, &part.param)) +
                                 aligned(scales_bytes(t, &part.param, part.axis)) +
                                 aligned(minima_bytes(t, &part.param, part.axis));
    return part;
}

static bool read_param(Tensors *t, const WeightsFile *file, StoreTensor *param)
{
    return weights_read(file, param) &&
           checkpoint_check_tensor(&t->job->diags, file->shards->path, param);
}

static bool add_matrix(Tensors *t, const WeightsFile *file, QuantisedPart *part,
                       QuantisedParam *about)
{
    int8_t *integers = memory_resized(NULL, (size_t)part->param.count);
    part->param.data = memory_resized(NULL, tensor_bytes(&part->param));
    bool ok = read_param(t, file, &part->param);
    if (ok)
        add_quantised(t, &part->param, part->axis, integers, about);
    if (ok && !isfinite(about->error))
        ok = job_error(t->job, "%s: '%s' has an element that is not finite%s", file->shards->path,
                       part->param.name,
                       info_of(t)->group ? ", or too large for a scale in f16" : "");
    free(part->param.data);
    free(integers);
    return ok;
}

static bool add_param(Tensors *t, const WeightsFile *file, QuantisedPart *part,
                      QuantisedParams *params)
{
    StoreTensor *param = &part->param;
    const int64_t bytes = (int64_t)tensor_bytes(param);
    QuantisedParam about = {.name = param->name,
                            .stays = part->stays,
                            .is_vector = param->rank < 2,
                            .before = bytes,
                            .bytes = bytes};
    bool ok;
    if (part->stays) {
        param->data = room_take(t, (size_t)bytes);
        ok = read_param(t, file, param);
        add_tensor(t, param->name, (StType)param->type, param->rank, param->dims, param->data);
    } else
        ok = add_matrix(t, file, part, &about);
    vec_push(t->job->arena, *params, about);
    return ok;
}

/* ---- the run ---- */

/* False, with an error that gives the reason of the largest param: none is quantised. */
static bool check_parts(const Tensors *t, const QuantiseOptions *o, const QuantisedPart *parts,
                        size_t n)
{
    const QuantisedPart *largest = parts;
    for (size_t i = 0; i < n; i++) {
        if (!parts[i].stays)
            return true;
        if (parts[i].param.count > largest->param.count)
            largest = &parts[i];
    }
    return job_error(t->job, "%s: no param becomes %s; the largest, '%s', stays f32: %s%s", o->run,
                     o->dtype, n ? largest->param.name : "", n ? largest->stays : "there is none",
                     info_of(t)->bits == 4 ? "; try --dtype int8 or q8_0" : "");
}

static bool add_params(Tensors *t, const Module *module, const Channels *channels,
                       const QuantiseOptions *o, const WeightsFile *file, const char *folder,
                       QuantisedParams *params)
{
    const size_t n = module->params.count;
    QuantisedPart *parts = ARENA_ARRAY(t->job->arena, QuantisedPart, n + 1);
    for (size_t i = 0; i < n; i++)
        parts[i] = part_of(t, channels, o, module->params.data[i]);
    bool ok = check_parts(t, o, parts, n) && room_open(t, folder);
    for (size_t i = 0; ok && i < n; i++)
        ok = add_param(t, file, &parts[i], params);
    return ok;
}

static bool write_params(Job *job, Session *session, const QuantiseOptions *o,
                         const char *checkpoint, const char *made, QuantisedParams *params)
{
    const StMeta meta = {ST_QUANTISED, o->dtype};
    const char *folder = file_in(job->arena, made, RUN_WEIGHTS);
    Channels channels;
    WeightsFile file;
    Tensors t = {.job = job, .quant = quant_of_word(o->dtype), .room = MAP_FAILED};
    if (!patterns_check(job, "keep", &o->keep, session->model->module))
        return false;
    patterns_keep(&o->keep, session->model->module);
    if (!find_channels(job, session, &channels) || !file_make_folder(&job->diags, folder))
        return false;
    if (!weights_open(job, session->model, checkpoint, &file))
        return job_error(job, "%s cannot be read", checkpoint);
    bool ok = add_params(&t, session->model->module, &channels, o, &file, folder, params);
    weights_close(&file);
    ok = ok && st_write_checked(&job->diags, file_in(job->arena, folder, "model.safetensors"),
                                t.list.data, (int64_t)t.list.count, &meta, 1);
    if (t.room != MAP_FAILED)
        munmap(t.room, t.bytes + 1);
    return ok;
}

static bool write_run(Job *job, RunFolder *run, RunRecord *record, const QuantiseOptions *o,
                      QuantisedParams *params)
{
    NewFolder new;
    const char *checkpoint = run_checkpoint(job, o->run, o->checkpoint);
    if (!checkpoint || !new_folder_begin(job, o->out, &new))
        return false;
    record->quantised = o->dtype;
    record->keep = o->keep;
    record->command = o->command;
    return new_folder_end(&new, write_params(job, &run->session, o, checkpoint, new.made, params) &&
                                    run_folder_write(job, new.made, &run->session, run->vocab,
                                                     &run->columns, record) &&
                                    published_keep(job, o->run, NULL, new.made));
}

/* ---- what a GGUF of it has ---- */

bool quantise_gguf(Job *job, const char *run, const Module *module, const char **type, Map *floats)
{
    const char *path = file_in(job->arena, run, RUN_WEIGHTS "/model.safetensors");
    *type = NULL;
    map_init(floats, job->arena);
    if (!file_exists(path))
        return true;
    StFile *file = st_open(&job->diags, job->arena, path);
    if (!file)
        return false;
    const char *word = st_meta(file, ST_QUANTISED);
    *type = !word ? NULL : !strcmp(word, "q8_0") ? "q8_0" : !strcmp(word, "int4") ? "q4_0" : NULL;
    for (size_t i = 0; *type && i < module->params.count; i++) {
        const char *name = module->params.data[i]->name;
        const StTensor *tensor = st_find(file, name);
        if (!tensor || !tensor->scales.data)
            map_set(floats, name, (void *)(uintptr_t)name);
    }
    st_close(file);
    return true;
}

/* False after an error: the params cannot be read, or were rounded before. */
static bool check_checkpoint(Job *job, const QuantiseOptions *o)
{
    const char *path = run_checkpoint(job, o->run, o->checkpoint);
    if (path && is_run_folder(path))
        path = run_checkpoint(job, path, NULL);
    Shards *shards =
        path ? shards_open_within(&job->diags, job->arena, job_reach(job, NULL), path) : NULL;
    if (!shards)
        return false;
    const char *quantised = NULL;
    for (size_t i = 0; i < shards->files.count && !quantised; i++)
        quantised = st_meta(shards->files.data[i], ST_QUANTISED);
    shards_close(shards);
    return !quantised || job_error(job, "%s is quantised already (%s): take a checkpoint in f32",
                                   path, quantised);
}

bool quantise_check(Job *job, const QuantiseOptions *o)
{
    RunRecord record;
    if (text_ends(o->run, ".tfg") && file_exists(o->run))
        return job_error(
            job,
            "%s is a model that is not trained: train it first (tfc train %s --out RUN "
            "…) and name the folder RUN",
            o->run, o->run);
    if (!new_folder_is_free(o->out))
        return job_error(job, "%s is there already: -o names a folder that is to be made", o->out);
    if (is_run_folder(o->run) && run_record_read(job, o->run, &record) && record.quantised)
        return job_error(job, "%s is quantised already (%s)", o->run, record.quantised);
    return run_argument(job, o->run) && check_checkpoint(job, o);
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
