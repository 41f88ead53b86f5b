/* Coordinates, values of the axes of a place, and what a kernel is told of its dimensions:
 * extents, lengths, and the tables that lead from a token to its sentence and back. */
#include "codegen/emit/emit.h"

#include <assert.h>

/* ---- coordinates ---- */

Coord coord_of(LoValue base) { return (Coord){.base = base}; }

Coord coord_const(Emit *e, int64_t value) { return coord_of(value ? lo_i64_of(&e->lo, value) : NULL); }

Coord coord_add(Emit *e, Coord a, Coord b)
{
    Coord sum = {.base = lo_index_add(&e->lo, a.base, b.base), .step = a.step + b.step,
                 .varies = a.varies || b.varies};
    sum.lanes = a.lanes && b.lanes ? lo_iadd(&e->lo, a.lanes, b.lanes) : a.lanes ? a.lanes : b.lanes;
    return sum;
}

Coord coord_scale(Emit *e, Coord c, int64_t factor)
{
    Coord scaled = {.step = c.step * factor, .varies = c.varies};
    if (factor == 1)
        return c;
    scaled.base = lo_index_mul(&e->lo, c.base, lo_i64_of(&e->lo, factor));
    if (c.lanes)
        scaled.lanes = lo_imul(&e->lo, c.lanes, lo_int(&e->lo, lo_type(c.lanes), factor));
    return scaled;
}

static LoValue resized(Emit *e, LoValue x, LoType element)
{
    LoType type = lo_like(lo_type(x), element);
    return lo_type(x) == type ? x : lo_trunc(&e->lo, x, type);
}

LoValue coord_value(Emit *e, const Coord *c, LoType element)
{
    Lo *lo = &e->lo;
    LoValue base = c->base;
    if (c->step)
        base = lo_index_add(lo, base, lo_index_mul(lo, e->column, lo_i64_of(lo, c->step)));
    LoValue value = base ? resized(e, base, element) : lo_int(lo, element, 0);
    if (!coord_moves(c) || e->lanes == 1)
        return c->lanes ? lo_iadd(lo, value, resized(e, c->lanes, element)) : value;
    LoType vector = lo_vector(element, e->lanes);
    value = lo_splat(lo, value, e->lanes);
    if (c->step)
        value =
            lo_add(lo, value,
                   lo_mul(lo, lo_iota_of(lo, element, e->lanes), lo_int(lo, vector, c->step)));
    if (c->lanes)
        value = lo_add(lo, value, resized(e, c->lanes, element));
    return value;
}

/* ---- dimensions ---- */

LoValue load_word(Emit *e, LoValue record, int64_t word, LoType type)
{
    LoValue at = lo_at(&e->lo, lo_i64, record, lo_i64_of(&e->lo, word));
    return lo_reads(lo_load(&e->lo, type, at, 8), LO_GIVEN);
}

LoValue argument_field(Emit *e, int64_t word, LoType type)
{
    emit_at_entry(e);
    LoValue field = load_word(e, e->args, word, type);
    lo_resume(&e->lo);
    return field;
}

LoValue dim_field(Emit *e, int symbol, DimField field)
{
    int number = signature_dim(e->signature, symbol);
    assert(number >= 0 && "a kernel knows the dimensions of its types");
    LoValue *slot = &e->dim_fields[number][field];
    if (*slot)
        return *slot;
    emit_at_entry(e);
    LoValue dims = load_word(e, e->args, TFC_WORD(TfcKernelArgs, dims), lo_ptr);
    LoValue dim = lo_load_pointer(&e->lo, dims, number);
    *slot = load_word(e, dim, field, field <= DIM_TOTAL ? lo_i64 : lo_ptr);
    lo_resume(&e->lo);
    return *slot;
}

LoValue extent_of(Emit *e, const Axis *axis)
{
    if (dim_is_const(axis->extent))
        return lo_i64_of(&e->lo, axis->extent.size);
    return dim_field(e, axis->extent.symbol, axis->batch_dim >= 0 ? DIM_TOTAL : DIM_EXTENT);
}

Coord table_lookup(Emit *e, int symbol, DimField table, Coord index)
{
    Lo *lo = &e->lo;
    LoValue base = dim_field(e, symbol, table);
    LoValue i = coord_value(e, &index, lo_i64);
    LoValue address = lo_at(lo, lo_i32, base, i);
    LoType type = lo_like(lo_type(i), lo_i32), wide = lo_like(type, lo_i64);
    if (!lo_is_vector(type))
        return (Coord){.base = lo_sext(lo, lo_reads(lo_load(lo, type, address, 4), LO_FIXED), wide),
                       .varies = coord_moves(&index)};
    LoValue all = lo_int(lo, lo_like(type, lo_i1), 1);
    LoValue entry = lo_masked_load(lo, type, address, e->mask ? e->mask : all, 4);
    lo_reads(entry, LO_FIXED);
    return (Coord){.lanes = lo_sext(lo, entry, wide)};
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
