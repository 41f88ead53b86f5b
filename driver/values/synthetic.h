/* Made-up inputs for a model: for the measurements of tfc bench and the derivatives of tfc
 * check. */
#ifndef DRIVER_VALUES_SYNTHETIC_H
#define DRIVER_VALUES_SYNTHETIC_H

#include "driver/ports/ports.h"
#include "driver/values/tensors.h"

/* BatchLengths: a batch of given lengths. */
typedef struct BatchLengths {
    int64_t n;                /* sentences, at least 1 */
    int32_t *source, *target; /* at least 1 each; in the job's arena */
} BatchLengths;

typedef struct SyntheticOptions {
    int64_t batch;         /* size of every named dimension that is not ragged */
    int64_t source_length; /* tokens, along the source's ragged dimension */
    int64_t target_length; /* tokens, along all other ragged dimensions */

    /* true: one length is as above, the others are drawn from 1 to that; false: all are as above */
    bool ragged;
    /* lengths of each sentence, in place of drawn ones; `batch` is then their n, and the two
     * lengths above are at least the longest; NULL: none */
    const BatchLengths *lengths;
    uint64_t seed;
} SyntheticOptions;

/* Reads the file of tfc bench --lengths: a line a batch, with SOURCE:TARGET for each sentence
 * ("12:14 9:10"). Returns the number of batches, which are at *batches, in the job's arena; 0 after
 * an error. */
int64_t lengths_read(Job *job, const char *path, BatchLengths **batches);

/* Adds a tensor to binding->made for each input of the model, and NAME.lengths for a ragged one:
 * ids that the model's tables have, floats in [-1, 1). Binds the dimensions. */
void synthetic_inputs(Binding *binding, const Module *module, const SyntheticOptions *options);

/* Floating-point operations of the products of a function before it is lowered, for the
 * bound dimensions; a multiplication with its addition counts as two. A ragged dimension
 * counts with its mean length. */
double synthetic_flops(Binding *binding, const Function *function);

#endif
