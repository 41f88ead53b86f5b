/* Growing text, shortest numbers, edit distance. */
#include "base/text.h"

#include "base/arena.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static void reserve(Text *text, size_t extra)
{
    size_t need = text->length + extra + 1;
    if (need <= text->capacity)
        return;
    size_t capacity = text->capacity ? text->capacity * 2 : 256;
    if (capacity < need)
        capacity = need;
    char *data = memory_resized(text->data, capacity);
    text->data = data;
    text->capacity = capacity;
}

void text_put(Text *text, const char *bytes, size_t length)
{
    reserve(text, length);
    if (length) /* bytes may be NULL without any */
        memcpy(text->data + text->length, bytes, length);
    text->length += length;
    text->data[text->length] = 0;
}

void text_string(Text *text, const char *string) { text_put(text, string, strlen(string)); }

void text_integer(Text *text, int64_t value)
{
    char digits[24];
    size_t at = sizeof digits;
    uint64_t rest = value < 0 ? -(uint64_t)value : (uint64_t)value;
    do
        digits[--at] = (char)('0' + rest % 10);
    while (rest /= 10);
    if (value < 0)
        digits[--at] = '-';
    text_put(text, digits + at, sizeof digits - at);
}

bool text_whole(const char *text, int64_t *whole)
{
    char *end;
    errno = 0;
    const long long value = strtoll(text, &end, 10);
    const bool is = end != text && !*end && !errno;
    *whole = is ? value : *whole;
    return is;
}

bool text_real(const char *text, double *real)
{
    char *end;
    const double value = strtod(text, &end);
    const bool is = end != text && !*end && isfinite(value);
    *real = is ? value : *real;
    return is;
}

void text_vadd(Text *text, const char *format, va_list args)
{
    va_list again;
    va_copy(again, args);
    reserve(text, 64);
    size_t room = text->capacity - text->length;
    size_t length = (size_t)vsnprintf(text->data + text->length, room, format, args);
    if (length >= room) {
        reserve(text, length);
        vsnprintf(text->data + text->length, length + 1, format, again);
    }
    text->length += length;
    va_end(again);
}

void text_add(Text *text, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    text_vadd(text, format, args);
    va_end(args);
}

void text_number(Text *text, double value)
{
    char digits[40];
    if (isnan(value)) {
        text_add(text, "nan");
        return;
    }
    if (isinf(value)) {
        text_add(text, value < 0 ? "-inf" : "inf");
        return;
    }
    if (value >= 0 && value < 10 && value == (int)value && !signbit(value)) {
        text_integer(text, (int)value);
        return;
    }
    for (int precision = 1; precision <= 17; precision++) {
        snprintf(digits, sizeof digits, "%.*g", precision, value);
        if (strtod(digits, NULL) == value)
            break;
    }
    text_add(text, "%s", digits);
}

void text_bytes(Text *text, int64_t bytes)
{
    double size = (double)bytes;
    if (size >= 1e9)
        text_add(text, "%.2f GB", size / 1e9);
    else if (size >= 1e5)
        text_add(text, size >= 1e7 ? "%.0f MB" : "%.1f MB", size / 1e6);
    else
        text_add(text, "%.1f kB", size / 1e3);
}

void text_duration(Text *text, double seconds)
{
    const long long s = seconds > 0 && seconds < 1e12 ? (long long)(seconds + 0.5) : 0;
    if (s >= 3600)
        text_add(text, "%lld:%02lld:%02lld", s / 3600, s / 60 % 60, s % 60);
    else
        text_add(text, "%lld:%02lld", s / 60, s % 60);
}

/* How many bytes a character has that begins with this one; 0: none does. */
static size_t utf8_size(unsigned char first)
{
    if (first < 0x80)
        return 1;
    if (first < 0xC2)
        return 0;
    if (first < 0xE0)
        return 2;
    if (first < 0xF0)
        return 3;
    return first < 0xF5 ? 4 : 0;
}

size_t utf8_length(const char *text, size_t available)
{
    const unsigned char *t = (const unsigned char *)text;
    size_t n = available ? utf8_size(t[0]) : 0;
    if (n == 0 || available < n)
        return 0;
    for (size_t i = 1; i < n; i++)
        if ((t[i] & 0xC0) != 0x80)
            return 0;
    bool overlong = (t[0] == 0xE0 && t[1] < 0xA0) || (t[0] == 0xF0 && t[1] < 0x90);
    bool beyond = (t[0] == 0xED && t[1] > 0x9F) || (t[0] == 0xF4 && t[1] > 0x8F);
    return overlong || beyond ? 0 : n;
}

size_t utf8_start(const char *text, size_t at)
{
    while (at && ((unsigned char)text[at] & 0xC0) == 0x80)
        at--;
    return at;
}

bool utf8_is_begun(const char *text, size_t n)
{
    const unsigned char *t = (const unsigned char *)text;
    bool is_begun = n && n < utf8_size(t[0]);
    for (size_t i = 1; i < n; i++)
        is_begun = is_begun && (t[i] & 0xC0) == 0x80;
    return is_begun;
}

const char *text_plural(int64_t n, const char *one, const char *many)
{
    return n == 1 ? one : many;
}

#define PAGE_OF_HTML \
    "a page of HTML: the address is of the page that shows the file: download the file itself"
const char *text_stand_in(const void *bytes, size_t length)
{
    static const struct {
        const char *begin, *what;
    } kinds[] = {
        {"version https://git-lfs.github.com/spec/",
         "a Git LFS pointer, which stands for the file itself: fetch that with `git lfs pull`, or "
         "download it by itself"},
        {"<!doctype html", PAGE_OF_HTML},
        {"<html", PAGE_OF_HTML},
    };
    const char *text = bytes;
    for (; length && isspace((unsigned char)*text); text++)
        length--;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        const size_t n = strlen(kinds[i].begin);
        if (length >= n && !strncasecmp(text, kinds[i].begin, n))
            return kinds[i].what;
    }
    return NULL;
}

bool text_ends(const char *text, const char *end)
{
    size_t n = strlen(text), m = strlen(end);
    return n >= m && !strcmp(text + n - m, end);
}

const char *text_join(Arena *arena, const char *const *words, size_t n)
{
    const char *text = words[0];
    for (size_t i = 1; i < n; i++)
        text = arena_printf(arena, "%s, %s", text, words[i]);
    return text;
}

const char *text_list(Arena *arena, const int64_t *numbers, int n)
{
    const char *text = "[";
    for (int i = 0; i < n; i++)
        text = arena_printf(arena, "%s%s%" PRId64, text, i ? ", " : "", numbers[i]);
    return arena_printf(arena, "%s]", text);
}

void text_markup(Text *text, const char *string)
{
    for (; *string; string++)
        switch (*string) {
        case '<': text_string(text, "&lt;"); break;
        case '>': text_string(text, "&gt;"); break;
        case '&': text_string(text, "&amp;"); break;
        case '"': text_string(text, "&quot;"); break;
        default: text_put(text, (unsigned char)*string < ' ' && *string != '\n' ? " " : string, 1);
        }
}

void text_base64(Text *text, const void *bytes, size_t length)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const unsigned char *at = bytes;
    for (size_t i = 0; i < length; i += 3) {
        unsigned bits = 0;
        for (size_t j = 0; j < 3; j++)
            bits = bits << 8 | (i + j < length ? at[i + j] : 0);
        char four[4];
        for (int j = 0; j < 4; j++)
            four[j] = i + (size_t)j > length ? '=' : digits[bits >> (18 - 6 * j) & 63];
        text_put(text, four, sizeof four);
    }
}

void text_free(Text *text)
{
    free(text->data);
    *text = (Text){0};
}

char *text_keep(Arena *arena, Text *text)
{
    char *kept = arena_strndup(arena, text->data ? text->data : "", text->length);
    text_free(text);
    return kept;
}

enum { LONGEST_NAME = 64 };

/* Whether the letters are the same, in either case. */
static bool is_letter(char a, char b)
{
    return a == b || tolower((unsigned char)a) == tolower((unsigned char)b);
}

/* How many edits make one name the other; letters of either case are the same. */
static size_t text_distance(const char *a, const char *b)
{
    size_t n = strlen(a), m = strlen(b);
    if (n > LONGEST_NAME || m > LONGEST_NAME)
        return n > m ? n : m;
    size_t row[3][LONGEST_NAME + 1];
    for (size_t j = 0; j <= m; j++)
        row[0][j] = j;
    for (size_t i = 1; i <= n; i++) {
        size_t *now = row[i % 3], *last = row[(i - 1) % 3], *before = row[(i + 1) % 3];
        now[0] = i;
        for (size_t j = 1; j <= m; j++) {
            size_t best = last[j - 1] + !is_letter(a[i - 1], b[j - 1]);
            if (last[j] + 1 < best)
                best = last[j] + 1;
            if (now[j - 1] + 1 < best)
                best = now[j - 1] + 1;
            if (i > 1 && j > 1 && is_letter(a[i - 1], b[j - 2]) && is_letter(a[i - 2], b[j - 1]) &&
                before[j - 2] + 1 < best)
                best = before[j - 2] + 1;
            now[j] = best;
        }
    }
    return row[n % 3][m];
}

/* Whether names so far apart are near: more than three fifths of the longer one is in both. */
static bool is_near(const char *a, const char *b, size_t distance)
{
    const size_t n = strlen(a), m = strlen(b);
    return 5 * distance < 2 * (n > m ? n : m) && distance <= n / 4 + 1;
}

static const char *nearest(const char *name, const char *const *candidates, size_t n,
                           size_t *distance)
{
    const char *best = NULL;
    for (size_t i = 0; i < n; i++) {
        const size_t one = text_distance(name, candidates[i]);
        if (is_near(name, candidates[i], one) && (!best || one < *distance)) {
            *distance = one;
            best = candidates[i];
        }
    }
    return best;
}

enum { MOST_SUGGESTED = 8, SHORTEST_BEGINNING = 2 };

/* The candidates that the name is the beginning of; 0 where there are too many. */
static size_t begun(const char *name, const char *const *candidates, size_t n, const char **found)
{
    size_t length = strlen(name), count = 0;
    for (size_t i = 0; length >= SHORTEST_BEGINNING && i < n; i++) {
        if (strncmp(name, candidates[i], length))
            continue;
        if (count == MOST_SUGGESTED)
            return 0;
        found[count++] = candidates[i];
    }
    return count;
}

/* "'a', 'b' LAST 'c'". */
static const char *list_names(Arena *arena, const char *quote, const char *const *names, size_t n,
                              const char *last)
{
    const char *list = "";
    for (size_t i = 0; i < n; i++)
        list = arena_printf(arena, "%s%s%s%s%s", list,
                            i == 0      ? ""
                            : i + 1 < n ? ", "
                                        : last,
                            quote, names[i], quote);
    return list;
}

const char *text_suggest(Arena *arena, const char *quote, const char *name,
                         const char *const *candidates, size_t n)
{
    const char *found[MOST_SUGGESTED];
    size_t distance = 0, count = 0;
    const char *near = nearest(name, candidates, n, &distance);
    if (!near || distance > 1)
        count = begun(name, candidates, n, found);
    if (!count && near)
        found[count++] = near;
    return count ? arena_printf(arena, "; did you mean %s?",
                                list_names(arena, quote, found, count, " or "))
                 : "";
}

const char *text_known(Arena *arena, const char *quote, const char *name, const char *const *names,
                       size_t n)
{
    const char *near = text_suggest(arena, quote, name, names, n);
    if (*near || !n)
        return near;
    return arena_printf(arena, "; there %s %s", text_plural((int64_t)n, "is", "are"),
                        list_names(arena, quote, names, n, " and "));
}

size_t text_letters(const char *text)
{
    size_t n = 0;
    for (; *text; text++)
        n += ((unsigned char)*text & 0xc0) != 0x80;
    return n;
}
