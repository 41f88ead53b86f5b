/* Messages of a job. */
#include "driver/session/job.h"

#include "base/machine.h"

#include <stdarg.h>

void job_show(Job *job)
{
    if (job->show)
        job->show(job);
}

bool job_error(Job *job, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    diag_error(&job->diags, (Loc){0}, "%s", arena_vprintf(job->arena, format, args));
    va_end(args);
    return false;
}

bool job_no_memory(Job *job)
{
    Text has = {0}, free = {0};
    text_bytes(&has, resident_bytes());
    text_bytes(&free, machine_memory_free());
    job_error(
        job,
        "out of memory: this process has %s, and %s more can be had; smaller batches, shorter texts, a smaller "
        "model or fewer --threads take less",
        has.data, free.data);
    text_free(&has);
    text_free(&free);
    return false;
}
