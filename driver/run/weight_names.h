/* Whether files of weights call their tensors as the model calls its params (own names: runs'
 * checkpoints, ONNX models of tfc) or as its weights block does (published names). A param may have
 * the published name of another tensor, or of itself in another layout, so this is decided for a
 * file as a whole. The files of one path (shards.h) count as one. A file has
 *
 *   own names        if params are found by these alone, and none by the weights block alone
 *   published names  if it is the reverse
 *   what its mark says, if neither tells: files of own names that tfc writes have a mark
 *   published names  without a mark
 *
 * and is refused if it has both. A param that two files have, by whatever names, is that of the
 * last. A param that the weights block does not mention is read by its own
 * name from either. */
#ifndef DRIVER_RUN_WEIGHT_NAMES_H
#define DRIVER_RUN_WEIGHT_NAMES_H

#include "driver/session/session.h"
#include "driver/formats/shards.h"

/* WeightNames: what was decided.
 *   own   of each item of the shards: it has own names; NULL: none has */
typedef struct WeightNames {
    const Model *model;
    const Shards *shards;
    const bool *own;
} WeightNames;

/* False after an error that names a tensor of either kind: a file has both. */
bool weight_names_decide(Job *job, const Model *model, const Shards *shards, WeightNames *names);
/* The map by which a param is read, from tensors of published names (weight_names_find); NULL: it
 * is read by its own name. */
const WeightMap *weight_names_map(const WeightNames *names, const char *param);
/* The first of a part's names that a file of published names has; NULL: none. If no name there
 * begins with the first part of such a name ("transformer."), it is looked up without that part. */
const Shard *weight_names_find(const WeightNames *names, const WeightPart *part);
/* The tensor of the own name, which may lack its first part in the same way; NULL: none. */
const Shard *weight_names_own(const WeightNames *names, const char *param);

#endif
