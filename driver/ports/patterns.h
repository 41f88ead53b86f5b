/* Patterns of params' names, as --freeze, --only, --new and --keep take them. Dots separate the
 * parts of a name. A pattern matches the first parts of a name, and so every param below them:
 * "encoder.layer.*.self". Within a part, * matches any characters (? and [] work as in a shell); **
 * and a dot match any number of parts, also none: "**.lora_*". */
#ifndef DRIVER_PORTS_PATTERNS_H
#define DRIVER_PORTS_PATTERNS_H

#include "driver/job.h"
#include "ir/graph.h"

/* Whether one of the patterns matches the name. */
bool patterns_meet(const TextList *patterns, const char *name);
/* Whether each name is matched by one of them; false without names. */
bool patterns_meet_all(const TextList *patterns, const TextList *names);
/* Checks that each pattern, up to a "=", matches a param of the module. False after an error, which
 * names the option and the first pattern that matches none. */
bool patterns_check(Job *job, const char *option, const TextList *patterns, const Module *module);
/* The options that match all of `some` and no other of `all`, names of params: each pattern is the
 * shortest front that does so, "--new 'encoder' --new 'head.bias'". In the arena. */
const char *patterns_options(Arena *arena, const char *option, const TextList *all,
                             const TextList *some);
/* The names of the params of a module, in the job's arena. */
TextList patterns_params(Job *job, const Module *module);
/* Freezes the trained params that one of `patterns` matches and, unless `only` is empty, those that
 * none of `only` matches. */
void patterns_freeze(const TextList *patterns, const TextList *only, Module *module);
/* Sets what computes each param that one of --keep's patterns matches, by the first of them:
 * "PATTERN" or "PATTERN=f32" keeps it (ParamInfo.kept), "PATTERN=q8_0" or another word of
 * base/quants.def gives it that type (ParamInfo.quant). False after an error: another type. */
bool patterns_keep(Job *job, const TextList *patterns, Module *module);

#endif
