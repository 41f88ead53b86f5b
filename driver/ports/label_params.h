/* The last layer of a classifier: the params that hold something of each label of an input. */
#ifndef DRIVER_PORTS_LABEL_PARAMS_H
#define DRIVER_PORTS_LABEL_PARAMS_H

#include "driver/job.h"
#include "ir/graph.h"

/* The names of the params that make the logits with which the loss compares an input of labels
 * (id_uses.h): those reached from the logits without passing a product or a look-up in which a
 * param takes part. If some have an axis of as many elements as there are classes, these alone. In
 * the module's arena; empty: the input holds no labels of a loss. */
TextList ports_label_params(const Module *module, const Op *input);

#endif
