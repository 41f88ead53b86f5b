/* Which side of a corpus a text is of, learnt from the corpus itself: naive Bayes over words and
 * three characters in a row (Cavnar and Trenkle 1994), without knowing any language. Each pair is judged
 * by the counts of all others, so that a wrong one does not speak for itself. */
#ifndef DRIVER_CORPUS_SURVEY_SIDE_MODEL_H
#define DRIVER_CORPUS_SURVEY_SIDE_MODEL_H

#include "driver/corpus/survey/digest.h"

typedef struct SideModel SideModel;

/* Of a pair: the mean of log P(part | its own side) - log P(part | the other side) over the parts
 * of each text, in nats, and how many parts there were to judge by. */
typedef struct SideScore {
    double mean[2];
    int64_t parts[2];
} SideScore;

typedef enum SideVerdict {
    SIDES_RIGHT, /* or nobody can tell */
    SIDES_SWAPPED,
    SIDES_BOTH_SOURCE, /* the target is in the source's language */
    SIDES_BOTH_TARGET
} SideVerdict;

SideModel *side_model_new(void);
void side_model_free(SideModel *model); /* NULL is allowed */
void side_model_add(SideModel *model, const Digest sides[2]);
/* Of a pair that was added. */
SideScore side_model_score(SideModel *model, const Digest sides[2]);
SideVerdict side_score_verdict(const SideScore *score);

#endif
