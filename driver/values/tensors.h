/* Tensors of a safetensors file as the inputs of a program: which tensor is which input, and the dimensions
 * that follow from their shapes. */
#ifndef DRIVER_VALUES_TENSORS_H
#define DRIVER_VALUES_TENSORS_H

#include "driver/values/packing.h"
#include "runtime/exec/exec.h"

/* The tensor of an input: that of the file, one of `made`, or one made now ("tgt.next" from
 * "tgt"); NULL: there is none. */
const StTensor *tensors_find(Binding *binding, const char *name);
/* Whether every input of the program is in the file or can be made; if not and
 * `missing` is given, it gets the name. */
bool tensors_available(Binding *binding, const TfcProgram *program, const char **missing);
/* Binds the program's dimensions and gives the executor its inputs; errors name
 * the tensor. Data lives in the job's arena. */
bool tensors_bind(Binding *binding, const TfcProgram *program, Exec *exec);
/* Gives the executor the dimensions that are bound; false, with an error, where one is not. */
bool tensors_set_dims(Binding *binding, const TfcProgram *program, Exec *exec);

#endif
