/* Writing and opening the folder of a run. */
#include "driver/run/folder.h"

#include "base/file.h"
#include "driver/run/kept_weights.h"
#include "driver/run/column_words.h"
#include "driver/run/model_argument.h"
#include "driver/run/run_model.h"
#include "driver/run/weights.h"
#include "runtime/data/safetensors.h"
#include "runtime/data/table.h"
#include "runtime/data/token_rules.h"

#include <stdlib.h>
#include <string.h>

static bool write_files(Job *job, const char *folder, const Session *session)
{
    for (size_t i = 0; i < session->model->files.count; i++) {
        const Source *file = session->model->files.data[i];
        const char *path = file_in(job->arena, folder, model_file_place(session->model, file));
        if (!file_make_own_folder(&job->diags, folder, file_folder(job->arena, path)) ||
            !file_write_own(&job->diags, path, file->text, file->length))
            return false;
    }
    return true;
}

bool run_folder_write(Job *job, const char *folder, const Session *session, const Vocabulary *vocab,
                      const DataColumns *columns, const RunRecord *record)
{
    RunRecord whole = *record;
    VocabFile files[2];
    whole.files = (RunFacts){0};
    for (size_t i = 0; i < session->model->files.count; i++) {
        const Source *file = session->model->files.data[i];
        run_record_add_file(job, &whole, model_file_place(session->model, file), file->text,
                            file->length);
    }
    for (int i = 0, n = vocab_files(vocab, files); i < n; i++)
        run_record_add_file(job, &whole, files[i].name, files[i].bytes, files[i].size);
    return write_files(job, folder, session) && vocab_save(vocab, &job->diags, folder) &&
           (!columns || column_words_write(job, folder, columns, &whole)) &&
           run_record_write(job, folder, &whole);
}

/* ---- opening ---- */

static bool open_model(Job *job, const RunSource *source, SessionOptions *options, RunFolder *run)
{
    if (source->dtype)
        session_set_dtype(options, source->dtype);
    return inference_open_model(&run->session, job, options, run->vocab);
}

static bool open_columns(Job *job, RunFolder *run)
{
    const Module *module = run->session.model->module;
    const ModelPorts ports = ports_of(module);
    return columns_of(job, module, &ports, &run->columns);
}

/* Whether run.json tells of what the model reads. */
static bool check_kind(Job *job, const RunFolder *run)
{
    const ModelPorts ports = ports_of(run->session.model->module);
    const CorpusKind kind = ports_kind(&ports, run->kind == CORPUS_LINES);
    return kind == run->kind ||
           job_error(job, "%s: run.json tells of a model of %s, but the model reads %s", run->path,
                     corpus_kind_words[run->kind], corpus_kind_words[kind]);
}

static bool open_run(Job *job, const RunSource *source, RunFolder *run)
{
    const char *path = source->path;
    RunRecord record;
    if (!run_argument(job, path) || !run_record_read(job, path, &record) ||
        !generation_defaults_read(job, path, &record, &run->defaults))
        return false;
    if (source->vocab.spec || source->vocab.source)
        return job_error(job, "%s has a vocabulary of its own: leave %s out", path,
                         source->vocab.spec ? "--vocab" : "--source-vocab");
    if (source->settings && source->settings->count)
        return job_error(job, "%s has the settings that it was trained with: leave --set out",
                         path);
    run->kind = record.kind;
    for (size_t i = 0; i + 1 < record.arguments.count; i++)
        if (!strcmp(record.arguments.data[i], "--column"))
            vec_push(job->arena, run->fields, record.arguments.data[i + 1]);
    SessionOptions options = run_session_options(job, path, &record, &(TextList){0});
    run->vocab = vocabulary_of_run(job, path, &record);
    const TextList *tokens = &source->vocab.tokens;
    if (!run->vocab || !token_rules_set(run->vocab, &job->diags, tokens->data, tokens->count))
        return false;
    vocab_set_stream(run->vocab, run->kind == CORPUS_STREAM);
    return open_model(job, source, &options, run) && check_kind(job, run) &&
           open_columns(job, run) && column_words_read(job, path, &record, &run->columns) &&
           columns_take_vocabulary(job, run->session.model, &run->columns, run->vocab);
}

/* A model's file with weights and vocabulary beside it. */
static bool open_parts(Job *job, const RunSource *source, RunFolder *run)
{
    const char *path = source->path;
    if (!source->weights || !source->vocab.spec)
        return job_error(job, "%s: --weights FILE and --vocab FILE go together", path);
    run->vocab = vocabulary_load(job, &source->vocab);
    if (!run->vocab)
        return false;
    SessionOptions options = session_defaults(path);
    options.reach = model_reach(job, path);
    for (size_t i = 0; source->settings && i < source->settings->count; i++)
        vec_push(job->arena, options.settings, source->settings->data[i]);
    if (!open_model(job, source, &options, run))
        return false;
    ModelPorts ports = ports_of(run->session.model->module);
    run->kind = ports_kind(&ports, false);
    vocab_set_stream(run->vocab, run->kind == CORPUS_STREAM);
    return open_columns(job, run) &&
           column_words_make(job, options.reach.folder, &ports, &run->columns, NULL, 0, NULL) &&
           columns_take_vocabulary(job, run->session.model, &run->columns, run->vocab);
}

static bool open_one(Job *job, const RunSource *source, RunFolder *run)
{
    *run = (RunFolder){.path = source->path,
                       .weights = source->weights,
                       .keeps = source->keeps,
                       .store = store_new_or_end()};
    if (run->keeps)
        store_defer(run->store);
    bool is_model = (source->weights || vocabulary_is_chosen(&source->vocab)) &&
                    text_ends(source->path, ".tfg") && file_exists(source->path);
    if (!(is_model ? open_parts : open_run)(job, source, run))
        return false;
    inference_init(&run->inference, &run->session, run->store, run->vocab);
    run->inference.defaults = run->defaults.data;
    run->inference.n_defaults = (int64_t)run->defaults.count;
    return true;
}

bool run_reads_lines(Job *job, const RunFolder *run)
{
    return !run->columns.n ||
           job_error(job,
                     "%s reads a table, with a column for `%s`, and this command gives it lines of "
                     "text: tfc translate, score, eval and predict read tables",
                     run->path, run->columns.specs[0].input);
}

/* Several fields with commas between them. */
static const char *fields_text(Arena *arena, const char *fields)
{
    char *text = arena_strndup(arena, fields, strlen(fields));
    for (char *at = text; (at = strchr(at, TABLE_AND)); at++)
        *at = ',';
    return text;
}

/* The field that column c was trained with. */
static const char *field_of(const RunFolder *run, int c)
{
    const char *input = run->columns.specs[c].input,
               *field = ports_field(run->inference.ports.columns[c]);
    const size_t length = strlen(input);
    for (size_t i = 0; i < run->fields.count; i++)
        if (!strncmp(run->fields.data[i], input, length) && run->fields.data[i][length] == '=')
            field = run->fields.data[i] + length + 1;
    return field;
}

/* Members are fed alike. One field may have another name in the table of each; several were put in
 * another order, or are others. */
static bool check_fields(Job *job, const RunFolder *run, const RunFolder *with)
{
    for (int c = 0; c < run->columns.n; c++) {
        const char *a = field_of(run, c), *b = field_of(with, c),
                   *input = run->columns.specs[c].input;
        if (!strcmp(a, b))
            continue;
        const bool several = strchr(a, TABLE_AND) || strchr(b, TABLE_AND);
        const char *text = arena_printf(
            job->arena, "`%s` of %s was trained with %s, and that of %s with %s", input, run->path,
            fields_text(job->arena, a), with->path, fields_text(job->arena, b));
        if (several)
            return job_error(job, "%s: they cannot be averaged", text);
        diag_warning(&job->diags, (Loc){0}, "%s: both read the first", text);
    }
    return true;
}

bool run_check_columns(Job *job, const RunFolder *run)
{
    for (int i = 0; i < run->n_with; i++) {
        const RunFolder *with = &run->with[i];
        bool same = run->columns.n == with->columns.n;
        for (int c = 0; same && c < run->columns.n; c++) {
            const ColumnSpec *a = &run->columns.specs[c], *b = &with->columns.specs[c];
            same = !strcmp(a->input, b->input) &&
                   !strcmp(column_holds(job->arena, a), column_holds(job->arena, b));
        }
        if (!same)
            return job_error(job, "%s and %s cannot be averaged: their models read other columns",
                             run->path, with->path);
        if (!check_fields(job, run, with))
            return false;
    }
    return true;
}

bool run_check_average(Job *job, const RunFolder *run, const RunFolder *member)
{
    if (run->kind != member->kind)
        return job_error(job, "%s and %s cannot be averaged: one is a model of %s, the other of %s",
                         run->path, member->path, corpus_kind_words[run->kind],
                         corpus_kind_words[member->kind]);
    if (vocab_hash(vocab_source(run->vocab)) == vocab_hash(vocab_source(member->vocab)) &&
        vocab_hash(run->vocab) == vocab_hash(member->vocab))
        return true;
    return job_error(
        job,
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
        if (!open_one(job,
                      &(RunSource){.path = source->with->data[i],
                                   .vocab = {.tokens = source->vocab.tokens},
                                   .dtype = source->dtype,
                                   .keeps = source->keeps},
                      member) ||
            !run_check_average(job, run, member))
            return false;
        run->inference.members[run->inference.n_members++] = &member->inference;
    }
    if (!source->shortlist.path)
        return true;
    if (run->kind != CORPUS_PAIRS)
        return job_error(job, SHORTLIST_OF_LINES, run->path);
    const Shortlist *shortlist = shortlist_read(job, &source->shortlist, run->vocab);
    run->inference.shortlist = shortlist;
    for (int i = 0; i < n; i++)
        run->inference.members[i]->shortlist = shortlist;
    return shortlist != NULL;
}

static bool load_params(Job *job, RunFolder *run)
{
    if (!store_need_all(run->store))
        return job_no_memory(job);
    if (run->weights || run_is_weights(run->checkpoint) || file_is_folder(run->checkpoint) ||
        !run_is_checkpoint(job, run->checkpoint))
        return weights_load(job, run->session.model, run->store, run->checkpoint, NULL);
    return checkpoint_load_params(&job->diags, job->arena, run->checkpoint, run->store,
                                  &run->state);
}

static bool load_one(Job *job, RunFolder *run, const char *checkpoint)
{
    if (run->weights && checkpoint)
        return job_error(job, "--weights and --checkpoint both name the params: give one of them");
    run->checkpoint = run->weights ? run->weights : run_checkpoint(job, run->path, checkpoint);
    if (!run->checkpoint)
        return false;
    run->kept = run->keeps ? kept_weights_open(job, &run->session, run->checkpoint) : NULL;
    bool ok = kept_weights_checked(run->kept) || load_params(job, run);
    if (ok)
        kept_weights_use(run->kept, run->store);
    return ok;
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
    kept_weights_close(run->kept);
}
