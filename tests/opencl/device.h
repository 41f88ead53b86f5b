/* An OpenCL device: context, queue, memory, kernels. Calls that fail leave a message, the first of
 * them; calls after it do nothing. */
#ifndef TESTS_OPENCL_DEVICE_H
#define TESTS_OPENCL_DEVICE_H

#include "base/diag.h"

#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>

typedef struct OclDevice {
    Diagnostics *diags;
    cl_device_id id;
    cl_context context;
    cl_command_queue queue; /* in order */
    char name[256];
    bool failed;
} OclDevice;

/* The first device of any platform whose name has `wanted` in it; NULL: the first GPU, else the
 * first. False: there is none, or it cannot be opened. ocl_close closes it in either case. */
bool ocl_open(OclDevice *device, const char *wanted, Diagnostics *diags);
void ocl_close(OclDevice *device);

/* Whether a call went well; `what`: the call. */
bool ocl_ok(OclDevice *device, cl_int status, const char *what);

/* The kernels of a source; NULL after an error, which has what the device's compiler said. */
cl_program ocl_build(OclDevice *device, const char *source);
/* Memory of so many bytes, at least one. NULL: none. */
cl_mem ocl_memory(OclDevice *device, size_t bytes);
/* Copies to the memory from byte `at` on; the bytes may be changed afterwards. */
bool ocl_write(OclDevice *device, cl_mem to, size_t at, const void *from, size_t bytes);
bool ocl_read(OclDevice *device, cl_mem from, size_t at, void *to, size_t bytes);
bool ocl_copy(OclDevice *device, cl_mem from, size_t from_at, cl_mem to, size_t to_at,
              size_t bytes);
bool ocl_zero(OclDevice *device, cl_mem to, size_t at, size_t bytes);
/* A work item a unit; the rest up to a whole group has nothing to do. */
bool ocl_run(OclDevice *device, cl_kernel kernel, int64_t units);

#endif
