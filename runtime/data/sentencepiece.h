/* Training by the SentencePiece library: in a module, the only place that knows it is C++. What is trained
 * is used by runtime/text. Errors come back as text to be freed by the caller; nothing is
 * printed. */
#ifndef RUNTIME_DATA_SENTENCEPIECE_H
#define RUNTIME_DATA_SENTENCEPIECE_H

#include "base/diag.h"
#include "runtime/data/lines.h"

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Before the first call of sp_train; again it is nothing. False after errors. */
bool sp_load(Diagnostics *diags);
/* Trains a unigram model (Kudo 2018) with pad 0, unk 1, bos 2, eos 3 on n lines, every
 * character covered. Every line counts: one that is longer than the library takes is cut, at
 * blanks where it has some, and U+2585, which the library keeps for itself, becomes a piece of its
 * own. The same lines give the same bytes.
 *   as_is    the model keeps texts as they are: tabs, runs of blanks, all characters; else
 *            NFKC and one blank for each run
 *   exact    fail where the text does not support so many pieces
 * *bytes is malloc'd. On failure *least is how many pieces
 * the characters of the text need, if these are too few, else 0. */
bool sp_train(const Line *lines, int64_t n, int pieces, bool as_is, bool exact, char **bytes, size_t *size,
              int *least, char **error);

#ifdef __cplusplus
}
#endif
#endif
