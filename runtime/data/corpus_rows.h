/* Rows of a corpus while they are made: what lines and streams share. */
#ifndef RUNTIME_DATA_CORPUS_ROWS_H
#define RUNTIME_DATA_CORPUS_ROWS_H

#include "runtime/data/corpus.h"

/* Ends the row that ids were appended to. */
static inline void rows_close(Rows *rows) { rows->start[++rows->n] = (int64_t)rows->ids.count; }

/* The ids of a row that is not ended yet. */
static inline int32_t *rows_open(Rows *rows, int64_t *n)
{
    static int32_t none[1];
    *n = (int64_t)rows->ids.count - rows->start[rows->n];
    return rows->ids.data ? rows->ids.data + rows->start[rows->n] : none;
}

/* Whether targets begin with TokenRules.first, a token that is no text. */
static inline bool corpus_has_first(const Corpus *corpus)
{
    return corpus->options.kind == CORPUS_PAIRS && vocab_rules(corpus->vocab)->first >= 0;
}

/* ---- corpus.c ---- */
/* How a side is made of others; NULL: it is not. */
const SideFormula *corpus_formula(const Corpus *corpus, int side);
/* Positions of a column in row i. */
int64_t corpus_positions(const Corpus *corpus, int column, int64_t i);
/* As corpus_side_length, of a target were it whole in a batch. */
int64_t corpus_whole_side(const Corpus *corpus, int64_t i, int side);
/* How many special tokens a column's text has in each row. */
int64_t corpus_column_specials(const Corpus *corpus, int column);
/* Makes room for `rows` rows, those that are there included. */
void corpus_reserve(Corpus *corpus, int64_t rows);

/* ---- corpus_cut.c ---- */
/* KeptRow: how many positions of each side are kept of a row. */
typedef struct KeptRow {
    const Corpus *corpus;
    int64_t keep[MOST_SIDES];
} KeptRow;
/* Of the row behind the last: at most max_length of each side, and of the sides that a side joins
 * (SideFormula.joined) less of the longest text, token by token, until the joined ones fit. Of two
 * texts these are the lengths that Hugging Face's tokenizers leave (`longest_first`). */
KeptRow corpus_kept(const Corpus *corpus);
/* The most positions along a side that joins texts, in row i; 0: none does. */
int64_t corpus_joined(const Corpus *corpus, int64_t i);
/* Whether they are more than the model has. */
bool corpus_is_over_joined(const Corpus *corpus, int64_t i);

/* ---- beside_target.c ---- */
/* Whether the numbers or labels of the column lie beside the corpus's target. */
bool corpus_is_beside_target(const Corpus *corpus, int column);
/* ValuedTokens: the n own tokens of a row's target that have numbers or labels of such a column,
 * and these, as many as the column is wide for each. Without an end, the last token has none. */
typedef struct ValuedTokens {
    const int32_t *tokens, *values;
    int64_t n;
} ValuedTokens;
ValuedTokens corpus_valued_tokens(const Corpus *corpus, int column, int64_t row);
/* Makes of those of the open row, whose target is `line`, one for each position of the target.
 * False: there are as many as neither tokens nor words; corpus->fault says so. */
bool corpus_fit_target(Corpus *corpus, int column, const Line *line);

/* Appends the text's tokens; false: the tokenizer could not take it, and its line is counted among
 * those that are refused. (corpus.c) */
bool corpus_encode_text(Corpus *corpus, const Vocabulary *vocab, const char *text, size_t length,
                        int64_t line, Ids *ids);

#endif
