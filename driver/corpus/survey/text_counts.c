/* Counting texts, and which characters a vocabulary lacks. */
#include "driver/corpus/survey/text_counts.h"

#include "base/arena.h"
#include "runtime/text/hf/unicode.h"

#include <stdlib.h>

enum { CHARACTERS = 0x110000, SHOWN = 10 };

void text_counts_open(TextCounts *counts, const Vocabulary *vocab)
{
    counts->vocab = vocab;
    if (!vocab)
        return;
    counts->used = memory_zeroed((size_t)vocab_size(vocab) + 1, 1);
    counts->code_points = memory_zeroed(CHARACTERS, sizeof *counts->code_points);
}

void text_counts_free(TextCounts *counts)
{
    length_spread_free(&counts->characters);
    length_spread_free(&counts->words);
    length_spread_free(&counts->tokens);
    free(counts->used);
    free(counts->code_points);
}

void text_counts_add(TextCounts *counts, const Digest *digest)
{
    length_spread_add(&counts->characters, digest->characters);
    length_spread_add(&counts->words, digest->words);
}

int64_t text_counts_tokens(TextCounts *counts, const int32_t *ids, int64_t n, const Line *line)
{
    UnknownCount count = {0};
    unknown_add(&count, ids, (size_t)n, vocab_rules(counts->vocab)->unk);
    for (int64_t i = 0; i < n; i++)
        if (ids[i] >= 0 && ids[i] < vocab_size(counts->vocab))
            counts->used[ids[i]] = 1;
    for (size_t i = 0, size; i < line->length; i += size)
        counts->code_points[uni_decode(line->text + i, line->length - i, &size)]++;
    counts->unknown += count.unknown;
    length_spread_add(&counts->tokens, n);
    return count.unknown;
}

static bool is_unknown(const Vocabulary *vocab, const char *text, size_t length)
{
    Ids ids = {0};
    bool unknown = false;
    vocab_encode(vocab, text, length, &ids);
    for (size_t i = 0; i < ids.count; i++)
        unknown |= ids.data[i] == vocab_rules(vocab)->unk;
    ids_free(&ids);
    return unknown;
}

/* The characters that have no token, the most frequent first. Of a list of words nobody asks so. */
static const char *unknown_characters(const TextCounts *counts, Arena *arena)
{
    uint32_t best[SHOWN] = {0};
    int n = 0;
    TokenText text = {0};
    if (vocab_is_words(counts->vocab) && !vocab_is_characters(counts->vocab))
        return NULL;
    for (uint32_t c = 0x21; c < CHARACTERS; c++) {
        uint32_t count = counts->code_points[c];
        if (!count || uni_is_space(c) || (n == SHOWN && count <= counts->code_points[best[n - 1]]))
            continue;
        text.length = 0;
        memory_need(uni_put(&text, c));
        if (!is_unknown(counts->vocab, text.data, text.length))
            continue;
        int at = n < SHOWN ? n++ : SHOWN - 1;
        for (; at && counts->code_points[best[at - 1]] < count; at--)
            best[at] = best[at - 1];
        best[at] = c;
    }
    Text out = {0};
    for (int i = 0; i < n; i++) {
        text.length = 0;
        memory_need(uni_put(&text, best[i]));
        text_string(&out, i ? ", " : "");
        if (uni_is_control(best[i]))
            text_add(&out, "U+%04X", (unsigned)best[i]);
        else
            text_put(&out, text.data, text.length);
        text_add(&out, " %lld", (long long)counts->code_points[best[i]]);
    }
    const char *list = text_keep(arena, &out);
    token_text_free(&text);
    return n ? list : NULL;
}

void text_counts_put(const TextCounts *counts, Arena *arena, SurveyColumn *column)
{
    column->characters = length_spread_of(&counts->characters);
    column->words = length_spread_of(&counts->words);
    column->tokens = length_spread_of(&counts->tokens);
    column->unknown = counts->unknown;
    if (!counts->vocab)
        return;
    column->size = vocab_size(counts->vocab);
    column->lacking = unknown_characters(counts, arena);
    for (int64_t i = 0; i < column->size; i++)
        column->used += counts->used[i];
}
