/* Lexical tables as shortlists (runtime/decode/shortlist.h). */
#ifndef DRIVER_RUN_SHORTLIST_FILE_H
#define DRIVER_RUN_SHORTLIST_FILE_H

#include "driver/job.h"
#include "runtime/data/vocabulary.h"
#include "runtime/decode/shortlist.h"

/* ShortlistChoice: the values of --shortlist and --shortlist-size.
 *   path   a table of lines TARGET SOURCE PROBABILITY, as tfc align and Marian write it; NULL: no
 *          shortlist
 *   size   how many of the most probable targets of a source token are candidates, and also how
 *          many of the vocabulary's first tokens are candidates of every sentence */
typedef struct ShortlistChoice {
    const char *path;
    int64_t size;
} ShortlistChoice;

/* The error of a model that does not translate; %s: its path. */
#define SHORTLIST_OF_LINES "--shortlist: %s translates nothing, so a shortlist has no effect"

/* Reads the table. If source and target have one vocabulary, a source token is a candidate of its
 * own: names and numbers are copied, whether the table knows them or not. That is the rule of
 * Marian's LexicalShortlistGenerator::generate (marian-dev, src/data/shortlist.cpp, `shared_`),
 * whose candidates also are the first tokens and the most probable targets of each source token.
 * Lines with a token that the vocabulary does not have, or with NULL, are left
 * out, with a warning if that is more than half of the lines. The shortlist lives in the job's
 * arena. NULL after an error. */
const Shortlist *shortlist_read(Job *job, const ShortlistChoice *choice, const Vocabulary *vocab);

#endif
