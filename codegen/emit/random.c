/* Random words: Philox4x32-10 (Salmon et al. 2011). A kernel's mask can be had
 * again by any other kernel, whatever its loops:
 *
 *   element e   number in storage order of the random value's own type
 *   key         seed low, seed high
 *   counter     (e / 4) low, (e / 4) high ^ step high << 16, site, step low
 *   word        e mod 4
 *
 * Where lanes are neighbours, the words of a row are made beforehand, four a
 * counter, by one function a module (random_fill); so are those of a strip, whose
 * lanes each go through elements of their own (random_fill_strip). Elsewhere each
 * lane computes its own counter and takes one of its four words. */
#include "codegen/emit/emit.h"

#include <assert.h>
#include <stdio.h>

/* Four words for each lane, in the low halves of i64, where they are multiplied; the high
 * halves are of no account. */
typedef struct Philox {
    LlValue x[4];
} Philox;

static LlValue low_half(Ll *ll, LlValue x)
{
    return LLVMBuildAnd(ll->builder, x, ll_int(LLVMTypeOf(x), UINT32_MAX), "");
}

/* An i32 in every lane: in both halves, which takes one broadcast of it. */
static LlValue in_low_halves(Ll *ll, LlValue x, int lanes)
{
    LlValue halves = ll_splat(ll, x, 2 * lanes);
    return LLVMBuildBitCast(ll->builder, halves, ll_vector(ll->i64, lanes), "");
}

static Philox philox(Ll *ll, Philox c, LlValue key0, LlValue key1)
{
    LLVMBuilderRef b = ll->builder;
    LlType wide = LLVMTypeOf(c.x[0]);
    int lanes = ll_lanes(wide);
    for (int round = 0; round < 10; round++) {
        LlValue k0 = in_low_halves(ll, key0, lanes), k1 = in_low_halves(ll, key1, lanes);
        LlValue product0 = LLVMBuildMul(b, low_half(ll, c.x[0]), ll_int(wide, 0xD2511F53), "");
        LlValue product1 = LLVMBuildMul(b, low_half(ll, c.x[2]), ll_int(wide, 0xCD9E8D57), "");
        LlValue high0 = LLVMBuildLShr(b, product0, ll_int(wide, 32), "");
        LlValue high1 = LLVMBuildLShr(b, product1, ll_int(wide, 32), "");
        c.x[0] = LLVMBuildXor(b, LLVMBuildXor(b, high1, c.x[1], ""), k0, "");
        c.x[2] = LLVMBuildXor(b, LLVMBuildXor(b, high0, c.x[3], ""), k1, "");
        c.x[1] = product1;
        c.x[3] = product0;
        key0 = LLVMBuildAdd(b, key0, ll_int(ll->i32, 0x9E3779B9), "");
        key1 = LLVMBuildAdd(b, key1, ll_int(ll->i32, 0xBB67AE85), "");
    }
    return c;
}

/* Key and the counter's words that all elements share. */
typedef struct Stream {
    LlValue key0, key1, high, site, step; /* i32 */
} Stream;

static Stream read_stream(Ll *ll, LlValue rng, LlValue site)
{
    LlValue words[4];
    for (int i = 0; i < 4; i++)
        words[i] = ll_load(ll, ll->i32, ll_gep(ll, ll->i32, rng, ll_i64(ll, i)), 4);
    return (Stream){.key0 = words[0],
                    .key1 = words[1],
                    .step = words[2],
                    .high = LLVMBuildShl(ll->builder, words[3], ll_int(ll->i32, 16), ""),
                    .site = LLVMBuildTrunc(ll->builder, site, ll->i32, "")};
}

/* Four words for each group of four elements (i64, scalar or vector). */
static Philox group_philox(Ll *ll, const Stream *s, LlValue group)
{
    LlType wide = LLVMTypeOf(group);
    int lanes = ll_lanes(wide);
    LlValue top = LLVMBuildLShr(ll->builder, group, ll_int(wide, 32), "");
    top = LLVMBuildXor(ll->builder, top, in_low_halves(ll, s->high, lanes), "");
    Philox c = {{group, top, in_low_halves(ll, s->site, lanes), in_low_halves(ll, s->step, lanes)}};
    return philox(ll, c, s->key0, s->key1);
}

/* The same as i32. */
static Philox group_words(Ll *ll, const Stream *s, LlValue group)
{
    Philox words = group_philox(ll, s, group);
    LlType narrow = ll_like(LLVMTypeOf(group), ll->i32);
    for (int w = 0; w < 4; w++)
        words.x[w] = LLVMBuildTrunc(ll->builder, words.x[w], narrow, "");
    return words;
}

/* The kernel's generator state, and the site of one of its streams. */
static LlValue state_argument(Emit *e)
{
    return load_word(e, e->args, TFC_WORD(TfcKernelArgs, rng), e->ll.ptr);
}

static LlValue site_argument(Emit *e, const BodyOp *op)
{
    LlValue ints = load_word(e, e->args, TFC_WORD(TfcKernelArgs, ints), e->ll.ptr);
    return load_word(e, ints, op->random, e->ll.i64);
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

Val random_word(Emit *e, const BodyOp *op, const Place *place)
{
    Ll *ll = &e->ll;
    bool unit;
    LlValue row = e->random_rows[op->random];
    if (row && place_is_own(e, &op->op->results[0].type, place)) {
        emit_at(e, DEPTH_BODY);
        return (Val){ll_load(ll, ll_vector(ll->i32, e->lanes),
                             ll_gep(ll, ll->i32, row, e->cache_at ? e->cache_at : e->column), 4),
                     DEPTH_BODY};
    }
    Val number = element_number(e, &op->op->results[0].type, place, &unit);
    emit_at(e, DEPTH_ENTRY);
    LlValue site = site_argument(e, op);
    Stream stream = read_stream(ll, state_argument(e), site);
    emit_at(e, number.depth);
    if (unit && e->lanes > 1)
        number.v = LLVMBuildNSWAdd(ll->builder, ll_splat(ll, number.v, e->lanes),
                                   ll_iota(ll, ll->i64, e->lanes), "");
    LlType wide = LLVMTypeOf(number.v), narrow = ll_like(wide, ll->i32);
    Philox words =
        group_words(ll, &stream, LLVMBuildLShr(ll->builder, number.v, ll_int(wide, 2), ""));
    LlValue which = LLVMBuildAnd(ll->builder, LLVMBuildTrunc(ll->builder, number.v, narrow, ""),
                                 ll_int(narrow, 3), "");
    LlValue word = words.x[0];
    for (int i = 1; i < 4; i++) {
        LlValue here = LLVMBuildICmp(ll->builder, LLVMIntEQ, which, ll_int(narrow, i), "");
        word = LLVMBuildSelect(ll->builder, here, words.x[i], word, "");
    }
    return (Val){word, number.depth};
}

/* ---- whole rows ---- */

enum { MAX_COUNTERS = 16 }; /* a step of the fill */

/* Words in the order of elements, two in an i64, of which memory has the low half first:
 * lane l has elements 4 l … 4 l + 3. */
static LlValue interleave(Ll *ll, const Philox *words, int lanes)
{
    LlValue order[2 * MAX_COUNTERS], pairs[2];
    LlType wide = LLVMTypeOf(words->x[0]);
    for (int p = 0; p < 2; p++) {
        LlValue second = LLVMBuildShl(ll->builder, words->x[2 * p + 1], ll_int(wide, 32), "");
        pairs[p] = LLVMBuildOr(ll->builder, low_half(ll, words->x[2 * p]), second, "");
    }
    assert(lanes <= MAX_COUNTERS);
    for (int i = 0; i < 2 * lanes; i++)
        order[i] = ll_int(ll->i32, i % 2 * lanes + i / 2);
    return LLVMBuildShuffleVector(ll->builder, pairs[0], pairs[1],
                                  LLVMConstVector(order, (unsigned)(2 * lanes)), "");
}

/* void fill(words, first group, groups, generator, site): writes whole vectors. */
static LlValue fill_function(Emit *e, int lanes)
{
    LlValue function = LLVMGetNamedFunction(e->ll.module, "philox.fill");
    if (function)
        return function;
    Ll inner, *ll = &inner;
    ll_init(ll, e->ll.context, e->ll.module);
    LlType types[] = {ll->ptr, ll->i64, ll->i64, ll->ptr, ll->i64};
    LlType type = LLVMFunctionType(LLVMVoidTypeInContext(ll->context), types, 5, false);
    function = LLVMAddFunction(ll->module, "philox.fill", type);
    LLVMSetLinkage(function, LLVMInternalLinkage);
    ll_begin_function(ll, function);
    Stream stream = read_stream(ll, LLVMGetParam(function, 3), LLVMGetParam(function, 4));
    LlLoop loop = ll_loop_open(ll, ll_i64(ll, 0), LLVMGetParam(function, 2), lanes, "groups");
    LlValue group = LLVMBuildNSWAdd(ll->builder, LLVMGetParam(function, 1), loop.index, "");
    group = LLVMBuildAdd(ll->builder, ll_splat(ll, group, lanes), ll_iota(ll, ll->i64, lanes), "");
    Philox words = group_philox(ll, &stream, group);
    LlValue to = LLVMBuildShl(ll->builder, loop.index, ll_i64(ll, 2), "");
    ll_store(ll, interleave(ll, &words, lanes), ll_gep(ll, ll->i32, LLVMGetParam(function, 0), to),
             4);
    ll_loop_close(ll, &loop);
    LLVMBuildRetVoid(ll->builder);
    ll_dispose(ll);
    return function;
}

void random_fill(Emit *e, const BodyOp *op, LlValue start, LlValue count, LlValue scratch)
{
    Ll *ll = &e->ll;
    const Type *type = &op->op->results[0].type;
    Place place = place_aligned(type, &e->space);
    bool unit;
    e->column = start;
    Val number = element_number(e, type, &place, &unit);
    assert(unit && "rows of words are for lanes that are neighbours");
    LlValue fill = fill_function(e, random_lanes(e));
    emit_at(e, DEPTH_BODY);
    LlValue within = LLVMBuildAnd(ll->builder, number.v, ll_i64(ll, 3), "");
    LlValue groups = LLVMBuildNSWAdd(ll->builder, LLVMBuildNSWAdd(ll->builder, within, count, ""),
                                     ll_i64(ll, 3), "");
    groups = LLVMBuildLShr(ll->builder, groups, ll_i64(ll, 2), "");
    LlValue args[] = {scratch, LLVMBuildLShr(ll->builder, number.v, ll_i64(ll, 2), ""), groups,
                      state_argument(e), site_argument(e, op)};
    LLVMBuildCall2(ll->builder, LLVMGlobalGetValueType(fill), fill, args, 5, "");
    LlValue first = LLVMBuildNSWSub(ll->builder, within, start, "");
    e->random_rows[op->random] = ll_gep(ll, ll->i32, scratch, first);
}

/* ---- strips ---- */

/* Word j of each lane: its phase says how far into `words`, of two counters, it begins. */
static LlValue lane_word(Ll *ll, const LlValue words[8], int j, LlValue phase)
{
    LlValue word = words[j];
    for (int p = 1; p < 4; p++) {
        LlValue here =
            LLVMBuildICmp(ll->builder, LLVMIntEQ, phase, ll_int(LLVMTypeOf(phase), p), "");
        word = LLVMBuildSelect(ll->builder, here, words[j + p], word, "");
    }
    return word;
}

/* Four steps of the strip from a counter's words and the next one's. */
static void store_steps(Ll *ll, const LlValue words[8], LlValue phase, LlValue out, LlValue pitch)
{
    for (int j = 0; j < 4; j++, out = ll_gep(ll, ll->i32, out, pitch))
        ll_store(ll, lane_word(ll, words, j, phase), out, 4);
}

/* void strip(words, pitch, first, stride, steps, generator, site): word l of step s is that
 * of element first + l × stride + s, at words[s × pitch + l]. Writes four steps at a time. */
static LlValue strip_function(Emit *e, int lanes)
{
    char name[32];
    snprintf(name, sizeof name, "philox.strip.%d", lanes);
    LlValue function = LLVMGetNamedFunction(e->ll.module, name);
    if (function)
        return function;
    Ll inner, *ll = &inner;
    ll_init(ll, e->ll.context, e->ll.module);
    LlType types[] = {ll->ptr, ll->i64, ll->i64, ll->i64, ll->i64, ll->ptr, ll->i64};
    LlType type = LLVMFunctionType(LLVMVoidTypeInContext(ll->context), types, 7, false);
    function = LLVMAddFunction(ll->module, name, type);
    LLVMSetLinkage(function, LLVMInternalLinkage);
    ll_begin_function(ll, function);
    Stream stream = read_stream(ll, LLVMGetParam(function, 5), LLVMGetParam(function, 6));
    LlValue pitch = LLVMGetParam(function, 1);
    LlType wide = ll_vector(ll->i64, lanes), narrow = ll_vector(ll->i32, lanes);
    LlValue stride = ll_splat(ll, LLVMGetParam(function, 3), lanes);
    LlValue number = LLVMBuildMul(ll->builder, stride, ll_iota(ll, ll->i64, lanes), "");
    number = LLVMBuildAdd(ll->builder, number, ll_splat(ll, LLVMGetParam(function, 2), lanes), "");
    LlValue phase = LLVMBuildAnd(ll->builder, LLVMBuildTrunc(ll->builder, number, narrow, ""),
                                 ll_int(narrow, 3), "");
    LlValue group = LLVMBuildLShr(ll->builder, number, ll_int(wide, 2), ""), words[8], slots[4];
    Philox ahead = group_words(ll, &stream, group);
    for (int w = 0; w < 4; w++) {
        slots[w] = ll_alloca(ll, narrow, "ahead");
        ll_store(ll, ahead.x[w], slots[w], 4);
    }
    LlLoop loop = ll_loop_open(ll, ll_i64(ll, 0), LLVMGetParam(function, 4), 4, "steps");
    LlValue next = LLVMBuildLShr(ll->builder, loop.index, ll_i64(ll, 2), "");
    next = LLVMBuildAdd(ll->builder, next, ll_i64(ll, 1), "");
    ahead =
        group_words(ll, &stream, LLVMBuildAdd(ll->builder, group, ll_splat(ll, next, lanes), ""));
    for (int w = 0; w < 4; w++) {
        words[w] = ll_load(ll, narrow, slots[w], 4);
        words[4 + w] = ahead.x[w];
        ll_store(ll, ahead.x[w], slots[w], 4);
    }
    LlValue at = LLVMBuildMul(ll->builder, loop.index, pitch, "");
    store_steps(ll, words, phase, ll_gep(ll, ll->i32, LLVMGetParam(function, 0), at), pitch);
    ll_loop_close(ll, &loop);
    LLVMBuildRetVoid(ll->builder);
    ll_dispose(ll);
    return function;
}

void random_fill_strip(Emit *e, const BodyOp *op, LlValue first, LlValue stride, LlValue steps,
                       LlValue strip, LlValue pitch)
{
    Ll *ll = &e->ll;
    LlValue fill = strip_function(e, e->lanes);
    emit_at(e, DEPTH_BODY);
    LlValue args[] = {
        strip, pitch, first, stride, steps, state_argument(e), site_argument(e, op)};
    LLVMBuildCall2(ll->builder, LLVMGlobalGetValueType(fill), fill, args, 7, "");
}

/* Counters a step of the fill. */
int random_lanes(const Emit *e) { return e->target->processor->vector_bits / 32; }

LlValue random_scratch(Emit *e, LlValue columns)
{
    Ll *ll = &e->ll;
    emit_at(e, DEPTH_ENTRY);
    LlValue words = LLVMBuildNSWAdd(ll->builder, columns, ll_i64(ll, 4 * random_lanes(e) + 8), "");
    LlValue scratch = LLVMBuildArrayAlloca(ll->builder, ll->i32, words, "words");
    LLVMSetAlignment(scratch, 64);
    return scratch;
}
