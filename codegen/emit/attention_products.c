/* Products of an attention region, by the functions of attention_tiles.c:
 *
 *   scores    strip[key][lane] = Σ_d keys[key][d] · turned[d][lane]
 *   rows      result[query][d] (+)= Σ_key strip[key][query] · values[key][d]
 *   columns   result[key][d]    += Σ_query strip[key][query] · rows[query][d]
 *
 * Operands are read where they lie, but for the queries of scores, which are turned so
 * that lanes lie beside each other, and for the right operands' rows where several vectors
 * of queries meet them, do not end with a whole vector, or are bf16: these are packed
 * before the block meets them, bf16 widened, so that all sums are of f32. Rows that are
 * given as bf16 are summed beside, and rounded when the block has met all its keys. */
#include "codegen/emit/attention_products.h"

#include "runtime/exec/program.h"

#include <assert.h>

static LlValue call(Attention *a, LlValue function, unsigned n, LlValue *args)
{
    ll_resume(&a->e->ll);
    return LLVMBuildCall2(a->e->ll.builder, LLVMGlobalGetValueType(function), function, args, n,
                          "");
}

/* ---- operands ---- */

/* Row `first` of an operand or result, and the way to the next: the rows go along
 * `axis` of the scores. */
typedef struct TileRows {
    LlValue at, stride;
} TileRows;

static TileRows rows_of(Attention *a, int buffer, const int *axes, int axis, LlValue first)
{
    Emit *e = a->e;
    Place place = {.rank = e->buffers[buffer].type->rank};
    TileRows rows = {0};
    for (int i = 0; i < place.rank; i++)
        if (axes[i] == axis) {
            place.at[i] = coord_of(first, DEPTH_ROW);
            rows.stride = emit_stride(e, buffer, i);
        } else if (axes[i] != DEPTH_AXIS) {
            place.at[i] = e->space.at[axes[i]];
        }
    rows.at = emit_address(e, buffer, &place);
    return rows;
}

static int result_buffer(const Attention *a, const TileProduct *p)
{
    const Body *body = &a->e->body;
    for (int i = 0; i < body->n_results; i++)
        if (body->yields[i] == &p->op->results[0])
            return body->n_inputs + i;
    assert(!"what uses scores up is a result");
    return -1;
}

static LlValue element_at(Attention *a, LlValue base, LlValue index)
{
    ll_resume(&a->e->ll);
    return ll_gep(&a->e->ll, element_type(a), base, index);
}

static LlValue keys_here(Attention *a)
{
    ll_resume(&a->e->ll);
    return LLVMBuildNSWSub(a->e->ll.builder, a->end, a->key, "");
}

/* ---- parts ---- */

/* The rows of the right operand go into a product part by part. A part is packed where
 * tiles cannot read it where it lies, and where several vectors of queries meet it: its
 * rows are far apart, often by a power of two, and would share a few sets of the caches. */
typedef struct Part {
    LlLoop loop;
    LlValue count; /* of rows */
    TileRows rows;
} Part;

static void pack_part(Attention *a, const TileProduct *p, const Part *part)
{
    const Value *operand = p->op->args[1];
    LlType type = emit_memory_type(a->e, operand->type.dtype);
    for (int64_t column = 0; column < p->depth; column += a->panel) {
        int64_t columns = p->depth - column < a->panel ? p->depth - column : a->panel;
        LlValue from = ll_gep(&a->e->ll, type, part->rows.at, number(a, column));
        call(a, tile_function(a, operand->type.dtype, "panel"), 7,
             (LlValue[]){part->count, from, part->rows.stride, number(a, 1), number(a, columns),
                         element_at(a, a->packed, number(a, column)), number(a, packed_row(a, p))});
    }
}

/* Of no rows there is one part: a product without terms gives zeros. */
static Part part_open(Attention *a, const TileProduct *p, const TileRows *rows, LlValue n)
{
    Ll *ll = &a->e->ll;
    LlType type = emit_memory_type(a->e, p->op->args[1]->type.dtype);
    ll_resume(ll);
    Part part = {
        .loop = ll_loop_open(ll, number(a, 0), ll_max(ll, n, number(a, 1)), PACKED_ROWS, "parts")};
    LlValue left = LLVMBuildNSWSub(ll->builder, n, part.loop.index, "");
    LlValue first = LLVMBuildNSWMul(ll->builder, part.loop.index, rows->stride, "");
    part.count = ll_min(ll, left, number(a, PACKED_ROWS));
    part.rows = (TileRows){ll_gep(ll, type, rows->at, first), rows->stride};
    LlValue packs = LLVMBuildICmp(ll->builder, LLVMIntSGT, a->vectors, number(a, 1), "");
    if (must_pack(a, p))
        packs = ll_int(ll->i1, 1);
    LlIf packing = ll_if_open(ll, packs);
    pack_part(a, p, &part);
    ll_if_close(ll, &packing);
    part.rows.at = LLVMBuildSelect(ll->builder, packs, a->packed, part.rows.at, "");
    part.rows.stride =
        LLVMBuildSelect(ll->builder, packs, number(a, packed_row(a, p)), part.rows.stride, "");
    return part;
}

static void part_close(Attention *a, Part *part)
{
    ll_resume(&a->e->ll);
    ll_loop_close(&a->e->ll, &part->loop);
}

/* ---- products ---- */

/* c[rows][columns] = Σ_k a·b (+ c); see attention_tiles.c. */
typedef struct Call {
    LlValue k, a, a_row, a_k, b, b_k, c, c_row, columns, accumulate, rows;
} Call;

static_assert(TFC_STORE_OVER == 0 && TFC_STORE_ADD == 1, "accumulate is a store mode");

static void call_rows(Attention *a, const Call *c)
{
    call(a, tile_function(a, a->tiles.scores.dtype, "rows"), 11,
         (LlValue[]){c->k, c->a, c->a_row, c->a_k, c->b, c->b_k, c->c, c->c_row, c->columns,
                     c->accumulate, c->rows});
}

void tile_turn_queries(Attention *a)
{
    for (int i = 0; i < a->tiles.n; i++) {
        const TileProduct *p = &a->tiles.products[i];
        int operand = body_number(&a->e->body, p->op->args[0]);
        bool done = p->use != TILE_SCORES;
        for (int j = 0; j < i; j++)
            done |= a->tiles.products[j].op->args[0] == p->op->args[0];
        if (done)
            continue;
        TileRows from = rows_of(a, operand, p->axes[0], tile_queries(&a->tiles), a->query);
        call(a, tile_function(a, p->op->args[0]->type.dtype, "queries"), 6,
             (LlValue[]){number(a, p->depth), from.at, number(a, 1), from.stride, a->count,
                         a->turned[operand]});
    }
}

void tile_scores(Attention *a, const TileProduct *p)
{
    Ll *ll = &a->e->ll;
    const Body *body = &a->e->body;
    TileRows keys =
        rows_of(a, body_number(body, p->op->args[1]), p->axes[1], tile_keys(&a->tiles), a->key);
    LlValue turned = a->turned[body_number(body, p->op->args[0])];
    LlValue strip = tile_strip(a, number_of(a, p));
    Part part = part_open(a, p, &keys, keys_here(a));
    Call c = {.k = number(a, p->depth),
              .a = part.rows.at,
              .a_row = part.rows.stride,
              .a_k = number(a, 1),
              .b_k = number(a, (int64_t)BLOCK_VECTORS * a->e->lanes),
              .c_row = a->pitch,
              .accumulate = number(a, TFC_STORE_OVER),
              .rows = part.count};
    LlValue first = LLVMBuildNSWMul(ll->builder, part.loop.index, a->pitch, "");
    LlLoop panels = ll_loop_open(ll, number(a, 0), a->pitch, a->panel, "panels");
    LlValue left = LLVMBuildNSWSub(ll->builder, a->pitch, panels.index, "");
    c.columns = ll_min(ll, left, number(a, a->panel));
    c.b = element_at(a, turned, panels.index);
    c.c = element_at(a, strip, LLVMBuildNSWAdd(ll->builder, first, panels.index, ""));
    call_rows(a, &c);
    ll_loop_close(ll, &panels);
    part_close(a, &part);
}

/* Sums over `terms` of the right operand's rows; c holds the rest of the product. */
static void multiply(Attention *a, const TileProduct *p, Call c, const TileRows *terms, LlValue n,
                     const TileRows *result)
{
    Ll *ll = &a->e->ll;
    LlValue strip = tile_strip(a, body_number(&a->e->body, p->op->args[0]));
    Part part = part_open(a, p, terms, n);
    LlValue later = LLVMBuildICmp(ll->builder, LLVMIntSGT, part.loop.index, number(a, 0), "");
    c.k = part.count;
    c.a = element_at(a, strip, LLVMBuildNSWMul(ll->builder, part.loop.index, c.a_k, ""));
    c.b_k = part.rows.stride;
    c.c_row = result->stride;
    c.accumulate = LLVMBuildSelect(ll->builder, later, number(a, TFC_STORE_ADD), c.accumulate, "");
    for (int64_t column = 0; column < p->depth; column += a->panel) {
        c.columns = number(a, p->depth - column < a->panel ? p->depth - column : a->panel);
        c.b = element_at(a, part.rows.at, number(a, column));
        c.c = element_at(a, result->at, number(a, column));
        call_rows(a, &c);
    }
    part_close(a, &part);
}

static TileRows given_rows(Attention *a, const TileProduct *p)
{
    return rows_of(a, result_buffer(a, p), p->axes[2], tile_queries(&a->tiles), a->query);
}

/* Whose rows are being summed: the result's, or those beside. */
static TileRows summed_rows(Attention *a, const TileProduct *p)
{
    TileRows sums = {a->unrounded[number_of(a, p)], number(a, p->depth)};
    return is_rounded(a, p) ? sums : given_rows(a, p);
}

void tile_rows(Attention *a, const TileProduct *p, LlValue accumulate)
{
    TileRows values = rows_of(a, body_number(&a->e->body, p->op->args[1]), p->axes[1],
                              tile_keys(&a->tiles), a->key);
    TileRows result = summed_rows(a, p);
    Call c = {.a_row = number(a, 1), .a_k = a->pitch, .accumulate = accumulate, .rows = a->count};
    multiply(a, p, c, &values, keys_here(a), &result);
}

/* One row of sums, as bf16. */
static void round_row(Attention *a, int64_t depth, LlValue from, LlValue to)
{
    Ll *ll = &a->e->ll;
    for (int64_t column = 0; column < depth; column += a->e->lanes) {
        int64_t left = depth - column;
        int lanes = left < a->e->lanes ? (int)left : a->e->lanes;
        LlValue sums = ll_load(ll, ll_vector(element_type(a), lanes),
                               element_at(a, from, number(a, column)), 4);
        LlValue bits = ll_bf16_bits(ll, ll_bf16_round(ll, sums));
        ll_store(ll, bits, ll_gep(ll, ll->i16, to, number(a, column)), 2);
    }
}

void tile_round_rows(Attention *a)
{
    Ll *ll = &a->e->ll;
    for (int i = 0; i < a->tiles.n; i++) {
        const TileProduct *p = &a->tiles.products[i];
        if (!is_rounded(a, p))
            continue;
        TileRows result = given_rows(a, p);
        ll_resume(ll);
        LlLoop rows = ll_loop_open(ll, number(a, 0), a->count, 1, "round");
        LlValue sums = LLVMBuildNSWMul(ll->builder, rows.index, number(a, p->depth), "");
        LlValue to = LLVMBuildNSWMul(ll->builder, rows.index, result.stride, "");
        round_row(a, p->depth, element_at(a, a->unrounded[number_of(a, p)], sums),
                  ll_gep(ll, ll->i16, result.at, to));
        ll_loop_close(ll, &rows);
    }
}

/* One row of sums, times a factor. */
static void scale_row(Attention *a, int64_t depth, LlValue factor, LlValue row)
{
    Ll *ll = &a->e->ll;
    unsigned align = (unsigned)dtype_bytes(a->tiles.scores.dtype);
    for (int64_t column = 0; column < depth; column += a->e->lanes) {
        int64_t left = depth - column;
        int lanes = left < a->e->lanes ? (int)left : a->e->lanes;
        LlValue at = element_at(a, row, number(a, column));
        LlValue sums = ll_load(ll, ll_vector(element_type(a), lanes), at, align);
        LlValue factors = lanes > 1 ? ll_splat(ll, factor, lanes) : factor;
        ll_store(ll, ll_fmul(ll, sums, factors), at, align);
    }
}

void tile_scale_rows(Attention *a, const TileProduct *p, LlValue factors)
{
    Ll *ll = &a->e->ll;
    TileRows sums = summed_rows(a, p);
    ll_resume(ll);
    LlLoop rows = ll_loop_open(ll, number(a, 0), a->count, 1, "scale");
    LlValue factor = ll_load(ll, element_type(a), element_at(a, factors, rows.index),
                             (unsigned)dtype_bytes(a->tiles.scores.dtype));
    LlValue first = LLVMBuildNSWMul(ll->builder, rows.index, sums.stride, "");
    scale_row(a, p->depth, factor, element_at(a, sums.at, first));
    ll_loop_close(ll, &rows);
}

void tile_columns(Attention *a, const TileProduct *p)
{
    TileRows queries = rows_of(a, body_number(&a->e->body, p->op->args[1]), p->axes[1],
                               tile_queries(&a->tiles), a->query);
    TileRows result = rows_of(a, result_buffer(a, p), p->axes[2], tile_keys(&a->tiles), a->key);
    Call c = {.a_row = a->pitch,
              .a_k = number(a, 1),
              .accumulate = number(a, TFC_STORE_ADD),
              .rows = keys_here(a)};
    multiply(a, p, c, &queries, a->count, &result);
}

/* A product without terms gives zeros. */
void tile_clear_columns(Attention *a, const TileProduct *p)
{
    LlValue zero = number(a, 0);
    TileRows result = rows_of(a, result_buffer(a, p), p->axes[2], tile_keys(&a->tiles), zero);
    TileRows nothing = {result.at, zero};
    for (int64_t column = 0; column < p->depth; column += a->panel) {
        int64_t columns = p->depth - column < a->panel ? p->depth - column : a->panel;
        call_rows(a, &(Call){zero, nothing.at, zero, zero, nothing.at, zero,
                             element_at(a, result.at, number(a, column)), result.stride,
                             number(a, columns), zero, a->n_keys});
    }
}
