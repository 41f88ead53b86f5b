/* Published models by their model_type: what their config.json says in our words. Values of keys
 * that a config leaves out are those of Hugging Face's configuration classes (documentation of
 * transformers 4: MarianConfig, BartConfig, T5Config, GPT2Config, LlamaConfig, MistralConfig,
 * Qwen2Config, BertConfig). */
#include "driver/exchange/import_models.h"

#include <string.h>

#define ROW(what, name, ours, without) \
    {.kind = IMPORT_##what, .key = name, .to = ours, .absent = without}
#define CONST(key, to, absent) ROW(CONST, key, to, absent)
#define FLAG(name, ours, is, without) \
    {.kind = IMPORT_FLAG, .key = name, .to = ours, .absent = without, .value = is}
#define KEY(key, absent) ROW(KEY, key, NULL, absent)
#define ACTIVATION(key, absent) ROW(ACTIVATION, key, NULL, absent)
#define SAME(key, to) ROW(SAME, key, to, "=" to)
#define MUST(key, value, absent) ROW(MUST, key, value, absent)
#define TOKEN(rule, key, absent) ROW(TOKEN, key, rule, absent)
#define PIECE(token, to) ROW(PIECE, token, to, NULL)
#define IGNORE(pattern) ROW(IGNORE, pattern, NULL, NULL)
#define END ROW(IGNORE, NULL, NULL, NULL)

/* What Marian and BART share. */
#define SEQ2SEQ_ROWS                                                                               \
    CONST("d_model", "d_model", "1024"), CONST("encoder_layers", "encoder_layers", "12"),          \
        CONST("decoder_layers", "decoder_layers", "12"), CONST("encoder_ffn_dim", "d_ff", "4096"), \
        SAME("decoder_ffn_dim", "encoder_ffn_dim"),                                                \
        CONST("encoder_attention_heads", "heads", "16"),                                           \
        SAME("decoder_attention_heads", "encoder_attention_heads"),                                \
        CONST("dropout", "p_drop", "0.1"), ACTIVATION("activation_function", "\"gelu\"")

static const ImportRow marian[] = {
    CONST("vocab_size", "vocab", "58101"),
    SEQ2SEQ_ROWS,
    MUST("scale_embedding", "true", "false"),
    MUST("normalize_before", "false", "false"),
    MUST("normalize_embedding", "false", "false"),
    MUST("add_final_layer_norm", "false", "false"),
    MUST("static_position_embeddings", "true", "true"),
    MUST("share_encoder_decoder_embeddings", "true", "true"),
    MUST("tie_word_embeddings", "true", "true"),
    TOKEN("begin", "decoder_start_token_id", "58100"),
    TOKEN("end", "eos_token_id", "0"),
    TOKEN("pad", "pad_token_id", "58100"),
    /* of what Marian itself wrote (import_marian.c) */
    CONST("position_base", "position_base", "null"),
    IGNORE("model.*.embed_positions.weight"),
    END,
};

static const ImportRow bart[] = {
    CONST("vocab_size", "vocab", "50265"),
    CONST("max_position_embeddings", "context", "1024"),
    SEQ2SEQ_ROWS,
    MUST("scale_embedding", "false", "false"),
    MUST("normalize_before", "false", "false"),
    MUST("normalize_embedding", "true", "true"),
    MUST("add_final_layer_norm", "false", "false"),
    MUST("static_position_embeddings", "false", "false"),
    MUST("tie_word_embeddings", "true", "true"),
    TOKEN("begin", "decoder_start_token_id", "2"),
    TOKEN("end", "eos_token_id", "2"),
    TOKEN("source-begin", "bos_token_id", "0"),
    TOKEN("first", "bos_token_id", "0"),
    TOKEN("pad", "pad_token_id", "1"),
    END,
};

static const ImportRow t5[] = {
    CONST("vocab_size", "vocab", "32128"),
    CONST("d_model", "d_model", "512"),
    CONST("d_kv", "d_kv", "64"),
    CONST("d_ff", "d_ff", "2048"),
    CONST("num_layers", "encoder_layers", "6"),
    CONST("num_decoder_layers", "decoder_layers", "=num_layers"),
    CONST("num_heads", "heads", "8"),
    CONST("relative_attention_num_buckets", "buckets", "32"),
    CONST("relative_attention_max_distance", "longest", "128"),
    CONST("dropout_rate", "p_drop", "0.1"),
    CONST("layer_norm_epsilon", "norm_eps", "1e-6"),
    MUST("feed_forward_proj", "[\"relu\", \"gated-gelu\"]", "\"relu\""),
    FLAG("feed_forward_proj", "gated", "\"gated-gelu\"", NULL),
    CONST("tie_word_embeddings", "tied", "true"),
    TOKEN("begin", "decoder_start_token_id", "=pad_token_id"),
    TOKEN("end", "eos_token_id", "1"),
    TOKEN("pad", "pad_token_id", "0"),
    IGNORE("decoder.block.0.layer.1.EncDecAttention.relative_attention_bias.weight"),
    END,
};

static const ImportRow gpt2[] = {
    CONST("vocab_size", "vocab", "50257"),
    CONST("n_positions", "context", "1024"),
    CONST("n_embd", "d_model", "768"),
    CONST("n_layer", "layers", "12"),
    CONST("n_head", "heads", "12"),
    CONST("n_inner", "d_ff", "null"),
    CONST("resid_pdrop", "p_drop", "0.1"),
    ACTIVATION("activation_function", "\"gelu_new\""),
    MUST("layer_norm_epsilon", "1e-5", "1e-5"),
    MUST("scale_attn_weights", "true", "true"),
    MUST("scale_attn_by_inverse_layer_idx", "false", "false"),
    MUST("tie_word_embeddings", "true", "true"),
    TOKEN("begin", "bos_token_id", "50256"),
    TOKEN("end", "eos_token_id", "50256"),
    IGNORE("**.attn.bias"),
    IGNORE("**.attn.masked_bias"),
    IGNORE("lm_head.weight"),
    END,
};

/* What LLaMA and those that took its layers share. Positions are turned more slowly for long texts
 * by rope_scaling, which newer files call rope_parameters. */
#define LLAMA_ROWS(size, context, inner, key_heads)                                            \
    CONST("hidden_size", "d_model", "4096"), CONST("num_hidden_layers", "layers", "32"),       \
        CONST("num_attention_heads", "heads", "32"), CONST("head_dim", "d_k", "null"),         \
        MUST("hidden_act", "\"silu\"", "\"silu\""), KEY("rope_theta", "10000"),                \
        KEY("rope_scaling.type", "null"), KEY("rope_scaling.rope_type", "=rope_scaling.type"), \
        MUST("rope_parameters.rope_type", "[null, \"default\", \"linear\", \"llama3\"]",       \
             "=rope_scaling.rope_type"),                                                       \
        CONST("rope_parameters.rope_type", "rope_type", NULL),                                 \
        CONST("rope_parameters.rope_theta", "rotary_base", "=rope_theta"),                     \
        SCALING("factor", "rope_factor"), SCALING("low_freq_factor", "rope_low"),              \
        SCALING("high_freq_factor", "rope_high"),                                              \
        SCALING("original_max_position_embeddings", "rope_context"),                           \
        CONST("tie_word_embeddings", "tied", "false"), TOKEN("begin", "bos_token_id", "1"),    \
        TOKEN("end", "eos_token_id", "2"), IGNORE("**.rotary_emb.inv_freq"),                   \
        IGNORE("lm_head.weight"), CONST("vocab_size", "vocab", size),                          \
        CONST("max_position_embeddings", "context", context),                                  \
        CONST("intermediate_size", "d_ff", inner),                                             \
        CONST("num_key_value_heads", "kv_heads", key_heads),                                   \
        CONST("rms_norm_eps", "norm_eps", "1e-6")
#define SCALING(key, to) \
    KEY("rope_scaling." key, "null"), CONST("rope_parameters." key, to, "=rope_scaling." key)

static const ImportRow llama[] = {
    LLAMA_ROWS("32000", "2048", "11008", "=num_attention_heads"),
    CONST("attention_bias", "biased", "false"),
    CONST("attention_bias", "output_biased", NULL),
    MUST("mlp_bias", "false", "false"),
    END,
};
static const ImportRow mistral[] = {
    LLAMA_ROWS("32000", "131072", "14336", "8"),
    MUST("sliding_window", "null", "4096"),
    END,
};
static const ImportRow qwen2[] = {
    LLAMA_ROWS("151936", "32768", "22016", "32"),
    FLAG("model_type", "biased", "\"qwen2\"", NULL),
    MUST("use_sliding_window", "false", "false"),
    END,
};

static const ImportRow bert[] = {
    CONST("vocab_size", "vocab", "30522"),
    CONST("hidden_size", "d_model", "768"),
    CONST("intermediate_size", "d_ff", "3072"),
    CONST("num_hidden_layers", "layers", "12"),
    CONST("num_attention_heads", "heads", "12"),
    CONST("max_position_embeddings", "context", "512"),
    CONST("type_vocab_size", "segments", "2"),
    CONST("layer_norm_eps", "norm_eps", "1e-12"),
    CONST("hidden_dropout_prob", "p_drop", "0.1"),
    CONST("attention_probs_dropout_prob", "p_attention", "0.1"),
    ACTIVATION("hidden_act", "\"gelu\""),
    MUST("position_embedding_type", "\"absolute\"", "\"absolute\""),
    MUST("tie_word_embeddings", "true", "true"),
    TOKEN("pad", "pad_token_id", "0"),
    PIECE("[MASK]", "mask_id"),
    IGNORE("bert.pooler.**"),
    IGNORE("bert.embeddings.position_ids"),
    IGNORE("cls.seq_relationship.**"),
    IGNORE("cls.predictions.decoder.**"),
    END,
};

static const ImportModel models[] = {
    /* clang-format off */
    {"marian",  {"marian.tfg"},             marian},
    {"bart",    {"bart.tfg", "marian.tfg"}, bart},
    {"t5",      {"t5.tfg"},                 t5},
    {"gpt2",    {"gpt2.tfg", "gpt.tfg"},    gpt2},
    {"llama",   {"llama.tfg"},              llama},
    {"mistral", {"llama.tfg"},              mistral},
    {"qwen2",   {"llama.tfg"},              qwen2},
    {"bert",    {"bert.tfg"},               bert},
    /* clang-format on */
};
enum { N_MODELS = sizeof models / sizeof models[0] };

const ImportModel *import_model(Job *job, const char *type)
{
    Text known = {0};
    for (int i = 0; i < N_MODELS; i++) {
        if (!strcmp(models[i].type, type)) {
            text_free(&known);
            return &models[i];
        }
        text_add(&known, "%s%s", i ? ", " : "", models[i].type);
    }
    job_error(
        job,
        "the model_type is '%s'; those that are read are %s. Another one is a model of its own: "
        "a .tfg with a weights block (docs/language.md) reads its safetensors by --weights",
        type, known.data);
    text_free(&known);
    return NULL;
}
