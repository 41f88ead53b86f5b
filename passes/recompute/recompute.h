/* What the files of pass recompute share. */
#ifndef PASSES_RECOMPUTE_RECOMPUTE_H
#define PASSES_RECOMPUTE_RECOMPUTE_H

#include "ir/side.h"
#include "ir/work.h"
#include "passes/pass.h"

/* What is known of a value. */
typedef struct Life {
    Value *root;    /* the value whose memory it has: itself or, of a view, what it views */
    Value *copy;    /* it, made again; or NULL */
    Value *instead; /* what readers behind the peak are about to read; or NULL */
    int from, to;   /* positions of the op that makes it and of the last that reads its memory */
    int stamp;      /* number of the last choice that tried its op */
    bool is_copy;
    bool gone;     /* it does not wait for its later readers any more */
    bool rejected; /* to make it again did not help */
    bool in_param; /* written straight into a param */
    bool escapes;  /* read outside of its chunk */
    bool output;   /* of the function: it stays to the end */
} Life;

/* One change of the function: a copy made, or a copy moved forward.
 *   original  the op that a new copy repeats; NULL: a copy was moved
 *   next      the op before which the moved copy stood */
typedef struct Change {
    Op *op, *original, *next;
} Change;

typedef struct Recomputing {
    Function *function;
    Arena *arena;
    SideTable lives;     /* value → its Life */
    SideTable positions; /* of ops, by lives_measure */
    SideTable copies;    /* of an op that is being copied: what it reads instead */
    Sizes sizes;
    double *live;     /* bytes at each position */
    Op *first, *last; /* where most bytes live: one op, or the ends of its chunk */
    double peak;      /* bytes there */
    int stamp;
    VEC(Change) changes; /* of the last choice */
} Recomputing;

static inline Life *life_of(const Recomputing *r, const Value *value)
{
    return side_of_value(&r->lives, value);
}
static inline Life *root_life(const Recomputing *r, const Value *value)
{
    return life_of(r, life_of(r, value)->root);
}
static inline int position_of(const Recomputing *r, const Op *op)
{
    return side_number(&r->positions, op);
}
static inline int begin_of(const Recomputing *r) { return position_of(r, r->first); }
static inline int end_of(const Recomputing *r) { return position_of(r, r->last); }

/* ---- lives.c ---- */
/* Sizes of symbols, and a life for each value of the function. */
void lives_begin(Recomputing *r, const MemoryBudget *budget);
/* The life of a value that was made later. */
Life *lives_add(Recomputing *r, Value *value);
/* Positions, lives, and where the peak is: anew, after the function has changed. */
void lives_measure(Recomputing *r);
/* Bytes of the slab that the value takes while it lives. */
double held_bytes(const Recomputing *r, const Value *value);
/* What an op costs, in floating-point operations: those of its products, and 10 for each byte that
 * it moves. */
double work_of(const Recomputing *r, const Op *op);
/* The first op of the chunk that an op is in, or the op itself. */
Op *chunk_first(Op *op);

#endif
