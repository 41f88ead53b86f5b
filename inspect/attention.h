/* The attention weights of a model's heads, shown as JSON, as a page, and as a figure. */
#ifndef INSPECT_ATTENTION_H
#define INSPECT_ATTENTION_H

#include "base/text.h"
#include "passes/pass.h"

#include <stdint.h>

/* AttentionLayer: the weights of one attention for one sentence, [heads, queries, keys].
 *   name    unique within the sentence, such as "decoder.layer.0.cross"
 *   layer   the number of this attention among those of its kind, from 0
 *   head    the number of the first head in `weights`, from 0 */
typedef struct AttentionLayer {
    const char *name;
    AttentionKind kind;
    int64_t layer, head, heads, queries, keys;
    const float *weights;
} AttentionLayer;

/* AttentionSentence: one text or pair; a side that the model does not have is empty.
 *   line             its number in the text, from 0
 *   source           tokens as the encoder reads them, with special tokens
 *   target, next     tokens as the decoder reads them, and the token to be predicted from each
 *   n_end            special tokens at the end of the source: 1 or 0 */
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
 *   distance     of the keys from the query in tokens, the mean by weight; of cross attention from
 *                the diagonal of the matrix of weights
 *   confidence   the greatest weight; 0 if that is of the source's last special token (Voita et
 *                al. 2019) */
typedef struct AttentionFigures {
    double entropy, distance, confidence;
} AttentionFigures;

enum { MEAN_HEAD = -1 };

/* head: from 0, in `weights`; MEAN_HEAD: the mean of all heads. */
float attention_weight(const AttentionLayer *layer, int64_t head, int64_t query, int64_t key);
AttentionFigures attention_figures(const AttentionSentence *sentence, const AttentionLayer *layer,
                                   int64_t head);
/* The index in `layers` of the cross attention whose mean of heads has the greatest confidence; -1:
 * there is no cross attention. */
int attention_aligning(const AttentionSentence *sentence);
const char *attention_kind_name(AttentionKind kind);

void attention_put_json(const AttentionView *view, Text *out);
/* A page in one HTML file, which needs no other. (attention_page.c) */
void attention_put_page(const AttentionView *view, Text *out);
/* A figure of one sentence: if it has one layer with one head, that head large, with tokens; else
 * all heads small, a row for each layer. (attention_svg.c) */
void attention_put_svg(const AttentionView *view, const AttentionSentence *sentence, Text *out);
/* What figures and the page draw weights in, as JSON: the colours from 0 to 1 by the square root
 * (ramp), those of masked cells and of frames, the weights that the legend names. */
void attention_put_palette(Text *out);

#endif
