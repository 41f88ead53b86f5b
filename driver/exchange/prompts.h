/* Prompts: texts that stand before each text of which a vector is made, by their names, as
 * sentence-transformers' folders have them (config_sentence_transformers.json). */
#ifndef DRIVER_EXCHANGE_PROMPTS_H
#define DRIVER_EXCHANGE_PROMPTS_H

#include "driver/job.h"

/* Prompts: those of a folder.
 *   names, texts   as many of each
 *   chosen         the number of the one that is taken where none is named; -1: none is
 *   leaves_out     their tokens are not pooled (1_Pooling/config.json, include_prompt) */
typedef struct Prompts {
    TextList names, texts;
    int chosen;
    bool leaves_out;
} Prompts;
/* Reads the prompts of a published folder, none where it has no such file. False after an error. */
bool prompts_read(Job *job, const char *folder, Prompts *prompts);
/* "query, passage" */
const char *prompts_list(Job *job, const Prompts *prompts);
/* The prompt of a run that --prompt names; name NULL: the one that its folder says, "": none. *text
 * NULL: there is none. False after an error: the run has no such prompt, or one whose tokens are
 * not to be pooled. */
bool prompts_of_run(Job *job, const char *run, const char *name, const char **text);

#endif
