/* Records as JSON has them: {"image": [0.5, …], "place": 1, "text": "…"}. */
#ifndef RUNTIME_MODEL_RECORDS_JSON_H
#define RUNTIME_MODEL_RECORDS_JSON_H

#include "base/json_read.h"
#include "runtime/model/columns.h"

/* Makes the words of tfc_model_translations_columns of a list of objects with a member for each
 * input, in the arena; they point into the list. Other members are skipped, as other fields of a
 * table are. `out` has room for MOST_DIMS + MOST_INPUTS.
 * Returns a TfcStatus: the detail names record and member. No number may lie along a dimension made
 * of others. */
int records_of_json(const TfcModel *model, const TfcProgram *encode, const JsonValue *list,
                    Arena *arena, TfcWord *out);

#endif
