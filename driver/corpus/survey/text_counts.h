/* How a vocabulary covers the texts. */
#ifndef DRIVER_CORPUS_SURVEY_COVERAGE_H
#define DRIVER_CORPUS_SURVEY_COVERAGE_H

#include "driver/corpus/survey/spread.h"
#include "runtime/data/corpus.h"

typedef struct CoveredSide {
    const Vocabulary *vocab;
    LengthSpread tokens;
    int64_t unknown;
    uint8_t *used;        /* by id: 1 if the text has the token */
    uint32_t *characters; /* by code point: how often the text has it */
} CoveredSide;

typedef struct Coverage {
    Corpus *corpus; /* the current row, encoded as a training encodes it */
    int n;
    CoveredSide sides[2];
} Coverage;

typedef struct CoveredRow {
    int64_t tokens;     /* of the longer side, as a training counts them */
    int64_t unknown[2]; /* of each side */
} CoveredRow;

/* `n`: sides, 1 or 2. NULL if the vocabulary is NULL. */
Coverage *coverage_new(const Vocabulary *vocab, int n);
void coverage_free(Coverage *coverage); /* NULL is allowed */
/* Counts a line of valid UTF-8, of each side. */
CoveredRow coverage_add(Coverage *coverage, const Line lines[2]);
SurveyCoverage coverage_of(const Coverage *coverage, int side, Arena *arena);

#endif
