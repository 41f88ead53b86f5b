/* What the fusion passes share: which ops a region can contain, what it costs to read a value or to
 * compute it again, and how regions are built from lists of members. */
#ifndef PASSES_FUSE_FUSE_H
#define PASSES_FUSE_FUSE_H

#include "ir/builder.h"
#include "ir/layout.h"
#include "ir/side.h"
#include "passes/pass.h"

/* Whether the op is a const, iota, size or lengths, which each region computes for itself. */
bool is_generator(const Op *op);
/* Whether a row region can contain the op, generators aside: elementwise ops, row reductions,
 * gather, lookup, broadcast and random. */
bool is_row_op(const Module *module, const Op *op);
/* Whether the op is a reduction, but not a row reduction (is_row_reduction). */
bool is_column_reduction(const Module *module, const Op *op);
/* Whether the op costs little next to reading its operands: a generator, a broadcast, or an
 * elementwise op of few instructions (no transcendental function, no dropout). */
bool is_cheap(const Op *op);
/* Whether the op reads the operand at places of its own choice: a lookup what it looks up in. A
 * region then reads this operand from memory, even if it computes it, too. */
bool reads_elsewhere(const Op *op, int arg);
/* The type that is an op's iteration space: of a reduction the operand's, else the result's. */
const Type *op_space(const Op *op);
/* Whether `type`, aligned at the right, has a dimension other than 1 wherever the space has one. */
bool fills_space(const Type *type, const Type *space);

/* Whether to compute a value again or to read it. The unit of cost is one read or write of a tensor
 * of the space's size. To read a value that fills the space (fills_space) costs:
 *   STORED         1: it is in memory anyway
 *   NOT_STORED     2.5 (write, read, room): it would be stored for this use alone
 *   LIKELY_STORED  1: it will likely be stored for other uses
 * A smaller value costs 0 if it is STORED, else 0.1. At a tie a value that is not STORED is
 * computed again. A lookup costs what reading its source does. A value of
 * bf16 is always read; it costs 0.5, or 0 if it is smaller. */
typedef enum Presence { NOT_STORED, LIKELY_STORED, STORED } Presence;
typedef struct Recompute {
    const Module *module;
    const Type *space;
    Presence (*presence)(const Value *value, void *context);
    void *context;

    /* exp, dropout and other row ops that are not cheap may be computed again, too, where their
     * result fills the space; reductions and gathers never are */
    bool any_op;

    int visits; /* recompute_cost's own: values looked at since its caller's call */
} Recompute;
/* The cost of the cheaper choice; *again: whether that is to compute the value again. Callers pass
 * depth 0. After MOST_VISITS values (cost.c) the others are read, not computed again. */
double recompute_cost(Recompute *r, const Value *value, int depth, bool *again);

/* Reach: which positions of a function run together. A region's ops do, so an op before the last of
 * them may depend on an op behind it. reach_of(p) is the last position that the ops at positions up
 * to p may depend on: p, or more if one of these ops is in a region that also has ops behind p. It
 * never decreases with p. So a search from users to operands for the op at position q can stop at
 * ops whose reach is less than q. In the arena. */
typedef struct Reach {
    int *to; /* of each position: itself, or a later one of the same reach */
} Reach;
Reach reach_new(Arena *arena, int n);
int reach_of(const Reach *reach, int position);
/* The ops at positions `first` and `last` are in one region from now on. */
void reach_join(Reach *reach, int first, int last);

/* OpPlace: the position of an op in the function as it came; of what is built of a group, that of
 * the group's last. */
typedef struct OpPlace {
    int position, visited; /* visited: by the question of that number */
} OpPlace;
/* Needs: which ops need which, in a function whose groups of ops become one.
 *   marks   op → a record that begins with its OpPlace */
typedef struct Needs {
    SideTable marks;
    Reach reach;
    int question;
} Needs;
/* Whether `op` is `source`, or an operand of `op` needs `source`. */
bool needs_op(Needs *needs, const Op *op, const Op *source);

/* The ops from which a region is built, operands before users. */
typedef struct Members {
    VEC(Op *) ops;
} Members;

/* Makes a region of copies of the members, and places it before `position`. Its results are those
 * of the copies of `outputs`, which are values of members. The members stay as they are, and so do
 * the uses of their values. `copies`, a table of values, is empty before and after the call: a pass
 * has one for all its regions. */
Op *build_region(Function *function, OpKind kind, const Members *members, int n_outputs,
                 Value *const *outputs, Op *position, SideTable *copies);

/* The members' ops by name, for reports: "mul+select+exp". Generators, broadcasts and repetitions
 * are left out, and so is what follows the first 100 bytes. */
const char *describe_members(const Members *members, Arena *arena);

#endif
