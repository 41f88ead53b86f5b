/* Finding the inputs of a program, and its dimensions from their shapes. */
#include "driver/values/tensors.h"

#include "driver/ports/ports.h"
#include "frontend/frontend.h"
#include "runtime/exec/made.h"

#include <inttypes.h>
#include <string.h>

/* In the file, or made here. */
static const StTensor *find_tensor(const Binding *binding, const char *name)
{
    const StTensor *found = binding->file ? st_find(binding->file, name) : NULL;
    for (size_t i = 0; !found && i < binding->made.count; i++)
        if (!strcmp(binding->made.data[i].name, name))
            found = &binding->made.data[i];
    return found;
}

/* How much of a name is that of the input with which it is made; 0: it is no such name. */
static size_t stem_of(const char *name)
{
    static const char *const suffixes[] = {NEXT_SUFFIX, HIDDEN_SUFFIX};
    for (size_t i = 0; i < sizeof suffixes / sizeof *suffixes; i++)
        if (text_ends(name, suffixes[i]))
            return strlen(name) - strlen(suffixes[i]);
    return 0;
}

/* NAME.lengths; those of "tgt.next" are those of "tgt" where it has none of its own. */
static const StTensor *find_lengths(const Binding *binding, const char *name)
{
    Arena *arena = binding->job->arena;
    const StTensor *found = find_tensor(binding, arena_printf(arena, "%s.lengths", name));
    const size_t stem = stem_of(name);
    if (found || !stem)
        return found;
    return find_lengths(binding, arena_strndup(arena, name, stem));
}

/* Cut to the range of an int32_t: what is beyond is no id either. */
static int32_t id_of(double number)
{
    return !(number > INT32_MIN) ? INT32_MIN : number < INT32_MAX ? (int32_t)number : INT32_MAX;
}

/* Each row of a tensor of ids moved by one, -1 at its end, as the elements of a tensor of the
 * same shape. Without lengths a packed tensor is one row. */
static int32_t *shift_rows(Arena *arena, const StTensor *ids, const StTensor *lengths)
{
    bool padded = ids->rank == 2;
    int64_t rows = lengths ? lengths->count : 1;
    if (padded)
        rows = ids->dims[0];
    int32_t *next = ARENA_ARRAY(arena, int32_t, ids->count + 1);
    for (int64_t i = 0; i < ids->count; i++)
        next[i] = -1;
    for (int64_t b = 0, at = 0; b < rows; b++) {
        int64_t length = padded ? ids->dims[1] : ids->count - at;
        const double said = lengths && b < lengths->count ? st_value(lengths, b) : (double)length;
        length = said >= 0 && said <= (double)length ? (int64_t)said : 0; /* refused later */
        for (int64_t t = 0; t + 1 < length && at + t + 1 < ids->count; t++)
            next[at + t] = id_of(st_value(ids, at + t + 1));
        at += padded ? ids->dims[1] : length;
    }
    return next;
}

/* "tgt.next" from "tgt"; NULL: the name is no such, or there is nothing to make it from. */
static const StTensor *make_next(Binding *binding, const char *name)
{
    Arena *arena = binding->job->arena;
    const size_t stem = stem_of(name);
    if (!text_ends(name, NEXT_SUFFIX) || !stem)
        return NULL;
    const char *base = arena_strndup(arena, name, stem);
    const StTensor *from = tensors_find(binding, base);
    if (!from || from->rank < 1 || from->rank > 2)
        return NULL;
    StTensor made = *from;
    made.name = arena_strdup(arena, name);
    made.type = ST_I32;
    made.scales = (StScales){0};
    made.data = shift_rows(arena, from, find_lengths(binding, base));
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
                     binding_path(binding), name, bound->extent, bound->from, extent, from);
}

/* A tensor without lengths has those of an input before it, if its array is as long. */
static bool share_lengths(const Binding *binding, const BoundDim *bound, const char *from,
                          int64_t padded)
{
    int64_t positions = bound->padded > 0 ? bound->padded : bound->extent;
    if (padded == positions)
        return true;
    return job_error(binding->job,
                     "%s: '%s' has %" PRId64 " positions along %s, but '%s' %" PRId64
                     ": they share this dimension, so their rows have the same lengths",
                     binding_path(binding), from, padded, bound->name, bound->from, positions);
}

/* Lengths along a ragged axis of a tensor: NAME.lengths, that of another input, or all of the
 * padded array. A packed tensor (`packed`; padded is -1) has as many positions as they add up to,
 * so that no table is larger than the file explains. */
static bool bind_ragged(Binding *binding, const char *name, const char *batch, const char *from,
                        int64_t rows, int64_t padded, const StTensor *packed)
{
    Job *job = binding->job;
    const StTensor *lengths = find_lengths(binding, from);
    if (!lengths && binding_dim(binding, name))
        return share_lengths(binding, binding_dim(binding, name), from, padded);
    if (lengths)
        rows = lengths->count;
    if (!bind_size(binding, batch, from, rows))
        return false;
    BoundDim fresh = {.name = name, .from = from, .n = rows, .padded = padded};
    fresh.length = ARENA_ARRAY(job->arena, int32_t, rows + 1);
    fresh.offset = ARENA_ARRAY(job->arena, int32_t, rows + 1);
    int64_t total = 0;
    for (int64_t b = 0; b < rows; b++) {
        double length = lengths ? st_value(lengths, b) : (double)padded;
        if (!(length >= 0 && length <= 1 << 30) || length != (double)(int64_t)length ||
            (padded >= 0 && length > (double)padded))
            return job_error(job, "%s: '%s.lengths' [%" PRId64 "] is %g, which does not fit '%s'",
                             binding_path(binding), from, b, length, from);
        fresh.length[b] = (int32_t)length;
        fresh.offset[b] = (int32_t)total;
        total += fresh.length[b];
        if (fresh.length[b] > fresh.extent)
            fresh.extent = fresh.length[b];
        if (total > INT32_MAX)
            return job_error(job, "%s: '%s' has more than 2^31 - 1 positions in all along %s",
                             binding_path(binding), from, name);
    }
    if (packed && packed->dims[0] != total)
        return job_error(
            job, "%s: '%s' holds %" PRId64 " positions, and '%s.lengths' add up to %" PRId64,
            binding_path(binding), from, packed->dims[0], from, total);
    BoundDim *bound = binding_dim(binding, name);
    if (!bound) {
        vec_push(job->arena, binding->dims, fresh);
        return true;
    }
    for (int64_t b = 0; b < rows; b++)
        if (bound->length[b] != fresh.length[b])
            return job_error(job,
                             "%s: row %" PRId64 " of '%s' has the length %d, but that of '%s' %d: "
                             "they share the dimension %s",
                             binding_path(binding), b, bound->from, (int)bound->length[b], from,
                             (int)fresh.length[b], name);
    return true;
}

static bool bind_dims(Binding *binding, const TfcProgram *program, const TfcPort *port,
                      const StTensor *tensor)
{
    const TfcShape *shape = &port->shape;
    bool packed = tensor_is_packed(tensor, shape) && find_lengths(binding, port->name);
    if (tensor->rank != shape->rank && !packed)
        return job_error(binding->job, "%s: '%s' has %d dimensions, the model's has %d",
                         binding_path(binding), port->name, tensor->rank, shape->rank);
    for (int i = 0; i < shape->rank; i++) {
        int dim = shape->dims[i].dim, batch = dim >= 0 ? program->dims[dim].batch : -1;
        int64_t size = packed ? (i < 2 ? -1 : tensor->dims[i - 1]) : tensor->dims[i];
        bool ok = true;
        if (batch >= 0 && dim_is_made(program, dim) && !find_lengths(binding, port->name))
            ok = bind_size(binding, program->dims[batch].name, port->name, tensor->dims[0]);
        else if (batch >= 0)
            ok =
                bind_ragged(binding, program->dims[dim].name, program->dims[batch].name, port->name,
                            packed ? 0 : tensor->dims[0], size, packed ? tensor : NULL);
        else if (size < 0)
            continue; /* the batch of a packed tensor: bound by its lengths */
        else if (dim >= 0)
            ok = bind_size(binding, program->dims[dim].name, port->name, size);
        else if (shape->dims[i].size != size)
            ok = job_error(binding->job,
                           "%s: dimension %d of '%s' is %" PRId64 ", the model's is %" PRId64,
                           binding_path(binding), i, port->name, size, shape->dims[i].size);
        if (!ok)
            return false;
    }
    return true;
}

/* What is bound, of one row. */
typedef struct BoundRow {
    Binding *binding;
    const TfcProgram *program;
    int64_t row;
} BoundRow;

static int64_t length_in_binding(const void *of, int32_t d)
{
    const BoundRow *at = of;
    return bound_length(binding_dim(at->binding, at->program->dims[d].name), at->row);
}

/* The lengths of dimension d of the program, which is made of others. False: they are too long. */
static bool make_dim(Binding *binding, const TfcProgram *program, int32_t d, BoundDim *out)
{
    const TfcProgramDim *dim = &program->dims[d];
    Arena *arena = binding->job->arena;
    const BoundDim *batch =
        dim->batch < 0 ? NULL : binding_dim(binding, program->dims[dim->batch].name);
    BoundDim made = {.name = dim->name, .from = dim->name, .n = batch ? batch->extent : 0};
    int64_t total = 0;
    made.length = batch ? ARENA_ARRAY(arena, int32_t, made.n + 1) : NULL;
    made.offset = batch ? ARENA_ARRAY(arena, int32_t, made.n + 1) : NULL;
    for (int64_t b = 0; b < (batch ? made.n : 1); b++) {
        const int64_t length =
            dim_formula_length(&dim->formula, length_in_binding, &(BoundRow){binding, program, b});
        if (total + length > INT32_MAX)
            return job_error(binding->job,
                             "%s: the dimension %s = %s would be longer than 2^31 - 1",
                             binding_path(binding), made.name, made_text(arena, program, d));
        made.extent = length > made.extent ? length : made.extent;
        if (!batch)
            continue;
        made.length[b] = (int32_t)length;
        made.offset[b] = (int32_t)total;
        total += length;
    }
    *out = made;
    return true;
}

/* What an input says of a dimension that is made of others agrees with the formula. */
static bool agrees_with_made(const Binding *binding, const TfcProgram *program, int32_t d,
                             const BoundDim *bound, const BoundDim *made)
{
    const char *formula = made_text(binding->job->arena, program, d);
    if (!made->length && bound->extent != made->extent)
        return job_error(
            binding->job, "%s: '%s' is %" PRId64 " long along %s = %s, which is %" PRId64 " here",
            binding_path(binding), bound->from, bound->extent, made->name, formula, made->extent);
    for (int64_t b = 0; b < made->n; b++)
        if (bound->length[b] != made->length[b])
            return job_error(binding->job,
                             "%s: row %" PRId64
                             " of '%s' has the length %d, but along %s = %s it is %d",
                             binding_path(binding), b, bound->from, (int)bound->length[b],
                             made->name, formula, (int)made->length[b]);
    return true;
}

/* Dimensions made of others, which follow from those that are bound. */
static bool make_dims(Binding *binding, const TfcProgram *program)
{
    for (int32_t d = 0; d < program->n_given; d++)
        if (!binding_dim(binding, program->dims[d].name))
            return job_error(binding->job,
                             "no input has the dimension %s, so its length is unknown",
                             program->dims[d].name);
    for (int32_t d = program->n_given; d < program->n_dims; d++) {
        BoundDim made;
        if (!make_dim(binding, program, d, &made))
            return false;
        const BoundDim *bound = binding_dim(binding, made.name);
        if (bound && !agrees_with_made(binding, program, d, bound, &made))
            return false;
        if (!bound)
            vec_push(binding->job->arena, binding->dims, made);
    }
    return true;
}

bool tensors_set_dims(Binding *binding, const TfcProgram *program, Exec *exec)
{
    if (!make_dims(binding, program))
        return false;
    for (int i = 0; i < program->n_dims; i++) {
        const BoundDim *bound = binding_dim(binding, program->dims[i].name);
        PositionTable table =
            binding->module ? position_table(binding->module, bound->name) : (PositionTable){0};
        if (table.length && bound->extent > table.length)
            return job_error(binding->job,
                             "%s: '%s' is %" PRId64
                             " long along %s, but the model's table '%s' has %" PRId64 " positions",
                             binding_path(binding), bound->from, bound->extent, bound->name,
                             table.name, table.length);
        if (dim_is_made(program, i))
            continue;
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
        return job_error(binding->job, "%s: the input '%s' is missing", binding_path(binding),
                         missing);
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

bool tensors_sources(Binding *binding, const Feed *feed, const TfcProgram *encode, Sources *out)
{
    const BoundDim *batch = feed->batch ? binding_dim(binding, feed->batch) : NULL;
    const int32_t **columns = ARENA_ARRAY(binding->job->arena, const int32_t *, MOST_COLUMNS);
    *out = (Sources){.n = batch ? (int32_t)batch->extent : 0, .columns = columns};
    for (int side = 0; side < MOST_SIDES; side++) {
        const BoundDim *dim =
            feed->dims[side] && side != SIDE_TARGET ? binding_dim(binding, feed->dims[side]) : NULL;
        out->lengths[side] = dim ? dim->length : NULL;
    }
    for (int i = 0; i < encode->n_inputs; i++) {
        const TfcPort *port = &encode->inputs[i];
        const void *data = pack_input(binding, encode, port, tensors_find(binding, port->name));
        if (!data)
            return false;
        if (feed->source && !strcmp(port->name, feed->source))
            out->tokens = data;
        for (int c = 0; c < feed->n_columns; c++)
            if (!strcmp(port->name, feed->columns[c]))
                columns[c] = data;
    }
    return true;
}
