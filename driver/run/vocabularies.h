/* Which vocabularies a command is told to use, and making them. */
#ifndef DRIVER_RUN_VOCABULARIES_H
#define DRIVER_RUN_VOCABULARIES_H

#include "driver/run/record.h"
#include "driver/session/job.h"
#include "runtime/data/vocabulary.h"

/* VocabularyChoice: what --vocab, --source-vocab and --token say. */
typedef struct VocabularyChoice {
    const char *spec;   /* of vocab_make: for the targets, or for both sides; NULL: not said */
    const char *source; /* for the sources; NULL: the same */
    TextList tokens;    /* "NAME=TOKEN" (runtime/data/token_rules.h) */
    const char *normalize; /* of an auto:N: "nfkc" or "none"; NULL: not said */
} VocabularyChoice;

/* Whether the choice says anything. */
bool vocabulary_is_chosen(const VocabularyChoice *choice);
/* Whether making it looks at texts. */
bool vocabulary_needs_text(const VocabularyChoice *choice);
/* How the texts of a choice that makes an auto:N are normalized, "nfkc" or "none": where nobody says,
 * pairs are and other texts are not. NULL: it makes none. */
const char *vocabulary_normalization(const VocabularyChoice *choice, bool pairs);
/* Notes that the vocabulary is being made, from what ("": from the texts), with the normalization. */
void vocabulary_note(Job *job, const VocabularyChoice *choice, bool pairs, const char *from);
/* The vocabulary of a choice with a spec. The texts that an auto kind learns from may be NULL.
 * NULL after an error. */
Vocabulary *vocabulary_make(Job *job, const VocabularyChoice *choice, const Lines *source,
                            const Lines *target);
/* Of the folder of a run, with the rules of its record. NULL after an error. */
Vocabulary *vocabulary_of_run(Job *job, const char *folder, const RunRecord *record);

#endif
