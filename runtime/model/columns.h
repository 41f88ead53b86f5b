/* What texts are generated from where that is columns, of which a source may be one: from the words
 * of a call, or from records. */
#ifndef RUNTIME_MODEL_COLUMNS_H
#define RUNTIME_MODEL_COLUMNS_H

#include "runtime/model/texts.h"
#include "runtime/rows/row_fault.h"

/* The program encode; the ragged dimension along which an input of it lies, -1: none; and the
 * dimension that counts its rows. */
const TfcProgram *columns_encoder(const TfcSession *session);
int32_t columns_dim(const TfcProgram *program, const TfcPort *port);
static inline int32_t columns_rows_dim(const TfcProgram *program)
{
    return program->inputs[0].shape.dims[0].dim;
}
/* The feed of a program encode that reads columns: each of its inputs is one, and each dimension
 * along which one lies is a side. */
Feed columns_feed(const TfcProgram *encode);
/* The rows that the words of encode hold, once these are checked. Columns are the caller's; the
 * rest is in the arena. Returns a TfcStatus. */
int columns_rows(const TfcSession *session, const TfcWord *in, Arena *arena, Sources *out);
/* Whether a row has no positions along a side, so that nothing is generated from it. */
bool columns_row_is_empty(const Sources *rows, int64_t row);
/* Copies n of the rows into the arena: by their numbers, which ascend; `first` is that of row 0.
 * False: memory ran out. */
bool columns_choose(const TfcProgram *encode, const Sources *rows, int64_t first,
                    const int64_t *numbers, int32_t n, Arena *arena, Sources *out);

/* ColumnRecords: records, as the words of tfc_model_translations_columns or, where these are NULL,
 * as lines of JSON: {"image": [0.5, …], "place": 1, "text": "…"}. Each line is an object with a
 * member for each input (runtime/rows/record_json.h), whose value is read as a table's cell is
 * (runtime/rows/cell.h). Other members are skipped, as other fields of a table are. */
typedef struct ColumnRecords {
    const TfcWord *words;
    const char *json;
    size_t length;
} ColumnRecords;
/* Makes words of encode from records, in the arena; the unknown tokens of texts are counted. `out`
 * has room for MOST_DIMS + MOST_INPUTS. Returns a TfcStatus: the detail begins with the record,
 * from 0: "record 3: …". (records.c) */
int columns_read(TfcSession *session, const ColumnRecords *records, Arena *arena, TfcWord *out);

#endif
