/* Vocabularies of Marian's kind, as OPUS-MT publishes them: a SentencePiece model a language cuts
 * text into pieces, and one list gives the pieces of both their ids.
 *
 *   source.spm, target.spm   SentencePiece models (unigram)
 *   vocab.json               {"piece": id, …}, with ids 0 … n - 1
 *
 * Here it is a SentencePiece model whose pieces stand in the list's order. Behind them stand the
 * pieces that the list lacks; text that is cut into these is unknown. Field 200 of the model,
 * which SentencePiece leaves to others, is n. */
#ifndef RUNTIME_DATA_MARIAN_VOCAB_H
#define RUNTIME_DATA_MARIAN_VOCAB_H

#include "base/diag.h"

#include <stddef.h>

/* The model for one language, in the arena; NULL after an error that names the file. */
const char *marian_model(Diagnostics *diags, Arena *arena, const Source *pieces, const Source *list,
                         size_t *size);

#endif
