/* Memory: from a place to an address, by the layout rule of ir/layout.h and the strides the
 * kernel is called with.
 *
 * A tokens axis is found in one of two ways. The space's own token is at hand if
 * both coordinates of the pair come from it; otherwise the token is
 * offset[sentence] + position.
 *
 * What moves with the column is added last, so that the rest is computed once a row. Lanes are contiguous when exactly one coordinate moves with the column,
 * on an axis whose stride is known to be 1; otherwise they are gathered. */
#include "codegen/emit/emit.h"

#include <assert.h>

/* ---- addresses ---- */

/* Σ coordinate × stride: what does not move with the column, what does, and what differs between lanes. */
typedef struct Sum {
    LoValue fixed, moving; /* scalars; NULL: 0 */
    LoValue lanes;         /* vector */
    bool unit;             /* lane i is also i further on */
    bool moves;            /* depends on the column */
} Sum;

static void sum_lanes(Emit *e, Sum *sum, LoValue lanes)
{
    sum->lanes = sum->lanes ? lo_iadd(&e->lo, sum->lanes, lanes) : lanes;
}

static void add_term(Emit *e, LoValue *sum, LoValue x, LoValue stride)
{
    *sum = lo_index_add(&e->lo, *sum, lo_index_mul(&e->lo, x, stride));
}

static void sum_coord(Emit *e, Sum *sum, const Coord *c, LoValue stride)
{
    Lo *lo = &e->lo;
    if (c->base)
        add_term(e, &sum->fixed, c->base, stride);
    sum->moves |= coord_moves(c);
    if (c->step) {
        bool unit = c->step == 1 && lo_is_int(stride) && stride->number == 1;
        LoValue each = c->step == 1 ? stride : lo_imul(lo, stride, lo_i64_of(lo, c->step));
        add_term(e, &sum->moving, e->column, each);
        if (unit && !sum->unit)
            sum->unit = true;
        else if (e->lanes > 1)
            sum_lanes(e, sum,
                      lo_imul(lo, lo_iota_of(lo, lo_i64, e->lanes), lo_splat(lo, each, e->lanes)));
    }
    if (c->lanes) {
        LoValue part = lo_imul(lo, c->lanes, lo_splat(lo, stride, e->lanes));
        if (e->lanes > 1)
            sum_lanes(e, sum, part);
        else
            add_term(e, &sum->moving, part, lo_i64_of(lo, 1));
    }
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
        if (c.base || c.step || c.lanes)
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
        int64_t word = (buffer - e->buffers) * TFC_MAX_AXES + axis;
        emit_at_entry(e);
        LoValue all = load_word(e, e->args, TFC_WORD(TfcKernelArgs, strides), lo_ptr);
        buffer->strides[axis] = load_word(e, all, word, lo_i64);
        lo_resume(&e->lo);
    }
    return buffer->strides[axis];
}

/* In a flat kernel every tensor but a lone scalar is one row of elements. */
static Sum sum_flat(Emit *e, const Type *type)
{
    Sum sum = {0};
    for (int i = 0; i < type->rank; i++)
        if (!dim_is_one(type->dims[i]))
            sum = (Sum){.moving = e->column, .unit = true, .moves = true};
    return sum;
}

typedef struct Address {
    LoValue pointer; /* scalar, or a vector of pointers */
    LoType type;  /* in memory */
    bool vector;  /* the access is one of `lanes` elements */
    LoValue mask; /* vectors only; NULL: all lanes */
    unsigned align;
} Address;

static LoValue access_mask(Emit *e, const Place *place)
{
    LoValue valid = place->valid ? emit_widen(e, place->valid) : NULL;
    return valid && e->mask ? lo_and(&e->lo, valid, e->mask) : valid ? valid : e->mask;
}

static Address address_of(Emit *e, int number, const Place *place)
{
    Lo *lo = &e->lo;
    Buffer *buffer = &e->buffers[number];
    bool flat = e->signature->range == RANGE_ELEMENTS;
    Sum sum = flat ? sum_flat(e, buffer->type)
                   : sum_place(e, buffer->type, &buffer->layout, place, buffer_stride, buffer);
    LoType element = emit_memory_type(e, buffer->type->dtype);
    Address a = {.pointer = lo_at(lo, element, buffer->base, sum.fixed),
                 .type = element,
                 .align = (unsigned)dtype_bytes(buffer->type->dtype)};
    a.pointer = lo_at(lo, element, a.pointer, sum.moving);
    a.vector = e->lanes > 1 && (sum.moves || (place->valid && lo_is_vector(lo_type(place->valid))));
    if (!a.vector)
        return a;
    a.mask = access_mask(e, place);
    if (sum.unit && !sum.lanes) {
        a.type = lo_vector(element, e->lanes);
        return a;
    }
    if (sum.unit)
        sum_lanes(e, &sum, lo_iota_of(lo, lo_i64, e->lanes));
    LoValue lanes = sum.lanes ? sum.lanes : lo_int(lo, lo_vector(lo_i64, e->lanes), 0);
    a.pointer = lo_at(lo, element, a.pointer, lanes);
    a.type = lo_vector(element, e->lanes);
    return a;
}

LoValue emit_address(Emit *e, int buffer, const Place *place)
{
    Address a = address_of(e, buffer, place);
    assert(!a.vector);
    return a.pointer;
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

static bool is_pointers(LoValue pointer) { return lo_is_vector(lo_type(pointer)); }

/* What is there, as kernels compute with it. */
static LoValue read_at(Emit *e, int number, const Place *place, const Address *a, LoMemory memory)
{
    Lo *lo = &e->lo;
    DType dtype = e->buffers[number].type->dtype;
    LoValue x;
    if (!a->vector) {
        x = place->valid ? lo_masked_load(lo, a->type, a->pointer, place->valid, a->align)
                         : lo_load(lo, a->type, a->pointer, a->align);
    } else if (is_pointers(a->pointer)) {
        LoValue all = lo_int(lo, lo_vector(lo_i1, e->lanes), 1);
        x = lo_masked_load(lo, a->type, a->pointer, a->mask ? a->mask : all, a->align);
    } else {
        x = a->mask ? lo_masked_load(lo, a->type, a->pointer, a->mask, a->align)
                    : lo_load(lo, a->type, a->pointer, a->align);
    }
    lo_reads(x, memory);
    return dtype == DT_BOOL   ? lo_ne(lo, x, lo_zero(lo, lo_type(x)))
           : dtype == DT_BF16 ? lo_bf16_value(lo, x)
                              : x;
}

static void write_at(Emit *e, int number, const Address *a, LoValue x)
{
    Lo *lo = &e->lo;
    if (e->buffers[number].type->dtype == DT_BOOL)
        x = lo_zext(lo, x, lo_like(lo_type(x), lo_i8));
    else if (e->buffers[number].type->dtype == DT_BF16)
        x = lo_bf16_bits(lo, x);
    if (!a->vector)
        lo_store(lo, x, a->pointer, a->align);
    else if (is_pointers(a->pointer))
        lo_masked_store(lo, x, a->pointer,
                        a->mask ? a->mask : lo_int(lo, lo_vector(lo_i1, e->lanes), 1), a->align);
    else if (a->mask)
        lo_masked_store(lo, x, a->pointer, a->mask, a->align);
    else
        lo_store(lo, x, a->pointer, a->align);
}

LoValue emit_load_at(Emit *e, int number, const Place *place)
{
    Address a = address_of(e, number, place);
    return read_at(e, number, place, &a, number < e->body.n_inputs ? LO_FIXED : LO_CHANGES);
}

void emit_store_at(Emit *e, int number, const Place *place, LoValue value)
{
    Address a = address_of(e, number, place);
    write_at(e, number, &a, a.vector ? emit_widen(e, value) : value);
}

void emit_add_at(Emit *e, int number, const Place *place, LoValue term)
{
    DType dtype = e->buffers[number].type->dtype;
    Address a = address_of(e, number, place);
    LoValue x = a.vector ? emit_widen(e, term) : term, sum = read_at(e, number, place, &a, LO_CHANGES);
    write_at(e, number, &a, emit_rounded(e, dtype, lo_add(&e->lo, sum, x)));
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

LoValue element_number(Emit *e, const Type *type, const Place *place, bool *unit)
{
    Lo *lo = &e->lo;
    Layout layout = layout_of(e->module, type);
    Sum sum = e->signature->range == RANGE_ELEMENTS
                  ? sum_flat(e, type)
                  : sum_place(e, type, &layout, place, contiguous_stride, &layout);
    LoValue number = lo_index_add(lo, sum.fixed, sum.moving);
    if (!number)
        number = lo_i64_of(lo, 0);
    *unit = sum.unit && !sum.lanes;
    if (sum.lanes && !*unit) {
        number = lo_iadd(lo, lo_splat(lo, number, e->lanes), sum.lanes);
        if (sum.unit)
            number = lo_iadd(lo, number, lo_iota_of(lo, lo_i64, e->lanes));
    }
    return number;
}
