/* From CTranslate2's variables (python/ctranslate2/specs/transformer_spec.py) to the tensors and
 * keys of Hugging Face's MarianMTModel. */
#include "driver/exchange/import_ctranslate2.h"

#include "base/file.h"
#include "base/json_read.h"
#include "base/json_write.h"
#include "driver/exchange/import_marian.h"
#include "driver/formats/formats.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

enum { LARGEST_TEXT = 64 << 20, MOST_LAYERS = 1000 };

#define MODEL_BIN "model.bin"

typedef struct SpecImport {
    Job *job;
    const char *folder, *to;
    const StFile *file;
    const JsonValue *config; /* NULL: there is none, as before CTranslate2 3 */
    TextList tokens;         /* in the order of their ids */
    int64_t d_model, end;    /* the latter: the id of the end token */
    int64_t layers[2];
    Map used; /* variables */
    VEC(StTensor) tensors;
} SpecImport;

/* ---- what the model says of itself ---- */

static const StTensor *find_variable(SpecImport *m, const char *name)
{
    const StTensor *tensor = st_find(m->file, name);
    if (tensor)
        map_set(&m->used, name, m);
    return tensor;
}

static const StTensor *need_variable(SpecImport *m, const char *name)
{
    const StTensor *tensor = find_variable(m, name);
    if (!tensor)
        job_error(m->job, "%s: the variable '%s' is missing: models/marian.tfg is written for it",
                  m->file->path, name);
    return tensor;
}

/* Its only element; `missing`: there is no such variable. */
static double number_of(SpecImport *m, const char *name, double missing)
{
    const StTensor *tensor = find_variable(m, name);
    return tensor && tensor->count == 1 ? st_value(tensor, 0) : missing;
}

/* What a Transformer of Marian's kind has, with what a file without the variable means, and what
 * changes nothing (NAN). */
static const struct {
    const char *name;
    double value, missing;
} must[] = {
    {"encoder/pre_norm", 0, 1},
    {"decoder/pre_norm", 0, 1},
    {"decoder/start_from_zero_embedding", 1, 0},
    {"decoder/alibi", 0, 0},
    {"encoder/multi_query_attention", 0, 0},
    {"encoder/embeddings_merge", NAN, 0},
    {"decoder/alignment_layer", NAN, 0},
    {"decoder/alignment_heads", NAN, 0},
    {"decoder/alibi_use_positive_positions", NAN, 0},
    {"decoder/scale_alibi", NAN, 0},
};

static bool check_kind(SpecImport *m)
{
    bool ok = true;
    for (size_t i = 0; i < sizeof must / sizeof *must; i++) {
        const double is = number_of(m, must[i].name, must[i].missing);
        if (!isnan(must[i].value) && is != must[i].value)
            ok = job_error(m->job, "%s: '%s' is %g: models/marian.tfg is written for %g",
                           m->file->path, must[i].name, is, must[i].value);
    }
    for (int side = 0; side < 2; side++) { /* true, or the factor itself */
        const char *name = side ? "decoder/scale_embeddings" : "encoder/scale_embeddings";
        const double scale = number_of(m, name, 1);
        if (scale != 1 && fabs(scale - sqrt((double)m->d_model)) > 1e-3 * scale)
            ok = job_error(m->job, "%s: '%s' is %g: models/marian.tfg is written for 1",
                           m->file->path, name, scale);
    }
    return ok;
}

/* Sines, then cosines, of position / 10000^(i / (d / 2)), as Hugging Face's Marian has them. */
static bool check_positions(SpecImport *m, const char *name)
{
    enum { ROWS = 8 };
    const double most = 8e-3; /* of bf16 */
    const StTensor *table = find_variable(m, name);
    const int64_t half = m->d_model / 2;
    bool ok = table && table->rank == 2 && table->dims[1] == m->d_model;
    for (int64_t p = 0; ok && p < ROWS && p < table->dims[0]; p++)
        for (int64_t i = 0; ok && i < half; i++) {
            const double angle = (double)p / pow(10000, (double)i / (double)half);
            ok = fabs(st_value(table, p * m->d_model + i) - sin(angle)) < most &&
                 fabs(st_value(table, p * m->d_model + half + i) - cos(angle)) < most;
        }
    return ok || job_error(m->job,
                           "%s: '%s' is not the table of sines and cosines that models/marian.tfg "
                           "is written for",
                           m->file->path, name);
}

/* Layers are numbered from 0 on. */
static int64_t count_layers(const SpecImport *m, const char *side)
{
    int64_t n = 0;
    while (n < MOST_LAYERS &&
           st_find(m->file,
                   arena_printf(m->job->arena,
                                "%s/layer_%" PRId64 "/self_attention/linear_0/weight", side, n)))
        n++;
    return n;
}

static bool read_sizes(SpecImport *m)
{
    const StTensor *table = need_variable(m, "decoder/embeddings/weight");
    if (!table)
        return false;
    if (table->rank != 2 || table->dims[0] != (int64_t)m->tokens.count)
        return job_error(m->job, "%s: '%s' is %s, but the vocabulary has %zu tokens", m->file->path,
                         table->name, text_list(m->job->arena, table->dims, table->rank),
                         m->tokens.count);
    m->d_model = table->dims[1];
    m->layers[0] = count_layers(m, "encoder");
    m->layers[1] = count_layers(m, "decoder");
    return (m->layers[0] && m->layers[1]) ||
           job_error(m->job, "%s: it has no encoder or no decoder: models/marian.tfg has both",
                     m->file->path);
}

/* ---- vocabularies ---- */

static bool add_lines(SpecImport *m, const Source *source, TextList *tokens)
{
    for (const char *at = source->text, *end = at + source->length; at < end;) {
        const char *line = memchr(at, '\n', (size_t)(end - at));
        const size_t length = (size_t)((line ? line : end) - at);
        vec_push(m->job->arena, *tokens, arena_strndup(m->job->arena, at, length));
        at += length + 1;
    }
    return true;
}

static bool read_list(SpecImport *m, const char *path, TextList *tokens)
{
    const Source *source = file_read(&m->job->diags, m->job->arena, path, LARGEST_TEXT);
    if (!source || !text_ends(path, ".json"))
        return source && add_lines(m, source, tokens);
    const char *problem = "";
    const JsonValue *list = json_read(m->job->arena, source->text, source->length, &problem);
    bool ok = list && list->kind == JV_LIST;
    for (size_t i = 0; ok && i < list->n; i++) {
        ok = list->items[i].kind == JV_STRING;
        vec_push(m->job->arena, *tokens, list->items[i].text);
    }
    return ok || job_error(m->job, "%s: %s", path,
                           list || !problem ? "expected a list of tokens" : problem);
}

/* The list NAME.json or NAME.txt of the folder. False: there is none, or after an error. */
static bool read_named(SpecImport *m, const char *name, TextList *tokens)
{
    static const char *const endings[] = {"json", "txt"};
    *tokens = (TextList){0};
    for (int i = 0; i < 2; i++) {
        const char *path = file_in(m->job->arena, m->folder,
                                   arena_printf(m->job->arena, "%s.%s", name, endings[i]));
        if (file_exists(path))
            return read_list(m, path, tokens);
    }
    return false;
}

static const char *named_token(const SpecImport *m, const char *key, const char *otherwise)
{
    const char *name = m->config ? json_member_text(m->config, key) : NULL;
    return name ? name : otherwise;
}

static bool read_tokens(SpecImport *m)
{
    TextList source;
    const int errors = m->job->diags.errors;
    bool same = true;
    if (!read_named(m, "shared_vocabulary", &m->tokens)) {
        if (m->job->diags.errors > errors || !read_named(m, "source_vocabulary", &source) ||
            !read_named(m, "target_vocabulary", &m->tokens))
            return m->job->diags.errors > errors ||
                   job_error(m->job, "%s has no shared_vocabulary.json, and no list a side",
                             m->folder);
        same = source.count == m->tokens.count;
        for (size_t i = 0; same && i < source.count; i++)
            same = !strcmp(source.data[i], m->tokens.data[i]);
    }
    if (!same)
        return job_error(m->job,
                         "%s has another vocabulary on each side: models/marian.tfg has one "
                         "for both",
                         m->folder);
    const char *end = named_token(m, "eos_token", "</s>");
    Map seen;
    map_init(&seen, m->job->arena);
    m->end = -1;
    for (size_t i = 0; i < m->tokens.count; i++) {
        const char *token = m->tokens.data[i];
        if (map_has(&seen, token) || !strcmp(token, "<pad>"))
            return job_error(m->job, "%s: the token '%s' %s", m->folder,
                             text_visible_name(m->job->arena, token),
                             map_has(&seen, token)
                                 ? "is twice in the vocabulary"
                                 : "is in the vocabulary, where models of Marian's kind have none");
        map_set(&seen, token, m);
        m->end = strcmp(token, end) ? m->end : (int64_t)i;
    }
    return m->end >= 0 || job_error(m->job, "%s: the end token '%s' is not in the vocabulary",
                                    m->folder, text_visible_name(m->job->arena, end));
}

static bool write_file(const SpecImport *m, const char *name, const char *bytes, size_t size)
{
    return file_write_all(&m->job->diags, file_in(m->job->arena, m->to, name), bytes, size);
}

static bool write_vocabulary(SpecImport *m)
{
    static const char *const sides[] = {"source.spm", "target.spm"};
    Text text = {0};
    JsonWriter json = {.out = &text};
    json_open(&json, NULL, '{');
    for (size_t i = 0; i < m->tokens.count; i++)
        json_put_integer(&json, m->tokens.data[i], (int64_t)i);
    json_put_integer(&json, "<pad>", (int64_t)m->tokens.count);
    json_close(&json, '}');
    bool ok = write_file(m, "vocab.json", text.data, text.length);
    text_free(&text);
    for (int i = 0; ok && i < 2; i++) {
        const char *path = file_in(m->job->arena, m->folder, sides[i]);
        const Source *side =
            file_exists(path) ? file_read(&m->job->diags, m->job->arena, path, LARGEST_TEXT) : NULL;
        if (!file_exists(path))
            return job_error(m->job,
                             "%s has no %s: copy the SentencePiece models of the published model "
                             "there (--copy_files of ct2-transformers-converter does)",
                             m->folder, sides[i]);
        ok = side && write_file(m, sides[i], side->text, side->length);
    }
    return ok;
}

/* ---- config.json ---- */

static bool write_config(SpecImport *m)
{
    /* common_spec.Activation */
    static const char *const activations[] = {"relu", NULL, "swish", "gelu"};
    const double activation = number_of(m, "encoder/activation", 0);
    const double heads = number_of(m, "encoder/num_heads", 8);
    const StTensor *inner = need_variable(m, "encoder/layer_0/ffn/linear_0/weight");
    const int known = sizeof activations / sizeof *activations;
    if (!inner)
        return false;
    if (!(activation >= 0 && activation < known) || !activations[(int)activation] ||
        number_of(m, "decoder/activation", 0) != activation)
        return job_error(m->job, "%s: its activation, number %g, is not known to models/marian.tfg",
                         m->file->path, activation);
    if (!(heads >= 1 && heads <= (double)m->d_model) ||
        number_of(m, "decoder/num_heads", 8) != heads)
        return job_error(m->job, "%s: '%s' is no number of heads for both sides", m->file->path,
                         "encoder/num_heads");
    Text text = {0};
    JsonWriter json = {.out = &text, .indent = 2};
    json_open(&json, NULL, '{');
    import_marian_class(&json, (int64_t)m->tokens.count, m->end);
    json_put_integer(&json, "d_model", m->d_model);
    for (int side = 0; side < 2; side++) {
        const char *name = side ? "decoder" : "encoder";
        json_put_integer(&json, arena_printf(m->job->arena, "%s_layers", name), m->layers[side]);
        json_put_integer(&json, arena_printf(m->job->arena, "%s_ffn_dim", name), inner->dims[0]);
        json_put_integer(&json, arena_printf(m->job->arena, "%s_attention_heads", name),
                         (int64_t)heads);
    }
    json_put_text(&json, "activation_function", activations[(int)activation]);
    json_close(&json, '}');
    text_string(&text, "\n");
    const bool ok = write_file(m, "config.json", text.data, text.length);
    text_free(&text);
    return ok;
}

/* ---- weights ---- */

/* A tensor `name` of f32 and the rank: part `part` of `parts` equal ones along the variable's first
 * axis, and `more` rows of zeros behind it. */
static bool put_tensor(SpecImport *m, const char *name, const char *variable, int rank, int part,
                       int parts, int64_t more)
{
    const StTensor *from = need_variable(m, variable);
    if (!from)
        return false;
    if (from->rank != rank || from->dims[0] % parts)
        return job_error(m->job, "%s: the variable '%s' is %s, which is no shape of it",
                         m->file->path, variable, text_list(m->job->arena, from->dims, from->rank));
    const int64_t n = from->count / parts, first = n * part;
    StTensor tensor = {.name = name, .type = ST_F32, .rank = from->rank};
    memcpy(tensor.dims, from->dims, sizeof from->dims);
    tensor.dims[0] = from->dims[0] / parts + more;
    const int64_t width = from->rank == 2 ? from->dims[1] : 1;
    float *data = ARENA_ARRAY(m->job->arena, float, n + more * width + 1);
    if (!st_floats(from, first, n, data))
        for (int64_t i = 0; i < n; i++)
            data[i] = (float)st_value(from, first + i);
    memset(data + n, 0, (size_t)(more * width) * sizeof *data);
    tensor.data = data;
    vec_push(m->job->arena, m->tensors, tensor);
    return true;
}

/* SpecPart: a layer of the specification, and Hugging Face's. Those with the same `theirs` are
 * parts of it, one after the other. */
typedef struct SpecPart {
    const char *theirs, *published;
    int part, parts;
    bool is_norm;
} SpecPart;
static const SpecPart of_self[] = {
    {"self_attention/linear_0", "self_attn.q_proj", 0, 3, false},
    {"self_attention/linear_0", "self_attn.k_proj", 1, 3, false},
    {"self_attention/linear_0", "self_attn.v_proj", 2, 3, false},
    {"self_attention/linear_1", "self_attn.out_proj", 0, 1, false},
    {"self_attention/layer_norm", "self_attn_layer_norm", 0, 1, true},
    {"ffn/linear_0", "fc1", 0, 1, false},
    {"ffn/linear_1", "fc2", 0, 1, false},
    {"ffn/layer_norm", "final_layer_norm", 0, 1, true},
};
static const SpecPart of_cross[] = {
    {"attention/linear_0", "encoder_attn.q_proj", 0, 1, false},
    {"attention/linear_1", "encoder_attn.k_proj", 0, 2, false},
    {"attention/linear_1", "encoder_attn.v_proj", 1, 2, false},
    {"attention/linear_2", "encoder_attn.out_proj", 0, 1, false},
    {"attention/layer_norm", "encoder_attn_layer_norm", 0, 1, true},
};
#define COUNT(list) ((int)(sizeof(list) / sizeof *(list)))

static bool put_layer(SpecImport *m, const char *side, int64_t layer, const SpecPart *parts, int n)
{
    static const char *const linear[] = {"weight", "bias"}, *const norm[] = {"gamma", "beta"};
    Arena *arena = m->job->arena;
    bool ok = true;
    for (int i = 0; i < n; i++)
        for (int k = 0; k < 2; k++)
            ok = put_tensor(m,
                            arena_printf(arena, "model.%s.layers.%" PRId64 ".%s.%s", side, layer,
                                         parts[i].published, linear[k]),
                            arena_printf(arena, "%s/layer_%" PRId64 "/%s/%s", side, layer,
                                         parts[i].theirs, (parts[i].is_norm ? norm : linear)[k]),
                            k || parts[i].is_norm ? 1 : 2, parts[i].part, parts[i].parts, 0) &&
                 ok;
    return ok;
}

/* One table is embedding of both sides and output. */
static bool check_tied(SpecImport *m)
{
    static const char *const others[] = {"encoder/embeddings_0/weight",
                                         "decoder/projection/weight"};
    const StTensor *table = need_variable(m, "decoder/embeddings/weight");
    for (int i = 0; i < 2; i++) {
        const StTensor *other = need_variable(m, others[i]);
        if (!other)
            return false;
        if (other->bytes != table->bytes ||
            (other->data != table->data && memcmp(other->data, table->data, table->bytes)))
            return job_error(m->job,
                             "%s: '%s' is another table than '%s': models/marian.tfg has "
                             "one for both",
                             m->file->path, others[i], table->name);
    }
    return true;
}

/* What nobody here knows may change what the model computes. */
static bool check_unused(const SpecImport *m)
{
    bool ok = true;
    for (int64_t i = 0; ok && i < m->file->n; i++)
        if (!map_has(&m->used, m->file->tensors[i].name))
            ok = job_error(m->job, "%s: models/marian.tfg has nothing like the variable '%s'",
                           m->file->path,
                           text_visible_name(m->job->arena, m->file->tensors[i].name));
    return ok;
}

static bool write_weights(SpecImport *m)
{
    bool ok = check_tied(m) &&
              put_tensor(m, "model.shared.weight", "decoder/embeddings/weight", 2, 0, 1, 1) &&
              put_tensor(m, "final_logits_bias", "decoder/projection/bias", 1, 0, 1, 1);
    if (ok) { /* published with an axis more */
        StTensor *bias = &vec_last(m->tensors);
        bias->rank = 2;
        bias->dims[1] = bias->dims[0];
        bias->dims[0] = 1;
    }
    for (int side = 0; ok && side < 2; side++)
        for (int64_t i = 0; ok && i < m->layers[side]; i++) {
            const char *name = side ? "decoder" : "encoder";
            ok = put_layer(m, name, i, of_self, COUNT(of_self)) &&
                 (!side || put_layer(m, name, i, of_cross, COUNT(of_cross)));
        }
    return ok && check_unused(m) &&
           st_write(&m->job->diags, file_in(m->job->arena, m->to, "model.safetensors"),
                    m->tensors.data, (int64_t)m->tensors.count, NULL, 0);
}

/* ---- the folder ---- */

static const JsonValue *read_json(Job *job, const char *path)
{
    Diagnostics unseen;
    diag_init(&unseen, job->arena);
    const Source *source =
        file_exists(path) ? file_read(&unseen, job->arena, path, LARGEST_TEXT) : NULL;
    const char *problem;
    return source ? json_read(job->arena, source->text, source->length, &problem) : NULL;
}

bool import_ctranslate2_is(Job *job, const char *folder)
{
    const char *path = file_in(job->arena, folder, MODEL_BIN);
    const JsonValue *config = read_json(job, file_in(job->arena, folder, "config.json"));
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

bool import_ctranslate2(Job *job, const char *folder, const char *to)
{
    SpecImport m = {.job = job, .folder = folder, .to = to};
    StFile *file = format_open(&job->diags, job->arena, file_in(job->arena, folder, MODEL_BIN));
    m.file = file;
    m.config = read_json(job, file_in(job->arena, folder, "config.json"));
    map_init(&m.used, job->arena);
    const bool ok = file && read_tokens(&m) && read_sizes(&m) && check_kind(&m) &&
                    check_positions(&m, "encoder/position_encodings/encodings") &&
                    check_positions(&m, "decoder/position_encodings/encodings") &&
                    write_config(&m) && write_vocabulary(&m) && write_weights(&m);
    st_close(file);
    return ok;
}
