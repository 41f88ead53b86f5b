/* Language models, by the keys of their config.json. */
#include "driver/exchange/import_rows.h"

const ImportRow import_rows_gpt2[] = {
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

const ImportRow import_rows_llama[] = {
    LLAMA_ROWS("32000", "2048", "11008", "=num_attention_heads"),
    CONST("attention_bias", "biased", "false"),
    CONST("attention_bias", "output_biased", NULL),
    MUST("mlp_bias", "false", "false"),
    END,
};
const ImportRow import_rows_mistral[] = {
    LLAMA_ROWS("32000", "131072", "14336", "8"),
    MUST("sliding_window", "null", "4096"),
    END,
};
const ImportRow import_rows_qwen2[] = {
    LLAMA_ROWS("151936", "32768", "22016", "32"),
    FLAG("model_type", "biased", "\"qwen2\"", NULL),
    MUST("use_sliding_window", "false", "false"),
    KEY("sliding_window", "null"), /* it is not used */
    KEY("max_window_layers", "null"),
    END,
};
