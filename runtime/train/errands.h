/* Errands: a thread that does numbered jobs in order, each once its owner allows it, while the
 * owner does other work.
 *
 *   errands_begin(errands, work, context);     // jobs 0, 1, …
 *   errands_allow(errands, 3);                 // jobs 0 … 2 may be begun
 *   errands_wait(errands, 2);                  // jobs 0 and 1 are done
 *
 * All calls are the owner's, from one thread. */
#ifndef RUNTIME_TRAIN_ERRANDS_H
#define RUNTIME_TRAIN_ERRANDS_H

#include <stdint.h>

typedef struct Errands Errands;
typedef void (*Errand)(void *context, int32_t job);

Errands *errands_new(void);          /* NULL: out of memory, or no thread can be started */
void errands_free(Errands *errands); /* waits for the allowed jobs; not NULL */
/* Begins a new sequence of jobs, from 0. All jobs allowed before must be done. */
void errands_begin(Errands *errands, Errand work, void *context);
/* Allows the first n jobs; n never falls. */
void errands_allow(Errands *errands, int32_t n);
/* Waits until the first n jobs are done, which must be allowed. Returns the seconds that it
 * waited. */
double errands_wait(Errands *errands, int32_t n);

#endif
