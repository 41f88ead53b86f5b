/* Errands: a thread that does numbered jobs in order, each when it may be begun, while its owner does
 * other things.
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

Errands *errands_new(void); /* NULL: there is no memory, or no thread */
void errands_free(Errands *errands); /* once the allowed jobs are done */
/* Jobs from 0 again. Once all that were allowed are done. */
void errands_begin(Errands *errands, Errand work, void *context);
/* The first so many jobs; never fewer than before. */
void errands_allow(Errands *errands, int32_t n);
/* Gives the seconds that it waited. */
double errands_wait(Errands *errands, int32_t n);

#endif
