/* The values of one tensor on their way into a program's storage. The way back is
 * tensors_output. */
#ifndef DRIVER_VALUES_PACKING_H
#define DRIVER_VALUES_PACKING_H

#include "driver/values/tensors.h"

/* Whether the sentences of a tensor already lie one after the other, without a batch axis. */
bool tensor_is_packed(const StTensor *tensor, const TfcShape *shape);
/* The tensor's elements in storage order and in the port's type, in the job's arena. The binding's
 * dimensions are known by then. NULL after an error. */
const void *pack_input(Binding *binding, const TfcProgram *program, const TfcPort *port,
                       const StTensor *tensor);
/* What messages call the file. (tensors.c) */
const char *binding_path(const Binding *binding);

#endif
