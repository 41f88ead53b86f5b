/* A scanner of one line, which keeps the values of wanted fields alone. Values point into the line,
 * unless a string has escapes: json_read then decodes that one. */
#include "runtime/rows/record_json.h"

#include "base/json_read.h"

#include <string.h>

enum { JSON_LEVELS = 64 };

/* JsonLine: a line that is being read. */
typedef struct JsonLine {
    const RecordFields *fields;
    const Line *line;
    RowFault *fault;
    const char *at, *end;
    int depth;
} JsonLine;

/* The fault at a byte of the line. False. */
#define json_fault(j, where, ...) \
    row_is_wrong((j)->fault, (size_t)((where) - (j)->line->text), __VA_ARGS__)

static void skip_json_blanks(JsonLine *j)
{
    while (j->at < j->end && (*j->at == ' ' || *j->at == '\t' || *j->at == '\r' || *j->at == '\n'))
        j->at++;
}

static bool accept_mark(JsonLine *j, char mark)
{
    skip_json_blanks(j);
    if (j->at == j->end || *j->at != mark)
        return false;
    j->at++;
    return true;
}

/* How many bytes of a name a message shows. */
static int shown(const Line *name)
{
    enum { MOST_SHOWN = 200 };
    return (int)(name->length < MOST_SHOWN ? name->length : MOST_SHOWN);
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
static bool skip_string(JsonLine *j, Line *string, bool *has_escapes)
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

/* skip_string, decoded; in the arena if it has escapes. */
static bool read_string(JsonLine *j, Line *string)
{
    bool has_escapes;
    const char *problem;
    if (!skip_string(j, string, &has_escapes))
        return false;
    if (!has_escapes)
        return true;
    const char *open = string->text - 1;
    const JsonValue *value = json_read(j->fields->arena, open, string->length + 2, &problem);
    if (!value)
        return problem ? json_fault(j, open, "the string has %s of it", problem)
                       : row_has_no_memory(j->fault);
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
    return json_fault(j, j->at, "%s",
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
        skip_json_blanks(j);
        if (is_object && (j->at == j->end || *j->at != '"'))
            return json_fault(j, j->at, "expected a key in quotes");
        if (is_object && !skip_string(j, &key, &has_escapes))
            return false;
        if (is_object && !accept_mark(j, ':'))
            return json_fault(j, j->at, "expected ':' after the key");
        if (!skip_value(j))
            return false;
    } while (accept_mark(j, ','));
    return accept_mark(j, close) || json_fault(j, j->at, "expected ',' or '%c'", close);
}

static bool skip_value(JsonLine *j)
{
    Line string;
    bool has_escapes;
    skip_json_blanks(j);
    if (starts_number(j))
        return skip_number(j);
    if (j->at < j->end && *j->at == '"')
        return skip_string(j, &string, &has_escapes);
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
        skip_json_blanks(j);
        if (!starts_number(j) && (j->at == j->end || *j->at != '[')) {
            return json_fault(j, j->at,
                              "the list of the field '%.*s' has something other than numbers",
                              shown(field), field->text);
        }
        if (!skip_element(j, field))
            return false;
    } while (accept_mark(j, ','));
    return accept_mark(j, ']') || json_fault(j, j->at, "expected ',' or ']'");
}

/* At the mark of a list: texts, none with a line break, as one text with a line break behind
 * each. */
static bool read_texts(JsonLine *j, const Line *field, Line *value)
{
    Line one;
    VEC(Line) all = {0};
    size_t length = 0;
    j->at++;
    for (bool more = !accept_mark(j, ']'); more; more = accept_mark(j, ',')) {
        skip_json_blanks(j);
        const char *begin = j->at;
        if (begin == j->end || *begin != '"')
            return json_fault(j, begin,
                              "the list of the field '%.*s' has something other than texts",
                              shown(field), field->text);
        if (!read_string(j, &one))
            return false;
        if (memchr(one.text, '\n', one.length))
            return json_fault(j, begin, "a text of the list has a line break in it");
        vec_push(j->fields->arena, all, one);
        length += one.length + 1;
    }
    if (all.count && !accept_mark(j, ']'))
        return json_fault(j, j->at, "expected ',' or ']'");
    char *text = arena_alloc(j->fields->arena, length + 1), *end = text;
    for (size_t i = 0; text && i < all.count; i++) {
        memcpy(end, all.data[i].text, all.data[i].length);
        end += all.data[i].length;
        *end++ = '\n';
    }
    *value = (Line){text, length};
    return (text && !arena_failed(j->fields->arena)) || row_has_no_memory(j->fault);
}

/* The value of wanted field `k`. */
static bool read_wanted(JsonLine *j, size_t k, Line *value)
{
    const Line *field = &j->fields->names[k];
    const unsigned takes = j->fields->takes ? j->fields->takes[k] : 0;
    skip_json_blanks(j);
    const char *begin = j->at, first = begin < j->end ? *begin : 0;
    if (first == '"')
        return read_string(j, value);
    if (first == '{' || (first == 'n' && !(takes & FIELD_NULL))) {
        if (!skip_value(j))
            return false;
        return json_fault(j, begin, "the field '%.*s' is %s: each record needs %s", shown(field),
                          field->text, first == '{' ? "an object" : "null",
                          first == '{' ? "a text, a number, true, false or a list of numbers of it"
                                       : "a value of it");
    }
    if (first == '[' && (takes & FIELD_TEXTS))
        return read_texts(j, field, value);
    if (!(first == '[' ? skip_numbers(j, field) : skip_value(j)))
        return false;
    *value = (Line){begin, (size_t)(j->at - begin)};
    return true;
}

/* The value of the key, for each of the fields that it is. */
static bool read_member(JsonLine *j, const Line *key, const char *key_at, Line *cells)
{
    const RecordFields *fields = j->fields;
    size_t k = 0;
    while (k < fields->n && !line_is(&fields->names[k], key->text, key->length))
        k++;
    if (k == fields->n)
        return skip_value(j);
    if (cells[k].text)
        return json_fault(j, key_at, "the field '%.*s' is there twice", shown(key), key->text);
    if (!read_wanted(j, k, &cells[k]))
        return false;
    for (size_t other = k + 1; other < fields->n; other++)
        if (line_is(&fields->names[other], key->text, key->length))
            cells[other] = cells[k];
    return true;
}

static bool read_members(JsonLine *j, Line *cells)
{
    if (accept_mark(j, '}'))
        return true;
    do {
        Line key;
        skip_json_blanks(j);
        const char *begin = j->at;
        if (begin == j->end || *begin != '"')
            return json_fault(j, begin, "expected a key in quotes");
        if (!read_string(j, &key))
            return false;
        if (j->fields->keys)
            vec_push(j->fields->arena, *j->fields->keys,
                     arena_strndup(j->fields->arena, key.text, key.length));
        if (!accept_mark(j, ':'))
            return json_fault(j, j->at, "expected ':' after the key");
        if (!read_member(j, &key, begin, cells))
            return false;
    } while (accept_mark(j, ','));
    return accept_mark(j, '}') || json_fault(j, j->at, "expected ',' or '}'");
}

bool record_read_json(const RecordFields *fields, const Line *line, Line *cells, RowFault *fault)
{
    JsonLine j = {.fields = fields,
                  .line = line,
                  .fault = fault,
                  .at = line->text,
                  .end = line->text + line->length};
    for (size_t k = 0; k < fields->n; k++)
        cells[k] = (Line){0};
    if (!accept_mark(&j, '{'))
        return json_fault(&j, j.at, "%s",
                          j.at == j.end ? "an empty line: each line has a record, an object"
                                        : "expected '{': each record is an object");
    if (!read_members(&j, cells))
        return false;
    skip_json_blanks(&j);
    return j.at == j.end || json_fault(&j, j.at, "something after the record: each line has one");
}
