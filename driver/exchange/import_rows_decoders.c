/* Language models, by the keys of their config.json. */
#include "driver/exchange/import_rows.h"

const ImportRow import_rows_gpt2[] = {
    CONST("vocab_size", "vocab", "50257"),
    CONST("n_positions", "context", "1024"),
    CONST("n_embd", "d_model", "768"),
    CONST("n_layer", "layers", "12"),
    CONST("n_head", "heads", "12"),
    CONST("n_inner", "d_ff", "null"),
    /* other names, by which transformers sets the same */
    SAME("hidden_size", "n_embd"),
    SAME("max_position_embeddings", "n_positions"),
    SAME("num_attention_heads", "n_head"),
    SAME("num_hidden_layers", "n_layer"),
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
 * by rope_scaling, which newer files call rope_parameters; "dynamic" changes nothing up to
 * max_position_embeddings, which texts do not pass. */
#define LLAMA_ROWS(size, width, inner, depth, n_heads, key_heads, head, longest, eps, theta,      \
                   is_tied)                                                                       \
    CONST("vocab_size", "vocab", size), CONST("hidden_size", "d_model", width),                   \
        CONST("intermediate_size", "d_ff", inner), CONST("num_hidden_layers", "layers", depth),   \
        CONST("num_attention_heads", "heads", n_heads),                                           \
        CONST("num_key_value_heads", "kv_heads", key_heads), CONST("head_dim", "d_k", head),      \
        CONST("max_position_embeddings", "context", longest),                                     \
        CONST("rms_norm_eps", "norm_eps", eps), KEY("rope_theta", theta),                         \
        CONST("tie_word_embeddings", "tied", is_tied), KEY("rope_scaling.type", "null"),          \
        KEY("rope_scaling.rope_type", "=rope_scaling.type"),                                      \
        MUST("rope_parameters.rope_type",                                                         \
             "[null, \"default\", \"linear\", \"dynamic\", \"yarn\", \"llama3\", \"longrope\"]",  \
             "=rope_scaling.rope_type"),                                                          \
        CONST("rope_parameters.rope_type", "rope_type", NULL),                                    \
        CONST("rope_parameters.rope_theta", "rotary_base", "=rope_theta"),                        \
        SCALING("factor", "rope_factor", "null"), SCALING("low_freq_factor", "rope_low", "null"), \
        SCALING("high_freq_factor", "rope_high", "null"),                                         \
        SCALING("beta_fast", "rope_fast", "null"), SCALING("beta_slow", "rope_slow", "null"),     \
        SCALING("attention_factor", "rope_scale", "null"),                                        \
        SCALING("mscale", "rope_mscale", "null"),                                                 \
        SCALING("mscale_all_dim", "rope_mscale_all", "null"),                                     \
        SCALING("original_max_position_embeddings", "rope_context", "=max_position_embeddings"),  \
        KEY("rope_scaling.short_factor", "null"), KEY("rope_scaling.long_factor", "null"),        \
        FACTORS("rope_parameters.short_factor", "short_factors", "=rope_scaling.short_factor"),   \
        FACTORS("rope_parameters.long_factor", "long_factors", "=rope_scaling.long_factor"),      \
        SCALING("truncate", "rope_truncated", "true"), IGNORE("**.rotary_emb.inv_freq"),          \
        IGNORE("lm_head.weight"),                                                                 \
        IGNORE("rope_freqs.weight") /* a GGUF's: import_gguf.c reads it */
#define SCALING(key, to, absent) \
    KEY("rope_scaling." key, absent), CONST("rope_parameters." key, to, "=rope_scaling." key)
#define TOKENS(begin, end) TOKEN("begin", "bos_token_id", begin), TOKEN("end", "eos_token_id", end)
#define SILU MUST("hidden_act", "[\"silu\", \"swish\"]", "\"silu\"")
#define BIASES \
    CONST("attention_bias", "biased", "false"), CONST("attention_bias", "output_biased", NULL)
#define NO_BIASES MUST("attention_bias", "false", "false")
#define INNER_BIASES CONST("mlp_bias", "inner_biased", "false")
/* in the last layers, if at all */
#define LATE_WINDOW                                                                              \
    CONST("use_sliding_window", "windowed", "false"), CONST("sliding_window", "window", "4096"), \
        KEY("max_window_layers", "28"),                                                          \
        FROM_LAYER("layer_types", "window_from", "=max_window_layers")

const ImportRow import_rows_llama[] = {
    LLAMA_ROWS("32000", "4096", "11008", "32", "32", "=num_attention_heads", "null", "2048", "1e-6",
               "10000", "false"),
    TOKENS("1", "2"),
    SILU,
    BIASES,
    INNER_BIASES,
    END,
};
const ImportRow import_rows_mistral[] = {
    LLAMA_ROWS("32000", "4096", "14336", "32", "32", "8", "null", "131072", "1e-6", "10000",
               "false"),
    TOKENS("1", "2"),
    SILU,
    CONST("sliding_window", "window", "4096"),
    END,
};
const ImportRow import_rows_qwen2[] = {
    LLAMA_ROWS("151936", "4096", "22016", "32", "32", "32", "null", "32768", "1e-6", "10000",
               "false"),
    TOKENS("1", "2"),
    SILU,
    FIXED("biased", "true"),
    LATE_WINDOW,
    END,
};
const ImportRow import_rows_qwen3[] = {
    LLAMA_ROWS("151936", "4096", "22016", "32", "32", "32", "128", "32768", "1e-6", "10000",
               "false"),
    TOKENS("1", "2"),
    SILU,
    FIXED("query_norm", "\"head\""),
    BIASES,
    LATE_WINDOW,
    END,
};
const ImportRow import_rows_smollm3[] = {
    LLAMA_ROWS("128256", "2048", "11008", "36", "16", "4", "null", "32768", "1e-6", "2000000",
               "true"),
    TOKENS("128000", "128001"),
    SILU,
    BIASES,
    INNER_BIASES,
    KEY("no_rope_layer_interval", "4"),
    LAYERS("no_rope_layers", "unturned_every", "=no_rope_layer_interval"),
    MUST("use_sliding_window", "false", "false"),
    KEY("sliding_window", "null"),
    KEY("max_window_layers", "null"),
    LAYERS("layer_types", "window_every", "1"),
    END,
};
const ImportRow import_rows_phi3[] = {
    KEY("original_max_position_embeddings", "=max_position_embeddings"), /* of the type longrope */
    KEY("rope_scaling.original_max_position_embeddings", "=original_max_position_embeddings"),
    LLAMA_ROWS("32064", "3072", "8192", "32", "32", "=num_attention_heads", "null", "4096", "1e-5",
               "10000", "false"),
    TOKENS("1", "32000"),
    SILU,
    FIXED("merged", "true"),
    CONST("sliding_window", "window", "null"),
    CONST("partial_rotary_factor", "rotary_part", "=rope_parameters.partial_rotary_factor"),
    KEY("rope_parameters.partial_rotary_factor", "1"),
    NO_BIASES,
    END,
};
const ImportRow import_rows_olmo2[] = {
    LLAMA_ROWS("50304", "4096", "11008", "32", "32", "=num_attention_heads", "null", "2048", "1e-5",
               "10000", "false"),
    TOKENS("null", "50279"),
    SILU,
    FIXED("norms", "\"after\""),
    FIXED("query_norm", "\"whole\""),
    BIASES,
    END,
};

/* What Gemma 1, 2 and 3 share. A hidden_activation that is null means the same function;
 * hidden_act is an older key, which nobody reads. */
#define GEMMA                                                                                \
    TOKENS("2", "1"), KEY("hidden_act", "null"), KEY("activation", "\"gelu_pytorch_tanh\""), \
        ACTIVATION("hidden_activation", "=activation"), FIXED("norm_offset", "1"),           \
        FIXED("embedding_scale", "d_model ^ 0.5"), NO_BIASES
/* What those share that have windows in some layers. */
#define GEMMA_WINDOWS(cap, last_cap)                                                              \
    FIXED("norms", "\"both\""),                                                                   \
        CONST_WITH("query_pre_attn_scalar", "query_scale", "256", " ^ -0.5"),                     \
        CONST("sliding_window", "window", "4096"), SAME("sliding_window_size", "sliding_window"), \
        CONST("attn_logit_softcapping", "score_cap", cap),                                        \
        CONST("final_logit_softcapping", "logit_cap", last_cap)
const ImportRow import_rows_gemma[] = {
    LLAMA_ROWS("256000", "3072", "24576", "28", "16", "16", "256", "8192", "1e-6", "10000", "true"),
    GEMMA,
    END,
};
const ImportRow import_rows_gemma2[] = {
    LLAMA_ROWS("256000", "2304", "9216", "26", "8", "4", "256", "8192", "1e-6", "10000", "true"),
    GEMMA,
    GEMMA_WINDOWS("50", "30"),
    LAYERS("layer_types", "window_every", "2"),
    END,
};
const ImportRow import_rows_gemma3[] = {
    /* as newer files say it, for each kind of layer; before LLAMA's rows of the same keys */
    KEY("rope_parameters.full_attention.rope_theta", "1000000"),
    KEY("rope_parameters.full_attention.rope_type", "null"),
    KEY("rope_parameters.full_attention.factor", "null"),
    KEY("rope_scaling.type", "=rope_parameters.full_attention.rope_type"),
    KEY("rope_scaling.factor", "=rope_parameters.full_attention.factor"),
    KEY("rope_parameters.sliding_attention.rope_theta", "10000"),
    MUST("rope_parameters.sliding_attention.rope_type", "[null, \"default\"]", "null"),
    LLAMA_ROWS("262208", "2304", "9216", "26", "8", "4", "256", "131072", "1e-6",
               "=rope_parameters.full_attention.rope_theta", "true"),
    GEMMA,
    GEMMA_WINDOWS("null", "null"),
    FIXED("query_norm", "\"head\""),
    CONST("rope_local_base_freq", "window_base", "=rope_parameters.sliding_attention.rope_theta"),
    KEY("sliding_window_pattern", "6"),
    LAYERS("layer_types", "window_every", "=sliding_window_pattern"),
    END,
};
