/* What the heads of a model look at, to be shown: as JSON, as a page, and as a figure. */
#ifndef INSPECT_ATTENTION_H
#define INSPECT_ATTENTION_H

#include "base/text.h"
#include "passes/pass.h"

#include <stdint.h>

/* AttentionLayer: the weights of one attention for one sentence, [heads, queries, keys].
 *   name    unlike any other of the sentence, "decoder.layer.0.cross"
 *   layer   its number among those of its kind, from 0
 *   head    the number of its first head, from 0 */
typedef struct AttentionLayer {
    const char *name;
    AttentionKind kind;
    int64_t layer, head, heads, queries, keys;
    const float *weights;
} AttentionLayer;

/* AttentionSentence: one text or pair; a side that the model does not have is empty.
 *   line             of the text, from 0
 *   source           tokens with begin and end
 *   target, next     tokens as the decoder reads them, and what it is to predict from each
 *   n_end            tokens of the source that end it: 1 or 0 */
typedef struct AttentionSentence {
    int64_t line;
    const char *const *source, *const *target, *const *next;
    int64_t n_source, n_target, n_end;
    const AttentionLayer *layers;
    size_t n_layers;
} AttentionSentence;

typedef struct AttentionView {
    const char *title;
    const AttentionSentence *sentences;
    size_t n;
} AttentionView;

/* AttentionFigures: of a head, means over its queries.
 *   entropy      of the weights, in nats
 *   distance     of the keys from the query, weighted, in tokens; of cross attention from the
 *                diagonal of the pair
 *   confidence   the greatest weight; 0 where that is on the end of a source (Voita et al. 2019) */
typedef struct AttentionFigures {
    double entropy, distance, confidence;
} AttentionFigures;

enum { MEAN_HEAD = -1 };

/* `head` counts from the layer's first; or MEAN_HEAD. */
float attention_weight(const AttentionLayer *layer, int64_t head, int64_t query, int64_t key);
AttentionFigures attention_figures(const AttentionSentence *sentence, const AttentionLayer *layer,
                                   int64_t head);
/* The index in `layers` of the cross attention whose mean of heads is the most confident; -1: there
 * is none. */
int attention_aligning(const AttentionSentence *sentence);
const char *attention_kind_name(AttentionKind kind);

void attention_put_json(const AttentionView *view, Text *out);
/* A page in one HTML file, which needs no other. (attention_page.c) */
void attention_put_page(const AttentionView *view, Text *out);
/* One sentence: if it has a single head, that head large, with tokens; else all heads small, a row
 * for each layer. (attention_svg.c) */
void attention_put_svg(const AttentionView *view, const AttentionSentence *sentence, Text *out);

#endif
