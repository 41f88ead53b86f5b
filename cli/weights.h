/* Filling a store: initial values, arrays from files, published checkpoints under
 * the model's own name map. */
#ifndef CLI_WEIGHTS_H
#define CLI_WEIGHTS_H

#include "cli/session.h"

/* Initial values as the model says, those in files too. */
bool weights_initialise(Cli *cli, Store *store, uint64_t seed);
/* Every param (trained, frozen, state) of the store from a safetensors file, by
 * the model's name map or by its own name. */
bool weights_load(Cli *cli, const Model *model, Store *store, const char *path);

#endif
