/* Marian's names of the settings and arrays in its model.npz, with the consts and params that they
 * are in models/marian.tfg. Import and export both use these tables. */
#ifndef DRIVER_EXCHANGE_NPZ_MARIAN_H
#define DRIVER_EXCHANGE_NPZ_MARIAN_H

#include "base/arena.h"
#include "base/json_read.h"
#include "base/vec.h"
#include "driver/exchange/import_models.h"

/* The array of the settings: YAML as bytes, ended by a NUL. */
#define MARIAN_SETTINGS "special:model.yml"
/* The table of embeddings. */
#define MARIAN_EMBEDDING "Wemb"
/* What Marian's positions turn by in a model of that width (const position_base): sines and cosines
 * by 10000 ^ (-i / (d / 2 - 1)) a token, i from 0 (its sinusoidalPositionEmbeddings); those of
 * Hugging Face's classes by 10000 ^ (-i / (d / 2)). */
double marian_position_base(double width);
/* The settings, under Marian's keys: `to` of an IMPORT_RENAME is the key of Hugging Face's
 * config.json, `to` of an IMPORT_MUST the value that the model is written for. */
extern const ImportModel marian_settings;
/* Whether a transformer computes the same whatever the value of this key: the key is of another
 * type of model, of training, or of weights' initial values. */
bool marian_is_unread(const char *key);
/* "dim-vocabs" of settings, if it counts other than n_tokens tokens on a side (0: not said); else
 * NULL. */
const JsonValue *marian_wrong_counts(const JsonValue *settings, int64_t n_tokens);

/* MarianName: an array of Marian and our param with the same layout. Marian's array of a vector
 * begins with an axis of 1.
 *   shape   of Marian's array, a letter for each axis: 1, d (of the model), f (of the feed-forward
 *           layer), v (tokens of the vocabulary; the param's axis has <pad> as well) */
typedef struct MarianName {
    const char *theirs, *ours, *shape;
} MarianName;
typedef VEC(MarianName) MarianNames;
/* The names for a model with these numbers of layers, in the arena. */
MarianNames marian_names(Arena *arena, int64_t encoder_layers, int64_t decoder_layers);

#endif
