/* Memory of an attention kernel, on the stack: strips of scores, transposed queries, packed rows,
 * sums before they are rounded. */
#include "codegen/emit/attention/products.h"

#include <assert.h>

/* Strips lie a few lines further than a power of two apart, so that the first keys of
 * several do not share the sets of a cache; those of random words are made by fours. */
enum { STRIP_GAP = 20 };
static_assert(STRIP_GAP >= 3 * BLOCK_LINES, "room for three rows of words more");

static LoValue take_memory(Attention *a, int64_t elements, const char *name)
{
    return lo_scratch(&a->e->lo, element_type(a), elements, 64, name);
}

/* The longest sentence along an axis of the scores, but `most`; known at the entry. */
static LoValue longest(Attention *a, int axis, int64_t most)
{
    Emit *e = a->e;
    LoValue extent = extent_of(e, &(Axis){axis, -1, a->tiles.scores.dims[axis]});
    emit_at_entry(e);
    LoValue least = lo_min(&e->lo, extent, number(a, most));
    lo_resume(&e->lo);
    return least;
}

LoValue queries_lines(Attention *a, LoValue queries)
{
    Lo *lo = &a->e->lo;
    queries = lo_iadd(lo, queries, number(a, a->e->sum_lanes - 1));
    return lo_div(lo, queries, number(a, a->e->sum_lanes));
}

/* Vectors of the largest strip: see emit_block. */
static LoValue strip_room(Attention *a)
{
    Emit *e = a->e;
    Lo *lo = &e->lo;
    LoValue queries = longest(a, tile_queries(&a->tiles), block_queries(a));
    emit_at_entry(e);
    LoValue lines = queries_lines(a, queries);
    LoValue rows = lo_iadd(lo, a->most_keys, number(a, gaps_more_distances(a)));
    LoValue room = lo_min(lo, lo_imul(lo, rows, lines), number(a, STRIP_LINES));
    room = lo_imul(lo, room, number(a, e->sum_lanes / e->vector));
    lo_resume(lo);
    return room;
}

LoValue tile_memory(Attention *a, LoType element, const char *name)
{
    Lo *lo = &a->e->lo;
    emit_at_entry(a->e);
    LoValue vectors = lo_iadd(lo, a->room, number(a, STRIP_GAP * a->e->sum_lanes / a->e->vector));
    LoValue memory = lo_scratch_of(lo, lo_vector(element, a->e->vector), vectors, 64, name);
    lo_resume(lo);
    return memory;
}

void tile_fill(Attention *a, LoValue memory, LoValue value, int align)
{
    Lo *lo = &a->e->lo;
    LoLoop vectors = lo_for_open(lo, number(a, 0), number(a, block_vectors(a)), 1, "fill");
    lo_store(lo, value, lo_at(lo, lo_type(value), memory, vectors.index), align);
    lo_for_close(lo, &vectors);
}

LoValue tile_strip(Attention *a, int number)
{
    if (!a->strips[number])
        a->strips[number] = tile_memory(a, element_type(a), "strip");
    return a->strips[number];
}

void tile_open(Attention *a)
{
    Emit *e = a->e;
    int64_t widest = 0;
    tile_need_functions(a, a->tiles.scores.dtype);
    a->panel = e->vector * PANEL_VECTORS;
    a->most_keys = longest(a, tile_keys(&a->tiles), a->one_level ? PART_KEYS : STRIP_LINES);
    a->room = strip_room(a);
    a->strips = ARENA_ARRAY(e->arena, LoValue, e->n_values + 1);
    a->turned = ARENA_ARRAY(e->arena, LoValue, e->n_values + 1);
    a->unrounded = ARENA_ARRAY(e->arena, LoValue, e->n_values + 1);
    for (int i = 0; i < a->tiles.n; i++) {
        const TileProduct *p = &a->tiles.products[i];
        int operand = body_number(&e->body, p->op->args[0]);
        tile_need_functions(a, p->op->args[1]->type.dtype);
        if (p->use == TILE_SCORES && !a->turned[operand])
            a->turned[operand] = take_memory(a, (p->depth + 1) * block_queries(a), "turned");
        assert(!is_rounded(a, p) || p->use == TILE_ROWS);
        if (is_rounded(a, p))
            a->unrounded[number_of(a, p)] = take_memory(a, p->depth * block_queries(a), "sums");
        widest = packed_row(a, p) > widest ? packed_row(a, p) : widest;
    }
    a->packed = take_memory(a, widest * PACKED_ROWS, "packed");
}
