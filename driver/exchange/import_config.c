/* Values of a config.json, present or meant, and reading one. */
#include "driver/exchange/import_config.h"

#include "base/file.h"
#include "driver/exchange/import_json.h"
#include "driver/exchange/import_labels.h"
#include "driver/exchange/import_pairs.h"
#include "driver/exchange/import_sentences.h"
#include "driver/formats/folder_files.h"
#include "driver/formats/formats.h"
#include "frontend/frontend.h"

#include <string.h>

enum { LARGEST_CONFIG = 1 << 20 };

bool import_config_refuse(Job *job, const ImportConfig *config, const char *text)
{
    diag_error(&job->diags, (Loc){.source = config->source}, "%s", text);
    return false;
}

/* ---- values ---- */

const ImportRow *import_config_row(const ImportConfig *config, const char *key)
{
    const ImportRow *row = config->model->rows;
    while (row->key && (!import_row_has_key(row) || strcmp(row->key, key)))
        row++;
    return row->key ? row : NULL;
}

const JsonValue *import_config_member(Job *job, const JsonValue *json, const char *key)
{
    const char *point = strchr(key, '.');
    if (!point)
        return json_member(json, key);
    json = json_member(json, arena_strndup(job->arena, key, (size_t)(point - key)));
    return json ? import_config_member(job, json, point + 1) : NULL;
}

/* The value itself, or that which its absence means: of another key also where it is null. */
static const JsonValue *value_or_absent(Job *job, const ImportConfig *config, const char *key,
                                        const JsonValue *value)
{
    const ImportRow *row = import_config_row(config, key);
    const bool other = row && row->absent && *row->absent == '=';
    if (value && !(other && value->kind == JV_NULL))
        return value;
    if (!row || !row->absent)
        return value;
    return other ? import_config_value(job, config, row->absent + 1)
                 : import_json_parse(job, row->absent);
}

const JsonValue *import_config_token(Job *job, const ImportConfig *config,
                                     const PublishedToken *token, const char **file)
{
    const JsonValue *value = published_token_said(token, config->json, config->generation, file);
    const JsonValue *flag = token->flag ? json_member(config->json, token->flag) : NULL;
    if (!value && flag && flag->kind == JV_TRUE)
        return import_config_value(job, config, token->flag_key);
    return value_or_absent(job, config, token->key, value);
}

const JsonValue *import_config_value(Job *job, const ImportConfig *config, const char *key)
{
    const PublishedToken *token = published_token(key);
    const char *file;
    if (!token)
        return value_or_absent(job, config, key, import_config_member(job, config->json, key));
    const JsonValue *value = import_config_token(job, config, token, &file);
    return value && value->kind == JV_LIST && value->n ? &value->items[0] : value;
}

const char *import_config_spoken_key(Job *job, const ImportConfig *config, const char *key)
{
    const ImportRow *row =
        import_config_member(job, config->json, key) ? NULL : import_config_row(config, key);
    bool other = row && row->absent && *row->absent == '=';
    return other ? import_config_spoken_key(job, config, row->absent + 1) : key;
}

int64_t import_config_size(Job *job, const ImportConfig *config, const char *key)
{
    const JsonValue *value = import_config_value(job, config, key);
    return value && value->kind == JV_INTEGER ? value->integer : -1;
}

int64_t import_config_const(Job *job, const ImportConfig *config, const char *name,
                            const char **key)
{
    for (const ImportRow *row = config->model->rows; row->key; row++)
        if (row->kind == IMPORT_CONST && !strcmp(row->to, name)) {
            *key = import_config_spoken_key(job, config, row->key);
            return import_config_size(job, config, row->key);
        }
    return -1;
}

/* ---- reading ---- */

bool import_config_generation(Job *job, const char *folder, ImportConfig *config)
{
    return import_json_read(job, folder, PUBLISHED_GENERATION, JV_OBJECT, &config->generation);
}

/* Whether each label has a probability of its own. */
static bool is_independent(const JsonValue *config)
{
    const char *problem = json_member_text(config, "problem_type");
    return problem && !strcmp(problem, "multi_label_classification");
}

/* *name: the first of `architectures`; NULL: it is not said. False after an error. */
static bool class_name(Job *job, const Source *config, const JsonValue *json, const char **name)
{
    const JsonValue *names = json_member(json, "architectures");
    const bool is_list = names && names->kind == JV_LIST;
    bool ok = !names || names->kind == JV_NULL || is_list;
    for (size_t i = 0; is_list && i < names->n; i++)
        ok = ok && names->items[i].kind == JV_STRING;
    *name = ok && is_list && names->n ? names->items->text : NULL;
    if (ok && is_list && names->n > 1)
        diag_warning(&job->diags, (Loc){.source = config},
                     "\"architectures\" names several classes, of which %s is read", *name);
    return ok || job_error(job, "%s: \"architectures\" is %s: expected a list of names of classes",
                           config->path, import_json_text(job, names));
}

TextList import_config_tensors(Arena *arena, const Model *model)
{
    TextList names = {0};
    for (size_t i = 0; i < model->weights.count; i++)
        for (int p = 0; p < model->weights.data[i].n_parts; p++)
            vec_push(arena, names, model->weights.data[i].parts[p].theirs[0]);
    return names;
}

bool import_config_read(Job *job, const char *folder, const TextList *tensors, ImportConfig *config)
{
    const char *path = file_in(job->arena, folder, PUBLISHED_CONFIG);
    return import_config_read_file(job, job_reach(job, folder), path, folder, NULL, tensors, false,
                                   config);
}

static const char *no_config(Job *job, const char *folder)
{
    if (!file_exists(folder))
        return "there is no such folder (download a model of a hub first, with all its files)";
    const FolderFiles files = folder_files(job->arena, folder, ".gguf");
    return files.count ? arena_printf(job->arena, "name its file %s in place of the folder",
                                      text_visible_name(job->arena, files.data[0]))
                       : "it has no config.json";
}

bool import_config_read_file(Job *job, FileReach reach, const char *path, const char *folder,
                             const char *shown, const TextList *tensors, bool pairs,
                             ImportConfig *config)
{
    const char *problem = NULL;
    *config = (ImportConfig){0};
    config->shown = shown;
    if (tensors)
        config->tensors = *tensors;
    if (!file_is_folder(folder) && !format_check(&job->diags, job->arena, folder))
        return false;
    if (!file_is_named(path))
        return job_error(job, "%s is not the folder of a published model: %s", folder,
                         no_config(job, folder));
    config->source = file_read_within(&job->diags, job->arena, reach, path, LARGEST_CONFIG);
    if (!config->source)
        return false;
    if (shown)
        config->source =
            diag_source(job->arena, shown, config->source->text, config->source->length);
    if (pairs)
        config->source = import_pairs_say(job, config->source);
    config->json = import_json_value(job->arena, config->source, &problem);
    if (!config->json)
        return import_config_refuse(job, config, problem ? problem : "out of memory");
    const char *type = json_member_text(config->json, "model_type");
    if (!import_config_generation(job, folder, config))
        return false;
    if (!type)
        return import_config_refuse(job, config, "it has no \"model_type\"");
    const char *name;
    if (!class_name(job, config->source, config->json, &name))
        return false;
    pairs = pairs || import_pairs_are(job, folder, config->json);
    config->model =
        import_model(job, &(ImportSought){.type = type,
                                          .class_name = name,
                                          .tensors = &config->tensors,
                                          .vectors = !pairs && import_sentences_is(job, folder),
                                          .one_label = import_labels_one(config->json),
                                          .independent = is_independent(config->json),
                                          .pairs = pairs});
    if (!config->model)
        return false;
    bool ok = import_config_check(job, config);
    return import_keys_check(job, config->source, config->json, config->model) && ok;
}
