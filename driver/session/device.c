/* Programs for OpenCL devices; see device.h. */
#include "driver/session/device.h"

#include "codegen/c/opencl.h"

void device_passes(Job *job)
{
    if (!job->passes)
        job->passes = OPENCL_PASSES;
}

bool device_program(Session *session, Function *function, TfcDeviceCode *out)
{
    return session_lower(session, function, NULL) &&
           opencl_program(function, session->job->arena, out, &session->job->diags);
}
