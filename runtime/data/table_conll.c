/* Records of CoNLL's columns: the lines up to an empty one are a record, and a line is a word of it
 * with what is said of the word. A field of a record is that column from top to bottom, with blanks
 * between its values. */
#include "runtime/data/table_reader.h"

#include <string.h>

static const char comment[] = "#", document[] = "-DOCSTART-";
const char *const table_conll_passed[] = {comment, document, NULL};

/* Whether a line begins so. */
static bool begins_with(const Line *line, const char *text)
{
    const size_t n = strlen(text);
    return line->length >= n && !memcmp(line->text, text, n);
}

static bool is_empty(const Line *line)
{
    size_t i = 0;
    while (i < line->length && line_is_gap(line->text[i]))
        i++;
    return i == line->length;
}

/* Cuts a line at its tabs, or without any at runs of blanks; cells as of TableNext. */
static int64_t split_word(const Line *line, Line *cells, size_t room)
{
    if (memchr(line->text, '\t', line->length))
        return table_split(line, '\t', cells, room);
    int64_t n = 0;
    for (size_t at = 0, begin; at < line->length;) {
        for (begin = at; at < line->length && !line_is_gap(line->text[at]); at++) {}
        if (at > begin && (size_t)n < room)
            cells[n] = (Line){line->text + begin, at - begin};
        n += at > begin;
        at += at < line->length;
    }
    return n;
}

/* Of CoNLL-U: a comment, or a word that stands for several or for none ("1-2", "1.1"). */
static bool is_extra(const Line *line)
{
    const size_t digits = strspn(line->text, "0123456789");
    return begins_with(line, comment) ||
           (digits && digits < line->length && strchr("-.", line->text[digits]));
}

/* Whether a line of the record that ends before `end` is no word. A "#" that is a word has as many
 * fields as the words behind it; comments stand before all words. */
static bool is_left_out(const TableReader *r, int64_t line, int64_t end, bool is_first)
{
    const Line *at = &r->lines->at[line];
    if (r->head->format == TABLE_CONLLU)
        return is_extra(at);
    return begins_with(at, document) ||
           (is_first && begins_with(at, comment) &&
            split_word(at, NULL, 0) != split_word(&r->lines->at[end - 1], NULL, 0));
}

/* The lines of the next record that are words: their numbers, at most `room` of them; NULL: they
 * are only counted, and the others not. Moves reader->line behind it. */
static int64_t find_words(TableReader *r, int64_t *words, int64_t room)
{
    int64_t n = 0, end = r->line;
    while (end < r->lines->n && !is_empty(&r->lines->at[end]))
        end++;
    for (int64_t line = r->line; line < end; line++) {
        if (is_left_out(r, line, end, !n)) {
            r->left_out += words != NULL;
            continue;
        }
        if (n < room)
            words[n] = line;
        n++;
    }
    r->line = end;
    table_skip_conll(r);
    return n;
}

void table_skip_conll(TableReader *r)
{
    while (r->line < r->lines->n && is_empty(&r->lines->at[r->line]))
        r->line++;
}

/* A value of a column, which stands between blanks. */
static bool check_value(TableReader *r, int64_t line, const Line *value, size_t field)
{
    size_t i = 0;
    while (i < value->length && !line_is_gap(value->text[i]))
        i++;
    if (value->length && i == value->length)
        return true;
    table_fault(r, line, value->text,
                "the field %zu is empty, or has a blank in it: words and tags stand between blanks",
                field + 1);
    return false;
}

/* Column `field` of the words; false after an error. */
static bool join_column(TableReader *r, const int64_t *words, int64_t n, size_t field, Line *cell)
{
    Line *cells = ARENA_ARRAY(r->scratch, Line, field + 1);
    size_t length = 0;
    for (int64_t i = 0; i < n; i++)
        length += r->lines->at[words[i]].length + 1;
    char *text = arena_alloc(r->arena, length + 1), *end = text;
    for (int64_t i = 0; i < n; i++) {
        split_word(&r->lines->at[words[i]], cells, field + 1);
        if (!check_value(r, words[i], &cells[field], field))
            return false;
        if (i)
            *end++ = ' ';
        memcpy(end, cells[field].text, cells[field].length);
        end += cells[field].length;
    }
    *cell = (Line){text, (size_t)(end - text)};
    return true;
}

int64_t table_next_conll(TableReader *r, Line *cells, size_t room)
{
    const int64_t begin = r->line, n = find_words(r, NULL, 0);
    int64_t *words = ARENA_ARRAY(r->scratch, int64_t, n + 1);
    int64_t least = 0;
    r->line = begin;
    find_words(r, words, n);
    for (int64_t i = 0; i < n; i++) {
        const Line *line = &r->lines->at[words[i]];
        const int64_t fields = split_word(line, NULL, 0);
        if (fields < (int64_t)room)
            return table_fault(r, words[i], line->text,
                               "the line has %lld field%s, and there must be at least %zu",
                               (long long)fields, text_plural(fields, "", "s"), room);
        if (i && fields > least && !memchr(line->text, '\t', line->length))
            return table_fault(r, words[i], line->text,
                               "the line has %lld fields, and those before it %lld: blanks part "
                               "fields, so a word with a blank needs tabs between them",
                               (long long)fields, (long long)least);
        least = i && least < fields ? least : fields;
    }
    for (size_t field = 0; n && field < room; field++)
        if ((!r->head->is_wanted || r->head->is_wanted[field]) &&
            !join_column(r, words, n, field, &cells[field]))
            return TABLE_BAD;
    return least;
}
