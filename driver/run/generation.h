/* Settings of generation that a run brings along, as its generation_config.json had them: what they
 * are where no option says. run.json has them as "NAME=VALUE" by the names of settings.def. */
#ifndef DRIVER_RUN_GENERATION_H
#define DRIVER_RUN_GENERATION_H

#include "driver/run/record.h"
#include "runtime/decode/settings.h"

typedef VEC(DecodeDefault) GenerationDefaults;

/* Those of a record, in the job's arena. False after an error that names run.json: a setting that
 * no run may bring along, or a value out of range. */
bool generation_defaults_read(Job *job, const char *folder, const RunRecord *record,
                              GenerationDefaults *defaults);
/* A setting as run.json has it, "temperature=0.6". In the arena. */
const char *generation_default_text(Arena *arena, const char *name, double value);

#endif
