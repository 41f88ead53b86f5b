/* The rows of a native product: several panels of a at a time, times a block of b.
 *
 * What the next rows need of a is brought near while these are multiplied, a share at
 * each tile, because it lies too far apart for hardware to foresee: rows that lie along k
 * are prefetched, and read where they are or, of bf16, widened row by row; rows that lie
 * beside each other are packed, into the half of the room that is not in use. Joined pairs
 * are packed before they are multiplied, unless AMX reads them where they are. */
#include "codegen/emit/gemm_blocks.h"

enum { CROWDED_ROWS = 1024 }; /* terms from row to row, 2 KiB */

/* The rows at work, and those after them. */
typedef struct Rows {
    LlValue a, count, packed;   /* where a has them, how many, where they are packed */
    LlValue next, n_next, room; /* the same of the next */
    LlValue tiles;              /* of a panel of a */
    LlValue packs;              /* i1: they are read packed */
} Rows;

/* Elements from a row of a panel to the next where rows lie along k, and from a panel to
 * the next. */
static LlValue row_pitch(GemmEmit *g, const Blocks *x)
{
    return add(g, x->terms, ll_i64(&g->ll, GEMM_PANEL_GAP / g->bytes));
}

static LlValue pitch(GemmEmit *g, const Blocks *x)
{
    return gemm_mul(g, row_pitch(g, x), ll_i64(&g->ll, gemm_rows(g)));
}

/* How many steps a length has; of a multiple of it, at which step it is. */
static LlValue steps(GemmEmit *g, LlValue length, int64_t step)
{
    return LLVMBuildUDiv(g->ll.builder, add(g, length, ll_i64(&g->ll, step - 1)),
                         ll_i64(&g->ll, step), "");
}

static LlValue packed_a(GemmEmit *g, const Blocks *x, LlValue packed, LlValue row)
{
    return gemm_at(g, packed, gemm_mul(g, steps(g, row, gemm_rows(g)), pitch(g, x)));
}

/* ---- what the next rows need ---- */

/* Lines of `runs` runs of `run` elements, `stride` apart. */
static void prefetch_runs(GemmEmit *g, LlValue at, LlValue from, LlValue to, LlValue stride,
                          LlValue run)
{
    Ll *ll = &g->ll;
    LlLoop runs = ll_loop_open(ll, from, to, 1, "runs");
    LlValue start = gemm_source(g, at, gemm_mul(g, runs.index, stride));
    LlLoop lines =
        ll_loop_open(ll, ll_i64(ll, 0), run, g->line / (g->pairs ? 2 : g->bytes), "lines");
    ll_prefetch(ll, gemm_source(g, start, lines.index));
    ll_loop_close(ll, &lines);
    ll_loop_close(ll, &runs);
}

/* Terms from `from` on of rows that lie beside each other into their panels. */
static void pack_beside(GemmEmit *g, const Blocks *x, LlValue a, LlValue rows, LlValue from,
                        LlValue to, LlValue room)
{
    LlValue out = gemm_at(g, room, gemm_mul(g, from, ll_i64(&g->ll, gemm_rows(g))));
    gemm_call(g, g->pack_a, 6,
              (LlValue[]){sub(g, to, from), gemm_source(g, a, gemm_mul(g, from, x->a_k)), x->a_k,
                          rows, out, pitch(g, x)});
}

/* Pairs are not parted. */
static LlValue share_end(GemmEmit *g, LlValue runs, LlValue share, LlValue shares)
{
    Ll *ll = &g->ll;
    LlValue end = LLVMBuildUDiv(ll->builder, gemm_mul(g, runs, share), shares, "");
    end = ll_min(&g->ll, end, runs);
    if (!g->pairs)
        return end;
    LlValue all = LLVMBuildICmp(ll->builder, LLVMIntEQ, end, runs, "");
    return select(g, all, runs, LLVMBuildAnd(ll->builder, end, ll_i64(ll, -2), ""));
}

/* The share of a tile. What is packed at a tile is prefetched at the one before. */
static void prepare_share(GemmEmit *g, const Blocks *x, const Rows *rows, LlValue row,
                          LlValue column)
{
    Ll *ll = &g->ll;
    LlValue shares = gemm_mul(g, steps(g, rows->count, gemm_rows(g)), rows->tiles);
    LlValue share = add(g, gemm_mul(g, steps(g, row, gemm_rows(g)), rows->tiles),
                        steps(g, column, gemm_columns(g)));
    LlValue runs = select(g, x->by_rows, rows->n_next, x->depth);
    LlValue run = select(g, x->by_rows, x->depth, rows->n_next);
    LlValue stride = select(g, x->by_rows, x->a_row, x->a_k), ends[3];
    for (int i = 0; i < 3; i++)
        ends[i] = share_end(g, runs, add(g, share, ll_i64(ll, i)), shares);
    if (!g->joined) {
        LlIf packs = ll_if_open(ll, x->ahead);
        pack_beside(g, x, rows->next, rows->n_next, ends[0], ends[1], rows->room);
        ll_if_close(ll, &packs);
    }
    prefetch_runs(g, rows->next, select(g, x->ahead, ends[1], ends[0]),
                  select(g, x->ahead, ends[2], ends[1]), stride, run);
}

void rows_start(GemmEmit *g, const Blocks *x, LlValue a)
{
    Ll *ll = &g->ll;
    if (g->joined)
        return;
    LlIf packs = ll_if_open(ll, x->ahead);
    LlValue rows = ll_min(&g->ll, x->m, ll_i64(ll, gemm_together(g)));
    pack_beside(g, x, a, rows, ll_i64(ll, 0), x->depth, x->panels);
    ll_if_close(ll, &packs);
}

/* ---- what these rows need ---- */

static LlValue is_multiple(GemmEmit *g, LlValue x, int64_t power_of_two)
{
    Ll *ll = &g->ll;
    LlValue rest = LLVMBuildAnd(ll->builder, x, ll_i64(ll, power_of_two - 1), "");
    return LLVMBuildICmp(ll->builder, LLVMIntEQ, rest, ll_i64(ll, 0), "");
}

/* Whether they are packed: for AMX, unless they are whole registers already, and not so far
 * apart that they would all want the same places of the first-level cache. */
static LlValue packs_rows(GemmEmit *g, const Blocks *x, LlValue count)
{
    Ll *ll = &g->ll;
    if (!g->amx)
        return x->pack_a;
    LlValue whole = LLVMBuildAnd(ll->builder, is_multiple(g, count, AMX_LINES),
                                 is_multiple(g, x->depth, TFC_PAIRS_TERMS), "");
    LlValue apart = LLVMBuildNot(ll->builder, is_multiple(g, x->a_row, CROWDED_ROWS), "");
    LlValue in_place =
        LLVMBuildAnd(ll->builder, x->by_rows, LLVMBuildAnd(ll->builder, whole, apart, ""), "");
    return LLVMBuildNot(ll->builder, in_place, "");
}

static void pack_pairs(GemmEmit *g, const Blocks *x, const Rows *rows)
{
    Ll *ll = &g->ll;
    LlIf packs = ll_if_open(ll, rows->packs);
    LlLoop panels = ll_loop_open(ll, ll_i64(ll, 0), rows->count, gemm_rows(g), "pack");
    LlValue height = ll_min(&g->ll, sub(g, rows->count, panels.index), ll_i64(ll, gemm_rows(g)));
    gemm_call(g, g->pack_a, g->amx ? 7 : 6,
              (LlValue[]){x->depth, gemm_source(g, rows->a, gemm_mul(g, panels.index, x->a_row)),
                          x->a_k, x->a_row, height, packed_a(g, x, rows->packed, panels.index),
                          row_pitch(g, x)});
    ll_loop_close(ll, &panels);
    ll_if_close(ll, &packs);
}

static void widen_rows(GemmEmit *g, const Blocks *x, const Rows *rows)
{
    Ll *ll = &g->ll;
    LlIf widens = ll_if_open(ll, x->by_rows);
    gemm_call(g, g->widen_a, 6,
              (LlValue[]){x->depth, rows->a, x->a_row, rows->count, rows->packed, row_pitch(g, x)});
    ll_if_close(ll, &widens);
}

/* ---- tiles ---- */

/* Wide tiles over as many columns as they fill; gives how many. */
static LlValue multiply_wide(GemmEmit *g, const Blocks *x, LlValue a, LlValue b, LlValue c,
                             LlValue rows)
{
    Ll *ll = &g->ll;
    LlValue width = ll_i64(ll, gemm_wide_columns(g));
    LlValue rest = LLVMBuildURem(ll->builder, x->columns, width, "");
    LlValue whole = select(g, x->low, sub(g, x->columns, rest), ll_i64(ll, 0));
    LlLoop tiles = ll_loop_open(ll, ll_i64(ll, 0), whole, gemm_wide_columns(g), "wide");
    gemm_call(g, g->tile_rows, 12,
              (LlValue[]){x->terms, a, x->a_row, x->a_k, gemm_at(g, b, tiles.index), x->b_k,
                          gemm_unit(g, c, gemm_mul(g, tiles.index, x->c_units)), x->c_row, width,
                          x->adds, rows, ll_i64(ll, GEMM_STRIDED)});
    ll_loop_close(ll, &tiles);
    return whole;
}

/* How a panel of a lies beside a panel of b, as a number. */
static LlValue lie_of(GemmEmit *g, const Blocks *x, const Rows *rows, LlValue b_packed)
{
    Ll *ll = &g->ll;
    LlValue by_rows = LLVMBuildAnd(ll->builder, x->by_rows, ll_int(ll->i1, !g->joined), "");
    LlValue packed = select(g, rows->packs, ll_i64(ll, GEMM_PACKED), ll_i64(ll, GEMM_STRIDED));
    LlValue lie = select(g, by_rows, ll_i64(ll, GEMM_BY_ROWS), packed);
    return select(g, b_packed, lie, ll_i64(ll, GEMM_STRIDED));
}

/* The panel of a at `row` times every panel of the block of b. */
static void multiply_panel(GemmEmit *g, const Blocks *x, const Rows *rows, LlValue b, LlValue c,
                           LlValue row)
{
    Ll *ll = &g->ll;
    LlValue height = ll_min(&g->ll, sub(g, rows->count, row), ll_i64(ll, gemm_rows(g)));
    LlValue in_place = gemm_source(g, rows->a, gemm_mul(g, row, x->a_row));
    LlValue done = multiply_wide(g, x, in_place, b, c, height);
    LlValue a_at = select(g, rows->packs, packed_a(g, x, rows->packed, row), in_place);
    LlValue a_row = select(g, rows->packs, ll_i64(ll, 1), x->a_row);
    LlValue a_k = select(g, rows->packs, ll_i64(ll, gemm_rows(g)), x->a_k);
    if (g->amx) /* in bytes */
        a_row = select(g, rows->packs, gemm_mul(g, row_pitch(g, x), ll_i64(ll, g->bytes)),
                       gemm_mul(g, x->a_row, ll_i64(ll, 2)));
    if (g->widen_a) {
        a_row = select(g, x->by_rows, row_pitch(g, x), a_row);
        a_k = select(g, x->by_rows, ll_i64(ll, 1), a_k);
    }
    LlLoop panels = ll_loop_open(ll, done, x->columns, gemm_columns(g), "tiles");
    prepare_share(g, x, rows, row, panels.index);
    LlValue width = panel_width(g, x, panels.index), packed = packs_panel(g, x, width);
    LlValue where = gemm_source(g, b, gemm_mul(g, panels.index, x->b_column));
    LlValue b_at = select(g, packed, packed_b(g, x, panels.index), where);
    LlValue b_k = select(g, packed, ll_i64(ll, gemm_columns(g)), x->b_k);
    gemm_call(g, g->tile_rows, 12,
              (LlValue[]){x->terms, a_at, a_row, a_k, b_at, b_k,
                          gemm_unit(g, c, gemm_mul(g, panels.index, x->c_units)), x->c_row, width,
                          x->adds, height, lie_of(g, x, rows, packed)});
    ll_loop_close(ll, &panels);
}

void rows_multiply(GemmEmit *g, const Blocks *x, LlValue a, LlValue b, LlValue c, LlValue first,
                   LlValue count)
{
    Ll *ll = &g->ll;
    int64_t together = gemm_together(g);
    LlValue turn = LLVMBuildAnd(ll->builder, steps(g, first, together), ll_i64(ll, 1), "");
    LlValue half = gemm_mul(g, pitch(g, x), ll_i64(ll, g->panels));
    LlValue next = add(g, first, count);
    Rows rows = {.a = gemm_source(g, a, gemm_mul(g, first, x->a_row)),
                 .count = count,
                 .packed = gemm_at(g, x->panels, gemm_mul(g, turn, half)),
                 .next = gemm_source(g, a, gemm_mul(g, next, x->a_row)),
                 .n_next = ll_min(&g->ll, sub(g, x->m, next), ll_i64(ll, together)),
                 .room = gemm_at(g, x->panels, gemm_mul(g, sub(g, ll_i64(ll, 1), turn), half)),
                 .tiles = steps(g, x->columns, gemm_columns(g)),
                 .packs = packs_rows(g, x, count)};
    if (g->joined)
        pack_pairs(g, x, &rows);
    else if (g->pairs)
        widen_rows(g, x, &rows);
    LlLoop panels = ll_loop_open(ll, ll_i64(ll, 0), count, gemm_rows(g), "panels");
    LlValue row = add(g, first, panels.index);
    multiply_panel(g, x, &rows, b, gemm_unit(g, c, gemm_mul(g, row, x->c_row)), panels.index);
    ll_loop_close(ll, &panels);
}
