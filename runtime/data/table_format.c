/* Which format a table has: by its name, or by its form. */
#define _GNU_SOURCE
#include "runtime/data/table_reader.h"

#include <string.h>
#include <strings.h>

static const struct {
    const char *ending;
    TableFormat format;
} endings[] = {
#define TABLE_ENDING_ROW(ending, format) {ending, format},
    TABLE_ENDINGS(TABLE_ENDING_ROW)};

/* Whether the first n bytes of a path end so, in letters of either case. */
static bool ends_with(const char *path, size_t n, const char *ending)
{
    const size_t length = strlen(ending);
    return n >= length && !strncasecmp(path + n - length, ending, length);
}

bool table_is_named(const char *path, TableFormat *format)
{
    static const char *const packed[] = {".gz", ".xz", ".zst"};
    size_t n = strlen(path);
    for (size_t i = 0; i < sizeof packed / sizeof *packed; i++)
        if (ends_with(path, n, packed[i])) {
            n -= strlen(packed[i]);
            break;
        }
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++)
        if (ends_with(path, n, endings[i].ending)) {
            *format = endings[i].format;
            return true;
        }
    return false;
}

static const char *pass_spaces(const char *at, const char *end)
{
    while (at < end && strchr(" \t\r\n", *at) && *at)
        at++;
    return at;
}

TableFormat table_format(const char *path, const Source *source)
{
    TableFormat format;
    const bool is_named = table_is_named(path, &format);
    if (is_named && format != TABLE_JSON)
        return format;
    const char *end = source->text + source->length, *at = pass_spaces(source_start(source), end);
    const size_t mark = sizeof TABLE_FASTTEXT_MARK - 1;
    if (!is_named && (size_t)(end - at) >= mark && !memcmp(at, TABLE_FASTTEXT_MARK, mark))
        return TABLE_FASTTEXT;
    const char *next = at < end && *at == '[' ? pass_spaces(at + 1, end) : end;
    if (next < end && *next == '{')
        return TABLE_LIST;
    return is_named || (at < end && *at == '{') ? TABLE_JSON : TABLE_TSV;
}

/* Whether a line of the text begins with a label of fastText. */
static bool has_fasttext_line(const Source *text)
{
    static const char mark[] = "\n" TABLE_FASTTEXT_MARK;
    return memmem(text->text, text->length, mark, sizeof mark - 1) != NULL;
}

bool table_find_format(Arena *arena, const char *path, const Source *beginning,
                       const char *const *fields, size_t n_fields, TableFormat *format)
{
    enum { MOST = 1 << 16 };
    static const TableFormat headed[] = {TABLE_TSV, TABLE_CSV};
    TableFormat named;
    *format = table_format(path, beginning);
    if (*format != TABLE_TSV || table_is_named(path, &named))
        return true;
    Source first = *beginning;
    const char *end = NULL;
    if (first.length > MOST)
        first.length = MOST;
    if (first.length < beginning->length)
        end = memrchr(first.text, '\n', first.length);
    if (end)
        first.length = (size_t)(end + 1 - first.text);
    for (size_t i = 0; i < sizeof headed / sizeof *headed; i++) {
        Diagnostics unseen;
        TableHead head;
        diag_init(&unseen, arena);
        if (table_find_head(&unseen, arena, &first, headed[i], fields, n_fields, NULL, &head)) {
            *format = headed[i];
            return true;
        }
    }
    if (has_fasttext_line(&first))
        *format = TABLE_FASTTEXT;
    return *format == TABLE_FASTTEXT;
}
