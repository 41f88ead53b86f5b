/* Memory: from a place to an address, by the layout rule of ir/layout.h and the strides the
 * kernel is called with.
 *
 * The index on a tokens axis is found in one of two ways. It is the space's own token if
 * both coordinates of the pair come from that; otherwise it is
 * offset[sentence] + position.
 *
 * What moves with the column is added last, so that the rest is computed once a row. */
#include "codegen/emit/emit.h"

#include <assert.h>

/* ---- addresses ---- */

/* Sum: Σ coordinate × stride, of coordinates that do not move with the column, and of those that
 * do. */
typedef struct Sum {
    LoValue fixed, moving; /* NULL: 0 */
} Sum;

static void sum_coord(Emit *e, Sum *sum, const Coord *c, LoValue stride)
{
    LoValue *to = c->varies ? &sum->moving : &sum->fixed;
    *to = lo_index_add(&e->lo, *to, lo_index_mul(&e->lo, c->base, stride));
}

/* The coordinate on a storage axis. */
static Coord axis_coord(Emit *e, const Type *type, const Axis *axis, const Place *place)
{
    if (dim_is_one(axis->extent))
        return (Coord){0};
    Coord c = place->at[axis->dim];
    if (axis->batch_dim < 0)
        return c;
    Coord sentence = place->at[axis->batch_dim];
    int symbol = type->dims[axis->dim].symbol;
    if (c.token == symbol + 1 && sentence.token == symbol + 1 && e->token.token == symbol + 1)
        return e->token;
    return coord_add(e, table_lookup(e, symbol, DIM_OFFSET, sentence), c);
}

static Sum sum_place(Emit *e, const Type *type, const Layout *layout, const Place *place,
                     LoValue (*stride)(Emit *e, void *data, int axis), void *data)
{
    Sum sum = {0};
    for (int i = 0; i < layout->n; i++) {
        Coord c = axis_coord(e, type, &layout->axes[i], place);
        if (c.base)
            sum_coord(e, &sum, &c, stride(e, data, i));
    }
    return sum;
}

static LoValue buffer_stride(Emit *e, void *data, int axis)
{
    Buffer *buffer = data;
    if (axis == buffer->layout.n - 1 && !buffer->strided)
        return lo_i64_of(&e->lo, 1);
    if (!buffer->strides[axis]) {
        buffer->strides[axis] = argument_stride(e, (int)(buffer - e->buffers), axis);
    }
    return buffer->strides[axis];
}

/* In a flat kernel every tensor but a lone scalar is one row of elements. */
static Sum sum_flat(Emit *e, const Type *type)
{
    Sum sum = {0};
    for (int i = 0; i < type->rank; i++)
        if (!dim_is_one(type->dims[i]))
            sum.moving = e->column;
    return sum;
}

LoValue emit_address(Emit *e, int number, const Place *place)
{
    Lo *lo = &e->lo;
    Buffer *buffer = &e->buffers[number];
    bool flat = e->signature->range == RANGE_ELEMENTS;
    Sum sum = flat ? sum_flat(e, buffer->type)
                   : sum_place(e, buffer->type, &buffer->layout, place, buffer_stride, buffer);
    LoType element = emit_memory_type(e, buffer->type->dtype);
    return lo_at(lo, element, lo_at(lo, element, buffer->base, sum.fixed), sum.moving);
}

LoValue emit_stride(Emit *e, int buffer, int dim)
{
    const Layout *layout = &e->buffers[buffer].layout;
    for (int i = 0; i < layout->n; i++)
        if (layout->axes[i].dim == dim)
            return buffer_stride(e, &e->buffers[buffer], i);
    assert(!"a storage axis");
    return NULL;
}

static int alignment_of(DType dtype) { return (int)dtype_bytes(dtype); }

/* What is there, as kernels compute with it. */
static LoValue read_at(Emit *e, DType dtype, LoValue pointer, LoValue valid, LoMemory memory)
{
    Lo *lo = &e->lo;
    LoType type = emit_memory_type(e, dtype);
    LoValue x = valid ? lo_masked_load(lo, type, pointer, valid, alignment_of(dtype))
                      : lo_load(lo, type, pointer, alignment_of(dtype));
    lo_reads(x, memory);
    return dtype == DT_BOOL   ? lo_ne(lo, x, lo_zero(lo, lo_type(x)))
           : dtype == DT_BF16 ? lo_bf16_value(lo, x)
                              : x;
}

static void write_at(Emit *e, DType dtype, LoValue pointer, LoValue x)
{
    if (dtype == DT_BOOL)
        x = lo_zext(&e->lo, x, lo_i8);
    else if (dtype == DT_BF16)
        x = lo_bf16_bits(&e->lo, x);
    lo_store(&e->lo, x, pointer, alignment_of(dtype));
}

LoValue emit_load_at(Emit *e, int number, const Place *place)
{
    LoMemory memory = number < e->body.n_inputs ? LO_FIXED : LO_CHANGES;
    LoValue pointer = emit_address(e, number, place);
    return read_at(e, e->buffers[number].type->dtype, pointer, place->valid, memory);
}

/* A result's stores are its op's; gives the former origin. */
static int from_result(Emit *e, int buffer)
{
    int former = e->lo.origin;
    emit_from(e, body_number(&e->body, e->body.yields[buffer - e->body.n_inputs]));
    return former;
}

void emit_store_at(Emit *e, int number, const Place *place, LoValue value)
{
    int former = from_result(e, number);
    write_at(e, e->buffers[number].type->dtype, emit_address(e, number, place), value);
    e->lo.origin = former;
}

void emit_add_at(Emit *e, int number, const Place *place, LoValue term)
{
    DType dtype = e->buffers[number].type->dtype;
    int former = from_result(e, number);
    LoValue pointer = emit_address(e, number, place);
    LoValue sum = lo_add(&e->lo, read_at(e, dtype, pointer, NULL, LO_CHANGES), term);
    write_at(e, dtype, pointer, emit_rounded(e, dtype, sum));
    e->lo.origin = former;
}

/* ---- the number of an element ---- */

static LoValue contiguous_stride(Emit *e, void *data, int axis)
{
    const Layout *layout = data;
    LoValue stride = lo_i64_of(&e->lo, 1);
    for (int i = layout->n - 1; i > axis; i--) {
        LoValue extent = extent_of(e, &layout->axes[i]);
        stride = lo_imul(&e->lo, stride, extent);
    }
    return stride;
}

LoValue element_number(Emit *e, const Type *type, const Place *place)
{
    Layout layout = layout_of(e->module, type);
    Sum sum = e->signature->range == RANGE_ELEMENTS
                  ? sum_flat(e, type)
                  : sum_place(e, type, &layout, place, contiguous_stride, &layout);
    LoValue number = lo_index_add(&e->lo, sum.fixed, sum.moving);
    return number ? number : lo_i64_of(&e->lo, 0);
}
