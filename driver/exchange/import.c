/* From a published model's folder to the folder of a run. */
#define _GNU_SOURCE
#include "driver/exchange/import.h"

#include "base/file.h"
#include "driver/exchange/import_config.h"
#include "driver/exchange/import_ctranslate2.h"
#include "driver/exchange/import_gguf.h"
#include "driver/exchange/import_labels.h"
#include "driver/exchange/import_marian.h"
#include "driver/exchange/import_text.h"
#include "driver/exchange/import_tokenizer.h"
#include "driver/exchange/import_weights.h"
#include "driver/exchange/prompts.h"
#include "driver/formats/formats.h"
#include "driver/run/column_words.h"
#include "driver/run/folder.h"
#include "driver/run/new_folder.h"
#include "driver/run/published.h"
#include "frontend/frontend.h"
#include "driver/formats/shards.h"
#include "runtime/data/token_rules.h"

#include <ctype.h>
#include <string.h>
#include <unistd.h>

typedef struct Import {
    Job *job;
    const ImportOptions *options; /* `run`: the folder that becomes the run */
    const char *folder;           /* with config.json and the tokenizer; absolute */
    const char *described;        /* config.json, or what --config names in its place */
    const char *shown;            /* what errors call that; NULL: its path */
    const char *weights;          /* the folder or file that the run links to or copies; absolute */
    const char *origin;      /* the folder, or the file or other program's folder that became it */
    const char *origin_file; /* of that folder: what the model is in */
    const char *quant;       /* in what the weights are computed (RunRecord.quantised) */
    ImportConfig config;
    Vocabulary *vocab;
    TextList tokens;
} Import;

static ImportWeights weights_of(const Import *m)
{
    return (ImportWeights){m->job, m->weights, m->options->source, &m->config};
}

/* ---- tokenizer ---- */

static bool set_rules(Import *m, const TextList *rules)
{
    return token_rules_set(m->vocab, &m->job->diags, rules->data, rules->count);
}

/* What is said by the caller goes before what the folder says. */
static bool read_vocabulary(Import *m)
{
    m->vocab = import_tokenizer(m->job, m->folder, m->options->source, &m->config);
    return m->vocab && import_config_rows(m->job, &m->config, m->vocab, &m->tokens) &&
           import_config_tokens(m->job, &m->config, m->vocab, &m->tokens) &&
           set_rules(m, &m->tokens) && set_rules(m, &m->options->tokens);
}

/* ---- model ---- */

/* The folder's name as a model's: letters, digits, _. */
static const char *model_name(Import *m)
{
    char *name = arena_printf(m->job->arena, "%s", file_name(m->origin));
    for (char *c = name; *c; c++)
        if (!isalnum((unsigned char)*c))
            *c = '_';
    return isalpha((unsigned char)*name) ? name : arena_printf(m->job->arena, "m_%s", name);
}

static bool write_file(Import *m, const char *name, const char *bytes, size_t size)
{
    return file_write_all(&m->job->diags, file_in(m->job->arena, m->options->run, name), bytes,
                          size);
}

/* The model's files stand in models/, which holds the library. */
static bool copy_models(Import *m)
{
    const char *library = frontend_library(m->job->arena, NULL);
    for (int i = 0; i < 3 && m->config.model->files[i]; i++) {
        const char *name = m->config.model->files[i];
        const char *path =
            arena_printf(m->job->arena, "%s/../%s", library ? library : "models/lib", name);
        const Source *file = file_read(&m->job->diags, m->job->arena, path, MODEL_MAX_BYTES);
        if (!file || !write_file(m, name, file->text, file->length))
            return false;
    }
    return true;
}

static bool write_model(Import *m)
{
    Text text = {0};
    const bool is_folder = file_is_folder(m->origin);
    text_add(&text, "# From %s%s.\nmodel %s\nuse \"%s\"\n\n",
             text_visible_name(m->job->arena, file_name(m->origin)),
             !is_folder               ? ""
             : m->origin == m->folder ? "/config.json"
                                      : m->origin_file,
             model_name(m), m->config.model->files[0]);
    bool ok = import_config_model(m->job, m->folder, &m->config, m->vocab, &text) &&
              copy_models(m) && write_file(m, "model.tfg", text.data, text.length);
    text_free(&text);
    return ok;
}

/* ---- the run ---- */

/* The files of the folder but its weights, and what types these are of. */
static bool keep_published(Import *m)
{
    Shards *shards =
        shards_open_within(&m->job->diags, m->job->arena, job_reach(m->job, NULL), m->weights);
    const bool ok = shards &&
                    published_keep(m->job, m->folder, m->config.source, m->options->run) &&
                    published_keep_types(m->job, shards, m->options->run);
    shards_close(shards);
    return ok;
}

/* What stands around texts, beside the ids of config.json. */
static bool read_text_rule(Import *m, const ModelPorts *ports)
{
    const bool ok = import_text_rule(m->job, m->folder, &m->config, ports, m->vocab, &m->tokens);
    m->tokens = import_text_rules(m->job->arena, &m->tokens, &m->options->tokens);
    return ok && set_rules(m, &m->tokens);
}

/* The columns of a model that has labels, with their list. */
static bool read_labels(Import *m, const Session *session, const ModelPorts *ports,
                        DataColumns *columns)
{
    Text text = {0};
    bool ok = columns_of(m->job, session->model->module, ports, columns);
    for (int c = 0; ok && c < columns->n; c++) {
        const ColumnSpec *spec = &columns->specs[c];
        text.length = 0;
        ok = !columns->words[c] ||
             (import_labels_print(m->job, m->config.source, m->config.json, spec->side >= 0,
                                  &text) &&
              write_file(m, column_words_file(m->job->arena, spec), text.data, text.length));
    }
    text_free(&text);
    return ok && column_words_read(m->job, m->options->run, NULL, columns);
}

static bool make_run(Import *m)
{
    Session session;
    SessionOptions options = session_defaults(file_in(m->job->arena, m->options->run, "model.tfg"));
    const ImportWeights weights = weights_of(m);
    if (!import_weights_place(&weights, m->options->run, m->options->copy))
        return false;
    if (!inference_open_model(&session, m->job, &options, m->vocab)) {
        diag_note(&m->job->diags, (Loc){.source = m->config.source},
                  "the model is made of the values here, and is not kept");
        return false;
    }
    if (!import_weights_check_sizes(&weights, session.model->module)) {
        session_close(&session);
        return false;
    }
    ModelPorts ports = ports_of(session.model->module);
    const bool has_labels = import_labels_are(m->config.model);
    DataColumns columns;
    bool is_read =
        read_text_rule(m, &ports) && (!has_labels || read_labels(m, &session, &ports, &columns));
    RunRecord record = {.version = TFC_VERSION,
                        .model = m->origin,
                        .kind = ports_kind(&ports, false),
                        .settings = session.options.settings,
                        .tokens = m->tokens,
                        .command = m->options->command,
                        .quantised = m->quant,
                        .is_import = true,
                        .knows_generation = true};
    if (is_read && ports.next)
        import_generation(m->job, &m->config, &record.generation);
    bool ok = is_read && import_weights_try(&weights, &session, &record.unused) &&
              import_weights_types(&weights, session.model, m->quant, &record.keep) &&
              keep_published(m) &&
              run_folder_write(m->job, m->options->run, &session, m->vocab,
                               has_labels ? &columns : NULL, &record);
    session_close(&session);
    return ok;
}

/* A head with one label is a reranker's, too, which reads pairs: not all their folders say so. */
static void tell_one_text(Import *m)
{
    const JsonValue *problem = json_member(m->config.json, "problem_type");
    if (m->config.model->gives == GIVES_SCORE && !m->config.model->pairs &&
        (!problem || problem->kind == JV_NULL))
        diag_note(
            &m->job->diags, (Loc){.source = m->config.source},
            "a record is one text: tfc import --pairs is for a model that reads two together, "
            "such as a reranker");
}

/* Says which prompts there are. False after an error: one stands before each text, and cannot. */
static bool tell_prompts(Import *m)
{
    Prompts prompts;
    const bool vectors = m->config.model->gives == GIVES_VECTORS;
    if (!vectors && !m->config.model->pairs)
        return true;
    if (!prompts_read(m->job, m->folder, &prompts))
        return false;
    const int chosen = prompts.chosen;
    const char *name =
        chosen < 0 ? "" : text_visible_name(m->job->arena, prompts.names.data[chosen]);
    const bool stands = chosen >= 0 && *prompts.texts.data[chosen];
    if (stands && (!vectors || prompts.leaves_out))
        return job_error(
            m->job, "%s: the prompt '%s' stands before each text (default_prompt_name)%s",
            m->origin, name,
            vectors ? " and is not to be pooled (include_prompt is false), which is not "
                      "done here"
                    : ", which is not done here for pairs of texts");
    if (stands)
        diag_note(&m->job->diags, (Loc){0},
                  "tfc predict writes the prompt '%s' before each text, as the folder says: "
                  "--prompt NAME takes another (%s), --prompt '' none",
                  name, prompts_list(m->job, &prompts));
    else if (vectors && prompts.names.count)
        diag_note(&m->job->diags, (Loc){0},
                  "tfc predict writes no prompt before texts; --prompt NAME does: %s",
                  prompts_list(m->job, &prompts));
    return true;
}

static bool import_published(Import *m)
{
    const ImportWeights weights = weights_of(m);
    TextList tensors;
    const FileReach reach = job_reach(m->job, m->described ? NULL : m->folder);
    if (!m->described)
        m->described = file_in(m->job->arena, m->folder, "config.json");
    bool ok = import_weights_names(&weights, &tensors) &&
              import_config_read_file(m->job, reach, m->described, m->folder, m->shown, &tensors,
                                      m->options->pairs, &m->config) &&
              import_weights_check(&weights) && tell_prompts(m) && read_vocabulary(m);
    NewFolder run;
    ImportOptions options = *m->options;
    if (!ok || !new_folder_begin(m->job, options.run, &run))
        return false;
    tell_one_text(m);
    options.run = run.made;
    m->options = &options;
    return new_folder_end(&run, write_model(m) && make_run(m));
}

/* By way of a published folder beside the run, which `convert` fills. */
static bool import_converted(Import *m, bool (*convert)(Import *m))
{
    NewFolder published;
    if (!new_folder_begin(m->job, m->options->run, &published))
        return false;
    m->folder = published.made;
    m->shown = m->options->source;
    bool ok = convert(m) && import_published(m);
    new_folder_end(&published, false);
    return ok;
}

static bool convert_marian(Import *m)
{
    m->weights = m->folder;
    return import_marian(m->job, m->origin, m->folder);
}

static bool convert_ctranslate2(Import *m)
{
    m->weights = m->folder;
    return import_ctranslate2(m->job, m->origin, &m->options->tokens, m->folder);
}

static bool convert_gguf(Import *m) { return import_gguf(m->job, m->origin, m->folder, &m->quant); }

static bool can_read(const Import *m)
{
    uint64_t size;
    const int fd = file_open_regular(&m->job->diags, m->options->source, &size);
    if (fd >= 0)
        close(fd);
    return fd >= 0;
}

/* A file of weights: what model it is, is said by --config, by itself, or beside it. */
static bool import_file(Import *m)
{
    static const char config[] = "config.json";
    Job *job = m->job;
    const char *said = m->options->config;
    if (!format_check(&job->diags, job->arena, m->options->source) || !can_read(m))
        return false;
    const bool is_file = said && !file_is_folder(said);
    if (is_file && !file_exists(said))
        return job_error(job, "--config %s: there is no such file", said);
    if (is_file && text_ends(said, ".tfg"))
        return job_error(job,
                         "--config %s: a model of your own takes the file by --weights: tfc train, "
                         "run and export MODEL.tfg --weights %s",
                         said, m->options->source);
    if (is_file)
        m->described = said;
    if (said)
        m->folder = file_absolute(&job->diags, job->arena,
                                  is_file ? file_beside(job->arena, said, ".") : said);
    else if (import_gguf_is(job, m->options->source))
        return import_converted(m, convert_gguf);
    else
        m->folder =
            file_absolute(&job->diags, job->arena, file_folder(job->arena, m->options->source));
    if (!m->folder)
        return false;
    if (!said && !file_exists(file_in(job->arena, m->folder, config)))
        return job_error(
            job,
            "%s is a file of weights, which says nothing of its model, and there is no "
            "%s beside it: --config gives that file, or a folder with %s, and the tokenizer beside it; a "
            "model of your own takes the file by --weights",
            m->options->source, config, config);
    return import_published(m);
}

bool import_model_of(Job *job, const ImportOptions *options)
{
    Import m = {.job = job, .options = options};
    m.folder = m.weights = m.origin = file_absolute(&job->diags, job->arena, options->source);
    if (!m.folder)
        return false;
    if (!new_folder_is_free(options->run))
        return job_error(job, "%s is there already: import makes a new folder", options->run);
    if (file_exists(options->source) && !file_is_folder(options->source))
        return import_file(&m);
    if (options->config)
        return job_error(job, "--config is for a file of weights, and %s is a folder",
                         options->source);
    const bool is_marian = import_marian_is(job, m.folder);
    if (!is_marian && !import_ctranslate2_is(job, m.folder))
        return import_published(&m);
    ImportOptions copied = *options;
    copied.copy = true;
    m.options = &copied;
    m.origin_file = is_marian ? "/*.npz" : "/model.bin";
    return import_converted(&m, is_marian ? convert_marian : convert_ctranslate2);
}
