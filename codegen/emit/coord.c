/* Coordinates, places, and what a kernel reads of its dimensions: extents, lengths, and the tables
 * that lead from a token to its sentence and back. */
#include "codegen/emit/emit.h"

#include <assert.h>

/* ---- coordinates ---- */

Coord coord_of(LoValue base) { return (Coord){.base = base}; }

Coord coord_const(Emit *e, int64_t value)
{
    return coord_of(value ? lo_i64_of(&e->lo, value) : NULL);
}

Coord coord_add(Emit *e, Coord a, Coord b)
{
    return (Coord){.base = lo_index_add(&e->lo, a.base, b.base), .varies = a.varies || b.varies};
}

Coord coord_scale(Emit *e, Coord c, int64_t factor)
{
    LoValue scaled = lo_index_mul(&e->lo, c.base, lo_i64_of(&e->lo, factor));
    return factor == 1 ? c : (Coord){.base = scaled, .varies = c.varies};
}

LoValue coord_value(Emit *e, const Coord *c, LoType type)
{
    if (!c->base)
        return lo_int(&e->lo, type, 0);
    return lo_type(c->base) == type ? c->base : lo_trunc(&e->lo, c->base, type);
}

/* ---- places ---- */

Place place_aligned(const Type *type, const Place *place)
{
    Place own = {.rank = type->rank, .valid = place->valid};
    for (int i = 0; i < type->rank; i++) {
        int from = i + place->rank - type->rank;
        if (!dim_is_one(type->dims[i]) && from >= 0)
            own.at[i] = place->at[from];
    }
    return own;
}

static bool same_coord(const Coord *a, const Coord *b)
{
    return a->base == b->base && a->token == b->token;
}

bool place_equal(const Place *a, const Place *b)
{
    if (a->rank != b->rank || a->valid != b->valid)
        return false;
    for (int i = 0; i < a->rank; i++)
        if (!same_coord(&a->at[i], &b->at[i]))
            return false;
    return true;
}

bool place_is_own(const Emit *e, const Type *type, const Place *place)
{
    Place own = place_aligned(type, &e->space);
    return place_equal(&own, place);
}

/* ---- dimensions ---- */

LoValue dim_field(Emit *e, int symbol, DimField field)
{
    int number = signature_dim(e->signature, symbol);
    assert(number >= 0 && "a kernel knows the dimensions of its types");
    LoValue *slot = &e->dim_fields[number][field];
    if (!*slot)
        *slot = argument_dim(e, number, field);
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
    LoValue at = lo_at(lo, lo_i32, dim_field(e, symbol, table), coord_value(e, &index, lo_i64));
    LoValue entry = lo_reads(lo_load(lo, lo_i32, at, 4), LO_FIXED);
    return (Coord){.base = lo_sext(lo, entry, lo_i64), .varies = index.varies};
}

Coord length_along(Emit *e, const Type *type, int axis, const Place *place)
{
    Dim dim = type->dims[axis];
    if (!dim_is_const(dim) && symbol_is_ragged(e->module, dim.symbol)) {
        int batch = type_find_dim(type, e->module->symbols.data[dim.symbol].batch);
        if (batch >= 0)
            return table_lookup(e, dim.symbol, DIM_LENGTH, place->at[batch]);
    }
    return coord_of(extent_of(e, &(Axis){axis, -1, dim}));
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
