/* Reading JSON: recursive descent over bytes, with an end that is never passed and a limit of
 * depth. The values of lists and objects that are still open wait on a stack (json_stack.h); a list
 * or an object that ends takes its own, as arrays of just that length. Strings lie in one buffer:
 * none is longer than what it stands for. */
#include "base/json_read.h"

#include "base/json_stack.h"
#include "base/text.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_DEPTH = 16 };

typedef struct Scan {
    Arena *arena; /* NULL: of json_scalar_kind, which asks for no problem and no value */
    const unsigned char *bytes, *at, *end;
    char *
        text; /* the place of the next string, with room for all that follows; NULL: no string yet */
    JsonStack stack;
    int depth;
    bool takes_nul; /* json_read_nul */
    const char *problem;
} Scan;

static bool json_fail(Scan *s, const char *what)
{
    if (!s->problem && s->arena)
        s->problem = arena_printf(s->arena, "%s at byte %zu", what, (size_t)(s->at - s->bytes));
    return false;
}

static void json_skip_blanks(Scan *s)
{
    while (s->at < s->end && (*s->at == ' ' || *s->at == '\t' || *s->at == '\n' || *s->at == '\r'))
        s->at++;
}

static bool accept(Scan *s, char c)
{
    json_skip_blanks(s);
    if (s->at == s->end || *s->at != (unsigned char)c)
        return false;
    s->at++;
    return true;
}

/* ---- strings ---- */

/* Of a hexadecimal digit; -1: it is none. */
static int hex_value(int c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    if (c >= 'A' && c <= 'F')
        return c - 'A' + 10;
    return -1;
}

static bool scan_hex(Scan *s, uint32_t *code)
{
    *code = 0;
    for (int i = 0; i < 4; i++, s->at++) {
        int digit = s->at < s->end ? hex_value(*s->at) : -1;
        if (digit < 0)
            return json_fail(s, "an escape that is not \\uXXXX");
        *code = *code << 4 | (uint32_t)digit;
    }
    return true;
}

static char *put_utf8(char *to, uint32_t code)
{
    if (code < 0x80) {
        *to++ = (char)code;
    } else if (code < 0x800) {
        *to++ = (char)(0xC0 | code >> 6);
        *to++ = (char)(0x80 | (code & 0x3F));
    } else if (code < 0x10000) {
        *to++ = (char)(0xE0 | code >> 12);
        *to++ = (char)(0x80 | (code >> 6 & 0x3F));
        *to++ = (char)(0x80 | (code & 0x3F));
    } else {
        *to++ = (char)(0xF0 | code >> 18);
        *to++ = (char)(0x80 | (code >> 12 & 0x3F));
        *to++ = (char)(0x80 | (code >> 6 & 0x3F));
        *to++ = (char)(0x80 | (code & 0x3F));
    }
    return to;
}

/* After the backslash and the u. */
static bool scan_unicode(Scan *s, char **to)
{
    uint32_t code, low;
    if (!scan_hex(s, &code))
        return false;
    if (code >= 0xD800 && code < 0xDC00) {
        if (s->end - s->at < 2 || s->at[0] != '\\' || s->at[1] != 'u')
            return json_fail(s, "half of a surrogate pair");
        s->at += 2;
        if (!scan_hex(s, &low))
            return false;
        if (low < 0xDC00 || low > 0xDFFF)
            return json_fail(s, "half of a surrogate pair");
        code = 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00);
    } else if (code >= 0xDC00 && code < 0xE000)
        return json_fail(s, "half of a surrogate pair");
    if (!code && !s->takes_nul)
        return json_fail(s, "a NUL in a string");
    if (!code)
        memcpy(*to, JSON_NUL, sizeof JSON_NUL - 1);
    *to = code ? put_utf8(*to, code) : *to + sizeof JSON_NUL - 1;
    return true;
}

static bool scan_escape(Scan *s, char **to)
{
    static const char from[] = "\"\\/bfnrt", into[] = "\"\\/\b\f\n\r\t";
    int c = s->at < s->end ? *s->at++ : 0;
    const char *simple = c ? strchr(from, c) : NULL;
    if (simple)
        *(*to)++ = into[simple - from];
    else if (c == 'u')
        return scan_unicode(s, to);
    else
        return json_fail(s, "an unknown escape");
    return true;
}

/* Room for what the bytes from `from` on stand for, and a NUL; NULL: no memory. */
static char *text_place(Scan *s, const unsigned char *from)
{
    if (!s->text && s->arena)
        s->text = arena_alloc(s->arena, (size_t)(s->end - from) + 1);
    return s->text;
}

/* A character that is neither an escape nor the end of a string. */
static bool copy_character(Scan *s, char **to)
{
    size_t n = *s->at < 0x80 ? 1 : utf8_length((const char *)s->at, (size_t)(s->end - s->at));
    if (!n)
        return json_fail(s, "bytes that are not UTF-8");
    if (*s->at < 0x20)
        return json_fail(s, "a control character in a string");
    for (; n; n--)
        *(*to)++ = (char)*s->at++;
    return true;
}

/* After the opening quote. No escape is longer than what it stands for. */
static bool scan_string(Scan *s, const char **text)
{
    const unsigned char *close = s->at;
    while (close < s->end && *close != '"')
        close += *close == '\\' ? 2 : 1;
    if (close >= s->end)
        return json_fail(s, "a string without an end");
    char *to = text_place(s, s->at);
    if (!to)
        return false;
    *text = to;
    while (*s->at != '"') {
        if (*s->at != '\\') {
            if (!copy_character(s, &to))
                return false;
            continue;
        }
        s->at++;
        if (!scan_escape(s, &to))
            return false;
    }
    s->at++;
    *to = 0;
    s->text = to + 1;
    return true;
}

/* ---- values ---- */

static bool is_digit(const Scan *s) { return s->at < s->end && *s->at >= '0' && *s->at <= '9'; }

static bool scan_digits(Scan *s)
{
    if (!is_digit(s))
        return json_fail(s, "a number without digits");
    while (is_digit(s))
        s->at++;
    return true;
}

/* Of a number that was checked. */
static double read_double(Scan *s, const unsigned char *start)
{
    char few[64];
    const size_t n = (size_t)(s->at - start);
    char *digits =
        n < sizeof few ? few : text_place(s, start); /* the next string overwrites them */
    if (!digits)
        return 0;
    memcpy(digits, start, n);
    digits[n] = 0;
    return strtod(digits, NULL);
}

/* The number of these digits; false where an int64_t does not hold it. */
static bool read_integer(const unsigned char *digits, const unsigned char *end, bool negative,
                         int64_t *value)
{
    *value = 0; /* counts down: the least number has no positive one */
    for (; digits < end; digits++)
        if (__builtin_mul_overflow(*value, 10, value) ||
            __builtin_sub_overflow(*value, *digits - '0', value))
            return false;
    return negative || !__builtin_sub_overflow(0, *value, value);
}

static bool is_next(Scan *s, const char *bytes)
{
    bool next = s->at < s->end && *s->at && strchr(bytes, *s->at);
    s->at += next;
    return next;
}

/* What begins here is none; letters, as those of NaN, are shown. */
static bool json_no_value(Scan *s)
{
    enum { LONGEST = 16 };
    const unsigned char *end = s->at + (s->at < s->end && *s->at == '-');
    while (end < s->end && end - s->at < LONGEST && isalpha(*end))
        end++;
    const int n = (int)(end - s->at);
    return json_fail(s, n > 1 && s->arena
                            ? arena_printf(s->arena, "'%.*s', which is no value of JSON,", n,
                                           (const char *)s->at)
                            : "something that is no value");
}

static bool scan_number(Scan *s, JsonValue *value)
{
    const unsigned char *start = s->at;
    bool negative = is_next(s, "-");
    const unsigned char *first = s->at;
    if (!scan_digits(s))
        return false;
    const unsigned char *end = s->at;
    if (*first == '0' && end - first > 1)
        return json_fail(s, "a number that begins with 0");
    if (is_next(s, ".") && !scan_digits(s))
        return false;
    if (is_next(s, "eE")) {
        is_next(s, "+-");
        if (!scan_digits(s))
            return false;
    }
    const bool is_whole = s->at == end && read_integer(first, end, negative, &value->integer);
    value->kind = is_whole ? JV_INTEGER : JV_NUMBER;
    value->integer = is_whole ? value->integer : 0;
    value->number = is_whole ? (double)value->integer : read_double(s, start);
    return true;
}

static bool scan_word(Scan *s, JsonValue *value)
{
    static const char *const words[] = {
        [JV_NULL] = "null", [JV_FALSE] = "false", [JV_TRUE] = "true"};
    for (int i = 0; i < 3; i++) {
        size_t n = strlen(words[i]);
        if ((size_t)(s->end - s->at) >= n && !memcmp(s->at, words[i], n)) {
            s->at += n;
            value->kind = (JsonKind)i;
            return true;
        }
    }
    return json_no_value(s);
}

static bool scan_value(Scan *s, JsonValue *value);

/* A value on the stack. */
static bool scan_item(Scan *s)
{
    JsonValue item = {0};
    return scan_value(s, &item) && json_stack_push(&s->stack, &item);
}

static bool scan_list(Scan *s, JsonValue *value)
{
    const size_t first = s->stack.count;
    value->kind = JV_LIST;
    if (accept(s, ']'))
        return true;
    do {
        if (!scan_item(s))
            return false;
    } while (accept(s, ','));
    return (accept(s, ']') || json_fail(s, "no ',' or ']'")) &&
           json_stack_list(&s->stack, s->arena, first, value);
}

/* A key on the stack, whose `integer` is the place behind it. */
static bool scan_key(Scan *s)
{
    JsonValue key = {.kind = JV_STRING};
    if (!accept(s, '"'))
        return json_fail(s, "no key");
    if (!scan_string(s, &key.text))
        return false;
    key.integer = s->at - s->bytes;
    return json_stack_push(&s->stack, &key);
}

static bool scan_object(Scan *s, JsonValue *value)
{
    const size_t first = s->stack.count;
    value->kind = JV_OBJECT;
    if (accept(s, '}'))
        return true;
    do {
        if (!scan_key(s) || !(accept(s, ':') || json_fail(s, "no ':'")) || !scan_item(s))
            return false;
    } while (accept(s, ','));
    if (!accept(s, '}'))
        return json_fail(s, "no ',' or '}'");
    const JsonValue *twice = json_stack_twice(&s->stack, first);
    if (!twice)
        return json_stack_object(&s->stack, s->arena, first, value);
    s->at = s->bytes + twice->integer;
    return json_fail(s, arena_printf(s->arena, "the key '%s' a second time",
                                     text_visible_name(s->arena, twice->text)));
}

static bool scan_nested(Scan *s, JsonValue *value, bool (*scan)(Scan *s, JsonValue *value))
{
    if (++s->depth > MAX_DEPTH)
        return json_fail(s, "too many levels");
    bool ok = scan(s, value);
    s->depth--;
    return ok;
}

/* A number, or a word. */
static bool scan_scalar(Scan *s, JsonValue *value)
{
    if (s->at == s->end)
        return json_fail(s, "no value before the end");
    const bool is_negative = *s->at == '-' && s->end - s->at > 1 && !isalpha(s->at[1]);
    return is_digit(s) || is_negative ? scan_number(s, value) : scan_word(s, value);
}

static bool scan_value(Scan *s, JsonValue *value)
{
    if (accept(s, '{'))
        return scan_nested(s, value, scan_object);
    if (accept(s, '['))
        return scan_nested(s, value, scan_list);
    value->kind = JV_STRING;
    return accept(s, '"') ? scan_string(s, &value->text) : scan_scalar(s, value);
}

/* What no JSON begins with; NULL: none of that. */
static const char *wrong_beginning(Arena *arena, const unsigned char *bytes, size_t length)
{
    if (length >= 3 && !memcmp(bytes, "\xEF\xBB\xBF", 3))
        return "it begins with a byte order mark: save it as UTF-8 without one";
    if (length >= 2 && (!memcmp(bytes, "\xFF\xFE", 2) || !memcmp(bytes, "\xFE\xFF", 2)))
        return "it is UTF-16: save it as UTF-8";
    const char *stand_in = text_stand_in(bytes, length);
    return stand_in ? arena_printf(arena, "it is %s", stand_in) : NULL;
}

static JsonValue *json_read_whole(Arena *arena, const char *bytes, size_t length, bool takes_nul,
                                  const char **problem)
{
    const unsigned char *first = (const unsigned char *)bytes;
    JsonValue few[JSON_STACK_FEW];
    Scan s = {
        .arena = arena, .bytes = first, .at = first, .end = first + length, .takes_nul = takes_nul};
    json_stack_begin(&s.stack, arena, few);
    JsonValue *value = ARENA_NEW(arena, JsonValue);
    s.problem = wrong_beginning(arena, first, length);
    bool ok = !s.problem && value && scan_value(&s, value);
    json_skip_blanks(&s);
    if (ok && s.at < s.end)
        ok = json_fail(&s, "something after the end");
    json_stack_end(&s.stack);
    *problem = arena_failed(arena) ? NULL : s.problem;
    return ok && !arena_failed(arena) ? value : NULL;
}

JsonValue *json_read(Arena *arena, const char *bytes, size_t length, const char **problem)
{
    return json_read_whole(arena, bytes, length, false, problem);
}

JsonValue *json_read_nul(Arena *arena, const char *bytes, size_t length, const char **problem)
{
    return json_read_whole(arena, bytes, length, true, problem);
}

JsonKind json_scalar_kind(const char *bytes, size_t length)
{
    const unsigned char *first = (const unsigned char *)bytes;
    Scan s = {.bytes = first, .at = first, .end = first + length};
    JsonValue value = {0};
    return scan_scalar(&s, &value) && s.at == s.end ? value.kind : JV_STRING;
}

const JsonValue *json_member(const JsonValue *object, const char *key)
{
    if (!object || object->kind != JV_OBJECT)
        return NULL;
    for (size_t i = 0; i < object->n; i++)
        if (!strcmp(object->keys[i], key))
            return &object->items[i];
    return NULL;
}

const char *json_member_text(const JsonValue *object, const char *key)
{
    const JsonValue *value = json_member(object, key);
    return value && value->kind == JV_STRING ? value->text : NULL;
}
