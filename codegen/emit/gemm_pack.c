/* Panels: a side of `width` elements beside each other, term after term, so that a
 * tile reads them in one stream. Where the operand lies along k, squares of
 * lanes × lanes elements are turned in registers. */
#include "codegen/emit/gemm.h"

#include <assert.h>

enum { MAX_GROUPS = 4, BF16_BYTES = 2 };

typedef struct Pack {
    LlValue k, x, x_k, x_side, count, out, width;
    int groups; /* vectors a row of the panel */
} Pack;

LlValue gemm_load(GemmEmit *g, int lanes, LlValue at, LlValue mask)
{
    Ll *ll = &g->ll;
    bool widen = g->source != g->element;
    LlType type = lanes > 1 ? ll_vector(g->source, lanes) : g->source;
    unsigned align = widen ? BF16_BYTES : (unsigned)g->bytes;
    LlValue x = mask ? ll_masked_load(ll, type, at, mask, align) : ll_load(ll, type, at, align);
    return widen ? ll_bf16_value(ll, x) : x;
}

/* ---- contiguous along the side: rows are copied ---- */

static void copy_row(GemmEmit *g, const Pack *pack, LlValue from, LlValue to, const LlValue *masks)
{
    Ll *ll = &g->ll;
    for (int v = 0; v < pack->groups; v++) {
        LlValue at = ll_i64(ll, v * g->lanes);
        LlValue row = gemm_load(g, g->lanes, gemm_source(g, from, at), masks ? masks[v] : NULL);
        ll_store(ll, row, gemm_at(g, to, at), (unsigned)g->bytes);
    }
}

static void copy_rows(GemmEmit *g, const Pack *pack, const LlValue *masks)
{
    Ll *ll = &g->ll;
    LlLoop loop = ll_loop_open(ll, ll_i64(ll, 0), pack->k, 1, "copy");
    LlValue from = gemm_source(g, pack->x, gemm_mul(g, loop.index, pack->x_k));
    LlValue to = gemm_at(g, pack->out, gemm_mul(g, loop.index, pack->width));
    copy_row(g, pack, from, to, masks);
    ll_loop_close(ll, &loop);
}

static void pack_copied(GemmEmit *g, const Pack *pack)
{
    Ll *ll = &g->ll;
    LlValue masks[MAX_GROUPS] = {0};
    LlValue all = ll_i64(ll, pack->groups * g->lanes);
    LlIf whole = ll_if_open(ll, LLVMBuildICmp(ll->builder, LLVMIntEQ, pack->count, all, ""));
    copy_rows(g, pack, NULL);
    gemm_return(g);
    ll_at_block(ll, whole.done);
    for (int v = 0; v < pack->groups; v++)
        masks[v] = ll_lanes_below(ll, pack->count, v * g->lanes, g->lanes);
    copy_rows(g, pack, masks);
    gemm_return(g);
}

/* ---- contiguous along k: squares are turned ---- */

/* Where the side ends its last element is read again. */
static LlValue side_address(GemmEmit *g, const Pack *pack, LlValue index)
{
    Ll *ll = &g->ll;
    LlValue last = LLVMBuildNSWSub(ll->builder, pack->count, ll_i64(ll, 1), "");
    return gemm_source(g, pack->x, gemm_mul(g, ll_min(&g->ll, index, last), pack->x_side));
}

/* a0 b0 a1 b1 … of the low or high halves of each `block` of elements. */
static LlValue interleave(GemmEmit *g, LlValue a, LlValue b, int block, bool high)
{
    Ll *ll = &g->ll;
    LlValue lanes[GEMM_MAX_LANES];
    for (int i = 0; i < g->lanes; i++) {
        int pair = i / block, from = pair & 1;
        int source = (pair & ~1) * block + (high ? block : 0) + i % block;
        lanes[i] = ll_int(ll->i32, source + from * g->lanes);
    }
    return LLVMBuildShuffleVector(ll->builder, a, b, LLVMConstVector(lanes, (unsigned)g->lanes),
                                  "");
}

/* Turns a square by swapping, for each power of two below its size, the off-diagonal
 * blocks of that size (Eklundh 1972). */
void gemm_turn(GemmEmit *g, LlValue *rows)
{
    for (int block = g->lanes / 2; block >= 1; block /= 2)
        for (int r = 0; r < g->lanes; r++) {
            if (r & block)
                continue;
            LlValue low = interleave(g, rows[r], rows[r + block], block, false);
            rows[r + block] = interleave(g, rows[r], rows[r + block], block, true);
            rows[r] = low;
        }
}

static void turn_squares(GemmEmit *g, const Pack *pack, int group, LlValue whole)
{
    Ll *ll = &g->ll;
    LlValue starts[GEMM_MAX_LANES], rows[GEMM_MAX_LANES];
    for (int r = 0; r < g->lanes; r++)
        starts[r] = side_address(g, pack, ll_i64(ll, group * g->lanes + r));
    LlValue next =
        LLVMBuildMul(ll->builder, pack->x_side, pack->width, ""); /* the panel after this one */
    LlLoop loop = ll_loop_open(ll, ll_i64(ll, 0), whole, g->lanes, "turn");
    LlValue out = gemm_at(g, pack->out, gemm_mul(g, loop.index, pack->width));
    LlValue ahead = LLVMBuildAdd(ll->builder, loop.index, next, "");
    for (int r = 0; r < g->lanes; r++) {
        rows[r] = gemm_load(g, g->lanes, gemm_source(g, starts[r], loop.index), NULL);
        ll_prefetch(ll, gemm_source(g, starts[r], ahead));
    }
    gemm_turn(g, rows);
    for (int r = 0; r < g->lanes; r++, out = gemm_at(g, out, pack->width))
        ll_store(ll, rows[r], gemm_at(g, out, ll_i64(ll, group * g->lanes)), (unsigned)g->bytes);
    ll_loop_close(ll, &loop);
}

/* Terms from `whole` on, element by element. */
static void turn_rest(GemmEmit *g, const Pack *pack, LlValue whole)
{
    Ll *ll = &g->ll;
    LlLoop terms = ll_loop_open(ll, whole, pack->k, 1, "term");
    LlValue from = gemm_source(g, pack->x, gemm_mul(g, terms.index, pack->x_k));
    LlValue to = gemm_at(g, pack->out, gemm_mul(g, terms.index, pack->width));
    LlLoop side = ll_loop_open(ll, ll_i64(ll, 0), pack->count, 1, "side");
    LlValue at = gemm_source(g, from, gemm_mul(g, side.index, pack->x_side));
    ll_store(ll, gemm_load(g, 1, at, NULL), gemm_at(g, to, side.index), (unsigned)g->bytes);
    ll_loop_close(ll, &side);
    ll_loop_close(ll, &terms);
}

/* The last group of the side first: its vectors may reach into the next row of the
 * panel, where the first group then puts what belongs there. */
static void pack_turned(GemmEmit *g, const Pack *pack)
{
    Ll *ll = &g->ll;
    LlValue whole = LLVMBuildAnd(ll->builder, pack->k, ll_i64(ll, -(int64_t)g->lanes), "");
    for (int v = pack->groups - 1; v >= 0; v--) {
        LlValue some =
            LLVMBuildICmp(ll->builder, LLVMIntSGT, pack->count, ll_i64(ll, v * g->lanes), "");
        LlIf used = ll_if_open(ll, some);
        turn_squares(g, pack, v, whole);
        ll_if_close(ll, &used);
    }
    turn_rest(g, pack, whole);
}

static LlValue write_pack(GemmEmit *g, const char *part, int width, bool pitched)
{
    Ll *ll = &g->ll;
    LlValue function = gemm_open(g, part, pitched ? 7 : 6, 1 << 1 | 1 << 5, true);
    Pack pack = {.groups = (width + g->lanes - 1) / g->lanes};
    LlValue *const params[] = {&pack.k, &pack.x, &pack.x_k, &pack.x_side, &pack.count, &pack.out};
    for (unsigned i = 0; i < sizeof params / sizeof params[0]; i++)
        *params[i] = LLVMGetParam(function, i);
    pack.width = pitched ? LLVMGetParam(function, 6) : ll_i64(ll, width);
    if (g->lanes == 1) {
        turn_rest(g, &pack, ll_i64(ll, 0));
        gemm_return(g);
        return function;
    }
    assert(g->lanes <= GEMM_MAX_LANES && pack.groups <= MAX_GROUPS);
    LlValue one = ll_i64(ll, 1);
    LlValue beside = LLVMBuildICmp(ll->builder, LLVMIntEQ, pack.x_side, one, "");
    LlValue single = LLVMBuildICmp(ll->builder, LLVMIntEQ, pack.count, one, "");
    LlIf copied = ll_if_open(ll, LLVMBuildOr(ll->builder, beside, single, ""));
    pack_copied(g, &pack);
    ll_at_block(ll, copied.done);
    pack_turned(g, &pack);
    gemm_return(g);
    return function;
}

LlValue gemm_pack(GemmEmit *g, const char *part, int width)
{
    return write_pack(g, part, width, false);
}

LlValue gemm_pack_pitched(GemmEmit *g, const char *part, int width)
{
    return write_pack(g, part, width, true);
}
