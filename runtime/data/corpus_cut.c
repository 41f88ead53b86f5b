/* How much of a row is kept that is longer than the model takes: of each side, and of the texts of
 * several sides that the model joins. */
#include "runtime/data/corpus_rows.h"

static int64_t kept_length(const void *of, int32_t side)
{
    const KeptRow *row = of;
    const SideFormula *made = side < 0 ? NULL : corpus_formula(row->corpus, side);
    return side < 0 ? 0
           : made   ? dim_formula_length(&made->formula, kept_length, row)
                    : row->keep[side];
}

/* The most positions along a side that joins texts; 0: it joins none. */
static int64_t joined_limit(const CorpusOptions *options, int side)
{
    const int64_t joined = options->formulas ? options->formulas[side].joined : 0,
                  limit = options->max_length;
    return limit > 0 && limit < joined ? limit : joined;
}

int64_t corpus_limit(const CorpusOptions *options)
{
    int64_t least = options->max_length;
    for (int side = 0; side < MOST_SIDES; side++) {
        const int64_t limit = joined_limit(options, side);
        least = limit && (least <= 0 || limit < least) ? limit : least;
    }
    return least;
}

static bool is_made_of(const Corpus *corpus, int side, int of)
{
    const SideFormula *made = corpus_formula(corpus, side);
    bool is = side == of;
    for (int i = 0; made && !is && i < made->formula.n; i++)
        is = made->formula.terms[i].symbol >= 0 &&
             is_made_of(corpus, made->formula.terms[i].symbol, of);
    return is;
}

/* The text to cut of those that the side joins: that with most left; among equals the one that was
 * shorter, or stands first. -1: none has a token of its own left. */
static int longest_joined(const KeptRow *row, int joined)
{
    int longest = -1;
    for (int c = 0; c < row->corpus->options.n_columns; c++) {
        const ColumnSpec *spec = &row->corpus->options.columns[c];
        const int64_t keep = spec->side >= 0 ? row->keep[spec->side] : 0;
        if (spec->kind != COLUMN_TEXT || spec->side < 0 ||
            corpus_formula(row->corpus, spec->side) ||
            keep <= corpus_column_specials(row->corpus, c) || keep <= 1 ||
            !is_made_of(row->corpus, joined, spec->side))
            continue;
        const int other = longest < 0 ? -1 : row->corpus->options.columns[longest].side;
        const int64_t i = row->corpus->n;
        if (other < 0 || keep > row->keep[other] ||
            (keep == row->keep[other] &&
             corpus_positions(row->corpus, c, i) < corpus_positions(row->corpus, longest, i)))
            longest = c;
    }
    return longest < 0 ? -1 : row->corpus->options.columns[longest].side;
}

KeptRow corpus_kept(const Corpus *corpus)
{
    KeptRow row = {.corpus = corpus};
    const int64_t limit = corpus->options.max_length;
    for (int side = 0; side < MOST_SIDES; side++) {
        const int64_t whole =
            corpus_formula(corpus, side) ? 0 : corpus_whole_side(corpus, corpus->n, side);
        row.keep[side] = limit > 0 && whole > limit ? limit : whole;
    }
    for (int side = 0; side < MOST_SIDES; side++) {
        const int64_t most = joined_limit(&corpus->options, side);
        while (most && kept_length(&row, side) > most) {
            const int cut = longest_joined(&row, side);
            if (cut < 0)
                break;
            row.keep[cut]--;
        }
    }
    return row;
}

bool corpus_is_over_joined(const Corpus *corpus, int64_t i)
{
    bool over = false;
    for (int side = 0; side < MOST_SIDES; side++) {
        const int64_t most = joined_limit(&corpus->options, side);
        over = over || (most && corpus_side_length(corpus, i, side) > most);
    }
    return over;
}

int64_t corpus_joined(const Corpus *corpus, int64_t i)
{
    int64_t longest = 0;
    for (int side = 0; side < MOST_SIDES; side++) {
        const int64_t length =
            joined_limit(&corpus->options, side) ? corpus_side_length(corpus, i, side) : 0;
        longest = length > longest ? length : longest;
    }
    return longest;
}
