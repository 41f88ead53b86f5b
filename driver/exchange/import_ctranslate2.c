/* From a folder of CTranslate2's to a published one: which family the model is of, by its
 * variables (python/ctranslate2/specs/transformer_spec.py), and its config.json. */
#include "driver/exchange/import_ctranslate2.h"

#include "base/file.h"
#include "base/json_read.h"
#include "base/json_write.h"
#include "driver/exchange/import_ctranslate2_model.h"
#include "driver/exchange/import_json.h"
#include "driver/exchange/import_marian.h"
#include "driver/exchange/published_tokens.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

enum { LARGEST_TEXT = 64 << 20, MOST_LAYERS = 1000 };

#define MODEL_BIN "model.bin"

/* By python/ctranslate2/converters/transformers.py. */
static const SpecFamily families[] = {
    {"marian", "MarianMTModel", "models/marian.tfg", .from_zeros = true, .has_bias = true,
     .positions = POSITIONS_SINES},
    {"bart", "BartForConditionalGeneration", "models/bart.tfg", .embedding_norm = true,
     .has_bias = true, .positions = POSITIONS_LEARNED},
    {"mbart", "MBartForConditionalGeneration", "models/mbart.tfg", .pre_norm = true,
     .embedding_norm = true, .has_bias = true, .has_languages = true,
     .positions = POSITIONS_LEARNED},
    {"m2m_100", "M2M100ForConditionalGeneration", "models/m2m_100.tfg", .pre_norm = true,
     .has_languages = true, .positions = POSITIONS_FAIRSEQ},
};
enum { N_FAMILIES = sizeof families / sizeof *families };

/* ---- variables ---- */

const char *spec_side(int side) { return side ? "decoder" : "encoder"; }

const StTensor *spec_find(SpecImport *m, const char *name)
{
    const StTensor *tensor = st_find(m->file, name);
    if (tensor)
        map_set(&m->used, name, m);
    return tensor;
}

const StTensor *spec_need(SpecImport *m, const char *name)
{
    const StTensor *tensor = spec_find(m, name);
    if (!tensor)
        job_error(m->job, "%s: the variable '%s' is missing: %s is written for it", m->file->path,
                  name, m->family->model);
    return tensor;
}

bool spec_write_file(const SpecImport *m, const char *name, const char *bytes, size_t size)
{
    return file_write_all(&m->job->diags, file_in(m->job->arena, m->to, name), bytes, size);
}

static const char *of_side(const SpecImport *m, int side, const char *name)
{
    return arena_printf(m->job->arena, "%s/%s", spec_side(side), name);
}

/* A variable's only element; `missing`: there is no such variable. NAN after an error: it has
 * several. */
static double number_of(SpecImport *m, const char *name, double missing)
{
    const StTensor *tensor = spec_find(m, name);
    if (!tensor || tensor->count == 1)
        return tensor ? st_value(tensor, 0) : missing;
    job_error(m->job, "%s: '%s' has %lld elements; expected one", m->file->path, name,
              (long long)tensor->count);
    return NAN;
}

/* ---- the family ---- */

/* Layers are numbered from 0 on. */
static int64_t count_layers(const SpecImport *m, int side)
{
    int64_t n = 0;
    while (n < MOST_LAYERS &&
           st_find(m->file, arena_printf(m->job->arena,
                                         "%s/layer_%" PRId64 "/self_attention/linear_0/weight",
                                         spec_side(side), n)))
        n++;
    return n;
}

static bool has_parts(SpecImport *m, const SpecFamily *f)
{
    bool ok = number_of(m, "decoder/start_from_zero_embedding", 0) == f->from_zeros;
    for (int side = 0; side < 2; side++)
        ok = ok && number_of(m, of_side(m, side, "pre_norm"), 1) == f->pre_norm &&
             !spec_find(m, of_side(m, side, "layernorm_embedding/gamma")) == !f->embedding_norm;
    return ok;
}

static const char *known_types(const SpecImport *m)
{
    const char *names = families[0].type;
    for (int i = 1; i < N_FAMILIES; i++)
        names = arena_printf(m->job->arena, "%s, %s", names, families[i].type);
    return names;
}

static bool find_family(SpecImport *m)
{
    for (int side = 0; side < 2; side++)
        m->layers[side] = count_layers(m, side);
    if (!m->layers[0] || !m->layers[1])
        return job_error(m->job,
                         "%s: it has no %s with layers of its own: of CTranslate2's models those "
                         "that translate are read (%s); import the one that it was converted from",
                         m->file->path, spec_side(m->layers[0] != 0), known_types(m));
    const int errors = m->job->diags.errors;
    for (int i = 0; i < N_FAMILIES && m->job->diags.errors == errors; i++)
        if (has_parts(m, &families[i])) {
            m->family = &families[i];
            return true;
        }
    return m->job->diags.errors == errors &&
           job_error(m->job,
                     "%s: a model with pre_norm %g and %g, start_from_zero_embedding %g and %s "
                     "layernorm_embedding is none of those that are read (%s); import the one that "
                     "it was converted from",
                     m->file->path, number_of(m, "encoder/pre_norm", 1),
                     number_of(m, "decoder/pre_norm", 1),
                     number_of(m, "decoder/start_from_zero_embedding", 0),
                     spec_find(m, "encoder/layernorm_embedding/gamma") ? "a" : "no",
                     known_types(m));
}

/* ---- what the model says of itself ---- */

/* What a model of each family has, with what a file without the variable means, and what changes
 * nothing (NAN). */
static const struct {
    const char *name;
    double value, missing;
} must[] = {
    {"decoder/alibi", 0, 0},
    {"encoder/multi_query_attention", 0, 0},
    {"encoder/embeddings_merge", NAN, 0},
    {"decoder/alignment_layer", NAN, 0},
    {"decoder/alignment_heads", NAN, 0},
    {"decoder/alibi_use_positive_positions", NAN, 0},
    {"decoder/scale_alibi", NAN, 0},
};

static bool check_values(SpecImport *m)
{
    bool ok = true;
    for (size_t i = 0; i < sizeof must / sizeof *must; i++) {
        if (isnan(must[i].value)) {
            spec_find(m, must[i].name); /* it is known */
            continue;
        }
        const double is = number_of(m, must[i].name, must[i].missing);
        if (isnan(is))
            ok = false;
        else if (is != must[i].value)
            ok = job_error(m->job, "%s: '%s' is %g: %s is written for %g", m->file->path,
                           must[i].name, is, m->family->model, must[i].value);
    }
    return ok;
}

/* A flag, of one byte, or the factor itself. */
static double embeddings_scale(SpecImport *m, int side)
{
    const char *name = of_side(m, side, "scale_embeddings");
    const StTensor *tensor = spec_find(m, name);
    const double value = number_of(m, name, 1), root = sqrt((double)m->d_model);
    if (!tensor || tensor->type == ST_I8)
        return value != 0 ? root : 1;
    return value;
}

static bool read_scale(SpecImport *m)
{
    const double scale = embeddings_scale(m, 0), other = embeddings_scale(m, 1);
    m->is_scaled = scale != 1;
    if (isnan(scale) || isnan(other))
        return false;
    if (scale != other ||
        (m->is_scaled && !(fabs(scale - sqrt((double)m->d_model)) < 1e-3 * scale)))
        return job_error(m->job,
                         "%s: scale_embeddings is %g and %g: %s is written for 1, or for the root "
                         "of the width, on both sides",
                         m->file->path, scale, other, m->family->model);
    return true;
}

static bool read_width(SpecImport *m)
{
    const StTensor *table = spec_need(m, "decoder/embeddings/weight");
    if (!table)
        return false;
    if (table->rank != 2 || table->dims[0] != (int64_t)m->tokens.count)
        return job_error(m->job, "%s: '%s' is %s, but the vocabulary has %zu tokens", m->file->path,
                         table->name, text_list(m->job->arena, table->dims, table->rank),
                         m->tokens.count);
    m->d_model = table->dims[1];
    return true;
}

/* Whether the rows are sines and cosines of so many positions, the first of which is `from`. */
static bool has_sines(const StTensor *table, int64_t width, double turns, int64_t from)
{
    const double most = 8e-3; /* of bf16 */
    const int64_t half = width / 2;
    bool ok = true;
    for (int64_t i = 0; ok && i < half; i++) {
        const double slow = i ? pow(10000, (double)i / turns) : 1;
        for (int64_t p = 0; ok && p < table->dims[0]; p++) {
            const double angle = (double)(p + from) / slow;
            ok = fabs(st_value(table, p * width + i) - sin(angle)) < most &&
                 fabs(st_value(table, p * width + half + i) - cos(angle)) < most;
        }
    }
    return ok;
}

/* The values of the table of positions; what is learned has any. */
static bool check_positions(SpecImport *m, int side)
{
    const char *name = of_side(m, side, "position_encodings/encodings");
    const StTensor *table = spec_need(m, name);
    const bool is_fairseq = m->family->positions == POSITIONS_FAIRSEQ;
    const double turns = (double)(m->d_model / 2 - is_fairseq);
    const bool ok = table && table->rank == 2 && table->dims[1] == m->d_model;
    if (table && !ok)
        return job_error(
            m->job, "%s: '%s' has the shape %s; expected a row of %lld numbers for each position",
            m->file->path, name, text_list(m->job->arena, table->dims, table->rank),
            (long long)m->d_model);
    if (!table || m->family->positions == POSITIONS_LEARNED)
        return ok;
    return has_sines(table, m->d_model, turns, 2 * is_fairseq) ||
           job_error(m->job,
                     "%s: '%s' is not the table of sines and cosines that %s is written for",
                     m->file->path, name, m->family->model);
}

/* ---- tokens ---- */

static bool is_said(const SpecImport *m, const char *rule)
{
    const size_t length = strlen(rule);
    for (size_t i = 0; i < m->said->count; i++)
        if (!strncmp(m->said->data[i], rule, length) && m->said->data[i][length] == '=')
            return true;
    return false;
}

/* The keys of tokens that config.json may name. */
static const char *const spec_tokens[] = {"bos_token_id", "eos_token_id", "pad_token_id",
                                          "decoder_start_token_id"};
enum { N_SPEC_TOKENS = sizeof spec_tokens / sizeof *spec_tokens };

/* The text of the token that config.json names; NULL: it names none. */
static const char *named_token(const SpecImport *m, const char *key)
{
    return m->config ? json_member_text(m->config, published_token(key)->text) : NULL;
}

static const char *end_token(const SpecImport *m)
{
    const char *named = named_token(m, "eos_token_id");
    return named ? named : "</s>";
}

/* The id of the token that config.json names, or of the one that a folder without the key means. */
static bool put_token(SpecImport *m, JsonWriter *json, const char *key, const char *otherwise)
{
    const char *named = named_token(m, key), *token = named ? named : otherwise;
    const int64_t id = spec_id(m, token);
    json_put_integer(json, key, id);
    return id >= 0 || job_error(m->job, "%s: the token '%s' (%s) is not in the vocabulary",
                                m->folder, text_visible_name(m->job->arena, token), key);
}

/* The token that targets begin with is one of config.json's, or of --token. */
static bool put_start(SpecImport *m, JsonWriter *json)
{
    static const char key[] = "decoder_start_token_id", rule[] = "begin";
    return named_token(m, key) || is_said(m, rule)
               ? put_token(m, json, key, end_token(m))
               : job_error(m->job,
                           "%s: no config.json says the %s: --token %s=TOKEN gives the token "
                           "that targets begin with",
                           m->folder, published_token(key)->text, rule);
}

static bool put_tokens(SpecImport *m, JsonWriter *json)
{
    return put_token(m, json, "bos_token_id", "<s>") &&
           put_token(m, json, "eos_token_id", "</s>") &&
           put_token(m, json, "pad_token_id", "<pad>") && put_start(m, json);
}

static bool put_class(SpecImport *m, JsonWriter *json)
{
    const SpecFamily *f = m->family;
    if (f->from_zeros && spec_id(m, "<pad>") >= 0)
        return job_error(m->job,
                         "%s: the token '<pad>' is in the vocabulary, where models of Marian's "
                         "kind have none",
                         m->folder);
    if (f->from_zeros) {
        const int64_t id = spec_id(m, end_token(m));
        import_marian_class(json, (int64_t)m->tokens.count, id, m->is_scaled);
        return id >= 0 || job_error(m->job, "%s: the end token '%s' is not in the vocabulary",
                                    m->folder, text_visible_name(m->job->arena, end_token(m)));
    }
    json_put_text(json, "model_type", f->type);
    json_open(json, "architectures", '[');
    json_put_text(json, NULL, f->class_name);
    json_close(json, ']');
    json_put_integer(json, "vocab_size", (int64_t)m->tokens.count);
    json_put_bool(json, "is_encoder_decoder", true);
    json_put_bool(json, "scale_embedding", m->is_scaled);
    if (f->positions == POSITIONS_LEARNED)
        json_put_integer(json, "max_position_embeddings",
                         spec_need(m, "encoder/position_encodings/encodings")->dims[0]);
    return put_tokens(m, json);
}

/* ---- config.json ---- */

static bool put_sizes(SpecImport *m, JsonWriter *json, int side)
{
    const StTensor *inner = spec_need(m, of_side(m, side, "layer_0/ffn/linear_0/weight"));
    const double heads = number_of(m, of_side(m, side, "num_heads"), 8);
    const char *name = spec_side(side);
    if (!inner)
        return false;
    if (isnan(heads))
        return false;
    if (!(heads >= 1 && heads <= (double)m->d_model && heads == floor(heads)))
        return job_error(m->job,
                         "%s: '%s/num_heads' is %g; expected a number of heads from 1 to %lld",
                         m->file->path, name, heads, (long long)m->d_model);
    json_put_integer(json, arena_printf(m->job->arena, "%s_layers", name), m->layers[side]);
    json_put_integer(json, arena_printf(m->job->arena, "%s_ffn_dim", name), inner->dims[0]);
    json_put_integer(json, arena_printf(m->job->arena, "%s_attention_heads", name), (int64_t)heads);
    return true;
}

static bool put_activation(SpecImport *m, JsonWriter *json)
{
    /* common_spec.Activation */
    static const char *const names[] = {"relu", "gelu_new", "swish", "gelu", NULL, "tanh"};
    const double known = sizeof names / sizeof *names;
    const double is = number_of(m, "encoder/activation", 0);
    const double other = number_of(m, "decoder/activation", 0);
    if (isnan(is) || isnan(other))
        return false;
    if (!(is >= 0 && is < known && is == floor(is)) || !names[(int)is] || other != is)
        return job_error(m->job, "%s: its activation, number %g, is not known to %s", m->file->path,
                         is, m->family->model);
    json_put_text(json, "activation_function", names[(int)is]);
    return true;
}

/* What config.json says beside tokens. */
static bool check_config(SpecImport *m)
{
    const char *path = file_in(m->job->arena, m->folder, "config.json");
    const JsonValue *eps, *begin, *token;
    if (!import_json_member(m->job, path, m->config, "layer_norm_epsilon", IS_NUMBER, &eps) ||
        !import_json_member(m->job, path, m->config, "add_source_bos", IS_FLAG, &begin))
        return false;
    for (int i = 0; i < N_SPEC_TOKENS; i++)
        if (!import_json_member(m->job, path, m->config, published_token(spec_tokens[i])->text,
                                IS_TEXT, &token))
            return false;
    const double value = eps ? eps->number : 1e-5;
    if (fabs(value - 1e-5) > 1e-9)
        return job_error(m->job, "%s/config.json: layer_norm_epsilon is %g: %s is written for 1e-5",
                         m->folder, value, m->family->model);
    const bool is_bare = m->family->from_zeros || m->family->has_languages;
    return !(is_bare && begin && begin->kind == JV_TRUE) ||
           job_error(m->job,
                     "%s/config.json: add_source_bos is true: %s is written for sources that "
                     "begin with their text",
                     m->folder, m->family->model);
}

static bool write_config(SpecImport *m)
{
    Text text = {0};
    JsonWriter json = {.out = &text, .indent = 2};
    json_open(&json, NULL, '{');
    bool ok = check_config(m) && put_class(m, &json);
    json_put_integer(&json, "d_model", m->d_model);
    ok = ok && put_sizes(m, &json, 0) && put_sizes(m, &json, 1) && put_activation(m, &json);
    json_close(&json, '}');
    text_string(&text, "\n");
    ok = ok && spec_write_file(m, "config.json", text.data, text.length);
    text_free(&text);
    return ok;
}

/* ---- the folder ---- */

/* The folder's config.json, if it has one that can be read. */
static const JsonValue *read_config(Job *job, const char *folder)
{
    const char *path = file_in(job->arena, folder, "config.json");
    Job quiet = job_quiet(job, job->arena);
    const Source *source = file_exists(path) ? job_read(&quiet, folder, path, LARGEST_TEXT) : NULL;
    const char *problem;
    return source ? json_read(job->arena, source->text, source->length, &problem) : NULL;
}

bool import_ctranslate2_is(Job *job, const char *folder)
{
    const char *path = file_in(job->arena, folder, MODEL_BIN);
    const JsonValue *config = read_config(job, folder);
    if (!file_exists(path) || (config && json_member(config, "model_type")))
        return false;
    Diagnostics unseen;
    diag_init(&unseen, job->arena);
    uint64_t size;
    const void *map = file_map(&unseen, path, &size);
    const Format *format = map ? format_of(path, map, size) : NULL;
    file_unmap(map, size);
    return format && !strcmp(format->name, FORMAT_CTRANSLATE2);
}

/* What the folder does not say. */
static void tell_languages(const SpecImport *m)
{
    if (m->family->has_languages && !is_said(m, "first"))
        diag_remark(&m->job->diags, (Loc){0},
                    "%s does not say which languages it is to translate between: --token "
                    "source-begin=TOKEN and --token first=TOKEN name theirs",
                    m->folder);
}

bool import_ctranslate2(Job *job, const char *folder, const TextList *said, const char *to)
{
    SpecImport m = {.job = job, .folder = folder, .to = to, .said = said};
    StFile *file = format_open(&job->diags, job->arena, file_in(job->arena, folder, MODEL_BIN));
    m.file = file;
    m.config = read_config(job, folder);
    map_init(&m.used, job->arena);
    const bool ok = file && find_family(&m) && spec_read_tokens(&m) && read_width(&m) &&
                    check_values(&m) && read_scale(&m) && check_positions(&m, 0) &&
                    check_positions(&m, 1) && write_config(&m) && spec_write_tokenizer(&m) &&
                    spec_write_weights(&m);
    if (ok)
        tell_languages(&m);
    st_close(file);
    return ok;
}
