/* Packing: converts a tensor from a padded logical array [B, Smax, …] to a program's packed storage
 * (ir/layout.h), and back. */
#ifndef DRIVER_VALUES_PACKING_H
#define DRIVER_VALUES_PACKING_H

#include "driver/session/job.h"
#include "ir/graph.h"
#include "runtime/data/safetensors.h"
#include "runtime/exec/program.h"

/* BoundDim: the size of a named dimension, shared by all programs of a run. */
typedef struct BoundDim {
    const char *name, *from;  /* from: the tensor that gave it, for messages */
    int64_t extent;           /* size, or the longest length */
    int64_t n;                /* rows of the batch; ragged only */
    int32_t *length, *offset; /* of each row, in tokens; ragged only */

    /* padded length of the array that gave it; -1: the array is packed, 0: there is none */
    int64_t padded;
} BoundDim;

typedef struct Binding {
    Job *job;
    const StFile *file; /* may be NULL */

    /* ids and positions are checked against its tables; NULL: they are not checked */
    const Module *module;
    VEC(BoundDim) dims;
    VEC(StTensor) made; /* further inputs, such as the shifted "tgt.next" */
} Binding;

/* Whether a tensor is packed already: its sentences one after the other, without a batch axis. */
bool tensor_is_packed(const StTensor *tensor, const TfcShape *shape);
/* The tensor's elements in storage order and in the port's type, in the job's arena. To be called
 * after the binding has its dimensions. NULL after an error. */
const void *pack_input(Binding *binding, const TfcProgram *program, const TfcPort *port,
                       const StTensor *tensor);
/* The output `data`, which is in packed storage, as a padded logical array, zeros past the lengths.
 * In the job's arena. */
StTensor tensors_output(Binding *binding, const TfcProgram *program, const TfcPort *port,
                        const void *data);
/* NULL: the dimension is not bound. */
BoundDim *binding_dim(Binding *binding, const char *name);
/* The total of a dimension: the sum of the lengths of all rows if it is ragged, else its extent. */
int64_t bound_total(const BoundDim *dim);
/* What messages call the file. */
const char *binding_path(const Binding *binding);

#endif
