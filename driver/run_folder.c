/* Writing and opening the folder of a run. */
#include "driver/run_folder.h"

#include "base/file.h"
#include "driver/model_argument.h"
#include "driver/weights.h"
#include "passes/optimizer.h"
#include "runtime/data/safetensors.h"
#include "runtime/data/token_rules.h"

#include <stdlib.h>
#include <string.h>

static const char *in_folder(Job *job, const char *folder, const char *name)
{
    return arena_printf(job->arena, "%s/%s", folder, name);
}

static bool is_within(const char *rest) { return !strstr(rest, "..") && *rest != '/'; }

/* Where a file that the model reads goes within the folder: library files into
 * lib/, others where they stand relative to the model; NULL: elsewhere. */
static const char *place_of_file(Job *job, const Session *session, const Source *file)
{
    const Model *model = session->model;
    if (!strcmp(file->path, model->path))
        return "model.tfg";
    const char *within = model_is_library_file(model, file) ? file->path + strlen(model->library) + 1 : NULL;
    if (within && is_within(within))
        return arena_printf(job->arena, "lib/%s", within);
    size_t length = (size_t)(file_name(model->path) - model->path);
    within = file->path + length;
    return !strncmp(file->path, model->path, length) && is_within(within) ? within : NULL;
}

const char *run_folder_copy(Job *job, const char *folder, const Session *session,
                            const Source *file)
{
    const char *place = place_of_file(job, session, file);
    return place ? in_folder(job, folder, place) : NULL;
}

static bool write_files(Job *job, const char *folder, const Session *session)
{
    for (size_t i = 0; i < session->model->files.count; i++) {
        const Source *file = session->model->files.data[i];
        const char *path = run_folder_copy(job, folder, session, file);
        if (!path) {
            diag_warning(&job->diags, (Loc){0},
                         "%s is not beside the model: the run needs it where it "
                         "is, and --out %s cannot be moved",
                         file->path, folder);
            continue;
        }
        const char *within = arena_strndup(job->arena, path, (size_t)(file_name(path) - path - 1));
        if (!file_make_folder(&job->diags, within) ||
            !file_write_all(&job->diags, path, file->text, file->length))
            return false;
    }
    return true;
}

bool run_folder_write(Job *job, const char *folder, const Session *session, const Vocabulary *vocab,
                      const RunRecord *record)
{
    return write_files(job, folder, session) && vocab_save(vocab, &job->diags, folder) &&
           run_record_write(job, folder, record);
}

const char *run_params(Job *job, const char *folder)
{
    static const char *const names[] = {"average.safetensors", "best.safetensors",
                                        "last.safetensors", RUN_WEIGHTS};
    for (int i = 0; i < 4; i++) {
        const char *path = in_folder(job, folder, names[i]);
        if (file_exists(path))
            return path;
    }
    return NULL;
}

/* ---- whether model and checkpoint belong together ---- */

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
    const char *copy = arena_strdup(arena, text.data);
    text_free(&text);
    return copy;
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
static TextList list_left_over(Job *job, const char *folder, const char *weights, const Model *model)
{
    TextList list = {0}, unused = {0};
    RunRecord record;
    if (!run_record_read(job, folder, &record) || !record.is_import || !weights_unused(job, model, weights, &unused))
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

bool run_check_params(Job *job, const char *folder, const Model *model)
{
    Job quiet = {.arena = job->arena}; /* what cannot be read is told by who reads it */
    diag_init(&quiet.diags, job->arena);
    const char *path = run_params(job, folder);
    TextList list = {0};
    if (path)
        list = file_is_folder(path) ? list_left_over(&quiet, folder, path, model)
                                    : list_differences(&quiet, path, model->module);
    if (!list.count)
        return true;
    Text text = {0};
    for (size_t i = 0; i < list.count && i < MOST_LISTED; i++)
        text_add(&text, "\n  %s", list.data[i]);
    if (list.count > MOST_LISTED)
        text_add(&text, "\n  … and %zu more", list.count - MOST_LISTED);
    job_error(job,
              "%s/model.tfg is not the model of %s: put back the text that was trained, or train this one "
              "with another --out%s",
              folder, path, text.data);
    text_free(&text);
    return false;
}

const char *run_checkpoint(Job *job, const char *folder, const char *name)
{
    if (name && file_exists(name))
        return name;
    if (name) /* where it is missing, reading it says so */
        return in_folder(job, folder, name);
    const char *path = run_params(job, folder);
    if (!path)
        job_error(job, "%s: the run has no checkpoint yet", folder);
    return path;
}

int64_t run_checkpoint_step(Job *job, const char *folder, const char *name)
{
    const char *path = arena_printf(job->arena, "%s/%s", folder, name);
    Diagnostics unseen;
    diag_init(&unseen, job->arena);
    StFile *file = file_exists(path) ? st_open(&unseen, job->arena, path) : NULL;
    const char *step = file ? st_meta(file, "step") : NULL;
    int64_t number = step ? strtoll(step, NULL, 10) : 0;
    if (file)
        st_close(file);
    return number;
}

static bool open_model(Job *job, const RunSource *source, SessionOptions *options, RunFolder *run)
{
    if (source->dtype)
        session_set_dtype(options, source->dtype);
    return inference_open_model(&run->session, job, options, run->vocab);
}

static bool open_run(Job *job, const RunSource *source, RunFolder *run)
{
    const char *path = source->path;
    RunRecord record;
    if (!run_argument(job, path) || !run_record_read(job, path, &record))
        return false;
    if (source->vocab.spec || source->vocab.source)
        return job_error(job, "%s has a vocabulary of its own: leave %s out", path,
                         source->vocab.spec ? "--vocab" : "--source-vocab");
    if (source->settings && source->settings->count)
        return job_error(job, "%s has the settings that it was trained with: leave --set out", path);
    run->kind = record.kind;
    SessionOptions options = run_session_options(job, path, &record, &(TextList){0});
    run->vocab = vocabulary_of_run(job, path, &record);
    const TextList *tokens = &source->vocab.tokens;
    if (!run->vocab || !token_rules_set(run->vocab, &job->diags, tokens->data, tokens->count))
        return false;
    vocab_set_stream(run->vocab, run->kind == CORPUS_STREAM);
    return open_model(job, source, &options, run);
}

/* A model's file with weights and vocabulary beside it. */
static bool open_parts(Job *job, const RunSource *source, RunFolder *run)
{
    const char *path = source->path;
    if (!source->weights || !source->vocab.spec)
        return job_error(job, "%s: --weights FILE and --vocab FILE go together", path);
    run->vocab = vocabulary_make(job, &source->vocab, NULL, NULL);
    if (!run->vocab)
        return false;
    SessionOptions options = session_defaults(path);
    for (size_t i = 0; source->settings && i < source->settings->count; i++)
        vec_push(job->arena, options.settings, source->settings->data[i]);
    if (!open_model(job, source, &options, run))
        return false;
    ModelPorts ports = ports_of(run->session.model->module);
    run->kind = ports_kind(&ports, false);
    vocab_set_stream(run->vocab, run->kind == CORPUS_STREAM);
    return true;
}

static bool open_one(Job *job, const RunSource *source, RunFolder *run)
{
    *run = (RunFolder){.path = source->path, .weights = source->weights, .store = store_new()};
    bool is_model = (source->weights || vocabulary_is_chosen(&source->vocab)) && text_ends(source->path, ".tfg") &&
                    file_exists(source->path);
    if (!(is_model ? open_parts : open_run)(job, source, run))
        return false;
    inference_init(&run->inference, &run->session, run->store, run->vocab);
    return true;
}

bool run_check_average(Job *job, const RunFolder *run, const RunFolder *member)
{
    if (run->kind != member->kind)
        return job_error(job, "%s and %s cannot be averaged: one is a model of %s, the other of %s",
                         run->path, member->path, corpus_kind_name(run->kind),
                         corpus_kind_name(member->kind));
    if (vocab_hash(vocab_source(run->vocab)) == vocab_hash(vocab_source(member->vocab)) &&
        vocab_hash(run->vocab) == vocab_hash(member->vocab))
        return true;
    return job_error(job,
                     "%s and %s cannot be averaged: their vocabularies, or the rules of their tokens, "
                     "differ",
                     run->path, member->path);
}

bool run_folder_open(Job *job, const RunSource *source, RunFolder *run)
{
    if (!open_one(job, source, run))
        return false;
    int n = source->with ? (int)source->with->count : 0;
    run->with = ARENA_ARRAY(job->arena, RunFolder, n + 1);
    run->inference.members = ARENA_ARRAY(job->arena, Inference *, n + 1);
    for (int i = 0; i < n; i++) {
        RunFolder *member = &run->with[run->n_with++];
        if (!open_one(job, &(RunSource){.path = source->with->data[i],
                                  .vocab = {.tokens = source->vocab.tokens},
                                  .dtype = source->dtype}, member) ||
            !run_check_average(job, run, member))
            return false;
        run->inference.members[run->inference.n_members++] = &member->inference;
    }
    return true;
}

static bool load_one(Job *job, RunFolder *run, const char *checkpoint)
{
    if (run->weights && checkpoint)
        return job_error(job, "--weights and --checkpoint both name the params");
    if (run->weights) {
        run->checkpoint = run->weights;
        return weights_load(job, run->session.model, run->store, run->weights, NULL);
    }
    checkpoint = run_checkpoint(job, run->path, checkpoint);
    if (!checkpoint)
        return false;
    run->checkpoint = checkpoint;
    if (file_is_folder(checkpoint))
        return weights_load(job, run->session.model, run->store, checkpoint, NULL);
    return checkpoint_load_params(&job->diags, job->arena, checkpoint, run->store, &run->state);
}

bool run_folder_load(Job *job, RunFolder *run, const char *checkpoint)
{
    bool ok = load_one(job, run, checkpoint);
    for (int i = 0; ok && i < run->n_with; i++)
        ok = load_one(job, &run->with[i], NULL);
    return ok;
}

void run_folder_close(RunFolder *run)
{
    inference_free(&run->inference); /* an ensemble's steppers need their stores */
    for (int i = 0; i < run->n_with; i++)
        run_folder_close(&run->with[i]);
    session_close(&run->session);
    store_free(run->store);
}
