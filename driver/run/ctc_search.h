/* The labels that CTC makes of a prediction's frames: by the best path or by a beam of prefixes, of
 * any labels or of the words of a lexicon (runtime/decode/ctc.h). */
#ifndef DRIVER_RUN_CTC_SEARCH_H
#define DRIVER_RUN_CTC_SEARCH_H

#include "driver/run/prediction.h"
#include "runtime/decode/ctc.h"

/* LabelSearch:
 *   width     of the beam; 1: the best path, without a lexicon
 *   n_best    results, at most `width`
 *   lexicon   NULL: none */
typedef struct LabelSearch {
    int32_t width, n_best;
    const CtcLexicon *lexicon;
} LabelSearch;

/* The words of a file: a line has the labels of one, with blanks between them. `separator`: the
 * label between words; NULL: a result is one word. In the job's arena; NULL after an error, such as
 * a label that the prediction lacks. */
const CtcLexicon *ctc_lexicon_read(Job *job, const Prediction *prediction, const char *path,
                                   const char *separator);
/* The labels of n probabilities of classes of frames, the most probable first; in the arena. False
 * after an error. */
bool ctc_search(Job *job, const Prediction *prediction, const LabelSearch *search,
                const float *probabilities, int64_t n, Arena *arena, CtcResults *out);

#endif
