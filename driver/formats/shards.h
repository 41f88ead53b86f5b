/* Shards: the tensors of a checkpoint in one file or in several, of any format (formats.h).
 *
 * A path is one of
 *   FILE                        the file alone
 *   FILE.json                   the index of shards as published models have it:
 *                               {"weight_map": {"TENSOR": "FILE.safetensors", …}}
 *   FOLDER                      with one of these, by the name that published models give it
 *                               (shards_in)
 *   PATH,PATH…                  all of these together, as a model and its adapters; a tensor of
 *                               several paths is that of the last
 *
 * A folder of sentence-transformers has weights in the folders of its modules, too (modules.h);
 * their tensors are called MODULE/TENSOR.
 *
 * Each is read where its links lead, but the files that an index names lie in its folder
 * (FileReach). */
#ifndef RUNTIME_DATA_SHARDS_H
#define RUNTIME_DATA_SHARDS_H

#include "runtime/data/safetensors.h"

typedef struct Shards {
    const char *path;
    VEC(StFile *) files;
    Map index;               /* private: name → Shard */
    VEC(const char *) names; /* of all tensors */
    int n_items;             /* of PATH,PATH… the number of paths */
} Shards;

/* A tensor, the file that holds it, and the number of the path, from 0. */
typedef struct Shard {
    const StFile *file;
    const StTensor *tensor;
    int item;
} Shard;

/* The weights in a published folder, a file or an index: model.safetensors, pytorch_model.bin, or
 * the index of one of these. NULL: the folder has none. */
const char *shards_in(Arena *arena, const char *folder);
/* Maps the files; NULL after an error, which names the file. Everything but the mappings lives
 * in the arena; shards_close unmaps, and NULL is allowed. */
Shards *shards_open(Diagnostics *diags, Arena *arena, const char *path);
/* The same of a path within reach; reach.outside holds for the files of an index, too. */
Shards *shards_open_within(Diagnostics *diags, Arena *arena, FileReach reach, const char *path);
void shards_close(Shards *shards);
/* The type of a tensor that is passed over (StPassed); NULL: there is no such. */
const char *shards_passed(const Shards *shards, const char *name);
/* NULL: there is no such tensor. */
const Shard *shards_find(const Shards *shards, const char *name);

#endif
