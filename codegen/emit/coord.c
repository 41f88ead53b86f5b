/* Coordinates, values of the axes of a place, and what a kernel is told of its dimensions:
 * extents, lengths, and the tables that lead from a token to its sentence and back. */
#include "codegen/emit/emit.h"

#include <assert.h>

/* ---- coordinates ---- */

Depth coord_depth(const Coord *c)
{
    return c->step || c->lanes ? DEPTH_BODY : c->base ? c->depth : DEPTH_ENTRY;
}

Coord coord_of(LlValue base, Depth depth)
{
    return (Coord){.base = base, .depth = depth};
}

Coord coord_const(Emit *e, int64_t value)
{
    return coord_of(value ? ll_i64(&e->ll, value) : NULL, DEPTH_ENTRY);
}

Coord coord_add(Emit *e, Coord a, Coord b)
{
    Coord sum = {.depth = depth_max(a.base ? a.depth : DEPTH_ENTRY, b.base ? b.depth : DEPTH_ENTRY),
                 .step = a.step + b.step};
    emit_at(e, sum.depth);
    sum.base = ll_index_add(&e->ll, a.base, b.base);
    sum.lanes = a.lanes ? a.lanes : b.lanes;
    if (a.lanes && b.lanes) {
        emit_at(e, DEPTH_BODY);
        sum.lanes = LLVMBuildNSWAdd(e->ll.builder, a.lanes, b.lanes, "");
    }
    return sum;
}

Coord coord_scale(Emit *e, Coord c, int64_t factor)
{
    Coord scaled = {.depth = c.depth, .step = c.step * factor};
    if (factor == 1)
        return c;
    if (c.base) {
        emit_at(e, c.depth);
        scaled.base = ll_index_mul(&e->ll, c.base, ll_i64(&e->ll, factor));
    }
    if (c.lanes) {
        emit_at(e, DEPTH_BODY);
        scaled.lanes =
            LLVMBuildNSWMul(e->ll.builder, c.lanes, ll_int(LLVMTypeOf(c.lanes), factor), "");
    }
    return scaled;
}

static LlValue resized(Emit *e, LlValue x, LlType element)
{
    LlType type = ll_like(LLVMTypeOf(x), element);
    return LLVMTypeOf(x) == type ? x : LLVMBuildTrunc(e->ll.builder, x, type, "");
}

Val coord_value(Emit *e, const Coord *c, LlType element)
{
    Ll *ll = &e->ll;
    Val value = {.depth = coord_depth(c)};
    emit_at(e, value.depth);
    LlValue base = c->base;
    if (c->step)
        base = ll_index_add(ll, base, ll_index_mul(ll, e->column, ll_i64(ll, c->step)));
    value.v = base ? resized(e, base, element) : ll_int(element, 0);
    if (value.depth != DEPTH_BODY || e->lanes == 1) {
        if (c->lanes)
            value.v = LLVMBuildNSWAdd(ll->builder, value.v, resized(e, c->lanes, element), "");
        return value;
    }
    LlType vector = ll_vector(element, e->lanes);
    value.v = ll_splat(ll, value.v, e->lanes);
    if (c->step)
        value.v = LLVMBuildAdd(ll->builder, value.v,
                               LLVMBuildMul(ll->builder, ll_iota(ll, element, e->lanes),
                                            ll_int(vector, c->step), ""), "");
    if (c->lanes)
        value.v = LLVMBuildAdd(ll->builder, value.v, resized(e, c->lanes, element), "");
    return value;
}

/* ---- dimensions ---- */

LlValue load_word(Emit *e, LlValue record, int64_t word, LlType type)
{
    return ll_load(&e->ll, type, ll_gep(&e->ll, e->ll.i64, record, ll_i64(&e->ll, word)), 8);
}

LlValue argument_field(Emit *e, int64_t word, LlType type)
{
    emit_at(e, DEPTH_ENTRY);
    return load_word(e, e->args, word, type);
}

LlValue dim_field(Emit *e, int symbol, DimField field)
{
    int number = signature_dim(e->signature, symbol);
    assert(number >= 0 && "a kernel knows the dimensions of its types");
    LlValue *slot = &e->dim_fields[number][field];
    if (*slot)
        return *slot;
    LlValue dims = argument_field(e, TFC_WORD(TfcKernelArgs, dims), e->ll.ptr);
    LlValue dim = ll_load_pointer(&e->ll, dims, number);
    *slot = load_word(e, dim, field, field <= DIM_TOTAL ? e->ll.i64 : e->ll.ptr);
    return *slot;
}

LlValue extent_of(Emit *e, const Axis *axis)
{
    if (dim_is_const(axis->extent))
        return ll_i64(&e->ll, axis->extent.size);
    return dim_field(e, axis->extent.symbol, axis->batch_dim >= 0 ? DIM_TOTAL : DIM_EXTENT);
}

Coord table_lookup(Emit *e, int symbol, DimField table, Coord index)
{
    Ll *ll = &e->ll;
    LlValue base = dim_field(e, symbol, table);
    Val i = coord_value(e, &index, ll->i64);
    emit_at(e, i.depth);
    LlValue address = LLVMBuildGEP2(ll->builder, ll->i32, base, &i.v, 1, "");
    LlType type = ll_like(LLVMTypeOf(i.v), ll->i32), wide = ll_like(type, ll->i64);
    if (!ll_is_vector(type))
        return coord_of(LLVMBuildSExt(ll->builder, ll_load(ll, type, address, 4), wide, ""),
                        i.depth);
    LlValue all = ll_int(ll_like(type, ll->i1), 1);
    LlValue entry = ll_gather(ll, type, address, e->mask ? e->mask : all, 4);
    return (Coord){.lanes = LLVMBuildSExt(ll->builder, entry, wide, "")};
}

/* The space stands at this token: its sentence and position follow. */
void bind_tokens(Emit *e, const Type *type, const Axis *axis, Coord token)
{
    int symbol = type->dims[axis->dim].symbol;
    e->token = token;
    e->token.token = symbol + 1;
    Coord *sentence = &e->space.at[axis->batch_dim], *position = &e->space.at[axis->dim];
    *sentence = table_lookup(e, symbol, DIM_BATCH, token);
    *position = table_lookup(e, symbol, DIM_POSITION, token);
    sentence->token = position->token = symbol + 1;
}
