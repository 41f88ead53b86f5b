/* The weights of an import: copied or linked, and read once. */
#define _GNU_SOURCE
#include "driver/exchange/import_weights.h"

#include "base/byte_source.h"
#include "base/file.h"
#include "driver/formats/gguf.h"
#include "driver/formats/modules.h"
#include "driver/formats/shards.h"
#include "driver/ports/patterns.h"
#include "driver/run/folder.h"
#include "driver/run/weights.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

enum { MOST_NAMED = 5 };

static Shards *open_shards(const ImportWeights *w)
{
    return shards_open_within(&w->job->diags, w->job->arena, job_reach(w->job, NULL), w->path);
}

static void tell_passed(const ImportWeights *w, const Shards *shards)
{
    Text text = {0};
    int64_t n = 0;
    for (size_t f = 0; f < shards->files.count; f++)
        for (int64_t i = 0; i < shards->files.data[f]->n_passed; i++) {
            const StPassed *is = &shards->files.data[f]->passed[i];
            if (n++ < MOST_NAMED)
                text_add(&text, "%s'%s' (%s)", n > 1 ? ", " : "",
                         text_visible_name(w->job->arena, is->name),
                         text_visible_name(w->job->arena, is->type));
        }
    if (n)
        diag_remark(&w->job->diags, (Loc){0},
                    "%lld tensor%s of %s %s passed over, of types that are not read: %s%s",
                    (long long)n, text_plural(n, "", "s"), w->source, text_plural(n, "is", "are"),
                    text.data, n > MOST_NAMED ? ", …" : "");
    text_free(&text);
}

bool import_weights_names(const ImportWeights *w, TextList *names)
{
    *names = (TextList){0};
    if (!file_exists(w->path) || (file_is_folder(w->path) && !shards_in(w->job->arena, w->path)))
        return true; /* config.json is looked for first */
    Shards *shards = open_shards(w);
    for (size_t i = 0; shards && i < shards->names.count; i++)
        vec_push(w->job->arena, *names, arena_strdup(w->job->arena, shards->names.data[i]));
    if (shards)
        tell_passed(w, shards);
    shards_close(shards);
    return shards != NULL;
}

bool import_weights_check(const ImportWeights *w)
{
    return !file_is_folder(w->path) || shards_in(w->job->arena, w->path) || open_shards(w);
}

/* It may be larger than memory. */
static bool copy_file(const ImportWeights *w, FileReach reach, const char *name, const char *path)
{
    enum { BLOCK = 1 << 20 };
    uint64_t size;
    const int fd = file_open_within(&w->job->diags, reach, name, FILE_ANY_SIZE, &size);
    if (fd < 0)
        return false;
    ByteSource from;
    byte_source_of(&from, fd);
    FileWriter *to = file_create(&w->job->diags, path);
    while (to && byte_source_more(&from, BLOCK)) {
        file_write(to, from.data, from.length);
        byte_source_pass(&from, from.length);
    }
    const bool ok = to && byte_source_check(&from, &w->job->diags, name);
    byte_source_close(&from);
    if (to && !ok)
        file_discard(to);
    return ok && file_commit(to, &w->job->diags);
}

/* Copies a file that an index names, under the name that it has there. */
static bool copy_shard(const ImportWeights *w, const char *path, const char *to)
{
    Arena *arena = w->job->arena;
    if (strcmp(path, file_in(arena, w->path, file_name(path))))
        return job_error(w->job,
                         "%s does not lie beside the index that names it, and --copy copies such "
                         "files alone: put it there, or leave --copy out to link to the weights",
                         path);
    return copy_file(w, job_reach(w->job, w->path), path, file_in(arena, to, file_name(path)));
}

/* modules.json and the weights that it names. */
static bool copy_modules(const ImportWeights *w, const char *to)
{
    Arena *arena = w->job->arena;
    const FileReach reach = job_reach(w->job, w->path);
    FolderModules modules;
    bool ok = modules_read(&w->job->diags, arena, reach, w->path, &modules), any = false;
    for (size_t i = 0; ok && i < modules.count; i++) {
        if (!module_has_weights(&modules.data[i]))
            continue;
        const char *from = shards_in(arena, file_in(arena, w->path, modules.data[i].path));
        const char *own = file_in(arena, to, modules.data[i].path);
        any = true;
        ok = from && file_make_folder(&w->job->diags, own) &&
             copy_file(w, reach, from, file_in(arena, own, file_name(from)));
    }
    return ok && (!any || copy_file(w, reach, file_in(arena, w->path, MODULES_FILE),
                                    file_in(arena, to, MODULES_FILE)));
}

/* The files of a folder, and their index. */
static bool copy_folder(const ImportWeights *w, const char *to)
{
    Shards *shards = open_shards(w);
    const char *weights = shards_in(w->job->arena, w->path);
    const bool is_index = weights && text_ends(weights, ".json");
    bool ok = shards && file_make_folder(&w->job->diags, to);
    for (size_t i = 0; ok && is_index && i < shards->files.count; i++)
        ok = copy_shard(w, shards->files.data[i]->path, to);
    shards_close(shards);
    return ok &&
           copy_file(w, is_index ? job_reach(w->job, w->path) : FILE_ANYWHERE, weights,
                     file_in(w->job->arena, to, file_name(weights))) &&
           copy_modules(w, to);
}

/* Whether a file of weights has no data in others. False after an error. */
static bool is_one_file(const ImportWeights *w)
{
    Shards *shards = open_shards(w);
    const StFile *file = shards ? shards->files.data[0] : NULL;
    const bool ok =
        file &&
        (!file->n_more ||
         job_error(w->job,
                   "%s has data in other files, and --copy copies one: leave it out, or save "
                   "the model as one file",
                   w->source));
    shards_close(shards);
    return ok;
}

bool import_weights_place(const ImportWeights *w, const char *run, bool copy)
{
    const char *path = file_in(w->job->arena, run, RUN_WEIGHTS);
    if (!copy)
        return !symlink(w->path, path) || job_error(w->job, "%s: %s", path, strerror(errno));
    return file_is_folder(w->path) ? copy_folder(w, path)
                                   : is_one_file(w) && copy_file(w, FILE_ANYWHERE, w->path, path);
}

static void tell_unused(const ImportWeights *w, const TextList *unused)
{
    TextList ignored = {0};
    for (const ImportRow *row = w->config->model->rows; row->key; row++)
        if (row->kind == IMPORT_IGNORE)
            vec_push(w->job->arena, ignored, row->key);
    Text names = {0};
    int n = 0;
    for (size_t i = 0; i < unused->count; i++)
        if (!patterns_meet(&ignored, unused->data[i]) && n++ < MOST_NAMED)
            text_add(&names, "%s'%s'", n > 1 ? ", " : "", unused->data[i]);
    if (n)
        diag_warning(&w->job->diags, (Loc){0},
                     "%d tensor%s of %s %s used by nothing in models/%s: %s%s", n,
                     text_plural(n, "", "s"), w->source, text_plural(n, "is", "are"),
                     w->config->model->files[0], names.data, n > MOST_NAMED ? ", …" : "");
    text_free(&names);
}

/* Whatever the types and the order of elements in the file. */
static bool has_same_values(const StTensor *a, const StTensor *b)
{
    enum { AT_ONCE = 4096 };
    static float one[AT_ONCE], other[AT_ONCE];
    if (a->count != b->count)
        return false;
    if (a->data == b->data && a->view == b->view)
        return true;
    for (int64_t i = 0; i < a->count; i += AT_ONCE) {
        const int64_t left = a->count - i, n = left < AT_ONCE ? left : AT_ONCE;
        if (!st_floats(a, i, n, one) || !st_floats(b, i, n, other) ||
            memcmp(one, other, (size_t)n * sizeof *one))
            return false;
    }
    return true;
}

/* A head of its own that config.json does not have, or has and is not there. */
static void check_head(const ImportWeights *w, const Shards *shards)
{
    static const char *const heads[] = {
        "lm_head.weight",         "lm_head.decoder.weight",     "cls.predictions.decoder.weight",
        "vocab_projector.weight", "predictions.decoder.weight", "decoder.weight"};
    static const char *const tables[] = {"model.embed_tokens.weight",
                                         "transformer.wte.weight",
                                         "shared.weight",
                                         "model.shared.weight",
                                         "bert.embeddings.word_embeddings.weight",
                                         "roberta.embeddings.word_embeddings.weight",
                                         "distilbert.embeddings.word_embeddings.weight",
                                         "albert.embeddings.word_embeddings.weight",
                                         "model.embeddings.tok_embeddings.weight"};
    enum { HEADS = sizeof heads / sizeof *heads, TABLES = sizeof tables / sizeof *tables };
    const JsonValue *says = import_config_value(w->job, w->config, "tie_word_embeddings");
    const Shard *head = NULL, *table = NULL;
    for (int i = 0; i < HEADS && !head; i++)
        head = shards_find(shards, heads[i]);
    for (int i = 0; i < TABLES && !table; i++)
        table = shards_find(shards, tables[i]);
    if (!says || !table)
        return;
    if (says->kind == JV_FALSE && !head)
        diag_warning(
            &w->job->diags, (Loc){0},
            "%s: config.json says that tie_word_embeddings is false, but there is no '%s': the embedding "
            "'%s' stands in its place",
            w->source, heads[0], table->tensor->name);
    if (says->kind == JV_TRUE && head && !has_same_values(head->tensor, table->tensor))
        diag_warning(
            &w->job->diags, (Loc){0},
            "%s: config.json says that tie_word_embeddings is true, but '%s' is another than the embedding "
            "'%s', which is used in its place",
            w->source, head->tensor->name, table->tensor->name);
}

static bool look_at_head(const ImportWeights *w)
{
    Shards *shards = open_shards(w);
    if (shards)
        check_head(w, shards);
    shards_close(shards);
    return shards != NULL;
}

/* Elements; what they are of does not matter here. */
static double count_params(const Module *module)
{
    double n = 0;
    for (size_t i = 0; i < module->params.count; i++) {
        double elements = 1;
        for (int d = 0; d < module->params.data[i]->type.rank; d++)
            elements *= (double)module->params.data[i]->type.dims[d].size;
        n += elements;
    }
    return n;
}

/* Tied and repeated weights and tables of positions make a model some times as large as its
 * files. */
bool import_weights_check_sizes(const ImportWeights *w, const Module *module)
{
    enum { MOST_TIMES = 16, FREE_ELEMENTS = 1 << 24 };
    double there = 0, wanted = count_params(module);
    Shards *shards = open_shards(w);
    for (size_t i = 0; shards && i < shards->names.count; i++)
        there += (double)shards_find(shards, shards->names.data[i])->tensor->count;
    bool ok = shards && wanted <= MOST_TIMES * there + FREE_ELEMENTS;
    if (shards && !ok)
        job_error(
            w->job,
            "%s: config.json's sizes make a model of %.4g params, but the weights have %.4g: they are not of this "
            "config.json; take both files from one place",
            w->source, wanted, there);
    shards_close(shards);
    return ok;
}

bool import_weights_try(const ImportWeights *w, Session *session, TextList *unused)
{
    Store *store = store_new_or_end();
    store_defer(store);
    const WeightsLoad how = {.unused = unused};
    const TfcProgram *program = session_compile(session, session_function(session, "forward"));
    bool ok = program && (store_add_program(store, program) || job_no_memory(w->job)) &&
              weights_load(w->job, session->model, store, w->path, &how);
    ok = ok && look_at_head(w);
    if (ok)
        tell_unused(w, unused);
    store_free(store);
    return ok;
}

/* ---- types of blocks ---- */

/* Bits of the integers in which a tensor is computed; more than any, of floats. */
static int64_t bits_of(const char *word)
{
    return word ? quant_info(quant_of_word(word))->bits : INT64_MAX;
}

/* The type that holds all tensors that a param is made of; NULL: f32. *found: there are some. */
static const char *type_of_param(const WeightNames *names, const char *param, bool *found)
{
    const WeightMap *map = weight_names_map(names, param);
    const char *word = NULL;
    *found = false;
    for (int i = 0; i < (map ? map->n_parts : 1); i++) {
        const Shard *shard =
            map ? weight_names_find(names, &map->parts[i]) : weight_names_own(names, param);
        if (!shard)
            continue;
        const char *of = gguf_quant(shard->tensor->blocks);
        word = !*found || bits_of(of) > bits_of(word) ? of : word;
        *found = true;
    }
    return word;
}

bool import_weights_types(const ImportWeights *w, const Model *model, const char *quant,
                          TextList *keep)
{
    WeightsFile file;
    if (!quant)
        return true;
    if (!weights_open(w->job, model, w->path, &file))
        return job_error(w->job, "%s cannot be read", w->source);
    for (size_t i = 0; i < model->module->params.count; i++) {
        const ParamInfo *param = model->module->params.data[i];
        bool found;
        const char *word = type_of_param(&file.names, param->name, &found);
        if (param->type.rank == 2 && found && (!word || strcmp(word, quant) != 0))
            vec_push(w->job->arena, *keep,
                     arena_printf(w->job->arena, "%s=%s", param->name, word ? word : "f32"));
    }
    weights_close(&file);
    return true;
}
