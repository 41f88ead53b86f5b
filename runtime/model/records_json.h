/* Records as lines of JSON: {"image": [0.5, …], "place": 1, "text": "…"}. */
#ifndef RUNTIME_MODEL_RECORDS_JSON_H
#define RUNTIME_MODEL_RECORDS_JSON_H

#include "runtime/model/columns.h"

/* Makes the words of tfc_model_translations_columns of the lines of a text, in the arena: each line
 * is an object with a member for each input (runtime/rows/record_json.h), whose value is read as a
 * table's cell is (runtime/rows/cell.h). Other members are skipped, as other fields of a table are.
 * `out` has room for MOST_DIMS + MOST_INPUTS.
 * Returns a TfcStatus: the detail begins with the record, from 0: "record 3: …". No number may lie
 * along a dimension made of others. */
int records_of_json(const TfcModel *model, const TfcProgram *encode, const char *text,
                    size_t length, Arena *arena, TfcWord *out);

#endif
