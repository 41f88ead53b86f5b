/* Collecting findings, with example lines. */
#ifndef DRIVER_CORPUS_SURVEY_FINDINGS_H
#define DRIVER_CORPUS_SURVEY_FINDINGS_H

#include "driver/corpus/survey/raw_text.h"

/* Findings: a collection of findings. */
typedef struct Findings {
    Job *job;
    SurveyFinding *at; /* SURVEY_KINDS */
    int64_t examples;
    bool is_pairs;
} Findings;

/* FindingPlace: the place of a finding in its line; {-1}: the whole line. */
typedef struct FindingPlace {
    int side;
    size_t byte;
} FindingPlace;

void findings_init(Findings *findings, Job *job, const SurveyOptions *options, SurveyFinding *at);
/* Adds a line to a kind of finding. `note`: a format of printf; NULL: none. */
void findings_add(Findings *findings, SurveyKind kind, const RawPair *pair, FindingPlace place,
                  const char *note, ...) __attribute__((format(printf, 5, 6)));
void findings_clear(Findings *findings, SurveyKind kind); /* removes all of that kind */

#endif
