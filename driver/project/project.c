/* The folder of a project: its size, and its files from templates. */
#define _GNU_SOURCE
#include "driver/project/project.h"

#include "base/file.h"
#include "driver/ports/ports.h"
#include "driver/run/new_folder.h"
#include "frontend/frontend.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const ProjectKindInfo kinds[] = {
#define KIND(name, form, first, second, summary) {#name, PROJECT_##form, {first, second}, summary},
#include "driver/project/kinds.def"
#undef KIND
};

static const ProjectSize sizes[] = {
#define SIZE(kind, words, processors, ...) {PROJECT_##kind, words, processors, __VA_ARGS__},
#include "driver/project/sizes.def"
#undef SIZE
};

/* ---- kinds and sizes ---- */

/* "language_model" as "language-model". */
static void put_name(char *out, size_t room, const char *name)
{
    snprintf(out, room, "%s", name);
    for (char *c = out; (c = strchr(c, '_'));)
        *c = '-';
}

const ProjectKindInfo *project_kind(ProjectKind kind)
{
    static ProjectKindInfo shown[PROJECT_KINDS];
    static char names[PROJECT_KINDS][32];
    shown[kind] = kinds[kind];
    put_name(names[kind], sizeof names[kind], kinds[kind].name);
    shown[kind].name = names[kind];
    return &shown[kind];
}

ProjectKind project_kind_find(const char *name)
{
    ProjectKind kind = 0;
    while (kind < PROJECT_KINDS && strcmp(project_kind(kind)->name, name) != 0)
        kind++;
    return kind;
}

const ProjectSize *project_size(ProjectKind kind, int64_t words, int processors)
{
    const ProjectSize *best = NULL;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        if (sizes[i].kind == kind &&
            (!best || (words >= sizes[i].words && processors >= sizes[i].processors)))
            best = &sizes[i];
    return best;
}

/* ---- templates ---- */

/* What stands for @NAME@ in a template. */
typedef struct Word {
    const char *name, *value;
} Word;

typedef VEC(Word) ProjectWords;

static const char *whole(Arena *arena, int64_t number)
{
    return arena_printf(arena, "%" PRId64, number);
}
static const char *part(Arena *arena, double number) { return arena_printf(arena, "%g", number); }

/* The name of a model in the folder (NewFolder.folder), which begins names in C: my_translator of
 * "my-translator", numbers_model of "numbers", which is a module of Python. */
static const char *model_name(Arena *arena, const char *folder)
{
    const char *base = file_name(folder);
    char *name = arena_printf(arena, "%s%s", isalpha((unsigned char)*base) ? "" : "model_", base);
    for (char *c = name; *c; c++)
        if (!isalnum((unsigned char)*c))
            *c = '_';
    return ports_name_owner(name, true) ? arena_printf(arena, "%s_model", name) : name;
}

/* Whether the texts of a table are words on their own: they are read letter by letter. */
static bool reads_letters(ProjectKind kind, const Survey *survey)
{
    const ProjectForm form = kinds[kind].form;
    return (form == PROJECT_LABELS || form == PROJECT_PARTNERS) &&
           survey->columns[0].words.mean < 1.5;
}

/* How much text the model learns from, as sizes.def counts it. */
static int64_t words_to_learn(ProjectKind kind, const Survey *survey)
{
    enum { LETTERS_OF_WORD = 4 };
    if (kind == PROJECT_pronouncer)
        return survey->lines;
    if (reads_letters(kind, survey))
        return survey->columns[0].characters.total / LETTERS_OF_WORD;
    return survey->columns[survey->n_columns > 1 && kinds[kind].form == PROJECT_PAIRS].words.total;
}

static ProjectWords make_words(Arena *arena, const char *name, const ProjectOptions *o,
                               const Survey *survey, const Project *project)
{
    const ProjectSize *size = project->size;
    const ProjectParts *parts = &project->parts;
    /* A pronunciation is symbols apart, or letters in a row. */
    bool apart = survey->data == OF_PAIRS && survey->columns[1].words.mean >= 2;
    const struct Word all[] = {
        {"name", name},
        {"layers", whole(arena, size->layers)},
        {"d_model", whole(arena, size->d_model)},
        {"d_ff", whole(arena, size->d_ff)},
        {"heads", whole(arena, size->heads)},
        {"p_drop", part(arena, size->p_drop)},
        {"vocab", reads_letters(o->kind, survey) ? "chars:auto" : size->vocab},
        {"symbols", apart ? "words:auto" : "chars:auto"},
        {"batch", whole(arena, size->batch)},
        {"rate", part(arena, size->rate)},
        {"minutes", part(arena, o->minutes)},
        {"train_lines", whole(arena, parts->train)},
        {"valid_lines", whole(arena, parts->valid)},
        {"test_lines", whole(arena, parts->test)},
        {"left_out", whole(arena, parts->left_out)},
        {"labels", whole(arena, parts->labels)},
        {"shared", project_shared(arena, project_kind(o->kind), parts)},
        {"origin",
         survey->data == OF_PAIRS && strcmp(survey->columns[0].file, survey->columns[1].file) != 0
             ? arena_printf(arena, "%s and %s", survey->columns[0].file, survey->columns[1].file)
             : survey->columns[0].file},
    };
    ProjectWords words = {0};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        vec_push(arena, words, all[i]);
    return words;
}

/* The template with its words; false after a message: it has a word that nothing stands for. */
static bool fill_project(Job *job, const Source *template, const ProjectWords *words, Text *out)
{
    const char *at = template->text;
    for (const char *mark; (mark = strchr(at, '@'));) {
        text_put(out, at, (size_t)(mark - at));
        size_t length = strspn(mark + 1, "abcdefghijklmnopqrstuvwxyz_"), i = 0;
        at = mark + length + 2;
        if (!length || mark[length + 1] != '@') { /* an @ of the text */
            text_put(out, mark, length + 1);
            at--;
            continue;
        }
        while (i < words->count && (strlen(words->data[i].name) != length ||
                                    strncmp(words->data[i].name, mark + 1, length) != 0))
            i++;
        if (i == words->count)
            return job_error(job, "%s: nothing stands for %.*s", template->path, (int)length + 2,
                             mark);
        text_string(out, words->data[i].value);
    }
    text_string(out, at);
    return true;
}

static bool write_from(Job *job, const ProjectOptions *o, const ProjectWords *words,
                       const char *folder, const char *type, const char *name, Text *text)
{
    const char *library = frontend_library(job->arena, NULL);
    if (!library)
        return job_error(
            job, "the folder of the libraries (models/lib) was not found; TFC_LIBRARY can name it");
    const char *path =
        arena_printf(job->arena, "%s/../kinds/%s.%s.in", library, kinds[o->kind].name, type);
    const Source *template = file_read(&job->diags, job->arena, path, MODEL_MAX_BYTES);
    return template && fill_project(job, template, words, text) &&
           file_write_all(&job->diags, file_in(job->arena, folder, name), text->data, text->length);
}

/* The lines of the first block of commands. */
static const char *find_commands(Arena *arena, const char *text)
{
    const char *begin = strstr(text, "```sh\n"), *end = begin ? strstr(begin + 6, "```") : NULL;
    return end ? arena_strndup(arena, begin + 6, (size_t)(end - begin - 6)) : "";
}

static bool write_files(Job *job, const ProjectOptions *o, const Survey *survey,
                        const NewFolder *new, Project *project)
{
    ProjectWords words =
        make_words(job->arena, model_name(job->arena, new->folder), o, survey, project);
    Text model = {0}, readme = {0};
    bool ok = write_from(job, o, &words, new->made, "tfg", "model.tfg", &model) &&
              write_from(job, o, &words, new->made, "md", "README.md", &readme);
    if (ok)
        project->commands = find_commands(job->arena, readme.data);
    text_free(&model);
    text_free(&readme);
    return ok;
}

/* ---- the folder ---- */

bool project_check_folder(Job *job, const char *path)
{
    DIR *folder = opendir(path);
    if (!folder)
        return errno == ENOENT ||
               job_error(job, "cannot make the folder %s: %s", path,
                         errno == ENOTDIR ? "a file has that name" : strerror(errno));
    closedir(folder);
    return new_folder_is_free(path) ||
           job_error(job, "%s is not empty: a project begins in a folder of its own", path);
}

bool project_create(Job *job, const ProjectOptions *o, const Survey *survey, Project *project)
{
    project->size = project_size(o->kind, words_to_learn(o->kind, survey), o->processors);
    NewFolder new;
    if (!project_check_folder(job, o->folder) || !new_folder_begin(job, o->folder, &new))
        return false;
    const char *data = arena_printf(job->arena, "%s/data", new.made);
    return new_folder_end(&new, file_make_folder(&job->diags, data) &&
                                    project_cut_data(job, o, survey, data, &project->parts) &&
                                    write_files(job, o, survey, &new, project));
}
