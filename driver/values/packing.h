/* Packing: converts a tensor from a padded logical array [B, Smax, …] to a program's packed storage
 * (ir/layout.h), and back. */
#ifndef DRIVER_VALUES_PACKING_H
#define DRIVER_VALUES_PACKING_H

#include "driver/job.h"
#include "ir/graph.h"
#include "runtime/data/safetensors.h"
#include "runtime/exec/program.h"

/* BoundDim: the size of a named dimension, shared by all programs that get these tensors. */
typedef struct BoundDim {
    const char *name, *from;  /* from: the tensor that gave the size, for messages */
    int64_t extent;           /* the size; ragged: the longest length */
    int64_t n;                /* rows of the batch; ragged only */
    int32_t *length, *offset; /* of each row, in tokens; ragged only */

    /* ragged: padded length of the tensor `from`; -1: that is packed; 0: the lengths are not from a
     * tensor's shape */
    int64_t padded;
} BoundDim;

typedef struct Binding {
    Job *job;
    const StFile *file; /* may be NULL */

    /* the file's ids, and lengths along tables of positions, are checked against the module's
     * tables; NULL: neither is checked */
    const Module *module;
    VEC(BoundDim) dims;
    VEC(StTensor) made; /* inputs that are not in the file, such as the shifted "tgt.next" */
} Binding;

/* Whether a tensor has one axis fewer than the shape, as one has that is packed already: its
 * sentences one after the other, without a batch axis. Callers check that it has lengths. */
bool tensor_is_packed(const StTensor *tensor, const TfcShape *shape);
/* The tensor's elements in storage order and in the port's type, in the job's arena. To be called
 * after the binding has its dimensions. NULL after an error. */
const void *pack_input(Binding *binding, const TfcProgram *program, const TfcPort *port,
                       const StTensor *tensor);
/* The output `data`, which is in packed storage, as a padded logical array, zeros past the lengths.
 * In the job's arena. */
StTensor tensors_output(Binding *binding, const TfcProgram *program, const TfcPort *port,
                        const void *data);
/* The dimension of this name; NULL: it is not bound. */
BoundDim *binding_dim(Binding *binding, const char *name);
/* Its length in a row; of a uniform dimension its extent. */
static inline int64_t bound_length(const BoundDim *dim, int64_t row)
{
    return dim->length ? dim->length[row] : dim->extent;
}
/* The total of a dimension: the sum of the lengths of all rows if it is ragged, else its extent. */
int64_t bound_total(const BoundDim *dim);
/* What dimension d of the program is made of, as a model says it: "1 + S"; in the arena. */
const char *made_text(Arena *arena, const TfcProgram *program, int32_t d);
/* The file's path, or words for messages if there is no file. */
const char *binding_path(const Binding *binding);

#endif
