/* Shared by jam.c, vectorise.c, widen.c and widen_blocks.c: one loop, and what its values have
 * become. */
#ifndef CODEGEN_LOOP_PASSES_WIDEN_H
#define CODEGEN_LOOP_PASSES_WIDEN_H

#include "codegen/loop/build.h"
#include "codegen/loop/passes/passes.h"

/* Wide: what a value of the scalar loop has become in `copies` vectors of `lanes` lanes.
 *
 *   NONE     nothing: the value is not of the loop, or not written yet
 *   UNIFORM  the same in all lanes: `scalar`
 *   LINEAR   scalar + step × number of the lane, counted over all copies; of a pointer `step`
 *            counts elements of type `element`
 *   VECTOR   `vectors`, one a copy */
typedef enum WideKind { WIDE_NONE, WIDE_UNIFORM, WIDE_LINEAR, WIDE_VECTOR } WideKind;

typedef struct Wide {
    WideKind kind;
    LoValue scalar, step;
    LoType element; /* of a linear pointer */
    LoValue vectors[LO_MAX_JAM];
} Wide;

typedef struct Widen {
    Lo lo;
    const LoOp *loop;
    Wide *values; /* by the id of the scalar loop's ops */
    bool *varies; /* by id: see lo_mark_varying */
    int lanes, copies;
    int from, to;             /* the copies that are being written */
    int part;                 /* of the partial sums outside of the loop: that of copy 0 */
    LoValue mask[LO_MAX_JAM]; /* by copy: the lanes that are on; NULL: all */
    bool inner;               /* the masks include the condition of an if */
} Widen;

/* Starts with a loop whose turns become `lanes` lanes; the builder stands before it. `values` and
 * `varies` have an entry for each id (lo_number), zeros. */
Widen widen_start(LoModule *module, LoOp *loop, Wide *values, bool *varies, int lanes);
/* Whether the op stands in the loop. */
bool widen_is_inside(const Widen *w, const LoOp *op);
/* Writes the turns from `start` to `end`, `copies` vectors at a time. `partial`, allowed with one
 * copy only: the last vector may be partial. Else the number of turns is a multiple of copies ×
 * lanes. */
void widen_turns(Widen *w, LoValue start, LoValue end, int copies, bool partial);
/* Writes the body's ops for the turns from `index` on, where the builder stands. */
void widen_body(Widen *w, LoValue index);
/* Writes one op without blocks, for copies `from` to `to`. */
void widen_op(Widen *w, const LoOp *op);

static inline Wide widen_uniform(LoValue x) { return (Wide){.kind = WIDE_UNIFORM, .scalar = x}; }
/* What an operand has become. */
Wide widen_of(const Widen *w, LoValue x);
/* x as a vector of its lanes in copy u. */
LoValue widen_vector(Widen *w, const Wide *x, int u);
/* Lanes that are on in both masks; NULL: all lanes. */
static inline LoValue widen_both(Widen *w, LoValue a, LoValue b)
{
    return a && b ? lo_and(&w->lo, a, b) : a ? a : b;
}

#endif
