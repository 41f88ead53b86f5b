/* Filling a store: initial values, arrays from files, published checkpoints under
 * the model's own name map. */
#ifndef DRIVER_WEIGHTS_H
#define DRIVER_WEIGHTS_H

#include "driver/session.h"

/* Fills the store with the initial values of the model, drawn from the seed or read from the
 * files that it names; false after errors. */
bool weights_initialise(Job *job, Store *store, uint64_t seed);
/* Fills every param of the store (trained, frozen, state) from a safetensors file, where it has
 * the name of the model's name map or its own; false after errors. */
bool weights_load(Job *job, const Model *model, Store *store, const char *path);

#endif
