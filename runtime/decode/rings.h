/* Rings: caches that keep the last n rows of each slot, [B, n, …], whatever was fed before. A step
 * reads and replaces those of its rows: they are copied to a block in the order of the rows, and
 * back. */
#ifndef RUNTIME_DECODE_RINGS_H
#define RUNTIME_DECODE_RINGS_H

#include "runtime/exec/exec.h"

typedef struct Ring {
    const char *name;
    size_t bytes; /* of a slot */
    char *slots;  /* [slots, bytes] */
    char *rows;   /* the same of the step's rows */
} Ring;

typedef struct Rings {
    Exec *step;
    Ring *list;
    int n;
    bool *fed; /* by slot: whether it has rows; else they count as zeros */
    int32_t n_slots;
} Rings;

/* Whether the cache is a ring; others have a place for each position. */
bool is_ring(const TfcTensor *cache);
/* Finds the rings of a step's program. False: memory ran out; then only rings_free may follow. */
bool rings_open(Rings *r, Exec *step, const TfcProgram *program);
/* Room for so many slots, which are empty. False: memory ran out. */
bool rings_begin(Rings *r, int32_t n_slots);
/* Before and after a step: row i is of slot[i]. */
void rings_load(Rings *r, int32_t n, const int32_t *slot);
void rings_store(Rings *r, int32_t n, const int32_t *slot);
void rings_copy(Rings *r, int32_t from, int32_t to);
void rings_free(Rings *r);

#endif
