/* The main function of a model compiled to a program that predicts: lines of text in, what is
 * predicted of each out, as tfc predict prints it. */
#include "runtime/model/predicted_text.h"

#include "base/limits.h"
#include "base/unknown.h"
#include "runtime/data/line_buffer.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Whether several classes of one thing can be written. */
static bool takes_top(const TfcPrediction *p, bool json)
{
    return p->classes && !p->ctc && (json || (!p->positions && p->width == p->classes));
}

int tfc_model_predict_main(const TfcModel *model, int argc, char **argv);

typedef struct PredictOptions {
    const char *weights;
    int64_t top, threads; /* threads 0: as many as processors */
    bool json;
} PredictOptions;

static void print_help(const char *program, FILE *out)
{
    fprintf(out,
            "Usage: %s [OPTION ...]\n"
            "Lines of text on standard input; what is predicted of each, a line each, out.\n"
            "  --top K         the K most probable classes (1)\n"
            "  --json          a JSON object for each line, as tfc predict prints it\n"
            "  --weights FILE  a safetensors file in place of the weights inside\n"
            "  --threads N     as many as processors\n",
            program);
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
    if (!strcmp(option, "--weights")) {
        o->weights = text;
        return true;
    }
    return !strcmp(option, "--top") ? read_count(program, option, text, INT32_MAX, &o->top)
                                    : read_count(program, option, text, LIMIT_threads, &o->threads);
}

static bool is_option(const char *argument, const char *const *names)
{
    while (*names && strcmp(argument, *names) != 0)
        names++;
    return *names != NULL;
}

/* The exit status, or -1 to go on. */
static int read_options(int argc, char **argv, PredictOptions *o)
{
    static const char *const help[] = {"--help", "-h", NULL}, *const json[] = {"--json", NULL},
                             *const values[] = {"--top", "--weights", "--threads", NULL};
    *o = (PredictOptions){.top = 1};
    for (int i = 1; i < argc; i++) {
        const bool takes = is_option(argv[i], values);
        if (is_option(argv[i], help)) {
            print_help(argv[0], stdout);
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
            print_help(argv[0], stderr);
            return 2;
        }
    }
    return -1;
}

/* ---- answers ---- */

typedef struct Predicting {
    const TfcModel *model;
    const char *program;
    const PredictOptions *options;
    TfcSessionHandle *session;
    LineBuffer input;
    Text out;             /* of lines that are not written yet */
    UnknownCount unknown; /* tokens of all lines */
} Predicting;

static int predict_fails(const Predicting *p, const char *what)
{
    fflush(stdout); /* the answers before */
    fprintf(stderr, "%s: %s\n", p->program, what);
    return 1;
}

static int line_fails(const Predicting *p, const char *what)
{
    fflush(stdout);
    fprintf(stderr, "%s: line %lld: %s\n", p->program, (long long)p->input.number, what);
    return 1;
}

static void add_json(Predicting *p, const TfcPredicted *list, int64_t n)
{
    JsonWriter json = {.out = &p->out};
    json_open(&json, NULL, '{');
    json_put_integer(&json, "line", p->input.number - 1);
    for (int64_t i = 0; i < n; i++)
        predicted_put_json(&p->model->predictions->all[i], &list[i], p->options->top, &json);
    json_close(&json, '}');
}

static void tell_cut(const Predicting *p, int64_t cut)
{
    if (cut)
        fprintf(stderr,
                "%s: line %lld: the model takes no more: the last %lld token%s of the text %s left "
                "out\n",
                p->program, (long long)p->input.number, (long long)cut, text_plural(cut, "", "s"),
                text_plural(cut, "is", "are"));
}

/* The exit status. */
static int predict_line(Predicting *p, const Line *line)
{
    const TfcPredicted *list;
    int64_t n, cut, tokens, unknown;
    if (line->length > LINE_LIMIT)
        return line_fails(p, "the line is too long");
    if (tfc_model_predict_text(p->session, line->text, (int64_t)line->length, &list, &n, &cut))
        return line_fails(p, tfc_model_error_detail());
    tell_cut(p, cut);
    if (!tfc_model_unknown(p->session, &tokens, &unknown, NULL)) {
        p->unknown.tokens += tokens;
        p->unknown.unknown += unknown;
    }
    if (p->options->json)
        add_json(p, list, n);
    else if (n)
        predicted_put_line(&p->model->predictions->all[0], &list[0], p->options->top, &p->out);
    text_string(&p->out, "\n");
    fwrite(p->out.data, 1, p->out.length, stdout);
    p->out.length = 0;
    return 0;
}

/* Writes what is there before it waits for a line. The exit status. */
static int predict_lines(Predicting *p)
{
    Line line;
    int failed = 0;
    LineStatus status = LINE_READ;
    while (!failed && status == LINE_READ) {
        if (!line_buffer_ready(&p->input) && fflush(stdout))
            break;
        status = line_buffer_next(&p->input, &line);
        if (status == LINE_READ)
            failed = predict_line(p, &line);
    }
    if (!failed && status == LINE_FAILED)
        return line_fails(p, strerror(p->input.error));
    if (!failed && (fflush(stdout) || ferror(stdout)))
        return predict_fails(p, "cannot write");
    return failed;
}

static void tell_unknown(const Predicting *p)
{
    char note[UNKNOWN_NOTE_BYTES];
    if (!unknown_is_above(&p->unknown, UNKNOWN_TOLD))
        return;
    unknown_note(&p->unknown, "the text's tokens", note);
    fprintf(stderr, "%s: %s\n", p->program, note);
}

int tfc_model_predict_main(const TfcModel *model, int argc, char **argv)
{
    PredictOptions o;
    TfcModelHandle *loaded;
    Predicting p = {.model = model, .program = argv[0], .options = &o};
    int status = read_options(argc, argv, &o);
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
    if (tfc_model_session_new(loaded, &p.session))
        status = predict_fails(&p, tfc_model_error_detail());
    else if (!line_buffer_open(&p.input, NULL, LINE_LIMIT))
        status = predict_fails(&p, strerror(errno));
    else
        status = predict_lines(&p);
    tell_unknown(&p);
    line_buffer_close(&p.input);
    text_free(&p.out);
    tfc_model_session_free(p.session);
    tfc_model_close(loaded);
    return status;
}
