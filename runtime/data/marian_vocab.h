/* Vocabularies of Marian's kind, as OPUS-MT publishes them: each language has a SentencePiece
 * model, which cuts text into pieces, and one list gives the ids of both languages' pieces.
 *
 *   source.spm, target.spm   SentencePiece models (unigram or BPE)
 *   vocab.json               {"piece": id, …}, with ids 0 … n - 1
 *
 * marian_model makes of both a SentencePiece model whose pieces stand in the list's order. Behind
 * them stand the pieces that the list lacks; text that is cut into these is unknown. Field 200 of
 * the model, which SentencePiece leaves to others, is n. */
#ifndef RUNTIME_DATA_MARIAN_VOCAB_H
#define RUNTIME_DATA_MARIAN_VOCAB_H

#include "base/diag.h"

#include <stddef.h>

/* The bytes of the model for one language, *size of them, in the arena. `pieces`: its .spm; `list`:
 * vocab.json; is_whole: it is the model of all languages, as M2M-100's, and what it lacks of the
 * list has no text. NULL after an error that names the file. */
const char *marian_model(Diagnostics *diags, Arena *arena, const Source *pieces, const Source *list,
                         bool is_whole, size_t *size);

#endif
