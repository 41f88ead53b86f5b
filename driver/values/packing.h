/* The values of one tensor on their way into a program's storage and back: padded logical arrays
 * [B, Smax, …] outside, packed storage (ir/layout.h) inside. */
#ifndef DRIVER_VALUES_PACKING_H
#define DRIVER_VALUES_PACKING_H

#include "driver/session/job.h"
#include "ir/graph.h"
#include "runtime/data/safetensors.h"
#include "runtime/exec/program.h"

/* The value of a named dimension, shared by all programs of a run. */
typedef struct BoundDim {
    const char *name, *from; /* from: the tensor that gave it, for messages */
    int64_t extent;          /* size, or the longest length */
    int64_t n;               /* rows of the batch; ragged only */
    int32_t *length, *offset; /* of each row, in tokens; ragged only */
    int64_t padded;          /* positions of the array that it came with; -1: that is packed, 0: none */
} BoundDim;

typedef struct Binding {
    Job *job;
    const StFile *file; /* may be NULL */
    const Module *module; /* whose ids and positions are checked; NULL: none are */
    VEC(BoundDim) dims;
    VEC(StTensor) made; /* further inputs, such as the shifted "tgt.next" */
} Binding;

/* Whether the sentences of a tensor already lie one after the other, without a batch axis. */
bool tensor_is_packed(const StTensor *tensor, const TfcShape *shape);
/* The tensor's elements in storage order and in the port's type, in the job's arena. The binding's
 * dimensions are known by then. NULL after an error. */
const void *pack_input(Binding *binding, const TfcProgram *program, const TfcPort *port,
                       const StTensor *tensor);
/* The output in padded logical form, zeros past the lengths. */
StTensor tensors_output(Binding *binding, const TfcProgram *program, const TfcPort *port,
                        const void *data);
/* NULL: the dimension is not bound. */
BoundDim *binding_dim(Binding *binding, const char *name);
/* Of all rows: the sum of a ragged one's lengths, else its extent. */
int64_t bound_total(const BoundDim *dim);
/* What messages call the file. */
const char *binding_path(const Binding *binding);

#endif
