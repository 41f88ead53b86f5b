/* Copying between params and the parts that a weights block makes them of
 * (frontend/frontend.h: WeightPart). */
#ifndef DRIVER_RUN_WEIGHT_PARTS_H
#define DRIVER_RUN_WEIGHT_PARTS_H

#include "driver/session/session.h"
#include "runtime/data/shards.h"

/* The map of a param, by its name; NULL: the model's weights block has none. */
const WeightMap *weight_map(const Model *model, const char *name);
/* A map of one part: the tensor `name`, as large as the param. */
WeightMap whole_map(Arena *arena, const StoreTensor *param, const char *name);
/* Whether a tensor's shape is what the part takes; further axes in front may be of 1. */
bool part_fits(Job *job, const WeightPart *part, const Shard *from, const StoreTensor *param);
/* Elements of the part: param = scale * tensor. False: a value that the param's type cannot
 * hold. */
bool part_read(const WeightPart *part, const StTensor *from, StoreTensor *param);
/* The other way: tensor = param / scale. `to` has the shape `dims` and part->rank axes. */
void part_write(const WeightPart *part, const StoreTensor *param, const int64_t *dims, double *to);

#endif
