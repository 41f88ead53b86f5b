/* From the store of a run and its published files to a GGUF. */
#include "driver/exchange/gguf_export.h"

#include "base/file.h"
#include "driver/exchange/gguf_keys.h"
#include "driver/exchange/gguf_tokenizer.h"
#include "driver/exchange/import_config.h"
#include "driver/run/published.h"
#include "driver/run/record.h"

#include <string.h>

typedef struct GgufExport {
    Job *job;
    const char *run, *folder; /* of the published files */
    const GgufType *type;
    ImportConfig config;
    const GgufArchitecture *architecture;
    GgufWriter writer;
    WeightTensors weights;
    StTensor *tensors; /* under llama.cpp's names */
    const GgufType **types;
} GgufExport;

/* ---- metadata ---- */

/* A value of config.json; of positions it may be within rope_parameters. NULL: none, or null. */
static const JsonValue *config_value(GgufExport *x, const char *key)
{
    const JsonValue *value = import_config_value(
        x->job, &x->config, arena_printf(x->job->arena, "rope_parameters.%s", key));
    if (!value)
        value = import_config_value(x->job, &x->config, key);
    return value && value->kind != JV_NULL ? value : NULL;
}

static const char *own_key(GgufExport *x, const char *key)
{
    return arena_printf(x->job->arena, "%s.%s", x->architecture->name, key);
}

static bool put_scaling(GgufExport *x)
{
    const JsonValue *type = config_value(x, "rope_type"), *factor = config_value(x, "factor");
    if (!type || type->kind != JV_STRING || !strcmp(type->text, "default"))
        return true;
    if (strcmp(type->text, "linear"))
        return job_error(x->job,
                         "%s: positions are scaled by '%s'; a GGUF is written with none or linear",
                         x->config.source->path, type->text);
    gguf_put_text(&x->writer, own_key(x, "rope.scaling.type"), type->text);
    gguf_put_number(&x->writer, own_key(x, "rope.scaling.factor"),
                    factor ? (float)factor->number : 1);
    return true;
}

/* Sizes that config.json leaves to the model. */
static void put_derived(GgufExport *x, bool is_gpt2)
{
    const int64_t d = import_config_size(x->job, &x->config, is_gpt2 ? "n_embd" : "hidden_size");
    const int64_t heads = import_config_size(x->job, &x->config, "num_attention_heads");
    const int64_t width = import_config_size(x->job, &x->config, "head_dim");
    if (is_gpt2 && !config_value(x, "n_inner"))
        gguf_put_size(&x->writer, own_key(x, "feed_forward_length"), (uint32_t)(4 * d));
    for (int i = 0; !is_gpt2 && gguf_head_widths[i]; i++)
        gguf_put_size(&x->writer, own_key(x, gguf_head_widths[i]),
                      (uint32_t)(width > 0   ? width
                                 : heads > 0 ? d / heads
                                             : 0));
    gguf_put_size(&x->writer, own_key(x, "vocab_size"),
                  (uint32_t)import_config_size(x->job, &x->config, "vocab_size"));
}

/* In these architectures llama.cpp computes none. */
static void tell_of_window(GgufExport *x)
{
    const JsonValue *window = config_value(x, "sliding_window");
    const int64_t longest = import_config_size(x->job, &x->config, "max_position_embeddings");
    for (const ImportRow *row = x->config.model->rows; row->key; row++)
        if (row->kind == IMPORT_CONST && !strcmp(row->key, "sliding_window") && window &&
            window->integer < longest)
            diag_warning(&x->job->diags, (Loc){.source = x->config.source},
                         "\"sliding_window\" is not in a GGUF of %s: its readers compute texts of "
                         "more than %lld tokens without",
                         x->architecture->name, (long long)window->integer);
}

static bool put_config(GgufExport *x)
{
    const bool is_gpt2 = !strcmp(x->architecture->model_type, "gpt2");
    gguf_put_text(&x->writer, "general.architecture", x->architecture->name);
    gguf_put_text(&x->writer, "general.name", file_name(x->run));
    if (x->type->blocks)
        gguf_put_size(&x->writer, "general.quantization_version", 2);
    for (const GgufKey *key = gguf_keys; key->theirs; key++) {
        const JsonValue *value = config_value(x, key->published);
        if ((*key->model_type != 0) != is_gpt2 || !value)
            continue;
        if (strstr(key->theirs, "epsilon") || strstr(key->theirs, "freq_base"))
            gguf_put_number(&x->writer, own_key(x, key->theirs), (float)value->number);
        else if (value->kind == JV_INTEGER && value->integer >= 0)
            gguf_put_size(&x->writer, own_key(x, key->theirs), (uint32_t)value->integer);
    }
    if (is_gpt2 && !config_value(x, "layer_norm_epsilon"))
        gguf_put_number(&x->writer, own_key(x, "attention.layer_norm_epsilon"), 1e-5f);
    put_derived(x, is_gpt2);
    tell_of_window(x);
    return is_gpt2 || put_scaling(x);
}

/* Special tokens, and which of them stand around a text: by the run's rules. */
static bool put_tokens(GgufExport *x)
{
    static const char *const rules[][2] = {{"text-begin=", "tokenizer.ggml.add_bos_token"},
                                           {"text-end=", "tokenizer.ggml.add_eos_token"}};
    RunRecord record;
    if (!run_record_read(x->job, x->run, &record))
        return false;
    for (const GgufToken *token = gguf_tokens; token->theirs; token++) {
        const int64_t id = import_config_size(x->job, &x->config, token->published);
        if (id >= 0)
            gguf_put_size(&x->writer,
                          arena_printf(x->job->arena, "tokenizer.ggml.%s", token->theirs),
                          (uint32_t)id);
    }
    for (int r = 0; r < 2; r++)
        for (size_t i = 0; i < record.tokens.count; i++) {
            const size_t length = strlen(rules[r][0]);
            const char *rule = record.tokens.data[i];
            if (!strncmp(rule, rules[r][0], length))
                gguf_put_bool(&x->writer, rules[r][1], strcmp(rule + length, "none") != 0);
        }
    return true;
}

/* ---- tensors ---- */

/* As gguf.c reads it, the other way round: of each head a row of either half in turn. */
static bool set_rows(GgufExport *x, StTensor *tensor, int64_t heads)
{
    const int64_t rows = tensor->dims[0];
    if (heads < 1 || rows % (2 * heads))
        return false;
    const int64_t width = tensor->rank > 1 ? tensor->dims[1] : 1, half = rows / heads / 2;
    StView *view = ARENA_NEW(x->job->arena, StView);
    *view = (StView){.rank = 4,
                     .sizes = {heads, half, 2, width},
                     .strides = {2 * half * width, width, half * width, 1}};
    tensor->view = view;
    return true;
}

static bool set_turned(GgufExport *x, StTensor *tensor)
{
    if (tensor->rank != 2)
        return false;
    const int64_t rows = tensor->dims[0], columns = tensor->dims[1];
    StView *view = ARENA_NEW(x->job->arena, StView);
    *view = (StView){.rank = 2, .sizes = {columns, rows}, .strides = {1, columns}};
    tensor->view = view;
    tensor->dims[0] = columns;
    tensor->dims[1] = rows;
    return true;
}

static bool lay_out(GgufExport *x, const GgufName *row, StTensor *tensor)
{
    int64_t heads = import_config_size(x->job, &x->config, "num_attention_heads");
    if (row->how == GGUF_KEY_ROWS) {
        const int64_t keys = import_config_size(x->job, &x->config, "num_key_value_heads");
        heads = keys > 0 ? keys : heads;
    }
    switch (row->how) {
    case GGUF_ROWS:
    case GGUF_KEY_ROWS: return set_rows(x, tensor, heads);
    case GGUF_TRANSPOSED: return set_turned(x, tensor);
    default: return true;
    }
}

static bool name_tensor(GgufExport *x, const StTensor *from, StTensor *tensor,
                        const GgufType **type)
{
    int64_t block;
    const GgufName *row = gguf_name(x->architecture, from->name, true, &block);
    *tensor = *from;
    if (!row)
        return job_error(x->job, "llama.cpp has no name for the tensor '%s' of a %s", from->name,
                         x->architecture->model_type);
    tensor->name = gguf_name_text(x->job->arena, row->theirs, block);
    if (from->type != ST_F32 || !st_count(tensor) || !lay_out(x, row, tensor))
        return job_error(x->job, "the tensor '%s' has another shape than llama.cpp's", from->name);
    *type = from->rank > 1 ? x->type : gguf_type_named("f32");
    const int64_t beside = tensor->dims[tensor->rank - 1];
    if ((*type)->blocks && beside % (*type)->blocks->elements) {
        diag_note(&x->job->diags, (Loc){0},
                  "'%s' is written as F16: its rows of %lld are of no whole blocks of %s",
                  tensor->name, (long long)beside, (*type)->name);
        *type = gguf_type_named("f16");
    }
    return true;
}

static bool name_tensors(GgufExport *x)
{
    x->tensors = ARENA_ARRAY(x->job->arena, StTensor, x->weights.n + 1);
    x->types = ARENA_ARRAY(x->job->arena, const GgufType *, x->weights.n + 1);
    bool ok = true;
    for (int64_t i = 0; ok && i < x->weights.n; i++)
        ok = name_tensor(x, &x->weights.tensors[i], &x->tensors[i], &x->types[i]);
    return ok;
}

/* ---- the whole ---- */

static bool begin_export(GgufExport *x, const WeightsExport *what)
{
    if (!x->folder)
        return published_refuse(x->job, x->run, "gguf");
    if (what->only && what->only->count)
        return job_error(x->job, "--format gguf writes all params: leave --only out");
    if (!import_config_read(x->job, x->folder, NULL, &x->config))
        return false;
    x->architecture = gguf_architecture_of(x->config.model->type);
    return x->architecture ||
           job_error(x->job,
                     "%s is a model of type %s; a GGUF is written of llama, mistral, qwen2, "
                     "qwen3 and gpt2",
                     x->run, x->config.model->type);
}

bool gguf_export(Job *job, const char *run, const Model *model, Store *store,
                 const WeightsExport *what, const char *type, const char *path)
{
    GgufExport x = {.job = job,
                    .run = run ? run : "",
                    .folder = published_folder(job, run),
                    .type = gguf_type_named(type)};
    const int64_t vocab =
        begin_export(&x, what) ? import_config_size(job, &x.config, "vocab_size") : -1;
    bool ok = x.architecture && put_config(&x) &&
              gguf_put_tokenizer(job, x.folder, vocab, &x.writer) && put_tokens(&x) &&
              weights_collect(job, model, store, what, &x.weights) && name_tensors(&x);
    if (ok)
        ok = gguf_write(&job->diags, path, &x.writer, x.tensors, x.types, x.weights.n);
    else
        text_free(&x.writer.values);
    weights_collected_free(&x.weights);
    return ok;
}
