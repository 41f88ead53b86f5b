/* Which vocabularies a command is to use, and loading or making them. */
#ifndef DRIVER_RUN_VOCABULARIES_H
#define DRIVER_RUN_VOCABULARIES_H

#include "driver/run/record.h"
#include "driver/job.h"
#include "runtime/data/vocabulary.h"

/* VocabularyChoice: the values of --vocab, --source-vocab, --token and --normalize. */
typedef struct VocabularyChoice {
    /* as vocab_make takes it, for the targets or for both sides; NULL: not given */
    const char *spec;
    const char *source;    /* for the sources; NULL: the same as the targets' */
    TextList tokens;       /* "NAME=TOKEN" (runtime/data/token_rules.h) */
    const char *normalize; /* of an auto:N: "nfkc" or "none"; NULL: not given */

    /* not an option: of own("FILE"), which the user does not name, the folder of the model; or
     * NULL */
    const char *folder;
} VocabularyChoice;

/* Whether any of the options was given. */
bool vocabulary_is_chosen(const VocabularyChoice *choice);
/* Whether making the vocabulary needs texts. */
bool vocabulary_needs_text(const VocabularyChoice *choice);
/* How texts are normalized for an auto:N, "nfkc" or "none"; by default nfkc for pairs and none for
 * other texts. NULL: the choice makes no auto:N. */
const char *vocabulary_normalization(const VocabularyChoice *choice, bool pairs);
/* Of a run's vocabulary: puts the rules of the run before those that were given, which may change
 * them. False after an error: the run's record cannot be read. */
bool vocabulary_take_rules(Job *job, VocabularyChoice *choice);
/* Adds a note that the vocabulary is being made, with the normalization. `from`: " from …", put
 * behind its name; or "". */
void vocabulary_note(Job *job, const VocabularyChoice *choice, bool pairs, const char *from);
/* VocabularyTexts: what a vocabulary is made from: n texts, the first n_source of which are
 * sources'; pairs: they are normalized as those of pairs are (vocabulary_normalization); hides: a
 * mask token is needed. */
typedef struct VocabularyTexts {
    const Lines *const *texts;
    int n, n_source;
    bool pairs, hides;
} VocabularyTexts;

/* Loads the vocabulary of a choice whose spec is not NULL, or makes it from texts if its kind needs
 * them (NULL: there are none). NULL after an error. */
Vocabulary *vocabulary_make(Job *job, const VocabularyChoice *choice, const VocabularyTexts *texts);
/* The same without texts; a run's vocabulary has the rules of the run, too. */
Vocabulary *vocabulary_load(Job *job, const VocabularyChoice *choice);
/* The vocabulary in a run's folder, with the rules of the run's record. NULL after an error: it
 * cannot be read, it is not the one that the run was made with, or a file of the record is
 * missing. */
Vocabulary *vocabulary_of_run(Job *job, const char *folder, const RunRecord *record);

#endif
