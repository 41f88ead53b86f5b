/* Labels of CTC from predicted probabilities. */
#include "runtime/model/predicted_search.h"

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
