/* Which vocabularies a command is told to use, and making them. */
#ifndef DRIVER_VOCABULARIES_H
#define DRIVER_VOCABULARIES_H

#include "driver/job.h"
#include "driver/run_record.h"
#include "runtime/data/vocabulary.h"

/* VocabularyChoice: what --vocab, --source-vocab and --token say. */
typedef struct VocabularyChoice {
    const char *spec;   /* of vocab_make: for the targets, or for both sides; NULL: not said */
    const char *source; /* for the sources; NULL: the same */
    TextList tokens;    /* "NAME=TOKEN" (runtime/data/token_rules.h) */
} VocabularyChoice;

/* Whether the choice says anything. */
bool vocabulary_is_chosen(const VocabularyChoice *choice);
/* Whether making it looks at texts. */
bool vocabulary_needs_text(const VocabularyChoice *choice);
/* The vocabulary of a choice with a spec. The texts that an auto kind learns from may be NULL.
 * NULL after an error. */
Vocabulary *vocabulary_make(Job *job, const VocabularyChoice *choice, const Lines *source,
                            const Lines *target);
/* Of the folder of a run, with the rules of its record. NULL after an error. */
Vocabulary *vocabulary_of_run(Job *job, const char *folder, const RunRecord *record);

#endif
