/* Which keys of a config.json may be left unread. */
#include "driver/exchange/import_keys.h"

#include <string.h>

/* Keys that do not change logits, by their meaning in transformers' documentation of
 * PretrainedConfig and of the configuration classes. A pattern ends in *. */
static const char *const harmless[] = {
    /* what the file is and who wrote it */
    "_*",
    "architectures",
    "auto_map",
    "dtype",
    "finetuning_task",
    "is_llama_config",
    "language",
    "model_type",
    "name",
    "name_or_path",
    "tokenizer_class",
    "torch_dtype",
    "transformers.js_config",
    "transformers_version",
    "unsloth_*",
    /* how Python computes it */
    "attn_implementation",
    "cache_implementation",
    "chunk_size_feed_forward",
    "gradient_checkpointing",
    "output_attentions",
    "output_hidden_states",
    "pretraining_tp",
    "return_dict*",
    "torchscript",
    "use_bfloat16",
    "use_cache",
    "use_flash_attn",
    /* heads that are no language model's, and their labels */
    "classif*_dropout",
    "directionality",
    "id2label",
    "label2id",
    "num_labels",
    "pooler_*",
    "problem_type",
    "qa_dropout",
    "seq_classif_dropout",
    "summary_*",
    "task_specific_params",
    /* initial values, and noise in training that the models do not have */
    "activation_dropout",
    "attention_dropout",
    "attn_pdrop",
    "classifier_dropout*",
    "classif_dropout",
    "decoder_layerdrop",
    "dropout_rate*",
    "embd_pdrop",
    "encoder_layerdrop",
    "init_std",
    "initializer_*",
    "output_past",
    "resid_pdrop",
    "tie_weights_",
    "sinusoidal_pos_embds",
    /* tokens, where the model has no rule for them, and settings of generation (tfc's options) */
    "*_token_id",
    "bad_words_ids",
    "begin_suppress_tokens",
    "diversity_penalty",
    "do_sample",
    "early_stopping",
    "encoder_no_repeat_ngram_size",
    "force_bos_token_to_be_generated",
    "forced_*",
    "is_encoder_decoder",
    "length_penalty",
    "max_length",
    "max_new_tokens",
    "min_length",
    "no_repeat_ngram_size",
    "num_beam_groups",
    "num_beams",
    "num_return_sequences",
    "penalty_alpha",
    "prefix",
    "renormalize_logits",
    "repetition_penalty",
    "suppress_tokens",
    "temperature",
    "top_k",
    "top_p",
    "typical_p",
    /* the sizes of others again */
    "n_ctx",
    "n_special",
    "predict_special_tokens",
    "num_hidden_layers",
    "n_positions",
    "tie_word_embeddings",
};
enum { N_HARMLESS = sizeof harmless / sizeof harmless[0] };

/* * in a pattern is any text; there is at most one. */
static bool fits(const char *pattern, const char *key)
{
    const char *star = strchr(pattern, '*');
    if (!star)
        return !strcmp(pattern, key);
    const size_t before = (size_t)(star - pattern), behind = strlen(star + 1), n = strlen(key);
    return n >= before + behind && !strncmp(pattern, key, before) &&
           !strcmp(star + 1, key + n - behind);
}

static bool is_harmless(const char *key)
{
    for (int i = 0; i < N_HARMLESS; i++)
        if (fits(harmless[i], key))
            return true;
    return false;
}

/* Whether a row reads the key itself, or a member of it. */
static bool is_read(const ImportModel *model, const char *key, bool *inside)
{
    const size_t n = strlen(key);
    bool read = *inside = false;
    for (const ImportRow *row = model->rows; row->key; row++) {
        if (!import_row_has_key(row))
            continue;
        read =
            read || !strcmp(row->key, key) || (row->kind == IMPORT_SAME && !strcmp(row->to, key));
        *inside = *inside || (!strncmp(row->key, key, n) && row->key[n] == '.');
    }
    return read;
}

/* What is switched off. */
static bool is_nothing(const JsonValue *value)
{
    const bool is_empty = (value->kind == JV_LIST || value->kind == JV_OBJECT) && !value->n;
    return is_empty || value->kind == JV_NULL || value->kind == JV_FALSE;
}

/* `front`: of the keys of an object within, "rope_scaling.". */
static bool check_object(Job *job, const Source *config, const JsonValue *object,
                         const ImportModel *model, const char *front)
{
    bool ok = true, inside;
    for (size_t i = 0; i < object->n; i++) {
        const JsonValue *value = &object->items[i];
        const char *key = arena_printf(job->arena, "%s%s", front, object->keys[i]);
        if (is_nothing(value) || is_read(model, key, &inside) || (!*front && is_harmless(key)))
            continue;
        if (inside && value->kind == JV_OBJECT) {
            ok =
                check_object(job, config, value, model, arena_printf(job->arena, "%s.", key)) && ok;
            continue;
        }
        diag_error(
            &job->diags, (Loc){.source = config},
            "nobody here knows what \"%s\" says of models/%s: if it does not change what the "
            "model computes, remove it from config.json",
            key, model->files[0]);
        ok = false;
    }
    return ok;
}

bool import_keys_check(Job *job, const Source *config, const JsonValue *json,
                       const ImportModel *model)
{
    return json->kind != JV_OBJECT || check_object(job, config, json, model, "");
}
