/* Texts with the special tokens around them. */
#include "runtime/rows/text_frame.h"

#include "runtime/text/words/token_words.h"

#include <string.h>

TextEnds text_frame_ends(const TextFrame *frame, int64_t n)
{
    const bool is_alone = !n && frame->begin < 0 && (frame->end < 0 || frame->is_target);
    return (TextEnds){(int32_t)frame->begin, (int32_t)(is_alone ? frame->alone : frame->end)};
}

int64_t text_ends_put(TextEnds ends, const int32_t *ids, int64_t n, int32_t *out)
{
    int32_t *at = out;
    if (ends.before >= 0)
        *at++ = ends.before;
    if (n)
        memcpy(at, ids, (size_t)n * sizeof *at);
    at += n;
    if (ends.after >= 0)
        *at++ = ends.after;
    return at - out;
}

static bool push_end(TokenIds *ids, int32_t id, RowFault *fault)
{
    return id < 0 || token_ids_push(ids, id) || row_has_no_memory(fault);
}

/* What the tokenizer did not take. */
static bool refuse_tokens(RowFault *fault)
{
    const char *problem = tokenizer_problem();
    return problem ? row_is_wrong(fault, 0, "%s", problem) : row_has_no_memory(fault);
}

bool text_frame_encode(const TextFrame *frame, const Tokenizer *tokenizer, const Line *text,
                       TokenIds *ids, size_t *own, RowFault *fault)
{
    if (!push_end(ids, (int32_t)frame->begin, fault))
        return false;
    const size_t first = ids->count;
    if (!tokenizer_encode(tokenizer, text->text, text->length, ids))
        return refuse_tokens(fault);
    if (frame->mask >= 0)
        token_ids_join(ids, first, (int32_t)frame->blank, (int32_t)frame->mask);
    const size_t n = ids->count - first;
    if (own)
        *own = n;
    return push_end(ids, text_frame_ends(frame, (int64_t)n).after, fault);
}

/* The word that begins at a byte of the text. */
static bool refuse_word(const Line *text, size_t at, RowFault *fault)
{
    enum { MOST_SHOWN = 60 };
    const char *word = text->text + at, *blank = memchr(word, ' ', text->length - at);
    const size_t length = blank ? (size_t)(blank - word) : text->length - at;
    return row_is_wrong(
        fault, at,
        "the vocabulary gives '%.*s' no token of its own, at which its label could stand: change the "
        "word, or take another vocabulary",
        (int)(length < MOST_SHOWN ? length : MOST_SHOWN), word);
}

bool text_frame_words(const TextFrame *frame, const Tokenizer *tokenizer, const Line *text,
                      const int32_t *row, int64_t n, TokenIds *firsts, RowFault *fault)
{
    const int32_t before = frame->begin >= 0;
    const int64_t own = n - text_frame_size(frame);
    const size_t from = firsts->count;
    size_t odd;
    if (!token_firsts(tokenizer, text->text, text->length, own > 0 ? row + before : NULL,
                      own > 0 ? (size_t)own : 0, firsts, &odd))
        return refuse_tokens(fault);
    for (size_t i = from; i < firsts->count; i++)
        firsts->data[i] += before;
    return odd == text->length || refuse_word(text, odd, fault);
}

void text_frame_cut(const TextFrame *frame, int32_t *row, int64_t keep)
{
    if (frame->end >= 0 && keep > 0)
        row[keep - 1] = (int32_t)frame->end;
}

void text_frame_cut_words(const TextFrame *frame, int64_t keep, size_t from, TokenIds *firsts)
{
    const int64_t behind = keep - (frame->end >= 0);
    while (firsts->count > from && firsts->data[firsts->count - 1] >= behind)
        firsts->count--;
}
