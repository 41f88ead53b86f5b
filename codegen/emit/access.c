/* Memory: from a place to an address, by the layout rule of ir/layout.h and the strides the
 * kernel is called with.
 *
 * A tokens axis is found in one of two ways. The space's own token is at hand if
 * both coordinates of the pair come from it; otherwise the token is
 * offset[sentence] + position.
 *
 * An address is summed by depth, so that what belongs to the row is added once a
 * row. Lanes are contiguous when exactly one coordinate moves with the column,
 * on an axis whose stride is known to be 1; otherwise they are gathered. */
#include "codegen/emit/emit.h"

#include <assert.h>

/* ---- addresses ---- */

/* Σ coordinate × stride: scalar parts by depth, and what differs between lanes. */
typedef struct Sum {
    LlValue scalar[3];
    LlValue lanes;  /* vector, DEPTH_BODY */
    bool unit;      /* lane i is also i further on */
    bool moves;     /* depends on the column */
} Sum;

static void sum_scalar(Emit *e, Sum *sum, Depth depth, LlValue x, LlValue stride)
{
    emit_at(e, depth);
    sum->scalar[depth] = ll_index_add(&e->ll, sum->scalar[depth], ll_index_mul(&e->ll, x, stride));
}

static void sum_lanes(Emit *e, Sum *sum, LlValue lanes)
{
    emit_at(e, DEPTH_BODY);
    sum->lanes = sum->lanes ? LLVMBuildNSWAdd(e->ll.builder, sum->lanes, lanes, "") : lanes;
}

static void sum_coord(Emit *e, Sum *sum, const Coord *c, LlValue stride)
{
    Ll *ll = &e->ll;
    if (c->base)
        sum_scalar(e, sum, c->depth, c->base, stride);
    if (c->step) {
        bool unit =
            c->step == 1 && LLVMIsAConstantInt(stride) && LLVMConstIntGetSExtValue(stride) == 1;
        emit_at(e, DEPTH_ENTRY);
        LlValue each =
            c->step == 1 ? stride : LLVMBuildNSWMul(ll->builder, stride, ll_i64(ll, c->step), "");
        sum_scalar(e, sum, DEPTH_BODY, e->column, each);
        sum->moves = true;
        if (unit && !sum->unit) {
            sum->unit = true;
        } else if (e->lanes > 1) {
            emit_at(e, DEPTH_ENTRY);
            LlValue steps = LLVMBuildNSWMul(ll->builder, ll_iota(ll, ll->i64, e->lanes),
                                            ll_splat(ll, each, e->lanes), "");
            sum_lanes(e, sum, steps);
        }
    }
    if (c->lanes) {
        sum->moves = true;
        emit_at(e, DEPTH_ENTRY);
        LlValue strides = ll_splat(ll, stride, e->lanes);
        emit_at(e, DEPTH_BODY);
        LlValue part = LLVMBuildNSWMul(ll->builder, c->lanes, strides, "");
        if (e->lanes > 1)
            sum_lanes(e, sum, part);
        else
            sum_scalar(e, sum, DEPTH_BODY, part, ll_i64(ll, 1));
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
                     LlValue (*stride)(Emit *e, void *data, int axis), void *data)
{
    Sum sum = {0};
    for (int i = 0; i < layout->n; i++) {
        Coord c = axis_coord(e, type, &layout->axes[i], place);
        if (c.base || c.step || c.lanes)
            sum_coord(e, &sum, &c, stride(e, data, i));
    }
    return sum;
}

static LlValue buffer_stride(Emit *e, void *data, int axis)
{
    Buffer *buffer = data;
    if (axis == buffer->layout.n - 1 && !buffer->strided)
        return ll_i64(&e->ll, 1);
    if (!buffer->strides[axis]) {
        LlValue all = argument_field(e, TFC_WORD(TfcKernelArgs, strides), e->ll.ptr);
        buffer->strides[axis] =
            load_word(e, all, (buffer - e->buffers) * TFC_MAX_AXES + axis, e->ll.i64);
    }
    return buffer->strides[axis];
}

/* In a flat kernel every tensor but a lone scalar is one row of elements. */
static Sum sum_flat(Emit *e, const Type *type)
{
    Sum sum = {0};
    for (int i = 0; i < type->rank; i++)
        if (!dim_is_one(type->dims[i]))
            sum = (Sum){.scalar = {[DEPTH_BODY] = e->column}, .unit = true, .moves = true};
    return sum;
}

typedef struct Address {
    LlValue pointer; /* scalar, or a vector of pointers */
    Depth depth;
    LlType type;     /* in memory */
    bool vector;     /* the access is one of `lanes` elements */
    LlValue mask;    /* vectors only; NULL: all lanes */
    unsigned align;
} Address;

static LlValue access_mask(Emit *e, const Place *place)
{
    LlValue valid = place->valid.v ? emit_widen(e, place->valid, DEPTH_BODY) : NULL;
    emit_at(e, DEPTH_BODY);
    return valid && e->mask ? LLVMBuildAnd(e->ll.builder, valid, e->mask, "")
           : valid          ? valid
                            : e->mask;
}

static Address address_of(Emit *e, int number, const Place *place)
{
    Ll *ll = &e->ll;
    Buffer *buffer = &e->buffers[number];
    bool flat = e->signature->range == RANGE_ELEMENTS;
    Sum sum = flat ? sum_flat(e, buffer->type)
                   : sum_place(e, buffer->type, &buffer->layout, place, buffer_stride, buffer);
    LlType element = emit_memory_type(e, buffer->type->dtype);
    Address a = {.pointer = buffer->base,
                 .depth = sum.moves ? DEPTH_BODY : DEPTH_ENTRY,
                 .type = element,
                 .align = (unsigned)dtype_bytes(buffer->type->dtype)};
    for (Depth d = DEPTH_ENTRY; d <= DEPTH_BODY; d++)
        if (sum.scalar[d]) {
            emit_at(e, d);
            a.pointer = ll_gep(ll, element, a.pointer, sum.scalar[d]);
            a.depth = depth_max(a.depth, d);
        }
    if (place->valid.v)
        a.depth = depth_max(a.depth, place->valid.depth);
    a.vector = a.depth == DEPTH_BODY && e->lanes > 1;
    if (!a.vector)
        return a;
    a.mask = access_mask(e, place);
    if (sum.unit && !sum.lanes) {
        a.type = ll_vector(element, e->lanes);
        return a;
    }
    if (sum.unit)
        sum_lanes(e, &sum, ll_iota(ll, ll->i64, e->lanes));
    LlValue lanes = sum.lanes ? sum.lanes : ll_int(ll_vector(ll->i64, e->lanes), 0);
    emit_at(e, DEPTH_BODY);
    a.pointer = LLVMBuildGEP2(ll->builder, element, a.pointer, &lanes, 1, "");
    a.type = ll_vector(element, e->lanes);
    return a;
}

LlValue emit_address(Emit *e, int buffer, const Place *place)
{
    Address a = address_of(e, buffer, place);
    assert(!a.vector && a.depth != DEPTH_BODY);
    return a.pointer;
}

LlValue emit_stride(Emit *e, int buffer, int dim)
{
    const Layout *layout = &e->buffers[buffer].layout;
    for (int i = 0; i < layout->n; i++)
        if (layout->axes[i].dim == dim)
            return buffer_stride(e, &e->buffers[buffer], i);
    assert(!"a storage axis");
    return NULL;
}

static bool is_pointers(LlValue pointer)
{
    return ll_is_vector(LLVMTypeOf(pointer));
}

/* What is there, as kernels compute with it. */
static LlValue read_at(Emit *e, int number, const Place *place, const Address *a)
{
    Ll *ll = &e->ll;
    DType dtype = e->buffers[number].type->dtype;
    LlValue x;
    emit_at(e, a->depth);
    if (!a->vector) {
        LlValue pointer = a->pointer;
        if (place->valid.v)
            pointer = LLVMBuildSelect(ll->builder, place->valid.v, pointer, e->spare, "");
        x = ll_load(ll, a->type, pointer, a->align);
    } else if (is_pointers(a->pointer)) {
        LlValue all = ll_int(ll_vector(ll->i1, e->lanes), 1);
        x = ll_gather(ll, a->type, a->pointer, a->mask ? a->mask : all, a->align);
    } else {
        x = a->mask ? ll_masked_load(ll, a->type, a->pointer, a->mask, a->align)
                    : ll_load(ll, a->type, a->pointer, a->align);
    }
    return dtype == DT_BOOL   ? LLVMBuildICmp(ll->builder, LLVMIntNE, x,
                                              LLVMConstNull(LLVMTypeOf(x)), "")
           : dtype == DT_BF16 ? ll_bf16_value(ll, x)
                              : x;
}

static void write_at(Emit *e, int number, const Address *a, LlValue x)
{
    Ll *ll = &e->ll;
    emit_at(e, a->depth);
    if (e->buffers[number].type->dtype == DT_BOOL)
        x = LLVMBuildZExt(ll->builder, x, ll_like(LLVMTypeOf(x), ll->i8), "");
    else if (e->buffers[number].type->dtype == DT_BF16)
        x = ll_bf16_bits(ll, x);
    if (!a->vector)
        ll_store(ll, x, a->pointer, a->align);
    else if (is_pointers(a->pointer))
        ll_scatter(ll, x, a->pointer,
                   a->mask ? a->mask : ll_int(ll_vector(ll->i1, e->lanes), 1), a->align);
    else if (a->mask)
        ll_masked_store(ll, x, a->pointer, a->mask, a->align);
    else
        ll_store(ll, x, a->pointer, a->align);
}

/* Memory that changes is touched where the builder stands in the loops, however little its
 * address depends on them: never above a row, which may not exist. */
static Address address_of_result(Emit *e, int number, const Place *place, Depth depth)
{
    Address a = address_of(e, number, place);
    a.depth = depth_max(depth_max(a.depth, depth), DEPTH_ROW);
    return a;
}

Val emit_load_at(Emit *e, int number, const Place *place)
{
    Address a = address_of(e, number, place);
    return (Val){read_at(e, number, place, &a), a.depth};
}

void emit_store_at(Emit *e, int number, const Place *place, Val value)
{
    Address a = address_of_result(e, number, place, value.depth);
    LlValue x = emit_widen(e, value, a.depth);
    write_at(e, number, &a, x);
}

void emit_add_at(Emit *e, int number, const Place *place, Val term)
{
    DType dtype = e->buffers[number].type->dtype;
    Address a = address_of_result(e, number, place, term.depth);
    LlValue x = emit_widen(e, term, a.depth), sum = read_at(e, number, place, &a);
    sum = dtype_is_float(dtype) ? ll_fadd(&e->ll, sum, x)
                                : LLVMBuildAdd(e->ll.builder, sum, x, "");
    write_at(e, number, &a, emit_rounded(e, dtype, sum));
}

/* ---- the number of an element ---- */

static LlValue contiguous_stride(Emit *e, void *data, int axis)
{
    const Layout *layout = data;
    LlValue stride = ll_i64(&e->ll, 1);
    for (int i = layout->n - 1; i > axis; i--) {
        LlValue extent = extent_of(e, &layout->axes[i]);
        emit_at(e, DEPTH_ENTRY);
        stride = LLVMBuildNSWMul(e->ll.builder, stride, extent, "");
    }
    return stride;
}

Val element_number(Emit *e, const Type *type, const Place *place, bool *unit)
{
    Ll *ll = &e->ll;
    Layout layout = layout_of(e->module, type);
    Sum sum = e->signature->range == RANGE_ELEMENTS
                  ? sum_flat(e, type)
                  : sum_place(e, type, &layout, place, contiguous_stride, &layout);
    Val number = {.depth = sum.moves ? DEPTH_BODY : DEPTH_ENTRY};
    for (Depth d = DEPTH_ENTRY; d <= DEPTH_BODY; d++)
        if (sum.scalar[d])
            number.depth = depth_max(number.depth, d);
    emit_at(e, number.depth);
    for (Depth d = DEPTH_ENTRY; d <= DEPTH_BODY; d++)
        number.v = ll_index_add(ll, number.v, sum.scalar[d]);
    if (!number.v)
        number.v = ll_i64(ll, 0);
    *unit = sum.unit && !sum.lanes;
    if (sum.lanes && !*unit) {
        number.v = LLVMBuildNSWAdd(ll->builder, ll_splat(ll, number.v, e->lanes), sum.lanes, "");
        if (sum.unit)
            number.v = LLVMBuildNSWAdd(ll->builder, number.v, ll_iota(ll, ll->i64, e->lanes), "");
    }
    return number;
}
