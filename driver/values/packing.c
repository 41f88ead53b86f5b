/* Padded logical arrays to packed storage (ir/layout.h), and back. */
#include "driver/values/packing.h"

#include "driver/ports/ports.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

BoundDim *binding_dim(Binding *binding, const char *name)
{
    for (size_t i = 0; i < binding->dims.count; i++)
        if (!strcmp(binding->dims.data[i].name, name))
            return &binding->dims.data[i];
    return NULL;
}

int64_t bound_total(const BoundDim *dim)
{
    int64_t total = dim->length ? 0 : dim->extent;
    for (int64_t b = 0; b < dim->n; b++)
        total += dim->length[b];
    return total;
}

static const char *name_of_dim(const void *program, int32_t d)
{
    return ((const TfcProgram *)program)->dims[d].name;
}

const char *made_text(Arena *arena, const TfcProgram *program, int32_t d)
{
    return dim_formula_text(arena, &program->dims[d].formula, name_of_dim, program);
}

const char *binding_path(const Binding *binding)
{
    return binding->file ? binding->file->path : "made input";
}

/* ---- where the elements lie ---- */

/* A shape with its dimensions bound: extents of the logical array, and the way
 * from logical indices to storage. */
typedef struct PackedPlace {
    int rank, tokens, batch;              /* tokens, batch: axes of the packed pair, or -1 */
    int64_t dims[TFC_MAX_AXES];           /* logical, padded */
    int64_t strides[TFC_MAX_AXES];        /* storage; of `tokens`: a token's; of `batch`: 0 */
    int64_t count;                        /* stored elements */
    const BoundDim *ragged[TFC_MAX_AXES]; /* lengths along an axis, or NULL */
    int ragged_batch[TFC_MAX_AXES];       /* the axis that picks the length, or -1 */
} PackedPlace;

static int axis_of_dim(const TfcShape *shape, int dim)
{
    for (int i = 0; i < shape->rank; i++)
        if (shape->dims[i].dim == dim)
            return i;
    return -1;
}

static PackedPlace place_of(Binding *binding, const TfcProgram *program, const TfcShape *shape)
{
    PackedPlace p = {.rank = shape->rank, .tokens = -1, .batch = -1};
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
            total = bound_total(bound);
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
static int64_t stored_at(const PackedPlace *p, const int64_t *index)
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

static bool next_index(const PackedPlace *p, int64_t *index)
{
    for (int d = p->rank; d-- > 0;) {
        if (++index[d] < p->dims[d])
            return true;
        index[d] = 0;
    }
    return false;
}

static int64_t logical_count(const PackedPlace *p)
{
    int64_t count = 1;
    for (int i = 0; i < p->rank; i++)
        count *= p->dims[i];
    return count;
}

/* ---- inputs ---- */

bool tensor_is_packed(const StTensor *tensor, const TfcShape *shape)
{
    return tensor->rank == shape->rank - 1;
}

/* One port on its way from the file to storage. */
typedef struct Packing {
    Binding *binding;
    const TfcPort *port;
    const StTensor *tensor;
    IdRanges ids; /* of an input of whole numbers that the file gives; of others none */
    void *data;
} Packing;

static Packing start_packing(Binding *binding, const TfcPort *port, const StTensor *tensor,
                             int64_t count)
{
    Packing packing = {binding, port, tensor, {0}, NULL};
    const bool is_given = binding->file && st_find(binding->file, port->name);
    const Op *input = binding->module && is_given && port->type == TFC_I32
                          ? ports_input(binding->module, port->name)
                          : NULL;
    if (input)
        packing.ids = ports_ids(binding->module, input);
    packing.data =
        arena_alloc(binding->job->arena, (size_t)(count + 1) * element_info(port->type)->bytes);
    return packing;
}

/* Element `from` of the tensor goes to `to`; index: of it, for messages. */
static bool pack_value(const Packing *p, int64_t from, int64_t to, const int64_t *index, int rank)
{
    Job *job = p->binding->job;
    double value = st_value(p->tensor, from);
    const char *path = binding_path(p->binding), *name = p->port->name;
    if (!element_put(p->port->type, p->data, to, value))
        return job_error(job, "%s: '%s' %s is %.17g, which is no whole number of 32 bits", path,
                         name, text_list(job->arena, index, rank), value);
    char text[ID_RANGE_TEXT];
    const IdRange *broken = id_ranges_broken(&p->ids, to, value);
    return !broken ||
           job_error(job, "%s: '%s' %s is %.0f; %s", path, name, text_list(job->arena, index, rank),
                     value, id_range_text(broken, text));
}

/* Where integers are expected, floats are a mistake, whole or not. */
static bool check_type(const Binding *binding, const TfcPort *port, const StTensor *tensor)
{
    if (port->type != TFC_I32 || !element_info(tensor->type)->is_float)
        return true;
    return job_error(binding->job,
                     "%s: '%s' is %s, and the model reads it as integers (I32 or I64)",
                     binding_path(binding), port->name, element_info(tensor->type)->stored);
}

const void *pack_input(Binding *binding, const TfcProgram *program, const TfcPort *port,
                       const StTensor *tensor)
{
    PackedPlace place = place_of(binding, program, &port->shape);
    if (!check_type(binding, port, tensor))
        return NULL;
    Packing packing = start_packing(binding, port, tensor, place.count);
    bool ok = true;
    if (tensor_is_packed(tensor, &port->shape)) {
        assert(tensor->count == place.count); /* bind_ragged */
        for (int64_t i = 0; ok && i < place.count; i++)
            ok = pack_value(&packing, i, i, &i, 1);
        return ok ? packing.data : NULL;
    }
    for (int d = 0; d < place.rank; d++)
        if (tensor->dims[d] < place.dims[d])
            return job_error(binding->job,
                             "%s: '%s' has %" PRId64 " positions along dimension %d, but %" PRId64
                             " are needed",
                             binding_path(binding), port->name, tensor->dims[d], d, place.dims[d]),
                   NULL;
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

/* ---- outputs ---- */

StTensor tensors_output(Binding *binding, const TfcProgram *program, const TfcPort *port,
                        const void *data)
{
    PackedPlace place = place_of(binding, program, &port->shape);
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
