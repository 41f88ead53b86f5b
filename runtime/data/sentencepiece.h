/* Training of vocabularies by the SentencePiece library, in a module, the only part in C++.
 * runtime/text reads the trained model. Nothing is printed; the message of an error is malloc'd, to
 * be freed by the caller. */
#ifndef RUNTIME_DATA_SENTENCEPIECE_H
#define RUNTIME_DATA_SENTENCEPIECE_H

#include "base/diag.h"
#include "runtime/data/lines.h"

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Loads the module, before the first call of sp_train; does nothing if it is loaded. False after
 * errors. */
bool sp_load(Diagnostics *diags);
/* The library's version when tfc was built, "0.1.97"; after sp_load. */
const char *sp_version(void);
/* SpTexts: how a model reads texts.
 *   as_is    as they are: with tabs, runs of blanks, all characters; else with NFKC and one blank
 *            for each run
 *   symbol   a text that is a piece wherever it stands; NULL: none */
typedef struct SpTexts {
    bool as_is;
    const char *symbol;
} SpTexts;

/* Trains a unigram model (Kudo 2018) with pad 0, unk 1, bos 2, eos 3 on n lines, every
 * character covered. Every line counts: a line longer than the library takes is cut, at blanks if
 * it has some. U+2585, which the library reserves, becomes a piece of its own. The same lines give
 * the same bytes.
 *   exact    fail where the text does not support so many pieces
 * *bytes is malloc'd. After an error *least is the number of pieces that the characters of the text
 * need, if `pieces` is less; else 0. */
bool sp_train(const Line *lines, int64_t n, int pieces, const SpTexts *texts, bool exact,
              char **bytes, size_t *size, int *least, char **error);

#ifdef __cplusplus
}
#endif
#endif
