/* Reading the texts that options name. */
#define _GNU_SOURCE
#include "driver/corpus/text_files.h"

#include "base/byte_source.h"
#include "runtime/data/corpus.h"
#include "runtime/data/tmx.h"

#include <string.h>

bool text_files_given(const TextFiles *files)
{
    return files->source.count || files->target.count || files->data.count || files->text.count;
}

const char *text_files_mistake(Arena *arena, const TextFiles *files, const char *prefix,
                               unsigned kinds)
{
    const size_t sources = files->source.count, targets = files->target.count;
    if (files->data.count && (sources || targets))
        return arena_printf(
            arena, "--%sdata is in place of --%ssource and --%starget: give one or the other",
            prefix, prefix, prefix);
    if (files->text.count && (sources || targets || files->data.count))
        return arena_printf(arena, "--%stext is in place of pairs (--%s%s): give one or the other",
                            prefix, prefix,
                            files->data.count ? "data"
                            : sources         ? "source"
                                              : "target");
    if (!sources != !targets && !(sources && kinds & TEXTS_SOURCE_ALONE))
        return arena_printf(arena, "--%s%s is missing: --%s%s needs it, line by line", prefix,
                            sources ? "target" : "source", prefix, sources ? "source" : "target");
    if (sources && targets && sources != targets)
        return arena_printf(
            arena, "there are %zu of --%ssource and %zu of --%starget: they are paired by order",
            sources, prefix, targets, prefix);
    return NULL;
}

static bool has_memory(const TextList *paths)
{
    for (size_t i = 0; paths && i < paths->count; i++)
        if (strcasestr(paths->data[i], ".tmx"))
            return true;
    return false;
}

const char *text_files_in_vain(Arena *arena, const TextFiles *files, bool lines,
                               const char *languages, const TextFiles *valid, const TextList *named)
{
    if (lines && !files->text.count)
        return "--lines is for --text; pairs are lines without it: leave it out";
    if (languages && !has_memory(&files->data) && !(valid && has_memory(&valid->data)) &&
        !has_memory(named))
        return arena_printf(arena,
                            "--languages %s is for translation memories, FILE.tmx: there is none",
                            languages);
    return NULL;
}

const char *text_files_columns_mistake(Arena *arena, const TextFiles *files, const TextFiles *valid,
                                       const TextList *named)
{
    const bool any = files->data.count || (valid && valid->data.count) || (named && named->count);
    return files->columns.count && !any
               ? arena_printf(arena,
                              "--column %s names a field of a table: give the pairs as --data FILE",
                              files->columns.data[0])
               : NULL;
}

const char *text_files_options(Arena *arena, const char *prefix, unsigned kinds)
{
    const struct {
        unsigned kind;
        const char *text;
    } rows[] = {
        {TEXTS_PAIRS,
         arena_printf(arena, "--%ssource FILE%s", prefix,
                      arena_printf(arena,
                                   kinds & TEXTS_SOURCE_ALONE ? ", alone or with --%starget FILE"
                                                              : " and --%starget FILE",
                                   prefix))},
        {TEXTS_DATA, arena_printf(arena, "--%sdata FILE", prefix)},
        {TEXTS_TEXT, arena_printf(arena, "--%stext FILE", prefix)},
        {TEXTS_PREPARED, "--prepared FOLDER"},
    };
    const char *all = "";
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (kinds & rows[i].kind)
            all = arena_printf(arena, "%s%s%s", all, *all ? ", or " : "", rows[i].text);
    return all;
}

const char *text_files_misfit(Arena *arena, const TextFiles *files, const char *prefix,
                              unsigned kinds, const char *model, bool reads_pairs, bool is_needed)
{
    const bool pairs = files->source.count || files->target.count || files->data.count;
    const char *options = text_files_options(
        arena, prefix, kinds & ~(reads_pairs ? TEXTS_TEXT : TEXTS_PAIRS | TEXTS_DATA));
    if (reads_pairs && files->text.count)
        return arena_printf(arena, "%s reads pairs, and --%stext is for language models: give %s",
                            model, prefix, options);
    if (!reads_pairs && pairs)
        return arena_printf(
            arena,
            "%s reads one text, and --%s%s is for models that read pairs, such as translators: give %s",
            model, prefix, files->data.count ? "data" : "source", options);
    if (!is_needed || (reads_pairs ? pairs : files->text.count))
        return NULL;
    return arena_printf(arena, "%s reads %s: give %s", model, reads_pairs ? "pairs" : "one text",
                        options);
}

TextList text_files_paths(Arena *arena, const TextFiles *files)
{
    const TextList *lists[] = {&files->source, &files->target, &files->data, &files->text};
    TextList all = {0};
    for (size_t k = 0; k < sizeof lists / sizeof lists[0]; k++)
        for (size_t i = 0; i < lists[k]->count; i++)
            vec_push(arena, all, lists[k]->data[i]);
    return all;
}

/* ---- reading ---- */

static Lines *read_data(Job *job, const TextFiles *files, const char *languages, int64_t line_limit,
                        Lines **targets)
{
    const TextList *data = &files->data;
    Lines **parts[2];
    for (int k = 0; k < 2; k++)
        parts[k] = ARENA_ARRAY(job->arena, Lines *, data->count + 1);
    for (size_t i = 0; i < data->count; i++) {
        parts[0][i] = pair_text_read(job, data->data[i], &files->columns, languages, line_limit,
                                     &parts[1][i]);
        if (!parts[0][i])
            return NULL;
    }
    *targets = lines_join(job->arena, parts[1], (int)data->count);
    return lines_join(job->arena, parts[0], (int)data->count);
}

/* Whether paired files have as many lines each: shifted by one, all later pairs would be wrong. */
static bool check_pairs(Job *job, const Lines *sources, const Lines *targets)
{
    bool ok = true;
    if (!sources->n_parts)
        return corpus_check_counts(&job->diags, sources, targets);
    for (int k = 0; k < sources->n_parts; k++)
        ok = corpus_check_counts(&job->diags, sources->parts[k], targets->parts[k]) && ok;
    return ok;
}

static Lines *read_files(Job *job, const TextFiles *files, const char *languages,
                         int64_t line_limit, Lines **targets)
{
    const LineLimits limits = {.line = line_limit};
    const TextList *first = files->text.count ? &files->text : &files->source;
    *targets = NULL;
    if (files->data.count)
        return read_data(job, files, languages, line_limit, targets);
    Lines *lines = lines_read_all(&job->diags, job->arena, first->data, first->count, &limits);
    if (!lines || files->text.count)
        return lines;
    *targets =
        lines_read_all(&job->diags, job->arena, files->target.data, files->target.count, &limits);
    return *targets && check_pairs(job, lines, *targets) ? lines : NULL;
}

bool text_files_tell_empty(Job *job, const TextFiles *files)
{
    const TextList paths = text_files_paths(job->arena, files);
    diag_about(&job->diags, DIAG_ERROR, paths.count ? paths.data[0] : "the text", " has no lines");
    return false;
}

Lines *text_files_read(Job *job, const TextFiles *files, const char *languages, int64_t line_limit,
                       Lines **targets)
{
    Lines *lines = read_files(job, files, languages, line_limit, targets);
    if (!lines || lines->n)
        return lines;
    text_files_tell_empty(job, files);
    return NULL;
}

/* ---- looking ---- */

/* The first n bytes of a file have a tab in every whole line; the number of those, or 0. */
static int64_t lines_with_tabs(const char *text, size_t n)
{
    int64_t lines = 0;
    for (const char *end; n && (end = memchr(text, '\n', n)); lines++) {
        const size_t length = (size_t)(end + 1 - text);
        if (!memchr(text, '\t', length))
            return 0;
        text += length;
        n -= length;
    }
    return lines;
}

void text_file_look(Job *job, const char *path, const char *advice)
{
    enum { BEGINNING = 1 << 16 };
    ByteSource source;
    if (!pair_file_has_beginning(path) || !byte_source_open(&source, path))
        return;
    byte_source_unpack(&source);
    const size_t n = byte_source_look(&source, BEGINNING);
    const int64_t lines = lines_with_tabs(source.data, n);
    if (lines)
        diag_about(&job->diags, DIAG_WARNING, path, ": %s has a tab: %s",
                   n < BEGINNING
                       ? "every line"
                       : arena_printf(job->arena, "each of the first %lld lines", (long long)lines),
                   advice);
    byte_source_close(&source);
}

void text_files_look(Job *job, const TextFiles *files, const char *prefix, unsigned kinds)
{
    for (size_t i = 0; i < files->data.count; i++)
        pair_look_at_file(job, files->data.data[i], &files->columns, (kinds & TEXTS_HEADED) != 0);
    for (size_t i = 0; i < files->source.count && i < files->target.count; i++)
        pair_look_at_sides(job, files->source.data[i], files->target.data[i]);
    const char *data =
        kinds & TEXTS_DATA ? arena_printf(job->arena, "is it --%sdata?", prefix) : NULL;
    for (size_t i = 0; i < files->source.count; i++)
        text_file_look(job, files->source.data[i],
                       data ? data : "cut -f1 takes the first column, of sources");
    for (size_t i = 0; i < files->target.count; i++)
        text_file_look(job, files->target.data[i],
                       data ? data : "cut -f2 takes the second column, of targets");
}
