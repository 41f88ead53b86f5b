/* Own names or published ones; see weight_names.h. */
#include "driver/run/weight_names.h"

#include "driver/run/weight_parts.h"

#include <string.h>

/* ---- finding ---- */

/* Whether the tensors of a checkpoint have names that begin so. */
static bool has_front(const Shards *shards, const char *name, size_t length)
{
    for (size_t i = 0; i < shards->names.count; i++)
        if (!strncmp(shards->names.data[i], name, length))
            return true;
    return false;
}

/* Published files leave out the front that all names have in the program: "transformer.wte.weight"
 * is "wte.weight" where no name begins with "transformer.". */
static const Shard *find_tensor(const Shards *shards, const char *name)
{
    const Shard *found = shards_find(shards, name);
    const char *dot = strchr(name, '.');
    bool other = !found && dot && !has_front(shards, name, (size_t)(dot + 1 - name));
    return other ? shards_find(shards, dot + 1) : found;
}

static bool is_own(const WeightNames *names, const Shard *shard)
{
    return shard && names->own && names->own[shard->item];
}

const Shard *weight_names_find(const WeightNames *names, const WeightPart *part)
{
    for (int i = 0; i < part->n_theirs; i++) {
        const Shard *found = find_tensor(names->shards, part->theirs[i]);
        if (found && !is_own(names, found))
            return found;
    }
    return NULL;
}

const Shard *weight_names_own(const WeightNames *names, const char *param)
{
    return find_tensor(names->shards, param);
}

/* The first part's that there is. */
static const Shard *find_parts(const WeightNames *names, const WeightMap *map)
{
    const Shard *found = NULL;
    for (int p = 0; !found && p < map->n_parts; p++)
        found = weight_names_find(names, &map->parts[p]);
    return found;
}

/* Whether published files have any of the param for certain. */
static bool is_certain(const WeightMap *map)
{
    for (int p = 0; p < map->n_parts; p++)
        if (!map->parts[p].is_optional)
            return true;
    return false;
}

/* Files without a param of the weights block are decided by the others of the path. */
static bool has_all_own(const WeightNames *names)
{
    bool all = names->own && names->shards->n_items;
    for (int k = 0; all && k < names->shards->n_items; k++)
        all = names->own[k];
    return all;
}

const WeightMap *weight_names_map(const WeightNames *names, const char *param)
{
    const WeightMap *map = weight_map(names->model, param);
    const Shard *own = shards_find(names->shards, param),
                *published = map ? find_parts(names, map) : NULL;
    const bool is_last = is_own(names, own) && (!published || published->item < own->item);
    return is_last || has_all_own(names) ? NULL : map;
}

/* ---- deciding ---- */

/* Evidence: the first tensors of an item that only one kind of names finds, each with its map;
 * `perhaps`: of an own name, while all that published files call so is optional there. */
typedef struct Evidence {
    const Shard *own, *published, *perhaps;
    const WeightMap *own_map, *published_map;
    bool misfits; /* a tensor has the own name of a param, and another shape */
} Evidence;

static bool has_shape(const StTensor *tensor, const Type *type)
{
    bool same = tensor->rank == type->rank;
    for (int d = 0; same && d < type->rank; d++)
        same = tensor->dims[d] == type->dims[d].size;
    return same;
}

static void look_at(const WeightNames *names, const ParamInfo *param, Evidence *evidence)
{
    const WeightMap *map = weight_map(names->model, param->name);
    const Shard *own = map ? shards_find(names->shards, param->name) : NULL;
    const Shard *published = map ? find_parts(names, map) : NULL;
    if (own && !has_shape(own->tensor, &param->type))
        evidence[own->item].misfits = true;
    if (own && !published && !is_certain(map))
        evidence[own->item].perhaps = own;
    else if (own && !published && !evidence[own->item].own) {
        evidence[own->item].own = own;
        evidence[own->item].own_map = map;
    } else if (published && !own && !evidence[published->item].published) {
        evidence[published->item].published = published;
        evidence[published->item].published_map = map;
    }
}

/* By the metadata of what tfc writes: checkpoints and ONNX models, and int8 and int4. */
static bool is_marked(const Shards *shards, int item)
{
    for (size_t i = 0; i < shards->names.count; i++) {
        const Shard *shard = shards_find(shards, shards->names.data[i]);
        const char *format = st_meta(shard->file, ST_FORMAT);
        if (shard->item == item)
            return (format && !strcmp(format, ST_FORMAT_OWN)) || st_meta(shard->file, ST_QUANTISED);
    }
    return false;
}

static bool decide_item(Job *job, const Shards *shards, int item, const Evidence *e, bool *own)
{
    if (e->own && e->published)
        return job_error(
            job,
            "%s has names of two kinds: '%s' is the model's own name of a param, which its weights "
            "block calls '%s'; '%s' is what the weights block calls '%s': a file has either kind, "
            "and files of both are given as FILE,FILE",
            e->own->file->path, e->own->tensor->name, e->own_map->parts[0].theirs[0],
            e->published->tensor->name, e->published_map->ours);
    *own = !e->published && (e->own || e->perhaps || (is_marked(shards, item) && !e->misfits));
    return true;
}

bool weight_names_decide(Job *job, const Model *model, const Shards *shards, WeightNames *names)
{
    const size_t n = (size_t)shards->n_items + 1;
    const Module *module = model->module;
    Evidence *evidence = ARENA_ARRAY(job->arena, Evidence, n);
    bool *own = ARENA_ARRAY(job->arena, bool, n), ok = true;
    memset(evidence, 0, n * sizeof *evidence);
    *names = (WeightNames){.model = model, .shards = shards};
    for (size_t i = 0; i < module->params.count; i++)
        look_at(names, module->params.data[i], evidence);
    for (int k = 0; k < shards->n_items; k++)
        ok = decide_item(job, shards, k, &evidence[k], &own[k]) && ok;
    names->own = own;
    return ok;
}
