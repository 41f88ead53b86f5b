/* Inside fuse_attention: sets of scores.
 *
 *   attention.c        levels, regions
 *   attention_match.c  which values are scores, and whether all ops that read them fit
 *   attention_unify.c  products in one form
 *   attention_window.c which keys a query sees */
#ifndef PASSES_FUSE_ATTENTION_H
#define PASSES_FUSE_ATTENTION_H

#include "passes/fuse/fuse.h"

#include "ir/side.h"

#define WINDOW_OPEN (INT64_C(1) << 40)

typedef enum ScoresPart {
    PART_NONE,
    PART_SCORES,  /* of the scores' shape: product, elementwise op, broadcast */
    PART_ROW,     /* one value a query: a reduction along the keys, or computed from some */
    PART_PRODUCT, /* contracts scores */
} ScoresPart;

struct Region;

/* Values of one shape that are fused together. */
typedef struct FusedScores {
    Type type, row; /* row: the same with one key */
    VEC(Op *) ops;
    int n_levels;
    VEC(struct Region *) regions;
    const Op *where; /* the op because of which the set is not fused, or NULL */
} FusedScores;

/* What is known of an op. Ops that the pass makes have none. */
typedef struct ScoresNode {
    int position;        /* in the function */
    FusedScores *scores; /* the set it belongs to */
    ScoresPart part;
    int level;
    const FusedScores *walked;  /* the set that `level` is about */
    const struct Region *taken; /* the region that was last asked to compute it */
    bool needed;                /* a row value that a later region reads */
    Op *unified;                /* the same product in the one form */
} ScoresNode;

typedef struct Replaced {
    Value *from, *to;
} Replaced;

typedef struct Fuser {
    Function *function;
    PassContext *context;
    Arena *arena;
    SideTable nodes;        /* op → its ScoresNode */
    VEC(Replaced) replaced; /* at the end */
} Fuser;

static inline ScoresNode *node_of(const Fuser *f, const Op *op)
{
    return side_of_op(&f->nodes, op);
}

/* A product that may give scores: [batch, queries, d] with [batch, keys, d], d constant,
 * the keys a named dimension and the last storage axis of the result. */
bool is_scores_product(const Module *module, const Op *op);
/* Gathers the set around such a product, or says why it cannot be fused (then no op
 * but the product belongs to it). */
Miss gather_scores(Fuser *f, FusedScores *s, Op *product);
/* The keys that a query sees: those at positions from query + from to query + to. An end that is
 * WINDOW_OPEN away is no limit. */
typedef struct Window {
    int64_t from, to;
} Window;
/* The keys that the sums, maxima and products among a region's n members need. */
Window window_of(const Fuser *f, const FusedScores *s, size_t n, Op *const *members);

/* Which operand of a product of the set are the scores. */
static inline int scores_side(const Op *product, const FusedScores *s)
{
    return type_same_shape(&product->args[0]->type, &s->type) ? 0 : 1;
}

/* Brings the set's products into the one form (attention.c); other ops read the results
 * in the axes that they had before. */
void unify_products(Fuser *f, FusedScores *s);

#endif
