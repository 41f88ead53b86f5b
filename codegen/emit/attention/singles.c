/* Products of single queries and keys: the scores of a diagonal, query − key being the same, are
 * lanes beside each other in a strip (gaps.c), and none of them shares an operand with another.
 *
 *   scores    strip[diagonal][lane] = Σ_d queries[query][d] · keys[query − distance][d]
 *   rows      result[query][d]            += strip[diagonal][lane] · values[query − distance][d]
 *   columns   result[query − distance][d] += strip[diagonal][lane] · rows[query][d]
 *
 * Lanes whose key does not exist are left out; those whose key is in a run have the score 0 as
 * operands of rows and columns (tile_sweep). */
#include "codegen/emit/attention/products.h"

/* An element of the strip: a query of the block and its key. */
typedef struct Single {
    LoValue lane, key; /* the query's number in the block; the key's in its sentence */
    LoValue at;        /* index into the strip */
} Single;

typedef struct SingleLoops {
    LoLoop diagonals, lanes;
    Single here;
} SingleLoops;

static SingleLoops singles_open(Attention *a)
{
    Lo *lo = &a->e->lo;
    SingleLoops loops = {.diagonals = lo_for_open(lo, a->key, a->end, 1, "diagonals")};
    LoValue index = loops.diagonals.index;
    LoValue beyond = lo_isub(lo, gaps_distance(a, index), a->query); /* lanes before key 0 */
    LoValue first = lo_max(lo, beyond, number(a, 0));
    LoValue last = lo_min(lo, a->count, lo_iadd(lo, beyond, a->n_keys));
    LoValue row = lo_imul(lo, lo_isub(lo, index, a->key), a->pitch);
    loops.lanes = lo_for_open(lo, first, last, 1, "lanes");
    LoValue lane = loops.lanes.index;
    loops.here = (Single){lane, lo_isub(lo, lane, beyond), lo_iadd(lo, row, lane)};
    return loops;
}

static void singles_close(Attention *a, SingleLoops *loops)
{
    lo_for_close(&a->e->lo, &loops->lanes);
    lo_for_close(&a->e->lo, &loops->diagonals);
}

static LoValue row_at(Attention *a, const TileRows *rows, DType dtype, LoValue i)
{
    Lo *lo = &a->e->lo;
    return lo_at(lo, emit_memory_type(a->e, dtype), rows->at, lo_imul(lo, i, rows->stride));
}

/* Element `column` of a row, as sums have it. */
static LoValue element_of(Attention *a, LoValue row, DType dtype, LoValue column)
{
    Lo *lo = &a->e->lo;
    LoType type = emit_memory_type(a->e, dtype);
    LoValue x = lo_load(lo, type, lo_at(lo, type, row, column), (unsigned)dtype_bytes(dtype));
    return dtype == DT_BF16 ? lo_bf16_value(lo, x) : x;
}

static LoLoop columns_open(Attention *a, const TileProduct *p)
{
    const LoVector vector = sum_vector(a->e, p->depth % a->e->sum_lanes == 0);
    if (a->e->part)
        return lo_for_open(&a->e->lo, a->e->part, number(a, p->depth), a->e->sum_lanes, "depth");
    return lo_vector_open(&a->e->lo, number(a, 0), number(a, p->depth), vector, "depth");
}

static LoValue strip_at(Attention *a, const Value *scores, LoValue at)
{
    LoValue strip = tile_strip(a, body_number(&a->e->body, scores));
    return lo_at(&a->e->lo, element_type(a), strip, at);
}

static unsigned score_align(const Attention *a)
{
    return (unsigned)dtype_bytes(a->tiles.scores.dtype);
}

void single_scores(Attention *a, const TileProduct *p)
{
    Lo *lo = &a->e->lo;
    DType types[] = {p->op->args[0]->type.dtype, p->op->args[1]->type.dtype};
    emit_from(a->e, number_of(a, p));
    TileRows queries = tile_operand(a, p, 0, tile_queries(&a->tiles), a->query);
    TileRows keys = tile_operand(a, p, 1, tile_keys(&a->tiles), number(a, 0));
    tile_strip(a, number_of(a, p));
    SingleLoops loops = singles_open(a);
    LoValue query = row_at(a, &queries, types[0], loops.here.lane);
    LoValue key = row_at(a, &keys, types[1], loops.here.key);
    LoValue sum = lo_accumulator(lo, LO_JOIN_ADD, lo_zero(lo, element_type(a)));
    sum->parts = a->e->sum_lanes;
    PartLoop parts = sum_parts_open(a->e, 1, (LoValue *[]){&sum});
    LoLoop depth = columns_open(a, p);
    lo_accumulate(lo, sum,
                  lo_mul(lo, element_of(a, query, types[0], depth.index),
                         element_of(a, key, types[1], depth.index)));
    lo_for_close(lo, &depth);
    sum_parts_close(a->e, &parts);
    lo_store(lo, lo_total(lo, sum), strip_at(a, &p->op->results[0], loops.here.at), score_align(a));
    singles_close(a, &loops);
    emit_from_whole(a->e);
}

/* sums[of][d] += score · rows[by][d], where the rows of one go along the queries, those of the
 * other along the keys. */
static void add_rows(Attention *a, const TileProduct *p, const TileRows *rows, const TileRows *sums)
{
    Lo *lo = &a->e->lo;
    DType dtype = p->op->args[1]->type.dtype, sum_type = a->tiles.scores.dtype;
    tile_strip(a, body_number(&a->e->body, p->op->args[0]));
    SingleLoops loops = singles_open(a);
    LoValue score =
        lo_load(lo, element_type(a), strip_at(a, p->op->args[0], loops.here.at), score_align(a));
    bool of_keys = p->use == TILE_COLUMNS;
    LoValue from = row_at(a, rows, dtype, of_keys ? loops.here.lane : loops.here.key);
    LoValue to = row_at(a, sums, sum_type, of_keys ? loops.here.key : loops.here.lane);
    LoLoop depth = columns_open(a, p);
    LoValue sum = element_of(a, to, sum_type, depth.index);
    sum = lo_muladd(lo, score, element_of(a, from, dtype, depth.index), sum);
    lo_store(lo, sum, lo_at(lo, element_type(a), to, depth.index), score_align(a));
    lo_for_close(lo, &depth);
    singles_close(a, &loops);
}

void single_rows(Attention *a, const TileProduct *p)
{
    emit_from(a->e, number_of(a, p));
    TileRows values = tile_operand(a, p, 1, tile_keys(&a->tiles), number(a, 0));
    TileRows sums = tile_sums(a, p);
    add_rows(a, p, &values, &sums);
    emit_from_whole(a->e);
}

void single_columns(Attention *a, const TileProduct *p)
{
    emit_from(a->e, number_of(a, p));
    TileRows queries = tile_operand(a, p, 1, tile_queries(&a->tiles), a->query);
    TileRows sums = tile_key_sums(a, p, number(a, 0));
    add_rows(a, p, &queries, &sums);
    emit_from_whole(a->e);
}
