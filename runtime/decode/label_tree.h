/* LabelTree: a tree of label sequences. A node is the sequence of labels from the root to it; the
 * root is the empty sequence. A sequence has one node at most, so nodes are equal if and only if
 * their sequences are.
 *
 * The tree lives in an arena that may fail: then label_tree_start is false, and label_tree_add
 * gives LABEL_TREE_NONE. */
#ifndef RUNTIME_DECODE_LABEL_TREE_H
#define RUNTIME_DECODE_LABEL_TREE_H

#include "base/vec.h"

#include <stdint.h>

enum { LABEL_TREE_ROOT = 0, LABEL_TREE_NONE = -1 };

/* LabelNode
 *   parent    LABEL_TREE_NONE for the root, whose label is LABEL_TREE_NONE, too
 *   length    labels of its sequence
 *   child     the child added last; `sibling`: the child of the same parent added before this one
 *   mark      the caller's; -1 at first */
typedef struct LabelNode {
    int32_t parent, label, length, child, sibling, mark;
} LabelNode;

typedef struct LabelTree {
    Arena *arena;
    VEC(LabelNode) nodes;
    int32_t *slots; /* private: nodes by parent and label, open addressing; 0: free */
    size_t n_slots; /* a power of two */
} LabelTree;

bool label_tree_start(LabelTree *tree, Arena *arena);
/* The child of a node by a label; LABEL_TREE_NONE: there is none. */
int32_t label_tree_find(const LabelTree *tree, int32_t parent, int32_t label);
/* The same, which is added if there is none. Nodes may move in memory, and keep their numbers. */
int32_t label_tree_add(LabelTree *tree, int32_t parent, int32_t label);

/* LabelSequence: the sequence of a node, with one label more unless `label` is below 0. */
typedef struct LabelSequence {
    int32_t node, label;
} LabelSequence;

/* Below, equal to or above 0 as a comes before b, equals it or comes after it: by the first label
 * that differs; the beginning of a sequence comes before it. */
int label_tree_compare(const LabelTree *tree, LabelSequence a, LabelSequence b);

#endif
