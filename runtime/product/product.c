/* The loops around tiles; see product.h.
 *
 *   for each pass of `depth` terms                                      run_passes, run_columns
 *     for each block of b's columns, packed where it must be            run_block
 *       for each batch of a's rows, packed where they must be           run_row_batch
 *         for each panel of the batch, for each panel of the block      run_panel
 *           the tiles                                                   run_tiles */
#include "runtime/product/product.h"

#include "runtime/product/product_pack.h"
#include "runtime/product/product_state.h"

#include <assert.h>
#include <stddef.h>
#include <string.h>

/* A that no more tiles than this read is read where it lies, if the form can. So is b where one
 * panel of a reads it, or a few and the first-level cache holds it. Of few panels of a the blocks
 * are narrow: the second reads b from near. */
enum { DIRECT_A_TILES = 2, FEW_PANELS = 6, FEW_COLUMNS = 2 * TFC_PANEL_COLUMNS };
enum { NEAR_BYTES = 32 << 10 };

/* Room for a tile's part of c: of doubles 6 rows of 64, of AMX 32 of 64. */
enum { SPILL_BYTES = 16 << 10 };

/* The most rows of a for which tiles read panels of pairs and widen them themselves: each panel of
 * a widens them anew. With AVX2 this is faster for 16 rows and not for 32, with AVX-512 for 64. */
enum { WIDENED_TO = 24 };

/* A product at work. Sizes are in elements or terms, pitches in bytes. */
typedef struct Work {
    const TfcForm *form;
    const TfcFormSizes *f;
    const TfcProduct *p;
    char *block_room, *rows_room; /* of the workspace; of rows two halves */
    int64_t half, together;       /* together: rows of a that are packed together */
    bool packs_b, few, low;       /* low: wide tiles first */
    bool kept;                    /* b's panels are for of_kept */
    bool widens;                  /* they are widened block by block, and then as packed from b */
    bool by_columns;              /* run_columns */
    bool along, packs_a;          /* a's rows lie along k; others are packed */
    int64_t c_bytes;              /* of an element of c */
    uint64_t denormals;           /* state outside */
    char *spill; /* where tiles store whose rows of c a list names; NULL: they store into c */

    /* of a pass */
    int64_t from, k, elements, row_pitch;
    TfcStore store;
    bool last;
    /* of a block */
    int64_t column, columns, panel_pitch; /* from column to column */
    const char *b, *panels;
} Work;

/* Rows of a that are multiplied by a block, and those after them, which are brought near
 * meanwhile, a share at each tile. */
typedef struct RowBatch {
    int64_t row, rows;
    const char *a, *packed; /* where they lie; packed, or NULL */
    int64_t next_rows, runs, share, done;
    const char *next;
    char *room; /* of the next */
} RowBatch;

static int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }
static int64_t pieces(int64_t length, int64_t piece) { return (length + piece - 1) / piece; }

/* ---- tiles ---- */

typedef struct Tile {
    const char *a, *b;
    char *c;                        /* with a list of c's rows: of the first row of its memory */
    int64_t row;                    /* of c */
    int64_t a_row, a_k, b_k, c_row; /* bytes */
    TfcLayout layout;
} Tile;

static int height_for(const TfcFormSizes *f, int64_t rows, int h)
{
    while (h + 1 < TFC_HEIGHTS && f->heights[h + 1] &&
           (f->any_rows ? f->heights[h + 1] >= rows : f->heights[h] > rows))
        h++;
    return h;
}

typedef TfcTile *const Tiles[TFC_WIDTHS];

static int width_for(const TfcFormSizes *f, Tiles tiles, int64_t columns)
{
    int w = 0;
    while (w + 1 < TFC_WIDTHS && tiles[w + 1] && f->widths[w] < columns)
        w++;
    return w;
}

/* Stores what is in the room for it, `pitch` bytes from row to row, into listed rows of c. */
static void store_listed(const Work *w, const Tile *t, int64_t column, int64_t rows,
                         int64_t columns, int64_t pitch)
{
    for (int64_t i = 0; i < rows; i++) {
        char *to = t->c + listed_row(&w->p->c_rows, t->row + i) * t->c_row + column * w->c_bytes;
        const char *from = w->spill + i * pitch;
        if (w->store != TFC_STORE_ADD)
            memcpy(to, from, (size_t)(columns * w->c_bytes));
        else if (w->c_bytes == sizeof(double))
            add_doubles(columns, (const double *)from, (double *)to);
        else
            add_floats(columns, (const float *)from, (float *)to);
    }
}

/* Runs a tile of `height` rows and `width` columns whose rows of c a list names. Beyond the `rows`
 * and `columns` that there are, it stores nothing. */
static __attribute__((noinline)) void run_spilled(const Work *w, TfcTile *tile, const Tile *t,
                                                  int64_t height, int64_t width, int64_t column,
                                                  int64_t rows, int64_t columns)
{
    const int64_t pitch = width * w->c_bytes;
    assert(height * pitch <= SPILL_BYTES);
    tile(w->elements, t->a, t->a_row, t->a_k, t->b + column * w->f->element, t->b_k, w->spill,
         pitch, columns, w->store == TFC_STORE_ADD ? TFC_STORE_OVERWRITE : w->store, rows);
    store_listed(w, t, column, least(rows, height), least(columns, width), pitch);
}

/* The same, or a tile that stores into c. */
static inline __attribute__((always_inline)) void run_tile(const Work *w, TfcTile *tile, Tile t,
                                                           int64_t height, int64_t width,
                                                           int64_t column, int64_t rows,
                                                           int64_t columns)
{
    if (__builtin_expect(w->spill != NULL, 0))
        run_spilled(w, tile,
                    &(Tile){t.a, t.b, t.c, t.row, t.a_row, t.a_k, t.b_k, t.c_row, t.layout}, height,
                    width, column, rows, columns);
    else
        tile(w->elements, t.a, t.a_row, t.a_k, t.b + column * w->f->element, t.b_k,
             t.c + column * w->c_bytes, t.c_row, columns, w->store, rows);
}

/* Up to a panel's rows, and columns of b that lie `element` bytes apart. */
static void run_tiles(const Work *w, Tile t, int64_t rows, int64_t columns)
{
    const TfcForm *form = w->form;
    const TfcFormSizes *f = w->f;
    if (rows == f->rows && columns == f->columns && form->highest[t.layout]) {
        run_tile(w, form->highest[t.layout], t, rows, columns, 0, rows, columns);
        return;
    }
    Tiles *tiles = t.layout == TFC_LAYOUT_KEPT ? form->of_kept : form->tiles;
    for (int h = tiles[0][0] ? 0 : 1; rows > 0;) {
        h = height_for(f, rows, h);
        for (int64_t j = 0; j < columns;) {
            int width = width_for(f, tiles[h], columns - j);
            TfcTile *tile = h == 0 && f->widths[width] == f->columns && form->highest[t.layout]
                                ? form->highest[t.layout]
                                : tiles[h][width];
            run_tile(w, tile, t, f->heights[h], f->widths[width], j, rows, columns - j);
            j += f->widths[width];
        }
        rows -= f->heights[h];
        t.a += f->heights[h] * t.a_row;
        t.c += w->spill ? 0 : f->heights[h] * t.c_row;
        t.row += f->heights[h];
    }
}

/* ---- rows of a ---- */

static bool reads_in_place(const Work *w, int64_t rows)
{
    const TfcFormSizes *f = w->f;
    if (!w->along)
        return !w->packs_a;
    return !w->p->a_rows.rows && f->in_place_rows && rows % f->in_place_rows == 0 &&
           w->k % f->in_place_k == 0 && !(f->crowded && w->p->a_row * f->source % f->crowded == 0);
}

/* Whether rows are packed while those before them are multiplied. */
static bool packs_ahead(const Work *w)
{
    return !w->along && w->packs_a && w->f->beside == TFC_LAYOUT_PANELS;
}

/* The list from its row number `from` on. */
static TfcRowList list_from(TfcRowList list, int64_t from)
{
    return (TfcRowList){list.rows ? list.rows + from : NULL, list.repeats};
}

/* The terms of the pass. */
static PackTerms terms_of_a(const Work *w)
{
    return (PackTerms){w->p->a_column, list_from(w->p->a_terms, w->from)};
}

/* Where a row is at the first term of the pass; with a list of terms, of their memory. */
static const char *rows_at(const Work *w, int64_t row)
{
    const TfcProduct *p = w->p;
    const int64_t from = p->a_terms.rows ? 0 : w->from;
    return (const char *)p->a +
           (listed_row(&p->a_rows, row) * p->a_row + from * p->a_column) * w->f->source;
}

/* Packs the rows of a batch that were not packed ahead. */
static void pack_batch(const Work *w, const RowBatch *g, char *room)
{
    const TfcProduct *p = w->p;
    if (!w->along)
        pack_rows_beside(w->form, 0, w->k, g->a, terms_of_a(w), g->rows, room, w->row_pitch);
    else if (!p->a_rows.rows)
        pack_rows_along(w->form, w->k, g->a, p->a_row, g->rows, room, w->row_pitch);
    else
        for (int64_t i = 0; i < g->rows; i++)
            pack_rows_along(w->form, w->k, rows_at(w, g->row + i), 0, 1, room + i * w->row_pitch,
                            w->row_pitch);
}

static RowBatch row_batch_at(const Work *w, int64_t row)
{
    const TfcFormSizes *f = w->f;
    int64_t rows = least(w->p->m - row, w->together), turn = row / w->together & 1;
    int64_t next_rows = least(w->p->m - row - rows, w->together);
    RowBatch g = {.row = row,
                  .rows = rows,
                  .a = rows_at(w, row),
                  .next_rows = next_rows,
                  .next = next_rows > 0 ? rows_at(w, row + rows) : NULL,
                  .runs = w->along ? next_rows : w->k,
                  .room = w->rows_room + (1 - turn) * w->half};
    if (!reads_in_place(w, rows))
        g.packed = w->rows_room + turn * w->half;
    if (next_rows > 0) {
        g.share = pieces(g.runs, pieces(rows, f->rows) * pieces(w->columns, f->columns));
        g.share = w->along ? g.share : pieces(g.share, PACK_K) * PACK_K;
    }
    return g;
}

/* Runs [begin, end) of the next rows: whole rows, or where they lie beside each other terms. */
static void prefetch_next(const Work *w, const RowBatch *g, int64_t begin, int64_t end)
{
    const TfcProduct *p = w->p;
    const TfcRowList list =
        w->along ? list_from(p->a_rows, g->row + g->rows) : list_from(p->a_terms, w->from);
    const int64_t stride = (w->along ? p->a_row : p->a_column) * w->f->source;
    const int64_t run = (w->along ? w->k : g->next_rows) * w->f->source;
    const char *first = g->next;
    if (list.rows && w->along) /* rows of a's memory; next is the first of the list */
        first = (const char *)p->a + w->from * p->a_column * w->f->source;
    for (int64_t i = begin; i < end; i++) {
        const char *from = first + (list.rows ? listed_row(&list, i) : i) * stride;
        for (int64_t at = 0; at < run; at += w->f->line)
            __builtin_prefetch(from + at);
    }
}

/* What is packed at a tile is prefetched at the one before. */
static void help_next(const Work *w, RowBatch *g)
{
    if (g->done >= g->runs)
        return;
    int64_t begin = g->done, end = least(begin + g->share, g->runs);
    g->done = end;
    if (packs_ahead(w)) {
        pack_rows_beside(w->form, begin, end, g->next, terms_of_a(w), g->next_rows, g->room,
                         w->row_pitch);
        begin = end;
        end = least(begin + g->share, g->runs);
    }
    prefetch_next(w, g, begin, end);
}

/* ---- panels ---- */

/* A panel of b is packed if all are, or if a tile's last vector would read past its end. */
static bool packs_panel(const Work *w, int64_t width)
{
    for (int i = 0; !w->packs_b && i < TFC_WIDTHS; i++)
        if (w->f->widths[i] == width)
            return false;
    return true;
}

/* How the rows of a batch from its row `i` on lie. */
static void place_rows(const Work *w, const RowBatch *g, int64_t i, Tile *t)
{
    const TfcFormSizes *f = w->f;
    const TfcProduct *p = w->p;
    if (!g->packed) {
        t->a = g->a + i * p->a_row * f->source;
        t->a_row = p->a_row * f->source;
        t->a_k = p->a_column * f->source * f->joined;
        t->layout = w->along ? TFC_LAYOUT_ROWS : TFC_LAYOUT_STRIDED;
    } else if (w->along || f->beside == TFC_LAYOUT_ROWS) {
        *t = (Tile){.a = g->packed + i * w->row_pitch, .a_row = w->row_pitch, .a_k = f->element};
        t->layout = TFC_LAYOUT_ROWS;
    } else {
        *t = (Tile){.a = g->packed + i * w->row_pitch, .a_row = f->element};
        t->a_k = f->rows * f->element;
        t->layout = TFC_LAYOUT_PANELS;
    }
}

/* A panel of the batch, from its row `i` on, times every panel of the block. */
static void run_panel(const Work *w, RowBatch *g, int64_t i)
{
    const TfcFormSizes *f = w->f;
    const TfcProduct *p = w->p;
    int64_t rows = least(g->rows - i, f->rows), width;
    Tile t;
    place_rows(w, g, i, &t);
    const int64_t row = g->row + i;
    char *c = (char *)p->c + ((w->spill ? 0 : row) * p->c_row + w->column) * w->c_bytes;
    t.row = row;
    t.c_row = p->c_row * w->c_bytes;
    TfcLayout layout = w->kept ? TFC_LAYOUT_KEPT : t.layout;
    for (int64_t j = 0; j < w->columns; j += width) {
        width = least(w->columns - j, w->low ? f->widths[TFC_WIDTHS - 1] : f->columns);
        if (w->low && width < f->widths[TFC_WIDTHS - 1])
            width = least(width, f->columns);
        help_next(w, g);
        bool packed = packs_panel(w, width);
        t.b = packed ? w->panels + j * w->panel_pitch : w->b + j * p->b_column * f->source;
        t.b_k = packed ? f->columns * f->element : p->b_row * f->source;
        t.layout = packed ? layout : TFC_LAYOUT_STRIDED;
        t.c = c + j * w->c_bytes;
        run_tiles(w, t, rows, width);
    }
}

/* The epilogue of these rows and columns of c, which are whole; it computes with denormals as they
 * are outside. */
static void finish(const Work *w, int64_t row, int64_t rows, int64_t column, int64_t columns)
{
    const TfcEpilogue *e = w->p->epilogue;
    if (!e)
        return;
    state_restore_denormals(w->f, w->denormals);
    e->call(e->of, (TfcPart){row, row + rows, column, column + columns});
    state_flush_denormals(w->f);
}

/* ---- blocks ---- */

/* The block's part of panels that were packed beforehand, each of all terms. */
static const char *kept_panels(const Work *w)
{
    const TfcFormSizes *f = w->f;
    return (const char *)w->p->panels + (w->p->column + w->column) * pack_kept_bytes(f, w->p->k) +
           (w->from ? pack_kept_bytes(f, w->from) * f->columns : 0);
}

/* All columns, or those of the last panel, if that is to be packed. */
static void pack_block(const Work *w)
{
    const TfcFormSizes *f = w->f;
    const TfcProduct *p = w->p;
    int64_t begin = w->packs_b ? 0 : w->columns / f->columns * f->columns;
    int64_t columns = w->columns - begin;
    if (w->widens)
        widen_panels(w->form, w->k, kept_panels(w), columns, pack_kept_bytes(f, p->k),
                     (char *)w->panels, w->panel_pitch);
    else if (!p->panels && columns > 0 && packs_panel(w, columns))
        pack_columns(w->form, w->k, w->b + begin * p->b_column * f->source,
                     (PackTerms){p->b_row, list_from(p->b_terms, w->from)}, p->b_column, columns,
                     (char *)w->panels + begin * w->panel_pitch, w->panel_pitch);
}

static void find_panels(Work *w)
{
    const TfcFormSizes *f = w->f;
    const TfcProduct *p = w->p;
    w->panels = w->block_room;
    w->panel_pitch = pack_column_bytes(f, w->k);
    if (p->panels && !w->widens) {
        w->panel_pitch = pack_kept_bytes(f, p->k);
        w->panels = kept_panels(w);
    }
}

static void run_row_batch(const Work *w, int64_t row)
{
    RowBatch g = row_batch_at(w, row);
    bool single = w->p->m <= w->together, ready = single && w->column > 0;
    bool ahead = row > 0 && packs_ahead(w);
    if (g.packed && !ready && !ahead)
        pack_batch(w, &g, (char *)g.packed);
    for (int64_t i = 0; i < g.rows; i += w->f->rows)
        run_panel(w, &g, i);
    if (w->last && !w->by_columns)
        finish(w, row, g.rows, w->column, w->columns);
}

/* As many rows of a as the form says, or whole panels, or some rows: what half of the room
 * holds. */
static int64_t rows_together(const Work *w)
{
    const TfcFormSizes *f = w->f;
    int64_t rows = least(f->together, w->half / w->row_pitch);
    return rows > f->rows ? rows / f->rows * f->rows : rows;
}

static void set_pass(Work *w, int64_t from)
{
    const TfcFormSizes *f = w->f;
    const TfcProduct *p = w->p;
    w->from = from;
    w->k = least(p->k - from, f->depth);
    w->elements = pack_elements(f, w->k);
    w->row_pitch = pack_row_bytes(f, w->k) + TFC_PANEL_GAP;
    w->together = rows_together(w);
    w->last = from + w->k >= p->k;
    w->store = from > 0 ? TFC_STORE_ADD : p->store;
}

static int64_t block_columns(const Work *w)
{
    const TfcFormSizes *f = w->f;
    int64_t bytes = pack_column_bytes(f, w->k), columns = f->block / (bytes ? bytes : f->element);
    if (w->few)
        columns = least(columns, FEW_COLUMNS);
    return columns > f->columns ? columns / f->columns * f->columns : f->columns;
}

/* These columns of this pass. */
static void run_block(Work *w, int64_t column, int64_t columns)
{
    const TfcProduct *p = w->p;
    w->column = column;
    w->columns = columns;
    const int64_t from = p->b_terms.rows ? 0 : w->from;
    w->b = p->panels ? NULL
                     : (const char *)p->b + (from * p->b_row + column * p->b_column) * w->f->source;
    find_panels(w);
    pack_block(w);
    for (int64_t row = 0; row < p->m; row += w->together)
        run_row_batch(w, row);
}

/* Without terms a pass of depth zero gives the zeros. */
static void run_passes(Work *w)
{
    int64_t depth = w->f->depth, n = w->p->n, from = 0;
    do {
        set_pass(w, from);
        for (int64_t column = 0, columns; column < n; column += columns) {
            columns = least(n - column, block_columns(w));
            run_block(w, column, columns);
        }
    } while ((from += depth) < w->p->k);
}

/* All terms of these columns. */
static void run_whole(Work *w, int64_t column, int64_t columns)
{
    int64_t depth = w->f->depth, from = 0;
    do {
        set_pass(w, from);
        run_block(w, column, columns);
    } while ((from += depth) < w->p->k);
}

/* Of few rows: all terms of some columns before the next ones. So b, which is most of what is read,
 * is read in the order it lies: what was packed beforehand panel by panel. */
static void run_columns(Work *w)
{
    int64_t n = w->p->n, step = w->p->panels ? w->f->columns : FEW_COLUMNS;
    for (int64_t column = 0; column < n; column += FEW_COLUMNS) {
        int64_t end = least(n, column + FEW_COLUMNS);
        for (int64_t j = column; j < end; j += step)
            run_whole(w, j, least(end - j, step));
        finish(w, 0, w->p->m, column, end - column);
    }
}

/* What is packed, and which panels tiles read: by the product's sizes and strides alone. */
static void choose_way(Work *w)
{
    const TfcFormSizes *f = w->f;
    const TfcProduct *p = w->p;
    w->few = p->m <= FEW_PANELS * f->rows;
    /* Tiles read b where it lies if too few rows meet it to pay for packing it. */
    const bool near = p->k * p->n * f->element <= NEAR_BYTES;
    const bool direct = p->m <= f->rows || (w->few && near);
    const bool across = p->b_column != 1;
    w->packs_b = !f->strided || !direct || across || p->panels || p->b_terms.rows;
    w->low = !w->packs_b && p->m <= f->low;
    /* Panels of pairs, packed beforehand, are widened by tiles or once for a block. */
    const bool pairs = p->panels && f->kept != f->joined && !f->integers;
    w->kept = f->integers || (pairs && p->m <= WIDENED_TO);
    w->widens = pairs && p->m > WIDENED_TO;
    w->along = !p->a_terms.rows && (p->a_column == 1 || p->k <= 1);
    w->packs_a =
        !f->strided || p->a_terms.rows || (p->m > f->low && p->n > DIRECT_A_TILES * f->columns);
}

void product_run(const TfcForm *form, const TfcProduct *p, void *workspace)
{
    const TfcFormSizes *f = &form->sizes;
    assert(!f->integers || p->k <= (p->panels ? TFC_INT8_K : TFC_INT8_PACKED_K));
    const int64_t spill = p->c_rows.rows ? SPILL_BYTES : 0;
    Work w = {.form = form,
              .f = f,
              .p = p,
              .block_room = workspace,
              .rows_room = (char *)workspace + f->block,
              .half = (TFC_GEMM_WORKSPACE - f->block - spill) / 2,
              .spill = spill ? (char *)workspace + TFC_GEMM_WORKSPACE - spill : NULL,
              .c_bytes = p->store == TFC_STORE_ROUNDED ? f->source : f->element};
    choose_way(&w);
    w.denormals = state_flush_denormals(f);
    state_open_registers(f);
    set_pass(&w, 0);
    w.by_columns = w.few && reads_in_place(&w, p->m);
    (w.by_columns ? run_columns : run_passes)(&w);
    state_close_registers(f);
    state_restore_denormals(f, w.denormals);
}
