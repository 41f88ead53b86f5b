/* Predictions as text: of tfc predict, and of compiled programs and scripts. If memory runs out,
 * the process ends. */
#ifndef RUNTIME_MODEL_PREDICTED_TEXT_H
#define RUNTIME_MODEL_PREDICTED_TEXT_H

#include "base/json_write.h"
#include "runtime/model/model.h"

/* Writes a member of the prediction's name: the `top` most probable classes, each a name (a number,
 * if it has none) and its probability; numbers; a list of such for positions; CTC's results with
 * their log-probabilities. */
void predicted_put_json(const TfcPrediction *prediction, const TfcPredicted *found, int64_t top,
                        JsonWriter *json);
/* Whether predicted_put_line takes the prediction: it takes no lists of numbers for positions. */
bool predicted_has_line(const TfcPrediction *prediction);
/* Appends a line without its end: the `top` most probable classes and their probabilities with tabs
 * between; or, with blanks between, a class for each position, labels of CTC, or numbers. With
 * `top` above 1 each result of CTC follows its log-probability and a tab. */
void predicted_put_line(const TfcPrediction *prediction, const TfcPredicted *found, int64_t top,
                        Text *out);

#endif
