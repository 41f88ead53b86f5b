/* The functions of which products consist on one processor: tiles, which hold their sums in
 * registers, and functions that pack operands for them. runtime/product/form.h describes each
 * (TfcTile, TfcPackPanel); together they are a TfcForm. runtime/product/product.c has the loops
 * around them.
 *
 *   gemm.c      the form: shapes of tiles, which parts, the record
 *   tile.c      tiles
 *   pack.c      panels
 *   amx.c       tiles and rows of a for AMX
 *   words.c     what these are written with
 *
 * Products of bf16 are sums of pairs of terms, as vdpbf16ps forms them: sum + odd term, rounded,
 * + even term, rounded, in f32 with denormals taken for zero. Panels hold pairs [k/2][side], an
 * i32 each, or, where the processor has no instruction for pairs, two rows of f32 for each: the
 * odd terms, then the even ones. Tiles of f32 then form the same sums, bit for bit: the product
 * of two bf16 is exact in f32, if it is a normal number or the target has fused multiply-add.
 * Panels that are kept hold pairs there, too, which tiles of their own widen as they read them:
 * products of few rows take as long as memory takes to give the panels.
 * Processors that cannot take denormals for zero differ where a term or sum is below 2^-126.
 *
 * AMX sums 16 pairs at a time, the even terms and the odd ones apart, from zero and by fused
 * multiply-add, and adds the sum of both to what it has: fewer roundings in a row, other last
 * bits. */
#ifndef CODEGEN_EMIT_GEMM_GEMM_H
#define CODEGEN_EMIT_GEMM_GEMM_H

#include "codegen/loop/build.h"
#include "codegen/processor.h"
#include "runtime/exec/program.h"

/* A tile of 6 × 4 vectors needs this many registers. */
enum { GEMM_MANY_REGISTERS = 32 };
enum { GEMM_MAX_ROWS = 8, GEMM_MAX_VECTORS = 8, GEMM_MAX_LANES = 16 };
/* A tile register of AMX: lines, and i32 or f32 (pairs of bf16) and bytes of one. */
enum { AMX_LINES = 16, AMX_LANES = 16, AMX_BYTES = 64 };

/* Tiles by width. Those of few rows are wide too: they leave registers for many columns, and b is
 * then read once, where it lies, in long runs. */
enum { GEMM_ONE_VECTOR, GEMM_HALF, GEMM_PANEL, GEMM_WIDE };

typedef struct GemmEmit {
    Lo lo;
    LoModule *module;
    const char *name;
    TfcFormSizes form;
    LoType source;  /* an element of a and b */
    LoType element; /* of a panel: the same, or of bf16 a pair as i32 or a widened f32 */
    LoType sum;
    bool pairs; /* bf16 */
    bool keeps; /* kept panels are being written */
    bool amx;
    int lanes;               /* of a vector */
    int vectors[TFC_WIDTHS]; /* of a tile's row */
    int unrolled;            /* terms a turn of a tile's loop, where its strides are constants */
    int ahead;               /* bytes of b that a tile asks for beforehand; 0: none */
} GemmEmit;

static inline bool gemm_widens(const GemmEmit *g) { return g->form.kept != g->form.joined; }
static inline bool gemm_joined(const GemmEmit *g) { return g->form.joined > 1; }
static inline int gemm_bytes(const GemmEmit *g) { return (int)g->form.element; }
static inline int gemm_columns(const GemmEmit *g) { return g->lanes * g->vectors[GEMM_PANEL]; }

/* The parameters of a TfcTile, and which of them are pointers. */
/* clang-format off */
enum {
    ARG_K, ARG_A, ARG_A_ROW, ARG_A_K, ARG_B, ARG_B_K, ARG_C, ARG_C_ROW, ARG_COLUMNS,
    ARG_STORE, ARG_ROWS, ARGS,
    ARG_POINTERS = 1 << ARG_A | 1 << ARG_B | 1 << ARG_C
};
/* clang-format on */
/* A TfcTile of `height` rows and `vectors` vectors. */
LoFunction *gemm_tile(GemmEmit *g, int height, int vectors, TfcLie lie);
/* Tiles of every height and width of the form, for operands of any layout; NULL: there is no such
 * tile. */
typedef LoFunction *GemmTiles[TFC_HEIGHTS][TFC_WIDTHS];
void gemm_tiles(GemmEmit *g, GemmTiles tiles);
/* The same for kept panels of pairs, on processors for which other panels are widened to f32; the
 * greatest height has no tile. */
void gemm_kept_tiles(GemmEmit *g, GemmTiles tiles);
/* Tiles of every height and width that use AMX; widths count AMX's tile registers. */
void gemm_amx_tiles(GemmEmit *g, GemmTiles tiles);

/* A sum to c if `stored`, an i1; NULL: always. TFC_STORE_ADD adds it to what is there if `loaded`,
 * else to zero; NULL: always. */
void gemm_store(GemmEmit *g, LoValue sum, LoValue at, TfcStore store, LoValue stored,
                LoValue loaded);

/* A TfcPackPanel, `width` columns wide. `kept`: for kept panels. */
LoFunction *gemm_pack(GemmEmit *g, const char *part, int width, bool kept);
/* void (…, width): packs a panel of `width` columns. */
LoFunction *gemm_pack_pitched(GemmEmit *g, const char *part, int width);
/* A TfcPackPanel for rows of a that are adjacent in memory, element beside element: it only
 * copies. */
LoFunction *gemm_pack_rows(GemmEmit *g);
/* A TfcTransposeRows, into rows of pairs. */
LoFunction *gemm_amx_transpose_rows(GemmEmit *g);

/* One or several elements of an operand, widened to what sums are of; lanes whose mask is off are
 * not read, and zero. NULL: all are read. */
LoValue gemm_load(GemmEmit *g, int lanes, LoValue at, LoValue mask);
/* Transposes the square of `lanes` vectors. */
void gemm_transpose(GemmEmit *g, LoValue *rows);

/* A function "<name>.<part>" of operands that are i64, but pointers where their bit is set; the
 * builder stands in its entry, and `params` has them. */
LoFunction *gemm_open(GemmEmit *g, const char *part, int n_params, unsigned pointers,
                      LoValue *params);
void gemm_return(GemmEmit *g);
/* Address of element `index` of a panel, of an operand; of a byte. */
LoValue gemm_at(GemmEmit *g, LoValue pointer, LoValue index);
LoValue gemm_source(GemmEmit *g, LoValue pointer, LoValue index);
LoValue gemm_byte(GemmEmit *g, LoValue pointer, LoValue bytes);
/* index < count, of numbers that an i32 holds: masks of them are cheap. */
LoValue gemm_is_below(GemmEmit *g, LoValue index, LoValue count);
/* Of indices: a + b, a − b, a × b, a ÷ 2^bits, rounded down. */
static inline LoValue gemm_add(GemmEmit *g, LoValue a, LoValue b) { return lo_iadd(&g->lo, a, b); }
static inline LoValue gemm_sub(GemmEmit *g, LoValue a, LoValue b) { return lo_isub(&g->lo, a, b); }
static inline LoValue gemm_mul(GemmEmit *g, LoValue a, LoValue b) { return lo_imul(&g->lo, a, b); }
static inline LoValue gemm_times(GemmEmit *g, LoValue a, int64_t factor)
{
    return factor == 1 ? a : gemm_mul(g, a, lo_i64_of(&g->lo, factor));
}
static inline LoValue gemm_plus(GemmEmit *g, LoValue a, int64_t more)
{
    return more == 0 ? a : gemm_add(g, a, lo_i64_of(&g->lo, more));
}

/* Writes the form of products of operands of this type, a constant under this name. */
void emit_gemm(LoModule *module, const CodeTarget *target, TfcType type, const char *name);

#endif
