/* The model of a training, its texts or prepared data, and its corpora. */
#include "driver/train/data.h"

#include "base/limits.h"
#include "driver/corpus/table_stream.h"
#include "driver/run/evaluation.h"
#include "driver/run/weights.h"
#include "driver/train/best.h"
#include "driver/train/data_checks.h"
#include "driver/train/hash_lines.h"

#include <stdlib.h>
#include <string.h>

int64_t training_batch_tokens(const TrainOptions *o, const TrainSpec *spec)
{
    return o->batch_tokens > 0 ? o->batch_tokens : o->batch_sentences > 0 ? 0 : spec->batch_tokens;
}

static SessionOptions session_options(const Training *t)
{
    const TrainOptions *o = t->options;
    SessionOptions session = session_defaults(o->model);
    session.library = o->library;
    session.reach = o->reach;
    session.freeze = o->freeze;
    session.only = o->only;
    for (size_t i = 0; i < o->settings.count; i++)
        vec_push(t->job->arena, session.settings, o->settings.data[i]);
    return session;
}

/* Patterns of fields are the names of the training's header from now on, which the run remembers as
 * if --column had said so. */
static bool expand_fields(Training *t)
{
    const TrainOptions *o = t->options;
    const TableFields was = t->fields;
    Arena *arena = t->job->arena;
    if (!o->rows && !table_fields_expand(t->job, &o->texts.data, o->line_limit, &t->fields))
        return false;
    for (int c = 0; c < t->ports.n_columns && c < MOST_COLUMNS; c++) {
        const int i = t->fields.columns[c];
        if (i >= 0 && strcmp(t->fields.names[i], was.names[i]))
            vec_push(arena, t->fields_found,
                     arena_printf(arena, "%s=%s", op_string(t->ports.columns[c], ATTR_name),
                                  t->fields.names[i]));
    }
    return true;
}

bool training_load_model(Training *t, Job *job, const TrainOptions *options)
{
    *t = (Training){.job = job,
                    .options = options,
                    .store = store_new_or_end(),
                    .run_from = weights_run(job->arena, options->weights),
                    .tokens = options->vocab.tokens};
    SessionOptions session = session_options(t);
    int32_t size =
        options->record || !options->vocab.spec ? 0 : vocab_spec_size(options->vocab.spec);
    if (size && !setting_value(&session.settings, "vocab"))
        session_set_size(job, &session, "vocab", size);
    if (!session_open(&t->session, job, &session))
        return false;
    const Module *module = t->session.model->module;
    t->ports = ports_of(module);
    t->params_new = (NewParams){.module = module, .fresh = &options->fresh};
    bool has_tokens = t->ports.source || t->ports.target;
    bool ok =
        t->session.model->has_loss ||
        job_error(
            job, "%s: the model has no loss to train by: `loss = …` says what training makes small",
            options->model);
    ok = ok && ((!has_tokens && !t->ports.is_table) ||
                ports_feed(&t->ports, session_function(&t->session, "loss"), &job->diags));
    ok = ok && session_can_train(&t->session) && training_check_predictions(t);
    ok = ok && columns_of(job, module, &t->ports, &t->columns) &&
         training_check_prepared_inputs(t) &&
         (!t->ports.is_table ||
          (table_fields_of(job, module, &t->ports, &options->columns, NULL, &t->fields) &&
           expand_fields(t)));
    ok = ok && training_check_settings(t);
    if (ok)
        training_warn_of_future(t);
    session_close(&t->session);
    return ok;
}

/* ---- prepared data ---- */

/* Params of a run whose tokens are others would be learned anew. */
static bool compare_run(Job *job, const char *run, const Prepared *rows)
{
    RunRecord record;
    const Vocabulary *vocab =
        run_record_read(job, run, &record) ? vocabulary_of_run(job, run, &record) : NULL;
    if (vocab && strcmp(prepared_vocabulary(job->arena, vocab), rows->vocabulary))
        diag_warning(&job->diags, (Loc){0},
                     "%s has another vocabulary than %s; tfc prepare --vocab %s takes that", run,
                     rows->folder, run);
    return vocab != NULL;
}

/* Other tables of the run have the fields of the one that was prepared, unless --column says so. */
static void add_field(Job *job, TrainOptions *o, const PreparedSide *side)
{
    const size_t length = side->input ? strlen(side->input) : 0;
    for (size_t i = 0; i < o->columns.count; i++)
        if (side->input && !strncmp(o->columns.data[i], side->input, length) &&
            o->columns.data[i][length] == '=')
            return;
    if (!side->input || !strcmp(side->input, side->field))
        return;
    const char *given = arena_printf(job->arena, "%s=%s", side->input, side->field);
    vec_push(job->arena, o->columns, given);
    vec_push(job->arena, o->arguments, "--column");
    vec_push(job->arena, o->arguments, given);
}

bool training_open_prepared(Job *job, TrainOptions *o)
{
    /* a path, whatever its name is like */
    const char *folder = file_absolute(&job->diags, job->arena, o->prepared);
    const Prepared *rows =
        folder ? prepared_open(&job->diags, job->arena, job_reach(job, folder)) : NULL;
    if (!rows)
        return false;
    o->rows = rows;
    o->vocab = (VocabularyChoice){.spec = folder};
    for (size_t i = 0; i < rows->tokens.count; i++)
        vec_push(job->arena, o->vocab.tokens, rows->tokens.data[i]);
    add_field(job, o, &rows->source);
    add_field(job, o, &rows->target);
    for (size_t c = 0; c < rows->columns.count; c++)
        add_field(job, o, &rows->columns.data[c]);
    const char *run = weights_run(job->arena, o->weights);
    return !run || compare_run(job, run, rows);
}

bool training_prepared_kind(Job *job, TrainOptions *o, const ModelPorts *ports)
{
    CorpusKind kind = o->rows->kind;
    bool pairs = ports->source && ports->target;
    o->kind = ports_kind(ports, kind == CORPUS_LINES);
    if (ports->is_table)
        return true; /* as check_prepared_inputs found */
    if (pairs != (kind == CORPUS_PAIRS))
        return job_error(job, "%s reads %s, and %s was prepared from %s", o->model,
                         pairs ? "sources and targets" : "one text", o->prepared,
                         pairs ? "one text" : "sources and targets");
    return o->kind != CORPUS_SENTENCES || kind == CORPUS_LINES ||
           job_error(job, "%s reads lines, and %s is one stream: prepare it with --lines", o->model,
                     o->prepared);
}

/* The corpus that prepared data is; NULL after an error in what is mixed in. */
static Corpus *prepared_corpus(Training *t, const CorpusOptions *options)
{
    const int n = (int)t->options->mix.count;
    Corpus *corpus = corpus_new(t->vocab, options);
    corpus->prepared = t->options->rows;
    corpus->n = corpus->own = t->options->rows->rows;
    corpus->mixed = t->parts = ARENA_ARRAY(t->job->arena, PreparedPart, n + 1);
    for (int i = 0; i < n; i++) {
        const Mixed *mixed = &t->mixed[i];
        PreparedPart *part = &t->parts[corpus->n_mixed++];
        *part = (PreparedPart){.prepared = mixed->prepared, .weight = mixed->weight};
        if (!mixed->prepared)
            part->rows = corpus_encode(&t->job->diags, t->vocab, options, &mixed->text);
        if (!mixed->prepared && !part->rows) {
            corpus_free(corpus);
            return NULL;
        }
    }
    return corpus;
}

/* ---- texts ---- */

static bool read_files(Training *t, const TextFiles *files, CorpusText *text)
{
    Lines *target = NULL;
    if (t->ports.is_table)
        return table_files_read(t->job, &files->data, &t->fields, t->options->line_limit, text);
    const Lines *source =
        text_files_read(t->job, files, t->options->languages, t->options->line_limit, &target);
    *text = (CorpusText){.source = source, .target = target};
    return source != NULL;
}

/* The file of an option that names one of these data. */
static TextFiles one_file(Training *t, const char *path)
{
    TextFiles files = {.columns = t->options->texts.columns};
    bool is_data = t->options->kind == CORPUS_PAIRS || t->ports.is_table;
    vec_push(t->job->arena, *(is_data ? &files.data : &files.text), path);
    return files;
}

static bool add_valid(Training *t, const char *name, const TextFiles *files)
{
    ValidText *valid = &t->valid[t->n_valid++];
    *valid = (ValidText){.name = name};
    return read_files(t, files, &valid->text);
}

/* "NAME=FILE" of --valid, whose name is not another's. */
static bool add_named(Training *t, const char *text)
{
    Job *job = t->job;
    const char *equals = strchr(text, '=');
    if (!equals || equals == text || !equals[1])
        return job_error(job, "--valid %s: expected NAME=FILE", text);
    const char *name = arena_strndup(job->arena, text, (size_t)(equals - text));
    if (!strcmp(name, TRAIN_MEAN))
        return job_error(job, "--valid %s: 'mean' is that of all texts, not a name of one", text);
    if (train_measure_find(name) && !t->options->record)
        return job_error(job, "--valid %s: '%s' is a measure of --best, not a name of a text", text,
                         name);
    for (int i = 0; i < t->n_valid; i++)
        if (t->valid[i].name && !strcmp(t->valid[i].name, name))
            return job_error(job, "--valid %s: there is a text of this name already", text);
    const TextFiles files = one_file(t, equals + 1);
    return add_valid(t, name, &files);
}

static bool read_valid(Training *t)
{
    const TrainOptions *o = t->options;
    t->valid = ARENA_ARRAY(t->job->arena, ValidText, o->valid.count + 1);
    t->figures = ARENA_ARRAY(t->job->arena, TrainValid, o->valid.count + 1);
    bool ok = !text_files_given(&o->valid_texts) || add_valid(t, NULL, &o->valid_texts);
    for (size_t i = 0; ok && i < o->valid.count; i++)
        ok = add_named(t, o->valid.data[i]);
    return ok && (!t->n_valid || training_read_best(t));
}

static bool read_texts(Training *t)
{
    if (t->options->rows)
        return read_valid(t);
    bool ok = read_files(t, &t->options->texts, &t->text);
    return read_valid(t) && ok;
}

/* "FILE:WEIGHT" of --mix; false after an error. */
static bool parse_mix(Job *job, const char *text, Mixed *mixed)
{
    const char *colon = strrchr(text, ':');
    char *end = NULL;
    *mixed = (Mixed){.weight = colon ? strtod(colon + 1, &end) : 0};
    if (!colon || colon == text || end == colon + 1 || *end || !(mixed->weight > 0) ||
        !(mixed->weight <= 1000))
        return job_error(job,
                         "--mix %s: expected FILE:WEIGHT, where WEIGHT says how many of its lines "
                         "there are to one of the main text, above 0 and at most 1000",
                         text);
    mixed->path = arena_strndup(job->arena, text, (size_t)(colon - text));
    return true;
}

/* Whether two folders were prepared with the same vocabulary from texts of a kind, or for the same
 * inputs. */
static bool check_same(Job *job, const Prepared *main, const Prepared *mixed)
{
    const char *inputs = training_prepared_inputs(job->arena, main),
               *others = training_prepared_inputs(job->arena, mixed);
    if (main->kind != mixed->kind)
        return job_error(job, "--mix %s: it was prepared from %s, and %s from %s", mixed->folder,
                         corpus_kind_words[mixed->kind], main->folder,
                         corpus_kind_words[main->kind]);
    if (strcmp(inputs, others))
        return job_error(job, "--mix %s: it was prepared for the inputs %s, and %s for %s",
                         mixed->folder, *others ? others : "of texts", main->folder,
                         *inputs ? inputs : "texts");
    if (strcmp(main->vocabulary, mixed->vocabulary))
        return job_error(job,
                         "--mix %s: its vocabulary has %s, and that of %s %s: prepare it with "
                         "--vocab %s",
                         mixed->folder, mixed->vocabulary, main->folder, main->vocabulary,
                         main->folder);
    for (size_t c = 0; c < main->columns.count; c++) {
        const PreparedSide *a = &main->columns.data[c], *b = &mixed->columns.data[c];
        if (strcmp(a->holds, b->holds))
            return job_error(job,
                             "--mix %s: it has of `%s` %s, and %s has %s: prepare both with the "
                             "same model and lists of words",
                             mixed->folder, b->input, b->holds, main->folder, a->holds);
    }
    return true;
}

static bool open_mixed(Training *t, Mixed *mixed)
{
    Job *job = t->job;
    const Prepared *main = t->options->rows;
    if (!main)
        return job_error(job,
                         "--mix %s: prepared data is mixed into prepared data alone: give the "
                         "texts, or --prepared",
                         mixed->path);
    const char *folder = file_absolute(&job->diags, job->arena, mixed->path);
    mixed->prepared =
        folder ? prepared_open(&job->diags, job->arena, job_reach(job, folder)) : NULL;
    return mixed->prepared && check_same(job, main, mixed->prepared);
}

/* Reads what --mix names: prepared data, a table, pairs separated by a tab, or lines. False after
 * an error. */
static bool read_mixed(Training *t)
{
    const TrainOptions *o = t->options;
    Job *job = t->job;
    t->mixed = ARENA_ARRAY(job->arena, Mixed, o->mix.count + 1);
    if (o->mix.count && o->kind == CORPUS_STREAM)
        return job_error(job, "--mix mixes lines: %s is one stream without --lines",
                         o->rows ? o->prepared : "--text");
    for (size_t i = 0; i < o->mix.count; i++) {
        Mixed *mixed = &t->mixed[i];
        if (!parse_mix(job, o->mix.data[i], mixed))
            return false;
        const TextFiles files = one_file(t, mixed->path);
        if (!(is_prepared(mixed->path) ? open_mixed(t, mixed)
                                       : read_files(t, &files, &mixed->text)))
            return false;
    }
    return true;
}

/* ---- corpora ---- */

static bool open_model(Training *t)
{
    SessionOptions session = session_options(t);
    const DataColumns begun = t->columns;
    column_words_set_sizes(t->job, &begun, &session);
    t->session_is_open = inference_open_model(&t->session, t->job, &session, t->vocab);
    if (!t->session_is_open)
        return false;
    t->ports = ports_of(t->session.model->module);
    if (!columns_of(t->job, t->session.model->module, &t->ports, &t->columns))
        return false;
    column_words_pass(&begun, &t->columns);
    return columns_take_vocabulary(t->job, t->session.model, &t->columns, t->vocab);
}

/* Windows of a stream are no longer than a batch. */
static int64_t window_length(const Training *t)
{
    int64_t longest = session_max_length(&t->session);
    int64_t batch = training_batch_tokens(t->options, &t->session.model->train);
    return !longest ? EVALUATION_WINDOW : batch && batch < longest ? batch : longest;
}

/* Where a length is from that no option has said. */
static const char *longest_text(const Training *t, int64_t length)
{
    const PositionTable table = position_table(t->session.model->module, NULL);
    return table.length == length
               ? arena_printf(
                     t->job->arena,
                     "the %lld positions of the model: shorten the lines, or give '%s' more rows (of the libraries: --set context=N)",
                     (long long)length, table.name)
               : arena_printf(t->job->arena, "max_length = %lld of the model's train block",
                              (long long)length);
}

/* max_length of the run being resumed; 0: nothing is recorded. False after an error. */
static bool read_recorded_length(const Training *t, int64_t *length)
{
    const TrainOptions *o = t->options;
    *length = 0;
    return !o->record ||
           run_record_number(t->job, o->home, o->record, "max_length", LIMIT_max_length, length);
}

/* A resumed run has the lengths that it began with: read_recorded_length has read them before. */
static CorpusOptions corpus_options(const Training *t)
{
    const TrainOptions *o = t->options;
    const Feed feed = feed_of(t->session.model->module, &t->ports);
    CorpusOptions options = {.kind = o->kind,
                             .max_length = o->max_length > 0 ? o->max_length : 0,
                             .columns = t->columns.specs,
                             .n_columns = t->columns.n,
                             .formulas = t->columns.formulas,
                             .same_lengths = feed_shares_lengths(&feed)};
    const bool is_recorded = o->record && run_record_fact(o->record, "max_length");
    if (!options.max_length && is_recorded)
        read_recorded_length(t, &options.max_length);
    else if (!options.max_length)
        options.max_length =
            options.kind == CORPUS_STREAM ? window_length(t) : session_max_length(&t->session);
    if (o->max_length <= 0)
        options.longest = longest_text(t, options.max_length);
    return options;
}

/* What is validated on is all there, as in tfc eval. */
static Corpus *encode_valid(Training *t, const ValidText *text)
{
    CorpusOptions options = corpus_options(t);
    options.keep_all = options.kind != CORPUS_STREAM;
    Corpus *corpus = corpus_encode(&t->job->diags, t->vocab, &options, &text->text);
    if (!corpus || corpus->n)
        return corpus;
    diag_error(&t->job->diags, (Loc){.source = corpus_lines(&text->text)->source},
               "there is no line to validate on");
    corpus_free(corpus);
    return NULL;
}

bool training_load_data(Training *t)
{
    int64_t recorded;
    if (!read_recorded_length(t, &recorded) || !training_check_sizes(t) || !read_texts(t) ||
        !read_mixed(t) || !training_make_vocabulary(t) || !training_check_vocabulary(t) ||
        !open_model(t) || !training_check_prepared_columns(t) ||
        !training_check_length(t, corpus_options(t).max_length) ||
        (!t->options->memory &&
         !training_check_memory(t, true))) /* --memory: what is compiled is fitted (memory_fit) */
        return false;
    training_warn_of_overlap(t);
    const CorpusOptions options = corpus_options(t);
    t->corpus = t->options->rows ? prepared_corpus(t, &options)
                                 : corpus_encode(&t->job->diags, t->vocab, &options, &t->text);
    bool ok = t->corpus != NULL;
    for (size_t i = 0; ok && !t->options->rows && i < t->options->mix.count; i++)
        ok = corpus_mix(&t->job->diags, t->corpus, t->mixed[i].weight, &t->mixed[i].text);
    ok = ok && training_check_unknown(t) &&
         (t->options->rows || training_check_made(t, t->corpus, corpus_lines(&t->text)));
    for (int i = 0; ok && i < t->n_valid; i++) {
        ValidText *valid = &t->valid[i];
        valid->corpus = encode_valid(t, valid);
        ok = valid->corpus && training_check_made(t, valid->corpus, corpus_lines(&valid->text));
    }
    return ok;
}

void training_free(Training *t)
{
    inference_free(&t->inference);
    hash_lines_close(t->hash_lines);
    if (t->session_is_open)
        session_close(&t->session);
    for (size_t i = 0; t->parts && i < t->options->mix.count; i++)
        corpus_free(t->parts[i].rows);
    corpus_free(t->corpus);
    for (int i = 0; i < t->n_valid; i++)
        corpus_free(t->valid[i].corpus);
    if (t->split)
        store_free(t->split->own);
    store_free(t->store);
}
