/* tfc predict: what a model says it predicts, for each record of a table or line of a text. */
#include "cli/commands/commands.h"
#include "cli/predicted.h"
#include "cli/records.h"
#include "driver/formats/npz.h"
#include "driver/run/ctc_lexicon.h"
#include "driver/run/folder.h"
#include "driver/run/prediction.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

typedef struct Predict {
    Common common;
    RecordFiles given;
    const char *only, *npy, *tsv, *lexicon, *separator;
    int64_t top, beam;
    bool json;
} Predict;

enum { WINDOW_ROWS = 16384 }; /* whose values are in memory at once */

/* ---- all rows ---- */

/* What is written, and where. */
typedef struct Answers {
    const Predict *o;
    const Predictor *predictor;
    const Prediction *shown; /* if it is the only one; NULL: all, as JSON */
    FileWriter *values;      /* of --npy or --tsv; NULL: neither */
    PredictedForm form;
    int64_t n_odd; /* rows with a value that is no number */
    CorpusTold told;
} Answers;

/* The option that writes all values into a file; NULL: none. */
static const char *values_option(const Predict *o)
{
    return o->npy ? "--npy" : o->tsv ? "--tsv" : NULL;
}

/* Writes n values of a row. */
static void put_values(const Answers *a, const float *values, int64_t n)
{
    Text line = {0};
    if (a->o->npy)
        file_write(a->values, values, (size_t)n * sizeof *values);
    for (int64_t i = 0; a->o->tsv && i < n; i++)
        text_add(&line, "%.9g%s", (double)values[i], i + 1 < n ? "\t" : "\n");
    if (a->o->tsv)
        file_write(a->values, line.data, line.length);
    text_free(&line);
}

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

/* Of a record without positions. */
static bool put_empty(Job *job, const Answers *a, const CorpusText *text, int64_t line, Text *out)
{
    if (a->values) {
        diag_error(&job->diags, lines_place(corpus_lines(text), line),
                   "%s: nothing is predicted of an empty cell", values_option(a->o));
        return false;
    }
    if (a->o->json)
        text_add(out, "{\"line\": %lld}", (long long)line);
    text_string(out, "\n");
    return true;
}

static bool predict_window(Job *job, Answers *a, const CorpusText *text, int64_t first, int64_t n)
{
    Arena *arena = arena_new();
    Predicted *results = ARENA_ARRAY(arena, Predicted, a->predictor->n + 1);
    Corpus *corpus = predictor_corpus(a->predictor, job, text, first, n, &a->told);
    bool ok = corpus && predictor_run(a->predictor, job, corpus, arena, results);
    Text out = {0};
    for (int64_t line = first, row = 0; ok && line < first + n; line++)
        if (row < corpus->n && corpus->line[row] == line)
            ok = put_row(job, a, line, results, row++, &out);
        else
            ok = put_empty(job, a, text, line, &out);
    if (ok && out.length)
        fwrite(out.data, 1, out.length, stdout);
    text_free(&out);
    corpus_free(corpus);
    arena_free(arena);
    cli_flush(job);
    return ok && !fflush(stdout) && !ferror(stdout);
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

/* Begins the file of --npy or --tsv. */
static bool open_values(Job *job, Answers *a, int64_t rows)
{
    if (!values_option(a->o))
        return true;
    const int64_t width = a->shown->width;
    const NpyArray array = {
        .type = ST_F32, .rank = width > 1 ? 2 : 1, .dims = {rows, width}, .count = rows * width};
    Text header = {0};
    a->values = file_create(&job->diags, a->o->npy ? a->o->npy : a->o->tsv);
    if (!a->values)
        return false;
    if (a->o->npy)
        npy_put_header(&array, &header);
    else
        put_names(a->shown, &header);
    file_write(a->values, header.data, header.length);
    text_free(&header);
    return true;
}

static bool close_values(Job *job, Answers *a, bool ok)
{
    if (a->values && !ok)
        file_discard(a->values);
    return a->values && ok ? file_commit(a->values, &job->diags) : ok;
}

static bool predict(Job *job, const void *record, RunFolder *run)
{
    const Predict *o = record;
    Predictor predictor;
    CorpusText text = {0};
    Answers answers = {.o = o, .predictor = &predictor};
    bool ok =
        predictor_prepare(&predictor, job, &run->inference, &run->columns, run->kind, o->only) &&
        predictor_add_members(&predictor, job, run) && find_shown(job, o, &answers) &&
        run_folder_load(job, run, o->common.checkpoint);
    cli_flush(job);
    ok = ok && records_read(job, run, &predictor, &o->given, &text);
    const int64_t n = ok ? corpus_lines(&text)->n : 0;
    ok = ok && begin_form(job, &answers) && open_values(job, &answers, n);
    if (!o->json && !answers.values)
        predicted_cut_names(job->arena, &predictor);
    for (int64_t first = 0; ok && first < n; first += WINDOW_ROWS)
        ok = predict_window(job, &answers, &text, first,
                            n - first < WINDOW_ROWS ? n - first : WINDOW_ROWS);
    if (ok)
        predictor_tell(&predictor, job, &text, &answers.told);
    predicted_tell_notes(job, &answers.form);
    if (answers.n_odd)
        diag_warning(
            &job->diags, (Loc){0},
            "%lld prediction%s of the %lld records %s a value that is no number: tfc train "
            "--check-numerics names the operation that makes it",
            (long long)answers.n_odd, text_plural(answers.n_odd, "", "s"), (long long)n,
            text_plural(answers.n_odd, "has", "have"));
    return close_values(job, &answers, ok);
}

static int run_predict(Job *job, void *record, const Arguments *arguments)
{
    Predict *o = record;
    o->given.line_limit = o->common.line_limit;
    if ((o->npy != NULL) + (o->tsv != NULL) + o->json > 1)
        return cli_usage_error("--npy, --tsv and --json are ways to give values: one of them");
    if (o->separator && !o->lexicon)
        return cli_usage_error("--separator is between the words of --lexicon");
    return common_run(job, &o->common, arguments->words[0], predict, o);
}

static const Option options[] = {
    {"input", "FILE", FIELD(Predict, given.files), 0, NULL,
     "a table (FILE.tsv, FILE.csv, FILE.jsonl, also .gz, .xz or .zst, FILE.safetensors); or lines\n"
     "of text, if the predictions read one field (standard input)"},
    {"column", "INPUT=FIELD", FIELD(Predict, given.columns), 0, NULL,
     "of a table: the field, or its number, that feeds an input of the model"},
    {"only", "NAME", FIELD(Predict, only), 0, NULL, "the prediction to give, of several"},
    {"top", "K", FIELD(Predict, top), 1, "1",
     "give the K most probable classes, or results of CTC with their log-probabilities"},
    {"beam", "N", FIELD(Predict, beam), 1, "1",
     "search labels of CTC by a beam of N prefixes; 1: the best path"},
    {"lexicon", "FILE", FIELD(Predict, lexicon), 0, NULL,
     "give only words of this list: in each line the labels of one, with blanks between them"},
    {"separator", "LABEL", FIELD(Predict, separator), 0, NULL,
     "the label between words of the lexicon; without it a result is one word"},
    {"json", NULL, FIELD(Predict, json), 0, NULL,
     "print a JSON object for each record: line, and each prediction by its name: classes as\n"
     "[NAME, PROBABILITY] each, numbers, or a list of such for each position"},
    {"npy", "FILE", OUTPUT(Predict, npy), 0, NULL,
     "write the values of all records as one array of f32: [records, values]"},
    {"tsv", "FILE", OUTPUT(Predict, tsv), 0, NULL,
     "write the values of all records as a table: a header of classes or numbers, a record a line"},
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
};

const Command command_predict = {
    .name = "predict",
    .summary = "print what a model predicts: classes, tags, vectors, numbers",
    .arguments = "RUN|MODEL.tfg",
    .min_arguments = 1,
    .max_arguments = 1,
    .text =
        "Prints a line for each record: what `predict NAME = …` in the model says. Classes are\n"
        "given as the most probable one, a tab and its probability; tags of positions with\n"
        "blanks between them; numbers with blanks between them; labels of CTC with blanks\n"
        "between them, with --top K above 1 each result, a tab and its log-probability.",
    COMMAND_OPTIONS(Predict, options),
    .run = run_predict,
};
