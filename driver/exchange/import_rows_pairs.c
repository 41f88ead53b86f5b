/* Encoder-decoders, by the keys of their config.json. */
#include "driver/exchange/import_rows.h"

/* What Marian, BART and their kin share. A translation begins with what is forced, if anything is:
 * of many languages the token of its own. */
#define SEQ2SEQ_ROWS                                                                               \
    CONST("d_model", "d_model", "1024"), CONST("encoder_layers", "encoder_layers", "12"),          \
        CONST("decoder_layers", "decoder_layers", "12"), CONST("encoder_ffn_dim", "d_ff", "4096"), \
        CONST("decoder_ffn_dim", "decoder_d_ff", "=encoder_ffn_dim"),                              \
        CONST("encoder_attention_heads", "heads", "16"),                                           \
        CONST("decoder_attention_heads", "decoder_heads", "=encoder_attention_heads"),             \
        SAME("hidden_size", "d_model"), SAME("num_attention_heads", "encoder_attention_heads"),    \
        CONST("dropout", "p_drop", "0.1"), ACTIVATION("activation_function", "\"gelu\""),          \
        TOKEN("first", "forced_bos_token_id", "null")

const ImportRow import_rows_marian[] = {
    CONST("vocab_size", "vocab", "58101"),
    SAME("decoder_vocab_size", "vocab_size"),
    MUST("add_bias_logits", "false", "false"),
    SEQ2SEQ_ROWS,
    KEY("max_position_embeddings", "1024"), /* positions are computed */
    KEY("extra_pos_embeddings", "null"),
    CONST("scale_embedding", "scaled", "false"),
    MUST("normalize_before", "false", "false"),
    MUST("normalize_embedding", "false", "false"),
    MUST("add_final_layer_norm", "false", "false"),
    MUST("static_position_embeddings", "true", "true"),
    MUST("share_encoder_decoder_embeddings", "true", "true"),
    MUST("tie_word_embeddings", "true", "true"),
    TOKEN("begin", "decoder_start_token_id", "58100"),
    TOKEN("end", "eos_token_id", "0"),
    TOKEN("pad", "pad_token_id", "58100"),
    CONST("pad_token_id", "absent", "58100"), /* which Marian does not have */
    /* of what Marian itself wrote (import_marian.c) */
    CONST("position_base", "position_base", "null"),
    IGNORE("model.*.embed_positions.weight"),
    END,
};

const ImportRow import_rows_bart[] = {
    CONST("vocab_size", "vocab", "50265"),
    MUST("extra_pos_embeddings", "2", "2"),
    MUST("add_bias_logits", "false", "false"),
    CONST("max_position_embeddings", "context", "1024"),
    SEQ2SEQ_ROWS,
    CONST("scale_embedding", "scaled", "false"),
    MUST("normalize_before", "false", "false"),
    MUST("normalize_embedding", "true", "true"),
    MUST("add_final_layer_norm", "false", "false"),
    MUST("static_position_embeddings", "false", "false"),
    MUST("tie_word_embeddings", "true", "true"),
    TOKEN("begin", "decoder_start_token_id", "2"),
    TOKEN("end", "eos_token_id", "2"),
    KEY("bos_token_id", "0"), /* of the old way to force it */
    TOKEN("pad", "pad_token_id", "1"),
    END,
};

/* What mBART and M2M-100 share. */
#define LANGUAGES                                                                                 \
    SEQ2SEQ_ROWS, CONST("scale_embedding", "scaled", "false"),                                    \
        MUST("tie_word_embeddings", "true", "true"),                                              \
        MUST("static_position_embeddings", "false", "false"),                                     \
        MUST("add_bias_logits", "false", "false"), TOKEN("begin", "decoder_start_token_id", "2"), \
        TOKEN("end", "eos_token_id", "2"), TOKEN("pad", "pad_token_id", "1")

const ImportRow import_rows_mbart[] = {
    CONST("vocab_size", "vocab", "50265"),
    CONST("max_position_embeddings", "context", "1024"),
    LANGUAGES,
    MUST("normalize_before", "true", "true"),
    MUST("normalize_embedding", "true", "true"),
    MUST("add_final_layer_norm", "true", "true"),
    MUST("extra_pos_embeddings", "2", "2"),
    END,
};

const ImportRow import_rows_m2m_100[] = {
    CONST("vocab_size", "vocab", "128112"),
    KEY("max_position_embeddings", "1024"), /* positions are computed */
    LANGUAGES,
    MUST("normalize_before", "true", "true"),
    MUST("normalize_embedding", "false", "false"),
    MUST("add_final_layer_norm", "true", "true"),
    IGNORE("model.*.embed_positions.**"),
    END,
};

/* T5, and mT5, which is T5 1.1 in all languages. */
#define T5_ROWS(size, inner, depth, n_heads, feed_forward, is_tied)                              \
    CONST("vocab_size", "vocab", size), CONST("d_model", "d_model", "512"),                      \
        CONST("d_kv", "d_kv", "64"), CONST("d_ff", "d_ff", inner),                               \
        CONST("num_layers", "encoder_layers", depth),                                            \
        CONST("num_decoder_layers", "decoder_layers", "=num_layers"),                            \
        CONST("num_heads", "heads", n_heads), SAME("hidden_size", "d_model"),                    \
        SAME("num_attention_heads", "num_heads"), SAME("num_hidden_layers", "num_layers"),       \
        CONST("relative_attention_num_buckets", "buckets", "32"),                                \
        CONST("relative_attention_max_distance", "longest", "128"),                              \
        CONST("dropout_rate", "p_drop", "0.1"), CONST("layer_norm_epsilon", "norm_eps", "1e-6"), \
        MUST("feed_forward_proj", "[\"relu\", \"gated-gelu\"]", feed_forward),                   \
        FLAG("feed_forward_proj", "gated", "\"gated-gelu\"", NULL), KEY("is_gated_act", "null"), \
        KEY("dense_act_fn", "null"), /* of feed_forward_proj */                                  \
        CONST("tie_word_embeddings", "tied", is_tied),                                           \
        CONST("scale_decoder_outputs", "scaled_output", "=tie_word_embeddings"),                 \
        TOKEN("begin", "decoder_start_token_id", "=pad_token_id"),                               \
        TOKEN("first", "forced_bos_token_id", "null"), TOKEN("end", "eos_token_id", "1"),        \
        TOKEN("pad", "pad_token_id", "0"),                                                       \
        IGNORE("decoder.block.0.layer.1.EncDecAttention.relative_attention_bias.weight")

const ImportRow import_rows_t5[] = {T5_ROWS("32128", "2048", "6", "8", "\"relu\"", "true"), END};
const ImportRow import_rows_mt5[] = {T5_ROWS("250112", "1024", "8", "6", "\"gated-gelu\"", "false"),
                                     END};
