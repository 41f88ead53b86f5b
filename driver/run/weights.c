/* Initial values, and params from checkpoints of other programs. */
#include "driver/run/weights.h"

#include "base/element.h"
#include "base/file.h"
#include "driver/ports/patterns.h"
#include "driver/run/checkpoints.h"
#include "driver/run/record.h"
#include "driver/run/weight_parts.h"
#include "driver/ports/ports.h"
#include "passes/optimizer.h"
#include "runtime/train/checkpoint.h"

#include <math.h>
#include <string.h>

typedef TextList Names;

/* Missing: the tensors that were asked for and are not there, each with its param; and those
 * that were taken. */
typedef struct Missing {
    Names tensors, params;
    Map taken;
} Missing;

static Missing missing_new(Job *job)
{
    Missing missing = {0};
    map_init(&missing.taken, job->arena);
    return missing;
}

/* The part's names are spoken for, those of tied tensors too. */
static void take_names(const WeightNames *names, const WeightPart *part, Missing *missing)
{
    WeightPart one = *part;
    for (one.n_theirs = 1; one.theirs < part->theirs + part->n_theirs; one.theirs++) {
        const Shard *found = weight_names_find(names, &one);
        if (found)
            map_set(&missing->taken, found->tensor->name, missing);
    }
}

/* Reads the values of a tensor of floats, some at a time. */
static bool check_finite(Job *job, const Shard *from)
{
    enum { AT_ONCE = 1 << 14 };
    static float values[AT_ONCE];
    const StTensor *tensor = from->tensor;
    StNotFinite bad = {0};
    for (int64_t i = 0; i < tensor->count; i += AT_ONCE) {
        const int64_t left = tensor->count - i, n = left < AT_ONCE ? left : AT_ONCE;
        if (!st_floats(tensor, i, n, values))
            break;
        for (int64_t k = 0; k < n; k++)
            if (!isfinite(values[k]) && !bad.n++)
                bad.first = i + k;
    }
    return st_check_finite(&job->diags, from->file->path, tensor, bad, 0, false);
}

static bool read_part(Job *job, const Shard *from, const WeightPart *part, StoreTensor *param)
{
    if (!st_check_whole(&job->diags, from->file, from->tensor))
        return false;
    if (!part_fits(job, part, from, param))
        return false;
    if (!param->data)
        return check_finite(job, from);
    return part_read(part, from->tensor, param) ||
           job_error(
               job,
               "%s: the tensor '%s' has values that the element type of the param '%s' cannot take",
               from->file->path, from->tensor->name, param->name);
}

/* A param as a checkpoint has it under the name `own`. */
static bool load_whole(Job *job, const WeightNames *names, const char *own, StoreTensor *param,
                       Missing *missing)
{
    const WeightMap whole = whole_map(job->arena, param, own);
    const Shard *from = weight_names_own(names, own);
    if (from) {
        map_set(&missing->taken, from->tensor->name, missing);
        return read_part(job, from, whole.parts, param);
    }
    vec_push(job->arena, missing->tensors, own);
    vec_push(job->arena, missing->params, param->name);
    return true;
}

/* A param by its map; NULL: by its own name. */
static bool load_param(Job *job, const WeightNames *names, const WeightMap *map, StoreTensor *param,
                       Missing *missing)
{
    if (!map)
        return load_whole(job, names, param->name, param, missing);
    bool ok = true;
    for (int p = 0; p < map->n_parts; p++) {
        const Shard *from = weight_names_find(names, &map->parts[p]);
        if (from) {
            take_names(names, &map->parts[p], missing);
            ok = read_part(job, from, &map->parts[p], param) && ok;
            continue;
        }
        if (map->parts[p].is_optional) {
            part_initialise(&map->parts[p], param);
            continue;
        }
        vec_push(job->arena, missing->tensors, map->parts[p].theirs[0]);
        vec_push(job->arena, missing->params, param->name);
    }
    return ok;
}

/* ---- other shapes ---- */

/* Whether a param could be read as load_param does: each tensor that is there has its shape. *any:
 * one is there. */
static bool param_fits(Job *job, const WeightNames *names, const StoreTensor *param,
                       const WeightMap *map, bool *any)
{
    Job quiet = job_quiet(job, job->arena);
    const WeightMap own = whole_map(job->arena, param, param->name);
    bool fits = true;
    *any = false;
    for (int p = 0; p < (map ? map->n_parts : 1); p++) {
        const WeightPart *part = &(map ? map : &own)->parts[p];
        const Shard *from =
            map ? weight_names_find(names, part) : weight_names_own(names, param->name);
        *any = *any || from;
        fits = fits && (!from || part_fits(&quiet, part, from, param));
    }
    return fits;
}

/* The map of a param that had a row for each token along the axis before the vocabulary grew. */
static WeightMap *map_before(Arena *arena, const WeightMap *map, const GrownRows *grown, int axis)
{
    WeightMap *before = ARENA_NEW(arena, WeightMap);
    *before = *map;
    before->parts = ARENA_ARRAY(arena, WeightPart, map->n_parts);
    for (int p = 0; p < map->n_parts; p++) {
        WeightPart *part = &before->parts[p];
        *part = map->parts[p];
        for (int i = 0; i < part->rank; i++)
            if (part->axes[i].ours == axis && part->axes[i].size == grown->now)
                part->axes[i].size = grown->before;
    }
    return before;
}

/* Reads a param of which the checkpoint has fewer rows. *is: it is one. False after an error. */
static bool load_grown(Job *job, const WeightNames *names, const GrownRows *grown,
                       StoreTensor *param, Missing *missing, bool *is)
{
    const WeightMap *map = weight_names_map(names, param->name);
    *is = false;
    for (int axis = 0; grown->was && axis < param->rank && !*is; axis++) {
        if (param->dims[axis] != grown->now)
            continue;
        StoreTensor before = grown_before(grown, param, axis);
        const WeightMap *was = map ? map_before(job->arena, map, grown, axis) : NULL;
        if (!param_fits(job, names, &before, was, is) || !*is) {
            *is = false;
            continue;
        }
        Arena *scratch = arena_scratch(job->arena);
        const size_t bytes = (size_t)before.count * element_info(before.type)->bytes;
        before.data = ARENA_ARRAY(scratch, double, bytes / sizeof(double) + 1); /* aligned */
        const bool ok = load_param(job, names, was, &before, missing);
        if (ok)
            grown_fill(grown, &before, axis, param);
        arena_free(scratch);
        if (!ok)
            return false;
    }
    return true;
}

/* Misfits: names of params that do not come from a checkpoint as it has them, for the notes. */
typedef struct Misfits {
    Names anew, grown;
} Misfits;

static bool is_among(const Names *names, const char *name)
{
    for (size_t i = 0; names && i < names->count; i++)
        if (!strcmp(names->data[i], name))
            return true;
    return false;
}

/* Rows of what has another place, where there are as many. False after an error. */
static bool move_rows(Job *job, const WeightsLoad *how, StoreTensor *param)
{
    bool ok = true;
    for (int g = 0; g < how->n_grown && param->data && ok; g++) {
        const GrownRows *grown = &how->grown[g];
        if (grown->params && grown->was && grown->moves && grown_takes(grown, param->name))
            ok = grown_move(job, grown, param);
    }
    return ok;
}

/* Fills a param as `how` says. */
static bool load_as(Job *job, const WeightNames *names, const WeightsLoad *how, StoreTensor *param,
                    Missing *missing, Misfits *misfits)
{
    const WeightMap *map = weight_names_map(names, param->name);
    Missing allowed = missing_new(job);
    const bool is_fresh = how->fresh && patterns_meet(how->fresh, param->name);
    bool any = false, is_grown = false, is_anew = is_among(how->anew, param->name);
    const bool fits = param_fits(job, names, param, map, &any);
    for (int g = 0; g < how->n_grown && param->data && !is_grown && !is_anew && !fits; g++)
        if (grown_takes(&how->grown[g], param->name) &&
            !load_grown(job, names, &how->grown[g], param, missing, &is_grown))
            return false;
    is_anew = is_anew || (is_fresh && !fits && !is_grown);
    if (is_anew)
        vec_push(job->arena, misfits->anew, param->name);
    if (is_grown)
        vec_push(job->arena, misfits->grown, param->name);
    return is_anew || is_grown ||
           (load_param(job, names, map, param, is_fresh ? &allowed : missing) &&
            move_rows(job, how, param));
}

/* "a, b and 3 more". */
static const char *few_names(Arena *arena, const Names *names)
{
    enum { FEW = 4 };
    const char *text = "";
    for (size_t i = 0; i < names->count && i < FEW; i++)
        text = arena_printf(arena, "%s%s%s", text, i ? ", " : "", names->data[i]);
    return names->count <= FEW ? text
                               : arena_printf(arena, "%s and %zu more", text, names->count - FEW);
}

static void note_misfits(Job *job, const Shards *shards, const WeightsLoad *how,
                         const Misfits *misfits)
{
    if (misfits->anew.count)
        diag_remark(&job->diags, (Loc){0},
                    "%s begin%s with the model's initial values, not with those of %s",
                    few_names(job->arena, &misfits->anew), misfits->anew.count == 1 ? "s" : "",
                    shards->path);
    for (int g = 0; g < how->n_grown && misfits->grown.count; g++) {
        int32_t fresh = 0;
        for (int32_t id = 0; how->grown[g].was && id < how->grown[g].now; id++)
            fresh += how->grown[g].was[id] < 0;
        Names of_these = {0};
        for (size_t i = 0; i < misfits->grown.count; i++)
            if (grown_takes(&how->grown[g], misfits->grown.data[i]))
                vec_push(job->arena, of_these, misfits->grown.data[i]);
        if (fresh && of_these.count)
            diag_remark(
                &job->diags, (Loc){0},
                "%d of the %d %s are new: their rows of %s begin with the mean of those that %s has",
                (int)fresh, (int)how->grown[g].now, how->grown[g].what,
                few_names(job->arena, &of_these), shards->path);
    }
}

/* ---- what is missing ---- */

/* A tensor whose name ends as the missing one does, or the reverse: "model.x" for "x". */
static const char *with_other_front(const Names *free, const char *name)
{
    for (size_t i = 0; i < free->count; i++) {
        const char *there = free->data[i];
        size_t a = strlen(there), b = strlen(name), n = a < b ? a : b;
        bool dot = a != b && (a > b ? there[a - n - 1] : name[b - n - 1]) == '.';
        if (dot && !strcmp(there + a - n, name + b - n))
            return there;
    }
    return NULL;
}

static const char *nearest(Job *job, const Names *free, const char *name)
{
    const char *there = with_other_front(free, name);
    if (there)
        return arena_printf(job->arena, "; did you mean '%s'?", there);
    return text_suggest(job->arena, "'", name, free->data, free->count);
}

/* The tensors that no param takes. */
static Names free_names(Job *job, const Shards *shards, const Missing *missing)
{
    Names names = {0};
    for (size_t i = 0; i < shards->names.count; i++)
        if (!map_has(&missing->taken, shards->names.data[i]))
            vec_push(job->arena, names, shards->names.data[i]);
    return names;
}

/* The options that allow all that is missing. */
static const char *new_options(Job *job, Store *store, const Missing *missing)
{
    Names all = {0};
    for (int64_t i = 0; i < store_count(store); i++)
        if (store_is_param(store_at(store, i)))
            vec_push(job->arena, all, store_at(store, i)->name);
    return patterns_options(job->arena, "new", &all, &missing->params);
}

/* `store` NULL: nothing may be missing. */
static bool report_missing(Job *job, const Shards *shards, Store *store, const Missing *missing)
{
    size_t n = missing->tensors.count;
    if (!n)
        return true;
    Names free = {0}; /* slots of an optimizer are no params */
    const Names all = free_names(job, shards, missing);
    for (size_t i = 0; i < all.count; i++)
        if (strncmp(all.data[i], OPTIMIZER_SLOTS, strlen(OPTIMIZER_SLOTS)))
            vec_push(job->arena, free, all.data[i]);
    if (store && !free.count)
        return job_error(job, "%s: %zu of the model's tensor%s: %s begins %s anew", shards->path, n,
                         n == 1 ? " is missing" : "s are missing", new_options(job, store, missing),
                         n == 1 ? "it" : "them");
    Text text = {0};
    if (n == 1)
        text_string(&text, "a tensor is missing:");
    else
        text_add(&text, "%zu of the model's tensors are missing:", n);
    for (size_t i = 0; i < n; i++) {
        const char *tensor = missing->tensors.data[i], *param = missing->params.data[i];
        text_add(&text, "\n  '%s'", tensor);
        if (strcmp(tensor, param))
            text_add(&text, " (for the param '%s')", param);
        const char *type = shards_passed(shards, tensor);
        if (type)
            text_add(&text, ": the file has it as %s, which is not read",
                     text_visible_name(job->arena, type));
        else
            text_string(&text, nearest(job, &free, tensor));
    }
    if (store)
        text_add(&text, "\n%s begins %s anew", new_options(job, store, missing),
                 n == 1 ? "it" : "them");
    job_error(job, "%s: %s", shards->path, text.data ? text.data : "tensors are missing");
    text_free(&text);
    return false;
}

/* ---- stores ---- */

/* The paths with the checkpoints of those that are runs; NULL after an error. */
static const char *resolve_runs(Job *job, const char *path)
{
    const char *comma = file_exists(path) ? NULL : strchr(path, ','), *rest = NULL;
    if (comma) {
        rest = resolve_runs(job, comma + 1);
        path = arena_strndup(job->arena, path, (size_t)(comma - path));
    }
    if (is_run_folder(path))
        path = run_checkpoint(job, path, NULL);
    if (!path || (comma && !rest))
        return NULL;
    return comma ? arena_printf(job->arena, "%s,%s", path, rest) : path;
}

const char *weights_run(Arena *arena, const char *path)
{
    while (path && *path) {
        const char *comma = file_exists(path) ? NULL : strchr(path, ','),
                   *one = comma ? arena_strndup(arena, path, (size_t)(comma - path)) : path;
        if (is_run_folder(one))
            return one;
        path = comma ? comma + 1 : NULL;
    }
    return NULL;
}

/* The number of rows by which a tensor differs from a param that has one for each of `vocab`
 * tokens; 0: it differs otherwise, or not. */
static int64_t other_rows(const StTensor *tensor, const StoreTensor *param, int64_t vocab)
{
    int64_t other = 0;
    int differ = tensor->rank != param->rank;
    for (int d = 0; !differ && d < param->rank; d++) {
        if (tensor->dims[d] == param->dims[d])
            continue;
        if (other || param->dims[d] != vocab)
            differ++;
        other = tensor->dims[d];
    }
    return differ ? 0 : other;
}

/* Behind errors of tensors that do not fit: whether it is the vocabulary that does not. */
static void note_vocabulary(Job *job, const WeightNames *names, const WeightsLoad *how,
                            Store *store)
{
    const Model *model = names->model;
    const ModelPorts ports = ports_of(model->module);
    const GrownRows *other = how->n_grown ? &how->grown[0] : NULL;
    const int64_t sides[] = {other ? other->now : ports.vocab,
                             ports_vocabulary(model->module, &ports, ports.source)};
    for (int k = 0; k < 2; k++)
        for (int64_t i = 0; sides[k] && i < store_count(store); i++) {
            const StoreTensor *param = store_at(store, i);
            const Shard *from = store_is_param(param) ? weight_names_own(names, param->name) : NULL;
            const int64_t rows = from ? other_rows(from->tensor, param, sides[k]) : 0;
            if (!rows)
                continue;
            diag_note(
                &job->diags, (Loc){0},
                "the vocabulary has %lld tokens, and that of the weights %lld: give theirs by --vocab, the folder of their run or a file",
                (long long)sides[k], (long long)rows);
            return;
        }
}

bool weights_load(Job *job, const Model *model, Store *store, const char *path,
                  const WeightsLoad *how)
{
    const WeightsLoad plain = {0};
    how = how ? how : &plain;
    const TextList *fresh = how->fresh;
    Misfits misfits = {0};
    if (!(path = resolve_runs(job, path)))
        return false;
    Shards *shards = shards_open_within(&job->diags, job->arena, job_reach(job, NULL), path);
    if (!shards)
        return false;
    WeightNames names;
    if (!weight_names_decide(job, model, shards, &names)) {
        shards_close(shards);
        return false;
    }
    Missing missing = missing_new(job);
    int wrong = 0;
    for (int64_t i = 0; i < store_count(store) && wrong < 5; i++) {
        StoreTensor *param = store_at(store, i);
        if (store_is_param(param))
            wrong += !load_as(job, &names, how, param, &missing, &misfits) ||
                     (param->data && /* while caches have it */
                      !checkpoint_check_tensor(&job->diags, path, param));
    }
    if (wrong)
        note_vocabulary(job, &names, how, store);
    bool ok = report_missing(job, shards, fresh ? store : NULL, &missing) && !wrong;
    if (ok)
        note_misfits(job, shards, how, &misfits);
    if (ok && how->unused)
        *how->unused = free_names(job, shards, &missing);
    shards_close(shards);
    store_changed(store);
    return ok;
}

bool weights_open(Job *job, const Model *model, const char *path, WeightsFile *file)
{
    Job quiet = job_quiet(job, job->arena);
    path = resolve_runs(&quiet, path);
    *file = (WeightsFile){.job = job};
    if (path)
        file->shards = shards_open_within(&quiet.diags, job->arena, job_reach(job, NULL), path);
    if (file->shards && weight_names_decide(&quiet, model, file->shards, &file->names))
        return true;
    weights_close(file);
    return false;
}

bool weights_read(const WeightsFile *file, StoreTensor *param)
{
    Missing missing = missing_new(file->job);
    const WeightMap *map = weight_names_map(&file->names, param->name);
    return load_param(file->job, &file->names, map, param, &missing) &&
           report_missing(file->job, file->shards, NULL, &missing);
}

void weights_close(WeightsFile *file)
{
    shards_close(file->shards);
    file->shards = NULL;
}

bool weights_unused(Job *job, const Model *model, const char *path, TextList *unused)
{
    Shards *shards = shards_open_within(&job->diags, job->arena, job_reach(job, NULL), path);
    if (!shards)
        return false;
    WeightNames names;
    const bool ok = weight_names_decide(job, model, shards, &names);
    Missing missing = missing_new(job);
    for (size_t i = 0; ok && i < model->module->params.count; i++) {
        const char *name = model->module->params.data[i]->name;
        const WeightMap *map = weight_names_map(&names, name);
        for (int p = 0; map && p < map->n_parts; p++)
            take_names(&names, &map->parts[p], &missing);
        const Shard *own = map ? NULL : weight_names_own(&names, name);
        if (own)
            map_set(&missing.taken, own->tensor->name, &missing);
    }
    *unused = free_names(job, shards, &missing);
    shards_close(shards);
    return ok;
}

/* load("FILE", "TENSOR"): the map holds where FILE has no tensor of that name. `unread`: files that
 * cannot be read, which are reported once. */
static bool load_initial(Job *job, const Model *model, StoreTensor *param, Map *unread)
{
    if (map_has(unread, param->file))
        return false;
    Shards *shards = shards_open_within(&job->diags, job->arena, model->reach, param->file);
    if (!shards) {
        diag_note(&job->diags, module_param(model->module, param->name)->loc, "used here");
        map_set(unread, param->file, param);
        return false;
    }
    const WeightMap *map = weight_map(model, param->name);
    const WeightNames names = {.model = model, .shards = shards};
    Missing missing = missing_new(job);
    bool ok = !map || shards_find(shards, param->tensor)
                  ? load_whole(job, &names, param->tensor, param, &missing)
                  : load_param(job, &names, map, param, &missing);
    ok = report_missing(job, shards, NULL, &missing) && ok &&
         checkpoint_check_tensor(&job->diags, param->file, param);
    shards_close(shards);
    return ok;
}

bool weights_initialise(Job *job, const Model *model, Store *store, uint64_t seed)
{
    if (!store_initialise(store, seed))
        return job_no_memory(job);
    bool ok = true;
    Map unread;
    map_init(&unread, job->arena);
    for (int64_t i = 0; i < store_count(store); i++) {
        StoreTensor *tensor = store_at(store, i);
        if (tensor->init == TFC_INIT_FILE && tensor->data)
            ok = load_initial(job, model, tensor, &unread) && ok;
    }
    store_changed(store);
    return ok;
}
