/* Which keys of a GGUF's metadata may be left unread: by llama.cpp's llama-arch.cpp, which has the
 * names of all keys that it reads, and llama-model.cpp, which has their usual values. */
#include "driver/exchange/import_gguf_tokenizer.h"

#include "driver/exchange/gguf_keys.h"
#include "runtime/text/sentencepiece/sp.h"

#include <fnmatch.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* GgufRule: what values of a key say nothing. Of several rows that fit, the first one counts.
 *   key           behind the architecture; a pattern, in which * is any text
 *   architecture  of which it is so; NULL: of all
 *   harmless      values between blanks: numbers, words, KEY: as much as that key of the
 *                 architecture says; >KEY: that or more; HEAD: the width of a head; ANY. No other
 *                 value says nothing */
typedef struct GgufRule {
    const char *key, *architecture, *harmless;
} GgufRule;

#define ANY "any"
#define HEAD "head"
#define READ ANY /* by import_gguf.c or gguf_sentences.c, which check it */

static const GgufRule own_rules[] = {
    /* positions */
    {"rope.*", "gpt2", ANY}, /* which have no rotary ones */
    {"rope.*", "t5", ANY},
    {"rope.*", "bert", ANY},
    {"rope.dimension_count", NULL, READ},
    {"rope.dimension_count_swa", NULL, HEAD},
    {"rope.dimension_sections", NULL, "0"},
    {"rope.freq_base_swa", NULL, "rope.freq_base"},
    {"rope.scale_linear", NULL, READ},
    {"rope.scaling.type", NULL, READ},
    {"rope.scaling.factor", NULL, READ},
    {"rope.scaling.attn_factor", NULL, READ},
    {"rope.scaling.original_context_length", NULL, READ},
    {"rope.scaling.yarn_beta_*", NULL, READ},
    {"rope.scaling.low_freq_factor", NULL, READ},
    {"rope.scaling.high_freq_factor", NULL, READ},
    {"rope.scaling.finetuned", NULL, ANY},
    {"rope.scaling.alpha", NULL, "0 1"},
    {"rope.scaling.yarn_ext_factor", NULL, "-1"},
    {"rope.scaling.yarn_attn_factor", NULL, "1"},
    {"rope.scaling.yarn_log_multiplier", NULL, "0"},
    /* attention */
    {"attention.causal", "bert", "0"},
    {"attention.causal", NULL, "1"},
    {"attention.head_count_kv", NULL, "attention.head_count"},
    {"attention.key_length", NULL, HEAD},
    {"attention.value_length", "gpt2", HEAD},
    {"attention.value_length", "bert", HEAD},
    {"attention.value_length", NULL, READ},
    {"attention.key_length_*", NULL, HEAD},
    {"attention.value_length_*", NULL, HEAD},
    {"attention.sliding_window", NULL, "0 >context_length"},
    {"attention.sliding_window_pattern", "gemma2", "2"},
    {"attention.sliding_window_pattern", NULL, "0"},
    {"attention.scale", NULL, "0"},
    {"attention.*_scale", NULL, "0 1"},
    {"attention.max_alibi_bias", NULL, "0"},
    {"attention.clamp_kqv", NULL, "0"},
    {"attention.temperature_length", NULL, "0"},
    {"attention.*lora_rank", NULL, "0"},
    {"attention.indexer.*", NULL, "0"},
    {"attention.shared_kv_layers", NULL, "0"},
    {"attention.recurrent_layers", NULL, "0"},
    {"full_attention_interval", NULL, "0"},
    /* scales and caps of other models */
    {"*logit_softcapping", NULL, "0"},
    {"logit_scale", NULL, "0 1"},
    {"residual_scale", NULL, "0 1"},
    {"embedding_scale", NULL, "0 1"},
    /* layers of other models */
    {"expert*", NULL, "0"},
    {"moe_*", NULL, "0"},
    {"interleave_moe_layer_step", NULL, "0"},
    {"leading_dense_block_count", NULL, "0"},
    {"nextn_predict_layers", NULL, "0"},
    {"n_deepstack_layers", NULL, "0"},
    {"swiglu_clamp_*", NULL, "0"},
    {"use_parallel_residual", NULL, "0"},
    {"swin_norm", NULL, "0"},
    {"hidden_activation", "bert", "gelu"},
    {"hidden_activation", "gemma", "gelu_pytorch_tanh"},
    {"hidden_activation", "gemma2", "gelu_pytorch_tanh"},
    {"hidden_activation", "gemma3", "gelu_pytorch_tanh"},
    {"hidden_activation", NULL, "silu"},
    /* what comes out */
    {"pooling_type", "bert", READ},
    {"pooling_type", NULL, "0"},
    {"classifier.output_labels", NULL, ""},
    {"embedding_length_out", NULL, "embedding_length"},
    {"embedding_length_per_layer_input", NULL, "0"},
    {"dense_*", NULL, "0"},
    /* sizes that the tensors and tokens have (tell_count), and what files are made of */
    {"vocab_size", NULL, ANY},
    {"tensor_data_layout", NULL, ANY},
    {NULL, NULL, NULL},
};
/* Keys of any architecture. Of the tokenizer's import_gguf_tokenizer.c reads what changes ids. */
static const GgufRule shared_rules[] = {
    {"general.type", NULL, "model"}, {"general.*", NULL, ANY},  {"tokenizer.*", NULL, ANY},
    {"tokenizers.*", NULL, ANY},     {"quantize.*", NULL, ANY}, {"split.count", NULL, "0 1"},
    {"split.*", NULL, ANY},          {NULL, NULL, NULL},
};

double import_gguf_head_width(const Gguf *gguf)
{
    const GgufValue *width = gguf_own(gguf, "attention.key_length");
    const GgufValue *heads = gguf_own(gguf, "attention.head_count");
    const GgufValue *embedding = gguf_own(gguf, "embedding_length");
    const double n = heads ? gguf_number(heads, 0) : 0;
    if (width)
        return gguf_number(width, 0);
    return n > 0 && embedding ? gguf_number(embedding, 0) / n : 0;
}

static const GgufRule *find_rule(const GgufRule *rules, const char *key, const char *architecture)
{
    while (rules->key && (fnmatch(rules->key, key, 0) ||
                          (rules->architecture && strcmp(rules->architecture, architecture))))
        rules++;
    return rules->key ? rules : NULL;
}

/* Whether element i of a value is what one word of a rule says. */
static bool says_word(const Gguf *gguf, const GgufValue *value, uint64_t i, const char *word)
{
    char *end;
    const double is = gguf_number(value, i), number = strtod(word, &end);
    const char *key = *word == '>' ? word + 1 : word;
    const GgufValue *other = gguf_own(gguf, key);
    if (value->kind == GGUF_STRING) {
        const char *text = gguf_text(gguf, value);
        return text && !strcmp(text, word);
    }
    if (!*end)
        return is == number;
    if (!strcmp(word, HEAD))
        return is == import_gguf_head_width(gguf);
    return other && (*word == '>' ? is >= gguf_number(other, 0) : is == gguf_number(other, 0));
}

static bool is_harmless(const GgufImport *m, const GgufValue *value, const char *harmless)
{
    bool is = true;
    for (uint64_t i = 0; is && i < value->n && strcmp(harmless, ANY) != 0; i++) {
        is = false;
        for (const char *at = harmless; !is && *at;) {
            const size_t length = strcspn(at, " ");
            is = says_word(m->gguf, value, i, arena_strndup(m->job->arena, at, length));
            at += length + strspn(at + length, " ");
        }
    }
    return is;
}

static const char *value_text(const GgufImport *m, const GgufValue *value)
{
    Arena *arena = m->job->arena;
    if (value->is_array)
        return "a list";
    if (value->kind == GGUF_BOOL)
        return gguf_number(value, 0) != 0 ? "true" : "false";
    if (value->kind != GGUF_STRING)
        return arena_printf(arena, "%g", gguf_number(value, 0));
    const char *text = gguf_text(m->gguf, value);
    return arena_printf(arena, "'%s'", text_visible_name(arena, text ? text : ""));
}

/* Adds the key to the unknown ones, or an error. False after an error. */
static bool check_key(const GgufImport *m, const GgufValue *value, Text *unknown)
{
    Arena *arena = m->job->arena;
    const char *name = m->architecture->name;
    const size_t length = strlen(name);
    const bool is_own = !strncmp(value->key, name, length) && value->key[length] == '.';
    const char *key = value->key + (is_own ? length + 1 : 0);
    if (is_own && gguf_key(gguf_keys(m->architecture->model_type), key))
        return true;
    const GgufRule *rule = find_rule(is_own ? own_rules : shared_rules, key, name);
    const char *visible = text_visible_name(arena, value->key);
    if (!rule)
        text_add(unknown, "%s%s", unknown->length ? ", " : "", visible);
    return !rule || is_harmless(m, value, rule->harmless) ||
           gguf_wrong(m, arena_printf(arena,
                                      "%s is %s, which llama.cpp reads, and tfc's model of %s does "
                                      "not compute",
                                      visible, value_text(m, value), m->architecture->model_type));
}

/* ---- kinds ---- */

typedef enum GgufWord { WORD_TEXT, WORD_FLAG, WORD_WHOLE, WORD_NUMBER } GgufWord;

/* Values of keys that are read, by their patterns: one, or a list of them; is_each: one for each
 * token; most: whole numbers from 0 to it, if it is not 0. */
static const struct {
    const char *key;
    GgufWord word;
    bool is_list, is_each;
    int64_t most;
} wanted[] = {
    {"tokenizer.ggml.*_token_id", WORD_WHOLE, false, false, 0},
    {"tokenizer.ggml.add_*", WORD_FLAG, false, false, 0},
    {"tokenizer.ggml.tokens", WORD_TEXT, true, false, 0},
    {"tokenizer.ggml.merges", WORD_TEXT, true, false, 0},
    {"tokenizer.ggml.scores", WORD_NUMBER, true, true, 0},
    {"tokenizer.ggml.token_type", WORD_WHOLE, true, true, SP_BYTE},
    {"tokenizer.ggml.model", WORD_TEXT, false, false, 0},
    {"tokenizer.ggml.pre", WORD_TEXT, false, false, 0},
    {"tokenizer.chat_template", WORD_TEXT, false, false, 0},
    {"*.rope.scaling.type", WORD_TEXT, false, false, 0},
    {"*.rope.scaling.factor", WORD_NUMBER, false, false, 0},
    {"*.rope.scale_linear", WORD_NUMBER, false, false, 0},
    {"general.alignment", WORD_WHOLE, false, false, 0},
};

static bool is_word(GgufKind kind, GgufWord word)
{
    const bool is_float = kind == GGUF_F32 || kind == GGUF_F64;
    if (kind == GGUF_STRING || kind == GGUF_BOOL)
        return word == (kind == GGUF_STRING ? WORD_TEXT : WORD_FLAG);
    return word == WORD_NUMBER || (word == WORD_WHOLE && !is_float);
}

static bool check_kind(const GgufImport *m, const GgufValue *value)
{
    static const char *const names[2][4] = {
        {"text", "true or false", "whole number", "number"},
        {"list of texts", "list of flags", "list of whole numbers", "list of numbers"}};
    const GgufValue *tokens = gguf_find(m->gguf, "tokenizer.ggml.tokens");
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
        if (fnmatch(wanted[i].key, value->key, 0))
            continue;
        const char *key = text_visible_name(m->job->arena, value->key);
        if (value->is_array != wanted[i].is_list || !is_word(value->kind, wanted[i].word))
            return gguf_wrong(m, arena_printf(m->job->arena, "its %s is no %s", key,
                                              names[wanted[i].is_list][wanted[i].word]));
        if (wanted[i].is_each && tokens && tokens->n != value->n)
            return gguf_wrong(
                m, arena_printf(m->job->arena, "its %s has %llu values, and it has %llu tokens",
                                key, (unsigned long long)value->n, (unsigned long long)tokens->n));
        for (uint64_t k = 0; wanted[i].word == WORD_NUMBER && k < value->n; k++)
            if (!isfinite(gguf_number(value, k)))
                return gguf_wrong(m, arena_printf(m->job->arena, "its %s is no number", key));
        for (uint64_t k = 0; wanted[i].most && k < value->n; k++)
            if (gguf_integer(value, k) < 0 || gguf_integer(value, k) > wanted[i].most)
                return gguf_wrong(m, arena_printf(m->job->arena,
                                                  "its %s has %" PRId64 " for token %" PRIu64
                                                  "; expected 0 to %" PRId64
                                                  ", llama.cpp's kinds of tokens",
                                                  key, gguf_integer(value, k), k, wanted[i].most));
    }
    return true;
}

/* A warning of a count of tokens that is not the list's, by which llama.cpp goes. */
static void tell_count(const GgufImport *m)
{
    const GgufValue *tokens = gguf_find(m->gguf, "tokenizer.ggml.tokens");
    const GgufValue *size = gguf_own(m->gguf, "vocab_size");
    if (tokens && size && gguf_number(size, 0) != (double)tokens->n)
        diag_warning(&m->job->diags, (Loc){0},
                     "%s: its %s is %s, and tokenizer.ggml.tokens has %" PRIu64
                     " tokens, which are taken, as llama.cpp takes them",
                     m->path, text_visible_name(m->job->arena, size->key), value_text(m, size),
                     tokens->n);
}

bool import_gguf_check_keys(const GgufImport *m)
{
    Text unknown = {0};
    bool ok = true;
    for (size_t i = 0; i < m->gguf->values.count; i++) {
        const GgufValue *value = m->gguf->values.data[i];
        ok = check_kind(m, value) && check_key(m, value, &unknown) && ok;
    }
    if (ok)
        tell_count(m);
    const bool several = unknown.length && strstr(unknown.data, ", ");
    if (ok && unknown.length)
        diag_warning(&m->job->diags, (Loc){0},
                     "%s: %s %s left unread: llama.cpp is not known to compute by %s", m->path,
                     unknown.data, several ? "are" : "is", several ? "them" : "it");
    text_free(&unknown);
    return ok;
}
