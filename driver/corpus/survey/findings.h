/* Noting what was found, with lines to look at. */
#ifndef DRIVER_CORPUS_SURVEY_FINDINGS_H
#define DRIVER_CORPUS_SURVEY_FINDINGS_H

#include "driver/corpus/survey/raw_text.h"

/* Findings: where they go. */
typedef struct Findings {
    Job *job;
    SurveyFinding *at; /* SURVEY_KINDS */
    int64_t examples;
    bool is_pairs;
} Findings;

/* FindingPlace: where in a line it is; {-1} is everywhere. */
typedef struct FindingPlace {
    int side;
    size_t byte;
} FindingPlace;

void findings_init(Findings *findings, Job *job, const SurveyOptions *options, SurveyFinding *at);
/* One more line of that kind. `note`: printf's; NULL: none. */
void findings_add(Findings *findings, SurveyKind kind, const RawPair *pair, FindingPlace place,
                  const char *note, ...) __attribute__((format(printf, 5, 6)));
void findings_clear(Findings *findings, SurveyKind kind); /* it was none of that kind */

#endif
