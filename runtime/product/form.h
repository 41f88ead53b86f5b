/* Forms: what the code of products of one type needs on one processor: sizes of blocks and
 * tiles, and functions that codegen/emit/gemm/gemm.h generates. */
#ifndef RUNTIME_PRODUCT_FORM_H
#define RUNTIME_PRODUCT_FORM_H

#include <stdbool.h>
#include <stdint.h>

/* Store mode: how sums are stored into c. */
typedef enum TfcStore {
    TFC_STORE_OVERWRITE, /* overwrites c */
    TFC_STORE_ADD,       /* adds to what c holds */
    TFC_STORE_ROUNDED    /* rounds to a c of bf16 (else f32): bf16 operands, k <= TFC_ROUNDED_K */
} TfcStore;
enum { TFC_ROUNDED_K = 512 };

enum { TFC_PANEL_COLUMNS = 64, TFC_PAIRS_K = 32 };

/* A product of integers takes at most TFC_INT8_K terms, whose sum of 8 bits an i32 holds, and
 * TFC_INT8_PACKED_K where it packs b itself. An element of panels of 8 bits has INTEGERS_TERMS
 * terms; a column has at most INTEGERS_TRAILER elements behind them (integers.h). */
enum { TFC_INT8_K = 65536, TFC_INT8_PACKED_K = 8176, INTEGERS_TERMS = 4, INTEGERS_TRAILER = 2 };

/* Integers are from -INTEGERS_MOST to INTEGERS_MOST; one side has INTEGERS_OFFSET added. Rows whose
 * greatest magnitude is not above INTEGERS_LEAST are zero. Numbers of a magnitude below 2^22 plus
 * INTEGERS_ROUND are rounded to whole ones, half to even, in their low bits. INTEGERS_MAGNITUDE:
 * the bits of an f32 without its sign, which are in the order of magnitudes, NaN last. */
enum { INTEGERS_MOST = 127, INTEGERS_OFFSET = 128, INTEGERS_MAGNITUDE = 0x7FFFFFFF };
#define INTEGERS_LEAST 0x1p-100f
#define INTEGERS_ROUND 0x1.8p23f

/* Elements behind the terms that one scale of a row of a is for: the scale and a sum. */
enum { INTEGERS_ROW_TRAILER = 2 };

/* Of integers of 4 bits (nibbles.h): terms of a group, which have a scale; groups and terms of a
 * turn of a tile; terms of an element of a panel, whose turns have NIBBLES_ROWS rows of elements;
 * what is added so that an integer has no sign. */
enum { NIBBLES_BITS = 4, NIBBLES_GROUP = 32, NIBBLES_GROUPS = 2, NIBBLES_TERMS = 8 };
enum {
    NIBBLES_TURN = NIBBLES_GROUPS * NIBBLES_GROUP,
    NIBBLES_ROWS = NIBBLES_TURN / NIBBLES_TERMS + 1,
    NIBBLES_OFFSET = 8
};

/* TfcProductType: what a product multiplies: operands as they are (f32, f64, bf16: the numbers are
 * those of TfcType), or integers, to which it rounds operands of f32: of 8 bits (integers.h), or of
 * 8 by 4 (nibbles.h). */
typedef enum TfcProductType {
    TFC_PRODUCT_F32,
    TFC_PRODUCT_F64,
    TFC_PRODUCT_BF16,
    TFC_PRODUCT_INT8,
    TFC_PRODUCT_INT4,
    TFC_PRODUCT_TYPES
} TfcProductType;

/* The bits of b's integers; 0: operands are as they are. */
static inline int64_t product_bits(int64_t type)
{
    return type == TFC_PRODUCT_INT8 ? 8 : type == TFC_PRODUCT_INT4 ? NIBBLES_BITS : 0;
}

/* The product whose integers have these bits. */
static inline TfcProductType product_of_bits(int64_t bits)
{
    return bits == NIBBLES_BITS ? TFC_PRODUCT_INT4 : TFC_PRODUCT_INT8;
}

/* Elements, of INTEGERS_TERMS bytes, of a column of k terms in panels of integers; those of 8 bits
 * with `trailer` elements behind the terms. */
static inline int64_t product_column_elements(int64_t bits, int64_t k, int64_t trailer)
{
    return bits == NIBBLES_BITS ? (k + NIBBLES_TURN - 1) / NIBBLES_TURN * NIBBLES_ROWS
                                : (k + INTEGERS_TERMS - 1) / INTEGERS_TERMS + trailer;
}

/* Bytes of a weight in panels of integers, with its share of scales; 0: of other products. */
static inline double product_weight_bytes(int64_t type)
{
    const double turn = NIBBLES_ROWS * INTEGERS_TERMS; /* bytes of a column */
    return type == TFC_PRODUCT_INT8 ? 1 : type == TFC_PRODUCT_INT4 ? turn / NIBBLES_TURN : 0;
}

/* Layout of a tile's operands; a tile does not read strides that follow from it.
 *   STRIDED  a and b by strides of any size
 *   PANELS   a and b in panels: for each term the elements of all sides (rows of a, columns of b),
 *            contiguous
 *   ROWS     b in panels; a with each row contiguous along k
 *   KEPT     b in panels that product_pack made, if a form packs these in another way than other
 *            panels; a by strides of any size */
typedef enum TfcLayout {
    TFC_LAYOUT_STRIDED,
    TFC_LAYOUT_PANELS,
    TFC_LAYOUT_ROWS,
    TFC_LAYOUT_KEPT,
    TFC_LAYOUTS
} TfcLayout;

/* c[height, columns] = Σ a·b, stored as `store` says. Strides are in bytes; k counts elements of
 * panels. b is read up to the tile's whole width. `rows`: how many rows of c are computed, if the
 * form's tiles take fewer than their height (any_rows). */
typedef void TfcTile(int64_t k, const void *a, int64_t a_row, int64_t a_k, const void *b,
                     int64_t b_k, void *c, int64_t c_row, int64_t columns, int64_t store,
                     int64_t rows);
/* Writes a panel: for each term the elements of all sides, contiguous. x has `count` sides;
 * elements of the panel's other sides are undefined. Strides are in elements of x. */
typedef void TfcPackPanel(int64_t k, const void *x, int64_t x_k, int64_t x_side, int64_t count,
                          void *out);
/* Transposes elements of a whose rows are adjacent into rows contiguous along k, `pitch` bytes
 * apart, padded with zeros. Strides are in elements of x. */
typedef void TfcTransposeRows(int64_t k, const void *x, int64_t x_k, int64_t rows, void *out,
                              int64_t pitch);

/* Writes a row of k terms, x_k elements apart, as integers with scales (integers.h, nibbles.h). */
typedef void TfcRoundRow(int64_t k, const void *x, int64_t x_k, void *out);

enum { TFC_HEIGHTS = 4, TFC_WIDTHS = 4 };
/* Bytes between packed rows or panels of a: room for the vector that reaches past the end of
 * one. */
enum { TFC_PANEL_GAP = 64 };

/* The sizes of a form. An element of a panel holds `joined` terms: of bf16 a pair, where the
 * processor multiplies pairs; else one, bf16 widened to f32. Panels that product_pack makes are
 * read from memory: of bf16 they always hold pairs, half as many bytes as widened terms.
 *   source, element            bytes of an element of a and b; of an element of a panel, which is
 *                              also the size of a sum
 *   joined, kept               terms an element of a panel, of integers of a row of a; of a panel
 *                              that product_pack makes
 *   whole                      panels have a multiple of this many terms; missing ones are zero
 *   depth                      terms a pass: what is summed in registers in one go
 *   columns, rows              of a panel of b; of a panel of a, and of the highest tile
 *   together                   rows of a that are packed together
 *   low                        this many rows or fewer are multiplied by wide tiles, if b is read
 *                              in place
 *   strided                    tiles can read operands in place, by strides
 *   in_place_rows, in_place_k  an a contiguous along k is read in place if its rows and k are
 *                              multiples of these; 0: never
 *   crowded                    an a whose rows are a multiple of this many bytes apart is not read
 *                              in place; 0: there is no such limit
 *   beside                     layout (TfcLayout) to which adjacent rows of a are packed
 *   any_rows                   tiles take fewer rows than their height
 *   registers                  tiles hold their sums in registers of AMX, which are set up around a
 *                              product
 *   integers                   the bits (product_bits) to which b is rounded as it is packed, a to
 *                              8 (integers.h); tiles are of_kept; 0: operands are as they are
 *   flush                      denormals are flushed to zero during a product, as the instructions
 *                              for pairs of bf16 do
 *   block                      bytes of b that are packed at once, for the second-level cache
 *   line                       bytes that a prefetch brings
 *   heights, widths            of the tiles: rows, in falling order; columns, in rising order; 0:
 *                              none */
typedef struct TfcFormSizes {
    int64_t source, element, joined, kept, whole, depth, columns, rows, together, low;
    int64_t strided, in_place_rows, in_place_k, crowded, beside, any_rows, registers, integers,
        flush;
    int64_t block, line, heights[TFC_HEIGHTS], widths[TFC_WIDTHS];
} TfcFormSizes;

/* Of a form of integers: whether a row of a has bytes, four to an element; else words. */
static inline bool form_has_bytes(const TfcFormSizes *f) { return f->joined == INTEGERS_TERMS; }
/* … elements of a column of its panels. */
static inline int64_t form_column_elements(const TfcFormSizes *f, int64_t k)
{
    return product_column_elements(f->integers, k, form_has_bytes(f) ? INTEGERS_TRAILER : 1);
}

/* TfcForm: sizes and functions of products of one type on one processor. A function that is not
 * needed is NULL.
 *   tiles           by height and width; the greatest width only for low heights
 *   highest         the highest tile as wide as a panel, for each layout of operands
 * of_kept tiles for panels that product_pack made, if joined and kept differ, of bf16 none
 *                   of the greatest height; of integers the tiles for all panels
 *   pack_panel      packs panels of b
 *   pack_kept       the same for product_pack
 *   pack_rows       packs panels of a, from adjacent rows
 *   transpose_rows  packs rows of a along k, from adjacent rows
 *   round_row       packs a row of a as integers */
typedef struct TfcForm {
    TfcFormSizes sizes;
    TfcTile *tiles[TFC_HEIGHTS][TFC_WIDTHS], *highest[TFC_LAYOUTS];
    TfcTile *of_kept[TFC_HEIGHTS][TFC_WIDTHS];
    TfcPackPanel *pack_panel, *pack_kept, *pack_rows;
    TfcTransposeRows *transpose_rows;
    TfcRoundRow *round_row;
} TfcForm;

#endif
