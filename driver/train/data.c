/* The texts of a training or its prepared data, its vocabulary, and the model with that
 * vocabulary. */
#define _GNU_SOURCE
#include "driver/train/data.h"

#include "driver/ports/ports.h"
#include "driver/run/column_words.h"
#include "driver/run/evaluation.h"
#include "driver/run/prediction.h"
#include "driver/train/best.h"
#include "driver/train/checks.h"
#include "passes/derive.h"

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
    session.freeze = o->freeze;
    session.only = o->only;
    for (size_t i = 0; i < o->settings.count; i++)
        vec_push(t->job->arena, session.settings, o->settings.data[i]);
    return session;
}

/* A model that predicts next tokens and cannot be asked for them one by one: it may see what it is
 * to predict. What tfc check and tfc generate say of it is a warning here. */
static void warn_of_future(Training *t)
{
    Diagnostics *diags = &t->job->diags, found;
    const bool ok = !ports_predict(&t->ports) || session_decodes(&t->session, NULL, NULL, &found);
    if (!ok)
        diag_add_warnings(diags, &found);
    if (!ok)
        diag_note(
            diags, (Loc){0},
            "the model may see the tokens that it is to predict: its loss would be too good, and tfc generate "
            "refuses it");
}

/* Whether what the model predicts reads only params that the loss reads: others would stay as they
 * began, and checkpoints have none of them. */
static bool check_predictions(Training *t)
{
    Module *module = t->session.model->module;
    const Map reads = params_of_loss(module_function(module, "model"));
    if (!predicts(module))
        return true;
    FOR_OPS (op, &derive_predict(module)->body)
        if (op->kind == OP_param && !map_has(&reads, op_string(op, ATTR_name))) {
            diag_error(
                &t->job->diags, op->loc,
                "a `predict` reads the param '%s', which the loss does not: it would stay as it "
                "begins; `as same NAME` shares the params of another call",
                op_string(op, ATTR_name));
            return false;
        }
    return true;
}

/* "`src`, `label`": the inputs that prepared data feeds. */
static const char *prepared_inputs(Arena *arena, const Prepared *rows)
{
    const PreparedSide *sides[] = {&rows->source, &rows->target};
    const char *text = "";
    for (int i = 0; i < 2; i++)
        if (sides[i]->input)
            text = arena_printf(arena, "%s%s`%s`", text, *text ? ", " : "", sides[i]->input);
    for (size_t c = 0; c < rows->columns.count; c++)
        text =
            arena_printf(arena, "%s%s`%s`", text, *text ? ", " : "", rows->columns.data[c].input);
    return text;
}

static bool is_input(const PreparedSide *side, const char *input)
{
    return side->input && input ? !strcmp(side->input, input) : !side->input == !input;
}

/* Whether prepared data is of texts or of a table, as the model reads it, and feeds its inputs. */
static bool check_prepared_inputs(Job *job, const TrainOptions *o, const ModelPorts *ports,
                                  const DataColumns *columns)
{
    const Prepared *rows = o->rows;
    if (!rows || (!ports->is_table && !prepared_is_table(rows)))
        return true;
    if (ports->is_table != prepared_is_table(rows))
        return job_error(job,
                         ports->is_table
                             ? "%s reads columns of a table, and %s was prepared from texts: tfc "
                               "prepare %s --data FILE prepares a table"
                             : "%s reads texts, and %s was prepared from a table for another model",
                         o->model, o->prepared, o->model);
    bool ok = is_input(&rows->source, ports->source) && is_input(&rows->target, ports->target) &&
              (int)rows->columns.count == columns->n;
    for (int c = 0; c < columns->n && ok; c++)
        ok = is_input(&rows->columns.data[c], columns->specs[c].input);
    return ok || job_error(job, "%s was prepared for a model with the inputs %s, and %s has others",
                           o->prepared, prepared_inputs(job->arena, rows), o->model);
}

/* Whether the columns of prepared data hold what the model reads. */
static bool check_prepared_columns(const Training *t)
{
    const Prepared *rows = t->options->rows;
    for (int c = 0; rows && c < t->columns.n; c++) {
        const ColumnSpec *spec = &t->columns.specs[c];
        const char *was = rows->columns.data[c].holds, *now = column_holds(t->job->arena, spec);
        if (strcmp(was, now))
            return job_error(t->job, "%s has of `%s` %s, and %s reads %s: prepare the table again",
                             t->options->prepared, spec->input, was, t->options->model, now);
    }
    return true;
}

bool training_load_model(Training *t, Job *job, const TrainOptions *options)
{
    *t = (Training){.job = job, .options = options, .store = store_new()};
    SessionOptions session = session_options(t);
    int32_t size =
        options->record || !options->vocab.spec ? 0 : vocab_spec_size(options->vocab.spec);
    if (size && !setting_value(&session.settings, "vocab"))
        session_set_size(job, &session, "vocab", size);
    if (!session_open(&t->session, job, &session))
        return false;
    const Module *module = t->session.model->module;
    t->ports = ports_of(module);
    bool has_tokens = t->ports.source || t->ports.target;
    bool ok = t->session.model->has_loss ||
              job_error(job, "%s: the model has no loss to train by", options->model);
    ok = ok && ((!has_tokens && !t->ports.is_table) ||
                ports_feed(&t->ports, session_function(&t->session, "loss"), &job->diags));
    ok = ok && session_can_train(&t->session) && check_predictions(t);
    ok = ok && columns_of(job, module, &t->ports, &t->columns) &&
         check_prepared_inputs(job, options, &t->ports, &t->columns) &&
         table_fields_of(job, module, &t->ports, &options->columns, NULL, &t->fields);
    ok = ok && training_check_settings(t);
    if (ok)
        warn_of_future(t);
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
    char *real = realpath(o->prepared, NULL); /* a path, whatever its name is like */
    const char *folder = arena_strdup(job->arena, real ? real : o->prepared);
    free(real);
    const Prepared *rows = prepared_open(&job->diags, job->arena, folder);
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
    return !o->weights || !is_run_folder(o->weights) || compare_run(job, o->weights, rows);
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

/* Whether the vocabulary is still that of the prepared data, if there is such. */
static bool check_vocabulary(const Training *t)
{
    const Prepared *rows = t->options->rows;
    if (!rows)
        return true;
    const char *now = prepared_vocabulary(t->job->arena, t->vocab);
    return !strcmp(now, rows->vocabulary) ||
           job_error(t->job,
                     "the vocabulary is not the one that %s was prepared with: that had %s, and "
                     "this has %s; prepare the texts again",
                     t->options->prepared, rows->vocabulary, now);
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
    TextFiles files = {0};
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
    const char *inputs = prepared_inputs(job->arena, main),
               *others = prepared_inputs(job->arena, mixed);
    if (main->kind != mixed->kind)
        return job_error(job, "--mix %s: it was prepared from %s, and %s from %s", mixed->folder,
                         corpus_kind_name(mixed->kind), main->folder, corpus_kind_name(main->kind));
    if (strcmp(inputs, others))
        return job_error(job, "--mix %s: it was prepared for the inputs %s, and %s for %s",
                         mixed->folder, *others ? others : "of texts", main->folder,
                         *inputs ? inputs : "those of texts");
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
    char *real = realpath(mixed->path, NULL);
    const char *folder = arena_strdup(job->arena, real ? real : mixed->path);
    free(real);
    mixed->prepared = prepared_open(&job->diags, job->arena, folder);
    return mixed->prepared && check_same(job, main, mixed->prepared);
}

/* What is mixed in: prepared data, tables, pairs with a tab between them, or lines. */
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

/* ---- vocabulary and corpora ---- */

/* The columns in tokens of the run's vocabulary: of the sources, or the others. */
static int list_texts(const Training *t, bool source, const Lines **texts, int n)
{
    const CorpusText *text = &t->text;
    for (int c = 0; c < t->columns.n && text->columns; c++) {
        if (column_is_shared_text(&t->columns, c) && t->columns.specs[c].is_source == source &&
            !text->columns[c]->tensor)
            texts[n++] = text->columns[c];
    }
    return n;
}

/* What the vocabulary is made from: sources, targets, and columns that are text. */
static Vocabulary *vocabulary_of_texts(Training *t)
{
    const TrainOptions *o = t->options;
    const Lines *texts[MOST_COLUMNS + 2];
    int n = 0;
    if (t->text.source)
        texts[n++] = t->text.source;
    const int n_source = n = list_texts(t, true, texts, n);
    if (t->text.target)
        texts[n++] = t->text.target;
    n = list_texts(t, false, texts, n);
    const VocabularyTexts all = {texts, n, n_source, o->kind == CORPUS_PAIRS,
                                 columns_hide(&t->columns)};
    return o->vocab.spec ? vocabulary_make(t->job, &o->vocab, &all)
                         : vocab_empty(&t->job->diags, t->job->arena);
}

static bool make_vocabulary(Training *t)
{
    const TrainOptions *o = t->options;
    if (o->record) {
        t->vocab = vocabulary_of_run(t->job, o->out, o->record);
        if (t->vocab && !column_words_read(t->job, o->out, o->record, &t->columns))
            return false;
    } else {
        if (vocabulary_needs_text(&o->vocab))
            vocabulary_note(t->job, &o->vocab, o->kind == CORPUS_PAIRS, "");
        job_show(t->job);
        t->vocab = vocabulary_of_texts(t);
        if (!(o->rows ? column_words_read(t->job, o->prepared, NULL, &t->columns)
                      : column_words_make(t->job, &t->ports, &t->columns, t->text.columns,
                                          o->line_limit, o->vocab.normalize)) ||
            (o->weights && is_run_folder(o->weights) &&
             !column_words_keep(t->job, o->weights, &t->columns)))
            return false;
    }
    if (t->vocab)
        vocab_set_stream(t->vocab, o->kind == CORPUS_STREAM);
    return t->vocab != NULL;
}

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
    return columns_take_vocabulary(t->job, &t->columns, t->vocab);
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

/* A resumed run has the lengths that it began with. */
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
    const char *was = o->record ? run_record_fact(o->record, "max_length") : NULL;
    if (!options.max_length && was)
        options.max_length = strtoll(was, NULL, 10);
    else if (!options.max_length)
        options.max_length =
            options.kind == CORPUS_STREAM ? window_length(t) : session_max_length(&t->session);
    if (o->max_length <= 0)
        options.longest = longest_text(t, options.max_length);
    return options;
}

/* No text is longer than the model has positions. */
static bool check_length(const Training *t)
{
    int64_t length = corpus_options(t).max_length, said = t->session.model->train.max_length;
    PositionTable table = position_table(t->session.model->module, NULL);
    if (t->options->max_length <= 0 && said > length)
        length = said;
    return !table.length || length <= table.length ||
           job_error(t->job,
                     "max_length is %lld, but the model's table '%s' has %lld positions: "
                     "--max-length %lld is the most",
                     (long long)length, table.name, (long long)table.length,
                     (long long)table.length);
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

/* Adds the unknown tokens of prepared data to the counts, and tells of them. */
static void add_unknown(const Training *t, const Prepared *rows, SidesUnknown *sides)
{
    const SidesUnknown more = prepared_unknown(rows);
    sides->source.tokens += more.source.tokens;
    sides->source.unknown += more.source.unknown;
    sides->target.tokens += more.target.tokens;
    sides->target.unknown += more.target.unknown;
    prepared_tell_unknown(&t->job->diags, rows);
}

/* Whether the vocabulary has tokens for most of what is trained on: else the model would learn to
 * say the unknown one, by a loss that looks good. A run that is resumed has begun so. */
static bool check_unknown(Training *t)
{
    const TrainOptions *o = t->options;
    SidesUnknown sides = {0};
    if (o->rows) {
        add_unknown(t, o->rows, &sides);
        for (size_t i = 0; i < o->mix.count; i++)
            if (t->parts[i].prepared)
                add_unknown(t, t->parts[i].prepared, &sides);
            else
                corpus_count_unknown(t->parts[i].rows, 0, &sides);
    } else {
        corpus_count_unknown(t->corpus, 0, &sides);
    }
    if (o->record || o->allow_unknown ||
        (!unknown_is_above(&sides.source, UNKNOWN_REFUSED) &&
         !unknown_is_above(&sides.target, UNKNOWN_REFUSED)))
        return true;
    return job_error(
        t->job,
        "more than %.0f %% of the tokens to train on are unknown to the vocabulary of %s: %s that is learned "
        "from these texts, or --allow-unknown trains all the same",
        100 * UNKNOWN_REFUSED, o->prepared ? o->prepared : o->vocab.spec,
        o->prepared ? "prepare them with one" : "give one (--vocab auto:8000, or words:auto)");
}

bool training_load_data(Training *t)
{
    if (!training_check_sizes(t) || !read_texts(t) || !read_mixed(t) || !make_vocabulary(t) ||
        !check_vocabulary(t) || !open_model(t) || !check_prepared_columns(t) || !check_length(t) ||
        (!t->options->memory &&
         !training_check_memory(t, true))) /* --memory: what is compiled is fitted (memory.h) */
        return false;
    const CorpusOptions options = corpus_options(t);
    t->corpus = t->options->rows ? prepared_corpus(t, &options)
                                 : corpus_encode(&t->job->diags, t->vocab, &options, &t->text);
    bool ok = t->corpus != NULL;
    for (size_t i = 0; ok && !t->options->rows && i < t->options->mix.count; i++)
        ok = corpus_mix(&t->job->diags, t->corpus, t->mixed[i].weight, &t->mixed[i].text);
    ok = ok && check_unknown(t);
    for (int i = 0; ok && i < t->n_valid; i++) {
        ValidText *valid = &t->valid[i];
        valid->corpus = encode_valid(t, valid);
        ok = valid->corpus != NULL;
    }
    return ok;
}

void training_free(Training *t)
{
    inference_free(&t->inference);
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
