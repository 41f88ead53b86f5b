/* Tensors of a safetensors file as the inputs of a program: which tensor is which input, and the
 * dimensions that follow from their shapes and lengths. */
#ifndef DRIVER_VALUES_TENSORS_H
#define DRIVER_VALUES_TENSORS_H

#include "driver/values/packing.h"
#include "runtime/decode/sources.h"

/* The tensor of an input: from the file, from `made`, or made now ("tgt.next" from "tgt") and added
 * to `made`. NULL: there is none. */
const StTensor *tensors_find(Binding *binding, const char *name);
/* Whether tensors_find finds every input of the program. If not, *missing gets the name of one that
 * it does not find; missing may be NULL. */
bool tensors_available(Binding *binding, const TfcProgram *program, const char **missing);
/* Binds the program's dimensions and gives the executor its inputs, whose data live in the job's
 * arena. False after an error. */
bool tensors_bind(Binding *binding, const TfcProgram *program, Exec *exec);
/* Gives the executor the program's dimensions as they are bound. False after an error: a dimension
 * is not bound, or is longer than its table of positions (Binding.module). */
bool tensors_set_dims(Binding *binding, const TfcProgram *program, Exec *exec);
/* The bound inputs of a program `encode` as what sentences are decoded from, in the job's arena.
 * False after an error. */
bool tensors_sources(Binding *binding, const Feed *feed, const TfcProgram *encode, Sources *out);

#endif
