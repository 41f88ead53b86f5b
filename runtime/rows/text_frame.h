/* TextFrame: the special tokens that a model takes around the tokens of a text. The corpora of tfc
 * and compiled libraries put them there, find words between them and cut a text within them by
 * these functions alone. */
#ifndef RUNTIME_ROWS_TEXT_FRAME_H
#define RUNTIME_ROWS_TEXT_FRAME_H

#include "base/line.h"
#include "runtime/rows/row_fault.h"
#include "runtime/text/tokenizer.h"

/* TextFrame: ids; -1: none. In a library it is constant data, so its numbers have 64 bits.
 *   begin, end   in front of the text's own tokens, and behind them
 *   alone        the only token of a text that would have none
 *   blank, mask  the token that is left out in front of a mask token; that one
 *   is_target    1: the last token is not fed, but follows the one before */
typedef struct TextFrame {
    int64_t begin, end, alone, blank, mask, is_target;
} TextFrame;
#define TEXT_UNFRAMED ((TextFrame){.begin = -1, .end = -1, .alone = -1, .blank = -1, .mask = -1})

/* TextEnds: what stands before and after the own tokens of one text; -1: nothing. */
typedef struct TextEnds {
    int32_t before, after;
} TextEnds;
/* Of a text of n own tokens. */
TextEnds text_frame_ends(const TextFrame *frame, int64_t n);
/* Writes n ids and what stands around them to `out`, which has room for n + 2; returns how many. */
int64_t text_ends_put(TextEnds ends, const int32_t *ids, int64_t n, int32_t *out);
/* How many special tokens texts with tokens have. */
static inline int64_t text_frame_size(const TextFrame *frame)
{
    return (frame->begin >= 0) + (frame->end >= 0);
}

/* Appends the tokens of a text with those around them. *own: how many are its own; NULL: not
 * wanted. False: *fault has the reason; what was appended by then stays. */
bool text_frame_encode(const TextFrame *frame, const Tokenizer *tokenizer, const Line *text,
                       TokenIds *ids, size_t *own, RowFault *fault);
/* Appends which of a row's n ids, those of text_frame_encode, are the first of a word
 * (token_firsts). False: memory ran out, or a word has no token of its own; *fault says so. */
bool text_frame_words(const TextFrame *frame, const Tokenizer *tokenizer, const Line *text,
                      const int32_t *row, int64_t n, TokenIds *firsts, RowFault *fault);
/* Sets the end of a row that is no target, of which `keep` ids are left. */
void text_frame_cut(const TextFrame *frame, int32_t *row, int64_t keep);
/* Removes from the end of `firsts`, which keeps `from` of them, the words that begin behind the own
 * tokens of a row of `keep` ids. */
void text_frame_cut_words(const TextFrame *frame, int64_t keep, size_t from, TokenIds *firsts);

#endif
