/* Tensors of a safetensors file as the inputs of a program, and its outputs back:
 * padded logical arrays [B, Smax, …] outside, packed storage (ir/layout.h) inside. */
#ifndef DRIVER_VALUES_TENSORS_H
#define DRIVER_VALUES_TENSORS_H

#include "driver/session/job.h"
#include "ir/graph.h"
#include "runtime/data/safetensors.h"
#include "runtime/exec/exec.h"

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

/* The tensor of an input: that of the file, one of `made`, or one made now ("tgt.next" from
 * "tgt"); NULL: there is none. */
const StTensor *tensors_find(Binding *binding, const char *name);
/* Whether every input of the program is in the file or can be made; if not and
 * `missing` is given, it gets the name. */
bool tensors_available(Binding *binding, const TfcProgram *program, const char **missing);
/* Binds the program's dimensions and gives the executor its inputs; errors name
 * the tensor. Data lives in the job's arena. */
bool tensors_bind(Binding *binding, const TfcProgram *program, Exec *exec);
/* The output in padded logical form, zeros past the lengths. */
StTensor tensors_output(Binding *binding, const TfcProgram *program, const TfcPort *port,
                        const void *data);
/* NULL: the dimension is not bound. */
BoundDim *binding_dim(Binding *binding, const char *name);
/* Gives the executor the dimensions that are bound; false, with an error, where one is not. */
bool tensors_set_dims(Binding *binding, const TfcProgram *program, Exec *exec);

#endif
