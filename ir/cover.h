/* Cover: which keys matter to a query, as a formula over the positions of both, read off the ops of
 * scores [..., queries, keys]:
 *
 *   select (le (abs (sub %query, %key)), 8), %scores, -inf      |query - key| <= 8
 *   select (or (that), (lt %key, 4)), %scores, -inf             or key < 4
 *
 *   select (le %key, (add %query, (sub %keys, %queries)))       key <= query + keys - queries
 *
 * Elsewhere the scores are -inf, their exponentials 0, and whatever is multiplied by these, so that
 * a sum, a maximum or a product over the keys may leave them out. It is taken for granted that what
 * meets a zero or an -inf is finite. What a mask makes of tokens or other data may hold anywhere.
 *
 * Covers live in the arena of the Covers that made them. */
#ifndef IR_COVER_H
#define IR_COVER_H

#include "ir/graph.h"

typedef enum CoverKind {
    COVER_ALL,
    COVER_NONE,
    COVER_BOTH,   /* a and b */
    COVER_EITHER, /* a or b */
    COVER_LESS,   /* x < y */
    COVER_UP_TO,  /* x <= y */
    COVER_EQUAL   /* x = y */
} CoverKind;

typedef struct Cover {
    CoverKind kind;
    const struct Cover *a, *b;
    const Value *x, *y; /* numbers made of positions and constants (cover_is_formula) */
} Cover;

/* CoverLinear: key × the key's position + query × the query's + keys × how many keys the row has +
 * queries × how many queries + constant; ok: a number is that. */
typedef struct CoverLinear {
    int64_t key, query, keys, queries, constant;
    bool ok;
} CoverLinear;

/* CoverStride: query − key is n × a whole number + rest, 0 <= rest < n. n 0: no stride. */
typedef struct CoverStride {
    int64_t n, rest;
} CoverStride;

/* The covers made so far, for values that are met again. `scores`: formulas may have how many
 * keys and queries a row of this type has, and masks may be reshaped before the last two axes.
 * NULL: what is so may hold anywhere, as it does for kernels, which evaluate formulas. */
typedef struct Covers {
    Arena *arena;
    const Type *scores;
    int depth; /* of the ops being read; MAX_COVER_DEPTH: what lies deeper may hold anywhere */
    VEC(struct CoverOf {
        const Value *value;
        int what;
        const Cover *cover;
    })
    known;
} Covers;

enum { MAX_COVER_DEPTH = 48 };

/* Where the value may be other than -inf; other than 0. */
const Cover *cover_finite(Covers *c, const Value *value);
const Cover *cover_not_zero(Covers *c, const Value *value);
const Cover *cover_either(Covers *c, const Cover *a, const Cover *b);

/* Whether a number, an integer or a float, is made of iota and constants alone, and of lengths of
 * `scores` (see Covers), by the ops that magnitude (cover.c) lists, and never overflows. */
bool cover_is_formula(const Value *value, const Type *scores);
/* Whether the value is the position along its one dimension that is not 1. */
bool cover_is_position(const Value *value);
/* The value itself behind broadcasts and casts that change nothing. */
const Value *cover_operand(const Value *value);
/* Whether the value is a constant; then *x is it. */
bool cover_const(const Value *value, double *x);
/* The whole number n of x - n * (x / n), where the quotient is rounded to a whole number: that is a
 * remainder of x, which goes to *x. 0: the value is no such one. */
int64_t cover_remainder(const Value *value, const Value **x);
CoverLinear cover_linear(const Value *formula, const Type *scores);
CoverLinear cover_combine(CoverLinear a, CoverLinear b, int64_t sign); /* a + sign × b */

/* The least stride for which kernels compute one key a query instead of blocks: single keys take
 * a few times as long each. */
enum { LEAST_STRIDE = 16 };
/* The first stride, of LEAST_STRIDE or more, that an equality of the cover asks for. */
CoverStride cover_stride(const Cover *cover);
/* Where the cover holds if what asks for this stride holds everywhere; nowhere. */
const Cover *cover_assume(Covers *c, const Cover *cover, CoverStride stride, bool holds);

#endif
