/* Params as Marian's model.npz. */
#ifndef DRIVER_EXCHANGE_NPZ_EXPORT_H
#define DRIVER_EXCHANGE_NPZ_EXPORT_H

#include "driver/run/weights.h"

/* Writes a model of models/marian.tfg with Marian's names and layout, and its settings: the
 * imported ones, or those that its config.json implies. Marian has no <pad>: the embedding of <pad>
 * is left out, with a warning if it is not zero, and so is its bias. files: the folder of the
 * published files, as revise_published gives it. False after errors, such as files of another model
 * than Marian's, or a param for which Marian has no array. */
bool npz_export(Job *job, const char *run, const char *files, Store *store,
                const WeightsExport *what, const char *path);

#endif
