/* Rows of token shards, added to a corpus. */
#ifndef RUNTIME_DATA_PREPARED_ROWS_H
#define RUNTIME_DATA_PREPARED_ROWS_H

#include "runtime/data/prepared.h"

/* Where a row is in a corpus, or one of these. */
enum { ROW_NOT_READ = -1, ROW_WANTED = -2, ROW_LEFT_OUT = -3 /* longer than max_length */ };

/* Adds the rows of shard i to a corpus.
 *   stored   of each row of the shard: only rows that are ROW_WANTED are added, and get the place
 *            where they then are, or ROW_LEFT_OUT; NULL: all rows are added
 * False after an error: a damaged file, or a row that the model cannot be fed. */
bool prepared_load_shard(Diagnostics *diags, Arena *arena, const Prepared *prepared, int64_t i,
                         Corpus *rows, int64_t *stored);

#endif
