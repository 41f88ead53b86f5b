/* Forms: what products of one type of operands need of a processor, as codegen/emit/gemm/gemm.h generates it. */
#ifndef RUNTIME_PRODUCT_FORM_H
#define RUNTIME_PRODUCT_FORM_H

#include <stdbool.h>
#include <stdint.h>

/* Store mode: how sums are stored into c. */
typedef enum TfcStore {
    TFC_STORE_OVER,
    TFC_STORE_ADD,    /* to what c holds */
    TFC_STORE_ROUNDED /* of bf16 and k at most TFC_ROUNDED_K: c is bf16, else f32 */
} TfcStore;
enum { TFC_ROUNDED_K = 512 };

enum { TFC_PANEL_COLUMNS = 64, TFC_PAIRS_K = 32 };

/* How a tile's operands lie; strides that follow from it are not read.
 *   STRIDED  a and b by strides of any size
 *   PANELS   a and b in panels: side after side, each term's elements beside each other
 *   ROWS     b in panels; a with each row contiguous along k
 *   KEPT     b in panels that product_pack made, where those are others; a by strides of any size */
typedef enum TfcLie { TFC_LIE_STRIDED, TFC_LIE_PANELS, TFC_LIE_ROWS, TFC_LIE_KEPT, TFC_LIES } TfcLie;

/* c[height, columns] = Σ a·b, stored as `store` says. Strides are in bytes; k counts elements of
 * panels. b is read up to the tile's whole width. `rows`: how many c has, where a form's tiles
 * take fewer than their height. */
typedef void TfcTile(int64_t k, const void *a, int64_t a_row, int64_t a_k, const void *b,
                     int64_t b_k, void *c, int64_t c_row, int64_t columns, int64_t store,
                     int64_t rows);
/* Writes a panel: term l of side i beside the others of l. x has `count` sides; those that it has
 * not are undefined in the panel. Strides are in elements of x. */
typedef void TfcPackPanel(int64_t k, const void *x, int64_t x_k, int64_t x_side, int64_t count,
                          void *out);
/* Writes rows of a that lie beside each other as rows along k, `pitch` bytes apart, filled up with
 * zeros. Strides are in elements of x. */
typedef void TfcTransposeRows(int64_t k, const void *x, int64_t x_k, int64_t rows, void *out,
                              int64_t pitch);

enum { TFC_HEIGHTS = 4, TFC_WIDTHS = 4 };
/* Bytes between packed rows or panels of a: room for the vector that reaches past the end of one. */
enum { TFC_PANEL_GAP = 64 };

/* The sizes of a form. An element of a panel holds `joined` terms: of bf16 a pair, where the
 * processor multiplies pairs; else one, bf16 widened to f32. Panels that product_pack makes are read
 * from memory: of bf16 they hold pairs in any case, half as many bytes.
 *   source, element  bytes of an element of a and b; of a panel, which is also a sum's
 *   joined, kept     terms an element of a panel; of one that product_pack makes
 *   whole            panels hold a multiple of so many terms; those that are missing are zero
 *   depth            terms a pass: what is summed in registers in one go
 *   columns, rows    of a panel of b; of a panel of a, which is the highest tile
 *   together         rows of a that are packed together
 *   low              so many rows and fewer are multiplied by wide tiles, b where it lies
 *   strided          operands may be read where they lie
 *   in_place_rows, in_place_k  a that lies along k is read where it lies if its rows and k are
 *                    multiples of these; 0: never
 *   crowded          … unless its rows are a multiple of so many bytes apart; 0: even then
 *   beside           lie of rows that are packed from rows beside each other
 *   any_rows         tiles take fewer rows than their height
 *   registers        tiles hold their sums in registers of AMX, which are set up around a product
 *   flush            denormals are zero meanwhile, as for the instructions that join terms
 *   block            bytes of b that are packed at once, for the second-level cache
 *   line             bytes that a prefetch brings
 *   heights, widths  of the tiles, in rows, falling, and in columns, rising; 0: none */
typedef struct TfcFormSizes {
    int64_t source, element, joined, kept, whole, depth, columns, rows, together, low;
    int64_t strided, in_place_rows, in_place_k, crowded, beside, any_rows, registers, flush;
    int64_t block, line, heights[TFC_HEIGHTS], widths[TFC_WIDTHS];
} TfcFormSizes;

/* All that products of one type of operands need of a processor. What is NULL is not needed.
 *   tiles           by height and width; the widest, for low heights alone
 *   highest         the highest tile as wide as a panel, for operands that lie so
 *   of_kept         tiles for panels that product_pack made, where joined and kept differ; none of the
 *                   greatest height
 *   pack_panel      panels of b
 *   pack_kept       the same for product_pack
 *   pack_rows       panels of a, of rows that lie beside each other
 *   transpose_rows  the same, where they are to be rows */
typedef struct TfcForm {
    TfcFormSizes sizes;
    TfcTile *tiles[TFC_HEIGHTS][TFC_WIDTHS], *highest[TFC_LIES];
    TfcTile *of_kept[TFC_HEIGHTS][TFC_WIDTHS];
    TfcPackPanel *pack_panel, *pack_kept, *pack_rows;
    TfcTransposeRows *transpose_rows;
} TfcForm;

#endif
