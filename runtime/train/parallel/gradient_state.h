/* Inside a GradientSum: what its files share. gradient_sum.c adds, gradient_exchange.c sends
 * between ranks, gradient_rows.c marks and packs sparse gradients. */
#ifndef RUNTIME_TRAIN_PARALLEL_GRADIENT_STATE_H
#define RUNTIME_TRAIN_PARALLEL_GRADIENT_STATE_H

#include "runtime/train/parallel/gradient_sum.h"

/* Gradient: a tensor in the store and its place in the room of a level.
 *   part    its tensor's number in the parts
 *   size    bytes of an element
 *   at      its offset in the room of a level, in bytes
 *   block   the number of its first block
 *   sparse  most of its elements are 0: a level and a message between ranks have only the groups
 *           with an element that is not 0, which are marked */
typedef struct Gradient {
    StoreTensor *tensor;
    int32_t part;
    bool sparse;
    int64_t size, at, block;
} Gradient;

/* SPARSE_GROUP: elements in a group of a sparse gradient; the last group may have fewer. Each group
 * has a mark, a bit that is 1 unless all bits of its elements are 0. */
enum {
    SPARSE_GROUP = 64,
    BLOCK_GROUPS = PART_BLOCK / SPARSE_GROUP,
    BLOCK_WORDS = BLOCK_GROUPS / 64
};

/* Room: memory for the dense, or the sparse, gradients of all levels. Dense gradients are in huge
 * pages; most pages of sparse ones are never written. */
typedef struct Room {
    char *memory;
    int64_t bytes; /* of a level */
} Room;

struct GradientSum {
    Arena *arena;
    const Parts *parts;
    const Ranks *ranks;
    Gradient *gradients; /* in the order of parts->tensors, then their tensors of rows */
    int32_t n;
    Room dense, sparse; /* one level after the other */
    int levels;
    uint64_t *marks; /* the store's, then each level's: BLOCK_WORDS a block */

    /* the rounding error of each dense element, laid out as a level; NULL: nothing is rounded */
    float *rest;
    uint16_t *sent, *received; /* rounded elements, laid out as a level */
    double *squares;           /* the sum of squares of each block */
    int64_t n_blocks;
    Gradients all;
};

/* Marks: which elements of a sparse gradient a pass visits. Of a dense one it visits all. */
typedef enum Marks {
    MARKS_IGNORED, /* all elements */
    MARKS_USED,    /* the groups that its level has marked */
    MARKS_MADE     /* the same, after its level's marks were set from the store */
} Marks;

/* Pass: an operation on a slice of a gradient; each block is a task. */
typedef struct Pass {
    GradientSum *sum;
    Slice slice; /* its tensor is the gradient's number */
    int level;   /* -1: the store itself */
    Marks marks;
    void (*run)(const struct Pass *pass, int64_t from, int64_t n); /* NULL: nothing */
} Pass;

/* Runs the pass on block `index` of its slice, as a task. */
void gradient_run_block(const void *pass, int64_t index);
/* The next contiguous slice of a gradient, or of its piece that `of` names, among parts *next …
 * last. Sets *next to the part after the slice. */
Slice gradient_next_slice(const GradientSum *sum, Gradients of, int32_t gradient, int *next,
                          int last);
/* Runs a pass over the parts first … last of all these gradients. */
void gradient_run_parts(GradientSum *sum, Gradients of, int first, int last, Pass pass);
/* For Pass.run: gradient_clear_block sets the store's elements to 0, gradient_join_block adds a
 * level's elements to the store's. */
void gradient_clear_block(const Pass *pass, int64_t from, int64_t n);
void gradient_join_block(const Pass *pass, int64_t from, int64_t n);

/* Sparse gradients (gradient_rows.c). gradient_mark_block sets the level's marks of a block from
 * the store's elements. gradient_each_marked calls the pass's run for each marked group of a
 * block. */
void gradient_mark_block(const Pass *pass, int64_t from, int64_t n);
void gradient_each_marked(const Pass *pass, int64_t from, int64_t n);
/* The marks of a level, from those of element `from`'s block on. */
uint64_t *gradient_marks(const GradientSum *sum, const Slice *slice, int64_t from, int level);
/* How many words of 64 bits the marks of a slice take. */
int64_t gradient_mark_words(const Slice *slice);
/* How many elements the marked groups of a slice have. */
int64_t gradient_marked(const GradientSum *sum, const Slice *slice, int level);
/* Moves the marked groups to the front of the slice, in order. */
void gradient_pack(const GradientSum *sum, const Slice *slice, int level);
/* Moves them back to their places. Groups without a mark are 0 in the store, and undefined in a
 * level. */
void gradient_unpack(const GradientSum *sum, const Slice *slice, int level);

static inline char *store_at_element(const GradientSum *sum, const Slice *slice, int64_t from)
{
    const Gradient *g = &sum->gradients[slice->tensor];
    return (char *)g->tensor->data + from * g->size;
}

static inline char *room_at_element(const GradientSum *sum, const Slice *slice, int64_t from,
                                    int level)
{
    const Gradient *g = &sum->gradients[slice->tensor];
    const Room *room = g->sparse ? &sum->sparse : &sum->dense;
    return room->memory + level * room->bytes + g->at + from * g->size;
}

/* The element's place in the level's room, or in the store where the level is -1. */
static inline char *place_of_element(const GradientSum *sum, const Slice *slice, int64_t from,
                                     int level)
{
    return level < 0 ? store_at_element(sum, slice, from)
                     : room_at_element(sum, slice, from, level);
}

#endif
