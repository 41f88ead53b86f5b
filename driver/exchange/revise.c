/* Comparing, editing, and comparing again; see revise.h. */
#include "driver/exchange/revise_parts.h"

#include "base/file.h"
#include "driver/run/published.h"
#include "driver/run/vocabularies.h"

#include <string.h>

enum { LARGEST_FILE = 256 << 20 };

void revise_quiet(Revise *r) { r->quiet = job_quiet(r->job, r->job->arena); }

/* ---- files ---- */

static RevisedFile *find_revised_file(Revise *r, const char *name)
{
    for (size_t i = 0; i < r->files.count; i++)
        if (!strcmp(r->files.data[i].name, name))
            return &r->files.data[i];
    return NULL;
}

static RevisedFile *add_revised_file(Revise *r, const char *name)
{
    RevisedFile *file = find_revised_file(r, name);
    if (file)
        return file;
    vec_push(r->job->arena, r->files, ((RevisedFile){.name = name}));
    return find_revised_file(r, name);
}

JsonValue *revise_read(Revise *r, const char *name, bool makes)
{
    Job *quiet = &r->quiet;
    const RevisedFile *file = find_revised_file(r, name);
    if (file && (file->json || file->is_changed))
        return file->json;
    const char *path = file_in(quiet->arena, r->folder, name), *problem;
    const Source *source =
        file_exists(path) ? job_read(quiet, r->folder, path, LARGEST_FILE) : NULL;
    JsonValue *json =
        source ? json_read(quiet->arena, source->text, source->length, &problem) : NULL;
    if (!json && makes && !file_exists(path)) {
        json = ARENA_NEW(quiet->arena, JsonValue);
        *json = (JsonValue){.kind = JV_OBJECT};
    }
    if (json)
        add_revised_file(r, name)->json = json;
    return json;
}

void revise_changed(Revise *r, const char *name) { add_revised_file(r, name)->is_changed = true; }

void revise_set(Revise *r, const char *name, const char *key, JsonValue value)
{
    JsonValue *json = revise_read(r, name, true);
    if (!json || json->kind != JV_OBJECT)
        return;
    json_edit_set(r->job->arena, json, key, value);
    revise_changed(r, name);
}

void revise_replace(Revise *r, const char *name, const char *bytes, size_t size)
{
    if (!bytes && !file_exists(file_in(r->job->arena, r->folder, name)))
        return;
    RevisedFile *file = add_revised_file(r, name);
    *file = (RevisedFile){.name = file->name, .bytes = bytes, .size = size, .is_changed = true};
}

static bool has_edits(const Revise *r)
{
    for (size_t i = 0; i < r->files.count; i++)
        if (r->files.data[i].is_changed)
            return true;
    return false;
}

static bool write_revised_file(Revise *r, const char *to, const RevisedFile *file)
{
    const char *path = file_in(r->job->arena, to, file->name);
    Text text = {0};
    if (!file->json && !file->bytes) {
        file_remove_tree(path);
        return true;
    }
    if (file->json)
        json_edit_print(file->json, &text);
    else
        text_put(&text, file->bytes, file->size);
    const bool ok = file_make_own_folder(&r->job->diags, to, file_folder(r->job->arena, path)) &&
                    file_write_own(&r->job->diags, path, text.data, text.length);
    text_free(&text);
    return ok;
}

/* Writes the edited files beside the others, in a temporary folder, which is compared from now
 * on. Marian's settings say again what config.json does: its writer makes them of that. */
static bool write_edits(Revise *r, Revised *revised)
{
    const char *out = r->options->out;
    size_t length = strlen(out);
    while (length > 1 && out[length - 1] == '/')
        length--;
    const char *beside = arena_printf(r->job->arena, "%.*s.files", (int)length, out);
    if (!revised->temporary.made && (!new_folder_begin(r->job, beside, &revised->temporary) ||
                                     !published_copy(r->job, r->folder, revised->temporary.made)))
        return false;
    const RevisedFile *config = find_revised_file(r, PUBLISHED_CONFIG);
    if (config && config->is_changed)
        revise_replace(r, "model.yml", NULL, 0);
    bool ok = true;
    for (size_t i = 0; ok && i < r->files.count; i++)
        ok = !r->files.data[i].is_changed ||
             write_revised_file(r, revised->temporary.made, &r->files.data[i]);
    r->files.count = 0;
    r->folder = revised->folder = revised->temporary.made;
    return ok;
}

/* ---- what differs ---- */

void revise_differs(Revise *r, const char *what, const char *is, const char *published)
{
    Arena *arena = r->job->arena;
    vec_push(arena, r->differs,
             arena_printf(arena, "%s is %s (published: %s)", what, text_visible_name(arena, is),
                          text_visible_name(arena, published)));
}

const char *revise_const(const Model *model, const char *name)
{
    for (size_t i = 0; i < model->consts.count; i++)
        if (!strcmp(model->consts.data[i].name, name))
            return model->consts.data[i].value;
    return NULL;
}

/* ---- reading ---- */

/* What import said of the files is not said again; errors are. */
static bool read_published_config(Revise *r)
{
    const TextList theirs = import_config_tensors(r->job->arena, r->is);
    return import_config_read(&r->quiet, r->folder, &theirs, &r->config) ||
           import_config_read(r->job, r->folder, &theirs, &r->config);
}

static bool read_revised_run(Revise *r)
{
    Session session;
    SessionOptions options = r->options->model->options;
    options.run = NULL; /* its params are compared elsewhere */
    if (!run_record_read(r->job, r->run, &r->record) ||
        !(r->vocab = vocabulary_of_run(r->job, r->run, &r->record)))
        return false;
    vocab_set_stream(r->vocab, r->record.kind == CORPUS_STREAM);
    const bool ok =
        session_open(&session, &r->quiet, &options) || session_open(&session, r->job, &options);
    r->is = ok ? session.model : NULL;
    return ok && read_published_config(r);
}

/* ---- the whole ---- */

static bool no_place(Revise *r)
{
    return job_error(r->job,
                     "%s: %s, and no file of a published model of %s has a place for that: -o "
                     "FILE.safetensors writes the params, and -o FILE.onnx the model",
                     r->run, text_join(r->job->arena, r->differs.data, r->differs.count),
                     r->config.model->type);
}

/* One comparison; after edits once more. */
static bool compare_part(Revise *r, bool (*compare)(Revise *r), Revised *revised, TextList *told)
{
    revise_quiet(r);
    r->differs.count = r->files.count = 0;
    if (!compare(r))
        return false;
    if (!r->differs.count)
        return true;
    if (!has_edits(r))
        return no_place(r);
    for (size_t i = 0; i < r->differs.count; i++)
        vec_push(r->job->arena, *told, r->differs.data[i]);
    if (!write_edits(r, revised) || !read_published_config(r))
        return false;
    r->differs.count = 0;
    return compare(r) && (!r->differs.count || no_place(r));
}

bool revise_published(Job *job, const ReviseOptions *options, Revised *revised)
{
    static bool (*const parts[])(Revise *) = {revise_labels, revise_tokenizer, revise_model,
                                              revise_tokens, revise_generation};
    Revise r = {.job = job,
                .quiet = job_quiet(job, job->arena),
                .options = options,
                .run = options->model->run};
    TextList told = {0};
    r.folder = published_folder(job, r.run, options->format);
    *revised = (Revised){.folder = r.folder, .kept = r.folder};
    bool ok = r.folder && read_revised_run(&r);
    for (size_t i = 0; ok && i < sizeof parts / sizeof *parts; i++)
        ok = compare_part(&r, parts[i], revised, &told);
    if (ok && told.count)
        diag_remark(&job->diags, (Loc){0}, "written otherwise than it was published: %s",
                    text_join(r.job->arena, told.data, told.count));
    return ok;
}

/* The text with the run's folder where the temporary one is named. */
static const char *kept_name(Arena *arena, const Revised *revised, const char *text)
{
    const char *made = revised->temporary.made, *at = strstr(text, made);
    return at ? arena_printf(arena, "%.*s%s%s", (int)(at - text), text, revised->kept,
                             kept_name(arena, revised, at + strlen(made)))
              : text;
}

static void name_kept(Job *job, const Revised *revised)
{
    for (size_t i = 0; i < job->diags.list.count; i++) {
        Diag *diag = &job->diags.list.data[i];
        const Source *source = diag->loc.source;
        if (!diag->path)
            diag->message = kept_name(job->arena, revised, diag->message);
        if (!source || !strstr(source->path, revised->temporary.made))
            continue;
        Source *kept = ARENA_NEW(job->arena, Source);
        *kept = *source;
        kept->path = kept_name(job->arena, revised, source->path);
        diag->loc.source = kept;
    }
}

void revise_end(Job *job, Revised *revised)
{
    if (!revised->temporary.made)
        return;
    name_kept(job, revised);
    new_folder_end(&revised->temporary, false);
}
