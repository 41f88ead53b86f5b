/* The keys of a GGUF's metadata and those of config.json that mean the same; both directions use
 * these tables. */
#ifndef DRIVER_EXCHANGE_GGUF_KEYS_H
#define DRIVER_EXCHANGE_GGUF_KEYS_H

#include "base/json_write.h"

#include <stdbool.h>
#include <stdint.h>

/* GgufKey: a key of the architecture as one of config.json.
 *   is_real     an f32; else a whole number
 *   is_again    the value of another row once more, which is written and not read
 *   missing     the value where neither a GGUF nor config.json says; 0: then neither has it */
typedef struct GgufKey {
    const char *theirs, *published;
    bool is_real, is_again;
    double missing;
} GgufKey;
/* Those of a model_type, up to one whose `theirs` is NULL; none of an unknown one. */
const GgufKey *gguf_keys(const char *model_type);
/* The row of a key; NULL: there is none. */
const GgufKey *gguf_key(const GgufKey *keys, const char *theirs);

/* GgufMust: a key of config.json that no GGUF has: its readers compute what the one value says.
 *   layers   the value is each how many-th layer sees all tokens (IMPORT_LAYERS) */
typedef struct GgufMust {
    const char *model_type, *key, *value;
    bool is_layers;
} GgufMust;
extern const GgufMust gguf_musts[]; /* up to one whose `key` is NULL */

/* What Gemma 2 and 3 divide scores by the root of, as llama.cpp computes it: head_dim, but in those
 * of 27 billion params hidden_size / num_attention_heads. */
int64_t gguf_query_scalar(const char *architecture, int64_t layers, int64_t d_model, int64_t heads,
                          int64_t head_dim);

/* GgufFactors: LLaMA 3.1's scaling of positions, which a GGUF has as a tensor of n factors: pair i
 * of a head turns by base ^ (-i / n) / factor i a token. (models/llama.tfg: llama3) */
typedef struct GgufFactors {
    double base, factor, low, high, context;
    int64_t n;
} GgufFactors;
#define GGUF_FACTORS "rope_freqs.weight"
double gguf_factor(const GgufFactors *how, int64_t i);
/* YaRN's own scale of cosines and sines (Peng et al. 2023, equation 22). */
double gguf_yarn_scale(double factor);

/* Of models with rotary positions: the key of how much of a head is turned, and that of the width
 * of values, which is head_dim; then NULL. Without them llama.cpp takes embedding_length /
 * head_count. */
extern const char *const gguf_head_widths[];

/* GgufCut: how texts are cut before merges (tokenizer.ggml.pre), by what the tokenizer.json of the
 * models has. Of rows that say the same, the first is written. Up to one whose `name` is NULL.
 *   patterns  of its Splits, one after the other; none: the ByteLevel cuts, as GPT-2's
 *   digits    each digit is a part of its own
 *   whole     a word that is a token is not put together from merges (ignore_merges)
 *   nfc       its normalizer is NFC, which no key of a GGUF says
 *   has_prefix   a text that begins without a blank gets one; in no GGUF */
enum { GGUF_PATTERNS = 6 };
typedef struct GgufCut {
    const char *name, *patterns[GGUF_PATTERNS];
    bool digits, whole, nfc, has_prefix;
} GgufCut;
extern const GgufCut gguf_cuts[];
/* The row of a name; NULL: there is none. */
const GgufCut *gguf_cut(const char *name);
/* The "pre_tokenizer" of a tokenizer.json that cuts so. */
void gguf_cut_put(JsonWriter *json, const GgufCut *cut);

#endif
