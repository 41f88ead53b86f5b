/* Tiles: the products of an attention region, for plan and emit: for each of their axes the axis of
 * the scores to which it corresponds, and the axes of the scores along which the kernel's units go.
 *
 *   scores    dot [batch, queries…, d], [batch, keys, d]
 *   rows      dot scores, [batch, keys, d]               gives [batch, queries…, d]
 *   columns   dot scores, [batch, queries…, d]           gives [batch, keys, d]
 *
 * d (`depth`) is constant. The last two axes of the scores are queries and keys. */
#ifndef CODEGEN_TILES_H
#define CODEGEN_TILES_H

#include "ir/graph.h"

enum { MAX_TILE_PRODUCTS = 8, DEPTH_AXIS = -1 };

typedef enum TileUse { TILE_SCORES, TILE_ROWS, TILE_COLUMNS } TileUse;

typedef struct TileProduct {
    const Op *op;
    TileUse use;
    int64_t depth;
    /* of a, b, result: by axis the axis of the scores, or DEPTH_AXIS; not set for the scores */
    int axes[3][MAX_RANK];
} TileProduct;

typedef struct Tiles {
    Type scores;
    int n;
    TileProduct products[MAX_TILE_PRODUCTS];
    /* axes that every product has as batch; the kernel has a unit for each index along these */
    bool unit[MAX_RANK];
} Tiles;

Tiles tiles_of(const Op *attention);
static inline int tile_queries(const Tiles *t) { return t->scores.rank - 2; }
static inline int tile_keys(const Tiles *t) { return t->scores.rank - 1; }

#endif
