/* From the store of a run to Marian's model.npz. */
#include "driver/exchange/npz_export.h"

#include "base/file.h"
#include "driver/exchange/import_config.h"
#include "driver/exchange/import_json.h"
#include "driver/formats/npz.h"
#include "driver/exchange/npz_marian.h"
#include "driver/exchange/npz_yaml.h"

#include <math.h>
#include <string.h>

enum { LARGEST_SETTINGS = 1 << 20 };

typedef struct NpzExport {
    Job *job;
    Store *store;
    const WeightsExport *what;
    const char *published; /* the folder of the model's files */
    ImportConfig config;
    MarianNames names;
    int64_t n_tokens; /* without <pad> */
} NpzExport;

static bool read_config(NpzExport *x, const char *run)
{
    if (!import_config_read(x->job, x->published, NULL, &x->config))
        return false;
    if (strcmp(x->config.model->type, marian_settings.type))
        return job_error(x->job, "%s is a model of type %s; an .npz is Marian's", run,
                         x->config.model->type);
    x->n_tokens = import_config_size(x->job, &x->config, "vocab_size") - 1;
    return import_config_size(x->job, &x->config, "decoder_start_token_id") == x->n_tokens ||
           job_error(
               x->job,
               "%s: \"decoder_start_token_id\" is not the last token, <pad>, with which targets of Marian's models begin",
               x->config.source->path);
}

/* ---- arrays ---- */

static const StoreTensor *find_param(NpzExport *x, const char *name)
{
    const StoreTensor *param = store_find(x->store, name);
    if (!param || param->type != TFC_F32)
        job_error(x->job,
                  "the model has no param '%s' of 32-bit floats: it is not models/marian.tfg's",
                  name);
    else
        return param;
    return NULL;
}

/* Zeros are what Marian begins a target with. */
static void check_pad(NpzExport *x, const float *row, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        if (row[i] != 0) {
            diag_warning(
                &x->job->diags, (Loc){0},
                "<pad>, with which targets begin, has learnt an embedding, which Marian does not "
                "have: it begins with zeros, and translates a little otherwise");
            return;
        }
}

/* The size that a letter of a shape stands for, <pad> included. */
static int64_t axis_size(NpzExport *x, char letter)
{
    switch (letter) {
    case 'd': return import_config_size(x->job, &x->config, "d_model");
    case 'f': return import_config_size(x->job, &x->config, "encoder_ffn_dim");
    case 'v': return x->n_tokens + 1;
    default: return 1;
    }
}

static bool make_array(NpzExport *x, const MarianName *name, NpyArray *array)
{
    const StoreTensor *param = find_param(x, name->ours);
    if (!param)
        return false;
    *array = (NpyArray){.name = name->theirs, .type = ST_F32, .rank = 2, .data = param->data};
    bool is_row = param->rank == 1;
    array->dims[0] = is_row ? 1 : param->dims[0];
    array->dims[1] = param->dims[is_row ? 0 : 1];
    for (int i = 0; i < 2; i++)
        if (param->rank > 2 || array->dims[i] != axis_size(x, name->shape[i]))
            return job_error(x->job, "the param '%s' has another shape than %s says", name->ours,
                             x->config.source->path);
    const char *axis = strchr(name->shape, 'v');
    if (axis)
        array->dims[axis - name->shape] = x->n_tokens;
    if (axis == name->shape)
        check_pad(x, (const float *)param->data + x->n_tokens * array->dims[1], array->dims[1]);
    return true;
}

/* A param that Marian does not have would be lost. */
static bool check_names(NpzExport *x)
{
    Map known;
    map_init(&known, x->job->arena);
    for (size_t i = 0; i < x->names.count; i++)
        map_set(&known, x->names.data[i].ours, x);
    for (int64_t i = 0; i < store_count(x->store); i++) {
        const StoreTensor *param = store_at(x->store, i);
        bool left_out = x->what->without && map_has(x->what->without, param->name);
        if (store_is_param(param) && !left_out && !map_has(&known, param->name))
            return job_error(x->job,
                             "the param '%s' has no name in Marian's models (adapters: --merge)",
                             param->name);
    }
    return true;
}

/* ---- settings ---- */

static void put_setting(NpzExport *x, const ImportRow *row, Text *out)
{
    if (row->kind == IMPORT_MUST && *row->to != '[')
        text_add(out, "%s: %s\n", row->key, row->to);
    const JsonValue *value =
        row->kind == IMPORT_RENAME ? import_config_value(x->job, &x->config, row->to) : NULL;
    if (value && value->kind == JV_STRING)
        text_add(out, "%s: %s\n", row->key, value->text);
    else if (value)
        text_add(out, "%s: %.9g\n", row->key, value->number);
}

/* Whether the settings say what config.json does, in which a number has nine digits. */
static bool check_setting(NpzExport *x, const ImportConfig *yaml, const ImportRow *row)
{
    const bool renames = row->kind == IMPORT_RENAME;
    const JsonValue *is = renames ? import_config_value(x->job, yaml, row->key) : NULL;
    const JsonValue *said = renames ? import_config_value(x->job, &x->config, row->to) : NULL;
    const bool numbers = is && said && import_json_is_number(is) && import_json_is_number(said);
    return !is || !said ||
           (numbers ? (float)is->number == (float)said->number
                    : import_json_is_same(x->job, is, said)) ||
           job_error(x->job,
                     "%s: \"%s\" is %s, and config.json beside it has %s: without model.yml the "
                     "settings are made of config.json",
                     yaml->source->path, row->key, import_json_text(x->job, is),
                     import_json_text(x->job, said));
}

/* Whether they are settings of a model of Marian's, and of this one; NULL after an error. */
static const char *checked(NpzExport *x, const Source *yaml)
{
    ImportConfig config = {.source = yaml, .model = &marian_settings};
    config.json = yaml_read(&x->job->diags, x->job->arena, yaml);
    bool ok = config.json && import_config_check(x->job, &config);
    for (const ImportRow *row = marian_settings.rows; ok && row->key; row++)
        ok = check_setting(x, &config, row);
    const JsonValue *counts = ok ? marian_wrong_counts(config.json, x->n_tokens) : NULL;
    if (counts)
        ok = job_error(x->job, "%s: \"dim-vocabs\" is %s, and the model has %lld tokens",
                       yaml->path, import_json_text(x->job, counts), (long long)x->n_tokens);
    return ok ? yaml->text : NULL;
}

/* The YAML: what came, or what the table says of config.json; NULL after an error. */
static const char *settings(NpzExport *x)
{
    const char *path = file_in(x->job->arena, x->published, "model.yml");
    if (file_exists(path)) {
        const Source *file = job_read(x->job, x->published, path, LARGEST_SETTINGS);
        return file ? checked(x, file) : NULL;
    }
    Text text = {0};
    for (const ImportRow *row = marian_settings.rows; row->key; row++)
        put_setting(x, row, &text);
    text_add(&text, "dim-vocabs:\n  - %lld\n  - %lld\n", (long long)x->n_tokens,
             (long long)x->n_tokens);
    const size_t length = text.length;
    return checked(x, diag_source(x->job->arena, x->config.source->path,
                                  text_keep(x->job->arena, &text), length));
}

static bool write_arrays(NpzExport *x, const char *path)
{
    size_t n = x->names.count;
    NpyArray *arrays = ARENA_ARRAY(x->job->arena, NpyArray, n + 1);
    const char *yaml = settings(x);
    bool ok = yaml != NULL;
    for (size_t i = 0; ok && i < n; i++)
        ok = make_array(x, &x->names.data[i], &arrays[i]);
    if (ok)
        arrays[n] = (NpyArray){.name = MARIAN_SETTINGS,
                               .type = ST_I8,
                               .rank = 1,
                               .dims = {(int64_t)strlen(yaml) + 1},
                               .data = yaml};
    return ok && npz_write(&x->job->diags, path, arrays, (int64_t)n + 1);
}

/* What Marian's models have alike on both sides, or always, and no setting says. */
static bool check_sides(NpzExport *x)
{
    static const char *const sizes[] = {"attention_heads", "ffn_dim"};
    for (int i = 0; i < 2; i++) {
        const char *one = arena_printf(x->job->arena, "encoder_%s", sizes[i]);
        const char *other = arena_printf(x->job->arena, "decoder_%s", sizes[i]);
        if (import_config_size(x->job, &x->config, one) !=
            import_config_size(x->job, &x->config, other))
            return job_error(x->job, "%s: \"%s\" is not \"%s\", as it is in Marian's models",
                             x->config.source->path, other, one);
    }
    const JsonValue *scaled = import_config_value(x->job, &x->config, "scale_embedding");
    return (scaled && scaled->kind == JV_TRUE) ||
           job_error(x->job, "%s: \"scale_embedding\" is false: Marian's models scale embeddings",
                     x->config.source->path);
}

/* Marian's models end at </s> and begin with nothing, and their positions turn in one way. */
static bool check_unsaid(NpzExport *x)
{
    static const char none[] = "it has no place in Marian's settings";
    const char *file, *path = x->config.source->path;
    const int64_t end = import_config_size(x->job, &x->config, published_ends.key);
    const JsonValue *ends = import_config_token(x->job, &x->config, &published_ends, &file);
    const JsonValue *first = import_config_value(x->job, &x->config, "forced_bos_token_id");
    const JsonValue *base = import_config_value(x->job, &x->config, "position_base");
    const bool one_end = !ends || ends->kind == JV_NULL ||
                         (ends->kind == JV_LIST && ends->n == 1) ||
                         (ends->kind == JV_INTEGER && ends->integer == end);
    if (first && first->kind != JV_NULL)
        return job_error(x->job, "%s: \"forced_bos_token_id\" is set, and %s", path, none);
    if (!one_end)
        return job_error(x->job, "%s: \"%s\" names several ends, and %s", path, published_ends.key,
                         none);
    const double width = (double)import_config_size(x->job, &x->config, "d_model");
    return !base || base->kind == JV_NULL ||
           fabs(base->number - marian_position_base(width)) <= 1e-6 * base->number ||
           job_error(x->job, "%s: \"position_base\" is %g, and %s", path, base->number, none);
}

bool npz_export(Job *job, const char *run, const char *files, Store *store,
                const WeightsExport *what, const char *path)
{
    NpzExport x = {.job = job, .store = store, .what = what, .published = files};
    if (what->only && what->only->count)
        return job_error(job, "--format marian writes all params: leave --only out");
    if (!read_config(&x, run) || !check_sides(&x) || !check_unsaid(&x))
        return false;
    x.names = marian_names(job->arena, import_config_size(job, &x.config, "encoder_layers"),
                           import_config_size(job, &x.config, "decoder_layers"));
    return check_names(&x) && write_arrays(&x, path);
}
