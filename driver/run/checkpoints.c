/* Finding the params of a run. */
#define _POSIX_C_SOURCE 200809L
#include "driver/run/checkpoints.h"

#include "base/file.h"
#include "driver/formats/formats.h"
#include "driver/run/record.h"
#include "runtime/train/train.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A file that the run has; NULL: it has none of this name. */
static const char *run_file(Job *job, const char *folder, const char *name)
{
    const char *path = file_in(job->arena, folder, name);
    return file_exists(path) ? path : NULL;
}

/* What the average says of itself, texts in the arena; one that cannot be read says nothing. */
static CheckpointAverage read_average(Job *job, const char *path)
{
    Diagnostics unseen;
    diag_init(&unseen, job->arena);
    StFile *file = st_open(&unseen, job->arena, path);
    CheckpointAverage average = {0};
    if (file) {
        average = checkpoint_average_of(file);
        average.by = average.by ? arena_strdup(job->arena, average.by) : NULL;
        st_close(file);
    }
    return average;
}

const char *run_params(Job *job, const char *folder)
{
    const char *average = run_file(job, folder, "average.safetensors"),
               *best = run_file(job, folder, "best.safetensors"),
               *last = run_file(job, folder, "last.safetensors");
    if (average && best) {
        const CheckpointAverage says = read_average(job, average);
        average = says.by && !says.better ? NULL : average;
    }
    return average ? average : best ? best : last ? last : run_file(job, folder, RUN_WEIGHTS);
}

const char *run_params_reason(Job *job, const char *folder)
{
    const char *path = run_file(job, folder, "average.safetensors");
    const CheckpointAverage average = path ? read_average(job, path) : (CheckpointAverage){0};
    if (average.by)
        return train_average_text(&average, job->arena);
    if (path)
        return "the average was not validated";
    return run_file(job, folder, "best.safetensors") ? "there is no average"
                                                     : "there was no validation";
}

bool run_is_weights(const char *path) { return !strcmp(file_name(path), RUN_WEIGHTS); }

const char *run_lost_weights(Job *job, const char *folder)
{
    const char *path = file_in(job->arena, folder, RUN_WEIGHTS);
    char to[PATH_MAX];
    const ssize_t n = file_exists(path) ? -1 : readlink(path, to, sizeof to);
    return n > 0 ? arena_printf(job->arena,
                                "%s is a link to %.*s, and nothing is there: put the weights back, "
                                "or import them again, with --copy to keep them in the run",
                                path, (int)n, to)
                 : NULL;
}

const char *run_newest_step(Job *job, const char *folder)
{
    int64_t *steps;
    int n = run_steps(job->arena, folder, INT64_MAX, &steps);
    return n ? run_step_path(job->arena, folder, steps[n - 1]) : NULL;
}

bool run_can_resume(Job *job, const char *folder)
{
    const char *last = file_in(job->arena, folder, "last.safetensors");
    if (file_exists(last))
        return true;
    const char *step = run_newest_step(job, folder), *other = run_params(job, folder);
    if (step && !run_link(step, last))
        return diag_errno(&job->diags, "write", last, errno), false;
    if (step)
        diag_remark(&job->diags, (Loc){0}, "%s is missing: %s takes its place", last, step);
    else if (other && !run_is_weights(other))
        job_error(
            job,
            "%s is missing, and would be begun anew: cp %s %s goes on from there, another -o begins anew",
            last, other, last);
    else
        diag_remark(&job->diags, (Loc){0}, "%s has no checkpoint: the training begins anew",
                    folder);
    return step;
}

/* A checkpoint of another training in its place would give other answers without a word. */
static const char *compare_training(Job *job, const char *path)
{
    const char *folder = file_folder(job->arena, path);
    RunRecord record;
    Diagnostics unseen;
    diag_init(&unseen, job->arena);
    if (!is_run_folder(folder) || !run_record_read(job, folder, &record) || !record.training ||
        file_is_folder(path))
        return path;
    StFile *file = st_open(&unseen, job->arena, path);
    const char *of = file ? st_meta(file, "config") : NULL;
    if (of && strcmp(of, record.training))
        diag_warning(&job->diags, (Loc){0},
                     "%s is of another training than %s tells of: its params may be for another "
                     "vocabulary; put back the checkpoint of this run",
                     path, run_record_file(job, folder));
    if (file)
        st_close(file);
    return path;
}

const char *run_checkpoint(Job *job, const char *folder, const char *name)
{
    if (name && file_exists(name))
        return compare_training(job, name);
    if (name) { /* where it is missing, reading it says so */
        const char *path = file_in(job->arena, folder, name);
        const char *whole = arena_printf(job->arena, "%s.safetensors", path);
        return compare_training(job, !file_exists(path) && file_exists(whole) ? whole : path);
    }
    const char *path = run_params(job, folder);
    const char *lost = path ? NULL : run_lost_weights(job, folder);
    if (lost)
        job_error(job, "%s", lost);
    else if (!path)
        job_error(job, "%s: the run has no checkpoint yet", folder);
    return path ? compare_training(job, path) : NULL;
}

bool run_is_checkpoint(Job *job, const char *path)
{
    Diagnostics unseen;
    diag_init(&unseen, job->arena);
    StFile *file = format_open(&unseen, job->arena, path);
    bool is = !file || st_meta(file, "step");
    if (file)
        st_close(file);
    return is;
}

int64_t run_checkpoint_step(Job *job, const char *folder, const char *name)
{
    const char *path = file_in(job->arena, folder, name);
    Diagnostics unseen;
    diag_init(&unseen, job->arena);
    StFile *file = file_exists(path) ? st_open(&unseen, job->arena, path) : NULL;
    const char *step = file ? st_meta(file, "step") : NULL;
    int64_t number = step ? strtoll(step, NULL, 10) : 0;
    if (file)
        st_close(file);
    return number;
}
