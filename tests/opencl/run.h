/* Running a program on an OpenCL device: params, values and tables are in the device's memory, and
 * stay there from run to run; inputs go there, and outputs come back when they are asked for. */
#ifndef TESTS_OPENCL_RUN_H
#define TESTS_OPENCL_RUN_H

#include "runtime/exec/device.h"
#include "runtime/exec/exec.h"
#include "tests/opencl/device.h"

typedef struct OclRun OclRun;

/* The store has the program's tensors already; code, store and device outlive it. NULL after
 * errors. */
OclRun *ocl_run_new(OclDevice *device, const TfcDeviceCode *code, Store *store);
void ocl_run_free(OclRun *run);
/* Where the batch's dimensions, inputs and random numbers are set (exec_set_…, exec_input); it does
 * not run. */
Exec *ocl_run_batch(OclRun *run);
/* All steps, for the batch as it is set. False after errors: an input is missing, memory, the
 * device. */
bool ocl_run_all(OclRun *run);
/* An output of the last run, in storage layout: copies all its elements (exec_output_count of the
 * batch). False: there is no such output, or the device failed. */
bool ocl_run_output(OclRun *run, const char *name, void *out);
/* Params and the optimizer's slots as the last run left them, to the store. */
bool ocl_run_fetch(OclRun *run);

#endif
