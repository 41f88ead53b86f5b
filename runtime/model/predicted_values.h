/* What a row's prediction is, from what a program computes: its values, and the labels that CTC
 * makes of its frames. For tfc predict, and for compiled models. */
#ifndef RUNTIME_MODEL_PREDICTED_VALUES_H
#define RUNTIME_MODEL_PREDICTED_VALUES_H

#include "runtime/decode/ctc.h"
#include "runtime/model/model.h"

/* Writes values of an output as floats: `width` for each of n positions, which follow the one that
 * begins at value `first`; or, if they are of words, for the n positions in `words` behind it. */
void predicted_take(const TfcPort *port, const void *data, int64_t first, int64_t width,
                    const int32_t *words, int64_t n, float *out);
/* Sets results and note of a prediction of CTC from its values, in the arena, which may fail. */
CtcStatus predicted_search(const TfcPrediction *prediction, const CtcBeam *beam, Arena *arena,
                           TfcPredicted *found);

#endif
