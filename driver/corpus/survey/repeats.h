/* Repeats: lines, pairs or records that came before, in the training data or in the validation
 * data, by hashes of the whole and of its parts. */
#ifndef DRIVER_CORPUS_SURVEY_REPEATS_H
#define DRIVER_CORPUS_SURVEY_REPEATS_H

#include "driver/corpus/survey/digest.h"
#include "driver/corpus/survey/findings.h"

/* RepeatKind: what is found of one that has a part in common with a line before, and with the
 * validation data. */
typedef struct RepeatKind {
    SurveyKind again, held;
} RepeatKind;

typedef struct HeldText {
    const char *name;
    LineHashes hashes[REPEAT_KEYS];
    VEC(uint64_t) rows[REPEAT_KEYS]; /* by line */
} HeldText;

/* Repeats: n keys, of which the first is the whole. */
typedef struct Repeats {
    Findings *findings;
    RepeatKind kinds[REPEAT_KEYS];
    int n;
    LineHashes seen[REPEAT_KEYS];
    HeldText *held;
    size_t n_held;
} Repeats;

/* Freed by repeats_free. The caller sets n and kinds[1] … */
Repeats repeats_begin(Findings *findings, const SurveyOptions *options);
/* Adds a line of validation data `v`, by its n hashes. */
void repeats_hold(Repeats *repeats, size_t v, const uint64_t *hashes);
/* Looks for line `number`, from 1, of the training data among those before and those held, and adds
 * it. */
void repeats_find(Repeats *repeats, const RawPair *pair, int64_t number, const uint64_t *hashes);
void repeats_put(const Repeats *repeats); /* into Survey.valid */
void repeats_free(Repeats *repeats);

/* ---- the two kinds of data ---- */

/* Survey what `repeats` was begun with, by the vocabulary; NULL: no tokens are counted. False after
 * errors. (texts.c, records.c) */
bool survey_texts(const SurveyOptions *options, const Vocabulary *vocab, Repeats *repeats);
bool survey_records(const SurveyOptions *options, const Vocabulary *vocab, PrepareModel *model,
                    Repeats *repeats);

#endif
