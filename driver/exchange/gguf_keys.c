/* The tables of GGUF's metadata (docs/gguf.md of ggml; gguf-py's constants.py; llama.cpp's
 * llama-model.cpp and llama-vocab.cpp; the config.json and tokenizer.json of each model). */
#define _GNU_SOURCE
#include "driver/exchange/gguf_keys.h"

#include "base/portable_math.h"

#include "driver/exchange/tokenizer_json.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

#define SIZE(theirs, published) {theirs, published, false, false, 0}
#define REAL(theirs, published) {theirs, published, true, false, 0}
#define AGAIN(theirs, published, is_real) {theirs, published, is_real, true, 0}
#define END {NULL, NULL, false, false, 0}

#define ROTARY_KEYS                                                                    \
    SIZE("embedding_length", "hidden_size"), SIZE("block_count", "num_hidden_layers"), \
        SIZE("feed_forward_length", "intermediate_size"),                              \
        SIZE("attention.head_count", "num_attention_heads"),                           \
        SIZE("attention.head_count_kv", "num_key_value_heads"),                        \
        SIZE("attention.key_length", "head_dim"),                                      \
        SIZE("context_length", "max_position_embeddings"),                             \
        REAL("attention.layer_norm_rms_epsilon", "rms_norm_eps"),                      \
        {"rope.freq_base", "rope_theta", true, false, 10000}
static const GgufKey rotary[] = {ROTARY_KEYS, END};
static const GgufKey windows[] = {ROTARY_KEYS, SIZE("attention.sliding_window", "sliding_window"),
                                  END};
static const GgufKey gemma2[] = {
    ROTARY_KEYS,
    {"attention.sliding_window", "sliding_window", false, false, 4096},
    {"attn_logit_softcapping", "attn_logit_softcapping", true, false, 50},
    {"final_logit_softcapping", "final_logit_softcapping", true, false, 30},
    END};
static const GgufKey gemma3[] = {
    ROTARY_KEYS,
    SIZE("attention.sliding_window", "sliding_window"),
    {"attention.sliding_window_pattern", "sliding_window_pattern", false, false, 6},
    {"rope.freq_base_swa", "rope_local_base_freq", true, false, 10000},
    REAL("final_logit_softcapping", "final_logit_softcapping"),
    END};
static const GgufKey gpt2[] = {
    SIZE("embedding_length", "n_embd"),
    SIZE("block_count", "n_layer"),
    SIZE("attention.head_count", "n_head"),
    SIZE("context_length", "n_positions"),
    SIZE("feed_forward_length", "n_inner"),
    {"attention.layer_norm_epsilon", "layer_norm_epsilon", true, false, 1e-5},
    END};
static const GgufKey t5[] = {
    {"context_length", "n_positions", false, false, 512},
    SIZE("embedding_length", "d_model"),
    SIZE("feed_forward_length", "d_ff"),
    SIZE("block_count", "num_layers"),
    SIZE("decoder_block_count", "num_decoder_layers"),
    SIZE("attention.head_count", "num_heads"),
    SIZE("attention.key_length", "d_kv"),
    AGAIN("attention.value_length", "d_kv", false),
    REAL("attention.layer_norm_rms_epsilon", "layer_norm_epsilon"),
    AGAIN("attention.layer_norm_epsilon", "layer_norm_epsilon", true),
    SIZE("attention.relative_buckets_count", "relative_attention_num_buckets"),
    SIZE("decoder_start_token_id", "decoder_start_token_id"),
    END};
static const GgufKey bert[] = {SIZE("context_length", "max_position_embeddings"),
                               SIZE("embedding_length", "hidden_size"),
                               SIZE("feed_forward_length", "intermediate_size"),
                               SIZE("block_count", "num_hidden_layers"),
                               SIZE("attention.head_count", "num_attention_heads"),
                               REAL("attention.layer_norm_epsilon", "layer_norm_eps"),
                               END};

static const struct {
    const char *model_type;
    const GgufKey *keys;
} tables[] = {{"llama", rotary},   {"mistral", windows},    {"qwen2", rotary}, {"qwen3", rotary},
              {"smollm3", rotary}, {"phi3", windows},       {"olmo2", rotary}, {"gemma", rotary},
              {"gemma2", gemma2},  {"gemma3_text", gemma3}, {"gpt2", gpt2},    {"t5", t5},
              {"mt5", t5},         {"bert", bert}};

const GgufKey *gguf_keys(const char *model_type)
{
    static const GgufKey none = END;
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++)
        if (!strcmp(tables[i].model_type, model_type))
            return tables[i].keys;
    return &none;
}

const GgufKey *gguf_key(const GgufKey *keys, const char *theirs)
{
    while (keys->theirs && strcmp(keys->theirs, theirs) != 0)
        keys++;
    return keys->theirs ? keys : NULL;
}

const GgufMust gguf_musts[] = {
    {"gemma", "hidden_activation", "gelu_pytorch_tanh", false},
    {"gemma2", "hidden_activation", "gelu_pytorch_tanh", false},
    {"gemma2", "layer_types", "2", true},
    {"gemma3_text", "hidden_activation", "gelu_pytorch_tanh", false},
    {"gemma3_text", "attn_logit_softcapping", "null", false},
    {"qwen2", "use_sliding_window", "false", false},
    {"qwen3", "use_sliding_window", "false", false},
    {"smollm3", "no_rope_layers", "4", true},
    {"gpt2", "activation_function", "gelu_new", false},
    {"t5", "relative_attention_max_distance", "128", false},
    {"mt5", "relative_attention_max_distance", "128", false},
    {"bert", "hidden_act", "gelu", false},
    {NULL, NULL, NULL, false},
};

int64_t gguf_query_scalar(const char *architecture, int64_t layers, int64_t d_model, int64_t heads,
                          int64_t head_dim)
{
    const int64_t largest = !strcmp(architecture, "gemma2") ? 46 : 62;
    return layers == largest && heads > 0 ? d_model / heads : head_dim;
}

double gguf_factor(const GgufFactors *how, int64_t i)
{
    const double turn = portable_pow(how->base, -(double)i / (double)how->n);
    const double times = how->context * turn / (2 * M_PI);
    const double kept = fmin(fmax((times - how->low) / (how->high - how->low), 0), 1);
    return 1 / (kept + (1 - kept) / how->factor);
}

double gguf_yarn_scale(double factor) { return 0.1 * portable_log(factor) + 1; }

const char *const gguf_head_widths[] = {"rope.dimension_count", "attention.value_length", NULL};

#define CASELESS "(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|"
#define REST "| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+"
#define BY_THREES CASELESS "\\p{N}{1,3}" REST
#define BY_DIGITS CASELESS "\\p{N}" REST
#define GPT2 "'s|'t|'re|'ve|'m|'ll|'d| ?\\p{L}+| ?\\p{N}+| ?[^\\s\\p{L}\\p{N}]+|\\s+(?!\\S)"
/* What llama.cpp does with "default", and without a name: four cuts, each of what is left. */
#define DEFAULT {"[\\p{P}\\$\\+<=>\\^~\\|]+", GPT2, "\\p{N}+", "[0-9][0-9][0-9]"}
#define FALCON {"[\\p{P}\\$\\+<=>\\^~\\|`]+", GPT2, "[0-9][0-9][0-9]"}
#define DEEPSEEK_SIGNS          \
    "[一-龥ࠀ-一가-\xed\x9f\xbf" \
    "]+"
#define DEEPSEEK_CODER {"[\r\n]", "\\s?\\p{L}+", "\\s?\\p{P}+", DEEPSEEK_SIGNS, "\\p{N}"}
/* clang-format off */
#define DEEPSEEK_LETTERS \
    "A-Za-z\u00b5\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u01ba\u01bc-\u01bf\u01c4-\u0293" \
    "\u0295-\u02af\u0370-\u0373\u0376\u0377\u037b-\u037d\u037f\u0386\u0388-\u038a\u038c" \
    "\u038e-\u03a1\u03a3-\u03f5\u03f7-\u0481\u048a-\u052f\u0531-\u0556\u10a0-\u10c5" \
    "\u13a0-\u13f5\u13f8-\u13fd\u1c90-\u1cba\u1cbd-\u1cbf\u1d00-\u1d2b\u1d6b-\u1d77" \
    "\u1d79-\u1d9a\u1e00-\u1f15\u1f18-\u1f1d\u1f20-\u1f45\u1f48-\u1f4d\u1f50-\u1f57\u1f59" \
    "\u1f5b\u1f5d\u1f5f-\u1f7d\u1f80-\u1fb4\u1fb6-\u1fbc\u1fbe\u1fc2-\u1fc4\u1fc6-\u1fcc" \
    "\u1fd0-\u1fd3\u1fd6-\u1fdb\u1fe0-\u1fec\u1ff2-\u1ff4\u1ff6-\u1ffc\u2102\u2107" \
    "\u210a-\u2113\u2115\u2119-\u211d\u2124\u2126\u2128\u212a-\u212d\u212f-\u2134\u2139" \
    "\u213c-\u213f\u2145-\u2149\u214e\u2183\u2184\u2c00-\u2c7b\u2c7e-\u2ce4\u2ceb-\u2cee" \
    "\u2cf2\u2cf3\ua640-\ua66d\ua680-\ua69b\ua722-\ua76f\ua771-\ua787\ua78b-\ua78e" \
    "\uab70-\uabbf\ufb00-\ufb06\ufb13-\ufb17\uff21-\uff3a\uff41-\uff5a" \
    "\U00010400-\U0001044f\U000104b0-\U000104d3\U000104d8-\U000104fb\U00010c80-\U00010cb2" \
    "\U00010cc0-\U00010cf2\U000118a0-\U000118df\U0001e900-\U0001e943"
/* clang-format on */
#define DEEPSEEK_LLM                                                      \
    {"[\r\n]",                                                            \
     "\\s?[" DEEPSEEK_LETTERS "]+",                                       \
     "\\s?[!-/:-~\uff01-\uff0f\uff1a-\uff5e\u2018-\u201f\u3000-\u3002]+", \
     "\\s+$",                                                             \
     DEEPSEEK_SIGNS,                                                      \
     "\\p{N}+"}
#define DEEPSEEK_V3                                                                                      \
    {"\\p{N}{1,3}", "[一-龥぀-ゟ゠-ヿ]+",                                                          \
     "[!\"#$%&'()*+,\\-./:;<=>?@\\[\\\\\\]^_`{|}~][A-Za-z]+|[^\r\n\\p{L}\\p{P}\\p{S}]?[\\p{L}\\p{M}]+| " \
     "?[\\p{P}\\p{S}]+[\r\n]*|\\s*[\r\n]+|\\s+(?!\\S)|\\s+"}
const GgufCut gguf_cuts[] = {
    {.name = "gpt-2"},
    {.name = "olmo"},
    {.name = "default", .patterns = DEFAULT},
    {.name = "mpt", .nfc = true},
    {.name = "smollm", .digits = true},
    {.name = "starcoder", .digits = true},
    {.name = "refact", .digits = true},
    {.name = "falcon", .patterns = FALCON},
    {.name = "deepseek-llm", .patterns = DEEPSEEK_LLM},
    {.name = "deepseek-coder", .patterns = DEEPSEEK_CODER},
    {.name = "deepseek-v3", .patterns = DEEPSEEK_V3},
    {.name = "llama-bpe", .patterns = {BY_THREES}, .whole = true},
    {.name = "llama3", .patterns = {BY_THREES}, .whole = true},
    {.name = "llama-v3", .patterns = {BY_THREES}, .whole = true},
    {.name = "dbrx", .patterns = {BY_THREES}},
    {.name = "smaug-bpe", .patterns = {BY_THREES}},
    {.name = "qwen2", .patterns = {BY_DIGITS}, .nfc = true},
    {.name = NULL},
};

const GgufCut *gguf_cut(const char *name)
{
    const GgufCut *cut = gguf_cuts;
    while (cut->name && strcmp(cut->name, name) != 0)
        cut++;
    return cut->name ? cut : NULL;
}

void gguf_cut_put(JsonWriter *json, const GgufCut *cut)
{
    if (!cut->patterns[0] && !cut->digits) {
        tokenizer_json_bytes(json, "pre_tokenizer", true, cut->has_prefix);
        return;
    }
    json_open(json, "pre_tokenizer", '{');
    json_put_text(json, "type", "Sequence");
    json_open(json, "pretokenizers", '[');
    for (int i = 0; i < GGUF_PATTERNS && cut->patterns[i]; i++)
        tokenizer_json_split(json, cut->patterns[i]);
    if (cut->digits) {
        json_open(json, NULL, '{');
        json_put_text(json, "type", "Digits");
        json_put_bool(json, "individual_digits", true);
        json_close(json, '}');
    }
    tokenizer_json_bytes(json, NULL, !cut->patterns[0], cut->has_prefix);
    json_close(json, ']');
    json_close(json, '}');
}
