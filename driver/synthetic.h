/* Made-up inputs for a model: what bench measures on and check differentiates at. */
#ifndef DRIVER_SYNTHETIC_H
#define DRIVER_SYNTHETIC_H

#include "driver/lengths.h"
#include "driver/ports.h"
#include "driver/tensors.h"

typedef struct SyntheticOptions {
    int64_t batch;                        /* of every uniform dimension */
    int64_t source_length, target_length; /* of the source's ragged dimension, and of all others */
    bool ragged;                          /* lengths from 1 to these; else all equal to them */
    const BatchLengths *lengths;          /* or NULL: of each sentence, none longer than these */
    uint64_t seed;
} SyntheticOptions;

/* Adds a tensor (and NAME.lengths) to binding->made for each input of the model:
 * tokens below the vocabulary, other numbers in [-1, 1); binds the dimensions. */
void synthetic_inputs(Binding *binding, const Module *module, const SyntheticOptions *options);

/* Floating-point operations of the products of a function not yet lowered, two a
 * multiplication and addition, for the dimensions bound; ragged ones count with
 * their mean length. */
double synthetic_flops(Binding *binding, const Function *function);

#endif
