/* tfc predict: what a model says it predicts, for each record of a table or line of a text. */
#include "cli/commands/commands.h"
#include "cli/predicted.h"
#include "cli/records.h"
#include "cli/stream.h"
#include "driver/exchange/prompts.h"
#include "driver/formats/npz.h"
#include "driver/run/folder.h"
#include "driver/run/prediction.h"
#include "driver/run/thresholds.h"
#include "runtime/data/table.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

typedef struct Predict {
    Common common;
    RecordFiles given;
    const char *only, *npy, *tsv, *lexicon, *separator, *prompt;
    int64_t top, beam;
    double threshold;
    bool json;
} Predict;

/* ---- values in a file ---- */

/* Answers: what is written, and where.
 *   shown    the prediction, if there is only one; NULL: all, as JSON
 *   values   file of --npy or --tsv; NULL: neither
 *   late     with --npy, if `values` is a device or a pipe: the values, which follow a header with
 *            their number
 *   header   bytes of the header that --npy has room for
 *   n_odd    rows with a value that is no number */
typedef struct Answers {
    const Predict *o;
    Predictor *predictor;
    const Prediction *shown;
    FileWriter *values;
    Text late;
    size_t header;
    PredictedForm form;
    int64_t n_odd;
} Answers;

/* The option that writes all values into a file; NULL: none. */
static const char *values_option(const Predict *o)
{
    return o->npy ? "--npy" : o->tsv ? "--tsv" : NULL;
}

/* The header of an array of `rows` rows. */
static void put_header(const Answers *a, int64_t rows, size_t least, Text *out)
{
    const int64_t width = a->shown->width;
    const NpyArray array = {
        .type = ST_F32, .rank = width > 1 ? 2 : 1, .dims = {rows, width}, .count = rows * width};
    npy_put_header(&array, least, out);
}

/* The columns of a table of values: the classes, or NAME, NAME.1, NAME.2, … */
static void put_names(const Prediction *shown, Text *out)
{
    for (int64_t i = 0; i < shown->width; i++) {
        text_string(out, i ? "\t" : "");
        if (shown->classes && shown->names && shown->width == shown->n_classes)
            text_string(out, shown->names[i]);
        else if (i)
            text_add(out, "%s.%lld", shown->name, (long long)i);
        else
            text_string(out, shown->name);
    }
    text_string(out, "\n");
}

/* Begins the file of --npy or --tsv: with a header that has room for any number of rows, unless it
 * cannot be written over. */
static bool open_values(Job *job, Answers *a)
{
    if (!values_option(a->o))
        return true;
    Text header = {0};
    a->values = file_create(&job->diags, a->o->npy ? a->o->npy : a->o->tsv);
    if (!a->values)
        return false;
    if (a->o->npy)
        put_header(a, INT64_MAX / a->shown->width, 0, &header);
    else
        put_names(a->shown, &header);
    a->header = header.length;
    if (a->o->tsv || file_temporary(a->values))
        file_write(a->values, header.data, header.length);
    text_free(&header);
    return true;
}

/* Writes n values of a row. */
static void put_values(Answers *a, const float *values, int64_t n)
{
    const size_t bytes = (size_t)n * sizeof *values;
    Text line = {0};
    if (a->o->npy && file_temporary(a->values))
        file_write(a->values, values, bytes);
    else if (a->o->npy)
        text_put(&a->late, (const char *)values, bytes);
    for (int64_t i = 0; a->o->tsv && i < n; i++)
        text_add(&line, "%.9g%s", (double)values[i], i + 1 < n ? "\t" : "\n");
    if (a->o->tsv)
        file_write(a->values, line.data, line.length);
    text_free(&line);
}

static bool close_values(Job *job, Answers *a, int64_t rows, bool ok)
{
    Text header = {0};
    if (a->values && !ok)
        file_discard(a->values);
    if (!a->values || !ok)
        return ok;
    if (a->o->npy)
        put_header(a, rows, a->header, &header);
    if (a->o->npy && file_temporary(a->values))
        file_rewrite(a->values, 0, header.data, header.length);
    else if (a->o->npy)
        file_write(a->values, header.data, header.length);
    if (a->late.length)
        file_write(a->values, a->late.data, a->late.length);
    text_free(&header);
    return file_commit(a->values, &job->diags);
}

/* ---- rows ---- */

static bool has_odd(const float *values, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        if (!isfinite(values[i]))
            return true;
    return false;
}

static bool put_row(Job *job, Answers *a, int64_t line, const Predicted *results, int64_t row,
                    Text *out)
{
    JsonWriter json = {.out = out};
    bool ok = true;
    a->form.line = line;
    if (a->o->json) {
        json_open(&json, NULL, '{');
        json_put_integer(&json, "line", line);
    }
    for (int p = 0; p < a->predictor->n && ok; p++) {
        const Prediction *prediction = &a->predictor->all[p];
        const int64_t first = results[p].start[row], n = results[p].start[row + 1] - first;
        a->n_odd += has_odd(results[p].values + first, n);
        if (a->values)
            put_values(a, results[p].values + first, n);
        else if (a->o->json)
            ok = predicted_put_member(job, &a->form, prediction, results[p].values + first, n,
                                      &json);
        else
            ok = predicted_put_row(job, &a->form, prediction, results[p].values + first, n, out);
    }
    if (a->o->json) {
        json_close(&json, '}');
        text_string(out, "\n");
    }
    return ok;
}

/* Of record i of the window, without positions. */
static bool put_empty(Job *job, const Answers *a, const TextStream *stream, int64_t i, Text *out)
{
    if (a->values) {
        diag_error(&job->diags, stream_record(stream, i),
                   "%s: nothing is predicted of an empty cell", values_option(a->o));
        return false;
    }
    if (a->o->json)
        text_add(out, "{\"line\": %lld}", (long long)(stream->first + i));
    text_string(out, "\n");
    return true;
}

static bool predict_window(Job *job, Answers *a, TextStream *stream)
{
    Arena *arena = arena_new();
    Predicted *results = ARENA_ARRAY(arena, Predicted, a->predictor->n + 1);
    bool ok = predictor_run(a->predictor, job, stream->corpus, arena, results);
    Text out = {0};
    for (int64_t i = 0; ok && i < stream->n; i++)
        ok = stream->row[i] < 0 ? put_empty(job, a, stream, i, &out)
                                : put_row(job, a, stream->first + i, results, stream->row[i], &out);
    if (ok && out.length)
        stream_put(stream, out.data, out.length);
    text_free(&out);
    arena_free(arena);
    return ok && stream_flush(stream);
}

static bool find_shown(Job *job, const Predict *o, Answers *a)
{
    const Predictor *p = a->predictor;
    const char *list = "", *option = values_option(o);
    for (int i = 0; i < p->n; i++)
        list = arena_printf(job->arena, "%s%s%s", list, i ? ", " : "", p->all[i].name);
    if (p->n == 1)
        a->shown = &p->all[0];
    if (!a->shown && (!o->json || option))
        return job_error(
            job, "the model predicts %s: --only NAME chooses one, and --json gives all", list);
    if (option && a->shown->side >= 0)
        return job_error(job,
                         "%s: rows of `%s` have different lengths, and an array has none: "
                         "use --json",
                         option, a->shown->name);
    if (o->top > 1 && !o->json && !option && !a->shown->is_ctc &&
        (!a->shown->classes || a->shown->side >= 0))
        return job_error(job,
                         a->shown->classes
                             ? "--top %lld: `%s` is one class for each position: use --json"
                             : "--top %lld: `%s` has numbers, and no classes",
                         (long long)o->top, a->shown->name);
    if (!o->json && !option && a->shown->side >= 0 && !a->shown->classes && a->shown->width > 1)
        return job_error(job, "`%s` has %lld numbers for each position: use --json", a->shown->name,
                         (long long)a->shown->width);
    return true;
}

/* How rows are written; a lexicon is of the one prediction that CTC makes labels of. */
static bool begin_form(Job *job, Answers *a)
{
    const Predict *o = a->o;
    const Prediction *ctc = NULL;
    for (int p = 0; p < a->predictor->n; p++)
        if (a->predictor->all[p].is_ctc)
            ctc = &a->predictor->all[p];
    a->form.top = o->top;
    a->form.beam.width = (int32_t)o->beam;
    if (!ctc && (o->beam > 1 || o->lexicon))
        return job_error(job, "%s: the model predicts no labels of a CTC loss",
                         o->lexicon ? "--lexicon" : "--beam");
    if (o->lexicon)
        a->form.beam.lexicon = ctc_lexicon_read(job, ctc, o->lexicon, o->separator);
    return !o->lexicon || a->form.beam.lexicon;
}

static void tell_odd(Job *job, int64_t n_odd, int64_t records)
{
    if (n_odd)
        diag_warning(
            &job->diags, (Loc){0},
            "%lld prediction%s of the %lld records %s a value that is no number: tfc train "
            "--check-numerics names the operation that makes it",
            (long long)n_odd, text_plural(n_odd, "", "s"), (long long)records,
            text_plural(n_odd, "has", "have"));
}

/* Writes a prompt before the one text that the predictions read. */
static bool take_prompt(Job *job, const Predict *o, const RunFolder *run, Predictor *predictor)
{
    const char *prompt;
    ColumnSpec *text = NULL;
    int n = 0;
    if (!prompts_of_run(job, run->path, o->prompt, &prompt))
        return false;
    for (int c = 0; c < predictor->columns.n; c++)
        if (predictor->columns.specs[c].kind == COLUMN_TEXT && !n++)
            text = &predictor->columns.specs[c];
    if (prompt && n != 1)
        return job_error(job,
                         "--prompt %s: a prompt stands before the text of a model that reads one, "
                         "and this one reads %d",
                         o->prompt ? o->prompt : "NAME", n);
    if (prompt)
        text->prompt = prompt;
    return true;
}

static bool predict(Job *job, const void *record, RunFolder *run)
{
    const Predict *o = record;
    Predictor predictor = {0};
    TextStream stream = {.job = job};
    Answers answers = {.o = o, .predictor = &predictor};
    StreamOptions options = {
        .predictor = &predictor, .window_values = PREDICTED_VALUES, .gives_names = true};
    if (o->threshold >= 0 && o->top > 0)
        return job_error(job, "--threshold: --top gives the most probable labels, whatever the "
                              "thresholds are: leave one of the two out");
    bool ok =
        predictor_prepare(&predictor, job, &run->inference, &run->columns, run->kind, o->only) &&
        predictor_add_members(&predictor, job, run) && take_prompt(job, o, run, &predictor) &&
        find_shown(job, o, &answers) && begin_form(job, &answers) &&
        (options.table = records_open(job, run, &predictor, &o->given)) != NULL &&
        stream_open(&stream, job, &options) && run_folder_load(job, run, o->common.checkpoint) &&
        thresholds_settle(job, &predictor, run, o->threshold) && open_values(job, &answers);
    cli_flush(job);
    if (!o->json && !answers.values)
        predicted_cut_names(job->arena, &predictor);
    while (ok && stream_next(&stream))
        ok = predict_window(job, &answers, &stream);
    const int64_t records = stream.first + stream.n;
    ok = stream_close(&stream, ok);
    predicted_tell_notes(job, &answers.form);
    tell_odd(job, answers.n_odd, records);
    ok = close_values(job, &answers, records, ok);
    text_free(&answers.late);
    predictor_close(&predictor);
    return ok;
}

static int run_predict(Job *job, void *record, const Arguments *arguments)
{
    Predict *o = record;
    o->given.line_limit = o->common.line_limit;
    if ((o->npy != NULL) + (o->tsv != NULL) + o->json > 1)
        return cli_usage_error("--npy, --tsv and --json are ways to give values: one of them");
    TableFormat format;
    if (o->npy && table_is_named(o->npy, &format))
        return cli_usage_error("--npy %s: --npy writes an array of NumPy, and --tsv FILE a table",
                               o->npy);
    if (o->separator && !o->lexicon)
        return cli_usage_error(
            "--separator is for --lexicon, whose words it separates: add that, or leave --separator out");
    return common_run(job, &o->common, arguments->words[0], predict, o);
}

static const Option options[] = {
    {"input", "FILE", FIELD(Predict, given.files), 0, NULL,
     TABLE_HELP "; or lines "
                "of text, if the predictions read one field (standard input)"},
    OPTION_COLUMN(Predict, given.columns),
    {"only", "NAME", FIELD(Predict, only), 0, NULL, "the prediction to give, of several"},
    {"top", "K", FIELD(Predict, top), 1, NULL,
     "give the K most probable classes, or results of CTC with their log-probabilities (1); of\n"
     "sets of labels the K most probable ones, with their probabilities"},
    {"threshold", "P", FIELD(Predict, threshold), 0, "-1",
     "of sets: give the labels with a probability of at least P, from 0 to 1 (those that the run "
     "chose on its validation text for each label, or 0.5)"},
    {"beam", "N", FIELD(Predict, beam), 1, "1",
     "search labels of CTC by a beam of N prefixes; 1: the best path"},
    {"lexicon", "FILE", FIELD(Predict, lexicon), 0, NULL,
     "give only words of this list: in each line the labels of one, with blanks between them"},
    {"separator", "LABEL", FIELD(Predict, separator), 0, NULL,
     "the label between words of the lexicon; without it a result is one word"},
    {"json", NULL, FIELD(Predict, json), 0, NULL,
     "print a JSON object for each record: line, and each prediction by its name: classes as "
     "[NAME, PROBABILITY] each, numbers, or a list of such for each position"},
    {"npy", "FILE", OUTPUT(Predict, npy), 0, NULL,
     "write the values of all records as one array of f32: [records, values]; a pipe gets it at "
     "the end, and memory holds it until then"},
    {"tsv", "FILE", OUTPUT(Predict, tsv), 0, NULL,
     "write the values of all records as a table: a header of classes or numbers, a record a line"},
    {"prompt", "NAME", FIELD(Predict, prompt), 0, NULL,
     "write this prompt of a published encoder before each text; '' none (that of the published\n"
     "default_prompt_name)"},
    OPTION_CHECKPOINT(Predict),
    OPTION_WEIGHTS(Predict),
    OPTION_VOCAB(Predict),
    OPTION_TOKEN(Predict, common.vocab.tokens),
    OPTION_SET(Predict),
    OPTION_WITH(Predict),
    OPTION_LINE_LIMIT(Predict),
    OPTION_PRODUCTS(Predict),
    OPTION_THREADS(Predict),
    OPTION_GEMM(Predict),
    OPTION_CPU(Predict),
    OPTION_PASSES(Predict),
    OPTION_ALLOW_OUTSIDE(Predict),
};

const Command command_predict = {
    .name = "predict",
    .summary = "print what a model predicts: classes, tags, vectors, numbers",
    .arguments = "RUN|MODEL.tfg",
    .min_arguments = 1,
    .max_arguments = 1,
    .text =
        "Prints a line for each record: what `predict NAME = …` in the model says. Classes are "
        "given as the most probable one, a tab and its probability; the labels of a set with the "
        "mark of its column between them, the most probable first; tags of positions with "
        "blanks between them; numbers with blanks between them; labels of CTC with blanks "
        "between them, with --top K above 1 each result, a tab and its log-probability. Records "
        "are answered while they are read: one that is written into a pipe at once. A mistake in "
        "a record is an error, after the answers to the records before it.",
    COMMAND_OPTIONS(Predict, options),
    .run = run_predict,
};
