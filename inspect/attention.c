/* Figures of heads, and all there is as JSON. */
#include "inspect/attention.h"

#include "base/json_write.h"

#include <math.h>

enum { WEIGHT_DECIMALS = 6, FIGURE_DECIMALS = 4 };

float attention_weight(const AttentionLayer *layer, int64_t head, int64_t query, int64_t key)
{
    int64_t area = layer->queries * layer->keys, at = query * layer->keys + key;
    if (head != MEAN_HEAD)
        return layer->weights[head * area + at];
    double sum = 0;
    for (int64_t h = 0; h < layer->heads; h++)
        sum += layer->weights[h * area + at];
    return (float)(sum / (double)layer->heads);
}

AttentionFigures attention_figures(const AttentionSentence *sentence, const AttentionLayer *layer,
                                   int64_t head)
{
    AttentionFigures sums = {0};
    int64_t end = layer->kind == ATTENTION_DECODER ? -1 : layer->keys - sentence->n_end;
    double slope = layer->kind != ATTENTION_CROSS ? 1
                   : layer->queries > 1 ? (double)(layer->keys - 1) / (double)(layer->queries - 1)
                                        : 0;
    for (int64_t q = 0; q < layer->queries; q++) {
        double most = 0;
        int64_t best = -1;
        for (int64_t k = 0; k < layer->keys; k++) {
            double weight = attention_weight(layer, head, q, k);
            if (weight > 0)
                sums.entropy -= weight * log(weight);
            sums.distance += weight * fabs((double)k - (double)q * slope);
            if (weight > most) {
                most = weight;
                best = k;
            }
        }
        sums.confidence += end >= 0 && best >= end ? 0 : most;
    }
    double n = layer->queries ? (double)layer->queries : 1;
    return (AttentionFigures){sums.entropy / n, sums.distance / n, sums.confidence / n};
}

int attention_aligning(const AttentionSentence *sentence)
{
    int best = -1;
    double most = -1;
    for (size_t i = 0; i < sentence->n_layers; i++) {
        const AttentionLayer *layer = &sentence->layers[i];
        if (layer->kind != ATTENTION_CROSS)
            continue;
        double confidence = attention_figures(sentence, layer, MEAN_HEAD).confidence;
        if (confidence > most) {
            most = confidence;
            best = (int)i;
        }
    }
    return best;
}

const char *attention_kind_name(AttentionKind kind)
{
    static const char *const names[] = {"encoder", "decoder", "cross"};
    return names[kind];
}

static void put_tokens(JsonWriter *json, const char *key, const char *const *tokens, int64_t n)
{
    json_open(json, key, '[');
    for (int64_t i = 0; i < n; i++)
        json_put_text(json, NULL, tokens[i]);
    json_close(json, ']');
}

static void put_head(JsonWriter *json, const AttentionSentence *sentence,
                     const AttentionLayer *layer, int64_t head)
{
    AttentionFigures figures = attention_figures(sentence, layer, head);
    json_open(json, NULL, '{');
    json_put_integer(json, "head", layer->head + head);
    json_put_fixed(json, "entropy", figures.entropy, FIGURE_DECIMALS);
    json_put_fixed(json, "distance", figures.distance, FIGURE_DECIMALS);
    json_put_fixed(json, "confidence", figures.confidence, FIGURE_DECIMALS);
    json_open(json, "weights", '[');
    for (int64_t q = 0; q < layer->queries; q++) {
        json_open(json, NULL, '[');
        for (int64_t k = 0; k < layer->keys; k++)
            json_put_fixed(json, NULL, attention_weight(layer, head, q, k), WEIGHT_DECIMALS);
        json_close(json, ']');
    }
    json_close(json, ']');
    json_close(json, '}');
}

static void put_layer(JsonWriter *json, const AttentionSentence *sentence,
                      const AttentionLayer *layer)
{
    json_open(json, NULL, '{');
    json_put_text(json, "name", layer->name);
    json_put_text(json, "kind", attention_kind_name(layer->kind));
    json_put_integer(json, "layer", layer->layer);
    json_open(json, "heads", '[');
    for (int64_t h = 0; h < layer->heads; h++)
        put_head(json, sentence, layer, h);
    json_close(json, ']');
    json_close(json, '}');
}

void attention_put_json(const AttentionView *view, Text *out)
{
    JsonWriter json = {.out = out};
    json_open(&json, NULL, '{');
    json_put_text(&json, "model", view->title);
    json_open(&json, "sentences", '[');
    for (size_t i = 0; i < view->n; i++) {
        const AttentionSentence *s = &view->sentences[i];
        json_open(&json, NULL, '{');
        json_put_integer(&json, "line", s->line);
        put_tokens(&json, "source", s->source, s->n_source);
        put_tokens(&json, "target", s->target, s->n_target);
        put_tokens(&json, "predicted", s->next, s->n_target);
        json_open(&json, "attentions", '[');
        for (size_t l = 0; l < s->n_layers; l++)
            put_layer(&json, s, &s->layers[l]);
        json_close(&json, ']');
        json_close(&json, '}');
    }
    json_close(&json, ']');
    json_close(&json, '}');
    text_string(out, "\n");
}
