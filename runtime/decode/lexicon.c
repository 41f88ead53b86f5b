/* Building the tree of a list of words. */
#include "runtime/decode/lexicon.h"

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
        lexicon->words.nodes.data[node].mark = LEXICON_WORD;
    }
    return true;
}

bool ctc_lexicon_ends(const CtcLexicon *lexicon, int32_t node)
{
    return lexicon->words.nodes.data[node].mark == LEXICON_WORD;
}
