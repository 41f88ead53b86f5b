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

bool label_lists_make(Job *job, const ModelPorts *ports, const DataColumns *columns,
                      Lines *const *cells, int64_t line_limit)
{
    static const char file[] = "words:";
    bool ok = true;
    for (int c = 0; c < columns->n && ok; c++) {
        ColumnSpec *spec = &columns->specs[c];
        const char *words = columns->words[c];
        const Lines *const column[] = {cells[c]};
        if (words && !strncmp(words, file, sizeof file - 1))
            spec->labels =
                read_list(job, beside_model(job->arena, ports->columns[c], words + sizeof file - 1),
                          line_limit);
        else if (words && cells[c]->tensor)
            job_error(job, "`%s` has a list of words, and a tensor has numbers: declare it int",
                      spec->input);
        else if (words)
            spec->labels = labels_count(job->arena, column, 1, spec->side >= 0);
        ok = !words || spec->labels;
    }
    return ok;
}

bool label_lists_read(Job *job, const char *folder, const DataColumns *columns)
{
    bool ok = true;
    for (int c = 0; c < columns->n && ok; c++) {
        ColumnSpec *spec = &columns->specs[c];
        if (columns->words[c])
            spec->labels =
                read_list(job, file_in(job->arena, folder, list_name(job->arena, spec)), 0);
        ok = !columns->words[c] || spec->labels;
    }
    return ok;
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
        run_record_add_file(job, record, name, text.data, text.length);
        ok = file_write_own(&job->diags, file_in(job->arena, folder, name), text.data, text.length);
        text_free(&text);
    }
    return ok;
}
