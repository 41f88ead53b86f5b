/* Tokens put beside the words of a text. */
#include "driver/token_words.h"

/* Count: of a text or its beginning.
 *   words        those begun
 *   characters   that are no blanks */
typedef struct Count {
    int64_t words, characters;
} Count;

static bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }
static bool is_continued(char c) { return ((unsigned char)c & 0xc0) == 0x80; } /* of UTF-8 */

static Count count_text(const char *text, size_t length)
{
    Count count = {0};
    bool inside = false;
    for (size_t i = 0; i < length; i++) {
        bool blank = is_blank(text[i]);
        count.words += !blank && !inside;
        count.characters += !blank && !is_continued(text[i]);
        inside = !blank;
    }
    return count;
}

/* The word that the character of this number, from 0, belongs to; the last one at most. */
static int64_t word_of_character(const Line *line, int64_t character)
{
    int64_t word = -1;
    bool inside = false;
    for (size_t i = 0; i < line->length && character >= 0; i++) {
        bool blank = is_blank(line->text[i]);
        word += !blank && !inside;
        character -= !blank && !is_continued(line->text[i]);
        inside = !blank;
    }
    return word < 0 ? 0 : word;
}

static Count count_decoded(const Vocabulary *vocab, const int32_t *ids, int64_t n)
{
    Text text = {0};
    vocab_decode(vocab, ids, (size_t)n, &text);
    Count count = count_text(text.data, text.length);
    text_free(&text);
    return count;
}

int64_t token_words(const Vocabulary *vocab, const Line *line, const int32_t *ids, int64_t n,
                    int64_t *word)
{
    Count raw = count_text(line->text, line->length), all = count_decoded(vocab, ids, n), before = {0};
    bool same = raw.words == all.words;
    for (int64_t i = 0; i < n; i++) {
        Count upto = count_decoded(vocab, ids, i + 1);
        if (vocab_is_words(vocab)) /* words of a list may decode to parts of one */
            word[i] = i;
        else if (same)
            word[i] = upto.words - 1;
        else /* by the middle of its characters */
            word[i] = word_of_character(line, (before.characters + upto.characters) / 2 * raw.characters /
                                                  (all.characters ? all.characters : 1));
        word[i] = word[i] < 0 ? 0 : word[i] < raw.words ? word[i] : raw.words ? raw.words - 1 : 0;
        before = upto;
    }
    return raw.words;
}
