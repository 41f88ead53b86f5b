/* SideModel: scores to which side of a corpus a text belongs. The model is learnt from the corpus
 * itself: naive Bayes over words and character trigrams (Cavnar and Trenkle 1994), without knowing
 * any language. A pair is judged by the counts of all other pairs, so that a wrong pair does not
 * confirm itself. */
#ifndef DRIVER_CORPUS_SURVEY_SIDE_MODEL_H
#define DRIVER_CORPUS_SURVEY_SIDE_MODEL_H

#include "driver/corpus/survey/digest.h"

typedef struct SideModel SideModel;

/* SideScore: the score of each text of a pair, by those of its parts (words and trigrams) that
 * other pairs have too: `parts`, the number of these parts; `mean`, the mean over them of
 * log P(part | the text's own side) - log P(part | the other side), in nats, 0 without parts. */
typedef struct SideScore {
    double mean[2];
    int64_t parts[2];
} SideScore;

typedef enum SideVerdict {
    SIDES_RIGHT, /* or the scores are too unclear to decide */
    SIDES_SWAPPED,
    SIDES_BOTH_SOURCE, /* the target is in the source's language */
    SIDES_BOTH_TARGET
} SideVerdict;

SideModel *side_model_new(void);
void side_model_free(SideModel *model); /* NULL is allowed */
void side_model_add(SideModel *model, const Digest sides[2]);
/* The score of a pair that was added before. */
SideScore side_model_score(SideModel *model, const Digest sides[2]);
SideVerdict side_score_verdict(const SideScore *score);

#endif
