/* Packing and unpacking tensors, and finding dimensions from their shapes. */
#include "driver/tensors.h"

#include "driver/token_ids.h"

#include <inttypes.h>
#include <string.h>

BoundDim *binding_dim(Binding *binding, const char *name)
{
    for (size_t i = 0; i < binding->dims.count; i++)
        if (!strcmp(binding->dims.data[i].name, name))
            return &binding->dims.data[i];
    return NULL;
}

/* ---- where the elements lie ---- */

/* A shape with its dimensions bound: extents of the logical array, and the way
 * from logical indices to storage. */
typedef struct Place {
    int rank, tokens, batch;              /* tokens, batch: axes of the packed pair, or -1 */
    int64_t dims[TFC_MAX_AXES];           /* logical, padded */
    int64_t strides[TFC_MAX_AXES];        /* storage; of `tokens`: a token's; of `batch`: 0 */
    int64_t count;                        /* stored elements */
    const BoundDim *ragged[TFC_MAX_AXES]; /* lengths along an axis, or NULL */
    int ragged_batch[TFC_MAX_AXES];       /* the axis that picks the length, or -1 */
} Place;

static int axis_of_dim(const TfcShape *shape, int dim)
{
    for (int i = 0; i < shape->rank; i++)
        if (shape->dims[i].dim == dim)
            return i;
    return -1;
}

static Place place_of(Binding *binding, const TfcProgram *program, const TfcShape *shape)
{
    Place p = {.rank = shape->rank, .tokens = -1, .batch = -1};
    int64_t total = 0;
    for (int i = 0; i < shape->rank; i++) {
        int dim = shape->dims[i].dim;
        const BoundDim *bound = dim >= 0 ? binding_dim(binding, program->dims[dim].name) : NULL;
        p.dims[i] = bound ? bound->extent : shape->dims[i].size;
        p.ragged_batch[i] = -1;
        int batch = dim >= 0 ? program->dims[dim].batch : -1;
        if (batch < 0)
            continue;
        p.ragged_batch[i] = axis_of_dim(shape, batch);
        if (p.ragged_batch[i] < 0)
            continue;
        p.ragged[i] = bound;
        if (p.tokens < 0) {
            p.tokens = i;
            p.batch = p.ragged_batch[i];
            for (int64_t b = 0; b < bound->n; b++)
                total += bound->length[b];
        }
    }
    int64_t stride = 1;
    for (int i = p.rank; i-- > 0;)
        if (i != p.tokens && i != p.batch) {
            p.strides[i] = stride;
            stride *= p.dims[i];
        }
    if (p.tokens >= 0)
        p.strides[p.tokens] = stride;
    p.count = stride * (p.tokens >= 0 ? total : 1);
    return p;
}

/* Storage index of a logical one; -1 where a length says there is nothing. */
static int64_t stored_at(const Place *p, const int64_t *index)
{
    int64_t at = 0;
    for (int i = 0; i < p->rank; i++) {
        at += index[i] * p->strides[i];
        if (p->ragged[i] && index[i] >= p->ragged[i]->length[index[p->ragged_batch[i]]])
            return -1;
    }
    if (p->tokens >= 0)
        at += p->ragged[p->tokens]->offset[index[p->batch]] * p->strides[p->tokens];
    return at;
}

static bool next_index(const Place *p, int64_t *index)
{
    for (int d = p->rank; d-- > 0;) {
        if (++index[d] < p->dims[d])
            return true;
        index[d] = 0;
    }
    return false;
}

static int64_t logical_count(const Place *p)
{
    int64_t count = 1;
    for (int i = 0; i < p->rank; i++)
        count *= p->dims[i];
    return count;
}

/* ---- inputs ---- */

static bool put_value(TfcType type, void *data, int64_t i, double value)
{
    switch (type) {
    case TFC_F64: ((double *)data)[i] = value; return true;
    case TFC_I32:
        ((int32_t *)data)[i] = (int32_t)value;
        return value == (double)((int32_t *)data)[i];
    case TFC_BOOL: ((uint8_t *)data)[i] = value != 0; return true;
    default: ((float *)data)[i] = (float)value; return true;
    }
}

/* In the file, or made here. */
static const StTensor *find_tensor(const Binding *binding, const char *name)
{
    const StTensor *found = binding->file ? st_find(binding->file, name) : NULL;
    for (size_t i = 0; !found && i < binding->made.count; i++)
        if (!strcmp(binding->made.data[i].name, name))
            found = &binding->made.data[i];
    return found;
}

static const StTensor *find_lengths(const Binding *binding, const char *name)
{
    return find_tensor(binding, arena_printf(binding->job->arena, "%s.lengths", name));
}

static const char *path_of(const Binding *binding)
{
    return binding->file ? binding->file->path : "made input";
}

/* "tgt.next" from "tgt": every row shifted by one, -1 at the end. */
static const StTensor *make_next(Binding *binding, const char *name)
{
    Arena *arena = binding->job->arena;
    size_t stem = strlen(name) - strlen(".next");
    if (strlen(name) <= strlen(".next") || strcmp(name + stem, ".next"))
        return NULL;
    const char *base = arena_strndup(arena, name, stem);
    const StTensor *from = find_tensor(binding, base), *lengths = find_lengths(binding, base);
    if (!from || from->rank < 1 || from->rank > 2)
        return NULL;
    int32_t *ids = ARENA_ARRAY(arena, int32_t, from->count + 1);
    int64_t row = from->rank == 2 ? from->dims[1] : 0, n = from->rank == 2 ? from->dims[0] : 0;
    if (from->rank == 1) /* packed, or one sentence */
        n = lengths ? lengths->count : 1;
    for (int64_t i = 0; i < from->count; i++)
        ids[i] = -1;
    for (int64_t b = 0, at = 0; b < n; b++) {
        int64_t length = lengths && b < lengths->count ? (int64_t)st_value(lengths, b)
                         : from->rank == 2             ? row
                                                       : from->count;
        for (int64_t t = 0; t + 1 < length && at + t + 1 < from->count; t++)
            ids[at + t] = (int32_t)st_value(from, at + t + 1);
        at += from->rank == 2 ? row : length;
    }
    StTensor made = *from;
    made.name = arena_strdup(arena, name);
    made.type = ST_I32;
    made.data = ids;
    made.bytes = (uint64_t)from->count * 4;
    vec_push(arena, binding->made, made);
    return find_tensor(binding, name);
}

const StTensor *tensors_find(Binding *binding, const char *name)
{
    const StTensor *found = find_tensor(binding, name);
    return found ? found : make_next(binding, name);
}

bool tensors_available(Binding *binding, const TfcProgram *program, const char **missing)
{
    for (int i = 0; i < program->n_inputs; i++)
        if (!tensors_find(binding, program->inputs[i].name)) {
            if (missing)
                *missing = program->inputs[i].name;
            return false;
        }
    return true;
}

static bool bind_size(Binding *binding, const char *name, const char *from, int64_t extent)
{
    BoundDim *bound = binding_dim(binding, name);
    if (!bound) {
        BoundDim fresh = {.name = name, .from = from, .extent = extent};
        vec_push(binding->job->arena, binding->dims, fresh);
        return true;
    }
    if (bound->extent == extent)
        return true;
    return job_error(binding->job,
                     "%s: the dimension %s is %" PRId64 " in '%s', but %" PRId64 " in '%s'",
                     path_of(binding), name, bound->extent, bound->from, extent, from);
}

/* Lengths along a ragged axis of a tensor: NAME.lengths, that of another input, or
 * all of the padded array. `padded` is -1 for a packed tensor. */
static bool bind_ragged(Binding *binding, const char *name, const char *batch, const char *from,
                        int64_t rows, int64_t padded)
{
    Job *job = binding->job;
    const StTensor *lengths = find_lengths(binding, from);
    if (!lengths && binding_dim(binding, name))
        return true;
    if (lengths)
        rows = lengths->count;
    if (!bind_size(binding, batch, from, rows))
        return false;
    BoundDim fresh = {.name = name, .from = from, .n = rows};
    fresh.length = ARENA_ARRAY(job->arena, int32_t, rows + 1);
    fresh.offset = ARENA_ARRAY(job->arena, int32_t, rows + 1);
    int64_t total = 0;
    for (int64_t b = 0; b < rows; b++) {
        double length = lengths ? st_value(lengths, b) : (double)padded;
        if (!(length >= 0 && length <= 1 << 30) || length != (double)(int64_t)length ||
            (padded >= 0 && length > (double)padded))
            return job_error(job, "%s: '%s.lengths' [%" PRId64 "] is %g, which does not fit '%s'",
                             path_of(binding), from, b, length, from);
        fresh.length[b] = (int32_t)length;
        fresh.offset[b] = (int32_t)total;
        total += fresh.length[b];
        if (fresh.length[b] > fresh.extent)
            fresh.extent = fresh.length[b];
    }
    BoundDim *bound = binding_dim(binding, name);
    if (!bound) {
        vec_push(job->arena, binding->dims, fresh);
        return true;
    }
    if (bound->n == rows && !memcmp(bound->length, fresh.length, sizeof(int32_t) * (size_t)rows))
        return true;
    return job_error(job, "%s: '%s' and '%s' have different lengths along %s", path_of(binding),
                     bound->from, from, name);
}

static bool is_packed(const StTensor *tensor, const TfcShape *shape)
{
    return tensor->rank == shape->rank - 1;
}

static bool bind_dims(Binding *binding, const TfcProgram *program, const TfcPort *port,
                      const StTensor *tensor)
{
    const TfcShape *shape = &port->shape;
    bool packed = is_packed(tensor, shape) && find_lengths(binding, port->name);
    if (tensor->rank != shape->rank && !packed)
        return job_error(binding->job, "%s: '%s' has %d dimensions, the model's has %d",
                         path_of(binding), port->name, tensor->rank, shape->rank);
    for (int i = 0; i < shape->rank; i++) {
        int dim = shape->dims[i].dim, batch = dim >= 0 ? program->dims[dim].batch : -1;
        int64_t size = packed ? (i < 2 ? -1 : tensor->dims[i - 1]) : tensor->dims[i];
        bool ok = true;
        if (batch >= 0)
            ok = bind_ragged(binding, program->dims[dim].name, program->dims[batch].name,
                             port->name, packed ? 0 : tensor->dims[0], size);
        else if (size < 0)
            continue; /* the batch of a packed tensor: bound by its lengths */
        else if (dim >= 0)
            ok = bind_size(binding, program->dims[dim].name, port->name, size);
        else if (shape->dims[i].size != size)
            ok = job_error(binding->job,
                           "%s: dimension %d of '%s' is %" PRId64 ", the model's is %" PRId64,
                           path_of(binding), i, port->name, size, shape->dims[i].size);
        if (!ok)
            return false;
    }
    return true;
}

/* "[2, 5]": where an element is, in the tensor of the file. */
/* One port on its way from the file to storage. */
typedef struct Packing {
    Binding *binding;
    const TfcPort *port;
    const StTensor *tensor;
    IdRange ids;
    void *data;
} Packing;

static Packing start_packing(Binding *binding, const TfcPort *port, const StTensor *tensor,
                             int64_t count)
{
    Packing packing = {binding, port, tensor, {INT64_MAX, true}, NULL};
    bool is_given = binding->file && st_find(binding->file, port->name);
    if (binding->module && is_given && port->type == TFC_I32)
        packing.ids = token_ids_of(binding->module, port->name);
    packing.data = arena_alloc(binding->job->arena, (size_t)(count + 1) * element_info(port->type)->bytes);
    return packing;
}

/* Element `from` of the tensor goes to `to`; index: of it, for messages. */
static bool pack_value(const Packing *p, int64_t from, int64_t to, const int64_t *index, int rank)
{
    Job *job = p->binding->job;
    double value = st_value(p->tensor, from);
    const char *path = path_of(p->binding), *name = p->port->name;
    if (!put_value(p->port->type, p->data, to, value))
        return job_error(job, "%s: '%s' holds %g, which is no whole number", path, name, value);
    if (value < (double)p->ids.size && (value >= 0 || p->ids.has_negative))
        return true;
    return job_error(job, "%s: '%s' %s is %.0f; ids go from 0 to %" PRId64, path, name,
                     text_list(job->arena, index, rank), value, p->ids.size - 1);
}

/* Where integers are expected, floats are a mistake, whole or not. */
static bool check_type(const Binding *binding, const TfcPort *port, const StTensor *tensor)
{
    if (port->type != TFC_I32 || !element_info(tensor->type)->is_float)
        return true;
    return job_error(binding->job,
                     "%s: '%s' is %s, and the model reads it as integers (I32 or I64)",
                     path_of(binding), port->name, element_info(tensor->type)->stored);
}

/* The tensor's elements in storage order; NULL after an error. */
static const void *pack_input(Binding *binding, const TfcProgram *program, const TfcPort *port,
                              const StTensor *tensor)
{
    Place place = place_of(binding, program, &port->shape);
    if (!check_type(binding, port, tensor))
        return NULL;
    Packing packing = start_packing(binding, port, tensor, place.count);
    bool ok = true;
    if (is_packed(tensor, &port->shape)) {
        if (tensor->count != place.count)
            ok = job_error(binding->job,
                           "%s: '%s' holds %" PRId64 " elements, its lengths make %" PRId64,
                           path_of(binding), port->name, tensor->count, place.count);
        for (int64_t i = 0; ok && i < place.count; i++)
            ok = pack_value(&packing, i, i, &i, 1);
        return ok ? packing.data : NULL;
    }
    /* The file's array may be padded further than the longest sentence. */
    int64_t index[TFC_MAX_AXES] = {0};
    for (int64_t left = logical_count(&place); ok && left > 0; left--, next_index(&place, index)) {
        int64_t to = stored_at(&place, index), from = 0;
        for (int d = 0; d < place.rank; d++)
            from = from * tensor->dims[d] + index[d];
        ok = to < 0 || pack_value(&packing, from, to, index, place.rank);
    }
    return ok ? packing.data : NULL;
}

bool tensors_set_dims(Binding *binding, const TfcProgram *program, Exec *exec)
{
    for (int i = 0; i < program->n_dims; i++) {
        const BoundDim *bound = binding_dim(binding, program->dims[i].name);
        if (!bound)
            return job_error(binding->job, "nothing tells how long the dimension %s is",
                             program->dims[i].name);
        if (program->dims[i].batch >= 0)
            exec_set_ragged(exec, i, bound->n, bound->length, NULL);
        else
            exec_set_dim(exec, i, bound->extent);
    }
    return true;
}

bool tensors_bind(Binding *binding, const TfcProgram *program, Exec *exec)
{
    const char *missing;
    if (!tensors_available(binding, program, &missing))
        return job_error(binding->job, "%s: the input '%s' is missing", path_of(binding), missing);
    for (int i = 0; i < program->n_inputs; i++)
        if (!bind_dims(binding, program, &program->inputs[i],
                       tensors_find(binding, program->inputs[i].name)))
            return false;
    if (!tensors_set_dims(binding, program, exec))
        return false;
    for (int i = 0; i < program->n_inputs; i++) {
        const TfcPort *port = &program->inputs[i];
        const void *data = pack_input(binding, program, port, tensors_find(binding, port->name));
        if (!data)
            return false;
        exec_input(exec, port->name, data);
    }
    return true;
}

/* ---- outputs ---- */

StTensor tensors_output(Binding *binding, const TfcProgram *program, const TfcPort *port,
                        const void *data)
{
    Place place = place_of(binding, program, &port->shape);
    size_t bytes = element_info(port->type)->bytes;
    StTensor out = {.name = port->name,
                    .type = (StType)port->type,
                    .rank = place.rank,
                    .count = logical_count(&place)};
    memcpy(out.dims, place.dims, sizeof(int64_t) * (size_t)place.rank);
    out.bytes = (uint64_t)out.count * bytes;
    char *padded = arena_alloc(binding->job->arena, out.bytes + 8);
    int64_t index[TFC_MAX_AXES] = {0};
    for (int64_t to = 0; to < out.count; to++, next_index(&place, index)) {
        int64_t from = stored_at(&place, index);
        if (from >= 0)
            memcpy(padded + (size_t)to * bytes, (const char *)data + (size_t)from * bytes, bytes);
    }
    out.data = padded;
    return out;
}
