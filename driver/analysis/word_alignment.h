/* Word alignments from what a decoder looks at, and lexical tables counted from them. */
#ifndef DRIVER_ANALYSIS_WORD_ALIGNMENT_H
#define DRIVER_ANALYSIS_WORD_ALIGNMENT_H

#include "base/map.h"
#include "driver/analysis/attention.h"

enum {
    MEAN_OF_HEADS = -1,
    BEST_LAYER = -1,
    ALIGN_SAMPLE = 200 /* the first pairs of a corpus, by which a layer is chosen */
};

/* AlignBy: where alignments are taken from.
 *   layer, head   of the attentions over the source, from 0; or one of the names above, but for
 *                 align_tokens not BEST_LAYER
 *   is_read       a token's weights are those of the step that reads it, not of the one that
 *                 predicts it (Chen et al. 2020, "shift-att") */
typedef struct AlignBy {
    int64_t layer, head;
    bool is_read;
} AlignBy;

/* Checks that the model has the layer and the layer the head, which is not checked for BEST_LAYER.
 * False after an error. */
bool align_check(const Attender *attender, const AlignBy *by);
/* The layer whose mean of heads has the greatest confidence over the first ALIGN_SAMPLE pairs, and
 * at *confidence that value. Confidence is the mean over target tokens of the greatest weight,
 * counted as 0 if that weight is on the end of the source (Voita et al. 2019, section 4). -1 after
 * an error. */
int64_t align_best_layer(Attender *attender, const Corpus *corpus, bool is_read,
                         double *confidence);
/* The weights of a row, [tokens of the target, tokens of the source] without begin and end, in the
 * arena; NULL after an error. */
const float *align_tokens(Attender *attender, const AlignBy *by, const Corpus *corpus, int64_t row,
                          Arena *arena);
/* Appends "0-0 2-1", SOURCE-TARGET from 0: for each word of the target that has tokens, the word of
 * the source with the greatest sum of `weights` (align_tokens) between the tokens of both words.
 * Nothing if the source has no tokens. */
void align_words(const Corpus *corpus, int64_t row, const float *weights, const Line *source,
                 const Line *target, Arena *arena, Text *out);

/* Lexicon: for pairs of a source and a target token, how often the source token had the greatest
 * weight for the target token. */
typedef struct LexicalPair {
    int32_t source, target;
    int64_t count;
} LexicalPair;
typedef struct Lexicon {
    Arena *arena; /* holds the pairs; the caller's */
    VEC(LexicalPair *) pairs;
    Map index;
} Lexicon;

void lexicon_init(Lexicon *lexicon, Arena *arena);
void lexicon_add(Lexicon *lexicon, const Corpus *corpus, int64_t row, const float *weights);
/* Appends lines "TARGET SOURCE PROBABILITY", the probability of the target given the source, as
 * Marian's --shortlist reads them: by the source's id, the most probable first. Pairs with a token
 * that has a blank, tab or line break are left out. Sorts the pairs. */
void lexicon_put(Lexicon *lexicon, const Vocabulary *vocab, Text *out);

#endif
