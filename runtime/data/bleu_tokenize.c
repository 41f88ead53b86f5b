/* The tokenisation of mteval-v13a as sacrebleu applies it: a fixed list of replacements,
 * each over the whole line from left to right, without overlap. All patterns look at
 * ASCII only, so bytes of longer UTF-8 sequences pass as "not a digit, not punctuation".
 * What counts as space between tokens is Unicode's idea of it, as in Python's split. */
#include "runtime/data/bleu.h"

#include "runtime/data/lines.h"

static bool is_digit(char c) { return c >= '0' && c <= '9'; }

/* ASCII punctuation and symbols, but not the apostrophe, comma, hyphen and full stop. */
static bool is_symbol(char c)
{
    return (c >= '{' && c <= '~') || (c >= '[' && c <= '`') || (c >= ' ' && c <= '&') ||
           (c >= '(' && c <= '+') || (c >= ':' && c <= '@') || c == '/';
}

static bool is_stop(char c) { return c == '.' || c == ','; }

static void replace_all(Text *text, const char *from, const char *to)
{
    size_t n = strlen(from);
    Text out = {0};
    for (const char *c = text->data, *end = c + text->length; c < end;) {
        if ((size_t)(end - c) >= n && !memcmp(c, from, n)) {
            text_put(&out, to, strlen(to));
            c += n;
        } else {
            text_put(&out, c++, 1);
        }
    }
    text_put(&out, "", 0);
    text_free(text);
    *text = out;
}

/* A pair of neighbours (a, b) that match becomes "a b " or " a b". */
typedef enum Pair { STOP_AFTER_NO_DIGIT, STOP_BEFORE_NO_DIGIT, HYPHEN_AFTER_DIGIT } Pair;

static bool matches(Pair pair, char a, char b)
{
    switch (pair) {
    case STOP_AFTER_NO_DIGIT: return !is_digit(a) && is_stop(b);
    case STOP_BEFORE_NO_DIGIT: return is_stop(a) && !is_digit(b);
    default: return is_digit(a) && b == '-';
    }
}

static void split_pairs(Text *text, Pair pair)
{
    Text out = {0};
    const char *c = text->data;
    for (size_t i = 0; i < text->length; i++) {
        if (i + 1 == text->length || !matches(pair, c[i], c[i + 1]))
            text_put(&out, c + i, 1);
        else {
            text_add(&out, pair == STOP_BEFORE_NO_DIGIT ? " %c " : "%c ", c[i]);
            text_put(&out, c + ++i, 1);
            if (pair != STOP_BEFORE_NO_DIGIT)
                text_put(&out, " ", 1);
        }
    }
    text_free(text);
    *text = out;
}

static void split_symbols(Text *text)
{
    Text out = {0};
    for (size_t i = 0; i < text->length; i++) {
        char c = text->data[i];
        if (is_symbol(c))
            text_add(&out, " %c ", c);
        else
            text_put(&out, &c, 1);
    }
    text_free(text);
    *text = out;
}

/* Bytes of the white space at the text: Python's str.isspace. */
static size_t space_length(const char *text, size_t available)
{
    const unsigned char *t = (const unsigned char *)text;
    if ((t[0] >= 9 && t[0] <= 13) || (t[0] >= 28 && t[0] <= 32))
        return 1;
    size_t n = utf8_length(text, available);
    uint32_t code = n == 2 ? (uint32_t)(t[0] & 31) << 6 | (t[1] & 63)
                    : n == 3
                        ? (uint32_t)(t[0] & 15) << 12 | (uint32_t)(t[1] & 63) << 6 | (t[2] & 63)
                        : 0;
    bool space = code == 0x85 || code == 0xA0 || code == 0x1680 ||
                 (code >= 0x2000 && code <= 0x200A) || code == 0x2028 || code == 0x2029 ||
                 code == 0x202F || code == 0x205F || code == 0x3000;
    return space ? n : 0;
}

/* Without white space at the end. */
static size_t trimmed_length(const char *text, size_t length)
{
    size_t end = 0;
    for (size_t i = 0, n; i < length; i += n ? n : 1) {
        n = space_length(text + i, length - i);
        if (!n)
            end = i + 1;
    }
    return end;
}

static void join_tokens(const char *text, size_t length, Text *out)
{
    bool inside = false, first = true;
    for (size_t i = 0, n; i < length; i += n) {
        n = space_length(text + i, length - i);
        if (n) {
            inside = false;
            continue;
        }
        n = 1;
        if (!inside && !first)
            text_put(out, " ", 1);
        inside = true;
        first = false;
        text_put(out, text + i, 1);
    }
}

void bleu_tokenize(BleuTokenize tokenize, const char *line, size_t length, Text *out)
{
    if (tokenize == BLEU_NONE) {
        join_tokens(line, length, out);
        return;
    }
    Text text = {0};
    text_add(&text, " ");
    text_put(&text, line, trimmed_length(line, length));
    text_add(&text, " ");
    replace_all(&text, "<skipped>", "");
    replace_all(&text, "-\n", "");
    replace_all(&text, "\n", " ");
    replace_all(&text, "&quot;", "\"");
    replace_all(&text, "&amp;", "&");
    replace_all(&text, "&lt;", "<");
    replace_all(&text, "&gt;", ">");
    split_symbols(&text);
    split_pairs(&text, STOP_AFTER_NO_DIGIT);
    split_pairs(&text, STOP_BEFORE_NO_DIGIT);
    split_pairs(&text, HYPHEN_AFTER_DIGIT);
    join_tokens(text.data, text.length, out);
    text_free(&text);
}
