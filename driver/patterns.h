/* Patterns of params' names, as --freeze and --new take them: "encoder.layer.*.self" meets
 * every param under it; * stands for any one part. */
#ifndef DRIVER_PATTERNS_H
#define DRIVER_PATTERNS_H

#include "driver/job.h"
#include "ir/graph.h"

/* Whether one of the patterns meets the name. */
bool patterns_meet(const TextList *patterns, const char *name);
/* Whether each meets a param of the module; an error names the option and the first that meets
 * none. */
bool patterns_check(Job *job, const char *option, const TextList *patterns, const Module *module);
/* Makes the trained params that the patterns meet frozen. */
void patterns_freeze(const TextList *patterns, Module *module);

#endif
