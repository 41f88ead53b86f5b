/* Predicted rows as text and as JSON. */
#ifndef CLI_PREDICTED_H
#define CLI_PREDICTED_H

#include "base/json_write.h"
#include "driver/run/prediction.h"
#include "runtime/decode/ctc.h"
#include "runtime/model/predicted_text.h"

/* PredictedForm: how rows are written.
 *   top      how many classes, or results of CTC's search; 0: nobody said, and it is one, or the
 *            labels of a set
 *   beam     of predictions that CTC makes labels of; its n_best is `top`
 *   line     of the row, from 0
 *   notes    of the rows so far */
typedef struct PredictedForm {
    int64_t top;
    CtcBeam beam;
    int64_t line;
    PredictedNotes notes;
} PredictedForm;

/* Before rows are printed: where standard output is a terminal, long names of classes are cut as
 * those of tables are (cli_name). */
void predicted_cut_names(Arena *arena, Predictor *predictor);
/* Appends n values of a row: as a line, or as a member of the open object. False after an error of
 * CTC's search. */
bool predicted_put_row(Job *job, PredictedForm *form, const Prediction *prediction,
                       const float *values, int64_t n, Text *out);
bool predicted_put_member(Job *job, PredictedForm *form, const Prediction *prediction,
                          const float *values, int64_t n, JsonWriter *json);
/* A note to the job's messages if a row had one. */
void predicted_tell_notes(Job *job, const PredictedForm *form);

#endif
