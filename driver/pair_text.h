/* Pairs of one file: a source, a tab and its target a line, or a translation memory (FILE.tmx). */
#ifndef DRIVER_PAIR_TEXT_H
#define DRIVER_PAIR_TEXT_H

#include "driver/job.h"
#include "runtime/data/lines.h"

/* The sources, and in *targets as many targets, in the job's arena. `languages`: of a translation memory
 * (tmx.h); line_limit: as LineLimits has it. NULL after an error. */
Lines *pair_text_read(Job *job, const char *path, const char *languages, int64_t line_limit, Lines **targets);

#endif
