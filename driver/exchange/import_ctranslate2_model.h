/* What the parts of import_ctranslate2.h share: a model of CTranslate2's on its way to a published
 * folder. Names of variables are those of python/ctranslate2/specs/transformer_spec.py. */
#ifndef DRIVER_EXCHANGE_IMPORT_CTRANSLATE2_MODEL_H
#define DRIVER_EXCHANGE_IMPORT_CTRANSLATE2_MODEL_H

#include "base/json_read.h"
#include "base/vec.h"
#include "driver/formats/formats.h"
#include "driver/job.h"

/* SpecPositions: what stands in the table of positions, from the first token's row on.
 *   SINES     sines, then cosines, of p / 10000^(i / (d / 2)), p from 0, as Marian's class has them
 *   FAIRSEQ   the same of p / 10000^(i / (d / 2 - 1)), p from 2, as M2M-100's
 *   LEARNED   anything; in the published table two rows stand before it */
typedef enum SpecPositions { POSITIONS_SINES, POSITIONS_FAIRSEQ, POSITIONS_LEARNED } SpecPositions;
enum { ROWS_BEFORE = 2 };

/* SpecFamily: a model_type that converters make a TransformerSpec of, known by its parts.
 *   model            in models/
 *   pre_norm         layers normalise what they read, and a norm stands behind the last one
 *   embedding_norm   embeddings are normalised
 *   from_zeros       targets begin with an embedding of zeros: that of <pad>, which is no token of
 *                    CTranslate2's and the last of the published model's
 *   has_bias         the published logits have a bias
 *   has_languages    texts begin with the token of a language */
typedef struct SpecFamily {
    const char *type, *class_name, *model;
    bool pre_norm, embedding_norm, from_zeros;
    SpecPositions positions;
    bool has_bias, has_languages;
} SpecFamily;

typedef struct SpecImport {
    Job *job;
    const char *folder, *to;
    const TextList *said; /* rules of tokens that the user gives */
    const StFile *file;
    const JsonValue *config; /* NULL: there is none, as before CTranslate2 3 */
    const SpecFamily *family;
    TextList tokens; /* in the order of their ids */
    Map ids;         /* token → its id + 1 */
    int64_t d_model;
    int64_t layers[2]; /* encoder, decoder */
    bool is_scaled;    /* embeddings are multiplied by the root of d_model */
    Map used;          /* variables */
} SpecImport;

/* The variable, which counts as used. NULL: there is none; need: after an error. */
const StTensor *spec_find(SpecImport *m, const char *name);
const StTensor *spec_need(SpecImport *m, const char *name);
const char *spec_side(int side); /* "encoder" or "decoder", of 0 and 1 */
bool spec_write_file(const SpecImport *m, const char *name, const char *bytes, size_t size);

/* ---- import_ctranslate2_tokens.c ---- */

/* Sets tokens and ids, by the folder's list. */
bool spec_read_tokens(SpecImport *m);
int64_t spec_id(const SpecImport *m, const char *token); /* -1: it is no token */
/* Writes what the family's tokenizer is published as, of what lies in the folder. */
bool spec_write_tokenizer(SpecImport *m);

/* ---- import_ctranslate2_weights.c ---- */

/* Writes model.safetensors. */
bool spec_write_weights(SpecImport *m);

#endif
