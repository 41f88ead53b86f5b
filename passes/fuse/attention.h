/* Inside fuse_attention: sets of scores. swap_sums (sums.c) uses is_scores_product.
 *
 *   attention.c        levels, regions
 *   attention_match.c  which values are scores, and whether all ops that read them fit
 *   attention_circle.c regions that would need one another
 *   attention_unify.c  products with their axes in one order
 *   attention_window.c which keys a query sees */
#ifndef PASSES_FUSE_ATTENTION_H
#define PASSES_FUSE_ATTENTION_H

#include "passes/fuse/fuse.h"
#include "passes/fuse/paths.h"

#define WINDOW_OPEN (INT64_C(1) << 40)

typedef enum ScoresPart {
    PART_NONE,
    PART_SCORES,  /* of the scores' shape: product, elementwise op, broadcast */
    PART_ROW,     /* one value a query: a reduction along the keys, or an elementwise op on such */
    PART_PRODUCT, /* a product that contracts scores with another operand */
} ScoresPart;

struct ScoresRegion;

/* A set of scores, which are values of one shape, and of ops computed with them: all of them are
 * fused, or none. */
typedef struct FusedScores {
    Type type, row; /* of the scores; the same with one key */
    VEC(Op *) ops;
    int n_levels;
    VEC(struct ScoresRegion *) regions;
    const Op *where; /* the op because of which the set is not fused, or NULL */
} FusedScores;

/* What is known of an op. Ops that the pass makes have no ScoresNode. */
typedef struct ScoresNode {
    const Op *op;
    int position;        /* in the function */
    FusedScores *scores; /* the set it belongs to */
    ScoresPart part;
    int level;                                /* see attention.c */
    const struct ScoresRegion *taken, *giver; /* the last region that took the op; the one that
                                               * gives its result to others, or NULL */
    bool needed;                              /* a row value that a later region reads */
    Op *unified; /* of a product of scores: unify_products's; else NULL */
} ScoresNode;

typedef struct Replaced {
    Value *from, *to;
} Replaced;

typedef struct Fuser {
    Function *function;
    PassContext *context;
    Arena *arena;
    SideTable nodes;  /* op → its ScoresNode */
    SideTable copies; /* for build_region */
    Paths paths;
    VEC(const Op *) appends; /* the function's ops `append` */
    VEC(Replaced) replaced;  /* values whose readers get others when the pass ends */
} Fuser;

static inline ScoresNode *node_of(const Fuser *f, const Op *op)
{
    return side_of_op(&f->nodes, op);
}

/* Whether the op is a product that may give scores [batch…, queries…, keys] of f32 or f64: it has a
 * batch, and contracts one dimension of constant size. The keys are a named dimension and the last
 * storage axis of the result; the dimension before the keys is not 1. */
bool is_scores_product(const Module *module, const Op *op);
/* Gathers in *s the set around a product that may give scores. MISS_NONE, or why the set cannot be
 * fused: then no op but the product belongs to it. */
Miss gather_scores(Fuser *f, FusedScores *s, Op *product);
/* The keys that a query sees: those at positions from query + from to query + to; none if from >
 * to. An end that is WINDOW_OPEN away is no limit. from_end: the query's position is counted so
 * that the last query stands at the last key. gaps: the masks' formula excludes keys between these
 * ends, too. stride: the distance between keys that are computed one by one (cover_stride);
 * 0: none are. */
typedef struct Window {
    int64_t from, to;
    bool from_end, gaps;
    int64_t stride;
} Window;
/* A window with all keys that a region's n members need: the reductions, and the products that
 * contract scores. */
Window window_of(const Fuser *f, const FusedScores *s, size_t n, Op *const *members);

/* What one level of a set becomes.
 *   members    its ops, in order; other regions may compute some of them again
 *   outputs    what it gives
 *   products   scores are computed here */
typedef struct ScoresRegion {
    Fuser *f;
    FusedScores *scores;
    int level;
    VEC(Op *) members;
    VEC(Value *) outputs;
    bool products;
    Window window;
} ScoresRegion;

/* Whether an op of the function, or a region of those that give results (ScoresNode.giver), would
 * need its own result. */
bool regions_have_circle(const Fuser *f);

/* The operand, 0 or 1, of a product that contracts scores of the set: the scores. */
static inline int scores_side(const Op *product, const FusedScores *s)
{
    return type_same_shape(&product->args[0]->type, &s->type) ? 0 : 1;
}

/* Brings the set's products into one order of axes (attention_unify.c). Products that give scores
 * are changed in place. Each product that contracts scores gets a new product beside it
 * (ScoresNode.unified), and f->replaced an entry: its readers get the new result, with its axes as
 * before, when the pass ends. */
void unify_products(Fuser *f, FusedScores *s);

#endif
