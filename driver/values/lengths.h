/* Batches of given lengths, for tfc bench --lengths: a line a batch, on it SOURCE:TARGET
 * for each sentence ("12:14 9:10"). */
#ifndef DRIVER_VALUES_LENGTHS_H
#define DRIVER_VALUES_LENGTHS_H

#include "driver/session/job.h"

typedef struct BatchLengths {
    int64_t n; /* sentences, at least 1 */
    int32_t *source, *target; /* at least 1 each; in the job's arena */
} BatchLengths;

/* How many batches there are, and *batches in the job's arena; 0 after an error. */
int64_t lengths_read(Job *job, const char *path, BatchLengths **batches);

#endif
