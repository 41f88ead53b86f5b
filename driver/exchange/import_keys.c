/* Which keys of a config.json may be left unread. */
#include "driver/exchange/import_config.h"

#include "driver/exchange/import_json.h"

#include <ctype.h>
#include <fnmatch.h>
#include <string.h>

/* Keys that do not change logits, by their meaning in transformers' documentation of
 * PretrainedConfig and of the configuration classes; patterns, in which * is any text. */
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
    "deterministic_flash_attn",
    "dropout_rate*",
    "embd_pdrop",
    "encoder_layerdrop",
    "init_std",
    "initializer_*",
    "output_past",
    "resid_pdrop",
    "reorder_and_upcast_attn",
    "tie_weights_",
    "sinusoidal_pos_embds",
    "sparse_prediction",
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

/* ImportUsed: a key by which classes of transformers compute (PretrainedConfig, the configuration
 * and model classes, modeling_rope_utils), and no row of ours reads.
 *   types     the model_types of the classes, each between blanks; NULL: all
 *   key       a pattern
 *   harmless  the JSON value that means what our model computes, or a list of such; NULL: none
 *             does, but what is false, null or empty */
typedef struct ImportUsed {
    const char *types, *key, *harmless;
} ImportUsed;

#define QUANTIZED "quantization_config"
#define LLAMAS " llama mistral qwen2 qwen3 smollm3 phi3 olmo2 gemma gemma2 gemma3_text modernbert "
static const ImportUsed used[] = {
    {NULL, QUANTIZED, NULL},
    {NULL, "pruned_heads", NULL},
    {" bert roberta xlm-roberta gpt2 ", "add_cross_attention", NULL},
    {" marian bart mbart m2m_100 t5 mt5 ", "tie_encoder_decoder", NULL},
    {" bart mbart ", "do_blenderbot_90_layernorm", NULL},
    {" gemma gemma2 gemma3_text ", "use_bidirectional_attention", NULL},
    {LLAMAS, "partial_rotary_factor", "1"},
    {LLAMAS, "rope_*.partial_rotary_factor", "1"},
    {LLAMAS, "rope_*.rope_theta", NULL},
    {LLAMAS, "rope_*.rope_type", "\"default\""},
    {LLAMAS, "rope_*.*factor*", NULL},
    {LLAMAS, "rope_*.beta_*", NULL},
    {LLAMAS, "rope_*.mscale*", NULL},
    {LLAMAS, "rope_*.truncate", "true"},
    {LLAMAS, "rope_*.original_max_position_embeddings", NULL},
};
enum { N_USED = sizeof used / sizeof used[0] };

static bool is_harmless(const char *key)
{
    for (int i = 0; i < N_HARMLESS; i++)
        if (!fnmatch(harmless[i], key, 0))
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

/* ---- keys that no row reads ---- */

typedef struct KeyCheck {
    Job *job;
    const Source *config;
    const ImportModel *model;
    bool is_foreign; /* the folder names a class that is none of transformers' of the model_type */
    Text unknown;    /* keys by which nothing computes */
} KeyCheck;

static bool is_of_type(const char *types, const char *type)
{
    const size_t n = strlen(type);
    const char *at = types ? strstr(types, type) : NULL;
    while (at && (at[-1] != ' ' || at[n] != ' '))
        at = strstr(at + 1, type);
    return !types || at;
}

/* The row of a key by which the model's class computes; NULL: it has none. */
static const ImportUsed *find_used(const ImportModel *model, const char *key)
{
    for (int i = 0; i < N_USED; i++)
        if (is_of_type(used[i].types, model->type) && !fnmatch(used[i].key, key, 0))
            return &used[i];
    return NULL;
}

/* Whether a class is named after the model_type: letters and digits alike, up to "_text". */
static bool is_named_after(const char *class_name, const char *type)
{
    for (; *type && strcmp(type, "_text") != 0; type++) {
        if (!isalnum((unsigned char)*type))
            continue;
        if (tolower((unsigned char)*class_name++) != tolower((unsigned char)*type))
            return false;
    }
    return true;
}

/* Whether the folder brings the code of its model, or names a class of another model. */
static bool is_foreign(const JsonValue *json, const char *type)
{
    const JsonValue *code = json_member(json, "auto_map"),
                    *names = json_member(json, "architectures");
    for (size_t i = 0; code && code->kind == JV_OBJECT && i < code->n; i++)
        if (!strncmp(code->keys[i], "AutoModel", strlen("AutoModel")))
            return true;
    return names && names->kind == JV_LIST && names->n && names->items->kind == JV_STRING &&
           !is_named_after(names->items->text, type);
}

/* An error at the file; false. */
static bool refuse_key(const KeyCheck *c, const char *key, const char *problem)
{
    diag_error(&c->job->diags, (Loc){.source = c->config}, "\"%s\" %s", key, problem);
    return false;
}

/* Weights that were packed: by what, and what to do. */
static bool refuse_packed(const KeyCheck *c, const JsonValue *value)
{
    static const struct {
        const char *method, *name;
        bool unpacks; /* transformers' dequantize gives its weights as floats */
    } methods[] = {{"gptq", "GPTQ", false},
                   {"awq", "AWQ", false},
                   {"bitsandbytes", "bitsandbytes", true},
                   {"fp8", "FP8", true},
                   {"mxfp4", "MXFP4", true}};
    const char *said = json_member_text(value, "quant_method");
    const bool is_older = !said && (json_member(value, "load_in_4bit") || /* of bitsandbytes */
                                    json_member(value, "load_in_8bit"));
    const char *method = is_older ? "bitsandbytes" : said ? said : "some method";
    const char *name = text_visible_name(c->job->arena, method);
    bool unpacks = false;
    for (size_t i = 0; i < sizeof methods / sizeof *methods; i++)
        if (!strcmp(methods[i].method, method)) {
            name = methods[i].name;
            unpacks = methods[i].unpacks;
        }
    return refuse_key(c, QUANTIZED,
                      arena_printf(c->job->arena,
                                   "says that %s has packed the weights, which tfc does not read: "
                                   "import the folder that they were packed from, or a GGUF of "
                                   "it%s",
                                   name,
                                   unpacks ? ", or unpack them first (transformers: "
                                             "model.dequantize(), then model.save_pretrained)"
                                           : ""));
}

static bool check_used(const KeyCheck *c, const ImportUsed *row, const char *key,
                       const JsonValue *value)
{
    const JsonValue *harmless_value =
        row->harmless ? import_json_parse(c->job, row->harmless) : NULL;
    return (harmless_value && import_json_is_one_of(c->job, value, harmless_value)) ||
           refuse_key(c, key,
                      arena_printf(c->job->arena,
                                   "is %s: %s in transformers computes by it, and models/%s does "
                                   "not",
                                   import_json_text(c->job, value), c->model->type,
                                   c->model->files[0]));
}

static bool check_unread(KeyCheck *c, const char *key, const JsonValue *value)
{
    const ImportUsed *row = find_used(c->model, key);
    if (!strcmp(key, QUANTIZED))
        return refuse_packed(c, value);
    if (row)
        return check_used(c, row, key, value);
    if (c->is_foreign)
        return refuse_key(c, key,
                          arena_printf(c->job->arena,
                                       "may change what the model's own class computes, and "
                                       "models/%s does not read it: if it changes nothing, remove "
                                       "it from config.json",
                                       c->model->files[0]));
    text_add(&c->unknown, "%s\"%s\"", c->unknown.length ? ", " : "",
             text_visible_name(c->job->arena, key));
    return true;
}

/* `front`: of the keys of an object within, "rope_scaling.". */
static bool check_object(KeyCheck *c, const JsonValue *object, const char *front)
{
    bool ok = true, inside;
    for (size_t i = 0; i < object->n; i++) {
        const JsonValue *value = &object->items[i];
        const char *key = arena_printf(c->job->arena, "%s%s", front, object->keys[i]);
        if (is_nothing(value) || is_read(c->model, key, &inside) || (!*front && is_harmless(key)))
            continue;
        if (!inside)
            ok = check_unread(c, key, value) && ok;
        else if (value->kind == JV_OBJECT)
            ok = check_object(c, value, arena_printf(c->job->arena, "%s.", key)) && ok;
        else
            ok = refuse_key(c, key,
                            arena_printf(c->job->arena, "is %s: expected an object",
                                         import_json_text(c->job, value)));
    }
    return ok;
}

bool import_keys_check(Job *job, const Source *config, const JsonValue *json,
                       const ImportModel *model)
{
    if (json->kind != JV_OBJECT)
        return true;
    KeyCheck check = {
        .job = job, .config = config, .model = model, .is_foreign = is_foreign(json, model->type)};
    const bool ok = check_object(&check, json, "");
    const bool several = check.unknown.length && strstr(check.unknown.data, ", ");
    if (ok && check.unknown.length)
        diag_warning(&job->diags, (Loc){.source = config},
                     "%s %s left unread: no class of %s in transformers is known to compute by %s",
                     check.unknown.data, several ? "are" : "is", model->type,
                     several ? "them" : "it");
    text_free(&check.unknown);
    return ok;
}
