/* The functions that products consist of on one processor: tiles, which hold their sums in
 * registers, and functions that pack operands for them. runtime/product/form.h describes each
 * (TfcTile, TfcPackPanel, TfcTransposeRows); together they are a TfcForm. runtime/product/product.c
 * has the loops around them.
 *
 *   gemm.c      the form: shapes of tiles, which parts, the record
 *   tile.c      tiles
 *   pack.c      panels
 *   integers.c  rows of a as integers
 *   amx.c       tiles and rows of a for AMX
 *   words.c     helpers of these
 *
 * Products of bf16 are sums of pairs of terms, as vdpbf16ps computes them: sum + odd term, rounded,
 * + even term, rounded, in f32 with denormals flushed to zero. Panels contain pairs [k/2][side], an
 * i32 each. Where the processor has no instruction for pairs, panels are widened: two rows of f32
 * for each row of pairs, the odd terms, then the even ones. Tiles of f32 then compute the same
 * sums, bit for bit, where the product of two bf16 is a normal number of f32, and so exact, or
 * where the target has fused multiply-add, or emulates it. RISC-V and WebAssembly cannot flush
 * denormals to zero, and differ where a term or sum is below 2^-126; AArch64 does where the exact
 * sum lies less than 2^-151 below that.
 *
 * Kept (prepacked) panels contain pairs on every processor. Where other panels are widened, kept
 * panels have tiles of their own, which widen the pairs as they read them: products of few rows are
 * bound by reading panels.
 *
 * Products of integers of 8 bits (runtime/product/integers.h) have panels of quads, four terms an
 * i32, and tiles of sums in i32, which become f32 as they are stored. Where the processor has an
 * instruction for quads, rows of a are quads, too; elsewhere they are pairs of i16, and tiles widen
 * the even or odd bytes of the quads they read. Those in groups (groups.h) have sums in i32 of a
 * group of terms, which are added to sums in f32. Panels are packed in C.
 *
 * AMX sums 16 pairs at a time, the even terms and the odd terms apart, from zero and by fused
 * multiply-add, and adds both sums to c: with fewer roundings in a row, so the last bits differ. */
#ifndef CODEGEN_EMIT_GEMM_GEMM_H
#define CODEGEN_EMIT_GEMM_GEMM_H

#include "codegen/loop/build.h"
#include "codegen/processor.h"
#include "runtime/exec/program.h"

/* A tile of 6 × 4 vectors needs this many registers. */
enum { GEMM_MANY_REGISTERS = 32 };
enum { GEMM_MAX_ROWS = 8, GEMM_MAX_VECTORS = 8, GEMM_MAX_LANES = 16 };
/* A tile register of AMX: its lines; of a line, lanes (f32, or pairs of bf16) and bytes. */
enum { AMX_LINES = 16, AMX_LANES = 16, AMX_BYTES = 64 };

/* Widths of tiles. GEMM_WIDE is for tiles of few rows, which leave registers for many columns: b is
 * then read once, in place, in long runs. */
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
    TargetQuads quads;
    bool keeps; /* the function being written packs kept (prepacked) panels */
    bool amx;
    int lanes;               /* of a vector */
    int vectors[TFC_WIDTHS]; /* of a tile's row */
    int unrolled;            /* terms a turn of a tile's loop, if its strides are constants */
    int ahead;               /* prefetch distance in b, bytes; 0: no prefetch */
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
/* Writes a TfcTile of `height` rows and `vectors` vectors a row. */
LoFunction *gemm_tile(GemmEmit *g, int height, int vectors, TfcLayout layout);
/* Writes tiles of every height of the form, for operands of any strides: of every width up to a
 * panel's, and for low heights of the greatest width, too. NULL: there is no such tile. */
typedef LoFunction *GemmTiles[TFC_HEIGHTS][TFC_WIDTHS];
void gemm_tiles(GemmEmit *g, GemmTiles tiles);
/* The same for kept panels: of pairs, where other panels are widened to f32, without tiles of the
 * greatest height; of quads. */
void gemm_kept_tiles(GemmEmit *g, GemmTiles tiles);
/* Writes the tiles that use AMX; tiles[h][w] has form.heights[h] rows, and is w + 1 tile registers
 * wide. */
void gemm_amx_tiles(GemmEmit *g, GemmTiles tiles);

/* Stores a sum at `at` in c, in lanes where `stored`, an i1, is true; NULL: in all. With
 * TFC_STORE_ADD the sum is added to what c has in lanes where `loaded` is true (NULL: in all), to
 * zero in the others. */
void gemm_store(GemmEmit *g, LoValue sum, LoValue at, TfcStore store, LoValue stored,
                LoValue loaded);

/* Writes a TfcPackPanel for panels of `width` columns. `kept`: for kept panels. */
LoFunction *gemm_pack(GemmEmit *g, const char *part, int width, bool kept);
/* Writes the same function with one more parameter, an i64: the distance between rows of the panel,
 * in elements, which gemm_pack's function takes as `width`. */
LoFunction *gemm_pack_pitched(GemmEmit *g, const char *part, int width);
/* Writes a TfcPackPanel for rows of a that are adjacent in memory (x_side is 1): it does not
 * transpose. */
LoFunction *gemm_pack_rows(GemmEmit *g);
/* Writes a TfcRoundRow. */
LoFunction *gemm_round_row(GemmEmit *g);
/* Writes a TfcTransposeRows, into rows of pairs. */
LoFunction *gemm_amx_transpose_rows(GemmEmit *g);

/* Loads `lanes` elements of an operand, widened to the type of sums. Lanes whose mask is off are
 * not read, and are zero; mask NULL: all are read. */
LoValue gemm_load(GemmEmit *g, int lanes, LoValue at, LoValue mask);
/* Transposes, in place, the square of g->lanes vectors. */
void gemm_transpose(GemmEmit *g, LoValue *rows);

/* Opens a function "<name>.<part>" whose parameters are i64, or pointers where their bit is set in
 * `pointers`; `params` gets them, and the builder stands in it. */
LoFunction *gemm_open(GemmEmit *g, const char *part, int n_params, unsigned pointers,
                      LoValue *params);
void gemm_return(GemmEmit *g);
/* Addresses: of element `index` of a panel, of an operand, of a byte. */
LoValue gemm_at(GemmEmit *g, LoValue pointer, LoValue index);
LoValue gemm_source(GemmEmit *g, LoValue pointer, LoValue index);
LoValue gemm_byte(GemmEmit *g, LoValue pointer, LoValue bytes);
/* index < count, of numbers that fit into an i32: masks of i32 are cheap. */
LoValue gemm_is_below(GemmEmit *g, LoValue index, LoValue count);
/* Of indices: a + b, a − b, a × b, a × factor, a + more. */
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

/* The sizes of the TfcForm for products of this type. */
TfcFormSizes gemm_sizes(const CodeTarget *target, TfcProductType type);
/* Writes the TfcForm for products of this type, a record of this name, and its functions. */
void emit_gemm(LoModule *module, const CodeTarget *target, TfcProductType type, const char *name);

#endif
