/* Published models by their model_type, and by what their weights have. */
#include "driver/exchange/import_rows.h"

#include <string.h>

#define ROWS(name) import_rows_##name
#define OF_TEXTS "ForSequenceClassification"
#define CLASSES(type, name)                                                                         \
    {type, {"text_scores.tfg"}, ROWS(name##_scores), NULL, GIVES_SCORE, OF_TEXTS, false},           \
        {type, {"text_labels.tfg"}, ROWS(name##_labels), NULL, GIVES_LABELS, OF_TEXTS, false},      \
        {type, {"text_classes.tfg"}, ROWS(name##_classes), NULL, GIVES_OTHER, OF_TEXTS, false},     \
        {type, {"pair_scores.tfg"}, ROWS(name##_pair_scores), NULL, GIVES_SCORE, OF_TEXTS, true},   \
        {type, {"pair_classes.tfg"}, ROWS(name##_pair_classes), NULL, GIVES_OTHER, OF_TEXTS, true}, \
    {                                                                                               \
        type, {"text_tags.tfg"}, ROWS(name##_tags), NULL, GIVES_OTHER, "ForTokenClassification",    \
            false                                                                                   \
    }
static const ImportModel models[] = {
    /* clang-format off */
    {"marian",      {"marian.tfg"},             ROWS(marian),             NULL,                   GIVES_OTHER, NULL, false},
    {"bart",        {"bart.tfg", "marian.tfg"}, ROWS(bart),               NULL,                   GIVES_OTHER, NULL, false},
    {"mbart",       {"mbart.tfg", "m2m_100.tfg"}, ROWS(mbart),            NULL,                   GIVES_OTHER, NULL, false},
    {"m2m_100",     {"m2m_100.tfg"},            ROWS(m2m_100),            NULL,                   GIVES_OTHER, NULL, false},
    {"t5",          {"t5.tfg"},                 ROWS(t5),                 NULL,                   GIVES_OTHER, NULL, false},
    {"mt5",         {"t5.tfg"},                 ROWS(mt5),                NULL,                   GIVES_OTHER, NULL, false},
    {"gpt2",        {"gpt2.tfg", "gpt.tfg"},    ROWS(gpt2),               NULL,                   GIVES_OTHER, NULL, false},
    {"llama",       {"llama.tfg"},              ROWS(llama),              NULL,                   GIVES_OTHER, NULL, false},
    {"mistral",     {"llama.tfg"},              ROWS(mistral),            NULL,                   GIVES_OTHER, NULL, false},
    {"qwen2",       {"llama.tfg"},              ROWS(qwen2),              NULL,                   GIVES_OTHER, NULL, false},
    {"qwen3",       {"llama.tfg"},              ROWS(qwen3),              NULL,                   GIVES_OTHER, NULL, false},
    {"smollm3",     {"llama.tfg"},              ROWS(smollm3),            NULL,                   GIVES_OTHER, NULL, false},
    {"phi3",        {"llama.tfg"},              ROWS(phi3),               NULL,                   GIVES_OTHER, NULL, false},
    {"olmo2",       {"llama.tfg"},              ROWS(olmo2),              NULL,                   GIVES_OTHER, NULL, false},
    {"gemma",       {"llama.tfg"},              ROWS(gemma),              NULL,                   GIVES_OTHER, NULL, false},
    {"gemma2",      {"llama.tfg"},              ROWS(gemma2),             NULL,                   GIVES_OTHER, NULL, false},
    {"gemma3_text", {"llama.tfg"},              ROWS(gemma3),             NULL,                   GIVES_OTHER, NULL, false},
    CLASSES("bert", bert),
    {"bert",        {"bert.tfg"},               ROWS(bert),               "cls.predictions.bias", GIVES_OTHER, NULL, false},
    {"bert",        {"sentences.tfg"},          ROWS(bert_vectors),       NULL,                   GIVES_VECTORS, NULL, false},
    CLASSES("roberta", roberta),
    {"roberta",     {"bert.tfg"},               ROWS(roberta),            "lm_head.bias",         GIVES_OTHER, NULL, false},
    {"roberta",     {"sentences.tfg"},          ROWS(roberta_vectors),    NULL,                   GIVES_VECTORS, NULL, false},
    CLASSES("xlm-roberta", roberta),
    {"xlm-roberta", {"bert.tfg"},               ROWS(roberta),            "lm_head.bias",         GIVES_OTHER, NULL, false},
    {"xlm-roberta", {"sentences.tfg"},          ROWS(roberta_vectors),    NULL,                   GIVES_VECTORS, NULL, false},
    CLASSES("distilbert", distilbert),
    {"distilbert",  {"bert.tfg"},               ROWS(distilbert),         "vocab_projector.bias", GIVES_OTHER, NULL, false},
    {"distilbert",  {"sentences.tfg"},          ROWS(distilbert_vectors), NULL,                   GIVES_VECTORS, NULL, false},
    CLASSES("albert", albert),
    {"albert",      {"bert.tfg"},               ROWS(albert),             "predictions.bias",     GIVES_OTHER, NULL, false},
    {"albert",      {"sentences.tfg"},          ROWS(albert_vectors),     NULL,                   GIVES_VECTORS, NULL, false},
    {"modernbert",  {"modern_scores.tfg", "text_scores.tfg"},   ROWS(modernbert_scores),  NULL,     GIVES_SCORE,  OF_TEXTS, false},
    {"modernbert",  {"modern_labels.tfg", "text_labels.tfg"},   ROWS(modernbert_labels),  NULL,     GIVES_LABELS, OF_TEXTS, false},
    {"modernbert",  {"modern_classes.tfg", "text_classes.tfg"}, ROWS(modernbert_classes), NULL,     GIVES_OTHER,  OF_TEXTS, false},
    {"modernbert",  {"modernbert.tfg"},         ROWS(modernbert),         "decoder.bias",         GIVES_OTHER, NULL, false},
    {"modernbert",  {"modern_sentences.tfg", "sentences.tfg"}, ROWS(modernbert_vectors), NULL,    GIVES_VECTORS, NULL, false},
    /* clang-format on */
};
enum { N_MODELS = sizeof models / sizeof models[0] };

const ImportModel *import_model_at(int i) { return i < N_MODELS ? &models[i] : NULL; }

/* The head under its published name, or that of models/, as in a model exported as ONNX. */
static bool has_head(const ImportModel *model, const TextList *tensors)
{
    return !model->head || text_list_has(tensors, model->head) ||
           text_list_has(tensors, "predict.bias") || text_list_has(tensors, "head.bias");
}

/* The types, each once, and where vectors are wanted those that make them. */
static void put_known(bool vectors, Text *known)
{
    const char *last = "";
    for (int i = 0; i < N_MODELS; i++) {
        if (strcmp(models[i].type, last) != 0 && (!vectors || models[i].gives == GIVES_VECTORS))
            text_add(known, "%s%s", known->length ? ", " : "", last = models[i].type);
    }
}

/* Whether weights of this class and these names are the model's. */
static bool is_of(const ImportModel *model, const ImportSought *sought)
{
    const char *class_name = sought->class_name ? sought->class_name : "";
    return (!model->ending ||
            (text_ends(class_name, model->ending) && model->pairs == sought->pairs)) &&
           (model->gives != GIVES_SCORE || sought->one_label) &&
           (model->gives != GIVES_LABELS || sought->independent) &&
           has_head(model, sought->tensors);
}

static const ImportModel *find_model(const ImportSought *sought)
{
    for (int i = 0; i < N_MODELS; i++)
        if (!strcmp(models[i].type, sought->type) &&
            (sought->vectors ? models[i].gives == GIVES_VECTORS : is_of(&models[i], sought)))
            return &models[i];
    return NULL;
}

/* Whether the class computes a head that the model, found by its tensors, does not. */
static bool has_other_head(const ImportModel *model, const ImportSought *sought)
{
    static const char *const endings[] = {"ForQuestionAnswering", "ForMultipleChoice",
                                          "ForNextSentencePrediction", "ForTokenClassification",
                                          OF_TEXTS};
    bool has = false;
    for (size_t i = 0; sought->class_name && i < sizeof endings / sizeof *endings; i++)
        has = has || text_ends(sought->class_name, endings[i]);
    return has && !model->ending;
}

static const ImportModel *refuse_head(Job *job, const ImportSought *sought)
{
    const char *name = text_visible_name(job->arena, sought->class_name);
    const char *kind = strstr(name, "For");
    const bool is_encoder = find_model(&(ImportSought){.type = sought->type, .vectors = true});
    job_error(job, "the head of %s (\"architectures\" of config.json) is not read%s", name,
              is_encoder && kind
                  ? arena_printf(job->arena,
                                 ": \"%.*sModel\" in its place reads the encoder without it, which "
                                 "makes vectors of texts",
                                 (int)(kind - name), name)
                  : "");
    return NULL;
}

static const ImportModel *refuse_pairs(Job *job, const ImportSought *sought)
{
    job_error(job,
              "%s%s reads no pairs of texts: classes that end in " OF_TEXTS
              " do, of bert, roberta, xlm-roberta, distilbert and albert",
              sought->type,
              sought->class_name ? arena_printf(job->arena, " (%s)",
                                                text_visible_name(job->arena, sought->class_name))
                                 : "");
    return NULL;
}

const ImportModel *import_model(Job *job, const ImportSought *sought)
{
    const char *type = sought->type;
    const ImportModel *model = find_model(sought);
    if (model && sought->pairs && !model->pairs)
        return refuse_pairs(job, sought);
    if (model)
        return has_other_head(model, sought) ? refuse_head(job, sought) : model;
    Text known = {0};
    put_known(sought->vectors, &known);
    if (sought->vectors)
        job_error(job,
                  "modules.json makes vectors of texts by a model of the model_type '%s'; those of "
                  "which vectors are made are %s",
                  type, known.data);
    else
        job_error(
            job,
            "the model_type is '%s'; those that are read are %s. Another one is a model of its own: "
            "a .tfg with a weights block (docs/language.md) reads its safetensors by --weights",
            type, known.data);
    text_free(&known);
    return NULL;
}
