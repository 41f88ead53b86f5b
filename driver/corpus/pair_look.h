/* A look at the beginning of pairs, about a megabyte, before they are read: a warning for each of
 *   - a first line that is a header, and would be a pair
 *   - a side of numbers
 *   - sides that are equal
 * Each names the --column that reads other fields. Pipes, translation memories and files that
 * cannot be read are passed over: reading them says what is wrong. */
#ifndef DRIVER_CORPUS_PAIR_LOOK_H
#define DRIVER_CORPUS_PAIR_LOOK_H

#include "driver/job.h"

/* A file of pairs; `columns`: of --column. */
void pair_look_at_file(Job *job, const char *path, const TextList *columns);
/* Two files, with a side each. */
void pair_look_at_sides(Job *job, const char *source, const char *target);

#endif
