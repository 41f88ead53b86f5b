/* Encoding each line, and counting what came of it. */
#include "driver/corpus/survey/coverage.h"

#include "base/arena.h"
#include "runtime/text/hf/unicode.h"

#include <stdlib.h>

enum { CHARACTERS = 0x110000, SHOWN = 10 };

Coverage *coverage_new(const Vocabulary *vocab, int n)
{
    if (!vocab)
        return NULL;
    const CorpusOptions options = {.kind = n == 2 ? CORPUS_PAIRS : CORPUS_LINES, .keep_all = true};
    Coverage *coverage = memory_zeroed(1, sizeof *coverage);
    *coverage = (Coverage){.corpus = corpus_new(vocab, &options), .n = n};
    for (int k = 0; k < n; k++) {
        CoveredSide *side = &coverage->sides[k];
        side->vocab = n == 2 && !k ? vocab_source(vocab) : vocab;
        side->used = memory_zeroed((size_t)vocab_size(side->vocab) + 1, 1);
        side->characters = memory_zeroed(CHARACTERS, sizeof *side->characters);
    }
    return coverage;
}

void coverage_free(Coverage *coverage)
{
    if (!coverage)
        return;
    corpus_free(coverage->corpus);
    for (int k = 0; k < coverage->n; k++) {
        length_spread_free(&coverage->sides[k].tokens);
        free(coverage->sides[k].used);
        free(coverage->sides[k].characters);
    }
    free(coverage);
}

static int64_t count_ids(CoveredSide *side, const Ids *ids)
{
    int32_t unk = vocab_rules(side->vocab)->unk, size = vocab_size(side->vocab);
    int64_t unknown = 0;
    for (size_t i = 0; i < ids->count; i++) {
        unknown += ids->data[i] == unk;
        if (ids->data[i] >= 0 && ids->data[i] < size)
            side->used[ids->data[i]] = 1;
    }
    side->unknown += unknown;
    length_spread_add(&side->tokens, (int64_t)ids->count);
    return unknown;
}

static void count_characters(CoveredSide *side, const Line *line)
{
    for (size_t i = 0, size; i < line->length; i += size)
        side->characters[uni_decode(line->text + i, line->length - i, &size)]++;
}

CoveredRow coverage_add(Coverage *coverage, const Line lines[2])
{
    bool pairs = coverage->n == 2;
    corpus_clear(coverage->corpus);
    CoveredRow row = {0};
    row.tokens = corpus_add(coverage->corpus, 0, &lines[0], pairs ? &lines[1] : NULL).tokens;
    for (int k = 0; k < coverage->n; k++) {
        const Rows *rows = pairs && !k ? &coverage->corpus->source : &coverage->corpus->target;
        row.unknown[k] = count_ids(&coverage->sides[k], &rows->ids);
        count_characters(&coverage->sides[k], &lines[k]);
    }
    return row;
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
static const char *unknown_characters(const CoveredSide *side, Arena *arena)
{
    uint32_t best[SHOWN] = {0};
    int n = 0;
    TokenText text = {0};
    if (vocab_is_words(side->vocab) && !vocab_is_characters(side->vocab))
        return NULL;
    for (uint32_t c = 0x21; c < CHARACTERS; c++) {
        uint32_t count = side->characters[c];
        if (!count || uni_is_space(c) || (n == SHOWN && count <= side->characters[best[n - 1]]))
            continue;
        text.length = 0;
        memory_need(uni_put(&text, c));
        if (!is_unknown(side->vocab, text.data, text.length))
            continue;
        int at = n < SHOWN ? n++ : SHOWN - 1;
        for (; at && side->characters[best[at - 1]] < count; at--)
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
        text_add(&out, " %lld", (long long)side->characters[best[i]]);
    }
    const char *list = text_keep(arena, &out);
    token_text_free(&text);
    return n ? list : NULL;
}

SurveyCoverage coverage_of(const Coverage *coverage, int side, Arena *arena)
{
    const CoveredSide *s = &coverage->sides[side];
    SurveyCoverage result = {.tokens = length_spread_of(&s->tokens),
                             .unknown = s->unknown,
                             .size = vocab_size(s->vocab),
                             .characters = unknown_characters(s, arena)};
    for (int64_t i = 0; i < result.size; i++)
        result.used += s->used[i];
    return result;
}
