/* The main function of a model compiled to a program that predicts: lines of text in, what is
 * predicted of each out, as tfc predict prints it. */
#include "runtime/decode/ctc.h"
#include "runtime/model/predicted_text.h"
#include "runtime/model/program_unknown.h"

#include "base/limits.h"
#include "base/printing.h"
#include "base/record_cutter.h"
#include "runtime/data/lines.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Whether several classes of one thing, or several results, can be written. */
static bool takes_top(const TfcPrediction *p, bool json)
{
    return p->ctc || (p->classes && (json || (!p->positions && p->width == p->classes)));
}

static bool has_labels(const TfcModel *model)
{
    for (int64_t i = 0; i < model->predictions->n; i++)
        if (model->predictions->all[i].ctc)
            return true;
    return false;
}

/* PredictOptions: beam, lexicon and separator only of a model that predicts labels of CTC. */
typedef struct PredictOptions {
    const char *weights, *lexicon, *separator;
    int64_t top, beam, threads; /* threads 0: as many as processors */
    bool json;
} PredictOptions;

static void print_help(const char *program, bool labels, FILE *out)
{
    fprintf(out,
            "Usage: %s [OPTION ...]\n"
            "Lines of text on standard input; what is predicted of each, a line each, out.\n"
            "  --top K         the K most probable classes%s (1)\n",
            program, labels ? ", or results with their log-probabilities" : "");
    if (labels)
        fputs(
            "  --beam N        search labels by a beam of N prefixes (1: the best path)\n"
            "  --lexicon FILE  give only words of this list: in each line the labels of one\n"
            "  --separator L   the label between words of the lexicon; without it a result is one\n",
            out);
    fputs("  --json          a JSON object for each line, as tfc predict prints it\n"
          "  --weights FILE  a safetensors file in place of the weights inside\n"
          "  --threads N     as many as processors\n",
          out);
}

/* A whole number from 1 to `most`; false after saying what is wrong. */
static bool read_count(const char *program, const char *option, const char *text, int64_t most,
                       int64_t *out)
{
    char *end;
    errno = 0;
    *out = strtoll(text, &end, 10);
    if (end != text && !*end && !errno && *out >= 1 && *out <= most)
        return true;
    fprintf(stderr, "%s: %s takes a whole number from 1 to %lld, not '%s'\n", program, option,
            (long long)most, text);
    return false;
}

static bool read_value(const char *program, const char *option, const char *text, PredictOptions *o)
{
    const char **word = !strcmp(option, "--weights")     ? &o->weights
                        : !strcmp(option, "--lexicon")   ? &o->lexicon
                        : !strcmp(option, "--separator") ? &o->separator
                                                         : NULL;
    if (word)
        *word = text;
    return word || (!strcmp(option, "--top") ? read_count(program, option, text, INT32_MAX, &o->top)
                    : !strcmp(option, "--beam")
                        ? read_count(program, option, text, CTC_WIDEST, &o->beam)
                        : read_count(program, option, text, LIMIT_threads, &o->threads));
}

static bool is_option(const char *argument, const char *const *names)
{
    while (*names && strcmp(argument, *names) != 0)
        names++;
    return *names != NULL;
}

/* The exit status, or -1 to go on. */
static int read_options(int argc, char **argv, bool labels, PredictOptions *o)
{
    static const char *const help[] = {"--help", "-h", NULL}, *const json[] = {"--json", NULL},
                             *const values[] = {"--top", "--weights", "--threads", NULL},
                             *const searches[] = {"--beam", "--lexicon", "--separator", NULL};
    *o = (PredictOptions){.top = 1, .beam = 1};
    for (int i = 1; i < argc; i++) {
        const bool takes = is_option(argv[i], values) || (labels && is_option(argv[i], searches));
        if (is_option(argv[i], help)) {
            print_help(argv[0], labels, stdout);
            return 0;
        }
        if (takes && i + 1 < argc) {
            if (!read_value(argv[0], argv[i], argv[i + 1], o))
                return 2;
            i++;
        } else if (is_option(argv[i], json)) {
            o->json = true;
        } else {
            fprintf(stderr, takes ? "%s: %s takes a value\n" : "%s: there is no option '%s'\n",
                    argv[0], argv[i]);
            print_help(argv[0], labels, stderr);
            return 2;
        }
    }
    return -1;
}

/* ---- answers ---- */

/* Most lines and about the most bytes that are predicted together. */
enum { PREDICTED_LINES = 256, PREDICTED_BYTES = 1 << 16 };

/* Predicting: lines that can be read without waiting are predicted together.
 *   lines     n of them, each ended by a NUL, beginning at the places in `at`
 *   number    of the first, from 0
 *   fault     why no line follows them; NULL: none is known */
typedef struct Predicting {
    const TfcModel *model;
    const char *program;
    const PredictOptions *options;
    TfcSessionHandle *session;
    RecordCutter input;
    Text lines;
    int64_t at[PREDICTED_LINES], length[PREDICTED_LINES], n, number;
    const char *fault;
    Text out;             /* of lines that are not written yet */
    UnknownCount unknown; /* tokens of all lines */
    PredictedNotes notes;
} Predicting;

static int predict_fails(const Predicting *p, const char *what)
{
    fflush(stdout); /* the answers before */
    fprintf(stderr, "%s: %s\n", p->program, what);
    return 1;
}

static int line_fails(const Predicting *p, int64_t number, const char *what)
{
    fflush(stdout);
    fprintf(stderr, "%s: line %lld: %s\n", p->program, (long long)number + 1, what);
    return 1;
}

static void tell_cut(const Predicting *p, int64_t number, int64_t cut)
{
    if (cut)
        fprintf(stderr,
                "%s: line %lld: the model takes no more: the last %lld token%s of the text %s left "
                "out\n",
                p->program, (long long)number + 1, (long long)cut, text_plural(cut, "", "s"),
                text_plural(cut, "is", "are"));
}

/* A line of the answer; list NULL: of a text without tokens. */
static void put_predictions_line(Predicting *p, int64_t number, const TfcPredicted *list)
{
    const TfcPredictions *predictions = p->model->predictions;
    JsonWriter json = {.out = &p->out};
    if (p->options->json) {
        json_open(&json, NULL, '{');
        json_put_integer(&json, "line", number);
        for (int64_t i = 0; list && i < predictions->n; i++)
            predicted_put_json(&predictions->all[i], &list[i], p->options->top, &json);
        json_close(&json, '}');
    } else if (list) {
        predicted_put_line(&predictions->all[0], &list[0], p->options->top, &p->out);
    }
    text_string(&p->out, "\n");
}

/* n of the lines from `first` on; false: one of them cannot be predicted. */
static bool predict_some(Predicting *p, int64_t first, int64_t n)
{
    const char *texts[PREDICTED_LINES];
    int64_t cut[PREDICTED_LINES], each;
    const TfcPredicted *list;
    for (int64_t i = 0; i < n; i++)
        texts[i] = p->lines.data + p->at[first + i];
    if (tfc_model_predict_texts(p->session, n, texts, p->length + first, &list, &each, cut))
        return false;
    program_count_unknown(p->session, &p->unknown);
    for (int64_t i = 0; i < n; i++) {
        tell_cut(p, p->number + first + i, cut[i]);
        predicted_count_notes(&p->notes, &list[i * each], each, p->number + first + i);
        put_predictions_line(p, p->number + first + i,
                             list[i * each].positions ? &list[i * each] : NULL);
    }
    fwrite(p->out.data, 1, p->out.length, stdout);
    p->out.length = 0;
    return true;
}

/* All lines that are there, or, if one of them is at fault, one by one up to that. */
static int predict_window(Predicting *p)
{
    if (!p->n || predict_some(p, 0, p->n))
        return 0;
    for (int64_t i = 0; i < p->n; i++)
        if (!predict_some(p, i, 1))
            return line_fails(p, p->number + i, tfc_model_error_detail());
    return 0;
}

static const RecordRule program_lines = {.longest = LINE_LIMIT};

/* Reads what can be read without waiting, and at least one line; false: the text has ended. */
static bool read_texts(Predicting *p)
{
    Record line;
    p->number += p->n;
    p->n = 0;
    p->lines.length = 0;
    while (p->n < PREDICTED_LINES && p->lines.length < PREDICTED_BYTES &&
           (!p->n || record_ready(&p->input))) {
        const RecordStatus status = record_next(&p->input, &line);
        if (status == RECORD_FAILED)
            p->fault = byte_source_problem(&p->input.source);
        else if (status == RECORD_READ && line.is_cut)
            p->fault = "the line is too long";
        if (status != RECORD_READ || p->fault)
            return false;
        p->at[p->n] = (int64_t)p->lines.length;
        p->length[p->n++] = (int64_t)line.length;
        text_put(&p->lines, line.text, line.length);
        text_put(&p->lines, "", 1);
    }
    return true;
}

/* Writes what is there before it waits for a line. The exit status. */
static int predict_lines(Predicting *p)
{
    int failed = 0;
    bool goes_on = true;
    while (!failed && goes_on) {
        if (!record_ready(&p->input) && fflush(stdout))
            break;
        goes_on = read_texts(p);
        failed = predict_window(p);
    }
    if (!failed && p->fault)
        return line_fails(p, p->number + p->n, p->fault);
    if (!failed && (fflush(stdout) || ferror(stdout)))
        return predict_fails(p, "cannot write");
    return failed;
}

/* ---- beginning ---- */

/* The lines of a file, each ended by a newline. */
static bool read_text(const char *path, Text *out)
{
    RecordCutter lines;
    Record line;
    RecordStatus status;
    if (!record_cutter_open(&lines, path, program_lines))
        return false;
    while ((status = record_next(&lines, &line)) == RECORD_READ) {
        text_put(out, line.text, line.length);
        text_string(out, "\n");
    }
    const int error = lines.source.error;
    record_cutter_close(&lines);
    errno = error;
    return status == RECORD_END;
}

/* The exit status. */
static int set_program_search(const Predicting *p)
{
    const PredictOptions *o = p->options;
    Text lexicon = {0};
    if (o->separator && !o->lexicon)
        return predict_fails(
            p,
            "--separator is for --lexicon, whose words it separates: add that, or leave --separator out");
    if (o->lexicon && !read_text(o->lexicon, &lexicon)) {
        fprintf(stderr, "%s: cannot read %s: %s\n", p->program, o->lexicon, strerror(errno));
        text_free(&lexicon);
        return 1;
    }
    const TfcLabelSearch search = {.beam = o->beam,
                                   .nbest = o->top,
                                   .lexicon = !o->lexicon    ? NULL
                                              : lexicon.data ? lexicon.data
                                                             : "",
                                   .lexicon_length = (int64_t)lexicon.length,
                                   .separator = o->separator};
    const int failed = tfc_model_set_label_search(p->session, &search)
                           ? predict_fails(p, tfc_model_error_detail())
                           : 0;
    text_free(&lexicon);
    return failed;
}

/* Makes the session, and opens the text. The exit status. */
static int begin_predicting(Predicting *p, TfcModelHandle *loaded)
{
    if (tfc_model_session_new(loaded, &p->session))
        return predict_fails(p, tfc_model_error_detail());
    if (has_labels(p->model)) {
        const int failed = set_program_search(p);
        if (failed)
            return failed;
    }
    return record_cutter_open(&p->input, NULL, program_lines) ? 0
                                                              : predict_fails(p, strerror(errno));
}

static void tell_notes(const Predicting *p)
{
    Text note = {0};
    predicted_put_notes(&p->notes, &note);
    if (note.length)
        fprintf(stderr, "%s: note: %s\n", p->program, note.data);
    text_free(&note);
}

int tfc_model_predict_main(const TfcModel *model, int argc, char **argv)
{
    PredictOptions o;
    TfcModelHandle *loaded;
    Predicting p = {.model = model, .program = argv[0], .options = &o};
    if (!printing_guard())
        return predict_fails(&p, strerror(ENOMEM));
    int status = read_options(argc, argv, has_labels(model), &o);
    if (status >= 0)
        return status;
    if (o.top > 1 && !takes_top(&model->predictions->all[0], o.json))
        return predict_fails(&p,
                             "--top is for the classes of a text, or with --json of its positions");
    o.json = o.json || model->predictions->n > 1 || !predicted_has_line(model->predictions->all);
    if (o.threads)
        tfc_model_set_threads((int)o.threads);
    if (tfc_model_open(model, model->header, o.weights, &loaded))
        return predict_fails(&p, tfc_model_error_detail());
    status = begin_predicting(&p, loaded);
    if (!status)
        status = predict_lines(&p);
    program_tell_unknown(p.program, &p.unknown);
    tell_notes(&p);
    record_cutter_close(&p.input);
    text_free(&p.lines);
    text_free(&p.out);
    tfc_model_session_free(p.session);
    tfc_model_close(loaded);
    return status;
}
