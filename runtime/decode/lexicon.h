/* CtcLexicon: the words that CTC decoding may give, as a tree of their labels. */
#ifndef RUNTIME_DECODE_LEXICON_H
#define RUNTIME_DECODE_LEXICON_H

#include "base/line.h"
#include "runtime/decode/label_tree.h"
#include "runtime/decode/stepper.h"

/* The blank of the probabilities that `ctc` and `ctc_loss` compute (docs/language.md). */
enum { CTC_LOSS_BLANK = 0 };

/* CtcLexicon, in the arena that it was built in.
 *   symbols, blank   those of the log-probabilities (ctc.h)
 *   separator        the symbol between words, or LEXICON_WHOLE: a result is one word
 *   words            a node's mark: the fewest labels that follow it up to the end of a word, 0
 *                    where a word ends; the root of no words has the mark -1
 *
 * With a separator, results are words with one separator between neighbours, or no words at all.
 * Frames may have more of them: before the first word, behind the last, and several between two. */
typedef struct CtcLexicon {
    int32_t symbols, blank, separator;
    LabelTree words;
} CtcLexicon;

enum { LEXICON_WHOLE = -1 };

/* Builds the lexicon of n words; `symbols`, `blank` and `separator` are set before. A word that is
 * there twice counts once. False after an error, which *bad names: the place of the first word that
 * is empty or has a label that no word may have (the blank, the separator, or not from 0 to
 * symbols - 1); or one of the numbers below. */
enum { LEXICON_NO_MEMORY = -1, LEXICON_BAD_SYMBOLS = -2 };
bool ctc_lexicon_build(CtcLexicon *lexicon, Arena *arena, const Tokens *words, int64_t n,
                       int64_t *bad);

/* LexiconFault: what is wrong with the lines of a lexicon, and with which, from 0; of
 * LEXICON_NO_LABEL the bytes that are no label's name. */
typedef enum LexiconStatus {
    LEXICON_OK,
    LEXICON_MEMORY,
    LEXICON_SEPARATOR, /* it is no label */
    LEXICON_EMPTY,     /* there is no word */
    LEXICON_NO_LABEL,
    LEXICON_NO_WORD, /* a word is empty, or has the blank or the separator */
    LEXICON_SYMBOLS  /* the separator is the blank */
} LexiconStatus;
typedef struct LexiconFault {
    int64_t line;
    size_t at, length;
} LexiconFault;
/* Builds the lexicon of n lines, each a word: names of labels with blanks between, of n_names
 * (NULL: labels have none, and are written as their numbers). separator: the label between words;
 * NULL: a result is one word. All lives in the arena, which may fail. */
LexiconStatus lexicon_read(const char *const *names, int64_t n_names, const char *separator,
                           const Line *lines, int64_t n, Arena *arena, CtcLexicon *lexicon,
                           LexiconFault *fault);

/* Whether a word ends at this node of `words`. */
bool ctc_lexicon_ends(const CtcLexicon *lexicon, int32_t node);
/* Whether a prefix at this node can still become whole words with `labels` labels more. The root
 * stands for no words, and for a separator behind words. */
bool ctc_lexicon_can_end(const CtcLexicon *lexicon, int32_t node, int32_t labels);

#endif
