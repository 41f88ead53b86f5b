/* What the files of attention share about products: products.c, memory.c, sweep.c, online.c. */
#ifndef CODEGEN_EMIT_ATTENTION_PRODUCTS_H
#define CODEGEN_EMIT_ATTENTION_PRODUCTS_H

#include "codegen/emit/attention/attention.h"

enum { PACKED_ROWS = 256 }; /* rows of a right operand that are packed together: a part */

/* Row `first` of an operand or result, and the way to the next, in elements: the rows go along an
 * axis of the scores. */
typedef struct TileRows {
    LoValue at, stride;
} TileRows;
/* Of a product's left or right operand: side 0 or 1. */
TileRows tile_operand(Attention *a, const TileProduct *p, int side, int axis, LoValue first);
/* Of TILE_ROWS: the sums of the block's queries. Of TILE_COLUMNS: the result's rows from a key
 * on. */
TileRows tile_sums(Attention *a, const TileProduct *p);
TileRows tile_key_sums(Attention *a, const TileProduct *p, LoValue key);

static inline LoValue number(Attention *a, int64_t value) { return lo_i64_of(&a->e->lo, value); }

static inline LoType element_type(Attention *a) { return emit_type(a->e, a->tiles.scores.dtype); }

/* Whether the right operand must be packed: its type is not that of the sums, or its rows are not
 * whole vectors, by which tiles read them in all products but scores. */
static inline bool must_pack(const Attention *a, const TileProduct *p)
{
    return p->op->args[1]->type.dtype != a->tiles.scores.dtype ||
           (p->use != TILE_SCORES && p->depth % a->e->vector != 0);
}

/* Elements of a packed row: d rounded up to whole panels. */
static inline int64_t packed_row(const Attention *a, const TileProduct *p)
{
    return (p->depth + a->panel - 1) / a->panel * a->panel;
}

static inline int number_of(const Attention *a, const TileProduct *p)
{
    return body_number(&a->e->body, &p->op->results[0]);
}

static inline bool is_rounded(const Attention *a, const TileProduct *p)
{
    return p->op->results[0].type.dtype != a->tiles.scores.dtype;
}

#endif
