/* Records of CSV. Lines without quotes are cut as those of TSV; in others, fields are read one by
 * one. Cells point into the text, unless a wanted field has doubled quotes.
 *
 * Debian's libcsv is not used: it copies each field byte by byte, drops blanks around fields and
 * empty lines, and gives fields without their place, so that neither a record nor an error would
 * have a line and a column. */
#include "runtime/data/table_reader.h"

#include <string.h>

/* CsvRecord: one that is being read.
 *   at, stop   what is left of the line
 *   line       the number of that line */
typedef struct CsvRecord {
    TableReader *reader;
    const char *at, *stop;
    int64_t line;
} CsvRecord;

static void move_to_line(CsvRecord *c, int64_t line)
{
    c->line = line;
    c->stop = c->reader->lines->at[line].text + c->reader->lines->at[line].length;
}

/* The quote that closes the field which `open` begins; NULL: there is none. `doubled` is set to the
 * number of quotes in it. */
static const char *find_close(const Source *source, const char *open, size_t *doubled)
{
    const char *at = open + 1, *end = source->text + source->length;
    *doubled = 0;
    while ((at = memchr(at, '"', (size_t)(end - at)))) {
        if (at + 1 == end || at[1] != '"')
            return at;
        at += 2;
        ++*doubled;
    }
    return NULL;
}

/* The text between two quotes, each doubled one of it once. */
static Line undouble(Arena *arena, const char *from, const char *to, size_t doubled)
{
    const size_t length = (size_t)(to - from) - doubled;
    char *text = arena_alloc(arena, length + 1), *end = text;
    while (from < to) {
        const char *quote = memchr(from, '"', (size_t)(to - from));
        const size_t n = (size_t)((quote ? quote + 1 : to) - from);
        memcpy(end, from, n);
        end += n;
        from += n + (quote != NULL);
    }
    return (Line){text, length};
}

/* The field in quotes that begins at c->at. False after an error: the reader is then behind the
 * line where the error is. */
static bool read_quoted(CsvRecord *c, Line *cell, bool is_wanted)
{
    TableReader *r = c->reader;
    size_t doubled;
    const int64_t open_line = c->line;
    const char *open = c->at, *close = find_close(r->lines->source, open, &doubled);
    if (!close) {
        const char *end = r->lines->source->text + r->lines->source->length;
        r->line = r->lines->n;
        table_fault(r, open_line, open,
                    "nothing closes this quote%s: a field in quotes ends with \"",
                    end - open > r->line_limit
                        ? arena_printf(r->scratch, " within %lld bytes (--line-limit)",
                                       (long long)r->line_limit)
                        : "");
        return false;
    }
    int64_t line = open_line;
    while (line + 1 < r->lines->n && close >= r->lines->at[line + 1].text)
        line++;
    move_to_line(c, line);
    c->at = close + 1;
    r->line = line + 1;
    if (c->at < c->stop && *c->at != r->head->mark) {
        table_fault(
            r, line, c->at,
            "text after the quote that closes a field: write a quote within it twice, \"\"");
        return false;
    }
    if (close - open > r->line_limit) {
        table_fault(r, open_line, open,
                    "the field is longer than %lld bytes; --line-limit allows longer ones",
                    (long long)r->line_limit);
        return false;
    }
    *cell = doubled && is_wanted ? undouble(r->arena, open + 1, close, doubled)
                                 : (Line){open + 1, (size_t)(close - open - 1)};
    return true;
}

/* The field without quotes that begins at c->at; as read_quoted. */
static bool read_bare(CsvRecord *c, Line *cell)
{
    const size_t left = (size_t)(c->stop - c->at);
    const char *comma = memchr(c->at, c->reader->head->mark, left), *end = comma ? comma : c->stop;
    const char *quote = memchr(c->at, '"', (size_t)(end - c->at));
    *cell = (Line){c->at, (size_t)(end - c->at)};
    c->at = end;
    c->reader->line = c->line + 1;
    if (quote)
        table_fault(c->reader, c->line, quote,
                    "a quote within a field without quotes: put the field in quotes, and write the "
                    "quote twice, \"\"");
    return !quote;
}

int64_t table_next_csv(TableReader *r, Line *cells, size_t room)
{
    const Line *line = &r->lines->at[r->line];
    if (!memchr(line->text, '"', line->length)) {
        r->line++;
        return table_split(line, r->head->mark, cells, room);
    }
    CsvRecord c = {.reader = r, .at = line->text};
    move_to_line(&c, r->line);
    for (size_t n = 0;; n++, c.at++) {
        Line cell;
        const bool is_kept = n < room;
        const bool is_wanted = is_kept && (!r->head->is_wanted || r->head->is_wanted[n]);
        const bool is_quoted = c.at < c.stop && *c.at == '"';
        if (!(is_quoted ? read_quoted(&c, &cell, is_wanted) : read_bare(&c, &cell)))
            return TABLE_BAD;
        if (is_kept)
            cells[n] = cell;
        if (c.at == c.stop)
            return (int64_t)n + 1;
    }
}
