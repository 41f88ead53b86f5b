/* Writing predicted rows, by the writer of compiled models. */
#include "cli/predicted.h"

#include "runtime/model/predicted_text.h"

static TfcPrediction described(const Prediction *p)
{
    return (TfcPrediction){.name = p->name,
                           .classes = p->classes ? p->n_classes : 0,
                           .width = p->width,
                           .positions = p->side >= 0,
                           .ctc = p->is_ctc,
                           .labels = p->names};
}

/* CTC's results, as many as are wanted. */
static bool search(Job *job, const PredictedForm *form, const Prediction *p, Arena *arena,
                   TfcPredicted *out)
{
    const int32_t top = (int32_t)form->top, least = form->search.width;
    LabelSearch search = form->search;
    CtcResults found = {0};
    search.n_best = top;
    search.width = least > top ? least : top;
    if (!ctc_search(job, p, &search, out->values, out->positions * p->width, arena, &found))
        return false;
    TfcLabels *results = ARENA_ARRAY(arena, TfcLabels, found.n + 1);
    for (int32_t i = 0; i < found.n; i++)
        results[i] =
            (TfcLabels){found.best[i].labels, found.best[i].n, found.best[i].log_probability};
    out->results = results;
    out->n_results = found.n;
    return true;
}

/* `out` or `json` gets the row. */
static bool put(Job *job, const PredictedForm *form, const Prediction *p, const float *values,
                int64_t n, Text *out, JsonWriter *json)
{
    Arena *arena = p->is_ctc ? arena_new() : NULL;
    const TfcPrediction prediction = described(p);
    TfcPredicted found = {.values = values, .positions = n / p->width};
    const bool ok = !p->is_ctc || search(job, form, p, arena, &found);
    if (ok && json)
        predicted_put_json(&prediction, &found, form->top, json);
    else if (ok)
        predicted_put_line(&prediction, &found, form->top, out);
    arena_free(arena);
    return ok;
}

bool predicted_put_row(Job *job, const PredictedForm *form, const Prediction *p,
                       const float *values, int64_t n, Text *out)
{
    const bool ok = put(job, form, p, values, n, out, NULL);
    text_string(out, "\n");
    return ok;
}

bool predicted_put_member(Job *job, const PredictedForm *form, const Prediction *p,
                          const float *values, int64_t n, JsonWriter *json)
{
    return put(job, form, p, values, n, NULL, json);
}
