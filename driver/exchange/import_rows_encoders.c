/* Encoders, by the keys of their config.json: with a head, which finds hidden tokens, or without
 * one, to make vectors of texts. */
#include "driver/exchange/import_rows.h"

/* What BERT, RoBERTa and ALBERT share. */
#define BERT_ROWS(size, width, inner, depth, n_heads, context_, eps, dropped, pad)              \
    CONST("vocab_size", "vocab", size), CONST("hidden_size", "d_model", width),                 \
        CONST("intermediate_size", "d_ff", inner), CONST("num_hidden_layers", "layers", depth), \
        CONST("num_attention_heads", "heads", n_heads),                                         \
        CONST("max_position_embeddings", "context", context_),                                  \
        CONST("type_vocab_size", "segments", "2"), CONST("layer_norm_eps", "norm_eps", eps),    \
        CONST("hidden_dropout_prob", "p_drop", dropped),                                        \
        CONST("attention_probs_dropout_prob", "p_attention", dropped),                          \
        MUST("position_embedding_type", "\"absolute\"", "\"absolute\""),                        \
        MUST("is_decoder", "false", "false"), MUST("tie_word_embeddings", "true", "true"),      \
        TOKEN("pad", "pad_token_id", pad)
#define BERT                                                                              \
    BERT_ROWS("30522", "768", "3072", "12", "12", "512", "1e-12", "0.1", "0"),            \
        ACTIVATION("hidden_act", "\"gelu\""), FRONT("bert.", "front"),                    \
        IGNORE("**.embeddings.position_ids"), IGNORE("embeddings.position_ids"),          \
        IGNORE("bert.pooler.**"), IGNORE("pooler.**"), IGNORE("cls.seq_relationship.**"), \
        IGNORE("cls.predictions.decoder.**")
#define ROBERTA                                                                                    \
    BERT_ROWS("50265", "768", "3072", "12", "12", "512", "1e-12", "0.1", "1"),                     \
        CONST_WITH("pad_token_id", "first_position", NULL, " + 1"),                                \
        MUST("hidden_act", "[\"gelu\", \"gelu_python\"]", "\"gelu\""), FRONT("roberta.", "front"), \
        IGNORE("**.embeddings.position_ids"), IGNORE("embeddings.position_ids"),                   \
        IGNORE("roberta.pooler.**"), IGNORE("pooler.**"), IGNORE("lm_head.decoder.**")
#define DISTILBERT                                                                                 \
    FIXED("names", "\"distilbert\""), CONST("vocab_size", "vocab", "30522"),                       \
        CONST("dim", "d_model", "768"), CONST("hidden_dim", "d_ff", "3072"),                       \
        CONST("n_layers", "layers", "6"), CONST("n_heads", "heads", "12"),                         \
        SAME("hidden_size", "dim"), SAME("num_attention_heads", "n_heads"),                        \
        SAME("num_hidden_layers", "n_layers"), CONST("max_position_embeddings", "context", "512"), \
        FIXED("norm_eps", "1e-12"), CONST("dropout", "p_drop", "0.1"),                             \
        CONST("attention_dropout", "p_attention", "0.1"), ACTIVATION("activation", "\"gelu\""),    \
        MUST("tie_word_embeddings", "true", "true"), MUST("is_decoder", "false", "false"),         \
        TOKEN("pad", "pad_token_id", "0"), FRONT("distilbert.", "front"),                          \
        IGNORE("vocab_projector.weight")
#define ALBERT                                                                               \
    FIXED("names", "\"albert\""), FIXED("one_layer", "true"),                                \
        BERT_ROWS("30000", "4096", "16384", "12", "64", "512", "1e-12", "0", "0"),           \
        CONST("embedding_size", "d_embedding", "128"), MUST("num_hidden_groups", "1", "1"),  \
        MUST("inner_group_num", "1", "1"), ACTIVATION("hidden_act", "\"gelu_new\""),         \
        KEY("net_structure_type", "0"), KEY("gap_size", "0"), KEY("num_memory_blocks", "0"), \
        KEY("down_scale_factor", "1"), /* Google's, which nobody reads */                    \
        FRONT("albert.", "front"), IGNORE("**.embeddings.position_ids"),                     \
        IGNORE("embeddings.position_ids"), IGNORE("albert.pooler.**"), IGNORE("pooler.**"),  \
        IGNORE("predictions.decoder.**"), IGNORE("sop_classifier.**")

#define MODERN_ROPE(layers) "rope_parameters." layers "_attention."
#define MODERNBERT                                                                              \
    CONST("vocab_size", "vocab", "50368"), CONST("hidden_size", "d_model", "768"),              \
        CONST("intermediate_size", "d_ff", "1152"), CONST("num_hidden_layers", "layers", "22"), \
        CONST("num_attention_heads", "heads", "12"),                                            \
        CONST("max_position_embeddings", "context", "8192"),                                    \
        CONST("norm_eps", "norm_eps", "1e-5"), CONST("embedding_dropout", "p_drop", "0"),       \
        CONST("attention_dropout", "p_attention", "0"), CONST("mlp_dropout", "p_inner", "0"),   \
        FROM_FIRST("layer_types", "full_every", "=global_attn_every_n_layers"),                 \
        KEY("global_attn_every_n_layers", "3"),                                                 \
        CONST_WITH("local_attention", "window", "128", " / 2"),                                 \
        CONST("global_rope_theta", "rotary_base", "=" MODERN_ROPE("full") "rope_theta"),        \
        CONST("local_rope_theta", "window_base", "=" MODERN_ROPE("sliding") "rope_theta"),      \
        KEY(MODERN_ROPE("full") "rope_theta", "160000"),                                        \
        KEY(MODERN_ROPE("sliding") "rope_theta", "10000"),                                      \
        MUST(MODERN_ROPE("full") "rope_type", "\"default\"", "\"default\""),                    \
        MUST(MODERN_ROPE("sliding") "rope_type", "\"default\"", "\"default\""),                 \
        MUST("norm_bias", "false", "false"), MUST("attention_bias", "false", "false"),          \
        MUST("mlp_bias", "false", "false"), ACTIVATION("hidden_activation", "\"gelu\""),        \
        TOKEN("pad", "pad_token_id", "50283"), FRONT("model.", "front"),                        \
        KEY("layer_norm_eps", "null"), /* not read */                                           \
        KEY("position_embedding_type", "null"), KEY("reference_compile", "null"),               \
        KEY("repad_logits_with_grad", "null"), KEY("sparse_pred_ignore_index", "null"),         \
        KEY("classifier_pooling", "null"), IGNORE("decoder.weight")

const ImportRow import_rows_bert[] = {BERT, PIECE("[MASK]", "mask_id"), END};
const ImportRow import_rows_bert_vectors[] = {BERT, IGNORE("cls.predictions.**"), END};
const ImportRow import_rows_roberta[] = {ROBERTA, FIXED("head", "\"roberta\""),
                                         PIECE("<mask>", "mask_id"), END};
const ImportRow import_rows_roberta_vectors[] = {ROBERTA, IGNORE("lm_head.**"), END};
const ImportRow import_rows_distilbert[] = {DISTILBERT, PIECE("[MASK]", "mask_id"), END};
const ImportRow import_rows_distilbert_vectors[] = {DISTILBERT, IGNORE("vocab_**"), END};
const ImportRow import_rows_albert[] = {ALBERT, PIECE("[MASK]", "mask_id"), END};
const ImportRow import_rows_albert_vectors[] = {ALBERT, IGNORE("predictions.**"), END};
/* With heads for classes of texts, or of words. */
#define TAGS                                                                                 \
    LABELS("tags"), MUST("problem_type", "[null, \"single_label_classification\"]", "null"), \
        KEY("num_labels", "null")
#define TEXT_CLASSES                              \
    LABELS("classes"), KEY("num_labels", "null"), \
        MUST("problem_type", "[null, \"single_label_classification\"]", "null")
/* Of several independent labels each has a sigmoid of its own. */
#define INDEPENDENT "\"multi_label_classification\""
#define TEXT_LABELS                               \
    LABELS("classes"), KEY("num_labels", "null"), \
        MUST("problem_type", "[" INDEPENDENT "]", INDEPENDENT)
#define TEXT_SCORES                                                              \
    KEY("id2label", "null"), KEY("num_labels", "null"),                          \
        MUST("problem_type", "[null, \"regression\", " INDEPENDENT "]", "null"), \
        FLAG("problem_type", "probable", INDEPENDENT, NULL)
/* What a cross-encoder's score or classes become is said elsewhere (import_pairs.h). */
#define PAIR_KEYS                                                                                 \
    KEY("num_labels", "null"), KEY("problem_type", "null"), KEY("sentence_transformers", "null"), \
        KEY("sbert_ce_default_activation_function", "null")
#define PAIR_SCORES KEY("id2label", "null"), PAIR_KEYS
#define PAIR_CLASSES LABELS("classes"), PAIR_KEYS
#define BERT_HEAD CONST("classifier_dropout", "p_head", "=hidden_dropout_prob")
#define ROBERTA_HEAD FIXED("head", "\"roberta\""), BERT_HEAD
#define DISTILBERT_HEAD CONST("seq_classif_dropout", "p_head", "0.2")
#define ALBERT_HEAD CONST("classifier_dropout_prob", "p_head", "0.1")
const ImportRow import_rows_bert_scores[] = {BERT, BERT_HEAD, TEXT_SCORES, END};
const ImportRow import_rows_bert_classes[] = {BERT, BERT_HEAD, TEXT_CLASSES, END};
const ImportRow import_rows_bert_labels[] = {BERT, BERT_HEAD, TEXT_LABELS, END};
const ImportRow import_rows_bert_pair_scores[] = {BERT, BERT_HEAD, PAIR_SCORES, END};
const ImportRow import_rows_bert_pair_classes[] = {BERT, BERT_HEAD, PAIR_CLASSES, END};
const ImportRow import_rows_bert_tags[] = {BERT, BERT_HEAD, TAGS, END};
const ImportRow import_rows_roberta_scores[] = {ROBERTA, ROBERTA_HEAD, TEXT_SCORES, END};
const ImportRow import_rows_roberta_classes[] = {ROBERTA, ROBERTA_HEAD, TEXT_CLASSES, END};
const ImportRow import_rows_roberta_labels[] = {ROBERTA, ROBERTA_HEAD, TEXT_LABELS, END};
const ImportRow import_rows_roberta_pair_scores[] = {ROBERTA, ROBERTA_HEAD, PAIR_SCORES, END};
const ImportRow import_rows_roberta_pair_classes[] = {ROBERTA, ROBERTA_HEAD, PAIR_CLASSES, END};
const ImportRow import_rows_roberta_tags[] = {ROBERTA, BERT_HEAD, TAGS, END};
const ImportRow import_rows_distilbert_scores[] = {DISTILBERT, DISTILBERT_HEAD, TEXT_SCORES, END};
const ImportRow import_rows_distilbert_classes[] = {DISTILBERT, DISTILBERT_HEAD, TEXT_CLASSES, END};
const ImportRow import_rows_distilbert_labels[] = {DISTILBERT, DISTILBERT_HEAD, TEXT_LABELS, END};
const ImportRow import_rows_distilbert_pair_scores[] = {DISTILBERT, DISTILBERT_HEAD, PAIR_SCORES,
                                                        END};
const ImportRow import_rows_distilbert_pair_classes[] = {DISTILBERT, DISTILBERT_HEAD, PAIR_CLASSES,
                                                         END};
const ImportRow import_rows_distilbert_tags[] = {DISTILBERT, TAGS, END};
const ImportRow import_rows_albert_scores[] = {ALBERT, ALBERT_HEAD, TEXT_SCORES, END};
const ImportRow import_rows_albert_classes[] = {ALBERT, ALBERT_HEAD, TEXT_CLASSES, END};
const ImportRow import_rows_albert_labels[] = {ALBERT, ALBERT_HEAD, TEXT_LABELS, END};
const ImportRow import_rows_albert_pair_scores[] = {ALBERT, ALBERT_HEAD, PAIR_SCORES, END};
const ImportRow import_rows_albert_pair_classes[] = {ALBERT, ALBERT_HEAD, PAIR_CLASSES, END};
const ImportRow import_rows_albert_tags[] = {ALBERT, ALBERT_HEAD, TAGS, END};

const ImportRow import_rows_modernbert[] = {
    MODERNBERT,
    MUST("tie_word_embeddings", "true", "true"),
    MUST("decoder_bias", "true", "true"),
    MUST("classifier_bias", "false", "false"),
    SAME("classifier_activation", "hidden_activation"),
    PIECE("[MASK]", "mask_id"),
    END,
};
const ImportRow import_rows_modernbert_vectors[] = {
    MODERNBERT,
    KEY("decoder_bias", "null"),
    KEY("classifier_bias", "null"),
    KEY("classifier_activation", "null"),
    IGNORE("head.**"),
    IGNORE("decoder.bias"),
    END,
};

/* The head that classifies; its pooling is read before MODERNBERT passes over it. */
#define MODERN_HEAD                                                                          \
    FIXED("head", "\"modernbert\""), CONST("classifier_pooling", "pooled_by", "\"cls\""),    \
        CONST("classifier_dropout", "p_head", "0"), MODERNBERT, KEY("decoder_bias", "null"), \
        MUST("classifier_bias", "false", "false"),                                           \
        SAME("classifier_activation", "hidden_activation"), IGNORE("decoder.bias")
const ImportRow import_rows_modernbert_scores[] = {MODERN_HEAD, TEXT_SCORES, END};
const ImportRow import_rows_modernbert_classes[] = {MODERN_HEAD, TEXT_CLASSES, END};
const ImportRow import_rows_modernbert_labels[] = {MODERN_HEAD, TEXT_LABELS, END};
