/* Params as Marian's model.npz. */
#ifndef DRIVER_EXCHANGE_NPZ_EXPORT_H
#define DRIVER_EXCHANGE_NPZ_EXPORT_H

#include "driver/run/weights.h"

/* Writes a model of models/marian.tfg with Marian's names and layout, and its settings: those that came
 * with it, or such as its config.json means. Marian has no <pad>: its row is left out, with a
 * warning where it is not zero. False after errors: the run was not imported, or a param has no array
 * there. */
bool npz_export(Job *job, const char *run, Store *store, const WeightsExport *what,
                const char *path);

#endif
