/* Forms: what the code of products of one type needs on one processor: sizes of blocks and
 * tiles, and functions that codegen/emit/gemm/gemm.h generates. */
#ifndef RUNTIME_PRODUCT_FORM_H
#define RUNTIME_PRODUCT_FORM_H

#include "base/quants.h"

#include <assert.h>
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
 * TFC_INT8_PACKED_K where it packs b itself. Of a scale for a whole column an element of panels has
 * INTEGERS_TERMS terms; a column has at most INTEGERS_TRAILER elements behind them (integers.h). */
enum { TFC_INT8_K = 65536, TFC_INT8_PACKED_K = 7680, INTEGERS_TERMS = 4, INTEGERS_TRAILER = 2 };

/* Integers are from -INTEGERS_MOST to INTEGERS_MOST; one side has INTEGERS_OFFSET added. Rows whose
 * greatest magnitude is not above INTEGERS_LEAST are zero. Numbers of a magnitude below 2^22 plus
 * INTEGERS_ROUND are rounded to whole ones, half to even, in their low bits. INTEGERS_MAGNITUDE:
 * the bits of an f32 without its sign, which are in the order of magnitudes, NaN last. */
enum { INTEGERS_MOST = 127, INTEGERS_OFFSET = 128, INTEGERS_MAGNITUDE = 0x7FFFFFFF };
#define INTEGERS_LEAST 0x1p-100f
#define INTEGERS_ROUND 0x1.8p23f

/* Elements behind the terms that one scale of a row of a is for: the scale and a sum. */
enum { INTEGERS_ROW_TRAILER = 2 };

/* Of integers in groups (groups.h): terms of a group; groups and terms of a turn of a tile. */
enum { GROUP_TERMS = 32, TURN_GROUPS = 2, TURN_TERMS = TURN_GROUPS * GROUP_TERMS };

#define QUANT(NAME, word, bits, group, has_minimum)                              \
    static_assert(((group) == 0 && (bits) == 8 && !(has_minimum)) ||             \
                      ((group) == GROUP_TERMS && ((bits) == 8 || (bits) == 4) && \
                       (!(has_minimum) || (bits) == 4)),                         \
                  word ": there is no code for such integers");
#include "base/quants.def"

/* TfcProductType: what a product multiplies: operands as they are (f32, f64, bf16: the numbers are
 * those of TfcType), or integers, to which it rounds operands of f32 (base/quants.def). */
typedef enum TfcProductType {
    TFC_PRODUCT_F32,
    TFC_PRODUCT_F64,
    TFC_PRODUCT_BF16,
#define QUANT(NAME, ...) TFC_PRODUCT_##NAME,
#include "base/quants.def"
    TFC_PRODUCT_TYPES
} TfcProductType;

/* The integers that a product multiplies (QUANT_NONE: operands as they are), and the other way
 * round; `as_they_are`: the product for QUANT_NONE. */
static inline Quant product_quant(int64_t type)
{
    return type > TFC_PRODUCT_BF16 ? (Quant)(type - TFC_PRODUCT_BF16) : QUANT_NONE;
}
static inline TfcProductType product_of_quant(Quant quant, TfcProductType as_they_are)
{
    return quant ? (TfcProductType)(TFC_PRODUCT_BF16 + (int)quant) : as_they_are;
}

/* Of a panel of integers in groups: terms of an element, which has 4 bytes; rows of elements of a
 * turn: of its terms, of the groups' scales and perhaps minima. */
static inline int64_t group_element_terms(int64_t bits) { return 32 / bits; }
static inline int64_t group_turn_rows(int64_t bits, bool has_minimum)
{
    return TURN_TERMS / group_element_terms(bits) + 1 + has_minimum;
}

/* Elements, of 4 bytes, of a column of k terms in panels of integers; without groups there are
 * `trailer` elements behind the terms. */
static inline int64_t quant_column_elements(Quant quant, int64_t k, int64_t trailer)
{
    const QuantInfo *q = quant_info(quant);
    return q->group ? (k + TURN_TERMS - 1) / TURN_TERMS * group_turn_rows(q->bits, q->has_minimum)
                    : (k + INTEGERS_TERMS - 1) / INTEGERS_TERMS + trailer;
}

/* Bytes of a weight in panels of integers, with its share of scales in groups; 0: of other
 * products. */
static inline double product_weight_bytes(int64_t type)
{
    const Quant quant = product_quant(type);
    return quant ? (double)quant_column_elements(quant, TURN_TERMS, 0) * INTEGERS_TERMS / TURN_TERMS
                 : 0;
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

/* Writes a row of k terms, x_k elements apart, as integers with scales (integers.h, groups.h). */
typedef void TfcRoundRow(int64_t k, const void *x, int64_t x_k, void *out);

enum { TFC_HEIGHTS = 4, TFC_WIDTHS = 4 };
/* Bytes between packed rows or panels of a: room for the vector that reaches past the end of
 * one. */
enum { TFC_PANEL_GAP = 64 };

/* Rows found through a list: row i is row rows[i] / repeats of what is in memory, repeats > 0. Of
 * rows NULL it is row i. */
typedef struct TfcRowList {
    const int32_t *rows;
    int64_t repeats;
} TfcRowList;
static inline int64_t listed_row(const TfcRowList *list, int64_t i)
{
    return list->rows ? list->rows[i] / list->repeats : i;
}

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
 *   integers                   the bits to which b is rounded as it is packed, a to 8 (integers.h);
 *                              tiles are of_kept; 0: operands are as they are
 *   quant                      Quant; of integers alone
 *   flush                      denormals are flushed to zero during a product, as the instructions
 *                              for pairs of bf16 do
 *   block                      bytes of b that are packed at once, for the second-level cache
 *   line                       bytes that a prefetch brings
 *   heights, widths            of the tiles: rows, in falling order; columns, in rising order; 0:
 *                              none */
typedef struct TfcFormSizes {
    int64_t source, element, joined, kept, whole, depth, columns, rows, together, low;
    int64_t strided, in_place_rows, in_place_k, crowded, beside, any_rows, registers, integers,
        quant, flush;
    int64_t block, line, heights[TFC_HEIGHTS], widths[TFC_WIDTHS];
} TfcFormSizes;

/* Of a form of integers: whether a row of a has bytes, four to an element; else words. */
static inline bool form_has_bytes(const TfcFormSizes *f) { return f->joined == INTEGERS_TERMS; }
/* … whether terms are in groups; elements of a column of its panels. */
static inline bool form_has_groups(const TfcFormSizes *f)
{
    return quant_info((Quant)f->quant)->group != 0;
}
static inline int64_t form_column_elements(const TfcFormSizes *f, int64_t k)
{
    return quant_column_elements((Quant)f->quant, k, form_has_bytes(f) ? INTEGERS_TRAILER : 1);
}
/* … what is added to an integer of b so that it has no sign; with a minimum it has none. */
static inline int64_t form_offset(const TfcFormSizes *f)
{
    return quant_info((Quant)f->quant)->has_minimum ? 0 : INT64_C(1) << (f->integers - 1);
}
/* … the lowest bit of a term of an element in groups (groups.h). */
static inline int64_t group_shift(const TfcFormSizes *f, int64_t term)
{
    enum { WORD = 16, BYTE = 8 };
    return form_has_bytes(f) ? term % 4 * BYTE + term / 4 * 4
                             : term % 2 * WORD + term / 2 * f->integers;
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
