/* What a parser does with one token; see scan.h. */
#include "base/scan.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

Reader read_begin(Arena *arena, Diagnostics *diags, const Source *source, const char *marks)
{
    Reader reader = {.scan = scan_begin(arena, diags, source, marks),
                     .errors_before = diags->errors};
    read_advance(&reader);
    return reader;
}

void read_give_up(Reader *r)
{
    r->gave_up = true;
    r->scan.at = r->scan.end;
    r->now.kind = TOKEN_END;
}

void read_advance(Reader *r)
{
    r->consumed++;
    r->now = scan_next(&r->scan);
}

const char *read_suggestion(Reader *r, const char *name, const char *const *known, size_t n)
{
    return text_suggest(r->scan.arena, "`", name, known, n);
}

bool read_accept(Reader *r, char mark)
{
    if (!read_at(r, mark))
        return false;
    read_advance(r);
    return true;
}

bool read_expect(Reader *r, char mark, const char *where)
{
    if (read_accept(r, mark))
        return true;
    read_error_here(r, "expected '%c' %s", mark, where);
    return false;
}

bool read_accept_word(Reader *r, const char *word)
{
    if (!read_at_word(r, word))
        return false;
    read_advance(r);
    return true;
}

const char *read_name(Reader *r, const char *what)
{
    const char *name = r->now.text;
    if ((r->now.kind != TOKEN_WORD && r->now.kind != TOKEN_STRING) || !*name) {
        read_error_here(r, "expected %s", what);
        return NULL;
    }
    read_advance(r);
    return name;
}

const char *read_string(Reader *r, const char *what)
{
    const char *text = r->now.text;
    if (r->now.kind != TOKEN_STRING) {
        read_error_here(r, "expected %s in quotes", what);
        return NULL;
    }
    read_advance(r);
    return text;
}

bool read_int(Reader *r, int64_t least, int64_t most, int64_t *result)
{
    char *end = NULL;
    errno = 0;
    long long value = r->now.kind == TOKEN_NUMBER ? strtoll(r->now.text, &end, 10) : 0;
    if (!end || *end) {
        read_error_here(r, "expected a whole number");
        return false;
    }
    if (errno || value < least || value > most) {
        read_error_here(r, "%s is not within %" PRId64 " and %" PRId64, r->now.text, least, most);
        return false;
    }
    *result = value;
    read_advance(r);
    return true;
}

bool read_float(Reader *r, double *result)
{
    char *end = NULL;
    bool number = r->now.kind == TOKEN_NUMBER || r->now.kind == TOKEN_WORD;
    *result = number ? strtod(r->now.text, &end) : 0;
    if (!end || *end || end == r->now.text) {
        read_error_here(r, "expected a number");
        return false;
    }
    read_advance(r);
    return true;
}

bool read_skip_line(Reader *r, long start)
{
    bool opens = false;
    while (r->now.kind != TOKEN_END && (r->consumed == start || !r->now.starts_line)) {
        opens = read_at(r, '{');
        read_advance(r);
        if (read_errors(r) >= MOST_ERRORS)
            read_give_up(r);
    }
    return opens;
}
