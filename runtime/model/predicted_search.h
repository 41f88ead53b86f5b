/* Labels that CTC makes of a prediction's frames: of tfc predict, and of compiled models. */
#ifndef RUNTIME_MODEL_PREDICTED_SEARCH_H
#define RUNTIME_MODEL_PREDICTED_SEARCH_H

#include "runtime/decode/ctc.h"
#include "runtime/model/model.h"

/* Sets results and note of a prediction of CTC from its values, in the arena, which may fail. */
CtcStatus predicted_search(const TfcPrediction *prediction, const CtcBeam *beam, Arena *arena,
                           TfcPredicted *found);

#endif
