/* Attention kernels; see attention.h.
 *
 *   for each unit (sentence, head)
 *     clear the columns' results
 *     for each block of queries
 *       transpose the queries
 *       for each level
 *         the strip's scores;  sweep over its keys;  rows, columns
 *
 * A region without reductions has one level, and goes through the keys in short strips. In other
 * regions a block whose keys fit into a strip computes its scores once and saves what several
 * levels need. A block with more keys goes through them strip by strip in one pass, with a running
 * maximum (online.c); where a region does not allow that, it does so for every level, and
 * computes the scores again each time. So memory does not grow with the sentence.
 *
 * Where masks leave gaps between the keys that a block meets, each run of keys is a strip, or more
 * (gaps.c). Keys of strides are computed one by one, after the runs (singles.c).
 *
 * A unit is done by one thread, its blocks in order: sums do not depend on how many there are. */
#include "codegen/emit/attention/attention.h"

#include "runtime/exec/program.h"

#include <string.h>

/* ---- levels ---- */

static void use_columns(Attention *a, const TileProduct *p, LoValue accumulate)
{
    (void)accumulate;
    tile_columns(a, p);
}

/* One strip of one level. */
static void emit_strip(Attention *a, int sweep, bool again, LoValue accumulate)
{
    Emit *e = a->e;
    for (int i = 0; i < a->tiles.n; i++) {
        const TileProduct *p = &a->tiles.products[i];
        int n = body_number(&e->body, &p->op->results[0]);
        if (p->use != TILE_SCORES || (e->cached[n] && !again) || !tile_needs(a, sweep, p->op))
            continue;
        tile_scores(a, p);
        e->cached[n] = true;
    }
    tile_sweep(a, sweep);
    for (int i = 0; i < a->tiles.n; i++) {
        const TileProduct *p = &a->tiles.products[i];
        if (!sweep_contracts(e, &a->plan, sweep, p->op))
            continue;
        if (a->online && p->use == TILE_ROWS)
            online_scale_rows(a, p, accumulate);
        (p->use == TILE_ROWS ? tile_rows : use_columns)(a, p, accumulate);
    }
}

/* One strip of all sweeps, its scores computed once. */
static void emit_online_strip(Attention *a, LoValue accumulate)
{
    Emit *e = a->e;
    memset(e->cached, 0, sizeof *e->cached * (size_t)e->n_values);
    online_keep_maxima(a);
    for (int sweep = 0; sweep < a->plan.n_sweeps; sweep++) {
        if (sweep == 1)
            online_follow(a, sweep);
        emit_strip(a, sweep, false, accumulate);
    }
}

/* One strip of those that a block's keys, or diagonals, need: of this sweep or of all. */
static void emit_part(Attention *a, int sweep, LoValue accumulate)
{
    memset(a->e->random_rows, 0, sizeof *a->e->random_rows * (size_t)a->e->signature->n_sites);
    if (a->online)
        emit_online_strip(a, accumulate);
    else
        emit_strip(a, sweep, true, accumulate);
}

/* Every strip from `first` to `last`, of this sweep or of all; one without keys clears rows.
 * `before`, an i1: whether strips of this block came earlier; NULL: none did. */
static void each_strip_of(Attention *a, int sweep, LoValue first, LoValue last, LoValue before)
{
    Lo *lo = &a->e->lo;
    LoValue one = lo_iadd(lo, first, lo_i64_of(lo, 1));
    LoLoop loop = lo_for_open(lo, first, lo_max(lo, last, one), PART_KEYS, "strips");
    LoValue rest = lo_iadd(lo, loop.index, loop.step);
    LoValue whole = lo_lt(lo, rest, last);
    a->key = loop.index;
    a->end = lo_select(lo, whole, rest, last);
    LoValue later = lo_ne(lo, loop.index, first);
    if (before)
        later = lo_or(lo, later, before);
    emit_part(a, sweep, lo_zext(lo, later, lo_i64));
    lo_for_close(lo, &loop);
}

/* The keys that are in no run, by diagonals; a run came before. */
static void each_strip_of_diagonals(Attention *a, int sweep, LoValue n)
{
    Lo *lo = &a->e->lo;
    LoLoop loop = lo_for_open(lo, lo_i64_of(lo, 0), n, PART_KEYS, "strips");
    a->key = loop.index;
    a->end = lo_min(lo, lo_iadd(lo, loop.index, loop.step), n);
    a->diagonals = true;
    emit_part(a, sweep, lo_i64_of(lo, TFC_STORE_ADD));
    a->diagonals = false;
    lo_for_close(lo, &loop);
}

static void each_strip(Attention *a, int sweep, LoValue first, LoValue last)
{
    Lo *lo = &a->e->lo;
    LoValue zero = lo_i64_of(lo, 0);
    if (!a->runs) {
        each_strip_of(a, sweep, first, last, NULL);
        return;
    }
    LoLoop runs = lo_for_open(lo, zero, gaps_count(a), 1, "runs");
    gaps_run(a, runs.index, &first, &last);
    each_strip_of(a, sweep, first, last, lo_ne(lo, runs.index, zero));
    lo_for_close(lo, &runs);
    LoValue distances = gaps_distances(a);
    if (distances)
        each_strip_of_diagonals(a, sweep, distances);
}

static void start_levels(Attention *a, bool one_strip)
{
    Emit *e = a->e;
    a->online = one_strip ? NULL : online_of(a);
    a->stand = a->online ? online_stand : NULL;
    a->plan = plan_sweeps(e, one_strip || a->online, a->online ? online_ready(a->online) : NULL);
    memset(e->cached, 0, sizeof *e->cached * (size_t)e->n_values);
    memset(e->random_rows, 0, sizeof *e->random_rows * (size_t)e->signature->n_sites);
    for (int n = 0; n < e->n_values; n++) {
        const Op *op = sweep_op(e, n);
        bool scores =
            op && op->kind == OP_dot && body_number(&e->body, op->args[0]) < e->body.n_inputs;
        e->row_cache[n] = scores || a->plan.saved[n] ? tile_strip(a, n) : NULL;
    }
}

static void emit_levels(Attention *a, LoValue first, LoValue last, bool one_strip)
{
    start_levels(a, one_strip);
    for (int sweep = 0; a->online && sweep < a->plan.n_sweeps; sweep++)
        tile_open_reductions(a, sweep);
    if (a->online) {
        each_strip(a, 0, first, last);
        online_finish(a);
    }
    for (int sweep = 0; !a->online && sweep < a->plan.n_sweeps; sweep++) {
        tile_open_reductions(a, sweep);
        if (one_strip) {
            a->key = first;
            a->end = last;
            emit_strip(a, sweep, false, lo_i64_of(&a->e->lo, 0));
        } else {
            each_strip(a, sweep, first, last);
        }
    }
    tile_store_rows(a);
    tile_round_rows(a);
}

/* ---- blocks of queries ---- */

/* Keys that a query sees at most, by its window alone; 0: any number. */
static int64_t window_keys(const Attention *a)
{
    const Attr *before = op_attr(a->e->op, ATTR_before), *after = op_attr(a->e->op, ATTR_after);
    bool bounded = before && after && before->i >= 0 && after->i >= 0 && before->i < STRIP_LINES &&
                   after->i < STRIP_LINES;
    return bounded ? before->i + after->i + 1 : 0;
}

/* All queries of a block meet all keys that one of them sees: with a small window few. */
static int64_t queries_at_once(const Attention *a)
{
    int64_t queries = block_queries(a), window = window_keys(a);
    while (window > 0 && queries > a->e->sum_lanes && queries * 4 > window)
        queries /= 2;
    return queries;
}

static void stand_at_block(Attention *a, LoValue query)
{
    Emit *e = a->e;
    Lo *lo = &e->lo;
    LoValue left = lo_isub(lo, a->n_queries, query);
    LoValue lanes = lo_i64_of(lo, e->vector), beyond = lo_i64_of(lo, e->vector - 1);
    a->query = query;
    a->count = lo_min(lo, left, lo_i64_of(lo, queries_at_once(a)));
    a->vectors = lo_div(lo, lo_iadd(lo, a->count, beyond), lanes);
    a->pitch = lo_imul(lo, a->vectors, lanes);
}

/* The block's first query as a position among the keys, from which windows are counted. */
static LoValue stands_at(Attention *a)
{
    return a->ahead ? lo_iadd(&a->e->lo, a->query, a->ahead) : a->query;
}

/* From the first to the last key that some query of the block can see; the first is
 * never behind the last. */
static LoValue first_key(Attention *a)
{
    Lo *lo = &a->e->lo;
    const Attr *before = op_attr(a->e->op, ATTR_before);
    if (!before || before->i < 0)
        return lo_i64_of(lo, 0);
    LoValue first = lo_isub(lo, stands_at(a), lo_i64_of(lo, before->i));
    return lo_min(lo, lo_max(lo, first, lo_i64_of(lo, 0)), a->n_keys);
}

static LoValue last_key(Attention *a)
{
    Lo *lo = &a->e->lo;
    const Attr *after = op_attr(a->e->op, ATTR_after);
    if (!after || after->i < 0)
        return a->n_keys;
    LoValue last = lo_iadd(lo, stands_at(a), a->count);
    last = lo_iadd(lo, last, lo_i64_of(lo, after->i));
    if (a->ahead)
        last = lo_max(lo, last, lo_i64_of(lo, 0));
    return lo_min(lo, last, a->n_keys);
}

/* Whether no block sees more keys than a strip holds, by the window or the number of keys. */
static bool always_fits(const Attention *a)
{
    Dim keys = a->tiles.scores.dims[tile_keys(&a->tiles)];
    int64_t window = window_keys(a);
    int64_t most = STRIP_LINES / BLOCK_LINES;
    return (window > 0 && window + block_queries(a) <= most) ||
           (dim_is_const(keys) && keys.size <= most);
}

/* Whether what is computed of a key needs none of the others. */
static bool is_one_level(const Emit *e)
{
    for (int i = 0; i < e->body.n_ops; i++)
        if (op_family(e->body.ops[i].op) == FAMILY_reduce)
            return false;
    return true;
}

static void emit_block(Attention *a, LoValue query)
{
    Lo *lo = &a->e->lo;
    stand_at_block(a, query);
    tile_turn_queries(a);
    LoValue first = first_key(a), last = last_key(a), one_run = NULL;
    if (a->runs) {
        gaps_find(a, first, last);
        LoValue distances = gaps_distances(a);
        one_run = lo_eq(lo, gaps_count(a), lo_i64_of(lo, 1));
        if (distances)
            one_run = lo_and(lo, one_run, lo_eq(lo, distances, lo_i64_of(lo, 0)));
        gaps_run(a, lo_i64_of(lo, 0), &first, &last);
    }
    LoValue keys = lo_isub(lo, last, first);
    LoValue lines = lo_imul(lo, keys, queries_lines(a, a->count));
    LoValue fits = lo_le(lo, lines, lo_i64_of(lo, STRIP_LINES));
    fits = val_and(a->e, fits, one_run);
    if (a->one_level || (!a->runs && always_fits(a))) {
        emit_levels(a, first, last, !a->one_level);
    } else {
        LoIf one = lo_if_open(lo, fits);
        emit_levels(a, first, last, true);
        lo_else(lo, &one);
        emit_levels(a, first, last, false);
        lo_if_close(lo, &one);
    }
}

/* ---- units ---- */

static LoValue length_of(Attention *a, int dim)
{
    Coord length = dim_length(a->e, dim);
    LoValue n = coord_value(a->e, &length, lo_i64);
    return n;
}

/* Coordinates of the axes that units go along, the last one fastest. */
static void stand_at_unit(Attention *a, LoValue unit)
{
    Emit *e = a->e;
    Lo *lo = &e->lo;
    const Axis *tokens = tile_tokens(e);
    LoValue extents[MAX_RANK] = {0};
    for (int i = 0; i < a->tiles.scores.rank; i++)
        if (a->tiles.unit[i])
            extents[i] = extent_of(e, &(Axis){i, -1, a->tiles.scores.dims[i]});
    for (int i = a->tiles.scores.rank - 1; i >= 0; i--) {
        if (!a->tiles.unit[i])
            continue;
        e->space.at[i] = coord_of(lo_rem(lo, unit, extents[i]));
        unit = lo_div(lo, unit, extents[i]);
        if (tokens && tokens->batch_dim == i)
            e->space.at[i].token = tokens->extent.symbol + 1;
    }
}

/* Loops over the axes that are neither the units' nor the last two; along a ragged one over the
 * positions that the unit's sentence has. */
static void each_group(Attention *a, int axis)
{
    Emit *e = a->e;
    Lo *lo = &e->lo;
    while (axis < tile_queries(&a->tiles) && a->tiles.unit[axis])
        axis++;
    if (axis < tile_queries(&a->tiles)) {
        LoLoop loop = lo_for_open(lo, lo_i64_of(lo, 0), length_of(a, axis), 1, "groups");
        e->space.at[axis] = coord_of(loop.index);
        each_group(a, axis + 1);
        lo_for_close(lo, &loop);
        return;
    }
    LoLoop loop = lo_for_open(lo, lo_i64_of(lo, 0), a->n_queries, queries_at_once(a), "queries");
    emit_block(a, loop.index);
    lo_for_close(lo, &loop);
}

void kernel_attention(Emit *e)
{
    Lo *lo = &e->lo;
    Attention a = {.e = e,
                   .tiles = tiles_of(e->op),
                   .one_level = is_one_level(e),
                   .sums = ARENA_ARRAY(e->arena, LoValue, e->body.n_ops + 1),
                   .slots = ARENA_ARRAY(e->arena, LoValue, e->body.n_ops + 1),
                   .words = ARENA_ARRAY(e->arena, LoValue, e->signature->n_sites + 1)};
    gaps_open(&a);
    tile_open(&a);
    LoLoop units = lo_for_open(lo, e->begin, e->end, 1, "units");
    stand_at_unit(&a, units.index);
    a.n_queries = length_of(&a, tile_queries(&a.tiles));
    a.n_keys = length_of(&a, tile_keys(&a.tiles));
    if (op_attr(e->op, ATTR_from_end))
        a.ahead = lo_isub(lo, a.n_keys, a.n_queries);
    for (int i = 0; i < a.tiles.n; i++)
        if (a.tiles.products[i].use == TILE_COLUMNS)
            tile_clear_columns(&a, &a.tiles.products[i]);
    each_group(&a, 0);
    lo_for_close(lo, &units);
}
