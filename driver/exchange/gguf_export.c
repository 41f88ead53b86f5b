/* From the store of a run and its published files to a GGUF. */
#include "driver/exchange/gguf_export.h"

#include "base/file.h"
#include "base/portable_math.h"
#include "driver/exchange/gguf_keys.h"
#include "driver/exchange/gguf_probe.h"
#include "driver/exchange/gguf_sentences.h"
#include "driver/exchange/gguf_tokenizer.h"
#include "driver/exchange/import_config.h"
#include "driver/exchange/published_sampling.h"
#include "driver/run/generation.h"
#include "driver/run/record.h"
#include "driver/run/vocabularies.h"

#include <string.h>

typedef struct GgufExport {
    Job *job;
    const char *run, *folder; /* of the published files */
    const GgufType *type;
    const Map *others; /* WeightsExport.others */
    ImportConfig config;
    const GgufArchitecture *architecture;
    GgufWriter writer;
    WeightTensors weights;
    StTensor *tensors; /* under llama.cpp's names */
    int64_t n;         /* of them */
    const GgufType **types;
    StTensor factors; /* of positions; without a name: there are none */
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

static float number_of(GgufExport *x, const char *key, double usual)
{
    const JsonValue *value = config_value(x, key);
    return (float)(value ? value->number : usual);
}

/* A tensor that published weights lack: by what each pair of a head turns more slowly. */
static void add_factors(GgufExport *x, int64_t width)
{
    GgufFactors how = {.base = number_of(x, "rope_theta", 10000),
                       .factor = number_of(x, "factor", 1),
                       .low = number_of(x, "low_freq_factor", 1),
                       .high = number_of(x, "high_freq_factor", 4),
                       .context = number_of(x, "original_max_position_embeddings", 8192),
                       .n = width / 2};
    float *factors = ARENA_ARRAY(x->job->arena, float, how.n + 1);
    for (int64_t i = 0; i < how.n; i++)
        factors[i] = (float)gguf_factor(&how, i);
    x->factors = (StTensor){.name = GGUF_FACTORS, .type = ST_F32, .rank = 1, .dims = {how.n}};
    x->factors.data = factors;
    st_count(&x->factors);
    gguf_put_number(&x->writer, own_key(x, "rope.scaling.low_freq_factor"), (float)how.low);
    gguf_put_number(&x->writer, own_key(x, "rope.scaling.high_freq_factor"), (float)how.high);
}

/* The scale of cosines and sines as transformers computes it (models/llama.tfg: turn_scale). */
static double yarn_scale(GgufExport *x, double factor)
{
    const double said = number_of(x, "attention_factor", 0), one = number_of(x, "mscale", 0),
                 all = number_of(x, "mscale_all_dim", 0),
                 more = factor > 1 ? portable_log(factor) / 10 : 0;
    return said > 0 ? said : one > 0 && all > 0 ? (1 + one * more) / (1 + all * more) : 1 + more;
}

/* Of "yarn", llama.cpp multiplies its own scale of cosines and sines by attn_factor, and the turns
 * between which pairs are slowed are those of whole pairs. */
static bool put_yarn(GgufExport *x, double factor)
{
    const double scale = yarn_scale(x, factor), own = gguf_yarn_scale(factor);
    const JsonValue *truncates = config_value(x, "truncate");
    if (truncates && truncates->kind == JV_FALSE)
        return job_error(x->job,
                         "%s: \"truncate\" of the scaled positions is false, and llama.cpp "
                         "computes them as if it were true: a GGUF has no key for it",
                         x->config.source->path);
    if (fabs(scale - own) > 1e-9)
        gguf_put_number(&x->writer, own_key(x, "rope.scaling.attn_factor"), (float)(scale / own));
    gguf_put_number(&x->writer, own_key(x, "rope.scaling.yarn_beta_fast"),
                    number_of(x, "beta_fast", 32));
    gguf_put_number(&x->writer, own_key(x, "rope.scaling.yarn_beta_slow"),
                    number_of(x, "beta_slow", 1));
    return true;
}

/* "dynamic" changes nothing up to the longest text. */
static bool put_scaling(GgufExport *x, int64_t width)
{
    const JsonValue *type = config_value(x, "rope_type");
    const char *name = type && type->kind == JV_STRING ? type->text : "default";
    if (!strcmp(name, "default") || !strcmp(name, "dynamic"))
        return true;
    const double factor = (double)number_of(x, "factor", 1);
    const bool is_linear = !strcmp(name, "linear"), is_yarn = !strcmp(name, "yarn");
    if (is_linear || is_yarn) {
        gguf_put_text(&x->writer, own_key(x, "rope.scaling.type"), name);
        gguf_put_number(&x->writer, own_key(x, "rope.scaling.factor"), (float)factor);
    } else if (strcmp(name, "llama3")) {
        return job_error(x->job,
                         "%s: positions are scaled by '%s'; a GGUF is written with none, linear, "
                         "yarn or llama3",
                         x->config.source->path, name);
    }
    if (!is_linear)
        gguf_put_size(&x->writer, own_key(x, "rope.scaling.original_context_length"),
                      (uint32_t)number_of(x, "original_max_position_embeddings", 0));
    if (is_yarn)
        return put_yarn(x, factor);
    if (!is_linear)
        add_factors(x, width);
    return true;
}

/* Sizes that config.json leaves to the model; the width of a head. */
static int64_t put_widths(GgufExport *x)
{
    const int64_t d = import_config_size(x->job, &x->config, "hidden_size");
    const int64_t heads = import_config_size(x->job, &x->config, "num_attention_heads");
    const int64_t own = import_config_size(x->job, &x->config, "head_dim");
    const int64_t width = own > 0 ? own : heads > 0 ? d / heads : 0;
    const JsonValue *part = import_config_value(x->job, &x->config, "partial_rotary_factor");
    const int64_t turned = (int64_t)((double)width * (part ? part->number : 1) + 0.5);
    gguf_put_size(&x->writer, own_key(x, gguf_head_widths[0]), (uint32_t)turned);
    gguf_put_size(&x->writer, own_key(x, gguf_head_widths[1]), (uint32_t)width);
    return turned;
}

/* llama.cpp reads no window for some architectures, and does not compute that of phi3. */
static void tell_of_window(GgufExport *x, const GgufKey *keys)
{
    const JsonValue *window = config_value(x, "sliding_window");
    const int64_t longest = import_config_size(x->job, &x->config, "max_position_embeddings");
    const char *name = x->architecture->name;
    const GgufKey *key = gguf_key(keys, "attention.sliding_window");
    if (key && window && window->integer < longest &&
        (!strcmp(name, "llama") || !strcmp(name, "phi3")))
        diag_warning(
            &x->job->diags, (Loc){.source = x->config.source},
            "\"sliding_window\": llama.cpp computes texts of more than %lld tokens without "
            "it, in models of %s",
            (long long)window->integer, name);
}

/* Values of config.json for which GGUF has no key. */
static bool check_musts(GgufExport *x)
{
    for (const GgufMust *must = gguf_musts; must->key; must++) {
        if (strcmp(must->model_type, x->config.model->type))
            continue;
        const JsonValue *value = import_config_value(x->job, &x->config, must->key);
        const char *is =
            must->is_layers
                ? arena_printf(x->job->arena, "%lld",
                               (long long)import_config_layers(x->job, &x->config, must->key))
            : !value ? "absent"
            : value->kind == JV_INTEGER
                ? arena_printf(x->job->arena, "%lld", (long long)value->integer)
            : value->kind == JV_NUMBER ? arena_printf(x->job->arena, "%g", value->number)
            : value->kind == JV_STRING ? value->text
            : value->kind == JV_NULL   ? "null"
            : value->kind == JV_FALSE  ? "false"
            : value->kind == JV_TRUE   ? "true"
                                       : "…";
        if (strcmp(is, must->value))
            return job_error(
                x->job,
                "%s: \"%s\" is %s, which a GGUF of %s does not say: its readers compute "
                "%s",
                x->config.source->path, must->key, is, x->architecture->name, must->value);
    }
    return true;
}

/* Gemma's scale of scores, which llama.cpp knows by the number of layers. */
static bool check_scale(GgufExport *x)
{
    const JsonValue *is = config_value(x, "query_pre_attn_scalar");
    const int64_t must = gguf_query_scalar(
        x->architecture->name, import_config_size(x->job, &x->config, "num_hidden_layers"),
        import_config_size(x->job, &x->config, "hidden_size"),
        import_config_size(x->job, &x->config, "num_attention_heads"),
        import_config_size(x->job, &x->config, "head_dim"));
    return !is || is->number == (double)must ||
           job_error(x->job,
                     "%s: \"query_pre_attn_scalar\" is %g, which a GGUF of %s does not say: its "
                     "readers compute %lld",
                     x->config.source->path, is->number, x->architecture->name, (long long)must);
}

/* The whole number of a key that is published in another way, or left to the model; -1: there is
 * none. */
static int64_t derived_size(GgufExport *x, const char *published)
{
    if (!strcmp(published, "sliding_window_pattern"))
        return import_config_layers(x->job, &x->config, "layer_types");
    if (!strcmp(published, "n_inner") && !config_value(x, published))
        return 4 * import_config_size(x->job, &x->config, "n_embd");
    return -1;
}

/* null where a GGUF without the key means a value. */
static bool check_null(GgufExport *x, const GgufKey *key)
{
    const JsonValue *said = import_config_value(x->job, &x->config, key->published);
    return !said || said->kind != JV_NULL || config_value(x, key->published) || key->missing == 0 ||
           job_error(x->job,
                     "%s: \"%s\" is null, which a GGUF of %s does not say: its readers compute %g",
                     x->config.source->path, key->published, x->architecture->name, key->missing);
}

static void put_key(GgufExport *x, const GgufKey *key)
{
    const JsonValue *value = config_value(x, key->published);
    const char *own = own_key(x, key->theirs);
    const int64_t derived = derived_size(x, key->published);
    if (derived >= 0)
        gguf_put_size(&x->writer, own, (uint32_t)derived);
    else if (key->is_real && (value || key->missing != 0))
        gguf_put_number(&x->writer, own, (float)(value ? value->number : key->missing));
    else if (value && value->kind == JV_INTEGER && value->integer >= 0)
        gguf_put_size(&x->writer, own, (uint32_t)value->integer);
    else if (!value && key->missing != 0)
        gguf_put_size(&x->writer, own, (uint32_t)key->missing);
}

static bool put_config(GgufExport *x)
{
    const GgufKey *keys = gguf_keys(x->config.model->type);
    const bool is_rotary = gguf_key(keys, "rope.freq_base") != NULL;
    gguf_put_text(&x->writer, "general.architecture", x->architecture->name);
    if (x->type->blocks)
        gguf_put_size(&x->writer, "general.quantization_version", 2);
    bool ok = true;
    for (const GgufKey *key = keys; ok && key->theirs; key++) {
        ok = check_null(x, key);
        put_key(x, key);
    }
    gguf_put_size(&x->writer, own_key(x, "vocab_size"),
                  (uint32_t)import_config_size(x->job, &x->config, "vocab_size"));
    tell_of_window(x, keys);
    return ok && check_musts(x) && check_scale(x) &&
           (!is_rotary || put_scaling(x, put_widths(x))) &&
           (x->config.model->gives != GIVES_VECTORS ||
            gguf_put_pooling(x->job, x->folder, x->architecture->name,
                             import_config_size(x->job, &x->config, "max_position_embeddings"),
                             &x->writer));
}

static const char *token_key(GgufExport *x, const char *name)
{
    return arena_printf(x->job->arena, "tokenizer.ggml.%s", name);
}

/* Whether a token stands on each side of a text: by what the run records. */
static void put_frames(GgufExport *x, const RunRecord *record)
{
    static const char *const rules[][2] = {{"text-begin=", "bos_token_id"},
                                           {"text-end=", "eos_token_id"}};
    for (int r = 0; r < 2; r++)
        for (size_t i = 0; i < record->tokens.count; i++) {
            const size_t length = strlen(rules[r][0]);
            const char *rule = record->tokens.data[i];
            if (!strncmp(rule, rules[r][0], length))
                gguf_put_bool(&x->writer, token_key(x, published_token(rules[r][1])->frame),
                              strcmp(rule + length, "none") != 0);
        }
}

static void add_end(Ids *ends, int64_t id)
{
    size_t i = 0;
    while (i < ends->count && ends->data[i] != id)
        i++;
    if (id >= 0 && i == ends->count)
        ids_push(ends, (int32_t)id);
}

static bool is_pair(const GgufExport *x)
{
    return import_config_row(&x->config, "decoder_start_token_id") != NULL;
}

/* Where the run's texts end. First stands the token that ends a text of the model, which a GGUF
 * calls so, too, else the published end if it is among them. A translation ends at its end token,
 * too; what never ends is said to end as published, since a GGUF names an end. */
static Ids find_ends(GgufExport *x, const Vocabulary *vocab)
{
    const TokenRules *rules = vocab_rules(vocab);
    const bool has_end = !is_pair(x) && rules->text.end >= 0;
    const int64_t published =
        has_end ? rules->text.end : import_config_size(x->job, &x->config, published_ends.key);
    Ids ends = {0};
    if (is_pair(x))
        add_end(&ends, rules->end);
    for (int32_t i = 0; i < rules->text.n_stops; i++)
        add_end(&ends, rules->text.stops[i]);
    for (size_t i = 1; i < ends.count; i++)
        if (ends.data[i] == published) {
            ends.data[i] = ends.data[0];
            ends.data[0] = (int32_t)published;
        }
    if (!ends.count)
        add_end(&ends, published);
    return ends;
}

/* Those that a GGUF has no key for are named. */
static void put_ends(GgufExport *x, const Vocabulary *vocab)
{
    Ids ends = find_ends(x, vocab);
    for (size_t i = 0; i < ends.count; i++)
        if (i < PUBLISHED_GGUF_KEYS)
            gguf_put_size(&x->writer, token_key(x, published_ends.gguf[i]), (uint32_t)ends.data[i]);
        else
            diag_warning(&x->job->diags, (Loc){0},
                         "a text ends at '%s', too, which is left out: a GGUF names %d ends",
                         text_visible_name(x->job->arena, vocab_token(vocab, ends.data[i])),
                         (int)PUBLISHED_GGUF_KEYS);
    ids_free(&ends);
}

/* A GGUF has one token that ends a text of the model and what is generated. */
static bool check_end(GgufExport *x, const Vocabulary *vocab)
{
    const TextRule *text = &vocab_rules(vocab)->text;
    bool stops = !text->n_stops || text->end < 0 || is_pair(x);
    for (int32_t i = 0; i < text->n_stops; i++)
        stops = stops || text->stops[i] == text->end;
    return stops ||
           job_error(x->job,
                     "%s: its token text-end is '%s', at which no text stops: a GGUF has one token "
                     "for both (--token stop=TOKEN of tfc import)",
                     x->run, text_visible_name(x->job->arena, vocab_token(vocab, text->end)));
}

/* The id of a token by its row: of a text's first token what the run's texts begin with. -1: there
 * is none. */
static int64_t find_id(GgufExport *x, const PublishedToken *token, const TokenRules *rules)
{
    const bool begins = !is_pair(x) && !strcmp(token->key, "bos_token_id");
    if (begins && rules->text.begin >= 0)
        return rules->text.begin;
    return token->gguf[0] ? import_config_size(x->job, &x->config, token->key) : -1;
}

/* The settings of generation that the run brings along. */
static bool put_sampling(GgufExport *x, const RunRecord *record)
{
    GenerationDefaults defaults;
    if (!generation_defaults_read(x->job, x->run, record, &defaults))
        return false;
    for (size_t i = 0; i < defaults.count; i++) {
        const DecodeDefault *is = &defaults.data[i];
        const PublishedSampling *sampling = published_sampling;
        while (sampling->key && strcmp(sampling->name, is->name) != 0)
            sampling++;
        if (sampling->key && !sampling->gguf)
            diag_warning(&x->job->diags, (Loc){0},
                         "%s generates with %s where no option says, which is left out: a GGUF has "
                         "no place for it",
                         x->run, record->generation.data[i]);
        else if (sampling->key &&
                 setting_rows[setting_default_row(is->name)].kind == SETTING_NUMBER)
            gguf_put_number(&x->writer, sampling->gguf, (float)is->value);
        else if (sampling->key)
            gguf_put_size(&x->writer, sampling->gguf, (uint32_t)is->value);
    }
    return true;
}

/* Special tokens, and which of them stand around a text: by the run's rules. */
static bool put_tokens(GgufExport *x)
{
    if (!strcmp(x->architecture->name, "bert")) { /* whose tokenizer says them */
        gguf_put_size(&x->writer, "tokenizer.ggml.token_type_count",
                      (uint32_t)import_config_size(x->job, &x->config, "type_vocab_size"));
        return true;
    }
    RunRecord record;
    Vocabulary *vocab = run_record_read(x->job, x->run, &record)
                            ? vocabulary_of_run(x->job, x->run, &record)
                            : NULL;
    if (!vocab)
        return false;
    vocab_set_stream(vocab, record.kind == CORPUS_STREAM);
    for (const PublishedToken *token = published_tokens; token->key; token++) {
        const int64_t id = find_id(x, token, vocab_rules(vocab));
        if (id >= 0 && strcmp(token->key, published_ends.key) != 0)
            gguf_put_size(&x->writer, token_key(x, token->gguf[0]), (uint32_t)id);
    }
    put_ends(x, vocab);
    put_frames(x, &record);
    return put_sampling(x, &record) && check_end(x, vocab);
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

static bool raise_gains(GgufExport *x, StTensor *tensor)
{
    float *gains = ARENA_ARRAY(x->job->arena, float, tensor->count);
    if (!st_floats(tensor, 0, tensor->count, gains))
        return false;
    for (int64_t i = 0; i < tensor->count; i++)
        gains[i] += 1;
    tensor->data = gains;
    tensor->view = NULL;
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
    case GGUF_GAIN: return raise_gains(x, tensor);
    default: return true;
    }
}

/* Tensor i under its name, and its type. */
static bool name_tensor(GgufExport *x, int64_t i)
{
    const StTensor *from = &x->weights.tensors[i];
    StTensor *tensor = &x->tensors[i];
    const GgufType **type = &x->types[i];
    int64_t block;
    const GgufName *row = gguf_name(x->architecture, from->name, true, &block);
    *tensor = *from;
    if (!row)
        return job_error(x->job, "llama.cpp has no name for the tensor '%s' of a %s", from->name,
                         x->architecture->model_type);
    tensor->name = gguf_name_text(x->job->arena, row->theirs, block);
    if (from->type != ST_F32 || !st_count(tensor) || !lay_out(x, row, tensor))
        return job_error(x->job, "the tensor '%s' has another shape than llama.cpp's", from->name);
    const bool is_float = from->rank < 2 || row->how == GGUF_UNROUNDED;
    const char *other = x->others ? map_get(x->others, x->weights.params[i]) : NULL;
    *type = is_float || other ? gguf_type_named(is_float ? "f32" : other) : x->type;
    const int64_t beside = tensor->dims[tensor->rank - 1];
    if ((*type)->blocks && beside % (*type)->blocks->elements) {
        diag_remark(&x->job->diags, (Loc){0},
                    "'%s' is written as F16: its rows of %lld are not whole blocks of %s",
                    tensor->name, (long long)beside, (*type)->name);
        *type = gguf_type_named("f16");
    }
    return weights_check_range(x->job, &x->weights, i, gguf_limit(*type), (*type)->name);
}

static bool name_tensors(GgufExport *x)
{
    const int64_t n = x->weights.n;
    x->tensors = ARENA_ARRAY(x->job->arena, StTensor, n + 1);
    x->types = ARENA_ARRAY(x->job->arena, const GgufType *, n + 1);
    x->tensors[n] = x->factors;
    x->types[n] = gguf_type_named("f32");
    x->n = n + (x->factors.name != NULL);
    bool ok = true;
    for (int64_t i = 0; ok && i < n; i++)
        ok = name_tensor(x, i);
    return ok;
}

/* ---- the whole ---- */

static bool begin_export(GgufExport *x, const Model *model, const WeightsExport *what)
{
    if (what->only && what->only->count)
        return job_error(x->job, "--format gguf writes all params: leave --only out");
    const TextList theirs = import_config_tensors(x->job->arena, model);
    if (!import_config_read(x->job, x->folder, &theirs, &x->config))
        return false;
    x->architecture = gguf_architecture_of(x->config.model->type);
    if (x->architecture && !strcmp(x->architecture->name, "bert") &&
        x->config.model->gives != GIVES_VECTORS)
        return job_error(x->job,
                         "%s makes no vectors of texts; a GGUF is written of those models of bert "
                         "alone that do",
                         x->run);
    return x->architecture ||
           job_error(x->job, "%s is a model of type %s; a GGUF is written of %s", x->run,
                     x->config.model->type, gguf_architectures(x->job->arena, true));
}

bool gguf_export(Job *job, const char *run, const char *files, const Model *model, Store *store,
                 const WeightsExport *what, const char *type, const char *path)
{
    GgufExport x = {.job = job,
                    .run = run,
                    .folder = files,
                    .type = gguf_type_named(type),
                    .others = what->others};
    const int64_t vocab =
        begin_export(&x, model, what) ? import_config_size(job, &x.config, "vocab_size") : -1;
    bool ok = vocab >= 0 && put_config(&x) &&
              gguf_put_tokenizer(job, x.folder, &x.config, file_name(x.run), vocab, &x.writer) &&
              put_tokens(&x) && gguf_probe_tokenizer(job, x.folder, &x.config, &x.writer, path) &&
              weights_collect(job, model, store, what, &x.weights) && name_tensors(&x);
    if (ok)
        ok = gguf_write(&job->diags, path, &x.writer, x.tensors, x.types, x.n);
    else
        text_free(&x.writer.values);
    weights_collected_free(&x.weights);
    return ok;
}
