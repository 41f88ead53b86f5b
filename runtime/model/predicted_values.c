/* Predicted values, and labels of CTC from predicted probabilities. */
#include "runtime/model/predicted_values.h"

#include "base/element.h"

void predicted_take(const TfcPort *port, const void *data, int64_t first, int64_t width,
                    const int32_t *words, int64_t n, float *out)
{
    for (int64_t i = 0; i < n; i++) {
        const int64_t from = first + (words ? words[i] : i) * width;
        for (int64_t k = 0; k < width; k++)
            *out++ = (float)element_value(port->type, data, from + k);
    }
}

CtcStatus predicted_search(const TfcPrediction *prediction, const CtcBeam *beam, Arena *arena,
                           TfcPredicted *found)
{
    CtcResults results;
    const CtcStatus status = ctc_search(found->values, found->positions * prediction->width,
                                        prediction->width, beam, arena, &results);
    TfcLabels *labels = status ? NULL : ARENA_ARRAY(arena, TfcLabels, results.n + 1);
    if (!labels)
        return status ? status : CTC_NO_MEMORY;
    for (int32_t i = 0; i < results.n; i++)
        labels[i] =
            (TfcLabels){results.best[i].labels, results.best[i].n, results.best[i].log_probability};
    found->results = labels;
    found->n_results = results.n;
    found->note = results.outside ? CTC_OUTSIDE_NOTE : NULL;
    return CTC_OK;
}
