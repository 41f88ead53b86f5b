/* Patterns of params' names, as --freeze, --only and --new take them: "encoder.layer.*.self"
 * matches every param under it. Within a part, * matches any letters (? and [] work as in a shell);
 * the part ** matches any parts or none: "**.lora_*". */
#ifndef DRIVER_PORTS_PATTERNS_H
#define DRIVER_PORTS_PATTERNS_H

#include "driver/session/job.h"
#include "ir/graph.h"

/* Whether one of the patterns matches the name. */
bool patterns_meet(const TextList *patterns, const char *name);
/* Checks that each pattern matches a param of the module. False after an error, which names the
 * option and the first pattern that matches none. */
bool patterns_check(Job *job, const char *option, const TextList *patterns, const Module *module);
/* Freezes the trained params that one of `patterns` matches and, unless `only` is empty, those that
 * none of `only` matches. */
void patterns_freeze(const TextList *patterns, const TextList *only, Module *module);

#endif
