/* From a model's function to a program for an OpenCL device. */
#ifndef DRIVER_SESSION_DEVICE_H
#define DRIVER_SESSION_DEVICE_H

#include "driver/session/session.h"
#include "runtime/exec/device.h"

/* Passes that make regions for which a device has no kernels are left out, unless the job says which run. */
void device_passes(Job *job);
/* Lowers the function; the code lives in the job's arena. False after errors. */
bool device_program(Session *session, Function *function, TfcDeviceCode *out);

#endif
