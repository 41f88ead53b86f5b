/* ParamsHash: hashes of a model's params: of each by itself, and one of all, for papers.
 *
 * The hash of a param is XXH64 (seed 0) of its elements' bytes, little-endian, in the order of its
 * axes, the last one fastest. The hash of all is SHA-256 of, for each param in the order of the
 * bytes of their names: name, NUL, type ("f32"), NUL, dims ("256,64"; "" of a scalar), NUL, and its
 * elements' bytes. Neither depends on times, paths, steps or the optimizer's tensors. */
#ifndef DRIVER_RUN_PARAMS_HASH_H
#define DRIVER_RUN_PARAMS_HASH_H

#include "driver/job.h"

#include <stdint.h>

/* ParamHash: a param and its hash; texts are in the job's arena. */
typedef struct ParamHash {
    const char *name, *type, *dims;
    uint64_t hash;
} ParamHash;

/* ParamsHash: in the job's arena.
 *   all    64 hexadecimal digits
 *   of     the file or folder that the params were read from
 *   list   in the order of the bytes of their names */
typedef struct ParamsHash {
    const char *all, *of;
    VEC(ParamHash) list;
} ParamsHash;

/* Of a file of weights, of any format, whose elements that are packed count as f32; the optimizer's
 * tensors of a checkpoint are left out. False after errors. */
bool params_hash_file(Job *job, const char *path, ParamsHash *hash);
/* Of the folder of a run: of `checkpoint` (run_checkpoint), or NULL: of the params that it answers
 * with. Those of an imported run are read through its model. False after errors. */
bool params_hash_run(Job *job, const char *folder, const char *checkpoint, ParamsHash *hash);

#endif
