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
#include "driver/run/thresholds.h"
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
    Map tables; /* names of the params in which rows are looked up */
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
    map_init(&channels->tables, job->arena);
    if (!function || !pipeline_run(function, &passes, &job->diags))
        return false;
    FOR_OPS (op, &function->body)
        if (op->kind == OP_dot && op_quant(op))
            trace(channels, op->args[1], op_attr(op, ATTR_contract_b)->ints[0]);
    FOR_OPS (op, &function->body) {
        if (op->kind != OP_gather || !op_quant(op))
            continue;
        const char *name = op_string(op->args[0]->op, ATTR_name);
        map_set(&channels->tables, name, (void *)(uintptr_t)name);
        if (map_get(&channels->axis, name) == UNKNOWN)
            note_axis(channels, op->args[0]->op, 1);
    }
    FOR_OPS (op, &function->body)
        if (op->kind == OP_param && !is_for_integers(op_result(op)) &&
            map_get(&channels->axis, op_string(op, ATTR_name)) != UNKNOWN)
            map_set(&channels->axis, op_string(op, ATTR_name), (void *)(intptr_t)READ);
    return true;
}

/* ---- one param ---- */

/* QuantisedPart: a param before it is read.
 *   stays   why it stays f32; NULL: it becomes integers of `quant`
 *   axis    the one that is summed over */
typedef struct QuantisedPart {
    StoreTensor param;
    const char *stays;
    Quant quant;
    int axis;
} QuantisedPart;

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

static const QuantInfo *info_of(const QuantisedPart *part) { return quant_info(part->quant); }

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
static size_t integers_bytes(const QuantisedPart *part)
{
    enum { BYTE = 8 };
    return (size_t)(part->param.count * info_of(part)->bits / BYTE);
}

/* Runs of the n elements of a channel; the last may be shorter. */
static int64_t runs_of(const QuantisedPart *part)
{
    const int64_t group = info_of(part)->group, n = part->param.dims[part->axis];
    return group ? (n + group - 1) / group : 1;
}

static size_t scales_bytes(const QuantisedPart *part)
{
    const size_t scales = (size_t)(part->param.dims[1 - part->axis] * runs_of(part));
    return scales * (info_of(part)->group ? sizeof(uint16_t) : sizeof(float));
}

static size_t minima_bytes(const QuantisedPart *part)
{
    return info_of(part)->has_minimum ? scales_bytes(part) : 0;
}

static void add_part(Tensors *t, const StoreTensor *param, const char *part, StType type,
                     const int64_t *dims, const void *data)
{
    add_tensor(t, arena_printf(t->job->arena, "%s.%s", param->name, part), type, 2, dims, data);
}

/* `integers`: room for one of each element. */
static void add_quantised(Tensors *t, const QuantisedPart *part, int8_t *integers,
                          QuantisedParam *about)
{
    const QuantInfo *q = info_of(part);
    const StoreTensor *param = &part->param;
    const int axis = part->axis;
    const bool of_4 = q->bits == 4;
    const int64_t channels = param->dims[1 - axis], n = param->dims[axis];
    const int64_t channel = axis == 0 ? 1 : n, run = q->group ? q->group : n;
    const int64_t runs = runs_of(part);
    const size_t bytes = integers_bytes(part), of_scales = scales_bytes(part),
                 of_minima = minima_bytes(part);
    Rounded r = {.quant = part->quant,
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
static const char *why_stays(const Channels *channels, const ParamInfo *param, Quant quant)
{
    const intptr_t axis = (intptr_t)map_get(&channels->axis, param->name);
    return param->kept                    ? "kept"
           : param->type.dtype != DT_F32  ? "not f32"
           : param->type.rank != 2        ? "no matrix"
           : axis == UNKNOWN              ? "no product by it, and no lookup in it, is of integers"
           : axis == SEVERAL              ? "products sum over both of its axes"
           : axis == READ                 ? "other ops read it, too"
           : quant_info(quant)->bits == 4 ? why_no_nibbles(&param->type, axis - 1)
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

static QuantisedPart part_of(const Channels *channels, const ParamInfo *info, Quant asked)
{
    const Quant quant = info->quant ? info->quant : asked;
    return (QuantisedPart){.param = tensor_of(info),
                           .stays = why_stays(channels, info, quant),
                           .quant = quant,
                           .axis = (int)(intptr_t)map_get(&channels->axis, info->name) - 1};
}

static size_t part_bytes(const QuantisedPart *part)
{
    return part->stays ? aligned(tensor_bytes(&part->param))
                       : aligned(integers_bytes(part)) + aligned(scales_bytes(part)) +
                             aligned(minima_bytes(part));
}

/* ---- tables in q8_0 ---- */

/* The rows of the largest table, whose vocabulary is the output's. */
static int64_t most_rows(const Channels *channels, const QuantisedPart *parts, size_t n)
{
    int64_t most = 0;
    for (size_t i = 0; i < n; i++)
        if (map_has(&channels->tables, parts[i].param.name) && parts[i].param.dims[0] > most)
            most = parts[i].param.dims[0];
    return most;
}

/* Tables in which rows are looked up, and the matrix that gives the logits, lose most in 4 bits:
 * half of what a small language model loses is lost in its embedding, which the output shares. They
 * become q8_0, the smallest first, as long as all of them make the run at most a twentieth larger.
 * A param whose type was given keeps that. */
static void refine_tables(const Channels *channels, const Module *module, QuantisedPart *parts,
                          TextList *keep, Arena *arena)
{
    enum { SHARE = 20 };
    const size_t n = module->params.count;
    const int64_t rows = most_rows(channels, parts, n);
    size_t all = 0, added = 0;
    for (size_t i = 0; i < n; i++)
        all += part_bytes(&parts[i]);
    for (;;) {
        QuantisedPart *least = NULL;
        for (size_t i = 0; i < n; i++) {
            QuantisedPart *part = &parts[i];
            const bool serves = map_has(&channels->tables, part->param.name) ||
                                (!part->stays && part->param.dims[1 - part->axis] == rows);
            if (serves && !part->stays && info_of(part)->bits == 4 &&
                !module->params.data[i]->quant &&
                (!least || part->param.count < least->param.count))
                least = part;
        }
        if (!least)
            return;
        QuantisedPart finer = *least;
        finer.quant = QUANT_Q8_0;
        added += part_bytes(&finer) - part_bytes(least);
        if (added * SHARE > all)
            return;
        *least = finer;
        module_param(module, least->param.name)->quant = finer.quant;
        vec_push(arena, *keep,
                 arena_printf(arena, "%s=%s", least->param.name, info_of(&finer)->word));
    }
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
        add_quantised(t, part, integers, about);
    if (ok && !isfinite(about->error))
        ok = job_error(t->job, "%s: '%s' has an element that is not finite%s", file->shards->path,
                       part->param.name,
                       info_of(part)->group ? ", or too large for a scale in f16" : "");
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
                            .quant = part->stays ? NULL : info_of(part)->word,
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
                     quant_info(t->quant)->bits == 4 ? "; try --dtype int8 or q8_0" : "");
}

/* False after an error: a file of a type with minima has them for all integers of 4 bits. */
static bool check_minima(const Tensors *t, const QuantiseOptions *o, const QuantisedPart *part)
{
    const QuantInfo *q = info_of(part), *most = quant_info(t->quant);
    if (part->stays || q->bits != 4 || !most->has_minimum || q->has_minimum)
        return true;
    return job_error(t->job,
                     "--keep: '%s' becomes %s, which a run in %s cannot hold: use --dtype %s, and "
                     "--keep PATTERN=%s",
                     part->param.name, q->word, o->dtype, q->word, o->dtype);
}

static bool add_params(Tensors *t, const Module *module, const Channels *channels,
                       const QuantiseOptions *o, const WeightsFile *file, const char *folder,
                       TextList *keep, QuantisedParams *params)
{
    const size_t n = module->params.count;
    QuantisedPart *parts = ARENA_ARRAY(t->job->arena, QuantisedPart, n + 1);
    for (size_t i = 0; i < n; i++)
        parts[i] = part_of(channels, module->params.data[i], t->quant);
    refine_tables(channels, module, parts, keep, t->job->arena);
    for (size_t i = 0; i < n; i++)
        t->bytes += part_bytes(&parts[i]);
    bool ok = check_parts(t, o, parts, n);
    for (size_t i = 0; ok && i < n; i++)
        ok = check_minima(t, o, &parts[i]);
    ok = ok && room_open(t, folder);
    for (size_t i = 0; ok && i < n; i++)
        ok = add_param(t, file, &parts[i], params);
    return ok;
}

static bool write_params(Job *job, Session *session, const QuantiseOptions *o,
                         const char *checkpoint, const char *made, TextList *keep,
                         QuantisedParams *params)
{
    StMeta meta[] = {{ST_QUANTISED, o->dtype}, {ST_THRESHOLDS, thresholds_in(job, checkpoint)}};
    const char *folder = file_in(job->arena, made, RUN_WEIGHTS);
    Channels channels;
    WeightsFile file;
    Tensors t = {.job = job, .quant = quant_of_word(o->dtype), .room = MAP_FAILED};
    if (!patterns_check(job, "keep", &o->keep, session->model->module) ||
        !patterns_keep(job, &o->keep, session->model->module))
        return false;
    if (!find_channels(job, session, &channels) || !file_make_folder(&job->diags, folder))
        return false;
    if (!weights_open(job, session->model, checkpoint, &file))
        return job_error(job, "%s cannot be read", checkpoint);
    bool ok = add_params(&t, session->model->module, &channels, o, &file, folder, keep, params);
    weights_close(&file);
    ok = ok && st_write_checked(&job->diags, file_in(job->arena, folder, "model.safetensors"),
                                t.list.data, (int64_t)t.list.count, meta, meta[1].value ? 2 : 1);
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
    return new_folder_end(
        &new,
        write_params(job, &run->session, o, checkpoint, new.made, &record->keep, params) &&
            run_folder_write(job, new.made, &run->session, run->vocab, &run->columns, record) &&
            published_keep(job, o->run, NULL, new.made));
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
        return job_error(job,
                         "%s is a model that is not trained: train it first (tfc train %s -o RUN "
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
