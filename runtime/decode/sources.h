/* Gives rows to a program, as its dimensions and inputs: those that sentences are decoded from, and
 * the same part of a batch (feed.h). */
#ifndef RUNTIME_DECODE_SOURCES_H
#define RUNTIME_DECODE_SOURCES_H

#include "runtime/data/sides.h"
#include "runtime/exec/exec.h"

/* Feed: the names of a model's inputs and dimensions; NULL: the model has no such one. An input or
 * dimension that a program lacks is skipped.
 *   columns   the inputs that the corpus's columns feed, in their order
 *   hidden    the inputs that get what was hidden of them (hiding.h)
 *   dims      the ragged dimension of each side */
typedef struct Feed {
    const char *source, *target, *next, *further;
    const char *columns[MOST_COLUMNS], *hidden[MOST_COLUMNS];
    int n_columns;
    const char *batch, *dims[MOST_SIDES];
} Feed;

/* Sources: what n sentences are decoded from; not owned.
 *   lengths   the positions of each sentence along each side that is read; NULL: the side is not
 *   tokens    of the sources, one after the other
 *   columns   the values of each column of the feed, sentence after sentence
 * Source text alone is tokens with lengths[SIDE_SOURCE]. */
typedef struct Sources {
    int32_t n;
    const int32_t *lengths[MOST_SIDES];
    const int32_t *tokens;
    const int32_t *const *columns;
} Sources;

/* The feed of a program that reads source text alone: its one input is tokens [B, S~]. */
Feed feed_of_source(const TfcProgram *program);
/* Gives sources to the executor. They are not copied: they must not change until the program has
 * run. */
void feed_sources(Exec *exec, const Feed *feed, const Sources *sources);
/* The positions of the longest side of sentence i; 0: there is no side. */
int32_t sources_longest(const Sources *sources, int32_t i);

#endif
