/* Native products: c = a·b (+ c), of f32, f64 and bf16, with the signature TfcGemm, after
 * the scheme of Goto & van de Geijn (2008). The sum runs over at most `depth` terms a
 * pass; of b a block that stays in the second-level cache is packed into panels as wide
 * as a tile; a is read by panels as high as a tile, where it lies along k and otherwise
 * packed; the tile is computed in registers.
 *
 *   gemm.c       blocks, and which operands are packed
 *   gemm_rows.c  the rows of a against a block of b
 *   gemm_tile.c  the tiles: accumulators in registers
 *   gemm_pack.c  the panels; gemm_pack_rows.c those of a
 *   gemm_pairs.c the panels of bf16
 *   gemm_amx.c   tiles and panels of bf16 by AMX; gemm_amx_pack.c
 *
 * Every element of c is summed over k in the same order by every tile: how rows and
 * columns are cut changes no bit.
 *
 * Products of bf16 are sums of pairs of terms, as vdpbf16ps forms them: sum + odd term,
 * rounded, + even term, rounded, in f32 with denormals taken for zero. Panels hold pairs
 * [k/2][side][2], k filled up with a zero. On targets without the instruction they are
 * widened to f32 while they are packed, the odd term of a pair before the even one, so
 * that the tiles of f32 products form the same sums, bit for bit: the product of two
 * bf16 is exact in f32, if it is a normal number or the target has fused multiply-add.
 * On x86 the product sets MXCSR so that denormals are zero there too; other
 * architectures keep them, and differ from it where a term or sum is below 2^-126.
 *
 * AMX sums 16 pairs at a time, the even terms and the odd ones apart, from zero and by
 * fused multiply-add, and adds the sum of both to what it has: fewer roundings in a row,
 * other last bits. Its panels of b hold a multiple of 32 terms; the rows of a are read
 * where they lie, if they lie along k and are whole registers, or packed. */
#ifndef CODEGEN_EMIT_GEMM_H
#define CODEGEN_EMIT_GEMM_H

#include "codegen/target.h"
#include "runtime/exec/program.h"

/* As many registers hold a tile of 6 × 4 vectors. */
enum { GEMM_MANY_REGISTERS = 32 };
enum { GEMM_MAX_ROWS = 8, GEMM_MAX_VECTORS = 8, GEMM_HEIGHTS = 4, GEMM_MAX_LANES = 16 };
/* Rows of a that are packed together at most, and bytes between their panels: room for the vector
 * that reaches past the end of one. */
enum { GEMM_MOST_ROWS = 96, GEMM_PANEL_GAP = 64 };
/* A tile register of AMX: lines, and i32 or f32 (pairs of bf16) and bytes of one. */
enum { AMX_LINES = 16, AMX_LANES = 16, AMX_BYTES = 64 };

/* Tiles of few rows are wide too: they leave registers for many columns, and b is then
 * read once, where it lies, in long runs. A wide tile is a number of whole panels. */
typedef enum GemmWidth { GEMM_ONE_VECTOR, GEMM_HALF, GEMM_PANEL, GEMM_WIDE, GEMM_WIDTHS } GemmWidth;

/* How the operands of a tile lie in memory.
 *   GEMM_STRIDED   a and b by strides of any size
 *   GEMM_PACKED    a and b in panels, as gemm_pack writes them
 *   GEMM_BY_ROWS   b in panels; a with each row contiguous along k */
typedef enum GemmLie { GEMM_STRIDED, GEMM_PACKED, GEMM_BY_ROWS, GEMM_LIES } GemmLie;

typedef struct GemmEmit {
    Ll ll;
    const char *name;
    LlType source;  /* an element of a and b */
    LlType element; /* of a panel: the same, or of bf16 a pair as i32 or a widened f32 */
    LlType sum;
    LlType unit; /* c is addressed in these: sums, or i16 where they may be put as bf16 */
    int bytes;   /* of a panel's element and of a sum */
    bool pairs;  /* bf16 */
    bool joined; /* … a panel's element is a pair, for vdpbf16ps or AMX */
    bool amx;
    int lanes;                /* of a vector */
    int vectors[GEMM_WIDTHS]; /* of a tile's row */
    int unrolled;             /* terms a turn of the loop of a tile whose strides are constants */
    int low_rows;             /* tiles as high as this and lower are wide too */
    int n_heights, heights[GEMM_HEIGHTS]; /* rows of the tiles there are, falling; the last is 1 */
    int panels;                           /* of a together */
    int64_t depth;
    int block, line; /* bytes of the packed block of b; bytes that a prefetch brings */
    LlValue tiles[GEMM_HEIGHTS][GEMM_WIDTHS]; /* wide ones for low heights alone */
    LlValue largest[GEMM_LIES];               /* the largest tile, for operands that lie so */
    LlValue tile_rows, pack_a, pack_b;
    LlValue widen_a; /* of bf16 whose pairs are not joined */
} GemmEmit;

static inline int gemm_rows(const GemmEmit *g) { return g->heights[0]; }
static inline int gemm_together(const GemmEmit *g) { return gemm_rows(g) * g->panels; }
static inline int gemm_columns(const GemmEmit *g) { return g->lanes * g->vectors[GEMM_PANEL]; }
static inline int gemm_wide_columns(const GemmEmit *g) { return g->lanes * g->vectors[GEMM_WIDE]; }

/* void (k, a, a_row, a_k, b, b_k, c, c_row, columns, put): c[height][columns] =
 * Σ a·b (+ c); k elements of the panels, c_row units. b is read whole vectors wide;
 * `columns` says how much of c exists. Strides that follow from how the operands lie
 * are not read. */
LlValue gemm_tile(GemmEmit *g, int height, int vectors, GemmLie lie);
/* Tiles of every height and width, for operands that lie anyhow. */
void gemm_tiles(GemmEmit *g);
/* void (…as a tile…, rows, lie): rows 1 … gemm_rows of any number of columns up to
 * gemm_columns; up to low_rows rows also of gemm_wide_columns. */
LlValue gemm_tile_rows(GemmEmit *g);
/* The same by AMX; a_row in bytes. */
LlValue gemm_amx_rows(GemmEmit *g);
/* Sets up the tile registers, and gives them back. */
void gemm_amx_begin(GemmEmit *g);
void gemm_amx_end(GemmEmit *g);
/* The function that writes a panel: void (k, x, x_k, x_side, count, out), out[l × width + i] =
 * x[l, i] for i < count. bf16 is widened where the panel's elements are f32. Elements from
 * `count` to `width` are undefined. */
LlValue gemm_pack(GemmEmit *g, const char *part, int width);
/* void (…, pitch): out[l × pitch + i]. */
LlValue gemm_pack_pitched(GemmEmit *g, const char *part, int width);
/* The same of bf16, k terms as panels of pairs (gemm_terms rows). */
LlValue gemm_pack_pairs(GemmEmit *g, const char *part, int width);
/* void (k, x, x_k, rows, out, pitch): g->panels panels as high as a tile, or fewer, of
 * rows that lie beside each other: out[(r / height) × pitch + l × height + r % height] =
 * x[l, r]; of bf16 widened, the odd term of a pair before the even one. */
LlValue gemm_pack_beside(GemmEmit *g);
/* void (k, x, x_row, rows, out, out_row): rows of bf16 that lie along k as f32, the odd term
 * of a pair before the even one; each is written up to the end of a vector. */
LlValue gemm_widen_rows(GemmEmit *g);
/* For AMX: void (k, x, x_k, x_row, rows, out, pitch): rows of a as pairs, row r at
 * out + r × pitch; and panels of b as gemm_pack_pairs makes them, filled up. */
LlValue gemm_amx_pack_rows(GemmEmit *g);
LlValue gemm_amx_pack_panel(GemmEmit *g);
/* How many rows a panel of k terms has. */
LlValue gemm_terms(GemmEmit *g, LlValue k);
/* One or several elements of an operand, as the panels have them; lanes whose mask is off
 * are not read, and zero. NULL: all are read. */
LlValue gemm_load(GemmEmit *g, int lanes, LlValue at, LlValue mask);
/* Turns the square of `lanes` vectors. */
void gemm_turn(GemmEmit *g, LlValue *rows);

/* A function "<name>.<part>" whose operands are i64 but for those whose bit is set
 * in `pointers`; the builder stands in its entry. */
LlValue gemm_open(GemmEmit *g, const char *part, int n_params, unsigned pointers, bool private);
LlValue gemm_call(GemmEmit *g, LlValue function, int n, LlValue *args);
/* Address of element `index` of a panel, of an operand; of unit `index` of c. */
LlValue gemm_at(GemmEmit *g, LlValue pointer, LlValue index);
LlValue gemm_source(GemmEmit *g, LlValue pointer, LlValue index);
LlValue gemm_unit(GemmEmit *g, LlValue pointer, LlValue index);
void gemm_return(GemmEmit *g);
/* a × b, of indices. */
static inline LlValue gemm_mul(GemmEmit *g, LlValue a, LlValue b)
{
    return LLVMBuildNSWMul(g->ll.builder, a, b, "");
}

/* Sets what follows from the type of the operands. */
void gemm_set_types(GemmEmit *g, const Target *target, TfcType type);

/* Writes the product of operands of this type under this name. */
void emit_gemm(LLVMContextRef context, LLVMModuleRef module, const Target *target, TfcType type,
               const char *name);

#endif
