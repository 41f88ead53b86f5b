/* Patterns of params' names, as --freeze, --only and --new take them: "encoder.layer.*.self" meets
 * every param under it. In a part * stands for any letters (and ? and [] as in a shell); the part **
 * stands for any parts or none: "**.lora_*". */
#ifndef DRIVER_PORTS_PATTERNS_H
#define DRIVER_PORTS_PATTERNS_H

#include "driver/session/job.h"
#include "ir/graph.h"

/* Whether one of the patterns meets the name. */
bool patterns_meet(const TextList *patterns, const char *name);
/* Whether each meets a param of the module; an error names the option and the first that meets
 * none. */
bool patterns_check(Job *job, const char *option, const TextList *patterns, const Module *module);
/* Makes the trained params that the patterns meet frozen, and those that `only`, unless it is
 * empty, does not meet. */
void patterns_freeze(const TextList *patterns, const TextList *only, Module *module);

#endif
