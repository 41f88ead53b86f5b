/* The caches of a stepper: for each slot, rows of all tokens fed to it, behind the rows of what
 * stands before the text, if the model's dimensions have such (passes/incremental).
 *
 *   slot 0               slot 1
 *   before  tokens  gap  before  tokens  gap  … */
#ifndef RUNTIME_DECODE_CACHES_H
#define RUNTIME_DECODE_CACHES_H

#include "runtime/exec/exec.h"

/* SlotCache: a cache of decode_step, "cache.N". */
typedef struct SlotCache {
    const char *name;
    int past; /* in SlotCaches.pasts: its positions */
    char *data;
    size_t row_bytes; /* of one position */
    char *grown;      /* while it grows: what it will be */
} SlotCache;

/* SlotPast: a dimension of caches: all positions so far. */
typedef struct SlotPast {
    int step;         /* its number in decode_step */
    bool begins;      /* with what encode gives by the cache's name: [B, before, …] */
    int encode;       /* the number of `before` in encode; -1: it has n_before positions */
    int32_t n_before; /* of the longest sentence */
    int32_t room;     /* for them in each slot */

    int32_t *rows_length, *rows_offset; /* of a step's rows */
} SlotPast;

typedef struct SlotCaches {
    Exec *step, *encode; /* encode NULL: there is none */
    SlotCache *caches;
    SlotPast *pasts;
    int n_caches, n_pasts;
    int32_t n_slots, capacity;  /* tokens that a slot has room for */
    int32_t *length, *sentence; /* by slot: tokens fed; whose beginning it has, -1: nobody's */
    bool one_beginning;         /* all sentences begin alike: encode has one row */
} SlotCaches;

/* Of the programs of these executors, which must outlive it. `past`: the dimension of all tokens
 * so far, which no cache need have; -1: there is none. False: memory ran out; to be freed. */
bool caches_open(SlotCaches *c, Exec *step, Exec *encode, int past);
void caches_free(SlotCaches *c);
/* Empties all slots, as many as are asked for or more, of at least that capacity. They begin with
 * what encode has given, if it has run. False: memory ran out. */
bool caches_begin(SlotCaches *c, bool encoded, int32_t n_slots, int32_t capacity);
/* Whether caches can hold so much at all: tokens are counted in 31 bits. Asked before
 * anything is written to memory of n_slots slots. */
bool caches_fit(int32_t n_slots, int32_t capacity);
/* Room for n_slots of `capacity` tokens; what is in them is kept. False: memory ran out. */
bool caches_reserve(SlotCaches *c, int32_t n_slots, int32_t capacity);
/* Room for a step's rows. */
bool caches_reserve_rows(SlotCaches *c, int32_t n);
/* Row r of the next run appends counts[r] tokens to slot[r], a text of sentence[r]. */
void caches_feed(SlotCaches *c, int32_t n, const int32_t *sentence, const int32_t *slot,
                 const int32_t *counts);
/* They were not appended. */
void caches_take_back(SlotCaches *c, int32_t n, const int32_t *slot, const int32_t *counts);
void caches_copy(SlotCaches *c, int32_t from, int32_t to);

#endif
