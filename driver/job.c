/* Messages of a job. */
#include "driver/job.h"

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
