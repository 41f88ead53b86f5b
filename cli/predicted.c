/* Writing predicted rows, by the writer of compiled models. */
#include "cli/predicted.h"

#include "cli/cli.h"
#include "runtime/model/predicted_values.h"

#include <unistd.h>

static TfcPrediction described(const Prediction *p)
{
    return (TfcPrediction){.name = p->name,
                           .classes = p->classes ? p->n_classes : 0,
                           .width = p->width,
                           .positions = p->side >= 0,
                           .ctc = p->is_ctc,
                           .labels = p->names};
}

static TfcLabelSet set_of(const Prediction *p)
{
    return (TfcLabelSet){p->thresholds, p->thresholds ? p->n_classes : 0, p->mark};
}

/* CTC's results, as many as are wanted. */
static bool search_labels(Job *job, const PredictedForm *form, const TfcPrediction *p, Arena *arena,
                          TfcPredicted *out)
{
    const int32_t top = form->top ? (int32_t)form->top : 1;
    CtcBeam beam = form->beam;
    beam.n_best = top;
    beam.width = beam.width > top ? beam.width : top;
    const CtcStatus status = predicted_search(p, &beam, arena, out);
    return status == CTC_OK ||
           (status == CTC_NO_MEMORY ? job_no_memory(job)
                                    : job_error(job, "%s", ctc_message(status)));
}

/* `out` or `json` gets the row. */
static bool put_prediction(Job *job, PredictedForm *form, const Prediction *p, const float *values,
                           int64_t n, Text *out, JsonWriter *json)
{
    Arena *arena = p->is_ctc ? arena_new() : NULL;
    const TfcPrediction prediction = described(p);
    const TfcLabelSet set = set_of(p);
    const int64_t top = predicted_top(&set, form->top, 1);
    TfcPredicted found = {.values = values, .positions = n / p->width};
    const bool ok = !p->is_ctc || search_labels(job, form, &prediction, arena, &found);
    predicted_count_notes(&form->notes, &found, 1, form->line);
    if (ok && json)
        predicted_put_json(&prediction, &set, &found, top, json);
    else if (ok)
        predicted_put_line(&prediction, &set, &found, top, out);
    arena_free(arena);
    return ok;
}

void predicted_cut_names(Arena *arena, Predictor *predictor)
{
    for (int p = 0; isatty(STDOUT_FILENO) && p < predictor->n; p++) {
        Prediction *prediction = &predictor->all[p];
        const int64_t n = prediction->names ? prediction->n_classes : 0;
        const char **names = ARENA_ARRAY(arena, const char *, n + 1);
        for (int64_t i = 0; i < n; i++)
            names[i] = cli_name(arena, prediction->names[i]);
        prediction->names = n ? names : NULL;
    }
}

bool predicted_put_row(Job *job, PredictedForm *form, const Prediction *p, const float *values,
                       int64_t n, Text *out)
{
    const bool ok = put_prediction(job, form, p, values, n, out, NULL);
    text_string(out, "\n");
    return ok;
}

bool predicted_put_member(Job *job, PredictedForm *form, const Prediction *p, const float *values,
                          int64_t n, JsonWriter *json)
{
    return put_prediction(job, form, p, values, n, NULL, json);
}

void predicted_tell_notes(Job *job, const PredictedForm *form)
{
    Text note = {0};
    predicted_put_notes(&form->notes, &note);
    if (note.length)
        diag_remark(&job->diags, (Loc){0}, "%s", note.data);
    text_free(&note);
}
