/* Predicted rows as text and as JSON. */
#ifndef CLI_PREDICTED_H
#define CLI_PREDICTED_H

#include "base/json_write.h"
#include "driver/run/prediction.h"
#include "runtime/decode/ctc.h"

/* PredictedForm: how rows are written.
 *   top      how many classes, or results of CTC's search
 *   beam     of predictions that CTC makes labels of; its n_best is `top` */
typedef struct PredictedForm {
    int64_t top;
    CtcBeam beam;
} PredictedForm;

/* Appends n values of a row: as a line, or as a member of the open object. False after an error of
 * CTC's search. */
bool predicted_put_row(Job *job, const PredictedForm *form, const Prediction *prediction,
                       const float *values, int64_t n, Text *out);
bool predicted_put_member(Job *job, const PredictedForm *form, const Prediction *prediction,
                          const float *values, int64_t n, JsonWriter *json);

#endif
