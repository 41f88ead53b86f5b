/* Text within quotes, and text that a terminal may be given. */
#include "base/text.h"

#include <string.h>

static size_t escape_hex(unsigned char byte, char out[TEXT_ESCAPE])
{
    static const char digits[] = "0123456789abcdef";
    out[0] = '\\';
    out[1] = 'x';
    out[2] = digits[byte >> 4];
    out[3] = digits[byte & 15];
    return 4;
}

size_t text_escape(unsigned char byte, char out[TEXT_ESCAPE])
{
    static const char special[] = "\n\t\"\\", letters[] = "nt\"\\";
    const char *found = byte ? strchr(special, byte) : NULL;
    if (!found && byte >= 32 && byte != 127) {
        out[0] = (char)byte;
        return 1;
    }
    if (!found)
        return escape_hex(byte, out);
    out[0] = '\\';
    out[1] = letters[found - special];
    return 2;
}

void text_quote(Text *text, const char *bytes)
{
    text_put(text, "\"", 1);
    for (; *bytes; bytes++) {
        size_t plain = 0;
        while ((unsigned char)bytes[plain] >= 32 && bytes[plain] != '"' && bytes[plain] != '\\' &&
               bytes[plain] != 127)
            plain++;
        text_put(text, bytes, plain);
        bytes += plain;
        char escape[TEXT_ESCAPE];
        if (!*bytes)
            break;
        text_put(text, escape, text_escape((unsigned char)*bytes, escape));
    }
    text_put(text, "\"", 1);
}

/* The code point of a character of `size` bytes. */
static uint32_t decode_character(const char *text, size_t size)
{
    const unsigned char *t = (const unsigned char *)text;
    uint32_t value = size == 1 ? t[0] : t[0] & (0x7fu >> size);
    for (size_t i = 1; i < size; i++)
        value = value << 6 | (t[i] & 0x3fu);
    return value;
}

/* Whether a terminal obeys the character instead of showing it: control characters, and those that
 * change the order in which others are shown. */
static bool is_obeyed(uint32_t character)
{
    static const uint32_t ranges[][2] = {
        {0, '\t' - 1},    {'\t' + 1, 31},   {127, 159},       {0x61C, 0x61C},
        {0x200E, 0x200F}, {0x202A, 0x202E}, {0x2066, 0x2069},
    };
    for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++)
        if (character >= ranges[i][0] && character <= ranges[i][1])
            return true;
    return false;
}

size_t text_visible_length(const char *bytes, size_t available)
{
    const size_t size = utf8_length(bytes, available);
    return size && !is_obeyed(decode_character(bytes, size)) ? size : 0;
}

size_t text_escape_invisible(char byte, char out[TEXT_ESCAPE])
{
    const unsigned char value = (unsigned char)byte;
    return value < 0x80 ? text_escape(value, out) : escape_hex(value, out);
}

void text_visible(Text *text, const char *bytes, size_t length)
{
    for (size_t i = 0, size; i < length; i += size) {
        char escape[TEXT_ESCAPE];
        size = text_visible_length(bytes + i, length - i);
        if (size) {
            text_put(text, bytes + i, size);
            continue;
        }
        size = 1;
        if (bytes[i] == '\n')
            text_string(text, i + 1 < length && bytes[i + 1] == ' ' ? "\n" : "\n  ");
        else
            text_put(text, escape, text_escape_invisible(bytes[i], escape));
    }
}

void text_visible_cut(Text *text, const char *bytes, size_t length)
{
    enum { BEGINS = 400, ENDS = TEXT_WHOLE - BEGINS };
    if (length <= TEXT_WHOLE) {
        text_visible(text, bytes, length);
        return;
    }
    const size_t ends = utf8_start(bytes, length - ENDS);
    text_visible(text, bytes, utf8_start(bytes, BEGINS));
    text_string(text, " … ");
    text_visible(text, bytes + ends, length - ends);
}

const char *text_visible_name(Arena *arena, const char *name)
{
    size_t length = strlen(name), at = 0;
    for (size_t size; at < length && (size = text_visible_length(name + at, length - at));
         at += size)
        ;
    if (at == length)
        return name;
    char *shown = ARENA_ARRAY(arena, char, TEXT_ESCAPE *length + 1), *end = shown;
    for (size_t i = 0, size; shown && i < length; i += size ? size : 1) {
        size = text_visible_length(name + i, length - i);
        if (size)
            memcpy(end, name + i, size);
        end += size ? size : text_escape_invisible(name[i], end);
    }
    return shown ? shown : name;
}

const char *text_shell_word(Arena *arena, const char *word)
{
    static const char plain[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./=:,+@%";
    if (*word && !word[strspn(word, plain)])
        return word;
    char *quoted = ARENA_ARRAY(arena, char, 4 * strlen(word) + 3), *end = quoted;
    if (!quoted)
        return word;
    *end++ = '\'';
    for (; *word; word++) {
        const char *as = *word == '\'' ? "'\\''" : word;
        const size_t n = *word == '\'' ? strlen(as) : 1;
        memcpy(end, as, n);
        end += n;
    }
    memcpy(end, "'", 2);
    return quoted;
}
