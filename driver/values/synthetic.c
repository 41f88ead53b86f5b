/* Synthetic inputs and the cost of a function on them. */
#include "driver/values/synthetic.h"

#include "base/philox.h"
#include "driver/ports/token_ids.h"
#include "ir/work.h"
#include "runtime/data/lines.h"

#include <stdio.h>
#include <string.h>

/* Uniform in [0, 1), by (seed, name of the tensor, element). */
static double draw(uint64_t seed, uint64_t stream, int64_t i)
{
    const uint32_t key[2] = {(uint32_t)seed, (uint32_t)(seed >> 32)};
    const uint32_t counter[4] = {(uint32_t)i, (uint32_t)(i >> 32), (uint32_t)stream,
                                 (uint32_t)(stream >> 32)};
    uint32_t out[4];
    philox4x32(counter, key, out);
    return ((double)out[0] + 0.5) / 4294967296.0;
}

/* The numbers that elements of an input without ranges get, from 0 on: those that tables or classes
 * have, or the vocabulary, or a few. */
static int64_t ids_below(const Module *module, const Op *input)
{
    enum { A_FEW = 4 };
    const Function *model = module_function(module, "model");
    const int64_t table = token_table(model, input), classes = token_labels(model, input),
                  vocab = ports_of(module).vocab;
    if (table)
        return table;
    return classes < INT64_MAX ? classes : vocab ? vocab : A_FEW;
}

/* An id of the element's ranges, by u from 0 to below 1; negative ones are not drawn. */
static int32_t draw_id(const IdRanges *ranges, int64_t below, int64_t element, double u)
{
    IdRange common = {0, INT64_MAX, .period = 1, .to = 1};
    for (int64_t i = 0; i < ranges->n; i++) {
        const IdRange *range = &ranges->at[i];
        if (!id_range_concerns(range, element))
            continue;
        common.least = range->least > common.least ? range->least : common.least;
        common.below = range->below < common.below ? range->below : common.below;
    }
    if (common.below == INT64_MAX)
        common.below = below;
    return (int32_t)(common.least + (int64_t)(u * (double)(common.below - common.least)));
}

static void add_tensor(Binding *binding, const char *name, StType type, int rank,
                       const int64_t *dims, const void *data)
{
    StTensor tensor = {.name = name, .type = type, .rank = rank, .count = 1, .data = data};
    for (int i = 0; i < rank; i++) {
        tensor.dims[i] = dims[i];
        tensor.count *= dims[i];
    }
    tensor.bytes = (uint64_t)tensor.count * element_info(type)->bytes;
    vec_push(binding->job->arena, binding->made, tensor);
}

/* The ragged dimension of an input; NO_SYMBOL: it has none. */
static int ragged_of(const Module *module, const Op *input)
{
    const Type *type = &op_result((Op *)input)->type;
    for (int i = 0; i < type->rank; i++)
        if (symbol_is_ragged(module, type->dims[i].symbol))
            return type->dims[i].symbol;
    return NO_SYMBOL;
}

static const Op *input_named(const Module *module, const char *name)
{
    FOR_OPS (op, &module_function(module, "model")->body)
        if (op->kind == OP_input && name && !strcmp(op_string(op, ATTR_name), name))
            return op;
    return NULL;
}

/* That of the source; where there is none, the first that is not the target's. */
static bool is_source_dim(const Module *module, int symbol)
{
    ModelPorts ports = ports_of(module);
    const Op *source = input_named(module, ports.source);
    const Op *target = input_named(module, ports.target);
    if (source)
        return ragged_of(module, source) == symbol;
    FOR_OPS (op, &module_function(module, "model")->body)
        if (op->kind == OP_input && ragged_of(module, op) != NO_SYMBOL &&
            (!target || ragged_of(module, op) != ragged_of(module, target)))
            return ragged_of(module, op) == symbol;
    return false;
}

static int32_t drawn_length(const Module *module, int symbol, int64_t longest, int64_t b,
                            const SyntheticOptions *o)
{
    int64_t shorter = (int64_t)(draw(o->seed, 1000 + (uint64_t)symbol, b) * (double)longest);
    if (o->lengths)
        return (is_source_dim(module, symbol) ? o->lengths->source : o->lengths->target)[b];
    /* one row is as long as it can be */
    return (int32_t)(o->ragged && b != (symbol + 1) % o->batch ? longest - shorter : longest);
}

/* What is bound, of one row. */
typedef struct DrawnRow {
    Binding *binding;
    const Module *module;
    int64_t row;
} DrawnRow;

static int64_t length_drawn(const void *of, int32_t symbol)
{
    const DrawnRow *at = of;
    return bound_length(binding_dim(at->binding, at->module->symbols.data[symbol].name), at->row);
}

/* The dimension's size, or its length in row b: by its formula, or drawn. */
static int64_t length_in_row(Binding *binding, const Module *module, int symbol, int64_t b,
                             const SyntheticOptions *o)
{
    const Symbol *s = &module->symbols.data[symbol];
    if (s->formula.n)
        return dim_formula_length(&s->formula, length_drawn, &(DrawnRow){binding, module, b});
    const int64_t longest = is_source_dim(module, symbol) ? o->source_length : o->target_length;
    return drawn_length(module, symbol, longest, b, o);
}

static void bind_lengths(Binding *binding, const Module *module, int symbol,
                         const SyntheticOptions *o, BoundDim *dim)
{
    dim->n = o->batch;
    dim->length = ARENA_ARRAY(binding->job->arena, int32_t, o->batch);
    dim->offset = ARENA_ARRAY(binding->job->arena, int32_t, o->batch);
    for (int64_t b = 0; b < o->batch; b++) {
        const int64_t length = length_in_row(binding, module, symbol, b, o);
        dim->extent = length > dim->extent ? length : dim->extent;
        dim->length[b] = (int32_t)length;
        dim->offset[b] = b ? dim->offset[b - 1] + dim->length[b - 1] : 0;
    }
}

/* A dimension's size, or its length in each row, which follows from the dimension alone, so that
 * all its tensors agree. */
static const BoundDim *bind_symbol(Binding *binding, const Module *module, const char *from,
                                   int symbol, const SyntheticOptions *o)
{
    const Symbol *s = &module->symbols.data[symbol];
    const BoundDim *known = binding_dim(binding, s->name);
    if (known)
        return known;
    for (int i = 0; i < s->formula.n; i++)
        bind_symbol(binding, module, from, s->formula.terms[i].symbol, o);
    BoundDim dim = {.name = s->name, .from = from};
    if (s->batch != NO_SYMBOL)
        bind_lengths(binding, module, symbol, o, &dim);
    else
        dim.extent = s->formula.n ? length_in_row(binding, module, symbol, 0, o) : o->batch;
    vec_push(binding->job->arena, binding->dims, dim);
    return binding_dim(binding, s->name);
}

static void add_input(Binding *binding, const Module *module, const Op *input, uint64_t stream,
                      const SyntheticOptions *o)
{
    Arena *arena = binding->job->arena;
    const Type *type = &op_result((Op *)input)->type;
    const char *name = op_string(input, ATTR_name);
    int64_t dims[MAX_RANK], count = 1;
    for (int i = 0; i < type->rank; i++) {
        int symbol = type->dims[i].symbol;
        dims[i] = type->dims[i].size;
        if (symbol != NO_SYMBOL) {
            const BoundDim *dim = bind_symbol(binding, module, name, symbol, o);
            bool is_given = symbol_is_ragged(module, symbol) && !symbol_is_made(module, symbol);
            dims[i] = dim->extent;
            if (is_given) /* arrays are as long as asked for, even if no row is */
                dims[i] = is_source_dim(module, symbol) ? o->source_length : o->target_length;
            if (dim->length)
                add_tensor(binding, arena_printf(arena, "%s.lengths", name), ST_I32, 1, &o->batch,
                           dim->length);
        }
        count *= dims[i];
    }
    const bool whole = !dtype_is_float(type->dtype), are_ids = type->dtype == DT_I32;
    const IdRanges ranges = are_ids ? ports_ids(module, input) : (IdRanges){0};
    const int64_t below = are_ids ? ids_below(module, input) : 2;
    int32_t *ints = whole ? ARENA_ARRAY(arena, int32_t, count + 1) : NULL;
    double *floats = whole ? NULL : ARENA_ARRAY(arena, double, count + 1);
    for (int64_t i = 0; i < count; i++) {
        double u = draw(o->seed, stream, i);
        if (whole)
            ints[i] = draw_id(&ranges, below, i, u);
        else
            floats[i] = o->shares ? u : 2 * u - 1;
    }
    add_tensor(binding, name, whole ? ST_I32 : ST_F64, type->rank, dims,
               whole ? (const void *)ints : floats);
}

void synthetic_inputs(Binding *binding, const Module *module, const SyntheticOptions *options)
{
    uint64_t stream = 1;
    FOR_OPS (op, &module_function(module, "model")->body)
        if (op->kind == OP_input)
            add_input(binding, module, op, stream++, options);
    for (size_t s = 0; s < module->symbols.count; s++)
        if (symbol_is_made(module, (int)s))
            bind_symbol(binding, module, module->symbols.data[s].name, (int)s, options);
}

double synthetic_flops(Binding *binding, const Function *function)
{
    const Module *module = function->module;
    Sizes sizes = sizes_new(binding->job->arena, module);
    for (size_t s = 0; s < module->symbols.count; s++) {
        const BoundDim *dim = binding_dim(binding, module->symbols.data[s].name);
        if (!dim)
            continue;
        sizes.extents[s] = sizes.totals[s] = (double)dim->extent;
        if (!dim->length)
            continue;
        sizes.totals[s] = 0;
        for (int64_t b = 0; b < dim->n; b++)
            sizes.totals[s] += dim->length[b];
        sizes.extents[s] = sizes.totals[s] / (double)(dim->n ? dim->n : 1);
    }
    double flops = 0;
    FOR_OPS (op, &function->body)
        flops += product_flops(&sizes, op);
    return flops;
}

/* ---- batches of given lengths ---- */

enum { LONGEST = 1 << 20 };

/* A whole number from 1 to LONGEST at *at, which goes on past it; 0: there is none. */
static int32_t read_length(const char **at, const char *end)
{
    int64_t length = 0;
    const char *from = *at;
    for (; *at < end && **at >= '0' && **at <= '9' && length <= LONGEST; ++*at)
        length = 10 * length + (**at - '0');
    return *at == from || length > LONGEST ? 0 : (int32_t)length;
}

static bool read_pair(const char **at, const char *end, int32_t *source, int32_t *target)
{
    *source = read_length(at, end);
    if (!*source || *at == end || *(*at)++ != ':')
        return false;
    *target = read_length(at, end);
    return *target && (*at == end || **at == ' ');
}

static bool read_batch(Job *job, const Lines *lines, int64_t i, BatchLengths *batch)
{
    const char *at = lines->at[i].text, *end = at + lines->at[i].length;
    int64_t room = (int64_t)lines->at[i].length / 2 + 1;
    *batch = (BatchLengths){0, ARENA_ARRAY(job->arena, int32_t, room),
                            ARENA_ARRAY(job->arena, int32_t, room)};
    for (;; batch->n++) {
        while (at < end && *at == ' ')
            at++;
        if (at == end)
            break;
        if (!read_pair(&at, end, &batch->source[batch->n], &batch->target[batch->n])) {
            diag_error(&job->diags, lines_place(lines, i),
                       "sentence %lld is not SOURCE:TARGET, lengths from 1 to %d",
                       (long long)batch->n + 1, LONGEST);
            return false;
        }
    }
    if (!batch->n)
        diag_error(&job->diags, lines_place(lines, i), "a batch without a sentence");
    return batch->n > 0;
}

int64_t lengths_read(Job *job, const char *path, BatchLengths **batches)
{
    const Lines *lines = lines_read(&job->diags, job->arena, path, NULL);
    if (!lines)
        return 0;
    if (!lines->n)
        job_error(job, "%s: there is no batch in it", path);
    *batches = ARENA_ARRAY(job->arena, BatchLengths, lines->n);
    for (int64_t i = 0; i < lines->n; i++)
        if (!read_batch(job, lines, i, &(*batches)[i]))
            return 0;
    return lines->n;
}
