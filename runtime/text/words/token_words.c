/* Tokens put beside the words of a text. */
#include "runtime/text/words/token_words.h"

#include "base/line.h"

#include <string.h>

/* Count: of a text or its beginning.
 *   words        those begun
 *   characters   that are no blanks */
typedef struct Count {
    int64_t words, characters;
} Count;

static bool is_continued(char c) { return ((unsigned char)c & 0xc0) == 0x80; } /* of UTF-8 */

static Count count_text(const char *text, size_t length)
{
    Count count = {0};
    bool inside = false;
    for (size_t i = 0; i < length; i++) {
        bool blank = line_is_blank(text[i]);
        count.words += !blank && !inside;
        count.characters += !blank && !is_continued(text[i]);
        inside = !blank;
    }
    return count;
}

/* The word that the character of this number, from 0, belongs to; the last one at most. */
static int64_t word_of_character(const char *text, size_t length, int64_t character)
{
    int64_t word = -1;
    bool inside = false;
    for (size_t i = 0; i < length && character >= 0; i++) {
        bool blank = line_is_blank(text[i]);
        word += !blank && !inside;
        character -= !blank && !is_continued(text[i]);
        inside = !blank;
    }
    return word < 0 ? 0 : word;
}

/* `decoded`: memory that is used again. */
static bool count_decoded(const Tokenizer *tokenizer, const int32_t *ids, size_t n,
                          TokenText *decoded, Count *count)
{
    decoded->length = 0;
    bool ok = tokenizer_decode_text(tokenizer, ids, n, decoded);
    *count = ok ? count_text(decoded->data, decoded->length) : (Count){0};
    return ok;
}

bool token_words(const Tokenizer *tokenizer, const char *text, size_t length, const int32_t *ids,
                 size_t n, int64_t *word, int64_t *n_words)
{
    TokenText decoded = {0};
    Count raw = count_text(text, length), all, before = {0}, upto;
    bool ok = count_decoded(tokenizer, ids, n, &decoded, &all), same = raw.words == all.words;
    for (size_t i = 0; ok && i < n; i++) {
        ok = count_decoded(tokenizer, ids, i + 1, &decoded, &upto);
        if (same)
            word[i] = upto.words - 1;
        else if ((int64_t)n == raw.words)
            word[i] = (int64_t)i;
        else /* by the middle of its characters */
            word[i] = word_of_character(text, length,
                                        (before.characters + upto.characters) / 2 * raw.characters /
                                            (all.characters ? all.characters : 1));
        word[i] = word[i] < 0 ? 0 : word[i] < raw.words ? word[i] : raw.words ? raw.words - 1 : 0;
        before = upto;
    }
    token_text_free(&decoded);
    *n_words = raw.words;
    return ok;
}

/* ---- the first token of each word ---- */

/* How many of the n ids the text, alone, is encoded to, if they begin with those; else 0. */
static bool match_tokens(const Tokenizer *tokenizer, const char *text, size_t length,
                         const int32_t *ids, size_t n, TokenIds *own, size_t *matched)
{
    own->count = 0;
    *matched = 0;
    if (!tokenizer_encode(tokenizer, text, length, own))
        return false;
    if (own->count && own->count <= n && !memcmp(own->data, ids, own->count * sizeof *ids))
        *matched = own->count;
    return true;
}

/* A word in a text is encoded as it is alone, with or without the blanks before it. */
bool token_firsts(const Tokenizer *tokenizer, const char *text, size_t length, const int32_t *ids,
                  size_t n, TokenIds *firsts, size_t *odd)
{
    TokenIds own = {0};
    bool ok = true;
    size_t at = 0, matched = 1;
    *odd = length;
    for (size_t end = 0; ok && matched;) {
        size_t begin = end;
        while (begin < length && text[begin] == ' ')
            begin++;
        if (begin == length)
            break;
        const char *blank = memchr(text + begin, ' ', length - begin);
        const size_t before = end;
        end = blank ? (size_t)(blank - text) : length;
        ok = match_tokens(tokenizer, text + before, end - before, n ? ids + at : NULL, n - at, &own,
                          &matched);
        if (ok && !matched && before < begin)
            ok = match_tokens(tokenizer, text + begin, end - begin, n ? ids + at : NULL, n - at,
                              &own, &matched);
        if (!matched)
            *odd = begin;
        else
            ok = token_ids_push(firsts, (int32_t)at) && ok;
        at += matched;
    }
    token_ids_free(&own);
    return ok;
}
