/* Inside a GradientSum: shared by what adds (gradient_sum.c), what goes between ranks (gradient_exchange.c)
 * and what is special about sparse gradients (gradient_rows.c). */
#ifndef RUNTIME_TRAIN_PARALLEL_GRADIENT_STATE_H
#define RUNTIME_TRAIN_PARALLEL_GRADIENT_STATE_H

#include "runtime/train/parallel/gradient_sum.h"

/* Gradient: a tensor in the store and its place in the room of a level.
 *   part    the number of what it belongs to in the parts
 *   size    bytes of an element
 *   at      bytes
 *   block   the number of its first block
 *   sparse  mostly zeros: of a sum put aside, or on its way between ranks, there are only its groups that are
 *           not zero, which are marked */
typedef struct Gradient {
    StoreTensor *tensor;
    int32_t part;
    bool sparse;
    int64_t size, at, block;
} Gradient;

/* Group: so many elements of a sparse gradient, the last one perhaps fewer; a mark is a bit, 1 where
 * not all bits of the elements are 0. */
enum { GROUP = 64, BLOCK_GROUPS = PART_BLOCK / GROUP, BLOCK_WORDS = BLOCK_GROUPS / 64 };

/* Room: of the levels' dense or sparse gradients. Dense ones are in huge pages; of sparse ones most pages are
 * never touched. */
typedef struct Room {
    char *memory;
    int64_t bytes; /* of a level */
} Room;

struct GradientSum {
    Arena *arena;
    const Parts *parts;
    const Ranks *ranks;
    Gradient *gradients; /* as parts->tensors, then those of their rows */
    int32_t n;
    Room dense, sparse; /* one level after the other */
    int levels;
    uint64_t *marks; /* of the store, then of each level: BLOCK_WORDS a block */
    float *rest;               /* of each dense element, as in a level: what rounding took; NULL: none is rounded */
    uint16_t *sent, *received; /* rounded ones, at the element's place in a level */
    double *squares;           /* a block: the sum of squares */
    int64_t n_blocks;
    Gradients all;
};

/* Marks: what a pass has to do with those of sparse gradients. Of others all elements are gone through. */
typedef enum Marks {
    MARKS_IGNORED, /* it goes through all elements */
    MARKS_USED,    /* through marked groups of its level */
    MARKS_MADE     /* the same, once its level has the marks of what is in the store */
} Marks;

/* Pass: what is done to a slice of a gradient, a block a task. */
typedef struct Pass {
    GradientSum *sum;
    Slice slice; /* its tensor is the gradient's number */
    int level;   /* -1: the store itself */
    Marks marks;
    void (*run)(const struct Pass *pass, int64_t from, int64_t n); /* NULL: nothing */
} Pass;

/* A block of the pass's slice, as a task. */
void gradient_run_block(const void *pass, int64_t index);
/* What a call is about of a gradient's parts next … last, as far as it is contiguous; *next is the part
 * behind it then. */
Slice gradient_next_slice(const GradientSum *sum, Gradients of, int32_t gradient, int *next, int last);
/* A pass over what parts first … last have of all these gradients. */
void gradient_run_parts(GradientSum *sum, Gradients of, int first, int last, Pass pass);
/* The store's is 0. */
void gradient_clear_block(const Pass *pass, int64_t from, int64_t n);
/* A level's is added to the store's. */
void gradient_join_block(const Pass *pass, int64_t from, int64_t n);

/* Sparse gradients (gradient_rows.c). The level's marks of a block follow from the store; and the pass's run
 * over each group of a block that is marked. */
void gradient_mark_block(const Pass *pass, int64_t from, int64_t n);
void gradient_each_marked(const Pass *pass, int64_t from, int64_t n);
/* Slices of them between ranks. The marks of a level's elements from `from` on, and how many
 * words those of a slice are. */
uint64_t *gradient_marks(const GradientSum *sum, const Slice *slice, int64_t from, int level);
int64_t gradient_mark_words(const Slice *slice);
/* The elements of marked groups. */
int64_t gradient_marked(const GradientSum *sum, const Slice *slice, int level);
/* Marked groups are moved to the front of the slice, in order; and back to their places, where between them
 * the store's is 0, and a level's is nothing. */
void gradient_pack(const GradientSum *sum, const Slice *slice, int level);
void gradient_unpack(const GradientSum *sum, const Slice *slice, int level);

static inline char *store_at_element(const GradientSum *sum, const Slice *slice, int64_t from)
{
    const Gradient *g = &sum->gradients[slice->tensor];
    return (char *)g->tensor->data + from * g->size;
}

static inline char *room_at_element(const GradientSum *sum, const Slice *slice, int64_t from, int level)
{
    const Gradient *g = &sum->gradients[slice->tensor];
    const Room *room = g->sparse ? &sum->sparse : &sum->dense;
    return room->memory + level * room->bytes + g->at + from * g->size;
}

/* Of the store, where the level is -1. */
static inline char *place_of_element(const GradientSum *sum, const Slice *slice, int64_t from, int level)
{
    return level < 0 ? store_at_element(sum, slice, from) : room_at_element(sum, slice, from, level);
}

#endif
