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
    int64_t batch; /* rows; size of every named dimension that is not ragged */

    /* tokens of a row along the source's ragged dimension; without a source, along the first ragged
     * dimension that is not the target's */
    int64_t source_length;
    int64_t target_length; /* tokens of a row along all other ragged dimensions */

    /* true: one row has the length above, those of the others are drawn from 1 to that length;
     * false: all rows have it */
    bool ragged;
    /* lengths of each sentence, in place of the above; `batch` must then be their n, and
     * source_length and target_length at least their longest; NULL: none */
    const BatchLengths *lengths;
    bool shares; /* floats from 0 to 1, as probabilities are */
    uint64_t seed;
} SyntheticOptions;

/* Reads the file of tfc bench --lengths: each line is a batch, with SOURCE:TARGET for each sentence
 * ("12:14 9:10"). Returns the number of batches, which are at *batches, in the job's arena; 0 after
 * an error. */
int64_t lengths_read(Job *job, const char *path, BatchLengths **batches);

/* Adds a tensor to binding->made for each input of the model, and NAME.lengths for a ragged one.
 * The values are drawn by the seed: ids of their ranges (ports_ids; without one below the number of
 * classes that they are compared with, of the vocabulary, or 4), bools, floats in [-1, 1) or, as
 * shares, [0, 1). Binds the dimensions. */
void synthetic_inputs(Binding *binding, const Module *module, const SyntheticOptions *options);

/* Floating-point operations of the products of a function before it is lowered, for the bound
 * dimensions; a multiply-add counts as two. A ragged dimension counts as the sum of the rows'
 * lengths where it is packed with its batch, elsewhere as their mean. */
double synthetic_flops(Binding *binding, const Function *function);

#endif
