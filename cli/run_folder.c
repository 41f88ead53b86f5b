/* Writing and opening the folder of a run. */
#include "cli/run_folder.h"

#include "base/file.h"

#include <jansson.h>
#include <string.h>

static const char *const kind_names[] = {"pairs", "sources", "sentences", "lines", "stream"};
enum { N_KINDS = sizeof kind_names / sizeof kind_names[0], LARGEST_JSON = 1 << 20 };

const char *corpus_kind_name(CorpusKind kind) { return kind_names[kind]; }

static const char *in_folder(Cli *cli, const char *folder, const char *name)
{
    return arena_printf(cli->arena, "%s/%s", folder, name);
}

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static bool is_under(const char *path, const char *folder, size_t length)
{
    return !strncmp(path, folder, length) && !strstr(path + length, "..") && path[length] != '/';
}

/* The folder of the prelude is that of the library; its length with the slash. */
static const char *library_folder(const Session *session, size_t *length)
{
    for (size_t i = 0; i < session->model->files.count; i++) {
        const char *path = session->model->files.data[i]->path;
        if (!strcmp(base_name(path), "prelude.tfg")) {
            *length = (size_t)(base_name(path) - path);
            return path;
        }
    }
    return NULL;
}

/* Where a file that the model reads goes within the folder: library files into
 * lib/, others where they stand relative to the model; NULL: elsewhere. */
static const char *place_of_file(Cli *cli, const Session *session, const Source *file)
{
    const char *model = session->model->path;
    size_t length = 0;
    const char *library = library_folder(session, &length);
    if (!strcmp(file->path, model))
        return "model.tfg";
    if (library && is_under(file->path, library, length))
        return arena_printf(cli->arena, "lib/%s", file->path + length);
    length = (size_t)(base_name(model) - model);
    return is_under(file->path, model, length) ? file->path + length : NULL;
}

static bool write_files(Cli *cli, const char *folder, const Session *session)
{
    for (size_t i = 0; i < session->model->files.count; i++) {
        const Source *file = session->model->files.data[i];
        const char *place = place_of_file(cli, session, file);
        if (!place) {
            diag_warning(&cli->diags, (Loc){0},
                         "%s is not beside the model: the run needs it where it "
                         "is, and --out %s cannot be moved",
                         file->path, folder);
            continue;
        }
        const char *path = in_folder(cli, folder, place);
        const char *within = arena_strndup(cli->arena, path, (size_t)(base_name(path) - path - 1));
        if (!file_make_folder(&cli->diags, within) ||
            !file_write_all(&cli->diags, path, file->text, file->length))
            return false;
    }
    return true;
}

static bool write_json(Cli *cli, const char *path, json_t *json)
{
    char *text = json_dumps(json, JSON_INDENT(2));
    const char *copy = text ? arena_printf(cli->arena, "%s\n", text) : NULL;
    bool ok = text && file_write_all(&cli->diags, path, copy, strlen(copy));
    json_decref(json);
    free(text);
    return ok || (!text && cli_error(cli, "out of memory"));
}

bool run_folder_write(Cli *cli, const char *folder, const Session *session, const Vocabulary *vocab,
                      CorpusKind kind)
{
    json_t *json = json_object(), *settings = json_array();
    for (size_t i = 0; i < session->options.settings.count; i++)
        json_array_append_new(settings, json_string(session->options.settings.data[i]));
    json_object_set_new(json, "tfc", json_string(TFC_VERSION));
    json_object_set_new(json, "model", json_string(session->model->path));
    json_object_set_new(json, "kind", json_string(kind_names[kind]));
    json_object_set_new(json, "settings", settings);
    return write_json(cli, in_folder(cli, folder, "run.json"), json) &&
           write_files(cli, folder, session) && vocab_save(vocab, &cli->diags, folder);
}

static bool read_json(Cli *cli, RunFolder *run, TextList *settings)
{
    const char *path = in_folder(cli, run->path, "run.json");
    if (!file_exists(path))
        return cli_error(cli, "%s is not the folder of a run: it has no run.json", run->path);
    const Source *source = file_read(&cli->diags, cli->arena, path, LARGEST_JSON);
    if (!source)
        return false;
    json_error_t error;
    json_t *json = json_loadb(source->text, source->length, 0, &error);
    if (!json)
        return cli_error(cli, "%s:%d: %s", path, error.line, error.text);
    const char *kind = json_string_value(json_object_get(json, "kind"));
    int found = -1;
    for (int i = 0; kind && i < N_KINDS; i++)
        if (!strcmp(kind, kind_names[i]))
            found = i;
    json_t *list = json_object_get(json, "settings");
    bool ok = found >= 0 && json_is_array(list);
    for (size_t i = 0; ok && i < json_array_size(list); i++) {
        const char *text = json_string_value(json_array_get(list, i));
        ok = text != NULL;
        if (ok)
            vec_push(cli->arena, *settings, arena_strdup(cli->arena, text));
    }
    run->kind = (CorpusKind)found;
    json_decref(json);
    return ok || cli_error(cli, "%s: not what tfc train writes", path);
}

bool run_folder_open(Cli *cli, const char *path, RunFolder *run)
{
    *run = (RunFolder){.path = path, .store = store_new()};
    SessionOptions options = session_defaults(in_folder(cli, path, "model.tfg"));
    options.library = in_folder(cli, path, "lib");
    if (!read_json(cli, run, &options.settings) || !session_open(&run->session, cli, &options))
        return false;
    run->vocab = vocab_load_run(&cli->diags, cli->arena, path);
    if (!run->vocab)
        return false;
    inference_init(&run->inference, &run->session, run->store, run->vocab);
    if (run->inference.ports.vocab && run->inference.ports.vocab != vocab_size(run->vocab))
        return cli_error(cli, "%s: the vocabulary has %d tokens, but the model has %d", path,
                         (int)vocab_size(run->vocab), (int)run->inference.ports.vocab);
    return true;
}

static const char *pick_checkpoint(Cli *cli, const char *folder)
{
    static const char *const names[] = {"average.safetensors", "best.safetensors",
                                        "last.safetensors"};
    for (int i = 0; i < 3; i++)
        if (file_exists(in_folder(cli, folder, names[i])))
            return in_folder(cli, folder, names[i]);
    return NULL;
}

bool run_folder_load(Cli *cli, RunFolder *run, const char *checkpoint)
{
    if (!checkpoint)
        checkpoint = pick_checkpoint(cli, run->path);
    else if (!file_exists(checkpoint) && file_exists(in_folder(cli, run->path, checkpoint)))
        checkpoint = in_folder(cli, run->path, checkpoint);
    if (!checkpoint)
        return cli_error(cli, "%s: the run has no checkpoint yet", run->path);
    run->checkpoint = checkpoint;
    return checkpoint_load_params(&cli->diags, cli->arena, checkpoint, run->store, &run->state);
}

void run_folder_close(RunFolder *run)
{
    inference_free(&run->inference);
    session_close(&run->session);
    store_free(run->store);
    vocab_free(run->vocab);
}
