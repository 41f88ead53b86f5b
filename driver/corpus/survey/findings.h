/* Collecting findings, with example lines. */
#ifndef DRIVER_CORPUS_SURVEY_FINDINGS_H
#define DRIVER_CORPUS_SURVEY_FINDINGS_H

#include "driver/corpus/survey/raw_text.h"

/* Findings: where what is found goes. */
typedef struct Findings {
    Job *job;
    Survey *out;
    int64_t examples; /* SurveyOptions.examples */
} Findings;

/* FindingPlace: where in a line a finding is; side -1: the whole line. */
typedef struct FindingPlace {
    int side;
    size_t byte;
} FindingPlace;
static const FindingPlace everywhere = {-1, 0};

/* `out` says of what data it is. */
Findings findings_begin(Job *job, const SurveyOptions *options, Survey *out);
/* Counts a line for a kind of finding, and adds it as an example while there are fewer than
 * `examples`. `note`: a format of printf; NULL: none. */
void findings_add(Findings *findings, SurveyKind kind, const RawPair *pair, FindingPlace place,
                  const char *note, ...) __attribute__((format(printf, 5, 6)));
void findings_clear(Findings *findings, SurveyKind kind); /* removes the kind's lines */

#endif
