/* Comparing a run's params with its model. */
#include "driver/run/run_model.h"

#include "base/file.h"
#include "driver/run/checkpoints.h"
#include "driver/run/weights.h"
#include "passes/optimizer.h"
#include "runtime/data/safetensors.h"

#include <string.h>

enum { MOST_LISTED = 5 };

/* "NAME is [3, 4] there, [4, 4] in the model". */
static const char *shape_difference(Arena *arena, const StTensor *there, const ParamInfo *param)
{
    Text text = {0};
    text_add(&text, "'%s' is [", there->name);
    for (int i = 0; i < there->rank; i++)
        text_add(&text, "%s%lld", i ? ", " : "", (long long)there->dims[i]);
    text_string(&text, "] there, [");
    for (int i = 0; i < param->type.rank; i++)
        text_add(&text, "%s%lld", i ? ", " : "", (long long)param->type.dims[i].size);
    text_string(&text, "] in the model");
    return text_keep(arena, &text);
}

static bool has_shape(const StTensor *there, const ParamInfo *param)
{
    bool same = there->rank == param->type.rank;
    for (int i = 0; same && i < there->rank; i++)
        same = there->dims[i] == param->type.dims[i].size;
    return same;
}

static bool is_in(const TextList *list, const char *name)
{
    for (size_t i = 0; i < list->count; i++)
        if (!strcmp(list->data[i], name))
            return true;
    return false;
}

static void add_alone(Job *job, const char *name, TextList *list)
{
    vec_push(job->arena, *list, arena_printf(job->arena, "'%s' is there alone", name));
}

/* Of an import: what no param takes any more. */
static TextList list_left_over(Job *job, const char *folder, const char *weights,
                               const Model *model)
{
    TextList list = {0}, unused = {0};
    RunRecord record;
    if (!run_record_read(job, folder, &record) || !record.is_import ||
        !weights_unused(job, model, weights, &unused))
        return list;
    for (size_t i = 0; i < unused.count; i++)
        if (!is_in(&record.unused, unused.data[i]))
            add_alone(job, unused.data[i], &list);
    return list;
}

/* What is in the file and not, or otherwise, in the model; the optimizer's tensors are left out. */
static TextList list_differences(Job *job, const char *path, const Module *module)
{
    TextList list = {0};
    StFile *file = st_open(&job->diags, job->arena, path);
    if (!file)
        return list;
    for (int64_t i = 0; i < file->n; i++) {
        const StTensor *there = &file->tensors[i];
        const ParamInfo *param = module_param(module, there->name);
        if (!param && !optimizer_is_slot(there->name))
            add_alone(job, there->name, &list);
        else if (param && !has_shape(there, param))
            vec_push(job->arena, list, shape_difference(job->arena, there, param));
    }
    st_close(file);
    return list;
}

static bool check_params(Job *job, const char *folder, const Model *model)
{
    Job quiet = job_quiet(job, job->arena); /* a later reader reports what cannot be read */
    const char *path = run_params(job, folder);
    TextList list = {0};
    if (path)
        list = run_is_weights(path) ? list_left_over(&quiet, folder, path, model)
                                    : list_differences(&quiet, path, model->module);
    if (!list.count)
        return true;
    Text text = {0};
    for (size_t i = 0; i < list.count && i < MOST_LISTED; i++)
        text_add(&text, "\n  %s", list.data[i]);
    if (list.count > MOST_LISTED)
        text_add(&text, "\n  … and %zu more", list.count - MOST_LISTED);
    job_error(
        job,
        "%s/model.tfg is not the model of %s: put back the text that was trained, or train this one "
        "with another -o%s",
        folder, path, text.data);
    text_free(&text);
    return false;
}

/* ---- the model's files ---- */

const char *run_model_changed(Job *job, const Model *model, const RunRecord *record)
{
    for (size_t i = 0; i < model->files.count; i++) {
        const Source *file = model->files.data[i];
        if (run_record_has_changed(job, record, model_file_place(model, file), file->text,
                                   file->length))
            return file->path;
    }
    return NULL;
}

static bool check_model(Job *job, const char *folder, const Model *model)
{
    RunRecord record;
    if (!check_params(job, folder, model) || !run_record_read(job, folder, &record))
        return false;
    const char *changed = run_model_changed(job, model, &record);
    if (changed)
        diag_warning(&job->diags, (Loc){0},
                     "%s was changed since the run was made: what it computes now is used",
                     changed);
    return true;
}

SessionOptions run_session_options(Job *job, const char *folder, const RunRecord *record,
                                   const TextList *more)
{
    SessionOptions options = session_defaults(file_in(job->arena, folder, "model.tfg"));
    options.library = file_in(job->arena, folder, "lib");
    options.run = folder;
    options.reach = job_reach(job, folder);
    options.fits = check_model;
    options.settings = merge_settings(job->arena, &record->settings, more);
    if (record->quantised) {
        session_set_dtype(&options, record->quantised);
        options.keep = record->keep;
    }
    return options;
}
