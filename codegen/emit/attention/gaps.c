/* Runs of keys that a block of queries meets, where masks exclude keys inside the window.
 *
 * The cover of the region (ir/cover.h) is evaluated for blocks of keys, by intervals (Moore 1966):
 * from the least and the greatest position of the block's queries and of its keys follow those of
 * each formula, and so whether a comparison can hold anywhere. A block of keys where none can is
 * skipped. Neighbours that are not skipped are a run.
 *
 * Of a stride each query sees one key in n, but a block of queries all of them. So keys that the
 * cover has for a stride alone are in no run: they are computed one by one (singles.c). Queries and
 * keys at one distance, query − key, are a diagonal of the scores; the diagonals that the block
 * meets are listed, and the keys marked that no run has. */
#include "codegen/emit/attention/attention.h"

#include "ir/cover.h"

#include <assert.h>

/* Keys that are tested at once. */
enum { TESTED_KEYS = 16 };

struct KeyRuns {
    const Cover *cover; /* of runs */
    LoValue from, to;   /* memory: keys of run i from [1 + i]; to[0] is no key */
    LoValue n;          /* memory: how many */

    CoverStride stride;
    const Cover *diagonal; /* of keys at the stride's distances */
    LoValue distances;     /* memory */
    LoValue n_distances;   /* memory: how many */
    LoValue single;        /* memory, i8: 1 where no run has the key; MARGIN before the first key */
};

enum { MARK_BYTES = 8 }; /* marks are stored 8 at a time */

/* From the least to the greatest: i64, or floats of the value's type. Each op of a formula rises or
 * falls with its operands, rounding included, so the ends of its range come from theirs. */
typedef struct Range {
    LoValue least, most;
} Range;

/* The queries of the block, and the keys that are tested. */
typedef struct Met {
    Attention *a;
    Range queries, keys;
} Met;

/* ---- ranges ---- */

static Range range_of(const Met *m, const Value *v);

static bool is_float(LoValue x) { return lo_type(x) == lo_f32 || lo_type(x) == lo_f64; }

static LoValue plus(Lo *lo, LoValue x, LoValue y)
{
    return is_float(x) ? lo_add(lo, x, y) : lo_iadd(lo, x, y);
}

static LoValue minus(Lo *lo, LoValue x, LoValue y)
{
    return is_float(x) ? lo_sub(lo, x, y) : lo_isub(lo, x, y);
}

static LoValue times(Lo *lo, LoValue x, LoValue y)
{
    return is_float(x) ? lo_mul(lo, x, y) : lo_imul(lo, x, y);
}

static LoValue lesser(Lo *lo, LoValue x, LoValue y) { return lo_select(lo, lo_le(lo, x, y), x, y); }

static LoValue greater(Lo *lo, LoValue x, LoValue y)
{
    return lo_select(lo, lo_le(lo, x, y), y, x);
}

/* As the type of x. */
static LoValue same_type(Lo *lo, LoValue x, double value)
{
    return is_float(x) ? lo_real(lo, lo_type(x), value) : lo_i64_of(lo, (int64_t)value);
}

static Range negated(Lo *lo, Range x)
{
    LoValue zero = same_type(lo, x.least, 0);
    return (Range){minus(lo, zero, x.most), minus(lo, zero, x.least)};
}

static Range range_of_positions(const Met *m, const Value *v)
{
    Attention *a = m->a;
    int axis = type_long_dim(&v->type) + a->tiles.scores.rank - v->type.rank;
    if (axis == tile_keys(&a->tiles) || axis == tile_queries(&a->tiles))
        return axis == tile_keys(&a->tiles) ? m->keys : m->queries;
    LoValue at = coord_value(a->e, &a->e->space.at[axis], lo_i64);
    return (Range){at, at};
}

/* A range that has 0 goes from 0, other ranges from the end that is nearer to it. */
static Range absolute(Lo *lo, Range x)
{
    Range y = negated(lo, x);
    LoValue nearest = greater(lo, x.least, y.least);
    return (Range){greater(lo, nearest, same_type(lo, nearest, 0)), greater(lo, x.most, y.most)};
}

static Range scaled(Lo *lo, Range x, double factor)
{
    LoValue n = same_type(lo, x.least, factor);
    LoValue p = times(lo, x.least, n), q = times(lo, x.most, n);
    return factor < 0 ? (Range){q, p} : (Range){p, q};
}

static Range divided(Lo *lo, Range x, double by)
{
    LoValue n = same_type(lo, x.least, by);
    return (Range){lo_div(lo, x.least, n), lo_div(lo, x.most, n)};
}

static Range rounded_down(Lo *lo, Range x)
{
    return is_float(x.least) ? (Range){lo_floor(lo, x.least), lo_floor(lo, x.most)} : x;
}

static Range as_floats(Lo *lo, Range x, LoType type)
{
    return (Range){lo_from_int(lo, x.least, type), lo_from_int(lo, x.most, type)};
}

/* Within one multiple of n a remainder goes with x, elsewhere it may be any. Below 0 the division
 * of integers rounds up, and their remainder is negative. */
static Range remainder_of(Lo *lo, Range x, int64_t n)
{
    Range multiples = rounded_down(lo, divided(lo, x, (double)n));
    bool whole = !is_float(x.least);
    LoValue zero = same_type(lo, x.least, 0), low = zero;
    LoValue same_multiple = lo_eq(lo, multiples.least, multiples.most);
    LoValue base = times(lo, multiples.least, same_type(lo, x.least, (double)n));
    if (whole) {
        LoValue not_negative = lo_ge(lo, x.least, zero);
        same_multiple = lo_and(lo, same_multiple, not_negative);
        low = lo_select(lo, not_negative, zero, same_type(lo, x.least, (double)(1 - n)));
    }
    return (Range){lo_select(lo, same_multiple, minus(lo, x.least, base), low),
                   lo_select(lo, same_multiple, minus(lo, x.most, base),
                             same_type(lo, x.least, (double)(n - whole)))};
}

static Range range_of_two(Lo *lo, OpKind kind, Range x, Range y)
{
    switch (kind) {
    case OP_add: return (Range){plus(lo, x.least, y.least), plus(lo, x.most, y.most)};
    case OP_sub: return (Range){minus(lo, x.least, y.most), minus(lo, x.most, y.least)};
    case OP_max: return (Range){greater(lo, x.least, y.least), greater(lo, x.most, y.most)};
    case OP_min: return (Range){lesser(lo, x.least, y.least), lesser(lo, x.most, y.most)};
    default: assert(!"an op of cover_is_formula"); return x;
    }
}

static Range range_of_op(const Met *m, const Value *v)
{
    Lo *lo = &m->a->e->lo;
    const Op *op = v->op;
    double n = 0;
    Range x = range_of(m, op->args[0]);
    if (op->n_args == 2)
        cover_const(op->args[1], &n);
    switch (op->kind) {
    case OP_neg: return negated(lo, x);
    case OP_abs: return absolute(lo, x);
    case OP_floor: return rounded_down(lo, x);
    case OP_cast: return as_floats(lo, x, emit_type(m->a->e, v->type.dtype));
    case OP_mul: return scaled(lo, x, n);
    case OP_div: return divided(lo, x, n);
    default: return range_of_two(lo, op->kind, x, range_of(m, op->args[1]));
    }
}

static Range range_of_const(const Met *m, const Value *v, double value)
{
    Lo *lo = &m->a->e->lo;
    LoValue x = v->type.dtype == DT_I32 ? lo_i64_of(lo, (int64_t)value)
                                        : lo_real(lo, emit_type(m->a->e, v->type.dtype), value);
    return (Range){x, x};
}

static Range range_of(const Met *m, const Value *v)
{
    double constant;
    const Value *x;
    v = cover_operand(v);
    if (cover_const(v, &constant))
        return range_of_const(m, v, constant);
    if (cover_is_position(v))
        return range_of_positions(m, v);
    int64_t n = cover_remainder(v, &x);
    return n > 0 ? remainder_of(&m->a->e->lo, range_of(m, x), n) : range_of_op(m, v);
}

/* ---- covers ---- */

/* Whether the cover may hold for some query and key of the block, an i1. */
static LoValue may_hold(const Met *m, const Cover *c)
{
    Lo *lo = &m->a->e->lo;
    if (c->kind == COVER_ALL || c->kind == COVER_NONE)
        return lo_int(lo, lo_i1, c->kind == COVER_ALL);
    if (c->kind == COVER_BOTH || c->kind == COVER_EITHER) {
        LoValue p = may_hold(m, c->a), q = may_hold(m, c->b);
        return c->kind == COVER_BOTH ? lo_and(lo, p, q) : lo_or(lo, p, q);
    }
    Range x = range_of(m, c->x), y = range_of(m, c->y);
    if (c->kind == COVER_LESS)
        return lo_lt(lo, x.least, y.most);
    LoValue up_to = lo_le(lo, x.least, y.most);
    return c->kind == COVER_UP_TO ? up_to : lo_and(lo, up_to, lo_le(lo, y.least, x.most));
}

static const Cover *cover_of_region(const Attention *a)
{
    Covers covers = {.arena = a->e->arena};
    const Cover *cover = NULL;
    for (int i = 0; i < a->e->body.n_ops; i++) {
        const Op *op = a->e->body.ops[i].op;
        const Cover *read = NULL;
        if (op->kind == OP_reduce_max)
            read = cover_finite(&covers, op->args[0]);
        else if (op->kind == OP_reduce_sum ||
                 (op->kind == OP_dot &&
                  body_number(&a->e->body, op->args[0]) >= a->e->body.n_inputs))
            read = cover_not_zero(&covers, op->args[0]);
        if (read)
            cover = cover ? cover_either(&covers, cover, read) : read;
    }
    return cover;
}

/* ---- runs ---- */

static LoValue memory_at(Attention *a, LoValue memory, LoValue index)
{
    return lo_at(&a->e->lo, lo_i64, memory, index);
}

static LoValue load_at(Attention *a, LoValue memory, LoValue index)
{
    return lo_load(&a->e->lo, lo_i64, memory_at(a, memory, index), 8);
}

/* Keys that are marked before the first key and after the last one, in whole stores: as many as a
 * block has queries. */
static int64_t margin(const Attention *a)
{
    int64_t queries = block_queries(a);
    return queries < MARK_BYTES ? MARK_BYTES : queries;
}

int64_t gaps_more_distances(const Attention *a)
{
    return a->runs && a->runs->stride.n ? margin(a) / LEAST_STRIDE + 2 : 0;
}

static void open_singles(Attention *a, LoValue keys)
{
    Lo *lo = &a->e->lo;
    KeyRuns *r = a->runs;
    emit_at_entry(a->e);
    LoValue most = lo_div(lo, keys, lo_i64_of(lo, r->stride.n));
    most = lo_iadd(lo, most, lo_i64_of(lo, gaps_more_distances(a)));
    LoValue marks = lo_iadd(lo, keys, lo_i64_of(lo, 2 * margin(a) + TESTED_KEYS));
    r->distances = lo_scratch_of(lo, lo_i64, most, 8, "distances");
    r->single = lo_scratch_of(lo, lo_i8, marks, 8, "single");
    lo_resume(lo);
    r->n_distances = lo_scratch(lo, lo_i64, 1, 8, "distances");
}

void gaps_open(Attention *a)
{
    Emit *e = a->e;
    Lo *lo = &e->lo;
    if (!op_attr(e->op, ATTR_gaps))
        return;
    a->runs = ARENA_NEW(e->arena, KeyRuns);
    const Cover *cover = cover_of_region(a);
    Covers covers = {.arena = e->arena};
    a->runs->stride = cover_stride(cover);
    a->runs->cover = cover_assume(&covers, cover, a->runs->stride, false);
    a->runs->diagonal = cover_assume(&covers, cover, a->runs->stride, true);
    LoValue keys =
        extent_of(e, &(Axis){tile_keys(&a->tiles), -1, a->tiles.scores.dims[tile_keys(&a->tiles)]});
    emit_at_entry(e);
    LoValue most = lo_div(lo, keys, lo_i64_of(lo, TESTED_KEYS));
    most = lo_iadd(lo, most, lo_i64_of(lo, 2));
    a->runs->from = lo_scratch_of(lo, lo_i64, most, 8, "from");
    a->runs->to = lo_scratch_of(lo, lo_i64, most, 8, "to");
    lo_resume(lo);
    a->runs->n = lo_scratch(lo, lo_i64, 1, 8, "runs");
    lo_store(lo, lo_i64_of(lo, -1), a->runs->to, 8);
    if (a->runs->stride.n)
        open_singles(a, keys);
}

/* One block of keys: it goes on the run before, or begins one. */
static void add_block(Attention *a, LoValue from, LoValue to)
{
    Lo *lo = &a->e->lo;
    LoValue n = lo_load(lo, lo_i64, a->runs->n, 8), end = load_at(a, a->runs->to, n);
    LoValue apart = lo_ne(lo, end, from);
    LoValue run = lo_iadd(lo, n, lo_zext(lo, apart, lo_i64));
    LoIf begins = lo_if_open(lo, apart);
    lo_store(lo, from, memory_at(a, a->runs->from, run), 8);
    lo_if_close(lo, &begins);
    lo_store(lo, to, memory_at(a, a->runs->to, run), 8);
    lo_store(lo, run, a->runs->n, 8);
}

/* ---- single keys ---- */

/* Memory of the mark of this key; the first is that of key −margin. */
static LoValue mark_at(Attention *a, LoValue key)
{
    Lo *lo = &a->e->lo;
    return lo_at(lo, lo_i8, a->runs->single, lo_iadd(lo, key, lo_i64_of(lo, margin(a))));
}

/* Marks n keys, rounded up to MARK_BYTES. */
static void mark(Attention *a, LoValue key, int64_t n, LoValue marks)
{
    Lo *lo = &a->e->lo;
    for (int64_t i = 0; i < n; i += MARK_BYTES)
        lo_store(lo, marks, lo_at(lo, lo_i8, mark_at(a, key), lo_i64_of(lo, i)), 1);
}

static void mark_block(Attention *a, LoValue key, LoValue has_run)
{
    Lo *lo = &a->e->lo;
    LoValue ones = lo_i64_of(lo, 0x0101010101010101), none = lo_i64_of(lo, 0);
    mark(a, key, TESTED_KEYS, lo_select(lo, has_run, none, ones));
}

/* No diagonal has a key outside of [first, last). */
static void mark_outside(Attention *a, LoValue first, LoValue last)
{
    Lo *lo = &a->e->lo;
    LoValue none = lo_i64_of(lo, 0);
    mark(a, lo_isub(lo, first, lo_i64_of(lo, margin(a))), margin(a), none);
    mark(a, last, margin(a) + TESTED_KEYS, none);
}

/* The least distance from `low` on that the stride has. */
static LoValue first_distance(Attention *a, LoValue low)
{
    Lo *lo = &a->e->lo;
    LoValue n = lo_i64_of(lo, a->runs->stride.n);
    LoValue more = lo_rem(lo, lo_isub(lo, lo_i64_of(lo, a->runs->stride.rest), low), n);
    LoValue below = lo_lt(lo, more, lo_i64_of(lo, 0));
    return lo_iadd(lo, low, lo_select(lo, below, lo_iadd(lo, more, n), more));
}

/* Lists the distances of the diagonals that meet the keys [first, last). */
static void find_distances(Attention *a, LoValue first, LoValue last)
{
    Lo *lo = &a->e->lo;
    LoValue one = lo_i64_of(lo, 1), last_key = lo_isub(lo, last, one);
    LoValue last_query = lo_isub(lo, lo_iadd(lo, a->query, a->count), one);
    LoValue low = lo_isub(lo, a->query, last_key), high = lo_isub(lo, last_query, first);
    const Attr *before = op_attr(a->e->op, ATTR_before), *after = op_attr(a->e->op, ATTR_after);
    LoValue ahead = a->ahead ? a->ahead : lo_i64_of(lo, 0);
    if (before && before->i >= 0)
        high = lo_min(lo, high, lo_isub(lo, lo_i64_of(lo, before->i), ahead));
    if (after && after->i >= 0)
        low = lo_max(lo, low, lo_isub(lo, lo_i64_of(lo, -after->i), ahead));
    lo_store(lo, lo_i64_of(lo, 0), a->runs->n_distances, 8);
    LoLoop loop = lo_for_open(lo, first_distance(a, low), lo_iadd(lo, high, one), a->runs->stride.n,
                              "distances");
    LoValue distance = loop.index;
    Range queries = {lo_max(lo, a->query, lo_iadd(lo, first, distance)),
                     lo_min(lo, last_query, lo_iadd(lo, last_key, distance))};
    Range keys = {lo_isub(lo, queries.least, distance), lo_isub(lo, queries.most, distance)};
    Met met = {a, queries, keys};
    LoValue some = lo_le(lo, queries.least, queries.most);
    some = lo_and(lo, some, may_hold(&met, a->runs->diagonal));
    LoIf meets = lo_if_open(lo, some);
    LoValue n = lo_load(lo, lo_i64, a->runs->n_distances, 8);
    lo_store(lo, distance, memory_at(a, a->runs->distances, n), 8);
    lo_store(lo, lo_iadd(lo, n, one), a->runs->n_distances, 8);
    lo_if_close(lo, &meets);
    lo_for_close(lo, &loop);
}

LoValue gaps_distances(Attention *a)
{
    return a->runs->stride.n ? lo_load(&a->e->lo, lo_i64, a->runs->n_distances, 8) : NULL;
}

LoValue gaps_distance(Attention *a, LoValue index) { return load_at(a, a->runs->distances, index); }

LoValue gaps_is_single(Attention *a, LoValue distance)
{
    Lo *lo = &a->e->lo;
    LoValue first = mark_at(a, lo_isub(lo, a->query, distance));
    LoValue mark = lo_load(lo, lo_i8, lo_at(lo, lo_i8, first, a->lane), 1);
    return lo_ne(lo, mark, lo_zero(lo, lo_i8));
}

/* ---- a block of queries ---- */

void gaps_find(Attention *a, LoValue first, LoValue last)
{
    Lo *lo = &a->e->lo;
    LoValue one = lo_i64_of(lo, 1);
    lo_store(lo, lo_i64_of(lo, 0), a->runs->n, 8);
    LoLoop blocks = lo_for_open(lo, first, last, TESTED_KEYS, "tests");
    LoValue to = lo_min(lo, lo_iadd(lo, blocks.index, blocks.step), last);
    LoValue last_query = lo_isub(lo, lo_iadd(lo, a->query, a->count), one);
    Met met_here = {a, {a->query, last_query}, {blocks.index, lo_isub(lo, to, one)}};
    LoValue met = may_hold(&met_here, a->runs->cover);
    if (a->runs->stride.n)
        mark_block(a, blocks.index, met);
    LoIf some = lo_if_open(lo, met);
    add_block(a, blocks.index, to);
    lo_if_close(lo, &some);
    lo_for_close(lo, &blocks);
    LoValue n = lo_load(lo, lo_i64, a->runs->n, 8), none = lo_eq(lo, n, lo_i64_of(lo, 0));
    LoIf empty = lo_if_open(lo, none);
    lo_store(lo, first, memory_at(a, a->runs->from, one), 8);
    lo_store(lo, first, memory_at(a, a->runs->to, one), 8);
    lo_store(lo, one, a->runs->n, 8);
    lo_if_close(lo, &empty);
    if (a->runs->stride.n) {
        mark_outside(a, first, last);
        find_distances(a, first, last);
    }
}

LoValue gaps_count(Attention *a) { return lo_load(&a->e->lo, lo_i64, a->runs->n, 8); }

void gaps_run(Attention *a, LoValue index, LoValue *first, LoValue *last)
{
    Lo *lo = &a->e->lo;
    LoValue at = lo_iadd(lo, index, lo_i64_of(lo, 1));
    *first = load_at(a, a->runs->from, at);
    *last = load_at(a, a->runs->to, at);
}
