/* Programs on an OpenCL device; without TFC_OPENCL there is none. */
#include "tests/graphs/program.h"

#ifdef TFC_OPENCL
#include "codegen/c/opencl.h"
#include "tests/opencl/run.h"

typedef struct OpenclRun {
    OclDevice device;
    TfcDeviceCode code;
    OclRun *run;
} OpenclRun;

bool opencl_is_here(void)
{
    cl_uint n = 0;
    return clGetPlatformIDs(0, NULL, &n) == CL_SUCCESS && n > 0;
}

bool opencl_make(Program *program)
{
    Opened *opened = program->opened;
    OpenclRun *d = program->device = ARENA_NEW(opened->arena, OpenclRun);
    if (!opencl_program(opened->function, opened->arena, &d->code, &opened->diags) ||
        !ocl_open(&d->device, NULL, &opened->diags) ||
        !store_add_program(program->store, d->code.program))
        return false;
    program->tables = d->code.program;
    d->run = ocl_run_new(&d->device, &d->code, program->store);
    program->exec = d->run ? ocl_run_batch(d->run) : NULL;
    return d->run != NULL;
}

void opencl_free(Program *program)
{
    if (!program->device)
        return;
    ocl_run_free(program->device->run);
    ocl_close(&program->device->device);
    program->exec = NULL; /* it was the run's */
}

bool opencl_run(Program *program)
{
    return ocl_run_all(program->device->run) && ocl_run_fetch(program->device->run);
}

const void *opencl_output(Program *program, const char *name, int64_t count)
{
    void *out = arena_alloc(program->opened->arena, (size_t)count * 8 + 8);
    return ocl_run_output(program->device->run, name, out) ? out : NULL;
}

#else

bool opencl_is_here(void) { return false; }

bool opencl_make(Program *program)
{
    diag_error(&program->opened->diags, (Loc){0},
               "this build does not know OpenCL (libraries ocl-icd-opencl-dev)");
    return false;
}

void opencl_free(Program *program) {}
bool opencl_run(Program *program) { return false; }
const void *opencl_output(Program *program, const char *name, int64_t count) { return NULL; }

#endif
