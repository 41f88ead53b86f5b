/* Signatures: iteration space, kernel-local dimensions and the structural hash. */
#include "codegen/signature.h"

#include "base/map.h"
#include "codegen/body.h"
#include "codegen/tiles.h"
#include "ir/infer.h"

#include <assert.h>
#include <string.h>

static bool is_one_element(const Type *type)
{
    for (int i = 0; i < type->rank; i++)
        if (!dim_is_one(type->dims[i]))
            return false;
    return true;
}

/* A program's dimensions are the model's and the few that passes add. */
static_assert(2 * MOST_SYMBOLS < TFC_MOST_DIM, "a factor names every dimension of a program");

/* ---- space ---- */

static void merge(Type *space, const Type *type)
{
    Type both;
    bool fits = shape_broadcast(space, type, &both);
    assert(fits && "a body's types broadcast to one space");
    (void)fits;
    both.dtype = space->dtype;
    *space = both;
}

static Type body_space(const Body *body)
{
    Type space = {.dtype = DT_F32};
    for (int i = 0; i < body->n_inputs; i++)
        if (body->input_aligned[i])
            merge(&space, &body->inputs[i]->type);
    for (int i = 0; i < body->n_ops; i++)
        if (body->ops[i].aligned)
            merge(&space, &body->ops[i].op->results[0].type);
    return space;
}

static Type column_output(const Body *body, const Type *space)
{
    Type output = *space;
    for (int i = 0; i < body->n_ops; i++) {
        const Op *op = body->ops[i].op;
        const Attr *axes = op_family(op) == FAMILY_reduce ? op_attr(op, ATTR_axes) : NULL;
        for (int j = 0; axes && j < axes->n; j++)
            output.dims[space->rank - op->results[0].type.rank + axes->ints[j]] = dim_const(1);
    }
    return output;
}

/* ---- flat loops over elements ---- */

static bool is_flat_type(const Type *type, const Type *space)
{
    return type_same_shape(type, space) || is_one_element(type);
}

static bool is_flat(const Op *op, const Body *body, const Type *space, const BufferForm *forms)
{
    for (int i = 0; forms && i < body->n_inputs + body->n_results; i++)
        if (forms[i] != FORM_CONTIGUOUS)
            return false;
    if (op->kind == OP_column)
        return false;
    for (int i = 0; i < body->n_inputs; i++)
        if (!is_flat_type(&body->inputs[i]->type, space))
            return false;
    for (int i = 0; i < body->n_results; i++)
        if (!type_same_shape(&body->yields[i]->type, space))
            return false;
    for (int i = 0; i < body->n_ops; i++) {
        const Op *inner = body->ops[i].op;
        bool fits = op_family(inner) == FAMILY_elementwise || inner->kind == OP_const ||
                    inner->kind == OP_random || inner->kind == OP_size ||
                    inner->kind == OP_broadcast;
        /* Rows make random words faster than flat loops do. */
        bool random = body->ops[i].random >= 0 && space->rank > 1;
        if (!fits || random || !is_flat_type(&inner->results[0].type, space))
            return false;
    }
    return true;
}

/* ---- dimensions ---- */

static void add_dim(Signature *s, int symbol)
{
    if (symbol == NO_SYMBOL || signature_dim(s, symbol) >= 0)
        return;
    s->dims[s->n_dims++] = symbol;
}

static void add_type_dims(Signature *s, const Type *type)
{
    for (int i = 0; i < type->rank; i++)
        add_dim(s, type->dims[i].symbol);
}

/* The dimensions that ops ask about come first: a flat kernel reads no others,
 * so their numbers do not depend on shapes. */
static void add_dims(Signature *s, const Op *op, const Body *body)
{
    for (int i = 0; i < body->n_ops; i++)
        if (op_attr(body->ops[i].op, ATTR_dim))
            add_dim(s, (int)op_int(body->ops[i].op, ATTR_dim));
    for (int i = 0; i < op->n_args; i++)
        add_type_dims(s, &op->args[i]->type);
    for (int i = 0; i < op->n_results; i++)
        add_type_dims(s, &op->results[i].type);
    for (int i = 0; i < body->n_ops; i++)
        add_type_dims(s, &body->ops[i].op->results[0].type);
}

int signature_dim(const Signature *signature, int symbol)
{
    for (int i = 0; i < signature->n_dims; i++)
        if (signature->dims[i] == symbol)
            return i;
    return -1;
}

/* ---- hash ---- */

static uint64_t hash_dim(uint64_t h, const Module *module, const Signature *s, Dim dim)
{
    if (dim_is_const(dim))
        return hash_u64(hash_u64(h, 0), (uint64_t)dim.size);
    int batch = module->symbols.data[dim.symbol].batch;
    h = hash_u64(h, 1 + (uint64_t)signature_dim(s, dim.symbol));
    return hash_u64(h, batch == NO_SYMBOL ? 0 : 2 + (uint64_t)signature_dim(s, batch));
}

static uint64_t hash_type(uint64_t h, const Module *module, const Signature *s, const Type *type)
{
    h = hash_u64(h, (uint64_t)type->dtype);
    if (s->range == RANGE_ELEMENTS)
        return hash_u64(h, is_one_element(type));
    h = hash_u64(h, (uint64_t)type->rank);
    for (int i = 0; i < type->rank; i++)
        h = hash_dim(h, module, s, type->dims[i]);
    return h;
}

static uint64_t hash_attr(uint64_t h, const Module *module, const Signature *s, const Attr *attr)
{
    if (attr->name == ATTR_site || attr->name == ATTR_name || attr->name == ATTR_shape ||
        attr->name == ATTR_chunk)
        return h; /* an argument of the kernel; a name; part of the result's type; of the plan */
    h = hash_string(h, attr_info[attr->name].name);
    switch (attr_info[attr->name].kind) {
    case FLOAT: return hash_bytes(h, &attr->f, sizeof attr->f);
    case STRING: return hash_string(h, attr->s);
    case INTS:
        return hash_bytes(hash_u64(h, (uint64_t)attr->n), attr->ints,
                          sizeof(int) * (size_t)attr->n);
    case SYMBOL: return hash_dim(h, module, s, dim_symbol((int)attr->i));
    case INT:
    case TYPE:
    case DIMS: break;
    }
    return hash_u64(h, (uint64_t)attr->i);
}

/* Which random ops share a stream: a kernel draws its words once for all of them. */
static uint64_t hash_sites(uint64_t h, const Signature *s)
{
    for (int i = 0; i < s->n_sites; i++) {
        int first = 0;
        while (s->sites[first] != s->sites[i])
            first++;
        h = hash_u64(h, (uint64_t)first);
    }
    return h;
}

static uint64_t hash_body(const Module *module, const Signature *s, const Op *op, const Body *body)
{
    uint64_t h = hash_u64(HASH_SEED, (uint64_t)s->range);
    h = hash_u64(hash_u64(h, s->strided), s->epilogue);
    bool named = op_is_own_kernel(op) || op->kind == OP_column || op->kind == OP_attention;
    h = hash_string(h, op_info[named ? op->kind : OP_row].name);
    h = hash_u64(h, (uint64_t)body->n_inputs);
    for (int i = 0; i < body->n_inputs; i++)
        h = hash_type(h, module, s, &body->inputs[i]->type);
    for (int i = 0; i < body->n_ops; i++) {
        const Op *inner = body->ops[i].op;
        h = hash_string(h, op_info[inner->kind].name);
        for (int j = 0; j < inner->n_attrs; j++)
            h = hash_attr(h, module, s, &inner->attrs[j]);
        for (int j = 0; j < inner->n_args; j++)
            h = hash_u64(h, (uint64_t)body_number(body, inner->args[j]));
        h = hash_type(h, module, s, &inner->results[0].type);
    }
    for (int i = 0; i < body->n_results; i++)
        h = hash_u64(h, (uint64_t)body_number(body, body->yields[i]));
    if (s->range == RANGE_TILES) { /* the window */
        h = hash_u64(h, (uint64_t)op_int(op, ATTR_before));
        h = hash_u64(h, (uint64_t)op_int(op, ATTR_after));
        uint64_t gaps = op_attr(op, ATTR_gaps) != NULL;
        h = hash_u64(h, gaps + 2 * (op_attr(op, ATTR_from_end) != NULL));
    }
    return hash_sites(h, s);
}

/* ---- all of it ---- */

static void set_space(Signature *s, const Op *op, const Body *body, const BufferForm *forms)
{
    Tiles tiles;
    s->range = RANGE_ROWS;
    switch (op->kind) {
    case OP_concat: s->space = op->results[0].type; break;
    case OP_append: s->space = op->args[1]->type; break;
    case OP_top_k: /* a unit a row */
        s->space = op->args[0]->type;
        s->space.dims[s->space.rank - 1] = dim_const(1);
        break;
    case OP_ctc:
    case OP_ctc_grad: /* a unit a sentence */
        s->space =
            type_of(op->args[0]->type.dtype, 2, (Dim[]){op->args[0]->type.dims[0], dim_const(1)});
        break;
    case OP_scatter_add: /* the table's rows are gone through by every unit */
        s->range = RANGE_COLUMNS;
        s->output = op->results[0].type;
        s->output.dims[0] = dim_const(1);
        s->space = op->args[1]->type.rank ? op->args[0]->type : s->output; /* of one index: a row */
        break;
    case OP_lookup_add: /* so are the positions along the axis */
        s->range = RANGE_COLUMNS;
        s->space = op->args[0]->type;
        s->output = op->results[0].type;
        s->output.dims[op_int(op, ATTR_axis)] = dim_const(1);
        break;
    case OP_column:
        s->range = RANGE_COLUMNS;
        s->space = body_space(body);
        s->output = column_output(body, &s->space);
        break;
    case OP_attention:
        s->range = RANGE_TILES;
        tiles = tiles_of(op);
        memcpy(s->unit, tiles.unit, sizeof s->unit);
        s->space = tiles.scores;
        break;
    default:
        s->space = body_space(body);
        s->epilogue = op_attr(op, ATTR_epilogue) != NULL;
        if (!s->epilogue && is_flat(op, body, &s->space, forms))
            s->range = RANGE_ELEMENTS;
    }
}

static void add_sites(Arena *arena, Signature *s, const Body *body)
{
    int n = 0;
    for (int i = 0; i < body->n_ops; i++)
        n += body->ops[i].random >= 0;
    s->sites = ARENA_ARRAY(arena, int64_t, n);
    for (int i = 0; i < body->n_ops; i++)
        if (body->ops[i].random >= 0)
            s->sites[s->n_sites++] = op_int(body->ops[i].op, ATTR_site);
}

Signature signature_of(Arena *arena, const Module *module, const Op *op, const BufferForm *forms)
{
    Arena *scratch = arena_new();
    Body body = body_of(scratch, op);
    Signature s = {.dims = ARENA_ARRAY(scratch, int, module->symbols.count)};
    set_space(&s, op, &body, forms);
    add_dims(&s, op, &body);
    s.dims = arena_copy(arena, s.dims, sizeof *s.dims * (size_t)s.n_dims);
    add_sites(arena, &s, &body);
    for (int i = 0; forms && i < body.n_inputs + body.n_results; i++)
        if (forms[i] == FORM_STRIDED) {
            assert(i < 64 && "only the first 64 buffers may be strided");
            s.strided |= UINT64_C(1) << i;
        }
    s.hash = hash_body(module, &s, op, &body);
    arena_free(scratch);
    return s;
}

/* ---- units ---- */

static void multiply_dim(TfcSize *size, const Signature *s, Dim dim, TfcQuantity quantity)
{
    if (dim_is_const(dim)) {
        size->coefficient *= dim.size;
        return;
    }
    assert(size->n_factors < TFC_MAX_FACTORS);
    size->factors[size->n_factors++] = tfc_factor(signature_dim(s, dim.symbol), quantity);
}

static void multiply(TfcSize *size, const Signature *s, const Axis *axis)
{
    multiply_dim(size, s, axis->extent, axis->batch_dim >= 0 ? TFC_TOTAL : TFC_EXTENT);
}

int64_t signature_chunks(const Axis *last)
{
    int64_t n = dim_is_const(last->extent) ? last->extent.size : 1;
    return (n + COLUMN_CHUNK - 1) / COLUMN_CHUNK;
}

TfcSize signature_units(const Module *module, const Signature *signature)
{
    bool columns = signature->range == RANGE_COLUMNS;
    Layout layout = layout_of(module, columns ? &signature->output : &signature->space);
    TfcSize units = {.coefficient = 1};
    if (signature->range == RANGE_TILES) {
        for (int i = 0; i < signature->space.rank; i++)
            if (signature->unit[i])
                multiply_dim(&units, signature, signature->space.dims[i], TFC_EXTENT);
        return units;
    }
    for (int i = 0; i + 1 < layout.n; i++)
        multiply(&units, signature, &layout.axes[i]);
    if (layout.n > 0 && columns)
        units.coefficient *= signature_chunks(&layout.axes[layout.n - 1]);
    if (layout.n > 0 && signature->range == RANGE_ELEMENTS)
        multiply(&units, signature, &layout.axes[layout.n - 1]);
    return units;
}
