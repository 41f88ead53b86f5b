/* OpenCL's calls; see device.h. */
#include "tests/opencl/device.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

bool ocl_ok(OclDevice *device, cl_int status, const char *what)
{
    if (status != CL_SUCCESS && !device->failed)
        diag_error(device->diags, (Loc){0}, "OpenCL device%s%s: %s failed with status %d",
                   *device->name ? " " : "", device->name, what, (int)status);
    device->failed |= status != CL_SUCCESS;
    return !device->failed;
}

/* ---- finding one ---- */

enum { MOST_PLATFORMS = 16, MOST_DEVICES = 32 };

/* Takes the device if it is better than the one found so far: the first, or the first GPU. */
static void consider(OclDevice *device, cl_device_id id, const char *wanted, bool *is_gpu)
{
    char name[sizeof device->name] = "";
    cl_device_type type = 0;
    if (clGetDeviceInfo(id, CL_DEVICE_NAME, sizeof name - 1, name, NULL) != CL_SUCCESS ||
        clGetDeviceInfo(id, CL_DEVICE_TYPE, sizeof type, &type, NULL) != CL_SUCCESS)
        return;
    bool gpu = type & CL_DEVICE_TYPE_GPU, better = !device->id || (!wanted && gpu && !*is_gpu);
    if ((wanted && !strstr(name, wanted)) || !better)
        return;
    device->id = id;
    *is_gpu = gpu;
    memcpy(device->name, name, sizeof name);
}

static void find_device(OclDevice *device, const char *wanted)
{
    cl_platform_id platforms[MOST_PLATFORMS];
    cl_uint n_platforms = 0, n = 0;
    bool is_gpu = false;
    if (clGetPlatformIDs(MOST_PLATFORMS, platforms, &n_platforms) != CL_SUCCESS)
        return;
    for (cl_uint p = 0; p < n_platforms && p < MOST_PLATFORMS; p++) {
        cl_device_id ids[MOST_DEVICES];
        if (clGetDeviceIDs(platforms[p], CL_DEVICE_TYPE_ALL, MOST_DEVICES, ids, &n) != CL_SUCCESS)
            continue;
        for (cl_uint i = 0; i < n && i < MOST_DEVICES; i++)
            consider(device, ids[i], wanted, &is_gpu);
    }
}

bool ocl_open(OclDevice *device, const char *wanted, Diagnostics *diags)
{
    cl_int status = CL_SUCCESS;
    *device = (OclDevice){.diags = diags};
    find_device(device, wanted);
    if (!device->id) {
        diag_error(
            diags, (Loc){0},
            wanted ? "there is no OpenCL device with '%s' in its name (clinfo lists them)"
                   : "there is no OpenCL device (pocl-opencl-icd brings one for any processor)%.0s",
            wanted ? wanted : "");
        device->failed = true;
        return false;
    }
    device->context = clCreateContext(NULL, 1, &device->id, NULL, NULL, &status);
    if (ocl_ok(device, status, "clCreateContext")) {
        device->queue = clCreateCommandQueue(device->context, device->id, 0, &status);
        ocl_ok(device, status, "clCreateCommandQueue");
    }
    return !device->failed;
}

void ocl_close(OclDevice *device)
{
    if (device->queue)
        clReleaseCommandQueue(device->queue);
    if (device->context)
        clReleaseContext(device->context);
    *device = (OclDevice){0};
}

/* ---- kernels ---- */

static void tell_log(OclDevice *device, cl_program program)
{
    size_t bytes = 0;
    clGetProgramBuildInfo(program, device->id, CL_PROGRAM_BUILD_LOG, 0, NULL, &bytes);
    char *log = calloc(bytes + 1, 1);
    if (log && clGetProgramBuildInfo(program, device->id, CL_PROGRAM_BUILD_LOG, bytes, log, NULL) ==
                   CL_SUCCESS)
        diag_error(device->diags, (Loc){0}, "OpenCL device %s does not take the kernels:\n%s",
                   device->name, log);
    free(log);
}

cl_program ocl_build(OclDevice *device, const char *source)
{
    cl_int status = CL_SUCCESS;
    if (device->failed)
        return NULL;
    cl_program program = clCreateProgramWithSource(device->context, 1, &source, NULL, &status);
    if (!ocl_ok(device, status, "clCreateProgramWithSource"))
        return NULL;
    status = clBuildProgram(program, 1, &device->id, "-cl-std=CL1.2", NULL, NULL);
    if (status == CL_SUCCESS)
        return program;
    tell_log(device, program);
    ocl_ok(device, status, "clBuildProgram");
    clReleaseProgram(program);
    return NULL;
}

/* Of one size for all batches: some devices compile a kernel for each size of groups. */
bool ocl_run(OclDevice *device, cl_kernel kernel, int64_t units)
{
    enum { GROUP = 64 };
    size_t most = 1;
    if (device->failed || units <= 0)
        return !device->failed;
    if (!ocl_ok(device,
                clGetKernelWorkGroupInfo(kernel, device->id, CL_KERNEL_WORK_GROUP_SIZE, sizeof most,
                                         &most, NULL),
                "clGetKernelWorkGroupInfo"))
        return false;
    size_t group = most < GROUP ? most : GROUP, items = ((size_t)units + group - 1) / group * group;
    return ocl_ok(
        device,
        clEnqueueNDRangeKernel(device->queue, kernel, 1, NULL, &items, &group, 0, NULL, NULL),
        "clEnqueueNDRangeKernel");
}

/* ---- memory ---- */

cl_mem ocl_memory(OclDevice *device, size_t bytes)
{
    cl_int status = CL_SUCCESS;
    if (device->failed)
        return NULL;
    cl_mem memory =
        clCreateBuffer(device->context, CL_MEM_READ_WRITE, bytes ? bytes : 1, NULL, &status);
    return ocl_ok(device, status, "clCreateBuffer") ? memory : NULL;
}

bool ocl_write(OclDevice *device, cl_mem to, size_t at, const void *from, size_t bytes)
{
    if (device->failed || !bytes)
        return !device->failed;
    return ocl_ok(device,
                  clEnqueueWriteBuffer(device->queue, to, CL_TRUE, at, bytes, from, 0, NULL, NULL),
                  "clEnqueueWriteBuffer");
}

bool ocl_read(OclDevice *device, cl_mem from, size_t at, void *to, size_t bytes)
{
    if (device->failed || !bytes)
        return !device->failed;
    return ocl_ok(device,
                  clEnqueueReadBuffer(device->queue, from, CL_TRUE, at, bytes, to, 0, NULL, NULL),
                  "clEnqueueReadBuffer");
}

bool ocl_copy(OclDevice *device, cl_mem from, size_t from_at, cl_mem to, size_t to_at, size_t bytes)
{
    if (device->failed || !bytes)
        return !device->failed;
    return ocl_ok(
        device, clEnqueueCopyBuffer(device->queue, from, to, from_at, to_at, bytes, 0, NULL, NULL),
        "clEnqueueCopyBuffer");
}

bool ocl_zero(OclDevice *device, cl_mem to, size_t at, size_t bytes)
{
    static const char zero = 0;
    if (device->failed || !bytes)
        return !device->failed;
    return ocl_ok(device,
                  clEnqueueFillBuffer(device->queue, to, &zero, 1, at, bytes, 0, NULL, NULL),
                  "clEnqueueFillBuffer");
}
