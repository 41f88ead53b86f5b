/* Labels that CTC makes of predicted frames. */
#ifndef RUNTIME_MODEL_PREDICTED_LABELS_H
#define RUNTIME_MODEL_PREDICTED_LABELS_H

#include "runtime/model/texts.h"

/* Sets the results of a prediction of CTC from its values, in the arena, which may fail. Returns a
 * TfcStatus. */
int predicted_labels(const TfcSession *session, const TfcPrediction *prediction, Arena *arena,
                     TfcPredicted *out);

#endif
