/* Collecting findings, with example lines. */
#ifndef DRIVER_CORPUS_SURVEY_FINDINGS_H
#define DRIVER_CORPUS_SURVEY_FINDINGS_H

#include "driver/corpus/survey/raw_text.h"

/* Findings: what has been found so far. */
typedef struct Findings {
    Job *job;
    SurveyFinding *at; /* SURVEY_KINDS of them; the caller's */
    int64_t examples;  /* SurveyOptions.examples */
    bool is_pairs;
} Findings;

/* FindingPlace: where in a line a finding is; side -1: the whole line. */
typedef struct FindingPlace {
    int side;
    size_t byte;
} FindingPlace;

void findings_init(Findings *findings, Job *job, const SurveyOptions *options, SurveyFinding *at);
/* Counts a line for a kind of finding, and adds it as an example while there are fewer than
 * `examples`. `note`: a format of printf; NULL: none. */
void findings_add(Findings *findings, SurveyKind kind, const RawPair *pair, FindingPlace place,
                  const char *note, ...) __attribute__((format(printf, 5, 6)));
/* So many characters of a line around a byte, escaped where they would not show. In the arena. */
const char *finding_excerpt(Arena *arena, const Line *line, size_t byte);
void findings_clear(Findings *findings, SurveyKind kind); /* removes the kind's lines */

#endif
