/* Filling a store: initial values, arrays from files, published checkpoints under the model's
 * own weights block; and the way back, params as the tensors of such a checkpoint. */
#ifndef DRIVER_RUN_WEIGHTS_H
#define DRIVER_RUN_WEIGHTS_H

#include "driver/session/session.h"
#include "driver/formats/shards.h"
#include "driver/run/grown_rows.h"
#include "driver/run/weight_names.h"

/* Fills those tensors of the store that have memory with the initial values that the model
 * declares: constants, random numbers of the seed, or arrays of the files that the model names.
 * False after errors. */
bool weights_initialise(Job *job, const Model *model, Store *store, uint64_t seed);
/* WeightsLoad: what of a checkpoint need not fit the model, and what is left over.
 *   fresh    patterns (patterns.h) of params that may be missing or have another shape, and then
 *            keep their values; NULL: none
 *   anew     names of params that keep their values in any case; NULL: none
 *   grown    of vocabularies that have more tokens than those of the checkpoint: one of each size;
 *            n_grown of them
 *   unused   gets the names of tensors that no param takes; NULL: not wanted */
typedef struct WeightsLoad {
    const TextList *fresh, *anew;
    const GrownRows *grown;
    int n_grown;
    TextList *unused;
} WeightsLoad;
/* Fills every param of the store (trained, frozen, state) from a checkpoint: files of weights
 * (driver/formats/shards.h) or the folder of a run. The tensor of a param has the name in the
 * model's weights block, or the param's own (weight_names.h). `how` NULL: as {0}.
 * Notes tell which params keep their values though the checkpoint has them, and which have grown.
 * False after errors. One message lists all missing tensors, but those of params after the fifth
 * that does not fit are not looked for. A param without data (store_defer) is not filled: its
 * tensor is compared with its shape, and read once to see that its values are finite. */
bool weights_load(Job *job, const Model *model, Store *store, const char *path,
                  const WeightsLoad *how);
/* The folder of a run among the paths of --weights, which commas separate; NULL: there is none. In
 * the arena. */
const char *weights_run(Arena *arena, const char *path);
/* WeightsFile: a checkpoint whose params are read one by one. The checkpoint was read whole before,
 * so there are errors only if the file has changed since. Lives in the job's arena until
 * weights_close. */
typedef struct WeightsFile {
    Job *job;
    Shards *shards;
    WeightNames names;
} WeightsFile;
/* Opens a checkpoint. False, without a message: weights_load could not open it either. */
bool weights_open(Job *job, const Model *model, const char *path, WeightsFile *file);
/* Reads the values of a param; false after an error. */
bool weights_read(const WeightsFile *file, StoreTensor *param);
void weights_close(WeightsFile *file);
/* Sets *unused to the names of a checkpoint's tensors that no param of the model takes, as
 * weights_load does, but without reading values. False after errors. */
bool weights_unused(Job *job, const Model *model, const char *path, TextList *unused);
/* WeightsExport: which params are written.
 *   only     patterns (patterns.h) of the params that are written; NULL or empty: all
 *   without  names of params that are left out; NULL: none
 *   folders  of weights_export: tensors called FOLDER/NAME are those of a module (shards.h), and
 *            written beside the file, as NAME in FOLDER/model.safetensors
 *   half     of weights_export: the type of floats; NULL: f32
 *   types    of weights_export: tensors of another type (HalfType by name); NULL: none
 *   others   of gguf_export: types (gguf_type_named) of params by name that do not get the type of
 *            the rest; NULL: none */
typedef struct WeightsExport {
    const TextList *only;
    const Map *without;
    bool folders;
    const struct HalfType *half;
    const Map *types;
    const Map *others;
} WeightsExport;
/* HalfType: a type of two bytes: f16 or bf16.
 *   limit   the least magnitude that it has no finite number for */
typedef struct HalfType {
    const char *name;
    StType type;
    float limit;
} HalfType;
const HalfType *half_type(const char *name); /* NULL: another one */
/* WeightTensors: params as the tensors of a checkpoint, with the names and layout of the model's
 * weights block, or their own names without a map. Names live in the job's arena, data until
 * weights_collected_free.
 *   params   of each tensor the param that it is, or the first of those that it is made of */
typedef struct WeightTensors {
    StTensor *tensors;
    const char **params;
    int64_t n;
} WeightTensors;
/* False after errors, as of weights_export; *collected is then to be freed, too. */
bool weights_collect(Job *job, const Model *model, Store *store, const WeightsExport *what,
                     WeightTensors *collected);
void weights_collected_free(WeightTensors *collected);
/* False, with an error that names the param: an element of tensor i, which is of f32, has a
 * magnitude of `limit` or more, for which the type `narrow` has no finite number. */
bool weights_check_range(Job *job, const WeightTensors *collected, int64_t i, float limit,
                         const char *narrow);
/* Writes params as a safetensors file, with the names and layout of the model's weights block, or
 * their own names without a map. False after errors, such as params that give one tensor different
 * values, do not fill it, or have an element that the type does not hold. */
bool weights_export(Job *job, const Model *model, Store *store, const WeightsExport *what,
                    const char *path);
/* Gives every param that the model merges (`merge NAME = …`) its merged value, and adds to
 * `parts` the names of the params that merges read but do not change (the adapters). The store
 * has the f32 params of the model that the options open. False after errors, such as a model that
 * merges nothing. (weights_merge.c) */
bool weights_merge(Job *job, const SessionOptions *options, Store *store, Map *parts);

#endif
