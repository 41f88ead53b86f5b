/* Filling a store: initial values, arrays from files, published checkpoints under
 * the model's own name map. */
#ifndef DRIVER_WEIGHTS_H
#define DRIVER_WEIGHTS_H

#include "driver/session.h"

/* Initial values as the model says, those in files too. */
bool weights_initialise(Job *job, Store *store, uint64_t seed);
/* Every param (trained, frozen, state) of the store from a safetensors file, by
 * the model's name map or by its own name. */
bool weights_load(Job *job, const Model *model, Store *store, const char *path);

#endif
