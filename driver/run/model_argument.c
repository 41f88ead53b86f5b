/* Telling models, runs, checkpoints and IR text apart by what they are called. */
#include "driver/run/model_argument.h"

#include "base/file.h"
#include "driver/run/run_model.h"

#include <string.h>

/* The folder that a file lies in, if that is a run's; else NULL. */
static const char *run_around(Job *job, const char *path)
{
    const char *folder = file_folder(job->arena, path);
    return file_exists(path) && is_run_folder(folder) ? folder : NULL;
}

FileReach model_reach(Job *job, const char *path) { return job_reach(job, run_around(job, path)); }

bool model_argument(Job *job, const char *path, const TextList *settings, ModelArgument *model)
{
    *model = (ModelArgument){.options = session_defaults(path)};
    model->options.settings = *settings;
    model->options.reach = model_reach(job, path);
    if (file_is_folder(path)) {
        RunRecord record;
        if (!run_record_read(job, path, &record) || !run_record_check_files(job, path, &record))
            return false;
        model->run = path;
        model->options = run_session_options(job, path, &record, settings);
        return true;
    }
    if (text_ends(path, ".tir"))
        return job_error(job, "%s is IR, not a model: tfc opt reads it (tfc opt %s --passes …)",
                         path, path);
    if (text_ends(path, ".safetensors")) {
        const char *run = run_around(job, path);
        return job_error(job, "%s holds tensors, not a model: %s%s", path,
                         run ? "name the run's folder, " : "tfc info tells which", run ? run : "");
    }
    return true;
}

bool run_argument(Job *job, const char *path)
{
    if (file_is_folder(path))
        return is_run_folder(path) || run_record_refuse(job, path);
    const char *run = run_around(job, path);
    if (run && text_ends(path, ".safetensors"))
        return job_error(job, "%s is a checkpoint: name the run's folder, %s, and --checkpoint %s",
                         path, run, file_name(path));
    if (run)
        return job_error(job, "%s lies in the folder of a run: name the folder, %s", path, run);
    if (text_ends(path, ".tfg") && file_exists(path))
        return job_error(
            job,
            "%s is a model that is not trained: --weights FILE gives its params and --vocab FILE its "
            "vocabulary; or train it first (tfc train %s -o RUN …) and name the folder RUN",
            path, path);
    return run_record_refuse(job, path);
}
