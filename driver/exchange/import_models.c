/* Published models by their model_type, and by what their weights have. */
#include "driver/exchange/import_rows.h"

#include <string.h>

#define ROWS(name) import_rows_##name
static const ImportModel models[] = {
    /* clang-format off */
    {"marian",      {"marian.tfg"},             ROWS(marian),             NULL,                   false},
    {"bart",        {"bart.tfg", "marian.tfg"}, ROWS(bart),               NULL,                   false},
    {"mbart",       {"mbart.tfg", "m2m_100.tfg"}, ROWS(mbart),            NULL,                   false},
    {"m2m_100",     {"m2m_100.tfg"},            ROWS(m2m_100),            NULL,                   false},
    {"t5",          {"t5.tfg"},                 ROWS(t5),                 NULL,                   false},
    {"mt5",         {"t5.tfg"},                 ROWS(mt5),                NULL,                   false},
    {"gpt2",        {"gpt2.tfg", "gpt.tfg"},    ROWS(gpt2),               NULL,                   false},
    {"llama",       {"llama.tfg"},              ROWS(llama),              NULL,                   false},
    {"mistral",     {"llama.tfg"},              ROWS(mistral),            NULL,                   false},
    {"qwen2",       {"llama.tfg"},              ROWS(qwen2),              NULL,                   false},
    {"qwen3",       {"llama.tfg"},              ROWS(qwen3),              NULL,                   false},
    {"phi3",        {"llama.tfg"},              ROWS(phi3),               NULL,                   false},
    {"olmo2",       {"llama.tfg"},              ROWS(olmo2),              NULL,                   false},
    {"gemma",       {"llama.tfg"},              ROWS(gemma),              NULL,                   false},
    {"gemma2",      {"llama.tfg"},              ROWS(gemma2),             NULL,                   false},
    {"gemma3_text", {"llama.tfg"},              ROWS(gemma3),             NULL,                   false},
    {"bert",        {"bert.tfg"},               ROWS(bert),               "cls.predictions.bias", false},
    {"bert",        {"sentences.tfg"},          ROWS(bert_vectors),       NULL,                   true},
    {"roberta",     {"bert.tfg"},               ROWS(roberta),            "lm_head.bias",         false},
    {"roberta",     {"sentences.tfg"},          ROWS(roberta_vectors),    NULL,                   true},
    {"xlm-roberta", {"bert.tfg"},               ROWS(roberta),            "lm_head.bias",         false},
    {"xlm-roberta", {"sentences.tfg"},          ROWS(roberta_vectors),    NULL,                   true},
    {"distilbert",  {"bert.tfg"},               ROWS(distilbert),         "vocab_projector.bias", false},
    {"distilbert",  {"sentences.tfg"},          ROWS(distilbert_vectors), NULL,                   true},
    {"albert",      {"bert.tfg"},               ROWS(albert),             "predictions.bias",     false},
    {"albert",      {"sentences.tfg"},          ROWS(albert_vectors),     NULL,                   true},
    {"modernbert",  {"modernbert.tfg"},         ROWS(modernbert),         "decoder.bias",         false},
    {"modernbert",  {"modern_sentences.tfg", "sentences.tfg"}, ROWS(modernbert_vectors), NULL,    true},
    /* clang-format on */
};
enum { N_MODELS = sizeof models / sizeof models[0] };

const ImportModel *import_model_at(int i) { return i < N_MODELS ? &models[i] : NULL; }

static bool has_name(const TextList *names, const char *name)
{
    for (size_t i = 0; i < names->count; i++)
        if (!strcmp(names->data[i], name))
            return true;
    return false;
}

/* The head under its published name, or that of models/, as in a model exported as ONNX. */
static bool has_head(const ImportModel *model, const TextList *tensors)
{
    return !model->head || has_name(tensors, model->head) || has_name(tensors, "predict.bias") ||
           has_name(tensors, "head.bias");
}

/* The types, each once, and where vectors are wanted those that make them. */
static void put_known(bool vectors, Text *known)
{
    const char *last = "";
    for (int i = 0; i < N_MODELS; i++) {
        if (strcmp(models[i].type, last) != 0 && (!vectors || models[i].vectors))
            text_add(known, "%s%s", known->length ? ", " : "", last = models[i].type);
    }
}

const ImportModel *import_model(Job *job, const char *type, const TextList *tensors, bool vectors)
{
    for (int i = 0; i < N_MODELS; i++)
        if (!strcmp(models[i].type, type) &&
            (vectors ? models[i].vectors : has_head(&models[i], tensors)))
            return &models[i];
    Text known = {0};
    put_known(vectors, &known);
    if (vectors)
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
