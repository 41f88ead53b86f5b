/* Tensors of a safetensors file as the inputs of a program: which tensor is which input, and the
 * dimensions that follow from their shapes. */
#ifndef DRIVER_VALUES_TENSORS_H
#define DRIVER_VALUES_TENSORS_H

#include "driver/values/packing.h"
#include "runtime/exec/exec.h"

/* The tensor of an input: from the file, from `made`, or made now ("tgt.next" from "tgt"). NULL:
 * there is none. */
const StTensor *tensors_find(Binding *binding, const char *name);
/* Whether every input of the program is in the file or can be made. If not, *missing gets the name
 * of one; missing may be NULL. */
bool tensors_available(Binding *binding, const TfcProgram *program, const char **missing);
/* Binds the program's dimensions and gives the executor its inputs, whose data live in the job's
 * arena. False after an error, which names the tensor. */
bool tensors_bind(Binding *binding, const TfcProgram *program, Exec *exec);
/* Gives the executor the binding's dimensions. False after an error: one of the program's is not
 * bound, or is longer than a table of positions (Binding.module). */
bool tensors_set_dims(Binding *binding, const TfcProgram *program, Exec *exec);

#endif
