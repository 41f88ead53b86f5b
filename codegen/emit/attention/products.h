/* What the files of attention share about products: products.c, memory.c, sweep.c, online.c. */
#ifndef CODEGEN_EMIT_ATTENTION_PRODUCTS_H
#define CODEGEN_EMIT_ATTENTION_PRODUCTS_H

#include "codegen/emit/attention/attention.h"

enum { PACKED_ROWS = 256 }; /* rows of a right operand that are packed together: a part */

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
