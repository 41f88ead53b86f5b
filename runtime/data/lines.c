/* Cutting a text into lines, and checking that it is UTF-8. */
#include "runtime/data/lines.h"

#include "base/record_cutter.h"
#include "base/unpack.h"

#include <stdint.h>
#include <string.h>

enum { MAX_PLACES = 3 }; /* bad lines told one by one; the rest are counted */

/* Byte offset of the first thing that is not UTF-8, or length. */
static size_t find_bad_byte(const char *text, size_t length)
{
    size_t i = 0;
    while (i < length) {
        size_t n = utf8_length(text + i, length - i);
        if (n == 0)
            break;
        i += n;
    }
    return i;
}

#define PANDAS(format)                                 \
    " (python3 -c 'import pandas; pandas.read_" format \
    "(\"FILE\").to_json(\"NEW.jsonl\", orient=\"records\", lines=True, force_ascii=False)')"

/* Parquet's fifth byte begins the head of a page. */
const char *text_foreign(const char *text, size_t length)
{
    static const struct {
        size_t n;
        const char *begin, *what;
    } rows[] = {
        {2, "\xff\xfe", "is UTF-16: convert it first (iconv -f UTF-16 -t UTF-8)"},
        {2, "\xfe\xff", "is UTF-16: convert it first (iconv -f UTF-16 -t UTF-8)"},
        {5, "PAR1\x15", "is Parquet: write it as JSON lines first" PANDAS("parquet")},
        {6, "ARROW1", "is Arrow's (Feather): write it as JSON lines first" PANDAS("feather")},
        {4, "PK\3\4",
         "is a workbook of Excel, or another zip archive: save the sheet as CSV first (libreoffice "
         "--headless --convert-to csv FILE)"},
        {4, "\xd0\xcf\x11\xe0",
         "is a workbook of Excel: save the sheet as CSV first (libreoffice --headless --convert-to "
         "csv FILE)"},
        {15, "SQLite format 3",
         "is a database of SQLite: write a table as CSV first (sqlite3 -header -csv FILE "
         "'select * from TABLE' >NEW.csv)"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (length >= rows[i].n && !memcmp(text, rows[i].begin, rows[i].n))
            return rows[i].what;
    return unpack_advice(text, length);
}

bool text_has_cr_lines(const char *text, size_t length)
{
    const char *first = length && !memchr(text, '\n', length) ? memchr(text, '\r', length) : NULL;
    return first && first + 1 < text + length && !text_foreign(text, length);
}

const char *line_fault(Arena *arena, const Line *line, int64_t line_limit, int *column)
{
    *column = 1;
    if (line->length > (size_t)line_limit)
        return arena_printf(arena,
                            "the line is longer than %lld bytes; --line-limit allows longer ones",
                            (long long)line_limit);
    /* tells most: other bad bytes are its company */
    const char *nul = line->length ? memchr(line->text, 0, line->length) : NULL;
    size_t at = nul ? (size_t)(nul - line->text) : find_bad_byte(line->text, line->length);
    if (at == line->length)
        return NULL;
    *column = (int)at + 1;
    return !nul ? arena_printf(
                      arena,
                      "invalid UTF-8: byte 0x%02x (iconv converts a text of another encoding)",
                      (unsigned char)line->text[at])
                : "a NUL byte: this is not a text file";
}

/* Adds the error of a file that is no text: a NUL near its beginning says so, and other bad bytes
 * there say no more. */
static bool is_binary(Diagnostics *diags, const Lines *lines)
{
    enum { BEGINNING = 8000 };
    const Source *source = lines->source;
    const char *nul =
        source->length
            ? memchr(source->text, 0, source->length < BEGINNING ? source->length : BEGINNING)
            : NULL;
    for (int64_t i = 0; nul && i < lines->n; i++)
        if (nul < lines->at[i].text + lines->at[i].length) {
            Loc loc = lines_place(lines, i);
            const char *fault = line_fault(diags->arena, &lines->at[i], INT64_MAX, &loc.column);
            diag_error(diags, loc, "%s", fault);
            return true;
        }
    return false;
}

static bool check_text(Diagnostics *diags, const Lines *lines, int64_t line_limit)
{
    const char *foreign = text_foreign(lines->source->text, lines->source->length);
    if (foreign) {
        diag_error(diags, (Loc){.source = lines->source}, "the file %s", foreign);
        return false;
    }
    if (is_binary(diags, lines))
        return false;
    if (!lines->source->lines_before &&
        text_has_cr_lines(lines->source->text, lines->source->length)) {
        diag_error(diags, (Loc){.source = lines->source}, CR_LINES_ADVICE);
        return false;
    }
    int64_t bad = 0;
    for (int64_t i = 0; i < lines->n; i++) {
        Loc loc = lines_place(lines, i);
        const char *fault = line_fault(diags->arena, &lines->at[i], line_limit, &loc.column);
        if (fault && ++bad <= MAX_PLACES)
            diag_error(diags, loc, "%s", fault);
    }
    if (bad > MAX_PLACES)
        diag_error(diags, (Loc){.source = lines->source}, "%lld more lines are no text",
                   (long long)(bad - MAX_PLACES));
    return bad == 0;
}

/* The file that line *i is of; *i becomes its number there. */
static const Lines *file_of_line(const Lines *lines, int64_t *i)
{
    const Lines *file = lines;
    for (int k = 0; k < lines->n_parts; k++) {
        file = lines->parts[k];
        if (*i < file->n || k + 1 == lines->n_parts)
            break;
        *i -= file->n;
    }
    if (file->line && *i < file->n)
        *i = file->line[*i];
    return file;
}

const char *lines_where(Arena *arena, const Lines *lines, int64_t i)
{
    const Lines *file = file_of_line(lines, &i);
    const long long number = file->source->lines_before + i + 1;
    return file == lines ? arena_printf(arena, "line %lld", number)
                         : arena_printf(arena, "line %lld of %s", number, file->source->path);
}

/* As a Loc has it. */
static int line_number(int64_t line) { return line < INT32_MAX ? (int)line : INT32_MAX; }

/* The place of a word, which stands between gaps, in a line of the file; NULL: it is not there. */
static const char *find_word(const char *line, const char *end, const char *word, size_t length)
{
    for (const char *at = line; at < end; at += at < end) {
        const char *begin = at;
        while (at < end && !strchr(" \t\r", *at))
            at++;
        if ((size_t)(at - begin) == length && !memcmp(begin, word, length))
            return begin;
    }
    return NULL;
}

/* Of a cell that has a word of each line of its record: the line and column of the word at `at`. */
static Loc place_in_lines(Loc loc, const Line *cell, size_t at)
{
    const char *line = loc.source->text, *end = line + loc.source->length, *word = cell->text,
               *last = word + cell->length;
    Loc found = loc;
    int64_t number = loc.source->lines_before + 1;
    while (line < end && word <= cell->text + at) {
        const char *stop = memchr(line, '\n', (size_t)(end - line));
        const char *gap = memchr(word, ' ', (size_t)(last - word));
        stop = stop ? stop : end;
        gap = gap ? gap : last;
        const char *place =
            number < loc.line ? NULL : find_word(line, stop, word, (size_t)(gap - word));
        if (place) {
            found.line = line_number(number);
            found.column = (int)(place - line) + 1;
            word = gap + 1;
        }
        line = stop + 1;
        number++;
    }
    return word > cell->text + at ? found : loc;
}

Loc lines_place_within(const Lines *lines, int64_t i, size_t at)
{
    Loc loc = lines_place(lines, i);
    const Line *cell = &lines->at[i];
    if (file_of_line(lines, &i)->in_lines && at < cell->length)
        return place_in_lines(loc, cell, at);
    const char *begin = loc.source->text, *place = cell->text + at;
    if (place < begin || place >= begin + loc.source->length)
        return loc;
    int64_t line = loc.source->lines_before + 1;
    for (const char *end; (end = memchr(begin, '\n', (size_t)(place - begin))); begin = end + 1)
        line++;
    loc.line = line_number(line);
    loc.column = (int)(place - begin) + 1;
    return loc;
}

Loc lines_place(const Lines *lines, int64_t i)
{
    lines = file_of_line(lines, &i);
    return (Loc){.source = lines->source,
                 .line = line_number(lines->source->lines_before + i + 1),
                 .column = 1,
                 .length = 1};
}

Lines *lines_parse(Diagnostics *diags, Arena *arena, const Source *source, int64_t line_limit)
{
    Lines *lines = ARENA_NEW(arena, Lines);
    lines->source = source;
    const char *text = source_start(source), *end = source->text + source->length;
    for (const char *c = text; c < end && (c = memchr(c, '\n', (size_t)(end - c))); c++)
        lines->n++;
    lines->n += end > text && end[-1] != '\n';
    lines->at = ARENA_ARRAY(arena, Line, lines->n + 1);
    for (int64_t i = 0; i < lines->n; i++) {
        const char *next = record_line(text, end, &lines->at[i].length);
        lines->at[i].text = text;
        text = next;
    }
    return check_text(diags, lines, line_limit_of(line_limit)) ? lines : NULL;
}

Lines *lines_join(Arena *arena, Lines *const *parts, int n)
{
    enum { MOST_NAMED = 3 };
    if (n == 1)
        return parts[0];
    Lines *all = ARENA_NEW(arena, Lines);
    const char *names = parts[0]->source->path;
    int64_t lines = 0;
    for (int k = 0; k < n; k++) {
        lines += parts[k]->n;
        if (k && k < MOST_NAMED)
            names = arena_printf(arena, "%s, %s", names, parts[k]->source->path);
    }
    if (n > MOST_NAMED)
        names = arena_printf(arena, "%s and %d more", names, n - MOST_NAMED);
    *all = (Lines){.source = diag_source(arena, names, "", 0),
                   .at = ARENA_ARRAY(arena, Line, lines + 1),
                   .parts = arena_copy(arena, parts, sizeof *parts * (size_t)n),
                   .n_parts = n};
    for (int k = 0; k < n; k++)
        for (int64_t i = 0; i < parts[k]->n; i++)
            all->at[all->n++] = parts[k]->at[i];
    return all;
}

bool line_columns(const Line *line, Line sides[2])
{
    const char *text = line->text, *end = text + line->length,
               *tab = memchr(text, '\t', line->length);
    if (!tab)
        return false;
    const char *next = memchr(tab + 1, '\t', (size_t)(end - tab - 1));
    sides[0] = (Line){text, (size_t)(tab - text)};
    sides[1] = (Line){tab + 1, (size_t)((next ? next : end) - tab - 1)};
    return true;
}

Lines *lines_columns(Diagnostics *diags, Arena *arena, const Lines *lines, Lines **second)
{
    Lines *sides = ARENA_ARRAY(arena, Lines, 2);
    int64_t bad = 0;
    for (int k = 0; k < 2; k++) {
        sides[k] = (Lines){.source = lines->source, .n = lines->n, .line = lines->line};
        sides[k].at = ARENA_ARRAY(arena, Line, lines->n + 1);
    }
    for (int64_t i = 0; i < lines->n; i++) {
        Line pair[2] = {{0}};
        if (!line_columns(&lines->at[i], pair) && ++bad <= MAX_PLACES)
            diag_error(diags, lines_place(lines, i),
                       "no tab: expected a source, a tab and its target (tables of other forms "
                       "are FILE.csv and FILE.jsonl)");
        sides[0].at[i] = pair[0];
        sides[1].at[i] = pair[1];
    }
    if (bad > MAX_PLACES)
        diag_error(diags, (Loc){.source = lines->source}, "%lld more lines have no tab",
                   (long long)(bad - MAX_PLACES));
    *second = &sides[1];
    return bad ? NULL : &sides[0];
}
