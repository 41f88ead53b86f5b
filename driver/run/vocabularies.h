/* VocabularyChoice: which vocabularies a command is to use; and making them. */
#ifndef DRIVER_RUN_VOCABULARIES_H
#define DRIVER_RUN_VOCABULARIES_H

#include "driver/run/record.h"
#include "driver/session/job.h"
#include "runtime/data/vocabulary.h"

/* VocabularyChoice: the values of --vocab, --source-vocab, --token and --normalize. */
typedef struct VocabularyChoice {
    /* as vocab_make takes it, for the targets or for both sides; NULL: not given */
    const char *spec;
    const char *source;    /* for the sources; NULL: the same as the targets' */
    TextList tokens;       /* "NAME=TOKEN" (runtime/data/token_rules.h) */
    const char *normalize; /* of an auto:N: "nfkc" or "none"; NULL: not given */
} VocabularyChoice;

/* Whether any of the options was given. */
bool vocabulary_is_chosen(const VocabularyChoice *choice);
/* Whether making the vocabulary needs texts. */
bool vocabulary_needs_text(const VocabularyChoice *choice);
/* How texts are normalized for an auto:N, "nfkc" or "none"; by default nfkc for pairs and none for
 * other texts. NULL: the choice makes no auto:N. */
const char *vocabulary_normalization(const VocabularyChoice *choice, bool pairs);
/* Adds a note that the vocabulary is being made, with the normalization. `from`: from what; "":
 * from the texts. */
void vocabulary_note(Job *job, const VocabularyChoice *choice, bool pairs, const char *from);
/* Makes the vocabulary of a choice with a spec, an auto kind from the texts; either may be NULL.
 * NULL after an error. */
Vocabulary *vocabulary_make(Job *job, const VocabularyChoice *choice, const Lines *source,
                            const Lines *target);
/* The vocabulary in a run's folder, with the rules of the run's record. NULL after an error, also
 * where it, or another of the files that the record knows, is no longer what the run was made with,
 * or is missing. */
Vocabulary *vocabulary_of_run(Job *job, const char *folder, const RunRecord *record);

#endif
