/* From Marian's model.npz to a published folder. */
#define _GNU_SOURCE
#include "driver/exchange/import_marian.h"

#include "base/file.h"
#include "base/json_write.h"
#include "driver/exchange/import_config.h"
#include "driver/exchange/import_json.h"
#include "driver/formats/folder_files.h"
#include "driver/formats/npz.h"
#include "driver/exchange/npz_marian.h"
#include "driver/exchange/npz_yaml.h"
#include "runtime/data/safetensors.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { LARGEST_TEXT = 64 << 20, MOST_LAYERS = 1000, MOST_NAMED = 5 };

typedef struct Marian {
    Job *job;
    const char *folder, *to;
    const JsonValue *decoder; /* decoder.yml; NULL: there is none */
    const Npz *npz;
    const char *settings; /* the YAML */
    ImportConfig config;
    MarianNames names;
    const JsonValue *vocab; /* {token: id, …} */
    const char *sides[2];   /* SentencePiece models of source and target */
    int64_t n_tokens;       /* without <pad> */
} Marian;

/* ---- files of the folder ---- */

bool import_marian_is(Job *job, const char *folder)
{
    const char *config = file_in(job->arena, folder, "config.json");
    const char *decoder = file_in(job->arena, folder, "decoder.yml");
    return !file_exists(config) &&
           (file_exists(decoder) || folder_files(job->arena, folder, ".npz").count);
}

static const JsonValue *read_yaml(Marian *m, const char *path)
{
    const Source *file = job_read(m->job, m->folder, path, LARGEST_TEXT);
    return file ? yaml_read(&m->job->diags, m->job->arena, file) : NULL;
}

static bool read_decoder(Marian *m)
{
    FolderFiles beside = folder_files(m->job->arena, m->folder, ".npz.decoder.yml");
    const char *path = file_in(m->job->arena, m->folder, "decoder.yml");
    if (!file_exists(path) && beside.count == 1)
        path = file_in(m->job->arena, m->folder, beside.data[0]);
    return !file_exists(path) || (m->decoder = read_yaml(m, path));
}

/* The files of a list of decoder.yml, which stand in the folder, wherever they once did. */
static TextList decoder_files(Marian *m, const char *key)
{
    TextList paths = {0};
    const JsonValue *list = m->decoder ? json_member(m->decoder, key) : NULL;
    for (size_t i = 0; list && list->kind == JV_LIST && i < list->n; i++)
        if (list->items[i].kind == JV_STRING)
            vec_push(m->job->arena, paths,
                     file_in(m->job->arena, m->folder, file_name(list->items[i].text)));
    return paths;
}

static bool read_npz(Marian *m)
{
    TextList models = decoder_files(m, "models");
    if (!models.count) {
        const FolderFiles files = folder_files(m->job->arena, m->folder, ".npz");
        for (size_t i = 0; i < files.count; i++)
            if (!text_ends(files.data[i], ".optimizer.npz"))
                vec_push(m->job->arena, models, file_in(m->job->arena, m->folder, files.data[i]));
    }
    if (models.count != 1)
        return job_error(m->job,
                         "%s has %zu models: one .npz, or the one of decoder.yml's models, is read",
                         m->folder, models.count);
    return (m->npz = npz_read(&m->job->diags, m->job->arena, models.data[0]));
}

/* An array of the archive; NULL after an error: the archive lacks it, or has it as something else
 * than numbers. */
static const NpyArray *need_array(Marian *m, const char *name)
{
    const NpyArray *array = npz_find(m->npz, name);
    const char *type = NULL;
    for (size_t i = 0; !array && !type && i < m->npz->passed.count; i++)
        if (!strcmp(m->npz->passed.data[i].name, name))
            type = m->npz->passed.data[i].type;
    if (type)
        job_error(m->job, "%s: the array '%s': its elements are %s, which is not read",
                  m->npz->path, name, text_visible_name(m->job->arena, type));
    else if (!array)
        job_error(m->job, "%s: the array '%s'%s is missing", m->npz->path, name,
                  strcmp(name, MARIAN_SETTINGS) ? "" : ", Marian's settings,");
    return array;
}

/* ---- settings ---- */

/* A warning of the keys that are not known. */
static bool tell_unread(const Marian *m)
{
    const JsonValue *json = m->config.json;
    for (size_t i = 0; json->kind == JV_OBJECT && i < json->n; i++)
        if (!import_config_row(&m->config, json->keys[i]) && !marian_is_unread(json->keys[i]))
            diag_warning(&m->job->diags, (Loc){.source = m->config.source},
                         "\"%s\" is left unread: it is no setting of Marian's that is known",
                         json->keys[i]);
    return true;
}

static bool check_counts(Marian *m, const char *path)
{
    const JsonValue *counts = marian_wrong_counts(m->config.json, m->n_tokens);
    return !counts || job_error(m->job, "%s: \"dim-vocabs\" is %s, and %s has %lld tokens",
                                m->config.source->path, import_json_text(m->job, counts), path,
                                (long long)m->n_tokens);
}

static bool read_settings(Marian *m)
{
    const NpyArray *array = need_array(m, MARIAN_SETTINGS);
    if (!array || element_info(array->type)->bytes != 1)
        return array &&
               job_error(m->job, "%s: the array '%s' is no text", m->npz->path, MARIAN_SETTINGS);
    size_t length = strnlen(array->data, (size_t)array->count);
    if (length == (size_t)array->count)
        return job_error(m->job, "%s: the array '%s' is cut off: Marian ends it with a NUL",
                         m->npz->path, MARIAN_SETTINGS);
    m->settings = arena_strndup(m->job->arena, array->data, length);
    const char *path = arena_printf(m->job->arena, "%s: %s", m->npz->path, MARIAN_SETTINGS);
    m->config = (ImportConfig){.source = diag_source(m->job->arena, path, m->settings, length),
                               .model = &marian_settings};
    m->config.json = yaml_read(&m->job->diags, m->job->arena, m->config.source);
    return m->config.json && import_config_check(m->job, &m->config) && tell_unread(m);
}

static bool name_arrays(Marian *m)
{
    const char *const keys[] = {"enc-depth", "dec-depth"};
    int64_t layers[2];
    for (int i = 0; i < 2; i++) {
        layers[i] = import_config_size(m->job, &m->config, keys[i]);
        if (layers[i] < 1 || layers[i] > MOST_LAYERS)
            return job_error(m->job, "%s: \"%s\": expected a number of layers",
                             m->config.source->path, keys[i]);
    }
    m->names = marian_names(m->job->arena, layers[0], layers[1]);
    return true;
}

static bool put_setting(Marian *m, JsonWriter *json, const ImportRow *row)
{
    const JsonValue *value = import_config_value(m->job, &m->config, row->key);
    enum { DIGITS = 9 };
    if (value && value->kind == JV_STRING)
        json_put_text(json, row->to, value->text);
    else if (value && value->kind == JV_INTEGER)
        json_put_integer(json, row->to, value->integer);
    else if (value && value->kind == JV_NUMBER)
        json_put_number(json, row->to, value->number, DIGITS);
    else
        return job_error(m->job, "%s: \"%s\": expected a value", m->config.source->path, row->key);
    return true;
}

void import_marian_class(JsonWriter *json, int64_t tokens, int64_t end, bool is_scaled)
{
    json_put_text(json, "model_type", "marian");
    json_open(json, "architectures", '[');
    json_put_text(json, NULL, "MarianMTModel");
    json_close(json, ']');
    json_put_integer(json, "vocab_size", tokens + 1);
    json_put_integer(json, "decoder_vocab_size", tokens + 1);
    json_put_integer(json, "eos_token_id", end);
    json_put_integer(json, "pad_token_id", tokens);
    json_put_integer(json, "decoder_start_token_id", tokens);
    json_put_bool(json, "is_encoder_decoder", true);
    json_put_bool(json, "scale_embedding", is_scaled);
    json_put_bool(json, "static_position_embeddings", true);
}

static bool write_config(Marian *m)
{
    Text text = {0};
    JsonWriter json = {.out = &text, .indent = 2};
    json_open(&json, NULL, '{');
    import_marian_class(&json, m->n_tokens, json_member(m->vocab, "</s>")->integer, true);
    bool ok = true;
    for (const ImportRow *row = marian_settings.rows; row->key; row++)
        if (row->kind == IMPORT_RENAME)
            ok = put_setting(m, &json, row) && ok;
    json_put_integer(&json, "decoder_ffn_dim",
                     import_config_size(m->job, &m->config, "transformer-dim-ffn"));
    json_put_integer(&json, "decoder_attention_heads",
                     import_config_size(m->job, &m->config, "transformer-heads"));
    double d = (double)import_config_size(m->job, &m->config, "dim-emb");
    json_put_number(&json, "position_base", marian_position_base(d), 17);
    json_close(&json, '}');
    text_string(&text, "\n");
    ok = ok && job_write(m->job, m->to, "config.json", text.data, text.length);
    text_free(&text);
    return ok;
}

/* ---- vocabularies ---- */

/* The list of tokens: decoder.yml's, or the only one there is. */
static const char *find_vocabulary(Marian *m)
{
    TextList named = decoder_files(m, "vocabs");
    for (size_t i = 1; i < named.count; i++)
        if (strcmp(named.data[i], named.data[0])) {
            job_error(m->job,
                      "%s has a vocabulary a side, %s and %s: models/marian.tfg has one for both",
                      m->folder, file_name(named.data[0]), file_name(named.data[i]));
            return NULL;
        }
    if (named.count)
        return named.data[0];
    FolderFiles lists = folder_files(m->job->arena, m->folder, "vocab.yml");
    if (lists.count == 1)
        return file_in(m->job->arena, m->folder, lists.data[0]);
    if (!lists.count && file_exists(file_in(m->job->arena, m->folder, "vocab.json")))
        return file_in(m->job->arena, m->folder, "vocab.json");
    const FolderFiles pieces = folder_files(m->job->arena, m->folder, ".spm");
    if (!lists.count && pieces.count == 1)
        return file_in(m->job->arena, m->folder, pieces.data[0]);
    job_error(
        m->job,
        "%s has %zu lists of tokens: one *vocab.yml or vocab.json, or decoder.yml's vocabs, is read",
        m->folder, lists.count);
    return NULL;
}

/* A SentencePiece model is the list, too: its pieces in their order. */
static const JsonValue *list_pieces(Marian *m, const char *path)
{
    Vocabulary *pieces =
        vocab_load_within(&m->job->diags, m->job->arena, job_reach(m->job, m->folder), path);
    if (!pieces)
        return NULL;
    Text text = {0};
    JsonWriter json = {.out = &text};
    json_open(&json, NULL, '{');
    for (int32_t i = 0; i < vocab_size(pieces); i++)
        json_put_integer(&json, vocab_token(pieces, i), i);
    json_close(&json, '}');
    const char *problem = NULL;
    const JsonValue *list = json_read(m->job->arena, text.data, text.length, &problem);
    text_free(&text);
    if (!list)
        job_error(m->job, "%s: %s", path, problem ? problem : "out of memory");
    return list;
}

static bool check_vocabulary(Marian *m, const char *path)
{
    if (m->vocab->kind != JV_OBJECT || !json_member(m->vocab, "</s>"))
        return job_error(m->job, "%s: expected a map of tokens to ids, with </s>", path);
    for (size_t i = 0; i < m->vocab->n; i++)
        if (m->vocab->items[i].kind != JV_INTEGER)
            return job_error(m->job, "%s: '%s' has no number", path, m->vocab->keys[i]);
    if (json_member(m->vocab, "<pad>"))
        return job_error(m->job, "%s: '<pad>' is a token there; Marian's vocabularies have none",
                         path);
    const NpyArray *table = need_array(m, MARIAN_EMBEDDING);
    if (!table)
        return false;
    const int64_t rows = table->rank ? table->dims[0] : 0;
    m->n_tokens = (int64_t)m->vocab->n;
    if (m->n_tokens != rows)
        return job_error(m->job, "%s has %lld tokens, but the array '%s' of %s has %lld rows", path,
                         (long long)m->n_tokens, MARIAN_EMBEDDING, m->npz->path, (long long)rows);
    return check_counts(m, path);
}

static bool read_vocabulary(Marian *m)
{
    const char *path = find_vocabulary(m);
    if (!path)
        return false;
    bool is_pieces = text_ends(path, ".spm");
    m->vocab = is_pieces ? list_pieces(m, path) : read_yaml(m, path);
    m->sides[0] = is_pieces ? path : file_in(m->job->arena, m->folder, "source.spm");
    m->sides[1] = is_pieces ? path : file_in(m->job->arena, m->folder, "target.spm");
    return m->vocab && check_vocabulary(m, path);
}

static bool copy_side(Marian *m, const char *from, const char *name)
{
    if (!file_exists(from))
        return job_error(
            m->job, "%s has no %s: vocabularies are read with SentencePiece's models beside them",
            m->folder, name);
    const Source *file = job_read(m->job, m->folder, from, LARGEST_TEXT);
    return file && file_write_all(&m->job->diags, file_in(m->job->arena, m->to, name), file->text,
                                  file->length);
}

static bool write_vocabulary(Marian *m)
{
    Text text = {0};
    JsonWriter json = {.out = &text};
    json_open(&json, NULL, '{');
    for (size_t i = 0; i < m->vocab->n; i++)
        json_put_integer(&json, m->vocab->keys[i], m->vocab->items[i].integer);
    json_put_integer(&json, "<pad>", m->n_tokens);
    json_close(&json, '}');
    const bool ok = job_write(m->job, m->to, "vocab.json", text.data, text.length) &&
                    copy_side(m, m->sides[0], "source.spm") &&
                    copy_side(m, m->sides[1], "target.spm");
    text_free(&text);
    return ok;
}

/* ---- arrays ---- */

/* The shape that the array must have. */
static void expected_shape(Marian *m, const char *letters, int64_t dims[2])
{
    for (int i = 0; i < 2; i++)
        switch (letters[i]) {
        case 'd': dims[i] = import_config_size(m->job, &m->config, "dim-emb"); break;
        case 'f': dims[i] = import_config_size(m->job, &m->config, "transformer-dim-ffn"); break;
        case 'v': dims[i] = m->n_tokens; break;
        default: dims[i] = 1;
        }
}

/* NULL after an error. */
static const NpyArray *find_array(Marian *m, const MarianName *name)
{
    const NpyArray *array = need_array(m, name->theirs);
    int64_t dims[2];
    expected_shape(m, name->shape, dims);
    Arena *arena = m->job->arena;
    if (!array)
        return NULL;
    if (array->type != ST_F32 || array->is_fortran)
        job_error(m->job, "%s: the array '%s': its elements are %s", m->npz->path, name->theirs,
                  array->is_fortran ? "in Fortran's order" : "not 32-bit floats");
    else if (array->rank != 2 || memcmp(array->dims, dims, sizeof dims))
        job_error(m->job,
                  "%s: the array '%s' is %s, but by the settings and the vocabulary it is %s",
                  m->npz->path, name->theirs, text_list(arena, array->dims, array->rank),
                  text_list(arena, dims, 2));
    else
        return array;
    return NULL;
}

/* A tensor with the array's elements, and zeros for <pad> behind those of the tokens. */
static StTensor convert(Marian *m, const NpyArray *array, const MarianName *name)
{
    StTensor tensor = {.name = name->ours, .type = ST_F32, .rank = 2, .data = array->data};
    memcpy(tensor.dims, array->dims, sizeof array->dims);
    const char *axis = strchr(name->shape, 'v');
    if (!axis)
        return tensor;
    tensor.dims[axis - name->shape]++;
    size_t old = sizeof(float) * (size_t)array->count;
    char *more =
        arena_alloc(m->job->arena, sizeof(float) * (size_t)(tensor.dims[0] * tensor.dims[1]));
    tensor.data = memcpy(more, array->data, old);
    return tensor;
}

static void tell_unused(Marian *m)
{
    Map used;
    map_init(&used, m->job->arena);
    map_set(&used, MARIAN_SETTINGS, m);
    for (size_t i = 0; i < m->names.count; i++)
        map_set(&used, m->names.data[i].theirs, m);
    Text names = {0};
    int n = 0;
    for (size_t i = 0; i < m->npz->arrays.count; i++)
        if (!map_has(&used, m->npz->arrays.data[i]->name) && n++ < MOST_NAMED)
            text_add(&names, "%s'%s'", n > 1 ? ", " : "", m->npz->arrays.data[i]->name);
    if (n)
        diag_warning(&m->job->diags, (Loc){0},
                     "%d array%s of %s %s used by nothing in models/marian.tfg: %s%s", n,
                     text_plural(n, "", "s"), m->npz->path, text_plural(n, "is", "are"), names.data,
                     n > MOST_NAMED ? ", …" : "");
    text_free(&names);
}

static bool write_weights(Marian *m)
{
    StTensor *tensors = ARENA_ARRAY(m->job->arena, StTensor, m->names.count);
    int wrong = 0;
    for (size_t i = 0; i < m->names.count && wrong < MOST_NAMED; i++) {
        const NpyArray *array = find_array(m, &m->names.data[i]);
        if (array)
            tensors[i] = convert(m, array, &m->names.data[i]);
        else
            wrong++;
    }
    if (wrong)
        return false;
    tell_unused(m);
    return st_write(&m->job->diags, file_in(m->job->arena, m->to, "model.safetensors"), tensors,
                    (int64_t)m->names.count, NULL, 0);
}

bool import_marian(Job *job, const char *folder, const char *to)
{
    Marian m = {.job = job, .folder = folder, .to = to};
    return read_decoder(&m) && read_npz(&m) && read_settings(&m) && name_arrays(&m) &&
           read_vocabulary(&m) && write_config(&m) && write_vocabulary(&m) && write_weights(&m) &&
           file_write_all(&job->diags, file_in(job->arena, to, "model.yml"), m.settings,
                          strlen(m.settings));
}
