/* Keeping and writing the files of a published model. */
#include "driver/run/published.h"

#include "base/file.h"
#include "base/json_read.h"
#include "base/json_write.h"
#include "driver/formats/modules.h"
#include "driver/run/new_folder.h"
#include "driver/run/ownership.h"
#include "driver/run/weight_parts.h"

#include <string.h>

/* By their names in transformers' and sentence-transformers' documentation, and Marian's settings
 * (import_marian.h); a folder has some of them. */
static const char *const kept_names[] = {"config.json",
                                         "generation_config.json",
                                         "tokenizer.json",
                                         "tokenizer_config.json",
                                         "vocab.json",
                                         "vocab.txt",
                                         "source.spm",
                                         "target.spm",
                                         "spiece.model",
                                         "tokenizer.model",
                                         "sentencepiece.bpe.model",
                                         "merges.txt",
                                         "special_tokens_map.json",
                                         "added_tokens.json",
                                         "model.yml",
                                         "modules.json",
                                         "sentence_bert_config.json",
                                         "sentence_roberta_config.json",
                                         "sentence_distilbert_config.json",
                                         "sentence_camembert_config.json",
                                         "sentence_albert_config.json",
                                         "sentence_xlm-roberta_config.json",
                                         "sentence_xlnet_config.json",
                                         "config_sentence_transformers.json"};
enum { N_FILES = sizeof kept_names / sizeof kept_names[0], LARGEST_FILE = 256 << 20 };

/* The config.json of each module that lies in a folder of its own. */
static bool copy_module_settings(Job *job, const char *whole, const char *from, const char *own,
                                 const char *to)
{
    FolderModules modules;
    bool ok = modules_read(&job->diags, job->arena, job_reach(job, whole), from, &modules);
    for (size_t i = 0; ok && i < modules.count; i++) {
        const char *name = file_in(job->arena, modules.data[i].path, "config.json");
        const char *path = file_in(job->arena, from, name);
        if (!*modules.data[i].path || !file_exists(path))
            continue;
        const Source *file = job_read(job, whole, path, LARGEST_FILE);
        ok =
            file &&
            file_make_own_folder(&job->diags, own, file_in(job->arena, to, modules.data[i].path)) &&
            file_write_own(&job->diags, file_in(job->arena, to, name), file->text, file->length);
    }
    return ok;
}

/* Copies the files of `from`, which is the folder `whole` or lies in it, to `to`, which is the
 * folder `own` or lies in it. */
static bool copy_files(Job *job, const char *whole, const char *from, const char *own,
                       const char *to)
{
    bool ok = file_make_own_folder(&job->diags, own, to);
    for (int i = 0; ok && i < N_FILES; i++) {
        if (!file_exists(file_in(job->arena, from, kept_names[i])))
            continue;
        const Source *file =
            job_read(job, whole, file_in(job->arena, from, kept_names[i]), LARGEST_FILE);
        ok = file && file_write_own(&job->diags, file_in(job->arena, to, kept_names[i]), file->text,
                                    file->length);
    }
    return ok && copy_module_settings(job, whole, from, own, to);
}

bool published_copy(Job *job, const char *from, const char *to)
{
    return copy_files(job, from, from, to, to);
}

/* Where a run keeps them. */
static const char *kept(Job *job, const char *run) { return file_in(job->arena, run, "published"); }

/* In a run's folder of them, not in a published one: tensors of two bytes an element, each with the
 * name of its type. */
static const char types_file[] = "types.json";

static bool copy_types(Job *job, const char *from, const char *run)
{
    const char *path = file_in(job->arena, kept(job, from), types_file);
    if (!file_exists(path))
        return true;
    const Source *file = job_read(job, from, path, LARGEST_FILE);
    return file && file_write_own(&job->diags, file_in(job->arena, kept(job, run), types_file),
                                  file->text, file->length);
}

bool published_keep(Job *job, const char *from, const Source *config, const char *run)
{
    if (config)
        return copy_files(job, from, from, run, kept(job, run)) &&
               file_write_own(&job->diags, file_in(job->arena, kept(job, run), "config.json"),
                              config->text, config->length);
    if (file_exists(file_in(job->arena, from, "config.json")))
        return copy_files(job, from, from, run, kept(job, run));
    return !file_is_folder(kept(job, from)) ||
           (copy_files(job, from, kept(job, from), run, kept(job, run)) &&
            copy_types(job, from, run));
}

bool published_keep_types(Job *job, const Shards *weights, const char *run)
{
    Text text = {0};
    int64_t n = 0;
    JsonWriter json = {.out = &text, .indent = 2};
    json_open(&json, NULL, '{');
    for (size_t i = 0; i < weights->names.count; i++) {
        const StTensor *tensor = shards_find(weights, weights->names.data[i])->tensor;
        if (tensor->blocks || (tensor->type != ST_F16 && tensor->type != ST_BF16))
            continue;
        json_put_text(&json, tensor->name, tensor->type == ST_F16 ? "f16" : "bf16");
        n++;
    }
    json_close(&json, '}');
    const bool ok =
        !n || file_write_own(&job->diags, file_in(job->arena, kept(job, run), types_file),
                             text.data, text.length);
    text_free(&text);
    return ok;
}

/* Sets the types of an export. False after an error. */
static bool find_types(Job *job, const char *run, Map *types)
{
    const char *path = file_in(job->arena, kept(job, run), types_file), *problem = NULL;
    map_init(types, job->arena);
    if (!file_exists(path))
        return true;
    const Source *file = job_read(job, run, path, LARGEST_FILE);
    const JsonValue *json = file ? json_read(job->arena, file->text, file->length, &problem) : NULL;
    if (!json || json->kind != JV_OBJECT)
        return !file ? false
                     : job_error(job, "%s: %s", path, problem ? problem : "it is no object");
    for (size_t i = 0; i < json->n; i++) {
        const JsonValue *name = &json->items[i];
        const HalfType *type = name->kind == JV_STRING ? half_type(name->text) : NULL;
        if (type)
            map_set(types, json->keys[i], (void *)type);
    }
    if (json->n)
        diag_remark(&job->diags, (Loc){0},
                    "params are written in the types of the published weights, of two bytes an "
                    "element; --type f32 writes all of their bits");
    return true;
}

bool published_check_names(Job *job, const Model *model, Store *store, const WeightsExport *what)
{
    for (int64_t i = 0; i < store_count(store); i++) {
        const StoreTensor *param = store_at(store, i);
        bool left_out = what->without && map_has(what->without, param->name);
        if (store_is_param(param) && !left_out && !weight_map(model, param->name))
            return job_error(
                job,
                "the param '%s' has no name in the model's weights block: the published "
                "model does not have it (adapters: --merge)",
                param->name);
    }
    return true;
}

static bool write_published(Job *job, const char *files, const Model *model, Store *store,
                            const WeightsExport *what, const char *folder)
{
    WeightsExport folders = *what;
    folders.folders = true;
    return weights_export(job, model, store, &folders,
                          file_in(job->arena, folder, "model.safetensors")) &&
           published_copy(job, files, folder);
}

const char *published_folder(Job *job, const char *run, const char *format)
{
    const char *folder = run ? kept(job, run) : NULL;
    if (run && file_is_folder(folder)) /* a link, too */
        return job_read(job, run, file_in(job->arena, folder, "config.json"), LARGEST_FILE) ? folder
                                                                                            : NULL;
    job_error(
        job,
        "%s has no config.json of a published model: --format %s is for what tfc import made, and what was "
        "trained from that; -o FILE.safetensors writes any model's params, and -o FILE.onnx the model",
        run ? run : "a model's file", format);
    return NULL;
}

bool published_write(Job *job, const char *run, const char *files, const Model *model, Store *store,
                     const WeightsExport *what, const char *type, const char *folder)
{
    if (what->only && what->only->count)
        return job_error(job, "--format hf writes all params: leave --only out");
    if (!ownership_check_folder(job, OWN_PUBLISHED, folder))
        return false;
    Map types;
    WeightsExport typed = *what;
    if (!type && !find_types(job, run, &types))
        return false;
    typed.half = type ? half_type(type) : NULL;
    typed.types = type ? NULL : &types;
    NewFolder new;
    if (!new_folder_is_free(folder)) /* of an export, whose files are replaced one by one */
        return write_published(job, files, model, store, &typed, folder);
    return new_folder_begin(job, folder, &new) &&
           new_folder_end(&new, write_published(job, files, model, store, &typed, new.made));
}
