/* Constants, arithmetic, types and lanes, one after the other; see build.h. Memory, sums and
 * control are in build_blocks.c. */
#include "codegen/loop/build.h"

#include "base/map.h"

#include <assert.h>
#include <math.h>
#include <string.h>

static Arena *arena_of(const Lo *lo) { return lo->module->arena; }

void lo_begin(Lo *lo, LoModule *module, LoFunction *function)
{
    *lo =
        (Lo){.module = module, .function = function, .block = function->body, .at = function->body};
}

void lo_reopen(Lo *lo, LoModule *module, LoFunction *function, LoOp *before)
{
    *lo = (Lo){.module = module, .function = function, .stop = before, .origin = before->origin};
    lo->block = lo->home = before->block;
    lo_resume(lo);
}

LoValue lo_param(Lo *lo, int i)
{
    assert(i < lo->function->n_params);
    return lo->function->params[i];
}

/* ---- constants ---- */

static uint64_t hash_constant(const LoOp *x)
{
    return hash_u64(hash_u64(HASH_SEED, (uint64_t)x->kind << 32 | x->type), (uint64_t)x->number);
}

static bool same_constant(const LoOp *a, const LoOp *b)
{
    return a->kind == b->kind && a->type == b->type && a->number == b->number;
}

static void grow_slots(Lo *lo)
{
    LoFunction *f = lo->function;
    f->n_constant_slots = f->n_constant_slots ? 2 * f->n_constant_slots : 64;
    f->constant_slots = ARENA_ARRAY(arena_of(lo), uint32_t, f->n_constant_slots);
    for (size_t i = 0; i < f->constants.count; i++) {
        size_t at = hash_constant(f->constants.data[i]) % f->n_constant_slots;
        while (f->constant_slots[at])
            at = (at + 1) % f->n_constant_slots;
        f->constant_slots[at] = (uint32_t)i + 1;
    }
}

/* Each constant is one value, so that equal ones are the same pointer. */
static LoValue constant(Lo *lo, LoOp wanted)
{
    LoFunction *f = lo->function;
    if (2 * f->constants.count >= f->n_constant_slots)
        grow_slots(lo);
    size_t at = hash_constant(&wanted) % f->n_constant_slots;
    for (; f->constant_slots[at]; at = (at + 1) % f->n_constant_slots) {
        LoValue x = f->constants.data[f->constant_slots[at] - 1];
        if (same_constant(x, &wanted))
            return x;
    }
    LoOp *x = ARENA_NEW(arena_of(lo), LoOp);
    *x = wanted;
    vec_push(arena_of(lo), f->constants, x);
    f->constant_slots[at] = (uint32_t)f->constants.count;
    return x;
}

/* The low bits, as a signed number. */
static int64_t wrapped(LoType type, int64_t value)
{
    int unused = 64 - lo_bits(type);
    return (int64_t)((uint64_t)value << unused) >> unused;
}

LoValue lo_int(Lo *lo, LoType type, int64_t value)
{
    assert(!lo_is_float(type));
    return constant(lo, (LoOp){.kind = LO_int, .type = type, .number = wrapped(type, value)});
}

LoValue lo_real(Lo *lo, LoType type, double value)
{
    assert(lo_is_float(type));
    if (lo_element(type) == lo_f32)
        value = (float)value;
    return constant(lo, (LoOp){.kind = LO_real, .type = type, .real = value});
}

LoValue lo_zero(Lo *lo, LoType type)
{
    return lo_is_float(type) ? lo_real(lo, type, 0) : lo_int(lo, type, 0);
}

LoValue lo_i64_of(Lo *lo, int64_t value) { return lo_int(lo, lo_i64, value); }

LoValue lo_iota_of(Lo *lo, LoType element, int lanes)
{
    return lanes == 1 ? lo_int(lo, element, 0)
                      : constant(lo, (LoOp){.kind = LO_iota, .type = lo_vector(element, lanes)});
}

bool lo_same(LoValue a, LoValue b) { return a == b; }

bool lo_is_visible(const Lo *lo, LoValue x)
{
    for (const LoBlock *b = lo->block; b; b = b->parent ? b->parent->block : NULL)
        if (x->block == b)
            return true;
    return !x->block; /* params and constants */
}

/* ---- ops ---- */

LoOp *lo_append(Lo *lo, LoOp op, int n, LoValue const *args)
{
    LoOp *new = ARENA_NEW(arena_of(lo), LoOp);
    *new = op;
    new->origin = lo->before && lo->before->kind == LO_seam ? lo->before->origin : lo->origin;
    new->n_args = n;
    new->args = arena_copy(arena_of(lo), args, (size_t)n * sizeof *args);
    lo_insert(new, lo->at, lo->before);
    return new;
}

static LoValue unary(Lo *lo, LoKind kind, LoValue a, LoType type)
{
    return lo_append(lo, (LoOp){.kind = kind, .type = type}, 1, &a);
}

/* Of numbers of so many bits; false where it is left to be computed. */
static bool fold(LoKind kind, LoType type, int64_t a, int64_t b, int64_t *out)
{
    uint64_t x = (uint64_t)a, y = (uint64_t)b, mask = UINT64_MAX >> (64 - lo_bits(type));
    switch (kind) {
    case LO_add:
    case LO_iadd: *out = (int64_t)(x + y); return true;
    case LO_sub:
    case LO_isub: *out = (int64_t)(x - y); return true;
    case LO_mul:
    case LO_imul: *out = (int64_t)(x * y); return true;
    case LO_div: *out = b > 0 ? a / b : 0; return b > 0;
    case LO_rem: *out = b > 0 ? a % b : 0; return b > 0;
    case LO_and: *out = a & b; return true;
    case LO_or: *out = a | b; return true;
    case LO_xor: *out = a ^ b; return true;
    case LO_shl: *out = (int64_t)(x << y); return y < 64;
    case LO_lshr: *out = (int64_t)((x & mask) >> y); return y < 64;
    case LO_ashr: *out = a >> b; return y < 64;
    case LO_lt: *out = a < b; return true;
    case LO_le: *out = a <= b; return true;
    case LO_gt: *out = a > b; return true;
    case LO_ge: *out = a >= b; return true;
    case LO_eq: *out = a == b; return true;
    case LO_ne: *out = a != b; return true;
    case LO_ult: *out = (x & mask) < (y & mask); return true;
    case LO_ule: *out = (x & mask) <= (y & mask); return true;
    case LO_uge: *out = (x & mask) >= (y & mask); return true;
    default: return false;
    }
}

/* Whether the result is the left operand: x + 0, x - 0, x << 0, x · 1 of integers. */
static bool keeps_left(LoKind kind, const LoOp *b)
{
    static const bool zeros[] = {
        [LO_add] = true, [LO_sub] = true, [LO_iadd] = true, [LO_isub] = true, [LO_or] = true,
        [LO_xor] = true, [LO_shl] = true, [LO_lshr] = true, [LO_ashr] = true};
    if (!lo_is_int(b))
        return false;
    if (kind == LO_mul || kind == LO_imul)
        return b->number == 1;
    return kind < sizeof zeros && zeros[kind] && b->number == 0;
}

/* Whether it is the right one: 0 + x, 1 · x. */
static bool keeps_right(LoKind kind, const LoOp *a)
{
    bool adds = kind == LO_add || kind == LO_iadd, multiplies = kind == LO_mul || kind == LO_imul;
    return lo_is_int(a) && ((adds && a->number == 0) || (multiplies && a->number == 1));
}

static bool is_zero_times(LoKind kind, const LoOp *a)
{
    return (kind == LO_mul || kind == LO_imul) && lo_is_int(a) && a->number == 0;
}

/* By the extent of a dimension without elements: no place of it is ever asked for. */
static bool divides(LoKind kind)
{
    return kind == LO_div || kind == LO_rem || kind == LO_udiv || kind == LO_urem;
}

static LoValue binary(Lo *lo, LoKind kind, LoValue a, LoValue b)
{
    LoType type = lo_info[kind].result == LO_RESULT_TRUTH ? lo_like(a->type, lo_i1) : a->type;
    int64_t number;
    assert(a->type == b->type || kind == LO_copysign);
    if (lo_is_int(a) && lo_is_int(b) && fold(kind, a->type, a->number, b->number, &number))
        return lo_int(lo, type, number);
    if (a == b && lo_info[kind].result == LO_RESULT_TRUTH && !lo_is_float(a->type) &&
        lo_element(a->type) != lo_ptr &&
        fold(kind, a->type, 0, 0, &number)) /* a number and itself */
        return lo_int(lo, type, number);
    if (lo_is_int(b) && !b->number && divides(kind))
        return b;
    if (keeps_left(kind, b) || is_zero_times(kind, a))
        return a;
    if (keeps_right(kind, a) || is_zero_times(kind, b))
        return b;
    return lo_append(lo, (LoOp){.kind = kind, .type = type}, 2, (LoValue[]){a, b});
}

#define LO_UNARY(name) \
    LoValue lo_##name(Lo *lo, LoValue a) { return unary(lo, LO_##name, a, a->type); }
#define LO_BINARY(name) \
    LoValue lo_##name(Lo *lo, LoValue a, LoValue b) { return binary(lo, LO_##name, a, b); }
LO_OPERATIONS

LoValue lo_muladd(Lo *lo, LoValue a, LoValue b, LoValue c)
{
    assert(a->type == b->type && a->type == c->type && lo_is_float(a->type));
    return lo_append(lo, (LoOp){.kind = LO_muladd, .type = a->type}, 3, (LoValue[]){a, b, c});
}

#define DOT(name)                                                \
    LoValue lo_##name(Lo *lo, LoValue sum, LoValue a, LoValue b) \
    {                                                            \
        const LoOp op = {.kind = LO_##name, .type = sum->type};  \
        return lo_append(lo, op, 3, (LoValue[]){sum, a, b});     \
    }
DOT(pair_dot)
DOT(word_dot)
DOT(byte_dot)
DOT(byte_pairs)
DOT(signed_dot)

LoValue lo_not(Lo *lo, LoValue a) { return lo_xor(lo, a, lo_int(lo, a->type, -1)); }

LoValue lo_select(Lo *lo, LoValue condition, LoValue a, LoValue b)
{
    assert(a->type == b->type && lo_element(condition->type) == lo_i1);
    if (lo_is_int(condition))
        return condition->number ? a : b;
    return lo_append(lo, (LoOp){.kind = LO_select, .type = a->type}, 3,
                     (LoValue[]){condition, a, b});
}

LoValue lo_min(Lo *lo, LoValue a, LoValue b) { return lo_select(lo, lo_lt(lo, a, b), a, b); }

LoValue lo_max(Lo *lo, LoValue a, LoValue b) { return lo_select(lo, lo_gt(lo, a, b), a, b); }

LoValue lo_math(Lo *lo, const char *name, int n, LoValue *x)
{
    LoOp op = {.kind = LO_math, .type = x[0]->type, .name = arena_strdup(arena_of(lo), name)};
    return lo_append(lo, op, n, x);
}

LoValue lo_reads(LoValue load, LoMemory memory)
{
    load->memory = memory;
    return load;
}

LoValue lo_index_add(Lo *lo, LoValue a, LoValue b)
{
    bool no_a = !a || (lo_is_int(a) && a->number == 0),
         no_b = !b || (lo_is_int(b) && b->number == 0);
    if (no_a || no_b)
        return no_a && no_b ? NULL : no_a ? b : a;
    return lo_iadd(lo, a, b);
}

LoValue lo_index_mul(Lo *lo, LoValue a, LoValue b)
{
    if (!a || !b || (lo_is_int(a) && a->number == 0) || (lo_is_int(b) && b->number == 0))
        return NULL;
    if (lo_is_int(a) && a->number == 1)
        return b;
    return lo_is_int(b) && b->number == 1 ? a : lo_imul(lo, a, b);
}

/* ---- types ---- */

/* Constants are as their type holds them, signed. */
static LoValue resized(Lo *lo, LoKind kind, LoValue x, LoType type)
{
    int64_t unsigned_mask = (int64_t)(UINT64_MAX >> (64 - lo_bits(x->type)));
    assert(lo_lanes(x->type) == lo_lanes(type));
    if (lo_is_int(x))
        return lo_int(lo, type, kind == LO_zext ? x->number & unsigned_mask : x->number);
    return unary(lo, kind, x, type);
}

LoValue lo_trunc(Lo *lo, LoValue x, LoType type) { return resized(lo, LO_trunc, x, type); }
LoValue lo_zext(Lo *lo, LoValue x, LoType type) { return resized(lo, LO_zext, x, type); }
LoValue lo_sext(Lo *lo, LoValue x, LoType type) { return resized(lo, LO_sext, x, type); }

LoValue lo_fcast(Lo *lo, LoValue x, LoType type)
{
    return x->type == type ? x : unary(lo, LO_fcast, x, type);
}
LoValue lo_from_int(Lo *lo, LoValue x, LoType type) { return unary(lo, LO_from_int, x, type); }
LoValue lo_from_uint(Lo *lo, LoValue x, LoType type) { return unary(lo, LO_from_uint, x, type); }
LoValue lo_to_int(Lo *lo, LoValue x, LoType type) { return unary(lo, LO_to_int, x, type); }

static int32_t bits_of(float x)
{
    int32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

LoValue lo_bitcast(Lo *lo, LoValue x, LoType type)
{
    assert(lo_bits(x->type) * lo_lanes(x->type) == lo_bits(type) * lo_lanes(type));
    if (x->type == lo_like(type, lo_f32) && x->kind == LO_real && lo_element(type) == lo_i32)
        return lo_int(lo, type, bits_of((float)x->real));
    return x->type == type ? x : unary(lo, LO_bitcast, x, type);
}

/* ---- bf16 ---- */

/* What is cut off decides by being added to, with half an ulp and the last bit that
 * stays. A NaN is made quiet instead: the bits that say so might be all cut off. */
LoValue lo_bf16_round(Lo *lo, LoValue x)
{
    LoType word = lo_like(x->type, lo_i32);
    LoValue bits = lo_bitcast(lo, x, word);
    LoValue last = lo_and(lo, lo_lshr(lo, bits, lo_int(lo, word, 16)), lo_int(lo, word, 1));
    LoValue nearest = lo_add(lo, bits, lo_add(lo, last, lo_int(lo, word, 0x7FFF)));
    LoValue quiet = lo_or(lo, bits, lo_int(lo, word, 0x400000));
    LoValue rounded = lo_select(lo, lo_unordered(lo, x, x), quiet, nearest);
    return lo_bitcast(lo, lo_and(lo, rounded, lo_int(lo, word, -0x10000)), x->type);
}

LoValue lo_bf16_bits(Lo *lo, LoValue rounded)
{
    LoType word = lo_like(rounded->type, lo_i32);
    LoValue high = lo_lshr(lo, lo_bitcast(lo, rounded, word), lo_int(lo, word, 16));
    return lo_trunc(lo, high, lo_like(word, lo_i16));
}

LoValue lo_bf16_value(Lo *lo, LoValue bits)
{
    LoType word = lo_like(bits->type, lo_i32);
    LoValue wide = lo_shl(lo, lo_zext(lo, bits, word), lo_int(lo, word, 16));
    return lo_bitcast(lo, wide, lo_like(word, lo_f32));
}

/* No denormal of f32 occurs, so that it does not matter whether these count as zero: below 2^-14 an
 * f16 is a float from there on less 2^-14. */
LoValue lo_half_value(Lo *lo, LoValue bits)
{
    enum { EXPONENTS = 3, OFFSET = 112 << 23, UNIT = 1 << 23, NOT_A_NUMBER = 0x7FC00000 };
    const LoType word = bits->type, real = lo_like(word, lo_f32);
    LoValue sign = lo_and(lo, bits, lo_int(lo, word, INT32_MIN));
    LoValue rest =
        lo_and(lo, lo_ashr(lo, bits, lo_int(lo, word, EXPONENTS)), lo_int(lo, word, 0x0FFFE000));
    LoValue normal = lo_add(lo, rest, lo_int(lo, word, OFFSET));
    LoValue above = lo_bitcast(lo, lo_add(lo, rest, lo_int(lo, word, OFFSET + UNIT)), real);
    LoValue low = lo_bitcast(lo, lo_sub(lo, above, lo_real(lo, real, 0x1p-14)), word);
    LoValue value = lo_select(lo, lo_lt(lo, rest, lo_int(lo, word, UNIT)), low, normal);
    value = lo_select(lo, lo_ge(lo, rest, lo_int(lo, word, 31 << 23)),
                      lo_int(lo, word, NOT_A_NUMBER), value);
    return lo_bitcast(lo, lo_or(lo, value, sign), real);
}

/* ---- lanes ---- */

LoValue lo_splat(Lo *lo, LoValue x, int lanes)
{
    LoType type = lo_vector(x->type, lanes);
    assert(lo_lanes(x->type) == 1);
    if (lanes == 1)
        return x;
    return x->kind == LO_int    ? lo_int(lo, type, x->number)
           : x->kind == LO_real ? lo_real(lo, type, x->real)
                                : unary(lo, LO_splat, x, type);
}

static LoValue reorder(Lo *lo, LoOp op, int n_args, LoValue *args, const int *lanes)
{
    op.order = arena_copy(arena_of(lo), lanes, (size_t)op.n_order * sizeof *lanes);
    return lo_append(lo, op, n_args, args);
}

LoValue lo_extract(Lo *lo, LoValue vector, int lane)
{
    LoOp op = {.kind = LO_extract, .type = lo_element(vector->type), .n_order = 1};
    return reorder(lo, op, 1, &vector, &lane);
}

LoValue lo_shuffle(Lo *lo, LoValue a, LoValue b, const int *lanes, int n)
{
    LoOp op = {.kind = LO_shuffle, .type = lo_vector(lo_element(a->type), n), .n_order = n};
    assert(a->type == b->type && n <= LO_MAX_LANES);
    return reorder(lo, op, 2, (LoValue[]){a, b}, lanes);
}

LoValue lo_lanes_below(Lo *lo, LoValue count, int64_t first, int lanes)
{
    LoValue left = lo_sub(lo, lo_trunc(lo, count, lo_i32), lo_int(lo, lo_i32, first));
    return lo_gt(lo, lo_splat(lo, left, lanes), lo_iota_of(lo, lo_i32, lanes));
}
