/* Predictions as text: of tfc predict, and of compiled programs and scripts. If memory runs out,
 * the process ends. */
#ifndef RUNTIME_MODEL_PREDICTED_TEXT_H
#define RUNTIME_MODEL_PREDICTED_TEXT_H

#include "base/json_write.h"
#include "runtime/model/model.h"

/* Writes a member of the prediction's name: the `top` most probable classes, each a name (a number,
 * if it has none) and its probability; of a set, if `top` is PREDICTED_SET, the labels that are in
 * it; numbers; a list of such for positions; CTC's results with
 * their log-probabilities. */
enum { PREDICTED_SET = 0 };
void predicted_put_json(const TfcPrediction *prediction, const TfcLabelSet *set,
                        const TfcPredicted *found, int64_t top, JsonWriter *json);
/* Whether predicted_put_line takes the prediction: it takes no lists of numbers for positions. */
bool predicted_has_line(const TfcPrediction *prediction);
/* Appends a line without its end: the `top` most probable classes and their probabilities with tabs
 * between; of a set, if `top` is PREDICTED_SET, the labels that are in it, as a table has them;
 * or, with blanks between, a class for each position, labels of CTC, or numbers. With
 * `top` above 1 a tab and its log-probability follow each result of CTC. */
void predicted_put_line(const TfcPrediction *prediction, const TfcLabelSet *set,
                        const TfcPredicted *found, int64_t top, Text *out);
/* What `top` is where nobody gave one (given 0): that of a set, or else `otherwise`. */
static inline int64_t predicted_top(const TfcLabelSet *set, int64_t given, int64_t otherwise)
{
    return given ? given : set->thresholds ? PREDICTED_SET : otherwise;
}

/* PredictedNotes: how many lines of answers have a note, the first of them, from 0, and the last
 * note. */
typedef struct PredictedNotes {
    const char *note;
    int64_t lines, first;
} PredictedNotes;

/* Counts an answer of `n` predictions in line `line`. */
void predicted_count_notes(PredictedNotes *notes, const TfcPredicted *list, int64_t n,
                           int64_t line);
/* Appends "line 4 of the answers and 2 others: NOTE"; only if there is a note. */
void predicted_put_notes(const PredictedNotes *notes, Text *out);

#endif
