/* Tiles: height × vectors vectors of sums, held in registers over all terms.
 *
 * What is written here is one sum, in loops over the rows and columns of a tile. The passes jam and
 * vectorise (codegen/loop) make a tile of it: rows share what they load of b, columns what they
 * load of a. */
#include "codegen/emit/gemm/gemm.h"

#include <assert.h>
#include <stdio.h>

static_assert((int)GEMM_MAX_ROWS <= LO_MAX_JAM && (int)GEMM_MAX_VECTORS <= LO_MAX_JAM,
              "rows and vectors are jammed");
static_assert(3 + GEMM_MAX_ROWS * GEMM_MAX_VECTORS <= LO_MAX_CARRIED,
              "the loop carries a, b, all sums, and the terms left");

typedef struct Tile {
    int vectors; /* of its row */
    TfcLayout layout;
    LoValue x[ARGS];
    LoValue row, column; /* of the sum */
    LoValue left;        /* from a's row 0 to its row, bytes */
    LoValue c;           /* its row */
    LoValue ahead;       /* bytes from b to what is brought near; NULL: nothing is */
} Tile;

static int width_of(const GemmEmit *g, const Tile *t) { return t->vectors * g->lanes; }

/* ---- terms ---- */

/* Strides that follow from the lie are constants. */
static void find_strides(GemmEmit *g, Tile *t)
{
    Lo *lo = &g->lo;
    int bytes = gemm_bytes(g);
    if (t->layout != TFC_LAYOUT_STRIDED)
        t->x[ARG_B_K] = lo_i64_of(lo, (int64_t)gemm_columns(g) * bytes);
    if (t->layout == TFC_LAYOUT_PANELS || t->layout == TFC_LAYOUT_ROWS || g->form.integers)
        t->x[ARG_A_K] = lo_i64_of(lo, bytes * (t->layout == TFC_LAYOUT_PANELS ? g->form.rows : 1));
    if (t->layout == TFC_LAYOUT_PANELS)
        t->x[ARG_A_ROW] = lo_i64_of(lo, bytes);
}

/* The terms of pairs that are odd, or even, as f32. */
static LoValue half_of_pairs(GemmEmit *g, LoValue pairs, bool odd)
{
    Lo *lo = &g->lo;
    LoType words = lo_type(pairs);
    LoValue bits = odd ? lo_and(lo, pairs, lo_int(lo, words, -0x10000))
                       : lo_shl(lo, pairs, lo_int(lo, words, 16));
    return lo_bitcast(lo, bits, lo_like(words, lo_f32));
}

/* The bytes of quads that are odd, or even, as words. */
static LoValue half_of_quads(GemmEmit *g, LoValue quads, bool odd)
{
    Lo *lo = &g->lo;
    LoType words = lo_type(quads);
    LoValue bytes = odd ? lo_lshr(lo, quads, lo_int(lo, words, 8)) : quads;
    return lo_and(lo, bytes, lo_int(lo, words, 0x00FF00FF));
}

/* Whether a turn of the loop takes half of what it reads of b. */
static bool halves(const GemmEmit *g, const Tile *t)
{
    return t->layout == TFC_LAYOUT_KEPT && gemm_widens(g);
}

/* A term of b's column; of what is widened its odd or even half. */
static LoValue load_right(GemmEmit *g, const Tile *t, bool odd)
{
    bool half = halves(g, t);
    LoValue at = gemm_at(g, t->x[ARG_B], t->column);
    LoValue x = lo_load(&g->lo, half ? lo_i32 : g->element, at, (unsigned)g->form.source);
    return !half ? x : g->form.integers ? half_of_quads(g, x, odd) : half_of_pairs(g, x, odd);
}

/* The sum and the products of the words of two lanes. */
static LoValue add_words(GemmEmit *g, LoValue sum, LoValue left, LoValue right)
{
    enum { WORD = 16 };
    Lo *lo = &g->lo;
    LoValue by = lo_int(lo, lo_i32, WORD), low = lo_int(lo, lo_i32, 0xFFFF);
    if (g->quads != TARGET_QUADS_WIDENED)
        return lo_word_dot(lo, sum, left, right);
    LoValue first = lo_ashr(lo, lo_shl(lo, left, by), by), second = lo_ashr(lo, left, by);
    sum = lo_add(lo, sum, lo_mul(lo, first, lo_and(lo, right, low)));
    return lo_add(lo, sum, lo_mul(lo, second, lo_lshr(lo, right, by)));
}

/* The sum and the products of an element of a by one of b, of 8 bits. */
static LoValue add_integers(GemmEmit *g, LoValue sum, LoValue left, LoValue right)
{
    switch (g->quads) {
    case TARGET_QUADS_DOTS: return lo_byte_dot(&g->lo, sum, left, right);
    case TARGET_QUADS_SIGNED: return lo_signed_dot(&g->lo, sum, left, right);
    default: return add_words(g, sum, left, right);
    }
}

/* The sum and one term more; `odd`: of a pair. */
static LoValue add_term(GemmEmit *g, const Tile *t, LoValue sum, bool odd)
{
    Lo *lo = &g->lo;
    LoValue right = load_right(g, t, odd);
    LoValue left =
        lo_load(lo, g->element, gemm_byte(g, t->x[ARG_A], t->left), (unsigned)g->form.source);
    if (g->form.integers)
        return add_integers(g, sum, left, right);
    return gemm_joined(g) ? lo_pair_dot(lo, sum, left, right) : lo_muladd(lo, left, right, sum);
}

/* ---- the loop over terms ---- */

/* How far from a row of b the one is that is brought near: as many rows as take `ahead` bytes,
 * where rows lie one after the other, as in panels, which come from memory when rows of a are few.
 * Rows further apart are pages of their own: to find these costs more than is won. */
static LoValue distance_ahead(GemmEmit *g, const Tile *t)
{
    Lo *lo = &g->lo;
    int64_t row = gemm_columns(g) * gemm_bytes(g);
    LoValue dense = lo_le(lo, t->x[ARG_B_K], lo_i64_of(lo, row));
    return lo_select(lo, dense, lo_i64_of(lo, g->ahead / row * row), lo_i64_of(lo, 0));
}

/* Of long rows hardware brings every other line. */
static void prefetch_b(GemmEmit *g, const Tile *t)
{
    int row = width_of(g, t) * gemm_bytes(g), line = (int)g->form.line;
    int step = row > 2 * line ? 2 * line : line;
    LoValue at = gemm_byte(g, t->x[ARG_B], t->ahead);
    for (int i = 0; i < row; i += step)
        lo_prefetch(&g->lo, gemm_byte(g, at, lo_i64_of(&g->lo, i)));
}

/* The sum of integers, less what the offset of one side added, times both scales. */
static LoValue scaled_sum(GemmEmit *g, const Tile *t, LoValue sum)
{
    enum { BYTES = 4 };
    Lo *lo = &g->lo;
    LoValue row = gemm_byte(g, t->x[ARG_A], t->left);
    LoValue column = gemm_at(g, t->x[ARG_B], t->column);
    LoValue left = lo_load(lo, lo_f32, row, BYTES), right = lo_load(lo, lo_f32, column, BYTES);
    if (g->quads != TARGET_QUADS_SIGNED) {
        LoValue offset = g->quads == TARGET_QUADS_DOTS ? gemm_byte(g, column, t->x[ARG_B_K])
                                                       : gemm_byte(g, row, lo_i64_of(lo, BYTES));
        sum = lo_sub(lo, sum, lo_load(lo, lo_i32, offset, BYTES));
    }
    return lo_mul(lo, lo_from_int(lo, sum, lo_f32), lo_mul(lo, left, right));
}

/* ---- integers in groups ---- */

enum { ELEMENT = 4 }; /* bytes */

/* Element i, from a place in the row of a. */
static LoValue load_integers(GemmEmit *g, const Tile *t, LoValue a, LoType type, int64_t i)
{
    LoValue row = gemm_byte(g, a, t->left);
    return lo_load(&g->lo, type, gemm_byte(g, row, lo_i64_of(&g->lo, i * ELEMENT)), ELEMENT);
}

/* Whether bytes without a sign are multiplied in pairs, whose sums are of at most 8 · 2 · 15 · 127,
 * which an i16 holds. */
static bool sums_pairs(const GemmEmit *g)
{
    static_assert(GROUP_TERMS / 2 * 15 * INTEGERS_MOST <= INT16_MAX, "sums of pairs");
    return g->quads == TARGET_QUADS_PAIRS && form_has_bytes(&g->form);
}

/* Whether b's bytes have a sign, and meet bytes that have one. */
static bool has_signs(const GemmEmit *g)
{
    return g->quads == TARGET_QUADS_SIGNED && g->form.integers == 8;
}

/* What of an element of b meets element i of those of a. */
static LoValue part_of(GemmEmit *g, LoValue element, int i)
{
    Lo *lo = &g->lo;
    const bool bytes = form_has_bytes(&g->form), of_4 = g->form.integers == 4;
    if (bytes && !of_4) /* a sign becomes INTEGERS_OFFSET */
        return has_signs(g) ? element
                            : lo_xor(lo, element, lo_int(lo, lo_i32, (int32_t)0x80808080));
    const int32_t mask = bytes ? 0x0F0F0F0F : of_4 ? 0x000F000F : 0x00FF00FF;
    LoValue shift = lo_int(lo, lo_i32, i * g->form.integers);
    return lo_and(lo, lo_lshr(lo, element, shift), lo_int(lo, lo_i32, mask));
}

/* The sum and the products of an element of b with elements of a. */
static LoValue add_element(GemmEmit *g, const Tile *t, LoValue sum)
{
    Lo *lo = &g->lo;
    LoValue element = lo_load(lo, lo_i32, gemm_at(g, t->x[ARG_B], t->column), ELEMENT);
    for (int i = 0; i < group_element_terms(g->form.integers) / g->form.joined; i++) {
        LoValue right = part_of(g, element, i), left = load_integers(g, t, t->x[ARG_A], lo_i32, i);
        if (sums_pairs(g))
            sum = lo_byte_pairs(lo, sum, right, left);
        else if (g->quads == TARGET_QUADS_DOTS) /* b has no sign */
            sum = lo_byte_dot(lo, sum, right, left);
        else
            sum = add_integers(g, sum, left, right);
    }
    return sum;
}

/* Goes on in b by a row of elements. */
static void next_row(GemmEmit *g, Tile *t)
{
    if (t->ahead)
        prefetch_b(g, t);
    t->x[ARG_B] = gemm_byte(g, t->x[ARG_B], t->x[ARG_B_K]);
}

/* A group's products of integers. They begin with the i32 that is element `first` from a on, where
 * integers of b have something added. */
static LoValue sum_group(GemmEmit *g, Tile *t, LoValue a, int64_t first)
{
    Lo *lo = &g->lo;
    const bool pairs = sums_pairs(g);
    const int64_t terms = group_element_terms(g->form.integers),
                  step = terms / g->form.joined * ELEMENT;
    LoValue zero = lo_int(lo, lo_i32, 0), begin = zero;
    if (form_offset(&g->form) && !has_signs(g))
        begin = load_integers(g, t, a, lo_i32, first);
    LoValue one = lo_i64_of(lo, 1), rows = lo_i64_of(lo, GROUP_TERMS / terms),
            sum = pairs ? zero : begin;
    LoWhile loop = {.values = {&t->x[ARG_B], &t->x[ARG_A], &sum}, .n = 3};
    lo_while_open(lo, &loop, &rows, one);
    sum = add_element(g, t, sum);
    next_row(g, t);
    t->x[ARG_A] = gemm_byte(g, t->x[ARG_A], lo_i64_of(lo, step));
    rows = gemm_sub(g, rows, one);
    lo_while_close(lo, &loop);
    return pairs ? lo_word_dot(lo, begin, sum, lo_int(lo, lo_i32, 0x00010001)) : sum;
}

/* One of the f16 that elements have for both groups, as f32. */
static LoValue half_of_group(GemmEmit *g, const Tile *t, LoValue row, int group)
{
    enum { HALF = 16 };
    Lo *lo = &g->lo;
    LoValue halves = lo_load(lo, lo_i32, gemm_at(g, row, t->column), ELEMENT);
    return lo_half_value(lo, group ? halves : lo_shl(lo, halves, lo_int(lo, lo_i32, HALF)));
}

/* The sum and a turn's groups: each a sum of integers times both scales, and perhaps the sum of a's
 * integers times its scale and b's minimum. */
static LoValue add_groups(GemmEmit *g, Tile *t, LoValue sum)
{
    enum { TRAILER = INTEGERS_ROW_TRAILER };
    Lo *lo = &g->lo;
    const bool has_minimum = quant_info((Quant)g->form.quant)->has_minimum;
    const int64_t trailer = TURN_TERMS / g->form.joined;
    const int64_t rows = TURN_TERMS / group_element_terms(g->form.integers);
    LoValue a = t->x[ARG_A];
    LoValue scales = gemm_byte(g, t->x[ARG_B], gemm_times(g, t->x[ARG_B_K], rows));
    LoValue minima = gemm_byte(g, scales, t->x[ARG_B_K]);
    for (int i = 0; i < TURN_GROUPS; i++) {
        const int64_t at = trailer + i * TRAILER;
        LoValue integers = sum_group(g, t, a, at + 1);
        LoValue left = load_integers(g, t, a, lo_f32, at);
        LoValue scale = lo_mul(lo, left, half_of_group(g, t, scales, i));
        sum = lo_muladd(lo, lo_from_int(lo, integers, lo_f32), scale, sum);
        if (!has_minimum)
            continue;
        LoValue all = lo_from_int(lo, load_integers(g, t, a, lo_i32, at + 1), lo_f32);
        sum = lo_muladd(lo, lo_mul(lo, all, left), half_of_group(g, t, minima, i), sum);
    }
    for (int i = 0; i < 1 + has_minimum; i++)
        next_row(g, t);
    t->x[ARG_A] = gemm_byte(g, a, lo_i64_of(lo, (trailer + TURN_GROUPS * TRAILER) * ELEMENT));
    return sum;
}

static LoValue sum_groups(GemmEmit *g, Tile *t)
{
    Lo *lo = &g->lo;
    LoValue one = lo_i64_of(lo, 1), turns = t->x[ARG_K], sum = lo_zero(lo, lo_f32);
    LoWhile loop = {.values = {&t->x[ARG_B], &t->x[ARG_A], &sum}, .n = 3};
    lo_while_open(lo, &loop, &turns, one);
    sum = add_groups(g, t, sum);
    turns = gemm_sub(g, turns, one);
    lo_while_close(lo, &loop);
    return sum;
}

/* ---- all terms ---- */

/* A turn takes one, or two where it widens halves. */
static LoValue sum_terms(GemmEmit *g, Tile *t)
{
    if (g->form.integers && form_has_groups(&g->form))
        return sum_groups(g, t);
    Lo *lo = &g->lo;
    bool half = halves(g, t);
    int steps = half ? 2 : 1;
    LoValue step = lo_i64_of(lo, steps), terms = t->x[ARG_K], sum = lo_zero(lo, g->sum);
    LoWhile loop = {.values = {&t->x[ARG_B], &t->x[ARG_A], &sum}, .n = 3};
    lo_while_open(lo, &loop, &terms, step);
    if (t->layout != TFC_LAYOUT_STRIDED && g->unrolled > steps)
        loop.op->unroll = g->unrolled / steps;
    for (int i = 0; i < steps; i++) {
        bool whole = i + 1 == steps; /* b's row has given all */
        bool odd = half && (i == 0) == !g->form.integers;
        sum = add_term(g, t, sum, odd);
        if (t->ahead && whole)
            prefetch_b(g, t);
        if (whole)
            t->x[ARG_B] = gemm_byte(g, t->x[ARG_B], t->x[ARG_B_K]);
        t->x[ARG_A] = gemm_byte(g, t->x[ARG_A], t->x[ARG_A_K]);
    }
    terms = gemm_sub(g, terms, step);
    lo_while_close(lo, &loop);
    return g->form.integers ? scaled_sum(g, t, sum) : sum;
}

/* ---- sums into c ---- */

void gemm_store(GemmEmit *g, LoValue sum, LoValue at, TfcStore store, LoValue stored,
                LoValue loaded)
{
    Lo *lo = &g->lo;
    unsigned align = (unsigned)gemm_bytes(g);
    LoType type = lo_type(sum);
    if (store == TFC_STORE_ROUNDED) {
        sum = lo_bf16_bits(lo, lo_bf16_round(lo, sum));
        align = sizeof(uint16_t);
    } else if (store == TFC_STORE_ADD) {
        LoValue before =
            loaded ? lo_masked_load(lo, type, at, loaded, align) : lo_load(lo, type, at, align);
        if (loaded) /* -0 adds nothing to any sum, 0 would make 0 of -0 */
            before = lo_select(lo, loaded, before, lo_real(lo, type, -0.0));
        sum = lo_add(lo, before, sum);
    }
    if (stored)
        lo_masked_store(lo, sum, at, stored, align);
    else
        lo_store(lo, sum, at, align);
}

static LoIf open_if_asked(GemmEmit *g, const Tile *t, TfcStore store)
{
    return lo_if_open(&g->lo, lo_eq(&g->lo, t->x[ARG_STORE], lo_i64_of(&g->lo, store)));
}

static void store_sum(GemmEmit *g, const Tile *t, LoValue sum, TfcStore store, LoValue stored,
                      LoValue loaded)
{
    LoType unit = store == TFC_STORE_ROUNDED ? lo_i16 : lo_element(lo_type(sum));
    gemm_store(g, sum, lo_at(&g->lo, unit, t->c, t->column), store, stored, loaded);
}

/* … rounded if that is asked for, else as it is. */
static void store_asked(GemmEmit *g, const Tile *t, LoValue sum, TfcStore store, LoValue stored,
                        LoValue loaded)
{
    if (!g->pairs) {
        store_sum(g, t, sum, store, stored, loaded);
        return;
    }
    LoIf rounded = open_if_asked(g, t, TFC_STORE_ROUNDED);
    store_sum(g, t, sum, TFC_STORE_ROUNDED, stored, NULL);
    lo_else(&g->lo, &rounded);
    store_sum(g, t, sum, store, stored, loaded);
    lo_if_close(&g->lo, &rounded);
}

/* Of a tile that c has all columns of. */
static void store_whole(GemmEmit *g, const Tile *t, LoValue sum)
{
    LoIf adds = open_if_asked(g, t, TFC_STORE_ADD);
    store_sum(g, t, sum, TFC_STORE_ADD, NULL, NULL);
    lo_else(&g->lo, &adds);
    store_asked(g, t, sum, TFC_STORE_OVERWRITE, NULL, NULL);
    lo_if_close(&g->lo, &adds);
}

/* Of one that c ends in: what is stored over is added to -0. */
static void store_part(GemmEmit *g, const Tile *t, LoValue sum)
{
    Lo *lo = &g->lo;
    LoValue stored = gemm_is_below(g, t->column, t->x[ARG_COLUMNS]);
    LoValue adds = lo_eq(lo, t->x[ARG_STORE], lo_i64_of(lo, TFC_STORE_ADD));
    store_asked(g, t, sum, TFC_STORE_ADD, stored, lo_and(lo, stored, adds));
}

static void write_sum(GemmEmit *g, Tile *t)
{
    Lo *lo = &g->lo;
    t->left = gemm_mul(g, t->row, t->x[ARG_A_ROW]);
    t->c = gemm_byte(g, t->x[ARG_C], gemm_mul(g, t->row, t->x[ARG_C_ROW]));
    lo_prefetch_write(lo, gemm_at(g, t->c, t->column));
    LoValue sum = sum_terms(g, t);
    if (g->lanes == 1) { /* there are tiles of every width */
        store_whole(g, t, sum);
        return;
    }
    LoIf whole = lo_if_open(lo, lo_ge(lo, t->x[ARG_COLUMNS], lo_i64_of(lo, width_of(g, t))));
    store_whole(g, t, sum);
    lo_else(lo, &whole);
    store_part(g, t, sum);
    lo_if_close(lo, &whole);
}

/* A loop from 0 of vectors that go through the body together. */
static LoLoop open_jammed(GemmEmit *g, int lanes, int vectors, const char *name)
{
    LoVector vector = {.lanes = (uint8_t)lanes, .jam = (uint8_t)vectors, .whole = true};
    return lo_vector_open(&g->lo, lo_i64_of(&g->lo, 0), lo_i64_of(&g->lo, lanes * vectors), vector,
                          name);
}

LoFunction *gemm_tile(GemmEmit *g, int height, int vectors, TfcLayout layout)
{
    static const char *const layouts[TFC_LAYOUTS] = {"", ".panels", ".rows", ".kept"};
    Lo *lo = &g->lo;
    char part[32];
    snprintf(part, sizeof part, "tile%dx%d%s", height, vectors, layouts[layout]);
    Tile t = {.vectors = vectors, .layout = layout};
    LoFunction *function = gemm_open(g, part, ARGS, ARG_POINTERS, t.x);
    find_strides(g, &t);
    t.ahead = g->ahead && layout != TFC_LAYOUT_PANELS ? distance_ahead(g, &t) : NULL;
    LoLoop rows = open_jammed(g, 1, height, "rows");
    LoLoop columns = open_jammed(g, g->lanes, vectors, "columns");
    t.row = rows.index;
    t.column = columns.index;
    write_sum(g, &t);
    lo_for_close(lo, &columns);
    lo_for_close(lo, &rows);
    gemm_return(g);
    return function;
}

/* Of all heights; of kept pairs without the greatest, since both halves of b's row take
 * registers. Tiles of integers read b once and again. */
static void write_tiles(GemmEmit *g, TfcLayout layout, GemmTiles tiles)
{
    for (int h = layout == TFC_LAYOUT_KEPT && g->pairs; h < TFC_HEIGHTS && g->form.heights[h]; h++)
        for (int w = 0; w < (g->form.heights[h] <= g->form.low ? TFC_WIDTHS : GEMM_WIDE); w++)
            tiles[h][w] = w > 0 && g->vectors[w] == g->vectors[w - 1] /* two widths may be one */
                              ? tiles[h][w - 1]
                              : gemm_tile(g, (int)g->form.heights[h], g->vectors[w], layout);
}

void gemm_tiles(GemmEmit *g, GemmTiles tiles) { write_tiles(g, TFC_LAYOUT_STRIDED, tiles); }
void gemm_kept_tiles(GemmEmit *g, GemmTiles tiles) { write_tiles(g, TFC_LAYOUT_KEPT, tiles); }
