/* Lexicons of `tfc predict`: the words of which a search of CTC makes its results. */
#ifndef DRIVER_RUN_CTC_LEXICON_H
#define DRIVER_RUN_CTC_LEXICON_H

#include "driver/run/prediction.h"
#include "runtime/decode/ctc.h"

/* The words of a file: a line has the labels of one, with blanks between them. `separator`: the
 * label between words; NULL: a result is one word. In the job's arena; NULL after an error, such as
 * a label that the prediction lacks. */
const CtcLexicon *ctc_lexicon_read(Job *job, const Prediction *prediction, const char *path,
                                   const char *separator);

#endif
