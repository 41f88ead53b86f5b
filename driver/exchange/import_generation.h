/* The settings of generation that a published folder recommends. */
#ifndef DRIVER_EXCHANGE_IMPORT_GENERATION_H
#define DRIVER_EXCHANGE_IMPORT_GENERATION_H

#include "driver/exchange/import_config.h"

/* Appends the settings of published_sampling.h that generation_config.json has, where they
 * are not what tfc does anyway, as a run records them (driver/run/generation.h). With do_sample
 * false none of them is. A value that tfc does not take is left out, with a warning. */
void import_generation(Job *job, const ImportConfig *config, TextList *settings);

#endif
