/* Messages of a job. */
#include "driver/job.h"

#include "base/machine.h"

#include <stdarg.h>
#include <string.h>

bool text_list_has(const TextList *list, const char *text)
{
    for (size_t i = 0; i < list->count; i++)
        if (!strcmp(list->data[i], text))
            return true;
    return false;
}

void job_show(Job *job)
{
    if (job->show)
        job->show(job);
}

Job job_quiet(const Job *job, Arena *arena)
{
    Job quiet = *job;
    quiet.arena = arena;
    quiet.show = NULL;
    quiet.records = arena == job->arena ? job->records : NULL;
    diag_init(&quiet.diags, arena);
    return quiet;
}

FileReach job_reach(Job *job, const char *folder)
{
    if (!folder || job->allows_outside)
        return (FileReach){.folder = folder, .outside = job->allows_outside};
    if (!job->reach.folder || strcmp(job->reach.folder, folder))
        job->reach = (FileReach){.folder = arena_strdup(job->arena, folder),
                                 .root = file_root(job->arena, folder)};
    return job->reach;
}

const Source *job_read(Job *job, const char *folder, const char *path, size_t max_bytes)
{
    return file_read_within(&job->diags, job->arena, job_reach(job, folder), path, max_bytes);
}

bool job_write(Job *job, const char *folder, const char *name, const char *bytes, size_t size)
{
    return file_write_all(&job->diags, file_in(job->arena, folder, name), bytes, size);
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
    Text has = {0};
    machine_memory_put(&has);
    job_error(
        job,
        "out of memory: %s; smaller batches, shorter texts, a smaller model or fewer --threads "
        "take less",
        has.data);
    text_free(&has);
    return false;
}
