/* What the files of pass recompute share. */
#ifndef PASSES_RECOMPUTE_RECOMPUTE_H
#define PASSES_RECOMPUTE_RECOMPUTE_H

#include "ir/side.h"
#include "ir/work.h"
#include "passes/pass.h"

/* What is known of a value. */
typedef struct Life {
    Value *root;    /* the value whose memory it has: of a view the viewed value, else itself */
    Value *copy;    /* the result of the copy that makes it again; NULL: none */
    Value *instead; /* during `release`: what readers behind the peak will read; else NULL */
    int from, to;   /* positions of the op that makes it and of the last that reads its memory */
    int stamp;      /* of an op's first result: number of the last choice that tried the op */
    bool is_copy;
    bool gone;     /* in the current choice: its readers behind the peak read a copy */
    bool rejected; /* a choice from its op was taken back */
    bool in_param; /* written straight into a param */
    bool escapes;  /* read by an op with another chunk number (op_chunk), or with none */
    bool output;   /* of the function: it stays to the end */
} Life;

/* One change of the function: a copy `op` was made, or an older copy `op` was moved towards the
 * beginning.
 *   original  the op that a new copy repeats; NULL: a copy was moved
 *   next      the op before which the moved copy stood */
typedef struct Change {
    Op *op, *original, *next;
} Change;

typedef struct Recomputing {
    Function *function;
    Arena *arena;
    SideTable lives;     /* value → its Life */
    SideTable positions; /* op → its position; set by lives_measure */
    SideTable copies;    /* of an op that is being copied: what it reads instead */
    Sizes sizes;
    double *live;        /* change of the living bytes at each position */
    Op *first, *last;    /* the op at which most bytes live, or the first and last of its chunk */
    double peak;         /* bytes there */
    int stamp;           /* number of the current choice */
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
/* Sets sizes of symbols, makes a life for each value of the function, and measures. */
void lives_begin(Recomputing *r, const MemoryBudget *budget);
/* Adds the life of a value that was made after lives_begin. */
Life *lives_add(Recomputing *r, Value *value);
/* Determines positions, lives and the peak anew, after the function has changed. */
void lives_measure(Recomputing *r);
/* Bytes of the slab that the value takes while it lives, an estimate. 0: it is a leaf or a view, or
 * written straight into a param. */
double held_bytes(const Recomputing *r, const Value *value);
/* What an op costs, in floating-point operations: those of its products, and 10 for each byte that
 * it reads or writes. A view costs 0. */
double work_of(const Recomputing *r, const Op *op);
/* The first op of the op's chunk; here a chunk is the neighbouring ops with one chunk number
 * (op_chunk), which run together. If the op has no chunk number: the op itself. */
Op *chunk_first(Op *op);

#endif
