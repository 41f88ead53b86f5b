/* Initial values and foreign checkpoints. */
#include "driver/weights.h"

#include "runtime/data/safetensors.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

/* False: a whole number that the type of the tensor cannot hold, or a fraction that it
 * would cut off. Floats are rounded. */
static bool put_value(StoreTensor *tensor, int64_t i, double value, bool whole)
{
    switch (tensor->type) {
    case TFC_F64: ((double *)tensor->data)[i] = value; return true;
    case TFC_I32:
        if (!(value >= INT32_MIN && value <= INT32_MAX) || value != trunc(value))
            return false;
        ((int32_t *)tensor->data)[i] = (int32_t)value;
        return true;
    case TFC_BOOL: ((uint8_t *)tensor->data)[i] = value != 0; return true;
    default: ((float *)tensor->data)[i] = (float)value; return !whole || (double)(float)value == value;
    }
}

/* The part of a stored tensor that a param is made of. */
typedef struct Piece {
    int rank;
    int64_t dims[ST_MAX_RANK];    /* of the param */
    int64_t strides[ST_MAX_RANK]; /* of the stored tensor, along the param's axes */
    int64_t start;
} Piece;

static bool cut_piece(Job *job, const StFile *file, const StTensor *from, const WeightMap *map,
                      Piece *piece)
{
    *piece = (Piece){.rank = from->rank};
    int64_t stride = 1;
    for (int i = from->rank; i-- > 0; stride *= from->dims[i]) {
        piece->dims[i] = from->dims[i];
        piece->strides[i] = stride;
    }
    if (!map)
        return true;
    if (map->size > 0) {
        if (map->axis >= from->rank || map->start < 0 ||
            map->start > from->dims[map->axis] - map->size) {
            diag_error(&job->diags, map->loc,
                       "%s: the tensor '%s' is %s; there is no part %" PRId64 " … %" PRId64
                       " of its axis %d",
                       file->path, from->name, text_list(job->arena, from->dims, from->rank),
                       map->start, map->start + map->size - 1, map->axis);
            return false;
        }
        piece->start = map->start * piece->strides[map->axis];
        piece->dims[map->axis] = map->size;
    }
    if (map->transpose) {
        Piece straight = *piece;
        for (int i = 0; i < piece->rank; i++) {
            piece->dims[i] = straight.dims[piece->rank - 1 - i];
            piece->strides[i] = straight.strides[piece->rank - 1 - i];
        }
    }
    return true;
}

static bool copy_piece(const StTensor *from, const Piece *piece, StoreTensor *to)
{
    bool whole = !element_info(from->type)->is_float;
    int64_t index[ST_MAX_RANK] = {0}, at = piece->start;
    for (int64_t i = 0; i < to->count; i++) {
        if (!put_value(to, i, st_value(from, at), whole))
            return false;
        for (int d = piece->rank; d-- > 0;) {
            at += piece->strides[d];
            if (++index[d] < piece->dims[d])
                break;
            at -= piece->dims[d] * piece->strides[d];
            index[d] = 0;
        }
    }
    return true;
}

/* `from` into `to`; the shapes must agree once leading dimensions of 1 are left out. */
static bool fill_tensor(Job *job, const StFile *file, const StTensor *from, const WeightMap *map,
                        StoreTensor *to)
{
    Piece piece;
    if (!st_is_whole(file, from))
        return job_error(job, "%s is damaged: the checksum of '%s' is another", file->path,
                         from->name);
    if (!cut_piece(job, file, from, map, &piece))
        return false;
    int64_t count = 1;
    for (int i = 0; i < piece.rank; i++)
        count *= piece.dims[i];
    int skip = piece.rank > to->rank ? piece.rank - to->rank : 0;
    bool fits = count == to->count && piece.rank >= to->rank &&
                !memcmp(piece.dims + skip, to->dims, sizeof(int64_t) * (size_t)to->rank);
    if (!fits)
        return job_error(job, "%s: the tensor '%s' gives %s, but the param '%s' is %s", file->path,
                         from->name, text_list(job->arena, piece.dims, piece.rank), to->name,
                         text_list(job->arena, to->dims, to->rank));
    return copy_piece(from, &piece, to) ||
           job_error(job, "%s: the tensor '%s' has values that the element type of the param '%s' cannot take",
                     file->path, from->name, to->name);
}

static const WeightMap *find_map(const Model *model, const char *name)
{
    for (size_t i = 0; i < model->weights.count; i++)
        if (!strcmp(model->weights.data[i].ours, name))
            return &model->weights.data[i];
    return NULL;
}

static bool is_param(const StoreTensor *tensor)
{
    bool is_cache = tensor->rank > 0 && tensor->dims[0] < 0;
    return tensor->role != TFC_SLOT && tensor->role != TFC_GRADIENT && !is_cache;
}

static bool load_param(Job *job, const Model *model, const StFile *file, StoreTensor *tensor)
{
    const WeightMap *map = find_map(model, tensor->name);
    const StTensor *from = map ? st_find(file, map->theirs) : NULL;
    if (!from) { /* a checkpoint of our own has our names */
        from = st_find(file, tensor->name);
        if (from)
            map = NULL;
    }
    if (!from)
        return job_error(job, "%s: the tensor '%s' is missing%s%s%s", file->path,
                         map ? map->theirs : tensor->name, map ? " (for the param '" : "",
                         map ? tensor->name : "", map ? "')" : "");
    return fill_tensor(job, file, from, map, tensor);
}

bool weights_load(Job *job, const Model *model, Store *store, const char *path)
{
    StFile *file = st_open(&job->diags, job->arena, path);
    if (!file)
        return false;
    int wrong = 0;
    for (int64_t i = 0; i < store_count(store) && wrong < 5; i++)
        if (is_param(store_at(store, i)))
            wrong += !load_param(job, model, file, store_at(store, i));
    st_close(file);
    store_changed(store);
    return !wrong;
}

bool weights_initialise(Job *job, Store *store, uint64_t seed)
{
    if (!store_initialise(store, seed))
        return job_error(job, "out of memory");
    bool ok = true;
    for (int64_t i = 0; i < store_count(store); i++) {
        StoreTensor *tensor = store_at(store, i);
        if (tensor->init != TFC_INIT_FILE || !tensor->data)
            continue;
        StFile *file = st_open(&job->diags, job->arena, tensor->file);
        if (!file)
            return false;
        const StTensor *from = st_find(file, tensor->tensor);
        if (!from)
            ok = job_error(job, "%s: the tensor '%s' is missing (for the param '%s')", file->path,
                           tensor->tensor, tensor->name);
        else
            ok = fill_tensor(job, file, from, NULL, tensor) && ok;
        st_close(file);
    }
    store_changed(store);
    return ok;
}
