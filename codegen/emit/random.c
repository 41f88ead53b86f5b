/* Random words: Philox4x32-10 (Salmon et al. 2011). Any other kernel can compute a
 * kernel's words again, whatever its loops:
 *
 *   element e   number in storage order of the random value's own type
 *   key         seed low, seed high
 *   counter     (e / 4) low, (e / 4) high ^ step high << 16, site, step low
 *   word        e mod 4
 *
 * Where lanes are neighbours, the words of a row are computed beforehand, four a
 * counter, by one function a module (random_fill); so are those of a strip, in which
 * each lane goes through neighbours (random_fill_strip). Elsewhere each
 * lane computes its own counter and takes one of its four words. */
#include "codegen/emit/emit.h"

#include <assert.h>
#include <stdio.h>

/* Four words for each lane, in the low halves of i64, where they are multiplied; the high
 * halves are of no account. */
typedef struct Philox {
    LoValue x[4];
} Philox;

static LoValue low_half(Lo *lo, LoValue x)
{
    return lo_and(lo, x, lo_int(lo, lo_type(x), UINT32_MAX));
}

/* An i32 in every lane: in both halves, which takes one broadcast of it. */
static LoValue in_low_halves(Lo *lo, LoValue x, int lanes)
{
    LoValue halves = lo_splat(lo, x, 2 * lanes);
    return lo_bitcast(lo, halves, lo_vector(lo_i64, lanes));
}

static Philox philox(Lo *lo, Philox c, LoValue key0, LoValue key1)
{
    LoType wide = lo_type(c.x[0]);
    int lanes = lo_lanes(wide);
    for (int round = 0; round < 10; round++) {
        LoValue k0 = in_low_halves(lo, key0, lanes), k1 = in_low_halves(lo, key1, lanes);
        LoValue product0 = lo_mul(lo, low_half(lo, c.x[0]), lo_int(lo, wide, 0xD2511F53));
        LoValue product1 = lo_mul(lo, low_half(lo, c.x[2]), lo_int(lo, wide, 0xCD9E8D57));
        LoValue high0 = lo_lshr(lo, product0, lo_int(lo, wide, 32));
        LoValue high1 = lo_lshr(lo, product1, lo_int(lo, wide, 32));
        c.x[0] = lo_xor(lo, lo_xor(lo, high1, c.x[1]), k0);
        c.x[2] = lo_xor(lo, lo_xor(lo, high0, c.x[3]), k1);
        c.x[1] = product1;
        c.x[3] = product0;
        key0 = lo_add(lo, key0, lo_int(lo, lo_i32, 0x9E3779B9));
        key1 = lo_add(lo, key1, lo_int(lo, lo_i32, 0xBB67AE85));
    }
    return c;
}

/* Key and the counter's words that all elements share. */
typedef struct Stream {
    LoValue key0, key1, high, site, step; /* i32 */
} Stream;

static Stream read_stream(Lo *lo, LoValue rng, LoValue site)
{
    LoValue words[4];
    for (int i = 0; i < 4; i++)
        words[i] = lo_load(lo, lo_i32, lo_at(lo, lo_i32, rng, lo_i64_of(lo, i)), 4);
    return (Stream){.key0 = words[0],
                    .key1 = words[1],
                    .step = words[2],
                    .high = lo_shl(lo, words[3], lo_int(lo, lo_i32, 16)),
                    .site = lo_trunc(lo, site, lo_i32)};
}

/* Four words for each group of four elements (i64, scalar or vector). */
static Philox group_philox(Lo *lo, const Stream *s, LoValue group)
{
    LoType wide = lo_type(group);
    int lanes = lo_lanes(wide);
    LoValue top = lo_lshr(lo, group, lo_int(lo, wide, 32));
    top = lo_xor(lo, top, in_low_halves(lo, s->high, lanes));
    Philox c = {{group, top, in_low_halves(lo, s->site, lanes), in_low_halves(lo, s->step, lanes)}};
    return philox(lo, c, s->key0, s->key1);
}

/* The same as i32. */
static Philox group_words(Lo *lo, const Stream *s, LoValue group)
{
    Philox words = group_philox(lo, s, group);
    LoType narrow = lo_like(lo_type(group), lo_i32);
    for (int w = 0; w < 4; w++)
        words.x[w] = lo_trunc(lo, words.x[w], narrow);
    return words;
}

const BodyOp *random_first(const Emit *e, const BodyOp *op)
{
    for (int i = 0; i < e->body.n_ops; i++) {
        const BodyOp *other = &e->body.ops[i];
        if (other->random >= 0 &&
            e->signature->sites[other->random] == e->signature->sites[op->random] &&
            type_same_shape(&other->op->results[0].type, &op->op->results[0].type))
            return other;
    }
    return op;
}

LoValue random_word(Emit *e, const BodyOp *op, const Place *place)
{
    Lo *lo = &e->lo;
    LoValue row = e->random_rows[op->random];
    if (row && place_is_own(e, &op->op->results[0].type, place)) {
        LoValue at = e->cache_at ? e->cache_at : e->column;
        return lo_load(lo, lo_i32, lo_at(lo, lo_i32, row, at), 4);
    }
    LoValue number = element_number(e, &op->op->results[0].type, place);
    Stream stream = read_stream(lo, argument_random(e), argument_int(e, op->random));
    LoType wide = lo_type(number), narrow = lo_like(wide, lo_i32);
    Philox words = group_words(lo, &stream, lo_lshr(lo, number, lo_int(lo, wide, 2)));
    LoValue which = lo_and(lo, lo_trunc(lo, number, narrow), lo_int(lo, narrow, 3));
    LoValue word = words.x[0];
    for (int i = 1; i < 4; i++) {
        LoValue here = lo_eq(lo, which, lo_int(lo, narrow, i));
        word = lo_select(lo, here, words.x[i], word);
    }
    return word;
}

/* ---- whole rows ---- */

enum { MAX_COUNTERS = 16 }; /* a step of the fill */

/* Words in the order of elements, two in an i64, of which memory has the low half first:
 * lane l has elements 4 l … 4 l + 3. */
static LoValue interleave(Lo *lo, const Philox *words, int lanes)
{
    LoValue pairs[2];
    int order[2 * MAX_COUNTERS];
    LoType wide = lo_type(words->x[0]);
    for (int p = 0; p < 2; p++) {
        LoValue second = lo_shl(lo, words->x[2 * p + 1], lo_int(lo, wide, 32));
        pairs[p] = lo_or(lo, low_half(lo, words->x[2 * p]), second);
    }
    assert(lanes <= MAX_COUNTERS);
    for (int i = 0; i < 2 * lanes; i++)
        order[i] = i % 2 * lanes + i / 2;
    return lo_shuffle(lo, pairs[0], pairs[1], order, 2 * lanes);
}

/* void fill(words, first group, groups, generator, site): writes whole vectors. */
static LoFunction *fill_function(Emit *e, int lanes)
{
    LoFunction *function = lo_find_function(e->lo.module, "philox.fill");
    if (function)
        return function;
    Lo inner, *lo = &inner;
    LoType types[] = {lo_ptr, lo_i64, lo_i64, lo_ptr, lo_i64};
    function = lo_add_function(e->lo.module, "philox.fill", false, 5, types);
    lo_begin(lo, e->lo.module, function);
    Stream stream = read_stream(lo, lo_param(lo, 3), lo_param(lo, 4));
    LoLoop loop = lo_for_open(lo, lo_i64_of(lo, 0), lo_param(lo, 2), lanes, "groups");
    LoValue group = lo_iadd(lo, lo_param(lo, 1), loop.index);
    group = lo_add(lo, lo_splat(lo, group, lanes), lo_iota_of(lo, lo_i64, lanes));
    Philox words = group_philox(lo, &stream, group);
    LoValue to = lo_shl(lo, loop.index, lo_i64_of(lo, 2));
    lo_store(lo, interleave(lo, &words, lanes), lo_at(lo, lo_i32, lo_param(lo, 0), to), 4);
    lo_for_close(lo, &loop);
    return function;
}

void random_fill(Emit *e, const BodyOp *op, LoValue start, LoValue count, LoValue scratch)
{
    Lo *lo = &e->lo;
    const Type *type = &op->op->results[0].type;
    stand_at_column(e, start);
    Place place = place_aligned(type, &e->space);
    LoValue number = element_number(e, type, &place);
    stand_at_column(e, NULL);
    LoFunction *fill = fill_function(e, random_lanes(e));
    LoValue within = lo_and(lo, number, lo_i64_of(lo, 3));
    LoValue groups = lo_iadd(lo, lo_iadd(lo, within, count), lo_i64_of(lo, 3));
    groups = lo_lshr(lo, groups, lo_i64_of(lo, 2));
    LoValue args[] = {scratch, lo_lshr(lo, number, lo_i64_of(lo, 2)), groups, argument_random(e),
                      argument_int(e, op->random)};
    lo_call(lo, fill, 5, args);
    LoValue first = lo_isub(lo, within, start);
    e->random_rows[op->random] = lo_at(lo, lo_i32, scratch, first);
}

/* ---- strips ---- */

/* Word j of each lane: its phase says how far into `words`, of two counters, it begins. */
static LoValue lane_word(Lo *lo, const LoValue words[8], int j, LoValue phase)
{
    LoValue word = words[j];
    for (int p = 1; p < 4; p++) {
        LoValue here = lo_eq(lo, phase, lo_int(lo, lo_type(phase), p));
        word = lo_select(lo, here, words[j + p], word);
    }
    return word;
}

/* Four steps of the strip from a counter's words and the next one's. */
static void store_steps(Lo *lo, const LoValue words[8], LoValue phase, LoValue out, LoValue pitch)
{
    for (int j = 0; j < 4; j++, out = lo_at(lo, lo_i32, out, pitch))
        lo_store(lo, lane_word(lo, words, j, phase), out, 4);
}

/* void strip(words, pitch, first, stride, steps, generator, site): word l of step s is that
 * of element first + l × stride + s, at words[s × pitch + l]. Writes four steps at a time. */
static LoFunction *strip_function(Emit *e, int lanes)
{
    char name[32];
    snprintf(name, sizeof name, "philox.strip.%d", lanes);
    LoFunction *function = lo_find_function(e->lo.module, name);
    if (function)
        return function;
    Lo inner, *lo = &inner;
    LoType types[] = {lo_ptr, lo_i64, lo_i64, lo_i64, lo_i64, lo_ptr, lo_i64};
    function = lo_add_function(e->lo.module, name, false, 7, types);
    lo_begin(lo, e->lo.module, function);
    Stream stream = read_stream(lo, lo_param(lo, 5), lo_param(lo, 6));
    LoValue pitch = lo_param(lo, 1);
    LoType wide = lo_vector(lo_i64, lanes), narrow = lo_vector(lo_i32, lanes);
    LoValue stride = lo_splat(lo, lo_param(lo, 3), lanes);
    LoValue number = lo_mul(lo, stride, lo_iota_of(lo, lo_i64, lanes));
    number = lo_add(lo, number, lo_splat(lo, lo_param(lo, 2), lanes));
    LoValue phase = lo_and(lo, lo_trunc(lo, number, narrow), lo_int(lo, narrow, 3));
    LoValue group = lo_lshr(lo, number, lo_int(lo, wide, 2)), words[8], slots[4];
    Philox ahead = group_words(lo, &stream, group);
    for (int w = 0; w < 4; w++) {
        slots[w] = lo_scratch(lo, narrow, 1, 0, "ahead");
        lo_store(lo, ahead.x[w], slots[w], 4);
    }
    LoLoop loop = lo_for_open(lo, lo_i64_of(lo, 0), lo_param(lo, 4), 4, "steps");
    LoValue next = lo_lshr(lo, loop.index, lo_i64_of(lo, 2));
    next = lo_add(lo, next, lo_i64_of(lo, 1));
    ahead = group_words(lo, &stream, lo_add(lo, group, lo_splat(lo, next, lanes)));
    for (int w = 0; w < 4; w++) {
        words[w] = lo_load(lo, narrow, slots[w], 4);
        words[4 + w] = ahead.x[w];
        lo_store(lo, ahead.x[w], slots[w], 4);
    }
    LoValue at = lo_mul(lo, loop.index, pitch);
    store_steps(lo, words, phase, lo_at(lo, lo_i32, lo_param(lo, 0), at), pitch);
    lo_for_close(lo, &loop);
    return function;
}

void random_fill_strip(Emit *e, const BodyOp *op, LoValue first, LoValue stride, LoValue steps,
                       LoValue strip, LoValue pitch)
{
    Lo *lo = &e->lo;
    LoFunction *fill = strip_function(e, e->vector);
    LoValue args[] = {
        strip, pitch, first, stride, steps, argument_random(e), argument_int(e, op->random)};
    lo_call(lo, fill, 7, args);
}

/* Counters a step of the fill. */
int random_lanes(const Emit *e) { return e->target->processor->vector_bits / 32; }

LoValue random_scratch(Emit *e, LoValue columns)
{
    Lo *lo = &e->lo;
    emit_at_entry(e);
    LoValue words = lo_iadd(lo, columns, lo_i64_of(lo, 4 * random_lanes(e) + 8));
    LoValue scratch = lo_scratch_of(lo, lo_i32, words, 64, "words");
    lo_resume(lo);
    return scratch;
}
