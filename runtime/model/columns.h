/* What texts are generated from where that is columns, of which a source may be one: from the words
 * of a call, or from records. */
#ifndef RUNTIME_MODEL_COLUMNS_H
#define RUNTIME_MODEL_COLUMNS_H

#include "runtime/model/texts.h"
#include "runtime/rows/row_fault.h"

/* The feed of a program encode that reads columns: each of its inputs is one, and each dimension
 * along which one lies is a side. */
Feed columns_feed(const TfcProgram *encode);
/* The rows that the words of encode hold, once these are checked. Columns are the caller's; the
 * rest is in the arena. Returns a TfcStatus. */
int columns_rows(const TfcSession *session, const TfcWord *in, Arena *arena, Sources *out);
/* The error of a record: "record 3: …". */
int columns_fail(int64_t record, const RowFault *fault);
/* Whether a row has no positions along a side, so that nothing is generated from it. */
bool columns_row_is_empty(const Sources *rows, int64_t row);
/* Copies n of the rows into the arena: by their numbers, which ascend; `first` is that of row 0.
 * False: memory ran out. */
bool columns_choose(const TfcProgram *encode, const Sources *rows, int64_t first,
                    const int64_t *numbers, int32_t n, Arena *arena, Sources *out);
/* Makes words of encode from those of records (tfc_model_translations_columns): ids of texts, whose
 * unknown tokens are counted, and of labels, in the arena. Returns a TfcStatus. */
int columns_read(TfcSession *session, const TfcWord *records, Arena *arena, TfcWord *out);

#endif
