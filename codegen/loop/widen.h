/* Between vectorise.c and widen.c: one loop, and what its values have become. */
#ifndef CODEGEN_LOOP_WIDEN_H
#define CODEGEN_LOOP_WIDEN_H

#include "codegen/loop/build.h"
#include "codegen/loop/passes.h"

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
    int lanes, copies;
    LoValue mask[LO_MAX_JAM]; /* lanes that exist, of each copy; NULL: all */
    bool inner;               /* … because of an if, too */
} Widen;

/* Whether the op stands in the loop. */
bool widen_is_inside(const Widen *w, const LoOp *op);
/* The body's ops, for the turns from `index` on, where the builder stands. */
void widen_body(Widen *w, const LoOp *loop, LoValue index);

#endif
