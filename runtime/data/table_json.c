/* Records of JSON lines: a scanner that checks the whole line and keeps the values of wanted fields
 * alone. Values point into the text, unless a string has escapes: json_read then decodes that one.
 *
 * Whole lines are not given to json_read: it builds a tree and a map of the keys for each, which
 * reads 40 MB/s of typical records, where this scanner reads 400; and it keeps numbers, not their
 * text. Like json_read the scanner is strict (RFC 8259). Differences: of duplicate keys only wanted
 * ones are found, numbers may be of any size, and values nest up to 64 levels. */
#include "runtime/data/table_reader.h"

#include "base/json_read.h"

#include <string.h>

enum { JSON_LEVELS = 64 };

typedef VEC(const char *) JsonKeys;

/* JsonLine: a line that is being read. */
typedef struct JsonLine {
    TableReader *reader;
    const char *at, *end;
    int64_t number; /* from 0 */
    int depth;
} JsonLine;

static bool json_fault(JsonLine *j, const char *at, const char *what)
{
    table_fault(j->reader, j->number, at, "%s", what);
    return false;
}

static void skip_blanks(JsonLine *j)
{
    while (j->at < j->end && (*j->at == ' ' || *j->at == '\t' || *j->at == '\r'))
        j->at++;
}

static bool accept_mark(JsonLine *j, char mark)
{
    skip_blanks(j);
    if (j->at == j->end || *j->at != mark)
        return false;
    j->at++;
    return true;
}

/* ---- values ---- */

static bool is_hex(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

/* At a backslash. */
static bool skip_escape(JsonLine *j)
{
    const char *begin = j->at++;
    const char kind = j->at < j->end ? *j->at++ : 0;
    if (kind != 'u')
        return (kind && strchr("\"\\/bfnrt", kind)) ||
               json_fault(j, begin, "a backslash that begins no escape of JSON: write \\\\ for it");
    for (int i = 0; i < 4; i++, j->at++)
        if (j->at == j->end || !is_hex(*j->at))
            return json_fault(j, begin, "an escape that is not \\uXXXX");
    return true;
}

/* At a quote. `string`: the text between the quotes. */
static bool scan_string(JsonLine *j, Line *string, bool *has_escapes)
{
    const char *open = j->at++;
    *has_escapes = false;
    for (;;) {
        while (j->at < j->end && *j->at != '"' && *j->at != '\\' && (unsigned char)*j->at >= ' ')
            j->at++;
        if (j->at == j->end)
            return json_fault(j, open, "a string without an end");
        if (*j->at == '"')
            break;
        if (*j->at != '\\')
            return json_fault(j, j->at, "a control character in a string: write an escape for it");
        *has_escapes = true;
        if (!skip_escape(j))
            return false;
    }
    *string = (Line){open + 1, (size_t)(j->at - open - 1)};
    j->at++;
    return true;
}

/* scan_string, decoded; in the arena if it has escapes. */
static bool read_string(JsonLine *j, Arena *arena, Line *string)
{
    bool has_escapes;
    const char *problem;
    if (!scan_string(j, string, &has_escapes))
        return false;
    if (!has_escapes)
        return true;
    const char *open = string->text - 1;
    const JsonValue *value = json_read(arena, open, string->length + 2, &problem);
    if (!value)
        return json_fault(j, open,
                          arena_printf(j->reader->scratch, "the string has %s of it", problem));
    *string = (Line){value->text, strlen(value->text)};
    return true;
}

static bool skip_digits(JsonLine *j)
{
    const char *begin = j->at;
    while (j->at < j->end && *j->at >= '0' && *j->at <= '9')
        j->at++;
    return j->at > begin;
}

static bool skip_any(JsonLine *j, const char *bytes)
{
    const bool is_next = j->at < j->end && *j->at && strchr(bytes, *j->at);
    j->at += is_next;
    return is_next;
}

static bool skip_number(JsonLine *j)
{
    const char *begin = j->at;
    skip_any(j, "-");
    const char *digits = j->at;
    bool ok = skip_digits(j) && (*digits != '0' || j->at == digits + 1);
    if (ok && skip_any(j, "."))
        ok = skip_digits(j);
    if (ok && skip_any(j, "eE")) {
        skip_any(j, "+-");
        ok = skip_digits(j);
    }
    return ok || json_fault(j, begin, "a number that is not written as JSON's are");
}

static bool starts_number(const JsonLine *j)
{
    return j->at < j->end && (*j->at == '-' || (*j->at >= '0' && *j->at <= '9'));
}

static bool skip_word(JsonLine *j)
{
    static const char *const words[] = {"true", "false", "null"};
    for (int i = 0; i < 3; i++) {
        const size_t n = strlen(words[i]);
        if ((size_t)(j->end - j->at) >= n && !memcmp(j->at, words[i], n)) {
            j->at += n;
            return true;
        }
    }
    return json_fault(j, j->at,
                      j->at == j->end ? "the line ends within a record"
                                      : "something that is no value of JSON");
}

static bool skip_value(JsonLine *j);

/* After the opening mark: what is left of a list or an object. */
static bool skip_items(JsonLine *j, bool is_object)
{
    const char close = is_object ? '}' : ']';
    Line key;
    bool has_escapes;
    if (accept_mark(j, close))
        return true;
    do {
        skip_blanks(j);
        if (is_object && (j->at == j->end || *j->at != '"'))
            return json_fault(j, j->at, "expected a key in quotes");
        if (is_object && !scan_string(j, &key, &has_escapes))
            return false;
        if (is_object && !accept_mark(j, ':'))
            return json_fault(j, j->at, "expected ':' after the key");
        if (!skip_value(j))
            return false;
    } while (accept_mark(j, ','));
    return accept_mark(j, close) ||
           json_fault(j, j->at, is_object ? "expected ',' or '}'" : "expected ',' or ']'");
}

static bool skip_value(JsonLine *j)
{
    Line string;
    bool has_escapes;
    skip_blanks(j);
    if (starts_number(j))
        return skip_number(j);
    if (j->at < j->end && *j->at == '"')
        return scan_string(j, &string, &has_escapes);
    const bool is_object = accept_mark(j, '{');
    if (!is_object && !accept_mark(j, '['))
        return skip_word(j);
    if (j->depth == JSON_LEVELS)
        return json_fault(j, j->at - 1, "values nest more than 64 levels deep");
    j->depth++;
    const bool ok = skip_items(j, is_object);
    j->depth--;
    return ok;
}

/* ---- records ---- */

static bool skip_numbers(JsonLine *j, const Line *field);

/* A number of a list, or a list within it. */
static bool skip_element(JsonLine *j, const Line *field)
{
    if (j->at == j->end || *j->at != '[')
        return skip_number(j);
    if (j->depth == JSON_LEVELS)
        return json_fault(j, j->at, "values nest more than 64 levels deep");
    j->depth++;
    const bool ok = skip_numbers(j, field);
    j->depth--;
    return ok;
}

/* At the list's mark. */
static bool skip_numbers(JsonLine *j, const Line *field)
{
    j->at++;
    if (accept_mark(j, ']'))
        return true;
    do {
        skip_blanks(j);
        if (!starts_number(j) && (j->at == j->end || *j->at != '[')) {
            table_fault(j->reader, j->number, j->at,
                        "the list of the field '%.*s' has something other than numbers",
                        (int)field->length, field->text);
            return false;
        }
        if (!skip_element(j, field))
            return false;
    } while (accept_mark(j, ','));
    return accept_mark(j, ']') || json_fault(j, j->at, "expected ',' or ']'");
}

/* The value of a wanted field. */
static bool read_value(JsonLine *j, const Line *field, Line *value)
{
    skip_blanks(j);
    const char *begin = j->at, first = begin < j->end ? *begin : 0;
    if (first == '"')
        return read_string(j, j->reader->arena, value);
    if (first == '{' || first == 'n') {
        if (!skip_value(j))
            return false;
        table_fault(j->reader, j->number, begin, "the field '%.*s' is %s: each record needs %s",
                    (int)field->length, field->text, first == '{' ? "an object" : "null",
                    first == '{' ? "a text, a number, true, false or a list of numbers of it"
                                 : "a value of it");
        return false;
    }
    if (!(first == '[' ? skip_numbers(j, field) : skip_value(j)))
        return false;
    *value = (Line){begin, (size_t)(j->at - begin)};
    return true;
}

/* The value of the key, for each of the fields that it is. */
static bool read_member(JsonLine *j, const Line *key, const char *key_at, Line *cells)
{
    const TableReader *r = j->reader;
    size_t k = 0;
    while (k < r->head->n_fields && !table_is_name(&r->head->fields[k], key->text, key->length))
        k++;
    if (k == r->head->n_fields)
        return skip_value(j);
    if (cells[k].text) {
        table_fault(j->reader, j->number, key_at, "the field '%.*s' is there twice",
                    (int)key->length, key->text);
        return false;
    }
    if (!read_value(j, &r->head->fields[k], &cells[k]))
        return false;
    for (size_t other = k + 1; other < r->head->n_fields; other++)
        if (table_is_name(&r->head->fields[other], key->text, key->length))
            cells[other] = cells[k];
    return true;
}

/* `keys`: gets the keys; NULL: they are not kept. */
static bool read_object(JsonLine *j, Line *cells, JsonKeys *keys)
{
    if (!accept_mark(j, '{'))
        return json_fault(j, j->at,
                          j->at == j->end ? "an empty line: each line has a record, an object"
                                          : "expected '{': each record is an object");
    if (accept_mark(j, '}'))
        return true;
    do {
        Line key;
        skip_blanks(j);
        const char *begin = j->at;
        if (begin == j->end || *begin != '"')
            return json_fault(j, begin, "expected a key in quotes");
        if (!read_string(j, j->reader->scratch, &key))
            return false;
        if (keys)
            vec_push(j->reader->scratch, *keys,
                     arena_strndup(j->reader->scratch, key.text, key.length));
        if (!accept_mark(j, ':'))
            return json_fault(j, j->at, "expected ':' after the key");
        if (!read_member(j, &key, begin, cells))
            return false;
    } while (accept_mark(j, ','));
    return accept_mark(j, '}') || json_fault(j, j->at, "expected ',' or '}'");
}

/* Names the keys that the record, a good one, has instead. */
static void tell_missing(TableReader *r, int64_t number, const Line *field, Line *cells)
{
    const Line *line = &r->lines->at[number];
    JsonKeys keys = {0};
    JsonLine again = {.reader = r, .at = line->text, .end = line->text + line->length};
    memset(cells, 0, sizeof *cells * r->head->n_fields);
    read_object(&again, cells, &keys);
    table_fault(r, number, line->text, "the record has no field '%s'%s", field->text,
                text_known(r->scratch, "'", field->text, keys.data, keys.count));
}

int64_t table_next_json(TableReader *r, Line *cells, size_t room)
{
    const Line *line = &r->lines->at[r->line];
    JsonLine j = {
        .reader = r, .at = line->text, .end = line->text + line->length, .number = r->line};
    r->line++;
    memset(cells, 0, sizeof *cells * room);
    if (!read_object(&j, cells, NULL))
        return TABLE_BAD;
    skip_blanks(&j);
    if (j.at < j.end)
        return json_fault(&j, j.at, "something after the record: each line has one"), TABLE_BAD;
    for (size_t k = 0; k < room; k++)
        if (!cells[k].text)
            return tell_missing(r, j.number, &r->head->fields[k], cells), TABLE_BAD;
    return (int64_t)room;
}
