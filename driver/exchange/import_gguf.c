/* The metadata of a GGUF (docs/gguf.md of ggml) in the words of config.json. */
#include "driver/exchange/import_gguf.h"

#include "base/file.h"
#include "base/json_write.h"
#include "driver/exchange/gguf_keys.h"
#include "driver/exchange/gguf_sentences.h"
#include "driver/exchange/import_gguf_tokenizer.h"
#include "driver/exchange/published_sampling.h"
#include "driver/exchange/published_tokens.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

bool gguf_wrong(const GgufImport *m, const char *problem)
{
    return job_error(m->job, "%s: %s", m->path, problem);
}

/* ---- config.json ---- */

static const StTensor *find_tensor(const GgufImport *m, const char *name)
{
    for (size_t i = 0; i < m->gguf->list.tensors.count; i++)
        if (!strcmp(m->gguf->list.tensors.data[i].name, name))
            return &m->gguf->list.tensors.data[i];
    return NULL;
}

enum { DIGITS = 7 }; /* of an f32 */

static void put_number(JsonWriter *json, const char *key, const GgufValue *value)
{
    if (value->kind == GGUF_F32 || value->kind == GGUF_F64)
        json_put_number(json, key, gguf_number(value, 0), DIGITS);
    else
        json_put_integer(json, key, gguf_integer(value, 0));
}

static const GgufValue *find_token(const GgufImport *m, const char *theirs)
{
    return theirs ? gguf_find(m->gguf, arena_printf(m->job->arena, "tokenizer.ggml.%s", theirs))
                  : NULL;
}

static void put_token(const GgufImport *m, JsonWriter *json, const char *theirs,
                      const char *published)
{
    const GgufValue *value = find_token(m, theirs);
    if (value)
        json_put_integer(json, published, gguf_integer(value, 0));
}

/* The value of a key of the architecture; `missing`: it has none. */
static double own_number(const GgufImport *m, const char *key, double missing)
{
    const GgufValue *value = gguf_own(m->gguf, key);
    return value ? gguf_number(value, 0) : missing;
}

/* 0 where it is no size. */
static int64_t as_size(double number)
{
    return number >= 0 && number <= 1e15 ? (int64_t)number : 0;
}

/* Puts a number of the metadata, of a list the one that all its elements are. False after an error:
 * it is none, or they differ. */
static bool put_finite(const GgufImport *m, JsonWriter *json, const char *published,
                       const GgufValue *value)
{
    const char *key = text_visible_name(m->job->arena, value->key);
    if (value->kind == GGUF_STRING || !value->n || !isfinite(gguf_number(value, 0)))
        return gguf_wrong(m, arena_printf(m->job->arena, "its %s is no number", key));
    for (uint64_t i = 1; i < value->n; i++)
        if (gguf_number(value, i) != gguf_number(value, 0))
            return gguf_wrong(m, arena_printf(m->job->arena,
                                              "its %s differs from layer to layer, which tfc's "
                                              "model of %s is not written for",
                                              key, m->architecture->model_type));
    put_number(json, published, value);
    return true;
}

static bool put_own(const GgufImport *m, JsonWriter *json, const char *published, const char *key)
{
    const GgufValue *value = gguf_own(m->gguf, key);
    return !value || put_finite(m, json, published, value);
}

/* LLaMA 3.1's scaling: where the file does not say by what the table was made, by the numbers that
 * all published models have. */
static bool put_factors(const GgufImport *m, const StTensor *table, JsonWriter *json)
{
    enum { MOST = 1 << 12 };
    GgufFactors how = {.base = own_number(m, "rope.freq_base", 10000),
                       .low = own_number(m, "rope.scaling.low_freq_factor", 1),
                       .high = own_number(m, "rope.scaling.high_freq_factor", 4),
                       .context = own_number(m, "rope.scaling.original_context_length", 8192),
                       .n = table->count};
    float factors[MOST];
    bool same = table->rank == 1 && table->count <= MOST && how.high > how.low &&
                st_floats(table, 0, table->count, factors);
    for (int64_t i = 0; same && i < table->count; i++)
        how.factor = fmax(how.factor, (double)factors[i]);
    for (int64_t i = 0; same && i < table->count; i++) {
        const double must = gguf_factor(&how, i);
        same = fabs((double)factors[i] - must) <= 1e-4 * must;
    }
    if (!same)
        return gguf_wrong(m, "its rope_freqs.weight is a table of scaled positions that is not "
                             "LLaMA 3.1's: import the published folder of the model");
    json_open(json, "rope_scaling", '{');
    json_put_text(json, "rope_type", "llama3");
    json_put_number(json, "factor", how.factor, DIGITS);
    json_put_number(json, "low_freq_factor", how.low, DIGITS);
    json_put_number(json, "high_freq_factor", how.high, DIGITS);
    json_put_integer(json, "original_max_position_embeddings", as_size(how.context));
    json_close(json, '}');
    return true;
}

/* By what positions are scaled, as llama.cpp finds it: an older key stands in for the newer one;
 * 0 is none. */
static double scaling_factor(const GgufImport *m)
{
    const double factor =
        own_number(m, "rope.scaling.factor", own_number(m, "rope.scale_linear", 0));
    return factor == 0 ? 1 : factor;
}

static bool put_yarn(const GgufImport *m, JsonWriter *json, double factor)
{
    const double scale = own_number(m, "rope.scaling.attn_factor", 0);
    if (scale > 0 || factor < 1) /* of which transformers makes no other scale than 1 */
        json_put_number(json, "attention_factor", (scale > 0 ? scale : 1) * gguf_yarn_scale(factor),
                        DIGITS);
    return put_own(m, json, "original_max_position_embeddings",
                   "rope.scaling.original_context_length") &&
           put_own(m, json, "beta_fast", "rope.scaling.yarn_beta_fast") &&
           put_own(m, json, "beta_slow", "rope.scaling.yarn_beta_slow");
}

/* Positions scaled by a factor. */
static bool put_factor(const GgufImport *m, JsonWriter *json, const char *type, double factor)
{
    json_open(json, "rope_scaling", '{');
    json_put_text(json, "rope_type", type);
    json_put_number(json, "factor", factor, DIGITS);
    const bool ok = strcmp(type, "yarn") || put_yarn(m, json, factor);
    json_close(json, '}');
    return ok;
}

/* A factor without a type is linear. */
static bool put_scaling(const GgufImport *m, JsonWriter *json)
{
    const char *said = gguf_text(m->gguf, gguf_own(m->gguf, "rope.scaling.type"));
    const StTensor *table = find_tensor(m, GGUF_FACTORS);
    const char *type = find_tensor(m, "rope_factors_long.weight") ? "longrope"
                       : said                                     ? said
                                                                  : "linear";
    const bool is_yarn = !strcmp(type, "yarn"), is_linear = !strcmp(type, "linear");
    const double factor = scaling_factor(m);
    const bool is_scaled = is_yarn || (is_linear && factor != 1);
    if (!isfinite(factor) || factor < 0)
        return gguf_wrong(m, "the factor by which its positions are scaled is no number above 0");
    if (!is_yarn && own_number(m, "rope.scaling.attn_factor", 1) != 1)
        return gguf_wrong(m, "its rope.scaling.attn_factor is not 1, which is read of positions "
                             "that are scaled by yarn alone");
    if (table && is_scaled)
        return gguf_wrong(m,
                          "its positions are scaled by a factor and by rope_freqs.weight; one of "
                          "them is read");
    if (table && strcmp(type, "longrope") != 0)
        return put_factors(m, table, json);
    if (!is_yarn && !is_linear && strcmp(type, "none") != 0)
        return gguf_wrong(m, arena_printf(m->job->arena,
                                          "its positions are scaled by '%s'; linear, yarn and "
                                          "LLaMA 3.1's table are read",
                                          text_visible_name(m->job->arena, type)));
    return !is_scaled || put_factor(m, json, type, factor);
}

/* Keys are as wide as values, and positions turn the whole of each head, or of phi3 a part. */
static bool put_widths(const GgufImport *m, JsonWriter *json)
{
    const double width = import_gguf_head_width(m->gguf);
    const bool has_part = !strcmp(m->architecture->name, "phi3");
    for (int i = 0; gguf_head_widths[i]; i++) {
        const double is = own_number(m, gguf_head_widths[i], width);
        if (!i && has_part && is > 0 && is <= width)
            json_put_number(json, "partial_rotary_factor", is / width, 2 * DIGITS);
        else if (is != width)
            return gguf_wrong(
                m, arena_printf(m->job->arena,
                                "%s is %g, but heads are %g wide, which models/llama.tfg "
                                "is written for",
                                gguf_head_widths[i], is, width));
    }
    return true;
}

/* Whether a row that is written once more says what the row of the same published key does. */
static bool check_again(const GgufImport *m, const GgufKey *keys, const GgufKey *again)
{
    const GgufKey *first = keys;
    while (first->is_again || strcmp(first->published, again->published) != 0)
        first++;
    const double is = own_number(m, again->theirs, 0), must = own_number(m, first->theirs, is);
    return is == must || gguf_wrong(m, arena_printf(m->job->arena, "its %s is %g, but its %s is %g",
                                                    again->theirs, is, first->theirs, must));
}

static bool put_keys(const GgufImport *m, JsonWriter *json)
{
    const GgufKey *keys = gguf_keys(m->architecture->model_type);
    bool ok = true;
    for (const GgufKey *key = keys; ok && key->theirs; key++) {
        const GgufValue *value = gguf_own(m->gguf, key->theirs);
        if (key->is_again)
            ok = !value || check_again(m, keys, key);
        else if (value)
            ok = put_finite(m, json, key->published, value);
        else if (key->missing != 0)
            json_put_number(json, key->published, key->missing, DIGITS);
    }
    return ok;
}

/* What models with rotary positions have more. */
static bool put_rotary(const GgufImport *m, JsonWriter *json)
{
    const char *type = m->architecture->model_type;
    if (!strncmp(type, "gemma", 5) && strcmp(type, "gemma"))
        json_put_integer(json, "query_pre_attn_scalar",
                         gguf_query_scalar(m->architecture->name,
                                           as_size(own_number(m, "block_count", 0)),
                                           as_size(own_number(m, "embedding_length", 0)),
                                           as_size(own_number(m, "attention.head_count", 0)),
                                           as_size(import_gguf_head_width(m->gguf))));
    if (strcmp(type, "qwen2")) /* which has them always */
        json_put_bool(json, "attention_bias", find_tensor(m, "blk.0.attn_q.bias"));
    if (find_tensor(m, "blk.0.ffn_gate.bias"))
        json_put_bool(json, "mlp_bias", true);
    return put_widths(m, json) && put_scaling(m, json);
}

static bool write_config(const GgufImport *m)
{
    const char *type = m->architecture->model_type, *name = m->architecture->name;
    const bool is_rotary = gguf_key(gguf_keys(type), "rope.freq_base") != NULL;
    const GgufValue *tokens = gguf_find(m->gguf, "tokenizer.ggml.tokens");
    Text text = {0};
    JsonWriter json = {.out = &text, .indent = 2};
    json_open(&json, NULL, '{');
    json_put_text(&json, "model_type", type);
    json_put_integer(&json, "vocab_size", tokens ? (int64_t)tokens->n : 0);
    bool ok = put_keys(m, &json);
    for (const PublishedToken *token = published_tokens; token->key; token++)
        put_token(m, &json, token->gguf[0], token->key);
    if (!strcmp(name, "t5"))
        json_put_text(&json, "feed_forward_proj",
                      find_tensor(m, "enc.blk.0.ffn_gate.weight") ? "gated-gelu" : "relu");
    if (!strcmp(name, "bert"))
        put_token(m, &json, "token_type_count", "type_vocab_size");
    json_put_bool(&json, "tie_word_embeddings",
                  !strcmp(name, "gpt2") || !find_tensor(m, "output.weight"));
    ok = ok && (!is_rotary || put_rotary(m, &json));
    json_close(&json, '}');
    const bool is_written =
        ok && job_write(m->job, m->to, PUBLISHED_CONFIG, text.data, text.length);
    text_free(&text);
    return is_written;
}

/* ---- generation_config.json ---- */

/* The ids at which a text ends, each once. False after an error. */
static bool find_ends(const GgufImport *m, int64_t ids[PUBLISHED_GGUF_KEYS], int *n)
{
    const GgufValue *tokens = gguf_find(m->gguf, "tokenizer.ggml.tokens");
    *n = 0;
    for (int i = 0; i < PUBLISHED_GGUF_KEYS; i++) {
        const GgufValue *value = find_token(m, published_ends.gguf[i]);
        if (!value)
            continue;
        const int64_t id = gguf_integer(value, 0), most = tokens ? (int64_t)tokens->n : 0;
        int earlier = 0;
        while (earlier < *n && ids[earlier] != id)
            earlier++;
        if (i && (id < 0 || id >= most)) /* the first is checked where config.json is read */
            return gguf_wrong(m,
                              arena_printf(m->job->arena,
                                           "its %s is %" PRId64 ", but it has %" PRId64 " tokens",
                                           published_ends.gguf[i], id, most));
        if (earlier == *n)
            ids[(*n)++] = id;
    }
    return true;
}

static bool put_sampling(const GgufImport *m, JsonWriter *json)
{
    bool ok = true;
    for (const PublishedSampling *sampling = published_sampling; ok && sampling->key; sampling++) {
        const GgufValue *value = sampling->gguf ? gguf_find(m->gguf, sampling->gguf) : NULL;
        ok = !value || put_finite(m, json, sampling->key, value);
    }
    return ok;
}

static bool has_sampling(const GgufImport *m)
{
    const PublishedSampling *sampling = published_sampling;
    while (sampling->key && (!sampling->gguf || !gguf_find(m->gguf, sampling->gguf)))
        sampling++;
    return sampling->key != NULL;
}

/* The file says what config.json cannot: several ends, and settings of generation. */
static bool write_generation(const GgufImport *m)
{
    int64_t ids[PUBLISHED_GGUF_KEYS];
    int n;
    if (!find_ends(m, ids, &n))
        return false;
    if (n < 2 && !has_sampling(m))
        return true;
    Text text = {0};
    JsonWriter json = {.out = &text, .indent = 2};
    json_open(&json, NULL, '{');
    if (n)
        json_open(&json, published_ends.key, '[');
    for (int i = 0; i < n; i++)
        json_put_integer(&json, NULL, ids[i]);
    if (n)
        json_close(&json, ']');
    const bool is_put = put_sampling(m, &json);
    json_close(&json, '}');
    const bool ok =
        is_put && job_write(m->job, m->to, PUBLISHED_GENERATION, text.data, text.length);
    text_free(&text);
    return ok;
}

/* ---- weights ---- */

/* In what most bytes of blocks are computed, and what is said of it. */
static const char *find_quant(const GgufImport *m)
{
    const char *quant = NULL, *names = "", *words = "";
    uint64_t most = 0;
    for (uint32_t number = 0; number < 64; number++) {
        const GgufType *type = gguf_type(number);
        uint64_t bytes = 0;
        for (size_t i = 0; type && type->blocks && i < m->gguf->list.tensors.count; i++)
            if (m->gguf->list.tensors.data[i].blocks == type->blocks)
                bytes += m->gguf->list.tensors.data[i].bytes;
        if (!bytes)
            continue;
        names = arena_printf(m->job->arena, "%s%s%s", names, *names ? ", " : "", type->name);
        if (!strstr(words, type->quant))
            words = arena_printf(m->job->arena, "%s%s%s", words, *words ? ", " : "", type->quant);
        quant = bytes > most ? type->quant : quant;
        most = bytes > most ? bytes : most;
    }
    if (quant)
        diag_remark(&m->job->diags, (Loc){0},
                    "%s: matrices are %s: commands compute them in %s (--dtype chooses another)",
                    m->path, names, words);
    return quant;
}

static bool convert(GgufImport *m, const char **quant)
{
    m->architecture = gguf_architecture(m->gguf);
    if (!m->architecture)
        return gguf_wrong(m, arena_printf(m->job->arena, "its architecture is '%s'; %s are read",
                                          text_visible_name(m->job->arena, m->gguf->architecture),
                                          gguf_architectures(m->job->arena, false)));
    const bool ok =
        import_gguf_check_keys(m) && import_gguf_tokenizer(m) && write_config(m) &&
        write_generation(m) &&
        (strcmp(m->architecture->name, "bert") || gguf_write_sentences(m->job, m->gguf, m->to));
    *quant = ok ? find_quant(m) : NULL;
    return ok;
}

bool import_gguf_is(Job *job, const char *path)
{
    Diagnostics unseen;
    diag_init(&unseen, job->arena);
    uint64_t size;
    const void *map = file_map(&unseen, path, &size);
    const bool is = map && gguf_is_read(map, size);
    file_unmap(map, size);
    return is;
}

bool import_gguf(Job *job, const char *path, const char *to, const char **quant)
{
    uint64_t size;
    const void *map = file_map(&job->diags, path, &size);
    GgufImport m = {.job = job, .path = path, .to = to};
    m.gguf = map ? gguf_read(&job->diags, job->arena, path, map, size) : NULL;
    const bool ok = m.gguf && convert(&m, quant);
    file_unmap(map, size);
    return ok;
}
