/* Programs that predict: what is predicted of each line of text, as tfc predict prints it. */
#include "runtime/model/predicted_text.h"
#include "runtime/model/program.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Predicting: what a program needs besides.
 *   json   a JSON object a line
 *   out    of lines that are not written yet */
/* Predicting
 *   sets   of each prediction */
typedef struct Predicting {
    bool json;
    TfcLabelSet *sets;
    Text out;
    PredictedNotes notes;
} Predicting;

/* Whether several classes of one thing, or several results, can be written. */
static bool takes_top(const TfcPrediction *p, bool json)
{
    return p->ctc || (p->classes && (json || (!p->positions && p->width == p->classes)));
}

static void tell_cut(const Program *p, int64_t number, int64_t cut)
{
    if (cut)
        fprintf(stderr,
                "%s: line %lld: the model takes no more: the last %lld token%s of the text %s left "
                "out\n",
                p->name, (long long)number + 1, (long long)cut, text_plural(cut, "", "s"),
                text_plural(cut, "is", "are"));
}

/* A line of the answer; list NULL: of a text without tokens. */
static void put_predictions_line(const Program *p, int64_t number, const TfcPredicted *list)
{
    const TfcPredictions *predictions = p->model->predictions;
    Predicting *own = p->own;
    JsonWriter json = {.out = &own->out};
    if (own->json) {
        json_open(&json, NULL, '{');
        json_put_integer(&json, "line", number);
        for (int64_t i = 0; list && i < predictions->n; i++)
            predicted_put_json(&predictions->all[i], &own->sets[i], &list[i],
                               predicted_top(&own->sets[i], p->options.top, 1), &json);
        json_close(&json, '}');
    } else if (list) {
        predicted_put_line(&predictions->all[0], &own->sets[0], &list[0],
                           predicted_top(&own->sets[0], p->options.top, 1), &own->out);
    }
    text_string(&own->out, "\n");
}

static bool predict_answers(Program *p, int64_t first, int64_t n)
{
    Predicting *own = p->own;
    const char *texts[MOST_LINES] = {NULL};
    int64_t cut[MOST_LINES], each;
    const TfcPredicted *list;
    for (int64_t i = 0; i < n; i++)
        texts[i] = p->lines.text + p->lines.at[first + i];
    if (tfc_model_predict_texts(p->session, n, texts, p->lines.length + first, &list, &each, cut))
        return false;
    for (int64_t i = 0; i < n; i++) {
        const int64_t number = p->number + first + i;
        tell_cut(p, number, cut[i]);
        predicted_count_notes(&own->notes, &list[i * each], each, number);
        put_predictions_line(p, number, list[i * each].positions ? &list[i * each] : NULL);
    }
    fwrite(own->out.data, 1, own->out.length, stdout);
    own->out.length = 0;
    return true;
}

/* ---- beginning ---- */

/* The lines of the lexicon, each ended by a newline; the exit status. */
static int read_lexicon(Program *p, Text *out)
{
    RecordCutter lines;
    Record line;
    RecordStatus status;
    if (program_open_lines(p, &lines, p->options.lexicon))
        return 1;
    while ((status = record_next(&lines, &line)) == RECORD_READ && !line.is_cut) {
        text_put(out, line.text, line.length);
        text_string(out, "\n");
    }
    const int error = lines.source.error;
    if (status == RECORD_READ)
        program_fault_of_length(p, "--lexicon: ", &lines);
    record_cutter_close(&lines);
    return status == RECORD_END    ? 0
           : status == RECORD_READ ? program_complain(p, NULL, p->fault)
                                   : program_cannot_read(p, p->options.lexicon, error);
}

/* The exit status. */
static int set_program_search(Program *p)
{
    const ProgramOptions *o = &p->options;
    Text lexicon = {0};
    if (o->separator && !o->lexicon)
        return program_complain(
            p, NULL,
            "--separator is for --lexicon, whose words it separates: add that, or leave --separator out");
    int status = o->lexicon ? read_lexicon(p, &lexicon) : 0;
    const TfcLabelSearch search = {.beam = o->beam,
                                   .nbest = o->top ? o->top : 1,
                                   .lexicon = !o->lexicon    ? NULL
                                              : lexicon.data ? lexicon.data
                                                             : "",
                                   .lexicon_length = (int64_t)lexicon.length,
                                   .separator = o->separator};
    if (!status && tfc_model_set_label_search(p->session, &search))
        status = program_complain(p, NULL, tfc_model_error_detail());
    text_free(&lexicon);
    return status;
}

static int begin_program_predictions(Program *p, TfcModelHandle *loaded)
{
    const TfcPredictions *predictions = p->model->predictions;
    Predicting *own = p->own = calloc(1, sizeof *own);
    if (!own || !(own->sets = calloc((size_t)predictions->n + 1, sizeof *own->sets)))
        return program_complain(p, "cannot begin", strerror(errno));
    for (int64_t i = 0; i < predictions->n; i++)
        if (tfc_model_prediction_set(loaded, i, &own->sets[i]))
            return program_complain(p, "cannot begin", tfc_model_error_detail());
    if (p->options.top > 1 && !takes_top(predictions->all, p->options.json))
        return program_complain(
            p, NULL, "--top is for the classes of a text, or with --json of its positions");
    own->json = p->options.json || predictions->n > 1 || !predicted_has_line(predictions->all);
    return model_finds_labels(p->model) ? set_program_search(p) : 0;
}

static void end_program_predictions(Program *p)
{
    Predicting *own = p->own;
    Text note = {0};
    if (own) {
        predicted_put_notes(&own->notes, &note);
        if (note.length)
            program_complain(p, "note", note.data);
        text_free(&own->out);
        free(own->sets);
    }
    text_free(&note);
    free(own);
}

static unsigned prediction_options(const TfcModel *model)
{
    return OF_PREDICTIONS | (model_finds_labels(model) ? OF_LABELS : 0);
}

const ProgramKind program_predicts = {
    .options = prediction_options,
    .answers = "what is predicted of each, a line\neach, out.",
    .begin = begin_program_predictions,
    .answer = predict_answers,
    .end = end_program_predictions,
};
