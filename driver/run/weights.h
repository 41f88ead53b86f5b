/* Filling a store: initial values, arrays from files, published checkpoints under the model's
 * own name map; and the way back, params as the tensors of such a checkpoint. */
#ifndef DRIVER_RUN_WEIGHTS_H
#define DRIVER_RUN_WEIGHTS_H

#include "driver/session/session.h"
#include "runtime/data/shards.h"

/* Fills the store with the initial values of the model, drawn from the seed or read from the
 * files that it names; false after errors. */
bool weights_initialise(Job *job, const Model *model, Store *store, uint64_t seed);
/* WeightsLoad: what may be missing in a checkpoint, and what is left over.
 *   fresh    patterns (patterns.h) of params that may be missing, and then stay as they are; NULL: none
 *   unused   gets the names of tensors that no param takes; NULL: not asked */
typedef struct WeightsLoad {
    const TextList *fresh;
    TextList *unused;
} WeightsLoad;
/* Fills every param of the store (trained, frozen, state) from a checkpoint: safetensors
 * (runtime/data/shards.h) or the folder of a run. A param has the name of the model's name map there,
 * or its own. The first part of the map's names may be missing in a file where no name begins with it.
 * `how`: NULL is {0}. False after errors; what is missing is one message. */
bool weights_load(Job *job, const Model *model, Store *store, const char *path,
                  const WeightsLoad *how);
/* WeightsFile: a checkpoint whose params are read one by one. It was read whole before: only a file that has changed since
 * has errors. Lives in the job's arena until weights_close. */
typedef struct WeightsFile {
    Job *job;
    const Model *model;
    Shards *shards;
} WeightsFile;
/* False, with no message: it is not one that weights_load would read. */
bool weights_open(Job *job, const Model *model, const char *path, WeightsFile *file);
/* The values of a param; false after an error. */
bool weights_read(const WeightsFile *file, StoreTensor *param);
void weights_close(WeightsFile *file);
/* The tensors of a checkpoint that no param of the model takes, as weights_load would tell them; nothing is
 * read. False after errors. */
bool weights_unused(Job *job, const Model *model, const char *path, TextList *unused);
/* WeightsExport: which params are written.
 *   only     those that these patterns meet (patterns.h); NULL or empty: all
 *   without  names of params that are left out; NULL: none */
typedef struct WeightsExport {
    const TextList *only;
    const Map *without;
} WeightsExport;
/* Writes params as a safetensors file, with the names and layout of the model's name map; those
 * without a map keep theirs. False after errors: several params give one tensor different values, or
 * do not fill it. */
bool weights_export(Job *job, const Model *model, Store *store, const WeightsExport *what,
                    const char *path);
/* Gives every param that the model merges (`merge NAME = …`) its merged value, and `parts` the
 * names of the params that went into these. The store holds f32 params of the model that the
 * options open. False after errors: the model merges nothing. (weights_merge.c) */
bool weights_merge(Job *job, const SessionOptions *options, Store *store, Map *parts);

#endif
