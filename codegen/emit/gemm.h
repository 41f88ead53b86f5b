/* Native products: c = a·b (+ c) with the signature TfcGemm, after the scheme of
 * Goto & van de Geijn (2008). The sum runs over at most GEMM_DEPTH terms a pass;
 * of b a block that stays in the second-level cache is packed into panels as wide as
 * a tile, of a one panel as high as a tile; the tile is computed in registers.
 *
 *   gemm.c       blocks, and which operands are packed
 *   gemm_tile.c  the tiles: accumulators in registers
 *   gemm_pack.c  the panels
 *
 * Every element of c is summed over k in the same order by every tile: how rows and
 * columns are cut changes no bit. */
#ifndef CODEGEN_EMIT_GEMM_H
#define CODEGEN_EMIT_GEMM_H

#include "codegen/target.h"

enum { GEMM_MAX_ROWS = 14, GEMM_MAX_VECTORS = 6, GEMM_HEIGHTS = 5 };

/* Tiles of few rows are wide too: they leave registers for many columns, and b is then
 * read once, where it lies, in long runs. A wide tile is a number of whole panels. */
typedef enum GemmWidth { GEMM_ONE_VECTOR, GEMM_PANEL, GEMM_WIDE, GEMM_WIDTHS } GemmWidth;

typedef struct GemmEmit {
    Ll ll;
    const char *name;
    LlType element;
    int bytes;   /* of an element */
    int lanes;   /* of a vector */
    int vectors[GEMM_WIDTHS]; /* of a tile's row */
    int low_rows;             /* tiles as high as this and lower are wide too */
    int n_heights, heights[GEMM_HEIGHTS]; /* rows of the tiles there are, falling; the last is 1 */
    int64_t depth;
    LlValue tiles[GEMM_HEIGHTS][GEMM_WIDTHS]; /* wide ones for low heights alone */
    LlValue packed_tile; /* the largest, for packed operands */
    LlValue tile_rows, pack_a, pack_b;
} GemmEmit;

static inline int gemm_rows(const GemmEmit *g) { return g->heights[0]; }
static inline int gemm_columns(const GemmEmit *g) { return g->lanes * g->vectors[GEMM_PANEL]; }
static inline int gemm_wide_columns(const GemmEmit *g) { return g->lanes * g->vectors[GEMM_WIDE]; }

/* void (k, a, a_row, a_k, b, b_k, c, c_row, columns, accumulate): c[height][columns] =
 * Σ a·b (+ c). b is read whole vectors wide; `columns` says how much of c exists.
 * `packed`: both operands lie as gemm_pack puts them, and their strides are not read. */
LlValue gemm_tile(GemmEmit *g, int height, int vectors, bool packed);
/* void (…as a tile…, rows, packed): rows 1 … gemm_rows of any number of columns up to
 * gemm_columns; up to low_rows rows also of gemm_wide_columns. */
LlValue gemm_tile_rows(GemmEmit *g);
/* void (k, x, x_k, x_side, count, out): out[l × width + i] = x[l, i] for the i < count;
 * what it writes beside them, up to the end of a vector, is of no account. */
LlValue gemm_pack(GemmEmit *g, const char *part, int width);

/* A function "<name>.<part>" whose operands are i64 but for those whose bit is set
 * in `pointers`; the builder stands in its entry. */
LlValue gemm_open(GemmEmit *g, const char *part, int n_params, unsigned pointers, bool private);
LlValue gemm_call(GemmEmit *g, LlValue function, int n, LlValue *args);
/* Address of element `index` further on. */
LlValue gemm_at(GemmEmit *g, LlValue pointer, LlValue index);
LlValue gemm_min(GemmEmit *g, LlValue a, LlValue b);
void gemm_return(GemmEmit *g);

/* Writes the product of f32 or f64 (bytes 4, 8) under this name. */
void emit_gemm(LLVMContextRef context, LLVMModuleRef module, const Target *target, int bytes,
               const char *name);

#endif
