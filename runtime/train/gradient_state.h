/* Inside a GradientSum: shared by what adds (gradient_sum.c) and what goes between ranks
 * (gradient_exchange.c). */
#ifndef RUNTIME_TRAIN_GRADIENT_STATE_H
#define RUNTIME_TRAIN_GRADIENT_STATE_H

#include "runtime/train/gradient_sum.h"

/* Gradient: a tensor of the parts, in the store, and its place in the room of a level. */
typedef struct Gradient {
    StoreTensor *tensor;
    int64_t size;  /* bytes of an element */
    int64_t at;    /* bytes */
    int64_t block; /* the number of its first block */
} Gradient;

struct GradientSum {
    Arena *arena;
    const Parts *parts;
    const Ranks *ranks;
    Gradient *gradients; /* as parts->tensors */
    char *room;
    int64_t bytes; /* of a level */
    int levels;
    float *rest;               /* of each element, as in a level: what rounding took; NULL: none is rounded */
    uint16_t *sent, *received; /* rounded ones, at the element's place in a level */
    double *squares;           /* a block: the sum of squares */
    int64_t n_blocks;
    Gradients all;
};

/* Pass: what is done to a slice of a gradient, a block a task. */
typedef struct Pass {
    GradientSum *sum;
    Slice slice;
    int level;
    void (*run)(const struct Pass *pass, int64_t from, int64_t n);
} Pass;

/* A block of the pass's slice, as a task. */
void gradient_run_block(const void *pass, int64_t index);
/* What a call is about of a tensor's parts next … last, as far as it is contiguous; *next is the part
 * behind it then. */
Slice gradient_next_slice(const Parts *parts, Gradients of, int32_t tensor, int *next, int last);
/* A pass over what parts first … last have of all these gradients. */
void gradient_run_parts(GradientSum *sum, Gradients of, int first, int last, Pass pass);
/* The store's is 0. */
void gradient_clear_block(const Pass *pass, int64_t from, int64_t n);
/* A level's is added to the store's. */
void gradient_join_block(const Pass *pass, int64_t from, int64_t n);

static inline char *store_at_element(const GradientSum *sum, const Slice *slice, int64_t from)
{
    const Gradient *g = &sum->gradients[slice->tensor];
    return (char *)g->tensor->data + from * g->size;
}

static inline char *room_at_element(const GradientSum *sum, const Slice *slice, int64_t from, int level)
{
    const Gradient *g = &sum->gradients[slice->tensor];
    return sum->room + level * sum->bytes + g->at + from * g->size;
}

#endif
