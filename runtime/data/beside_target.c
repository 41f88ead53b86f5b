/* Numbers and labels beside a target. A cell has one for each token of the text, or for each word,
 * whose tokens then all have it. The tokens that stand before the text in a batch have the value of
 * the first one; the one that ends it has none: it is predicted, never read. Beside an empty text
 * all values are 1. */
#include "runtime/data/corpus_rows.h"

#include "base/arena.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool corpus_is_beside_target(const Corpus *corpus, int column)
{
    return corpus->options.columns[column].beside_target && (corpus->options.kind & HAS_TARGET);
}

/* TargetText: the text of the open row.
 *   first, tokens, n   tokens before it; its own
 *   word, n_words      of each token; NULL before find_words */
typedef struct TargetText {
    int64_t first, n, n_words;
    const int32_t *tokens;
    int64_t *word;
} TargetText;

static TargetText text_of_row(Corpus *corpus)
{
    TargetText text = {.first = corpus_has_first(corpus)};
    text.tokens = rows_open(&corpus->target, &text.n) + text.first;
    text.n -= text.first;
    return text;
}

static void find_words(const Corpus *corpus, const Line *line, TargetText *text)
{
    text->word = memory_zeroed((size_t)text->n + 1, sizeof *text->word);
    text->n_words = vocab_token_words(corpus->vocab, line, text->tokens, text->n, text->word);
}

/* Positions that a batch has before the text's own tokens. */
static int64_t count_before(const Corpus *corpus)
{
    return corpus_has_first(corpus) + (corpus_target_ends(corpus).before >= 0);
}

ValuedTokens corpus_valued_tokens(const Corpus *corpus, int column, int64_t row)
{
    const int64_t before = count_before(corpus), first = corpus_has_first(corpus),
                  values = rows_length(&corpus->columns[column], row) /
                           corpus->options.columns[column].width;
    return (ValuedTokens){.tokens = corpus->target.ids.data + corpus->target.start[row] + first,
                          .values = corpus->columns[column].ids.data +
                                    corpus->columns[column].start[row] +
                                    before * corpus->options.columns[column].width,
                          .n = rows_length(&corpus->target, row) > first ? values - before : 0};
}

static bool refuse_count(Corpus *corpus, const ColumnSpec *spec, const TargetText *text, int64_t n)
{
    const char *what = spec->kind == COLUMN_LABELS ? "label" : "number";
    char words[60] = "";
    if (text->n_words != text->n)
        snprintf(words, sizeof words, " in %lld word%s", (long long)text->n_words,
                 text_plural(text->n_words, "", "s"));
    return row_is_wrong(&corpus->fault, 0,
                        "`%s` has %lld %s%s, and the text beside it %lld token%s%s: give each "
                        "token or each word one; the tokens that begin and end a text have none",
                        spec->input, (long long)n, what, text_plural(n, "", "s"),
                        (long long)text->n, text_plural(text->n, "", "s"), words);
}

/* The value of a position beside a text without tokens: 1, of labels the first. */
static int32_t value_of_nothing(const ColumnSpec *spec)
{
    const float one = 1;
    int32_t bits = spec->kind == COLUMN_LABELS ? spec->first : 1;
    if (spec->kind == COLUMN_FLOATS)
        memcpy(&bits, &one, sizeof bits);
    return bits;
}

/* Appends one position: value i of those given. */
static void push_value(const ColumnSpec *spec, const int32_t *given, int64_t n, int64_t i, Ids *out)
{
    for (int64_t k = 0; k < spec->width; k++)
        ids_push(out, n ? given[i * spec->width + k] : value_of_nothing(spec));
}

/* Replaces the n values given by those of the positions that the target has in a batch. */
static void place_values(Corpus *corpus, int column, const TargetText *text, int64_t n)
{
    const ColumnSpec *spec = &corpus->options.columns[column];
    const TextEnds ends = corpus_target_ends(corpus);
    Ids *ids = &corpus->columns[column].ids;
    const size_t size = (size_t)(n * spec->width) * sizeof(int32_t);
    int32_t *given = memory_resized(NULL, size + 1);
    if (size)
        memcpy(given, ids->data + ids->count - n * spec->width, size);
    ids->count -= (size_t)(n * spec->width);
    const int64_t behind = ends.after < 0; /* without an end, the last is not read */
    const int64_t own = text->n > behind ? text->n - behind : 0,
                  before = count_before(corpus) || own ? count_before(corpus) : 1;
    for (int64_t i = 0; i < before; i++)
        push_value(spec, given, n, 0, ids);
    for (int64_t i = 0; i < own; i++)
        push_value(spec, given, n, text->word ? text->word[i] : i, ids);
    free(given);
}

bool corpus_fit_target(Corpus *corpus, int column, const Line *line)
{
    const ColumnSpec *spec = &corpus->options.columns[column];
    TargetText text = text_of_row(corpus);
    int64_t n;
    rows_open(&corpus->columns[column], &n);
    n /= spec->width;
    bool fits = n == text.n;
    if (!fits) {
        find_words(corpus, line, &text);
        fits = text.n && n == text.n_words;
        fits = fits || refuse_count(corpus, spec, &text, n);
    }
    if (fits)
        place_values(corpus, column, &text, n);
    free(text.word);
    return fits;
}
