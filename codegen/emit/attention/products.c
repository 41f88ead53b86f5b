/* Products of an attention region, by the functions of tiles.c:
 *
 *   scores    strip[key][lane] = Σ_d keys[key][d] · turned[d][lane]
 *   rows      result[query][d] (+)= Σ_key strip[key][query] · values[key][d]
 *   columns   result[key][d]    += Σ_query strip[key][query] · rows[query][d]
 *
 * Operands are read in place, with two exceptions. The queries of scores are transposed
 * (`turned`), so that lanes are contiguous. The rows of a right operand are packed if the block
 * has several vectors of queries, if rows do not end with a whole vector, or if they are bf16,
 * which packing widens, so that all sums are of f32. Rows whose results are bf16 are summed in
 * memory of their own, and rounded after the block's last key. */
#include "codegen/emit/attention/products.h"

#include "runtime/exec/program.h"

#include <assert.h>

static void call(Attention *a, LoFunction *function, int n, LoValue *args)
{
    lo_call(&a->e->lo, function, n, args);
}

/* ---- operands ---- */

static TileRows rows_of(Attention *a, int buffer, const int *axes, int axis, LoValue first)
{
    Emit *e = a->e;
    Place place = {.rank = e->buffers[buffer].type->rank};
    TileRows rows = {0};
    for (int i = 0; i < place.rank; i++)
        if (axes[i] == axis) {
            place.at[i] = coord_of(first);
            rows.stride = emit_stride(e, buffer, i);
        } else if (axes[i] != DEPTH_AXIS) {
            place.at[i] = e->space.at[axes[i]];
        }
    rows.at = emit_address(e, buffer, &place);
    return rows;
}

TileRows tile_operand(Attention *a, const TileProduct *p, int side, int axis, LoValue first)
{
    return rows_of(a, body_number(&a->e->body, p->op->args[side]), p->axes[side], axis, first);
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

static LoValue element_at(Attention *a, LoValue base, LoValue index)
{
    return lo_at(&a->e->lo, element_type(a), base, index);
}

static LoValue keys_here(Attention *a) { return lo_isub(&a->e->lo, a->end, a->key); }

/* ---- parts ---- */

/* The rows of the right operand go into a product part by part. A part is packed where
 * tiles cannot read it where it lies, and where several vectors of queries meet it: its
 * rows are far apart, often by a power of two, and would share a few sets of the caches. */
typedef struct RowPart {
    LoLoop loop;
    LoValue count; /* of rows */
    TileRows rows;
} RowPart;

static void pack_part(Attention *a, const TileProduct *p, const RowPart *part)
{
    const Value *operand = p->op->args[1];
    LoType type = emit_memory_type(a->e, operand->type.dtype);
    for (int64_t column = 0; column < p->depth; column += a->panel) {
        int64_t columns = p->depth - column < a->panel ? p->depth - column : a->panel;
        LoValue from = lo_at(&a->e->lo, type, part->rows.at, number(a, column));
        call(a, tile_function(a, operand->type.dtype, "panel"), 7,
             (LoValue[]){part->count, from, part->rows.stride, number(a, 1), number(a, columns),
                         element_at(a, a->packed, number(a, column)), number(a, packed_row(a, p))});
    }
}

/* Of no rows there is one part: a product without terms gives zeros. */
static RowPart part_open(Attention *a, const TileProduct *p, const TileRows *rows, LoValue n)
{
    Lo *lo = &a->e->lo;
    LoType type = emit_memory_type(a->e, p->op->args[1]->type.dtype);
    RowPart part = {
        .loop = lo_for_open(lo, number(a, 0), lo_max(lo, n, number(a, 1)), PACKED_ROWS, "parts")};
    LoValue left = lo_isub(lo, n, part.loop.index);
    LoValue first = lo_imul(lo, part.loop.index, rows->stride);
    part.count = lo_min(lo, left, number(a, PACKED_ROWS));
    part.rows = (TileRows){lo_at(lo, type, rows->at, first), rows->stride};
    LoValue packs = lo_gt(lo, a->vectors, number(a, 1));
    if (must_pack(a, p))
        packs = lo_int(lo, lo_i1, 1);
    LoIf packing = lo_if_open(lo, packs);
    pack_part(a, p, &part);
    lo_if_close(lo, &packing);
    part.rows.at = lo_select(lo, packs, a->packed, part.rows.at);
    part.rows.stride = lo_select(lo, packs, number(a, packed_row(a, p)), part.rows.stride);
    return part;
}

static void part_close(Attention *a, RowPart *part) { lo_for_close(&a->e->lo, &part->loop); }

/* ---- products ---- */

/* c[rows][columns] = Σ_k a·b (+ c); see tiles.c. */
typedef struct Call {
    LoValue k, a, a_row, a_k, b, b_k, c, c_row, columns, accumulate, rows;
} Call;

static_assert(TFC_STORE_OVERWRITE == 0 && TFC_STORE_ADD == 1, "accumulate is a store mode");

static void call_rows(Attention *a, const Call *c)
{
    call(a, tile_function(a, a->tiles.scores.dtype, "rows"), 11,
         (LoValue[]){c->k, c->a, c->a_row, c->a_k, c->b, c->b_k, c->c, c->c_row, c->columns,
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
        emit_from(a->e, number_of(a, p));
        TileRows from = tile_operand(a, p, 0, tile_queries(&a->tiles), a->query);
        call(a, tile_function(a, p->op->args[0]->type.dtype, "queries"), 6,
             (LoValue[]){number(a, p->depth), from.at, number(a, 1), from.stride, a->count,
                         a->turned[operand]});
    }
    emit_from_whole(a->e);
}

void tile_scores(Attention *a, const TileProduct *p)
{
    Lo *lo = &a->e->lo;
    if (a->diagonals) {
        single_scores(a, p);
        return;
    }
    emit_from(a->e, number_of(a, p));
    TileRows keys = tile_operand(a, p, 1, tile_keys(&a->tiles), a->key);
    LoValue turned = a->turned[body_number(&a->e->body, p->op->args[0])];
    LoValue strip = tile_strip(a, number_of(a, p));
    RowPart part = part_open(a, p, &keys, keys_here(a));
    Call c = {.k = number(a, p->depth),
              .a = part.rows.at,
              .a_row = part.rows.stride,
              .a_k = number(a, 1),
              .b_k = number(a, block_queries(a)),
              .c_row = a->pitch,
              .accumulate = number(a, TFC_STORE_OVERWRITE),
              .rows = part.count};
    LoValue first = lo_imul(lo, part.loop.index, a->pitch);
    LoLoop panels = lo_for_open(lo, number(a, 0), a->pitch, a->panel, "panels");
    LoValue left = lo_isub(lo, a->pitch, panels.index);
    c.columns = lo_min(lo, left, number(a, a->panel));
    c.b = element_at(a, turned, panels.index);
    c.c = element_at(a, strip, lo_iadd(lo, first, panels.index));
    call_rows(a, &c);
    lo_for_close(lo, &panels);
    part_close(a, &part);
    emit_from_whole(a->e);
}

/* Sums over `terms` of the right operand's rows; c holds the rest of the product. */
static void multiply(Attention *a, const TileProduct *p, Call c, const TileRows *terms, LoValue n,
                     const TileRows *result)
{
    Lo *lo = &a->e->lo;
    LoValue strip = tile_strip(a, body_number(&a->e->body, p->op->args[0]));
    RowPart part = part_open(a, p, terms, n);
    LoValue later = lo_gt(lo, part.loop.index, number(a, 0));
    c.k = part.count;
    c.a = element_at(a, strip, lo_imul(lo, part.loop.index, c.a_k));
    c.b_k = part.rows.stride;
    c.c_row = result->stride;
    c.accumulate = lo_select(lo, later, number(a, TFC_STORE_ADD), c.accumulate);
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
TileRows tile_sums(Attention *a, const TileProduct *p)
{
    TileRows sums = {a->unrounded[number_of(a, p)], number(a, p->depth)};
    return is_rounded(a, p) ? sums : given_rows(a, p);
}

void tile_rows(Attention *a, const TileProduct *p, LoValue accumulate)
{
    if (a->diagonals) {
        single_rows(a, p);
        return;
    }
    emit_from(a->e, number_of(a, p));
    TileRows values = tile_operand(a, p, 1, tile_keys(&a->tiles), a->key);
    TileRows result = tile_sums(a, p);
    Call c = {.a_row = number(a, 1), .a_k = a->pitch, .accumulate = accumulate, .rows = a->count};
    multiply(a, p, c, &values, keys_here(a), &result);
    emit_from_whole(a->e);
}

/* Of the columns that are left as many as make a vector; every target has vectors of powers of two
 * alone. */
static int lanes_of(const Attention *a, int64_t left)
{
    int lanes = a->e->vector;
    while (lanes > left)
        lanes /= 2;
    return lanes;
}

/* One row of sums, as bf16. */
static void round_row(Attention *a, int64_t depth, LoValue from, LoValue to)
{
    Lo *lo = &a->e->lo;
    for (int64_t column = 0, lanes; column < depth; column += lanes) {
        lanes = lanes_of(a, depth - column);
        LoValue sums = lo_load(lo, lo_vector(element_type(a), (int)lanes),
                               element_at(a, from, number(a, column)), 4);
        LoValue bits = lo_bf16_bits(lo, lo_bf16_round(lo, sums));
        lo_store(lo, bits, lo_at(lo, lo_i16, to, number(a, column)), 2);
    }
}

void tile_round_rows(Attention *a)
{
    Lo *lo = &a->e->lo;
    for (int i = 0; i < a->tiles.n; i++) {
        const TileProduct *p = &a->tiles.products[i];
        if (!is_rounded(a, p))
            continue;
        emit_from(a->e, number_of(a, p));
        TileRows result = given_rows(a, p);
        LoLoop rows = lo_for_open(lo, number(a, 0), a->count, 1, "round");
        LoValue sums = lo_imul(lo, rows.index, number(a, p->depth));
        LoValue to = lo_imul(lo, rows.index, result.stride);
        round_row(a, p->depth, element_at(a, a->unrounded[number_of(a, p)], sums),
                  lo_at(lo, lo_i16, result.at, to));
        lo_for_close(lo, &rows);
    }
    emit_from_whole(a->e);
}

/* One row of sums, times a factor. */
static void scale_row(Attention *a, int64_t depth, LoValue factor, LoValue row)
{
    Lo *lo = &a->e->lo;
    unsigned align = (unsigned)dtype_bytes(a->tiles.scores.dtype);
    for (int64_t column = 0, lanes; column < depth; column += lanes) {
        lanes = lanes_of(a, depth - column);
        LoValue at = element_at(a, row, number(a, column));
        LoValue sums = lo_load(lo, lo_vector(element_type(a), (int)lanes), at, align);
        LoValue factors = lanes > 1 ? lo_splat(lo, factor, (int)lanes) : factor;
        lo_store(lo, lo_mul(lo, sums, factors), at, align);
    }
}

void tile_scale_rows(Attention *a, const TileProduct *p, LoValue factors)
{
    Lo *lo = &a->e->lo;
    emit_from(a->e, number_of(a, p));
    TileRows sums = tile_sums(a, p);
    LoLoop rows = lo_for_open(lo, number(a, 0), a->count, 1, "scale");
    LoValue factor = lo_load(lo, element_type(a), element_at(a, factors, rows.index),
                             (unsigned)dtype_bytes(a->tiles.scores.dtype));
    LoValue first = lo_imul(lo, rows.index, sums.stride);
    scale_row(a, p->depth, factor, element_at(a, sums.at, first));
    lo_for_close(lo, &rows);
    emit_from_whole(a->e);
}

TileRows tile_key_sums(Attention *a, const TileProduct *p, LoValue key)
{
    return rows_of(a, result_buffer(a, p), p->axes[2], tile_keys(&a->tiles), key);
}

void tile_columns(Attention *a, const TileProduct *p)
{
    if (a->diagonals) {
        single_columns(a, p);
        return;
    }
    emit_from(a->e, number_of(a, p));
    TileRows queries = tile_operand(a, p, 1, tile_queries(&a->tiles), a->query);
    TileRows result = tile_key_sums(a, p, a->key);
    Call c = {.a_row = a->pitch,
              .a_k = number(a, 1),
              .accumulate = number(a, TFC_STORE_ADD),
              .rows = keys_here(a)};
    multiply(a, p, c, &queries, a->count, &result);
    emit_from_whole(a->e);
}

/* A product without terms gives zeros. */
void tile_clear_columns(Attention *a, const TileProduct *p)
{
    LoValue zero = number(a, 0);
    emit_from(a->e, number_of(a, p));
    TileRows result = tile_key_sums(a, p, zero);
    TileRows nothing = {result.at, zero};
    for (int64_t column = 0; column < p->depth; column += a->panel) {
        int64_t columns = p->depth - column < a->panel ? p->depth - column : a->panel;
        call_rows(a, &(Call){zero, nothing.at, zero, zero, nothing.at, zero,
                             element_at(a, result.at, number(a, column)), result.stride,
                             number(a, columns), zero, a->n_keys});
    }
    emit_from_whole(a->e);
}
