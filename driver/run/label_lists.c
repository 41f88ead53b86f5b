/* Lists of labels: made for a training, kept in the folder of its run. */
#include "driver/run/label_lists.h"

#include "base/file.h"

#include <string.h>

static const char *list_name(Arena *arena, const ColumnSpec *spec)
{
    return arena_printf(arena, "labels-%s.txt", spec->input);
}

static const Labels *read_list(Job *job, const char *path, int64_t line_limit)
{
    const LineLimits limits = {.line = line_limit};
    const Lines *lines = lines_read(&job->diags, job->arena, path, &limits);
    return lines ? labels_parse(&job->diags, job->arena, lines) : NULL;
}

/* The path of a file that the model names: beside the file that does. */
static const char *beside_model(Arena *arena, const Op *input, const char *path)
{
    const char *model = input->loc.source ? input->loc.source->path : "";
    size_t folder = (size_t)(file_name(model) - model);
    return *path == '/' || !folder ? path
                                   : file_in(arena, arena_strndup(arena, model, folder - 1), path);
}

bool label_lists_are_counted(const DataColumns *columns, int c)
{
    return columns->words[c] && !strcmp(columns->words[c], "words");
}

bool label_lists_check_cells(Diagnostics *diags, const ColumnSpec *spec, const Lines *cells)
{
    if (cells->tensor)
        diag_error(diags, (Loc){0},
                   "`%s` has a list of words, and a tensor has numbers: declare it int",
                   spec->input);
    for (int64_t i = 0; i < cells->n && !cells->tensor; i++) {
        const Line *cell = &cells->at[i];
        for (size_t at = 0; at < cell->length; at++)
            if (cell->text[at] == '\n' || cell->text[at] == '\r' || cell->text[at] == '\t') {
                diag_error(diags, lines_place_within(cells, i, at),
                           "a label of `%s` has a line break or a tab in it", spec->input);
                return false;
            }
    }
    return !cells->tensor;
}

static const Labels *count_labels(Job *job, const ColumnSpec *spec, const Lines *cells)
{
    if (!cells)
        job_error(
            job,
            "the labels of `%s` are those of its data, which is not here: name the folder of a "
            "run, or write `vocab %s = words(\"FILE\")`",
            spec->input, spec->input);
    LabelSet set;
    if (!cells || !label_lists_check_cells(&job->diags, spec, cells))
        return NULL;
    label_set_init(&set, job->arena, spec->side >= 0);
    label_set_see(&set, cells);
    return label_set_list(&set, job->arena);
}

bool label_lists_make(Job *job, const ModelPorts *ports, const DataColumns *columns,
                      Lines *const *cells, int64_t line_limit)
{
    static const char file[] = "words:";
    bool ok = true;
    for (int c = 0; c < columns->n && ok; c++) {
        ColumnSpec *spec = &columns->specs[c];
        const char *words = columns->words[c];
        if (words && !strncmp(words, file, sizeof file - 1))
            spec->labels =
                read_list(job, beside_model(job->arena, ports->columns[c], words + sizeof file - 1),
                          line_limit);
        else if (words && !spec->labels)
            spec->labels = count_labels(job, spec, cells ? cells[c] : NULL);
        ok = !words || spec->labels;
    }
    return ok;
}

/* A list of a folder, if it is the one that was recorded. */
static const Labels *read_recorded(Job *job, const char *folder, const RunRecord *record,
                                   const char *name)
{
    const char *path = file_in(job->arena, folder, name);
    const Labels *labels = read_list(job, path, 0);
    Text text = {0};
    if (!labels || !record)
        return labels;
    labels_print(labels, &text);
    if (run_record_has_changed(job, record, name, text.data, text.length)) {
        job_error(job, "%s is not the list that the run was made with: put that back", path);
        labels = NULL;
    }
    text_free(&text);
    return labels;
}

bool label_lists_read(Job *job, const char *folder, const RunRecord *record,
                      const DataColumns *columns)
{
    bool ok = true;
    for (int c = 0; c < columns->n && ok; c++) {
        ColumnSpec *spec = &columns->specs[c];
        if (columns->words[c])
            spec->labels = read_recorded(job, folder, record, list_name(job->arena, spec));
        ok = !columns->words[c] || spec->labels;
    }
    return ok;
}

bool label_lists_keep(Job *job, const char *folder, const DataColumns *columns)
{
    for (int c = 0; c < columns->n; c++) {
        ColumnSpec *spec = &columns->specs[c];
        const char *path = file_in(job->arena, folder, list_name(job->arena, spec));
        const Labels *was = spec->labels && file_exists(path) ? read_list(job, path, 0) : NULL;
        if (!spec->labels || !file_exists(path))
            continue;
        for (size_t i = 0; was && i < spec->labels->words.count; i++) {
            const char *word = spec->labels->words.data[i];
            if (labels_find(was, word, strlen(word)) < 0)
                return job_error(job,
                                 "'%s' is none of the labels of `%s` in %s: params learned for "
                                 "other labels do not fit these",
                                 word, spec->input, path);
        }
        if (!was)
            return false;
        spec->labels = was;
    }
    return true;
}

bool label_lists_write(Job *job, const char *folder, const DataColumns *columns, RunRecord *record)
{
    bool ok = true;
    for (int c = 0; c < columns->n && ok; c++) {
        const ColumnSpec *spec = &columns->specs[c];
        Text text = {0};
        if (!spec->labels)
            continue;
        labels_print(spec->labels, &text);
        const char *name = list_name(job->arena, spec);
        if (record)
            run_record_add_file(job, record, name, text.data, text.length);
        ok = file_write_own(&job->diags, file_in(job->arena, folder, name), text.data, text.length);
        text_free(&text);
    }
    return ok;
}
