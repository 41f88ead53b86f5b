/* Between jam.c, vectorise.c and widen.c: one loop, and what its values have become. */
#ifndef CODEGEN_LOOP_PASSES_WIDEN_H
#define CODEGEN_LOOP_PASSES_WIDEN_H

#include "codegen/loop/build.h"
#include "codegen/loop/passes/passes.h"

/* Wide: what a value of the scalar loop is in `copies` vectors of lanes.
 *
 *   UNIFORM  the same in all: `scalar`
 *   LINEAR   scalar + step × number of the lane; of a pointer the step is elements
 *   VECTOR   `vectors`, one a copy */
typedef enum WideKind { WIDE_NONE, WIDE_UNIFORM, WIDE_LINEAR, WIDE_VECTOR } WideKind;

typedef struct Wide {
    WideKind kind;
    LoValue scalar, step;
    LoType element; /* of a pointer that is linear */
    LoValue vectors[LO_MAX_JAM];
} Wide;

typedef struct Widen {
    Lo lo;
    const LoOp *loop;
    Wide *values; /* by the id of the scalar loop's ops */
    bool *varies; /* by it: see lo_mark_varying */
    int lanes, copies;
    int from, to;             /* the copies that are being written */
    LoValue mask[LO_MAX_JAM]; /* lanes that exist, of each copy; NULL: all */
    bool inner;               /* … because of an if, too */
} Widen;

/* A loop whose turns become `lanes` lanes; the builder stands before it. */
Widen widen_start(LoModule *module, LoOp *loop, Wide *values, bool *varies, int lanes);
/* Whether the op stands in the loop. */
bool widen_is_inside(const Widen *w, const LoOp *op);
/* The turns from `start` to `end`, `copies` vectors at a time; `partial`: the last may be. */
void widen_turns(Widen *w, LoValue start, LoValue end, int copies, bool partial);
/* The body's ops, for the turns from `index` on, where the builder stands. */
void widen_body(Widen *w, LoValue index);
/* One straight op of it: the copies that are being written. */
void widen_op(Widen *w, const LoOp *op);

static inline Wide widen_uniform(LoValue x) { return (Wide){.kind = WIDE_UNIFORM, .scalar = x}; }
/* What an operand has become. */
Wide widen_of(const Widen *w, LoValue x);
/* Its lanes in copy u. */
LoValue widen_vector(Widen *w, const Wide *x, int u);
/* Lanes that are in both masks; NULL: all. */
static inline LoValue widen_both(Widen *w, LoValue a, LoValue b)
{
    return a && b ? lo_and(&w->lo, a, b) : a ? a : b;
}

#endif
