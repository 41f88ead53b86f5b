/* Copying between a param and the parts of a checkpoint from which a weights block makes it
 * (WeightPart, frontend/frontend.h). */
#ifndef DRIVER_RUN_WEIGHT_PARTS_H
#define DRIVER_RUN_WEIGHT_PARTS_H

#include "driver/session/session.h"
#include "driver/formats/shards.h"

/* The map of a param, by its name; NULL: the model's weights block has none. */
const WeightMap *weight_map(const Model *model, const char *name);
/* A map with one part: the whole tensor `name`, of the param's shape. */
WeightMap whole_map(Arena *arena, const StoreTensor *param, const char *name);
/* Checks that a tensor has the part's shape, or contains it along axes of which the part is a
 * slice; more leading axes of 1 are allowed, and where the part's axes stretch, fewer axes, or axes
 * of 1. False after an error. */
bool part_fits(Job *job, const WeightPart *part, const Shard *from, const StoreTensor *param);
/* Reads the part's elements, floats rounded: param = scale * tensor, or param *= scale * tensor.
 * False: an integer param cannot represent a value, or a float param a whole number of an integer
 * tensor. */
bool part_read(const WeightPart *part, const StTensor *from, StoreTensor *param);
/* Gives the part's elements the param's initial value, which is a number. */
void part_initialise(const WeightPart *part, StoreTensor *param);
/* Writes the part's elements: tensor = param / scale. `to` has part->rank axes, of the lengths
 * `dims`. */
void part_write(const WeightPart *part, const StoreTensor *param, const int64_t *dims, double *to);

#endif
