/* Products of two matrices on one thread, after Goto & van de Geijn (2008) and BLIS (Van Zee &
 * van de Geijn 2015): the loops around tiles are plain C (product.c), the tiles and what packs
 * operands for them are generated for the processor (codegen/emit/gemm/gemm.h) and given as a form.
 *
 * Every element of c is summed over k in the same order by every tile: how rows and columns are
 * cut changes no bit. */
#ifndef RUNTIME_PRODUCT_PRODUCT_H
#define RUNTIME_PRODUCT_PRODUCT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Store mode: how sums are stored into c. */
typedef enum TfcStore {
    TFC_STORE_OVER,
    TFC_STORE_ADD,    /* to what c holds */
    TFC_STORE_ROUNDED /* of bf16 and k at most TFC_ROUNDED_K: c is bf16, else f32 */
} TfcStore;
enum { TFC_ROUNDED_K = 512 };

struct TfcEpilogue;

/* c[m, n] = Σ_k a[m, k] b[k, n], stored as `store` says; k = 0 gives zeros. Strides are in
 * elements: element (i, j) of a is at i × a_row + j × a_column, of b alike, of c at i × c_row + j.
 * Of a and b one stride is 1, or its side no longer than 1.
 *   panels    b as product_pack made it, or NULL; b itself is not read then
 *   column    the first column of the panels to be multiplied, a multiple of TFC_PANEL_COLUMNS
 *   epilogue  what is done with each part of c once it is whole, or NULL */
typedef struct TfcProduct {
    int64_t m, n, k;
    const void *a;
    int64_t a_row, a_column;
    const void *b;
    int64_t b_row, b_column;
    void *c;
    int64_t c_row;
    TfcStore store;
    const void *panels;
    int64_t column;
    const struct TfcEpilogue *epilogue;
} TfcProduct;

/* A library's product. */
typedef void TfcGemm(const TfcProduct *p);

/* OpenBLAS's products (blas.c): a program that names them needs the library. */
TfcGemm tfc_blas_f32, tfc_blas_f64;
/* The library's version and the processor that its kernels are for: "0.3.21 SkylakeX". */
void tfc_blas_name(char *name, size_t size);

/* ---- forms ---- */

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

/* TfcProducts: what multiplies, by element type of the operands (f32, f64, bf16, which OpenBLAS has
 * not): OpenBLAS, the program's own form, or, where both are given, one of them for each shape, as
 * TfcChoice says. */
enum { TFC_BLAS_TYPES = 2, TFC_PRODUCT_TYPES = 3 };
typedef struct TfcProducts {
    TfcGemm *blas[TFC_BLAS_TYPES];
    const TfcForm *native[TFC_PRODUCT_TYPES];
} TfcProducts;

/* Bytes of a thread's workspace, in which operands are packed. */
enum { TFC_GEMM_WORKSPACE = 1 << 20 };

/* `workspace`: TFC_GEMM_WORKSPACE bytes, 64-byte aligned, the calling thread's own. */
void product_run(const TfcForm *form, const TfcProduct *p, void *workspace);

/* Packs columns [begin, end) of b[k, n] into panels, a multiple of TFC_PANEL_COLUMNS the first.
 * `b` and `panels` point to the whole matrix and to the room for all of it: as many columns as
 * whole multiples of TFC_PANEL_COLUMNS, k elements each of b's type; for bf16, k is rounded up to
 * TFC_PAIRS_K. */
void product_pack(const TfcForm *form, int64_t k, int64_t begin, int64_t end, const void *b,
                  int64_t b_row, int64_t b_column, void *panels);
enum { TFC_PANEL_COLUMNS = 64, TFC_PAIRS_K = 32 };

/* Rows of a, at most, for which panels that product_pack made are read. With more rows a product packs b
 * itself: that costs little beside the product and leaves the panels in the cache. Pairs that are widened
 * at each reading pay for fewer rows: with AVX2 for 16 and not for 32, with AVX-512 for 64. */
static inline int64_t product_panels_to(const TfcForm *form)
{
    enum { AS_THEY_ARE = 128, WIDENED = 24 };
    return form->sizes.kept == form->sizes.joined ? AS_THEY_ARE : WIDENED;
}

#endif
