/* Marian's names, in its model.npz, of settings and arrays, which are consts and params of the
 * model models/marian.tfg. Import and export both use these tables. */
#ifndef DRIVER_EXCHANGE_NPZ_MARIAN_H
#define DRIVER_EXCHANGE_NPZ_MARIAN_H

#include "base/arena.h"
#include "base/vec.h"
#include "driver/exchange/import_models.h"

/* The array of the settings: YAML as bytes, ended by a NUL. */
#define MARIAN_SETTINGS "special:model.yml"
/* The table of embeddings. */
#define MARIAN_EMBEDDING "Wemb"
/* The settings: IMPORT_CONST is a key of Hugging Face's config.json, IMPORT_MUST what the model is
 * written for. */
extern const ImportModel marian_settings;

/* MarianName: an array of Marian and our param with the same layout. Marian's array of a vector
 * begins with an axis of 1.
 *   shape   a letter for each axis: 1, d (of the model), f (of the feed-forward layer), v (tokens
 *           of the vocabulary) */
typedef struct MarianName {
    const char *theirs, *ours, *shape;
} MarianName;
typedef VEC(MarianName) MarianNames;
/* The names for a model with these numbers of layers, in the arena. */
MarianNames marian_names(Arena *arena, int64_t encoder_layers, int64_t decoder_layers);

#endif
