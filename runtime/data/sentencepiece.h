/* A C face for the SentencePiece library: the only place that knows it is C++.
 * Errors come back as text to be freed by the caller; nothing is printed. */
#ifndef RUNTIME_DATA_SENTENCEPIECE_H
#define RUNTIME_DATA_SENTENCEPIECE_H

#include "runtime/data/ids.h"
#include "runtime/data/lines.h"

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct SpModel SpModel;

/* A model from the bytes of a .model file; NULL and *error if they are none. */
SpModel *sp_load(const void *bytes, size_t size, char **error);
void sp_free(SpModel *model);

/* Trains a unigram model (Kudo 2018) with pad 0, unk 1, bos 2, eos 3 on n lines, every
 * character covered. The same lines give the same bytes. `exact`: fail where the text
 * does not support so many pieces. *bytes is malloc'd. On failure *least is how many pieces
 * the characters of the text need, if these are too few, else 0. */
bool sp_train(const Line *lines, int64_t n, int pieces, bool exact, char **bytes, size_t *size,
              int *least, char **error);

int sp_size(const SpModel *model);
int sp_pad(const SpModel *model); /* each -1 where the model has none */
int sp_unk(const SpModel *model);
int sp_bos(const SpModel *model);
int sp_eos(const SpModel *model);
const char *sp_piece(const SpModel *model, int id);   /* owned by the model */
int sp_find(const SpModel *model, const char *piece); /* unk where absent */
bool sp_encode(const SpModel *model, const char *text, size_t length, Ids *ids); /* appends */
void sp_decode(const SpModel *model, const int32_t *ids, size_t n, Text *out);   /* appends */

#ifdef __cplusplus
}
#endif
#endif
