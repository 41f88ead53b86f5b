/* Growing a graph: the values so far with the range of each, so that what is added keeps to
 * the domain of its op and numbers stay moderate. */
#ifndef TESTS_GRAPHS_GROW_H
#define TESTS_GRAPHS_GROW_H

#include "ir/builder.h"
#include "tests/graphs/graphs.h"

/* A value and the numbers it can hold; lo = -inf: it may hold -inf (a masked score, the
 * greatest of nothing), which few ops may see. */
typedef struct Item {
    Value *value;
    double lo, hi;
} Item;

/* The dimensions of every graph: S~, T~ over B; P~, Q~ over R, Q no longer than P; U~ over C;
 * N uniform. */
enum { SYM_B, SYM_S, SYM_T, SYM_N, SYM_R, SYM_P, SYM_Q, SYM_C, SYM_U, SYM_M, SYM_H, GRAPH_SYMBOLS };

typedef struct Grow {
    Rng rng;
    Arena *arena;
    Module *module;
    Builder b;
    DType real;  /* of floats: f64 */
    bool smooth; /* there will be a gradient: no -inf but before a softmax */
    bool mixed;  /* other element types may be mixed in */
    bool rounds; /* a table is rounded to integers: params stay as they are */
    const Batch *batches;
    int n_batches;
    int64_t most; /* elements of a value, one after the other as if nothing were ragged */
    int sizes[4]; /* the constants of this graph */
    int n_leaves, n_params, n_sites, n_scopes;
    VEC(Item) items;
} Grow;

/* ---- sizes ---- */
/* The longest that the dimension is in any batch. */
int64_t dim_extent(const Grow *g, Dim dim);
int64_t type_elements(const Grow *g, const Type *type);
bool type_fits(const Grow *g, const Type *type);
/* Whether some row of some batch has no position of it. */
bool may_be_empty(const Grow *g, Dim dim);
int some_size(Grow *g); /* one of the graph's constants */
Dim some_dim(Grow *g);
/* At random, mostly like those of models; within `most`. */
Type some_type(Grow *g, DType dtype);

/* ---- items ---- */
/* Adds a value; NULL stays NULL (it did not fit), and so does what holds too many elements:
 * then the op is left, and removed as dead at the end. */
Item *add_item(Grow *g, Value *value, double lo, double hi);
Item *item_of(Grow *g, const Value *value);
/* One of those before, rather late ones; NULL if there is none. */
Item *pick(Grow *g, bool (*fits)(const Item *item));
bool is_float(const Item *item);  /* of the real type, and finite */
bool is_number(const Item *item); /* float or i32, finite */
bool is_int(const Item *item);
bool is_truth(const Item *item);
bool is_any(const Item *item);
static inline bool is_finite(const Item *item) { return item->lo > -1e30 && item->hi < 1e30; }
double reach(const Item *item); /* the greatest magnitude */
/* A new leaf: an input, a param where all dims are constant, a constant. */
Item *leaf(Grow *g, Type type);
Item *float_leaf(Grow *g, int rank, const Dim *dims);
/* A weight: a param that is trained. */
Item *weight(Grow *g, int rank, const Dim *dims);
Item *constant(Grow *g, DType dtype, double value);
/* One before with just this type, or a new leaf. */
Item *found_or_leaf(Grow *g, Type type);

/* ---- ops with their ranges ---- */
Item *unary(Grow *g, OpKind kind, Item *x);
Item *binary(Grow *g, OpKind kind, Item *x, Item *y); /* as they are: the caller sees to domains */
Item *scaled(Grow *g, Item *x, double factor);
Item *shifted(Grow *g, Item *x, double term);
Item *chosen(Grow *g, Item *c, Item *x, Item *y);
Item *cast_to(Grow *g, Item *x, DType dtype);
/* x within [-limit, limit], by one of several ways. */
Item *tamed(Grow *g, Item *x, double limit);
Item *finite(Grow *g, Item *x);
Item *positive(Grow *g, Item *x, double least);
Item *reduced(Grow *g, OpKind kind, Item *x, int n, const int *axes);
Item *reshaped(Grow *g, Item *x, int rank, const Dim *dims);
Item *transposed(Grow *g, Item *x, const int *perm);
Item *stretched(Grow *g, Item *x, int rank, const Dim *dims);
/* A product, scaled so that it does not grow. */
Item *product(Grow *g, Item *x, Item *y, int n_batch, const int *batch_x, const int *batch_y,
              int n_contract, const int *contract_x, const int *contract_y);
Item *multiplied(Grow *g, Item *x, Item *w); /* last axis of x with the first of w */
/* Positions along the axis of a tensor of that rank, ones elsewhere: i32. */
Item *positions(Grow *g, Dim dim, int axis, int rank);
/* x with size-1 dims where the type's others are, broadcastable to it. */
Type thinned(Grow *g, Type type);

/* ---- one random op ---- (each NULL if nothing came of it) */
Item *grow_unary(Grow *g);
Item *grow_binary(Grow *g);
Item *grow_logic(Grow *g);
Item *grow_select(Grow *g);
Item *grow_cast(Grow *g);
Item *grow_reduce(Grow *g);
Item *grow_norm(Grow *g);
Item *grow_reshape(Grow *g);
Item *grow_transpose(Grow *g);
Item *grow_stretch(Grow *g);
Item *grow_window(Grow *g); /* slice, pad, flip, concat */
Item *grow_product(Grow *g);
Item *grow_gather(Grow *g);
Item *grow_scatter(Grow *g);
Item *grow_grouped(Grow *g); /* and its adjoint */
Item *grow_lookup(Grow *g);  /* and its adjoint */
Item *grow_top_k(Grow *g);   /* or the elements that stand there */
Item *grow_source(Grow *g);  /* iota, size, lengths, random, const, input */

/* ---- parts of models ---- */
Item *block_attention(Grow *g);
Item *block_norm(Grow *g);
Item *block_feed_forward(Grow *g);
Item *block_embedding(Grow *g);
Item *block_convolution(Grow *g); /* of a ragged axis, several channels apart or together */
Item *block_integers(Grow *g);    /* rows of a table of integers, and a product */
Item *block_projections(Grow *g); /* several products of one operand, and their sum */
Item *block_sentences(Grow *g);   /* a product of tensors over the same sentences */
Item *block_two_batches(Grow *g); /* tokens of two batches in one tensor */
Item *block_cross_entropy(Grow *g, bool wide);
Item *block_ctc(Grow *g);
Item *block_cache(Grow *g);
Item *block_decoder(Grow *g); /* from tokens to logits; outputs them */
void block_state(Grow *g);    /* assigns something to a state */
/* Scores [B, S~, T~] and the like through masks and softmax. */
Item *masked_weights(Grow *g, Item *scores);

const char *next_scope(Grow *g, const char *leaf);

#endif
