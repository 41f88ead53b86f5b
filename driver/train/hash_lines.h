/* HashLines: the file of tfc train --hashes, a line of JSON for each step:
 *
 *   {"step": 1, "loss": HASH, "gradients": {NAME: HASH, …}, "params": {NAME: HASH, …}}
 *
 * in the order of the bytes of the names, HASH being 16 hexadecimal digits (StepHashes). Lines are
 * written in place, one after each step, as those of log.jsonl are. */
#ifndef DRIVER_TRAIN_HASH_LINES_H
#define DRIVER_TRAIN_HASH_LINES_H

#include "driver/job.h"
#include "runtime/train/step_hashes.h"

typedef struct HashLines HashLines;

/* Opens the file for the steps after `step`; the lines of later steps, with step 0 all, are
 * removed. In the job's arena; NULL after an error: the file cannot be written, or has a line that
 * is not of such a file. */
HashLines *hash_lines_open(Job *job, const char *path, int64_t step);
bool hash_lines_put(HashLines *lines, const StepHashes *hashes); /* false after an error */
/* False after an error: not everything was written. NULL is allowed. */
bool hash_lines_close(HashLines *lines);

/* ---- reading ---- */

/* HashLine: a line of the file, with its step. */
typedef struct HashLine {
    int64_t step;
    const char *text;
    size_t length;
} HashLine;
typedef VEC(HashLine) HashLineList;

/* The whole lines of a file, whose steps rise; the part of a line at its end is passed over. In the
 * job's arena. False after an error. */
bool hash_lines_read(Job *job, const char *path, HashLineList *list);
/* What of the step's hashes is not the line's: "the loss", "the gradient of 'NAME'" or "param
 * 'NAME'", the first in this order; NULL: nothing. In the job's arena. */
const char *hash_line_differs(Job *job, const HashLine *line, const StepHashes *hashes);

#endif
