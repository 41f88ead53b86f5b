/* Inside passes/dependence: what is known of a value's elements where positions along two of its
 * axes are in some order.
 *
 *   dependence.c   whether values are causal, and the report
 *   before.c       dimensions along the text, and bounds of numbers made of positions
 *   rules.c        what ops combine: the table of rules.def
 *   known.c        Known by op
 *   elementwise.c  Known of elementwise ops */
#ifndef PASSES_DEPENDENCE_KNOWN_H
#define PASSES_DEPENDENCE_KNOWN_H

#include "ir/graph.h"
#include "ir/side.h"

enum { MAX_KNOWN_LENGTHS = MAX_DIM_TERMS };

/* LinearBefore: a Before, with a factor for each of Dependence.lengths. */
typedef struct LinearBefore {
    double plus, lengths[MAX_KNOWN_LENGTHS];
} LinearBefore;

typedef struct Dependence {
    const Module *module;
    Arena *arena;
    int time;                       /* the symbol */
    const LinearBefore **before;    /* by symbol; NULL: positions along it are not the text's */
    int lengths[MAX_KNOWN_LENGTHS]; /* the symbols whose lengths stand before the text */
    int n_lengths;
    bool has_before;    /* a dimension has positions before the text */
    SideTable verdicts; /* of values that are not causal (dependence.c) */
    SideTable facts;    /* what was found of a value (known.c) */
} Dependence;

/* Where: the key is a token after the query; key = query; anywhere; or the query is a token. */
typedef enum Where { WHERE_AFTER, WHERE_SAME, WHERE_ALL, WHERE_TEXT } Where;

/* BandRange: positions of a query and a key, along dimensions that are the text's, in some order.
 * NULL: along `time` itself. */
typedef struct BandRange {
    Where where;
    const LinearBefore *query, *key;
} BandRange;

/* Band: the elements of a value whose positions along its axes `query` and `key` are in that range.
 * -1: the value does not have that axis, and is the same along it. */
typedef struct Band {
    int query, key;
    BandRange range;
} Band;

/* Known: each element of the band is
 *
 *   query · (its position along the axis query) + key · (that along the axis key) +
 *   lengths[i] · (the length of Dependence.lengths[i]) + … + a number from low to high
 *
 *   far          it is finite, but -1e9 or less up to what is added to it
 *   minus, plus  it may be -inf (or far), +inf, because the model's constants say so
 *   down, up     it may be -5e8 or less, 5e8 or more, as positions are below MOST_POSITION: what
 *                is far may not stay so beside it
 *   rounded_down it is what it would be without the numbers from low to high, + high, rounded down
 *
 * A bool is 0 or 1. In WHERE_SAME positions of both axes count as the query's. */
typedef struct Known {
    double query, key, lengths[MAX_KNOWN_LENGTHS], low, high;
    bool far, minus, plus, down, up, rounded_down;
} Known;

/* ---- before.c ---- */
/* What stands before the text along an axis of the type; NULL: nothing, or it is not the text's. */
const LinearBefore *before_axis(const Dependence *d, const Type *type, int axis);
/* The band of a value of that type. */
Band band_of(const Dependence *d, const Type *type, int query, int key, Where where);
Band band_anywhere(void);
/* k = a + times × b in positions and lengths, low and high left as they are. */
void add_factors(Known *k, const Known *a, double times, const Known *b);
/* The number that is as known of a length: of a given dimension, or one made of others that has no
 * positions of the text; low and high infinitely apart: unknown. */
Known known_length(const Dependence *d, int symbol);
Known known_before(const LinearBefore *before);
/* The greatest factor, without sign; 0: it is a number from low to high. */
double known_step(const Known *k);
/* The most that its factors make of positions and lengths up to MOST_POSITION, without sign. */
double known_reach(const Known *k);
/* The least and the greatest element of the band. */
void known_bounds(const Known *k, BandRange range, double *least, double *greatest);

/* ---- known.c ---- */
Known known_of(Dependence *d, const Value *v, Band band);
/* Of an op's result, as rules.def says. */
Known known_leaf(Dependence *d, const Op *op, Band band);
Known known_elements(Dependence *d, const Op *op, Band band);
Known known_moved(Dependence *d, const Op *op, Band band);  /* the same elements, or some of them */
Known known_joined(Dependence *d, const Op *op, Band band); /* side by side, or with zeros */
Known known_reduced(Dependence *d, const Op *op, Band band);
Known known_share(Dependence *d, const Op *op, Band band); /* softmax */
Known known_product(Dependence *d, const Op *op, Band band);
Known known_plain(Dependence *d, const Op *op, Band band); /* infinite if an operand may be */
Known known_row(Dependence *d, const Op *op, Band band);   /* gather */
Known known_index(Dependence *d, const Op *op, Band band); /* top_k */
Known known_found(Dependence *d, const Op *op, Band band); /* lookup */

static inline bool known_is_exact(const Known *k) { return k->low == k->high && !known_step(k); }
static inline bool known_is(const Known *k, double c) { return known_is_exact(k) && k->low == c; }

/* The value is c; any number; any number that may be infinite; a number from low to high. */
Known known_exactly(double c);
Known known_nothing(void);
Known known_infinite(bool minus, bool plus);
Known known_between(double low, double high);
/* Any number that may be as large as k, whose factors are forgotten. */
Known known_forgotten(const Known *k);
/* Either the one or the other. */
Known known_either(Known a, Known b);

/* ---- elementwise.c ---- */
Known known_elementwise(const Op *op, const Known *args, BandRange range);

/* ---- rules.c ---- */
/* A row of rules.def. */
typedef struct DependenceRule {
    Known (*known)(Dependence *d, const Op *op, Band band);
    const char *(*later)(Dependence *d, const Op *op); /* why; NULL: it is causal */
} DependenceRule;
extern const DependenceRule dependence_rules[OP_COUNT];

/* Where an axis of the op's result is in operand i; -1: the operand does not have it. */
int operand_axis(const Dependence *d, const Op *op, int i, int axis);
static inline bool is_time_axis(const Dependence *d, const Type *type, int axis)
{
    return axis >= 0 && axis < type->rank && type->dims[axis].symbol != NO_SYMBOL &&
           d->before[type->dims[axis].symbol];
}
/* Whether the elements of x after the query add nothing to a maximum or a sum of exponentials along
 * the axis `key`: they are -inf, or far while the query's own is not. */
bool is_masked(Dependence *d, const Value *x, int query, int key);
/* Whether each query has a key of its own position that is not masked. */
bool sees_own(Dependence *d, const Value *x, int query, int key);
/* Why the op's result is not causal, although its operands are, in words; NULL: it is causal. */
const char *why_later(Dependence *d, const Op *op);

#endif
