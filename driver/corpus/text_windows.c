/* Cutting texts in memory into windows of lines. */
#include "driver/corpus/text_windows.h"

#include "base/record_cutter.h"

#include <stdlib.h>
#include <string.h>

enum { SIDES = 2 };

/* WindowSide: a side of a file.
 *   source      of a file of pairs, whose lines have both sides, side 0 alone has one
 *   table       of a file of pairs that is a table, its sides; else NULL
 *   at          where the next line begins
 *   lines       in all; given: in windows so far */
typedef struct WindowSide {
    const Source *source;
    Lines *table[SIDES];
    const char *at;
    int64_t lines, given;
} WindowSide;

/* TextWindows
 *   files      of each side, n_files of them
 *   n_sides    1: the texts have no targets
 *   has_pairs  the files of side 0 have both sides; columns: of --column
 *   part       memory of the lines that were given last */
struct TextWindows {
    Job *job;
    int64_t line_limit;
    WindowSide *files[SIDES];
    size_t n_files;
    int n_sides;
    bool has_pairs;
    const TextList *columns;
    Arena *part;
};

static const char *end_of(const Source *source) { return source->text + source->length; }

/* Goes on from *at behind `most` lines, or to the end; returns how many lines that were. */
static int64_t pass_lines(const Source *source, const char **at, int64_t most)
{
    const char *end = end_of(source);
    size_t length;
    int64_t n = 0;
    for (; n < most && *at < end; n++)
        *at = record_line(*at, end, &length);
    return n;
}

static void begin_side(WindowSide *side)
{
    side->at = source_start(side->source);
    side->given = 0;
}

/* ---- opening ---- */

static bool open_pairs(TextWindows *w, WindowSide *file, const char *path, const char *languages)
{
    PairText text;
    if (!pair_text_open(w->job, path, w->columns, languages, w->line_limit, &text))
        return false;
    for (int k = 0; k < SIDES; k++)
        file->table[k] = text.sides[k];
    file->source = text.lines ? text.lines : text.sides[0]->source;
    return true;
}

static bool open_file(TextWindows *w, WindowSide *file, const char *path, const char *languages)
{
    const LineLimits limits = {.line = w->line_limit};
    if (w->has_pairs && !open_pairs(w, file, path, languages))
        return false;
    if (!w->has_pairs)
        file->source = text_read(&w->job->diags, w->job->arena, path, &limits);
    if (!file->source)
        return false;
    begin_side(file);
    file->lines =
        file->table[0] ? file->table[0]->n : pass_lines(file->source, &file->at, INT64_MAX);
    begin_side(file);
    return true;
}

static bool open_side(TextWindows *w, int side, const TextList *paths, const char *languages)
{
    bool ok = text_paths_check(&w->job->diags, paths->data, paths->count);
    w->n_files = paths->count;
    w->files[side] = ARENA_ARRAY(w->job->arena, WindowSide, paths->count + 1);
    for (size_t i = 0; ok && i < paths->count; i++)
        ok = open_file(w, &w->files[side][i], paths->data[i], languages);
    return ok;
}

static bool check_counts(const TextWindows *w)
{
    bool ok = true;
    int64_t lines = 0;
    for (size_t i = 0; i < w->n_files; i++) {
        const WindowSide *source = &w->files[0][i], *target = &w->files[1][i];
        lines += source->lines;
        ok = (w->n_sides == 1 ||
              corpus_check_counts(&w->job->diags,
                                  &(Lines){.source = source->source, .n = source->lines},
                                  &(Lines){.source = target->source, .n = target->lines})) &&
             ok;
    }
    return ok && lines;
}

TextWindows *text_windows_open(Job *job, const TextFiles *files, const char *languages,
                               int64_t line_limit)
{
    TextWindows *w = memory_zeroed(1, sizeof *w);
    const TextList *first = files->text.count   ? &files->text
                            : files->data.count ? &files->data
                                                : &files->source;
    *w = (TextWindows){.job = job,
                       .line_limit = line_limit,
                       .columns = &files->columns,
                       .has_pairs = first == &files->data,
                       .n_sides = first == &files->source ? SIDES : 1};
    w->files[1] = ARENA_ARRAY(job->arena, WindowSide, first->count + 1);
    const bool is_read = open_side(w, 0, first, languages) &&
                         (w->n_sides == 1 || open_side(w, 1, &files->target, languages));
    const int errors = job->diags.errors;
    if (is_read && check_counts(w))
        return w;
    if (is_read && errors == job->diags.errors)
        text_files_tell_empty(job, files);
    text_windows_close(w);
    return NULL;
}

/* ---- windows ---- */

/* The next n lines of a file as a part of it; NULL after errors. */
static Lines *cut_lines(TextWindows *w, WindowSide *side, int64_t n)
{
    const char *from = side->given ? side->at : side->source->text;
    Source *source = ARENA_NEW(w->part, Source);
    pass_lines(side->source, &side->at, n);
    *source = (Source){.path = side->source->path,
                       .text = from,
                       .length = (size_t)(side->at - from),
                       .lines_before = side->given};
    side->given += n;
    return lines_parse(&w->job->diags, w->part, source, w->line_limit);
}

/* The next n records of a table. */
static Lines *cut_records(TextWindows *w, const WindowSide *file, int k, int64_t n)
{
    const Lines *all = file->table[k];
    Lines *lines = ARENA_NEW(w->part, Lines);
    int64_t *line = ARENA_ARRAY(w->part, int64_t, n + 1);
    for (int64_t i = 0; i < n; i++)
        line[i] = all->line ? all->line[file->given + i] : file->given + i;
    *lines = (Lines){.source = all->source, .n = n, .at = all->at + file->given, .line = line};
    return lines;
}

/* The next n lines of file i, as parts of the window's sides. */
static bool cut_file(TextWindows *w, size_t i, int64_t n, Lines **parts[SIDES])
{
    WindowSide *table = w->files[0][i].table[0] ? &w->files[0][i] : NULL;
    for (int k = 0; table && k < SIDES; k++)
        parts[k][i] = cut_records(w, table, k, n);
    if (table) {
        table->given += n;
        return true;
    }
    for (int side = 0; side < w->n_sides; side++)
        if (!(parts[side][i] = cut_lines(w, &w->files[side][i], n)))
            return false;
    if (w->has_pairs)
        parts[0][i] = lines_columns(&w->job->diags, w->part, parts[0][i], &parts[1][i]);
    return parts[0][i] != NULL;
}

bool text_windows_next(TextWindows *w, int64_t most, CorpusText *text, int64_t *n)
{
    Lines **parts[SIDES];
    arena_free(w->part);
    w->part = arena_new();
    for (int side = 0; side < SIDES; side++)
        parts[side] = ARENA_ARRAY(w->part, Lines *, w->n_files);
    *n = 0;
    for (size_t i = 0; i < w->n_files; i++) {
        const int64_t left = w->files[0][i].lines - w->files[0][i].given,
                      taken = left < most - *n ? left : most - *n;
        if (!cut_file(w, i, taken, parts))
            return false;
        *n += taken;
    }
    *text = (CorpusText){.source = lines_join(w->part, parts[0], (int)w->n_files)};
    if (w->n_sides == SIDES || w->has_pairs)
        text->target = lines_join(w->part, parts[1], (int)w->n_files);
    return true;
}

void text_windows_rewind(TextWindows *w)
{
    for (int side = 0; side < w->n_sides; side++)
        for (size_t i = 0; i < w->n_files; i++)
            begin_side(&w->files[side][i]);
}

void text_windows_keep(TextWindows *w)
{
    if (w->part)
        arena_own(w->job->arena, w->part, (void (*)(void *))arena_free);
    w->part = NULL;
}

void text_windows_close(TextWindows *w)
{
    if (!w)
        return;
    text_windows_keep(w);
    free(w);
}
