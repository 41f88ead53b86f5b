/* The page of tfc attend: its data beside inspect/attention/, which is built in. */
#include "inspect/attention.h"

#include "inspect/inspect.h"

#include <math.h>

extern const char attention_html[], attention_css[], attention_js[];

static void put_texts(const char *key, const char *const *texts, int64_t n, Text *out)
{
    text_add(out, "\"%s\":[", key);
    for (int64_t i = 0; i < n; i++) {
        text_string(out, i ? "," : "");
        quote_json(texts[i], strlen(texts[i]), out);
    }
    text_string(out, "],");
}

/* Weights in 65535ths, two bytes each, the lower first; 0 is a weight of 0 alone: it is masked. */
static void put_weights(const AttentionLayer *layer, Text *out)
{
    Text bytes = {0};
    int64_t count = layer->heads * layer->queries * layer->keys;
    for (int64_t i = 0; i < count; i++) {
        double weight = layer->weights[i];
        unsigned level = weight > 0 ? (unsigned)fmin(fmax(round(weight * 65535), 1), 65535) : 0;
        char pair[] = {(char)(level & 255), (char)(level >> 8)};
        text_put(&bytes, pair, sizeof pair);
    }
    text_base64(out, bytes.data, bytes.length);
    text_free(&bytes);
}

/* Figures of each head, the mean of all behind them. */
static void put_layer(const AttentionSentence *sentence, const AttentionLayer *layer, Text *out)
{
    text_string(out, "{\"name\":");
    quote_json(layer->name, strlen(layer->name), out);
    text_add(out, ",\"kind\":\"%s\",\"layer\":%lld,\"head\":%lld,\"heads\":%lld,\"figures\":[",
             attention_kind_name(layer->kind), (long long)layer->layer, (long long)layer->head,
             (long long)layer->heads);
    for (int64_t h = 0; h <= layer->heads; h++) {
        AttentionFigures f = attention_figures(sentence, layer, h < layer->heads ? h : MEAN_HEAD);
        text_add(out, "%s[%.4f,%.4f,%.4f]", h ? "," : "", f.entropy, f.distance, f.confidence);
    }
    text_string(out, "],\"weights\":\"");
    put_weights(layer, out);
    text_string(out, "\"}");
}

void attention_put_page(const AttentionView *view, Text *out)
{
    Text data = {0};
    text_string(&data, "{\"title\":");
    quote_json(view->title, strlen(view->title), &data);
    text_string(&data, ",\"palette\":");
    attention_put_palette(&data);
    text_string(&data, ",\"sentences\":[");
    for (size_t i = 0; i < view->n; i++) {
        const AttentionSentence *s = &view->sentences[i];
        text_add(&data, "%s{\"line\":%lld,\"ends\":%lld,\"aligning\":%d,", i ? ",\n" : "",
                 (long long)s->line, (long long)s->n_end, attention_aligning(s));
        put_texts("source", s->source, s->n_source, &data);
        put_texts("target", s->target, s->n_target, &data);
        put_texts("next", s->next, s->n_target, &data);
        text_string(&data, "\"layers\":[");
        for (size_t l = 0; l < s->n_layers; l++) {
            text_string(&data, l ? ",\n" : "");
            put_layer(s, &s->layers[l], &data);
        }
        text_string(&data, "]}");
    }
    text_string(&data, "]}");
    page_fill(&(PageParts){attention_html, attention_css, attention_js}, &data, out);
    text_free(&data);
}
