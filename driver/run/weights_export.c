/* Params as a checkpoint for other programs: the weights block read backwards.
 *
 *   ours = transpose("w")                     w = transpose(ours)
 *   a = slice("w", 0, 0, 4), b = slice("w", 0, 4, 4)   w = a, then b
 *   ours = concat(["u", "v"])                 u and v are halves of ours
 *   a = "w", b = "w"                          w = a, if b is the same */
#include "base/bf16.h"
#include "base/file.h"
#include "base/half.h"
#include "driver/ports/patterns.h"
#include "driver/run/weight_parts.h"
#include "driver/run/weights.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Piece: a part of a param, and where it goes. */
typedef struct Piece {
    const StoreTensor *param;
    const WeightPart *part;
} Piece;

/* Target: a tensor of the file that is being made. */
typedef struct Target {
    const char *name;
    int rank;
    int64_t dims[MAX_RANK], count;
    VEC(Piece) pieces;
} Target;

typedef struct Export {
    Job *job;
    Map by_name;
    VEC(Target *) targets;
} Export;

static bool grow(Export *x, Target *target, const Piece *piece)
{
    const WeightPart *part = piece->part;
    if (target->pieces.count && part->rank != target->rank)
        return job_error(
            x->job,
            "the weights block reads the params '%s' and '%s' from one tensor, '%s', as %d and as %d axes: give them one form, or tensors of their own",
            target->pieces.data[0].param->name, piece->param->name, target->name, target->rank,
            part->rank);
    target->rank = part->rank;
    for (int i = 0; i < part->rank; i++) {
        int64_t end = part->axes[i].their_begin + part->axes[i].size;
        target->dims[i] = end > target->dims[i] ? end : target->dims[i];
    }
    vec_push(x->job->arena, target->pieces, *piece);
    return true;
}

static bool add_param(Export *x, const Model *model, const StoreTensor *param)
{
    WeightMap *map = ARENA_NEW(x->job->arena, WeightMap);
    const WeightMap *given = weight_map(model, param->name);
    *map = given ? *given : whole_map(x->job->arena, param, param->name);
    for (int p = 0; p < map->n_parts; p++) {
        const char *name = map->parts[p].theirs[0];
        if (map->parts[p].multiplies) {
            diag_error(
                &x->job->diags, map->loc,
                "the weights block makes the param '%s' a product with '%s', and the factors cannot be found again: this export leaves no place for it; the checkpoint of a run holds the param itself",
                param->name, name);
            return false;
        }
        Target *target = map_get(&x->by_name, name);
        if (!target) {
            target = ARENA_NEW(x->job->arena, Target);
            *target = (Target){.name = name};
            map_set(&x->by_name, name, target);
            vec_push(x->job->arena, x->targets, target);
        }
        if (!grow(x, target, &(Piece){param, &map->parts[p]}))
            return false;
    }
    return true;
}

/* Each element is written, and by whoever writes it again with the same value. */
static bool fill_target(Export *x, const Target *target, double *data, double *again,
                        uint8_t *written)
{
    memset(written, 0, (size_t)target->count);
    for (size_t i = 0; i < target->pieces.count; i++) {
        const Piece *piece = &target->pieces.data[i];
        memset(again, 0xFF, sizeof *again * (size_t)target->count);
        part_write(piece->part, piece->param, target->dims, again);
        static const uint64_t untouched = UINT64_MAX; /* a NaN that no arithmetic gives */
        for (int64_t e = 0; e < target->count; e++) {
            if (!memcmp(&again[e], &untouched, sizeof untouched))
                continue;
            if (written[e] && memcmp(&data[e], &again[e], sizeof data[e]))
                return job_error(
                    x->job,
                    "the weights block reads '%s' into '%s' and into another param, and these differ now: one tensor cannot hold both; the checkpoint of a run does",
                    target->name, piece->param->name);
            data[e] = again[e];
            written[e] = 1;
        }
    }
    return !memchr(written, 0, (size_t)target->count) ||
           job_error(
               x->job,
               "the params do not fill the tensor '%s', of which '%s' is a slice: the rest of it is not in the model",
               target->name, target->pieces.data[0].param->name);
}

/* The elements as the file holds them; malloc'd. */
static void *converted(const double *data, int64_t n, StType type)
{
    void *out = memory_resized(NULL, sizeof(float) * (size_t)n);
    for (int64_t i = 0; i < n; i++)
        if (type == ST_I32)
            ((int32_t *)out)[i] = (int32_t)data[i];
        else
            ((float *)out)[i] = (float)data[i];
    return out;
}

/* Whole numbers stay such; all else is f32. */
static StType export_type(const Target *target)
{
    for (size_t i = 0; i < target->pieces.count; i++)
        if (target->pieces.data[i].param->type != TFC_I32 ||
            target->pieces.data[i].part->scale != 1)
            return ST_F32;
    return ST_I32;
}

static bool make_tensor(Export *x, Target *target, StTensor *tensor)
{
    target->count = 1;
    for (int i = 0; i < target->rank; i++)
        target->count *= target->dims[i];
    size_t n = (size_t)target->count;
    double *data = memory_resized(NULL, sizeof *data * n);
    double *again = memory_resized(NULL, sizeof *again * n);
    uint8_t *written = memory_resized(NULL, n);
    bool ok = fill_target(x, target, data, again, written);
    *tensor = (StTensor){.name = target->name, .type = export_type(target), .rank = target->rank};
    memcpy(tensor->dims, target->dims, sizeof target->dims);
    tensor->data = ok ? converted(data, target->count, tensor->type) : NULL;
    free(data);
    free(again);
    free(written);
    return ok;
}

static bool is_wanted(const WeightsExport *what, const StoreTensor *param)
{
    bool asked = !what->only || !what->only->count || patterns_meet(what->only, param->name);
    return store_is_param(param) && asked &&
           !(what->without && map_has(what->without, param->name));
}

bool weights_collect(Job *job, const Model *model, Store *store, const WeightsExport *what,
                     WeightTensors *collected)
{
    Export x = {.job = job};
    map_init(&x.by_name, job->arena);
    bool ok = true;
    for (int64_t i = 0; ok && i < store_count(store); i++)
        if (is_wanted(what, store_at(store, i)))
            ok = add_param(&x, model, store_at(store, i));
    *collected =
        (WeightTensors){.tensors = ARENA_ARRAY(job->arena, StTensor, x.targets.count + 1),
                        .params = ARENA_ARRAY(job->arena, const char *, x.targets.count + 1)};
    while (ok && collected->n < (int64_t)x.targets.count) {
        Target *target = x.targets.data[collected->n];
        collected->params[collected->n] = target->pieces.data[0].param->name;
        ok = make_tensor(&x, target, &collected->tensors[collected->n++]);
    }
    return ok;
}

void weights_collected_free(WeightTensors *collected)
{
    for (int64_t i = 0; i < collected->n; i++)
        free((void *)collected->tensors[i].data);
    *collected = (WeightTensors){0};
}

static int64_t elements_of(const StTensor *tensor)
{
    int64_t n = 1;
    for (int i = 0; i < tensor->rank; i++)
        n *= tensor->dims[i];
    return n;
}

bool weights_check_range(Job *job, const WeightTensors *collected, int64_t i, float limit,
                         const char *narrow)
{
    const StTensor *tensor = &collected->tensors[i];
    const char *param = collected->params[i];
    const float *values = tensor->data;
    for (int64_t k = 0, n = elements_of(tensor); k < n; k++)
        if (!(fabsf(values[k]) < limit))
            return job_error(
                job,
                "the param '%s'%s has the element %g, which %s cannot hold: --type f32 writes it",
                param,
                strcmp(param, tensor->name)
                    ? arena_printf(job->arena, " ('%s' there)", tensor->name)
                    : "",
                (double)values[k], narrow);
    return true;
}

const HalfType *half_type(const char *name)
{
    static const HalfType types[] = {{"f16", ST_F16, HALF_LIMIT}, {"bf16", ST_BF16, BF16_LIMIT}};
    for (int i = 0; i < 2; i++)
        if (!strcmp(types[i].name, name))
            return &types[i];
    return NULL;
}

/* In place: of each element the first two of its four bytes' places are read before. */
static void halve(StTensor *tensor, StType type)
{
    uint16_t *halves = (void *)tensor->data;
    const char *floats = tensor->data;
    const int64_t n = elements_of(tensor);
    for (int64_t i = 0; i < n; i++) {
        float value;
        memcpy(&value, floats + (size_t)i * sizeof value, sizeof value);
        const uint16_t half = type == ST_F16 ? half_from_float(value) : bf16_from_float(value);
        memcpy(&halves[i], &half, sizeof half);
    }
    tensor->type = type;
}

/* False after an error: an element is beyond its type. */
static bool halve_all(Job *job, const WeightsExport *what, WeightTensors *all)
{
    bool ok = true;
    for (int64_t i = 0; ok && i < all->n; i++) {
        StTensor *tensor = &all->tensors[i];
        const HalfType *own = what->types ? map_get(what->types, tensor->name) : NULL;
        const HalfType *half = own ? own : what->half;
        if (tensor->type != ST_F32 || !tensor->data || !half)
            continue;
        ok = weights_check_range(job, all, i, half->limit, half->name);
        if (ok)
            halve(tensor, half->type);
    }
    return ok;
}

/* FOLDER of FOLDER/NAME; NULL: the tensor is none of a module. */
static const char *module_of(Arena *arena, const StTensor *tensor)
{
    const char *slash = strchr(tensor->name, '/');
    return slash ? arena_strndup(arena, tensor->name, (size_t)(slash - tensor->name)) : NULL;
}

static bool write_tensors(Job *job, const char *path, const StTensor *tensors, int64_t n)
{
    /* Who reads it with PyTorch asks for the format; driver/run/ownership.c for the writer. */
    const StMeta metadata[] = {{"format", "pt"}, {"writer", "tfc"}};
    return st_write(&job->diags, path, tensors, n, metadata, 2);
}

/* The tensors of one module; NULL: those of none. */
static bool write_module(Job *job, const WeightTensors *all, const char *module, const char *path)
{
    StTensor *tensors = ARENA_ARRAY(job->arena, StTensor, all->n + 1);
    int64_t n = 0;
    for (int64_t i = 0; i < all->n; i++) {
        const char *own = module_of(job->arena, &all->tensors[i]);
        if (!own != !module || (own && strcmp(own, module) != 0))
            continue;
        tensors[n] = all->tensors[i];
        tensors[n++].name += own ? strlen(own) + 1 : 0;
    }
    return write_tensors(job, path, tensors, n);
}

static bool write_modules(Job *job, const WeightTensors *all, const char *path)
{
    const char *folder = file_folder(job->arena, path);
    Map written;
    map_init(&written, job->arena);
    bool ok = write_module(job, all, NULL, path);
    for (int64_t i = 0; ok && i < all->n; i++) {
        const char *own = module_of(job->arena, &all->tensors[i]);
        if (!own || map_has(&written, own))
            continue;
        map_set(&written, own, (void *)own);
        const char *to = file_in(job->arena, folder, own);
        ok = file_make_own_folder(&job->diags, folder, to) &&
             write_module(job, all, own, file_in(job->arena, to, file_name(path)));
    }
    return ok;
}

bool weights_export(Job *job, const Model *model, Store *store, const WeightsExport *what,
                    const char *path)
{
    WeightTensors all;
    bool ok = weights_collect(job, model, store, what, &all) && halve_all(job, what, &all);
    ok = ok && (what->folders ? write_modules(job, &all, path)
                              : write_tensors(job, path, all.tensors, all.n));
    weights_collected_free(&all);
    return ok;
}
