/* CTC decoding: label sequences from the log-probabilities of frames (connectionist temporal
 * classification, Graves et al. 2006).
 *
 * An alignment is a symbol for each frame. Its label sequence is what is left when equal neighbours
 * become one and blanks are removed: with the blank -, a a - a b gives a a b. The log-probability
 * of an alignment is the sum of those of its symbols; the probability of a label sequence is the
 * sum over all of its alignments. That is the sum whose negative logarithm `ctc` and `ctc_loss`
 * compute (docs/language.md); their blank is CTC_LOSS_BLANK.
 *
 *   Arena *arena = arena_try_new();
 *   CtcResults results;
 *   CtcStatus status = ctc_beam(&frames, &(CtcBeam){.width = 16, .n_best = 1}, arena, &results);
 *   if (status != CTC_OK)
 *       report(ctc_message(status));
 *   else if (results.n)
 *       use(results.best[0].labels, results.best[0].n);
 *   arena_free(arena); */
#ifndef RUNTIME_DECODE_CTC_H
#define RUNTIME_DECODE_CTC_H

#include "runtime/decode/lexicon.h"

/* CtcFrames: log-probabilities [frames × symbols], each frame's in a row; not owned. They need not
 * be normalised. -INFINITY is a probability of 0. `blank`: a symbol, from 0 to symbols - 1. */
typedef struct CtcFrames {
    const float *log_probabilities;
    int32_t frames, symbols, blank;
} CtcFrames;

/* The widest beam. */
enum { CTC_WIDEST = 1 << 16 };

/* STATUS(name, message) */
#define CTC_STATUSES                                                                               \
    STATUS(OK, "no error")                                                                         \
    STATUS(BAD_FRAMES, "CTC needs at least one symbol, 0 or more frames, and a blank that is one " \
                       "of the symbols")                                                           \
    STATUS(BAD_NUMBERS, "the log-probabilities have a NaN or +infinity: check the model's output") \
    STATUS(BAD_WIDTH, "the beam's width must be from 1 to 65536, and the number of results from "  \
                      "1 to the width")                                                            \
    STATUS(BAD_LEXICON, "the lexicon has other symbols or another blank than the "                 \
                        "log-probabilities: build it with theirs")                                 \
    STATUS(NO_MEMORY, "out of memory")

typedef enum CtcStatus {
#define STATUS(name, message) CTC_##name,
    CTC_STATUSES
#undef STATUS
} CtcStatus;

/* One sentence, without a final stop. */
const char *ctc_message(CtcStatus status);

/* The label sequence of the most probable alignment, which takes in each frame the most probable
 * symbol, of equal ones the lowest. `labels` has room for a label a frame; *n: how many there are.
 * *log_probability is that of this alignment alone. */
CtcStatus ctc_best_path(const CtcFrames *frames, int32_t *labels, int32_t *n,
                        double *log_probability);

/* CtcBeam: a prefix beam search (Graves and Jaitly 2014; Hannun et al. 2014).
 *   width     prefixes that are kept after each frame, 1 to CTC_WIDEST
 *   n_best    the most results, 1 to width
 *   lexicon   results consist of its words; NULL: of any labels. Not owned */
typedef struct CtcBeam {
    int32_t width, n_best;
    const CtcLexicon *lexicon;
} CtcBeam;

/* CtcResult: a label sequence, and the logarithm of its probability summed over the alignments
 * whose prefixes were all kept: of all its alignments if no prefix of it was ever dropped, else
 * less. Of words with separators these are the alignments of the words with any separators around
 * them. */
typedef struct CtcResult {
    const int32_t *labels;
    int32_t n;
    double log_probability;
} CtcResult;

/* What `outside` means to whoever reads the results, as a sentence without a final stop. */
#define CTC_OUTSIDE_NOTE                                                                           \
    "no words of the lexicon fit, so the labels are those of the best path; try a wider beam, or " \
    "add the missing words to the lexicon"

/* CtcResults: n of them; `outside`: they are no words of the lexicon (ctc_search). */
typedef struct CtcResults {
    CtcResult *best;
    int32_t n;
    bool outside;
} CtcResults;

/* Searches for the most probable label sequences. The results are in the arena, the most probable
 * first; equally probable ones in the order of their labels, and a beginning before what it begins.
 * There are fewer than n_best if fewer have a probability above 0 or, with a lexicon, consist of
 * whole words. Without frames the only result is the empty sequence, unless the lexicon takes a
 * result as one word. A prefix that cannot become whole words in the frames that are left is not
 * kept. Takes frames × width × symbols additions (with a lexicon only symbols that continue a word)
 * and memory for frames × width prefixes at most.
 *
 * The arena may be one that fails. After an error there are no results. */
CtcStatus ctc_beam(const CtcFrames *frames, const CtcBeam *beam, Arena *arena, CtcResults *results);
/* The same of a model's n probabilities, `symbols` a frame, with the blank CTC_LOSS_BLANK; a beam
 * of one prefix, without a lexicon, is the best path. If no words of the lexicon fit, the result is
 * that of the best path, and `outside` is set: there is no result, or the best is empty although
 * the best path has labels other than the separator. */
CtcStatus ctc_search(const float *probabilities, int64_t n, int64_t symbols, const CtcBeam *beam,
                     Arena *arena, CtcResults *results);

#endif
