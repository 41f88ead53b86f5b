/* Paths: whether an op needs another one, by way of any others, in a function that does not change
 * meanwhile. An answer looks at few ops where the two are connected, as most ops of a model are by
 * the sums that go through all its layers, and where little lies between them. */
#ifndef PASSES_FUSE_PATHS_H
#define PASSES_FUSE_PATHS_H

#include "ir/side.h"

struct PathNode;

typedef struct Paths {
    Arena *arena;
    SideTable nodes; /* op → its PathNode */
    VEC(struct PathNode *) up, down;
    int question;
} Paths;

/* Of the ops of the body as it is now; in the arena. */
Paths paths_new(const Function *function, Arena *arena);
/* Whether `op` is `source`, or an operand of `op` needs `source`. */
bool paths_needs(Paths *paths, const Op *op, const Op *source);

#endif
