/* Filling a store: initial values, arrays from files, published checkpoints under the model's
 * own name map; and the way back, params as the tensors of such a checkpoint. */
#ifndef DRIVER_WEIGHTS_H
#define DRIVER_WEIGHTS_H

#include "driver/session.h"

/* Fills the store with the initial values of the model, drawn from the seed or read from the
 * files that it names; false after errors. */
bool weights_initialise(Job *job, const Model *model, Store *store, uint64_t seed);
/* Fills every param of the store (trained, frozen, state) from a checkpoint (runtime/data/
 * shards.h, or the folder of a run), where it has the names of the model's name map or its own; of the map's names the
 * first part may be left out if no name there begins with it. False after errors; what is missing
 * is one message. */
typedef struct WeightsLoad {
    const TextList *fresh; /* params that these patterns meet (patterns.h) may be missing and stay as
                              they are; NULL: none */
    TextList *unused;      /* gets the names of tensors that no param takes; NULL: not asked */
} WeightsLoad;
/* `how`: NULL is {0}. */
bool weights_load(Job *job, const Model *model, Store *store, const char *path,
                  const WeightsLoad *how);
/* Writes params as a safetensors file with the names and layout of the model's name map;
 * params without a map keep theirs. Those that the patterns of `only` meet (patterns.h; NULL or
 * empty: all), but for those named in `without` (NULL: none). False after errors: what several
 * params give a tensor is not the same, or does not fill it. */
typedef struct WeightsExport {
    const TextList *only;
    const Map *without;
} WeightsExport;
bool weights_export(Job *job, const Model *model, Store *store, const WeightsExport *what,
                    const char *path);
/* Gives every param that the model merges (`merge NAME = …`) its merged value, and `parts` the
 * names of the params that went into these. The store holds f32 params of the model that the
 * options open. False after errors: the model merges nothing. (weights_merge.c) */
bool weights_merge(Job *job, const SessionOptions *options, Store *store, Map *parts);

#endif
