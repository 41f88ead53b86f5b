/* Building the tree of a list of words. */
#include "runtime/decode/lexicon.h"

#include <string.h>

static bool good_symbols(const CtcLexicon *lexicon)
{
    return lexicon->blank >= 0 && lexicon->blank < lexicon->symbols &&
           lexicon->separator >= LEXICON_WHOLE && lexicon->separator < lexicon->symbols &&
           lexicon->separator != lexicon->blank;
}

static bool good_word(const CtcLexicon *lexicon, const Tokens *word)
{
    for (int32_t i = 0; i < word->n; i++) {
        const int32_t label = word->ids[i];
        if (label < 0 || label >= lexicon->symbols || label == lexicon->blank ||
            label == lexicon->separator)
            return false;
    }
    return word->n > 0;
}

/* The node of a word; LABEL_TREE_NONE: memory ran out. */
static int32_t add_word(LabelTree *words, const Tokens *word)
{
    int32_t node = LABEL_TREE_ROOT;
    for (int32_t i = 0; i < word->n && node != LABEL_TREE_NONE; i++)
        node = label_tree_add(words, node, word->ids[i]);
    return node;
}

/* The marks of all nodes, of the leaves first: a child's number is above its parent's. */
static void mark_distances(LabelTree *words)
{
    for (size_t i = words->nodes.count; i-- > 1;) {
        const LabelNode *node = &words->nodes.data[i];
        int32_t *mark = &words->nodes.data[node->parent].mark;
        if (*mark < 0 || *mark > node->mark + 1)
            *mark = node->mark + 1;
    }
}

bool ctc_lexicon_build(CtcLexicon *lexicon, Arena *arena, const Tokens *words, int64_t n,
                       int64_t *bad)
{
    *bad = LEXICON_BAD_SYMBOLS;
    if (!good_symbols(lexicon))
        return false;
    *bad = LEXICON_NO_MEMORY;
    if (!label_tree_start(&lexicon->words, arena))
        return false;
    for (int64_t i = 0; i < n; i++) {
        if (!good_word(lexicon, &words[i])) {
            *bad = i;
            return false;
        }
        const int32_t node = add_word(&lexicon->words, &words[i]);
        if (node == LABEL_TREE_NONE)
            return false;
        lexicon->words.nodes.data[node].mark = 0;
    }
    mark_distances(&lexicon->words);
    return true;
}

bool ctc_lexicon_ends(const CtcLexicon *lexicon, int32_t node)
{
    return lexicon->words.nodes.data[node].mark == 0;
}

bool ctc_lexicon_can_end(const CtcLexicon *lexicon, int32_t node, int32_t labels)
{
    const int32_t mark = lexicon->words.nodes.data[node].mark;
    return (node == LABEL_TREE_ROOT && lexicon->separator != LEXICON_WHOLE) ||
           (mark >= 0 && mark <= labels);
}

/* ---- lines of labels ---- */

/* The number that the whole text is; -1: it is none below n. */
static int32_t lexicon_number(const char *text, size_t length, int64_t n)
{
    int64_t number = 0;
    for (size_t i = 0; i < length; i++) {
        if (text[i] < '0' || text[i] > '9' || number >= n)
            return -1;
        number = 10 * number + (text[i] - '0');
    }
    return number < n ? (int32_t)number : -1;
}

static int32_t lexicon_label(const char *const *names, int64_t n, const char *text, size_t length)
{
    if (!names)
        return lexicon_number(text, length, n);
    for (int64_t i = 0; i < n; i++)
        if (strlen(names[i]) == length && !memcmp(names[i], text, length))
            return (int32_t)i;
    return -1;
}

/* The word of a line. False after an error: fault->length 0: memory ran out. */
static bool lexicon_word(const char *const *names, int64_t n, const Line *line, Arena *arena,
                         Tokens *word, LexiconFault *fault)
{
    int32_t *ids = ARENA_ARRAY(arena, int32_t, line->length / 2 + 1);
    int32_t count = 0;
    fault->length = 0;
    if (!ids)
        return false;
    for (size_t from = 0; from < line->length;) {
        const char *text = line->text + from, *blank = memchr(text, ' ', line->length - from);
        const size_t length = blank ? (size_t)(blank - text) : line->length - from;
        if (length && (ids[count++] = lexicon_label(names, n, text, length)) < 0) {
            fault->at = from;
            fault->length = length;
            return false;
        }
        from += length + 1;
    }
    *word = (Tokens){ids, count};
    return true;
}

LexiconStatus lexicon_read(const char *const *names, int64_t n_names, const char *separator,
                           const Line *lines, int64_t n, Arena *arena, CtcLexicon *lexicon,
                           LexiconFault *fault)
{
    Tokens between = {0}, *words = ARENA_ARRAY(arena, Tokens, n + 1);
    int64_t bad;
    *fault = (LexiconFault){0};
    if (!words)
        return LEXICON_MEMORY;
    if (!n)
        return LEXICON_EMPTY;
    if (separator && (!lexicon_word(names, n_names, &(Line){separator, strlen(separator)}, arena,
                                    &between, fault) ||
                      between.n != 1))
        return LEXICON_SEPARATOR;
    *lexicon = (CtcLexicon){.symbols = (int32_t)n_names,
                            .blank = CTC_LOSS_BLANK,
                            .separator = between.n ? between.ids[0] : LEXICON_WHOLE};
    for (; fault->line < n; fault->line++)
        if (!lexicon_word(names, n_names, &lines[fault->line], arena, &words[fault->line], fault))
            return fault->length ? LEXICON_NO_LABEL : LEXICON_MEMORY;
    if (ctc_lexicon_build(lexicon, arena, words, n, &bad))
        return LEXICON_OK;
    fault->line = bad;
    return bad == LEXICON_NO_MEMORY ? LEXICON_MEMORY : bad < 0 ? LEXICON_SYMBOLS : LEXICON_NO_WORD;
}
