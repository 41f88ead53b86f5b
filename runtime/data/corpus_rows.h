/* Rows of a corpus while they are made: what lines and streams share. */
#ifndef RUNTIME_DATA_CORPUS_ROWS_H
#define RUNTIME_DATA_CORPUS_ROWS_H

#include "runtime/data/corpus.h"

/* Ends the row that ids were appended to. */
static inline void rows_close(Rows *rows) { rows->start[++rows->n] = (int64_t)rows->ids.count; }

/* Appends the text's tokens; false: the tokenizer could not take it, and its line is counted among
 * those that are refused. (corpus.c) */
bool corpus_encode_text(Corpus *corpus, const Vocabulary *vocab, const char *text, size_t length,
                        int64_t line, Ids *ids);

#endif
