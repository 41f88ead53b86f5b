/* What the fusion passes share: which ops a region can hold, what it costs to
 * read a value or to compute it again, and building regions from member lists. */
#ifndef PASSES_FUSE_FUSE_H
#define PASSES_FUSE_FUSE_H

#include "ir/builder.h"
#include "ir/layout.h"
#include "passes/pass.h"

/* Ops without operands whose values a region makes for itself. */
bool is_generator(const Op *op);
/* Elementwise, row reductions, gather, broadcast, random: what a row region can hold. */
bool is_row_op(const Module *module, const Op *op);
/* Reductions along axes other than the last storage axis. */
bool is_column_reduction(const Module *module, const Op *op);
/* A row op that costs little next to reading its operands: no transcendental
 * function, no random numbers, no reduction, no gather. */
bool is_cheap(const Op *op);
/* The iteration space of one row op: its result, or what a reduction reads. */
const Type *op_space(const Op *op);
/* Whether `type` has as many elements as the space, or may have. */
bool fills_space(const Type *type, const Type *space);

/* Whether to compute a value again or to read it. The unit of cost is one read or write of a
 * tensor of the space's size.
 *   STORED         it is in memory anyway: to read it costs 1
 *   NOT_STORED     it would be stored for this use alone: 2.5 (write, read, room)
 *   LIKELY_STORED  others will likely have it stored: 1, but at a tie it is computed again */
typedef enum Presence { NOT_STORED, LIKELY_STORED, STORED } Presence;
typedef struct Recompute {
    const Module *module;
    const Type *space;
    Presence (*presence)(const Value *value, void *context);
    void *context;
    bool any_op; /* exp, dropout … may be computed again, not only cheap ops */
} Recompute;
/* The cost of the better choice; *again: whether that is to compute the value again. depth: 0. */
double recompute_cost(const Recompute *r, const Value *value, int depth, bool *again);

/* reach[p]: the last position of an op that ops up to p may depend on. It lies behind p if one of
 * them is in a region with ops behind p, since a region's ops run together. It never falls with p:
 * a search upwards for the op at q ends at ops whose reach is less than q. */
int *reach_new(Arena *arena, int n);
/* Ops from `first` to `last` are in one region from now on. */
void reach_join(int *reach, int first, int last);

/* A region being built: the ops it holds, in function order. */
typedef struct Members {
    VEC(Op *) ops;
} Members;

/* Makes the region from copies of the members (operands before users); `outputs`
 * are the member values it gives. It is placed before `position`; the members stay
 * as they are, and so do the uses of their values. */
Op *build_region(Function *function, OpKind kind, const Members *members, int n_outputs,
                 Value *const *outputs, Op *position);

/* A short name of what a region does, for reports: "scale+mask+softmax". */
const char *describe_members(const Members *members, Arena *arena);

#endif
