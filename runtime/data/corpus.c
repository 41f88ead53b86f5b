/* Encoding text into rows of ids, leaving out or cutting what does not fit. */
#define _GNU_SOURCE
#include "runtime/data/corpus_rows.h"

#include "base/arena.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *const corpus_kind_words[CORPUS_KINDS] = {
    [CORPUS_PAIRS] = "pairs", [CORPUS_SOURCES] = "sources", [CORPUS_SENTENCES] = "sentences",
    [CORPUS_LINES] = "lines", [CORPUS_STREAM] = "stream",   [CORPUS_RECORDS] = "records"};
const int corpus_kind_numbers[CORPUS_KINDS] = {
    [CORPUS_PAIRS] = 0, [CORPUS_SOURCES] = 1, [CORPUS_SENTENCES] = 2,
    [CORPUS_LINES] = 3, [CORPUS_STREAM] = 4,  [CORPUS_RECORDS] = 5};

TextFrame corpus_source_frame(const Vocabulary *vocab, CorpusKind kind)
{
    const TokenRules *rules = vocab_rules(vocab);
    const bool begins = rules->source_begin < 0 && (kind & IS_ALONE);
    TextFrame frame = TEXT_UNFRAMED;
    frame.begin = begins ? rules->begin : rules->source_begin;
    frame.end = rules->source_end;
    frame.alone = vocab_rules(vocab_source(vocab))->end;
    return frame;
}

TextEnds corpus_source_ends(const Corpus *corpus, int64_t i)
{
    const TextFrame frame = corpus_source_frame(corpus->vocab, corpus->options.kind);
    return text_frame_ends(&frame, rows_length(&corpus->source, i));
}

int64_t corpus_number(const Corpus *corpus, int64_t i)
{
    return corpus->numbers && i >= corpus->own ? corpus->numbers[i - corpus->own]
                                               : corpus->before + i;
}

TextFrame corpus_target_frame(const Vocabulary *vocab, CorpusKind kind)
{
    const TokenRules *rules = vocab_rules(vocab);
    TextFrame frame = TEXT_UNFRAMED;
    frame.begin = kind & HAS_SOURCE ? rules->begin : rules->text.begin;
    frame.end = kind & HAS_SOURCE ? rules->end : rules->text.end;
    frame.alone = rules->text.start;
    frame.is_target = 1;
    return frame;
}

TextEnds corpus_target_ends(const Corpus *corpus)
{
    const TextFrame frame = corpus_target_frame(corpus->vocab, corpus->options.kind);
    return (TextEnds){(int32_t)frame.begin, (int32_t)frame.end};
}

int64_t corpus_predicted(const Corpus *corpus, int64_t i, int64_t *from)
{
    const TextEnds ends = corpus_target_ends(corpus);
    *from = ends.before < 0;
    int64_t n = rows_length(&corpus->target, i) + (ends.after >= 0) - *from;
    return n > 0 ? n : 0;
}

/* Tokens of row i's text on a side, specials included, were it whole in a batch; 0: there is no
 * such text. */
static int64_t whole_text(const Corpus *corpus, int64_t i, int side)
{
    if (!corpus_has(corpus, side))
        return 0;
    if (side == SIDE_SOURCE) {
        const TextEnds ends = corpus_source_ends(corpus, i);
        return rows_length(&corpus->source, i) + (ends.before >= 0) + (ends.after >= 0);
    }
    int64_t from, n = corpus_predicted(corpus, i, &from);
    return n ? n : 1;
}

/* ---- sides of columns ---- */

int64_t corpus_positions(const Corpus *corpus, int column, int64_t i)
{
    return rows_length(&corpus->columns[column], i) / corpus->options.columns[column].width;
}

/* The first column along a side; -1: none. */
static int column_along(const Corpus *corpus, int side)
{
    for (int c = 0; c < corpus->options.n_columns; c++)
        if (corpus->options.columns[c].side == side)
            return c;
    return -1;
}

static bool has_sides(const Corpus *corpus)
{
    bool any = corpus->options.kind != CORPUS_RECORDS;
    for (int side = 0; side < MOST_SIDES && !any; side++)
        any = column_along(corpus, side) >= 0;
    return any;
}

const SideFormula *corpus_formula(const Corpus *corpus, int side)
{
    const SideFormula *all = corpus->options.formulas;
    return all && all[side].formula.n ? &all[side] : NULL;
}

int corpus_last_side(const Corpus *corpus)
{
    int last = SIDE_TARGET;
    for (int side = last + 1; side < MOST_SIDES; side++)
        if (column_along(corpus, side) >= 0 || corpus_formula(corpus, side))
            last = side;
    return last;
}

/* Row i of a corpus. */
typedef struct SidesRow {
    const Corpus *corpus;
    int64_t i;
} SidesRow;

static int64_t length_of_side(const void *of, int32_t side)
{
    const SidesRow *row = of;
    return side < 0 ? 0 : corpus_side_length(row->corpus, row->i, side);
}

int64_t corpus_side_length(const Corpus *corpus, int64_t i, int side)
{
    const SideFormula *made = corpus_formula(corpus, side);
    if (made)
        return dim_formula_length(&made->formula, length_of_side, &(SidesRow){corpus, i});
    if (corpus_has(corpus, side)) {
        const int64_t length = whole_text(corpus, i, side), limit = corpus->options.max_length;
        return side == SIDE_TARGET && limit > 0 && length > limit ? limit : length;
    }
    const int column = corpus->options.n_columns ? column_along(corpus, side) : -1;
    return column >= 0 ? corpus_positions(corpus, column, i) : side == 0 && !has_sides(corpus);
}

const char *corpus_side_name(const Corpus *corpus, Arena *arena, int side)
{
    if (corpus_has(corpus, side))
        return side == SIDE_SOURCE ? "the source, with its special tokens,"
                                   : "the target, with its special tokens,";
    const ColumnSpec *first = &corpus->options.columns[column_along(corpus, side)];
    return arena_printf(arena, "`%s`", first->input);
}

/* The text along a side that is by_words; -1: none. */
static int text_by_words(const Corpus *corpus, int side)
{
    for (int c = 0; c < corpus->options.n_columns; c++) {
        const ColumnSpec *spec = &corpus->options.columns[c];
        if (spec->side == side && spec->kind == COLUMN_TEXT && spec->by_words)
            return c;
    }
    return -1;
}

int64_t corpus_words(const Corpus *corpus, int64_t i, int side, const int32_t **firsts)
{
    const int text = side < 0 ? -1 : text_by_words(corpus, side);
    if (text < 0)
        return -1;
    const Rows *words = &corpus->words[text];
    *firsts = words->ids.data ? words->ids.data + words->start[i] : NULL;
    return rows_length(words, i);
}

int64_t corpus_whole_side(const Corpus *corpus, int64_t i, int side)
{
    return side == SIDE_TARGET && corpus_has(corpus, SIDE_TARGET)
               ? whole_text(corpus, i, side)
               : corpus_side_length(corpus, i, side);
}

static TextFrame frame_of(const Corpus *corpus, int column)
{
    return column_frame(&corpus->options.columns[column], corpus->vocab);
}

int64_t corpus_column_specials(const Corpus *corpus, int column)
{
    const TextFrame frame = frame_of(corpus, column);
    return text_frame_size(&frame);
}

/* The first column along a side that has nothing of its own in row i; -1: none. */
static int empty_column(const Corpus *corpus, int64_t i)
{
    for (int c = 0; c < corpus->options.n_columns; c++)
        if (corpus->options.columns[c].side >= 0 && !corpus->options.columns[c].is_ctc &&
            !corpus_formula(corpus, corpus->options.columns[c].side) &&
            corpus_positions(corpus, c, i) <= corpus_column_specials(corpus, c))
            return c;
    return -1;
}

/* Whether a batch could not have row i: a column has no position in it. */
static bool has_empty_cell(const Corpus *corpus, int64_t i)
{
    const int column = empty_column(corpus, i);
    return column >= 0 && !corpus_positions(corpus, column, i);
}

/* The first column whose row i is as long as no other along its side; -1: none. */
static int uneven_column(const Corpus *corpus, int64_t i)
{
    for (int c = 0; c < corpus->options.n_columns; c++) {
        const int side = corpus->options.columns[c].side;
        if (side >= 0 && corpus_positions(corpus, c, i) != corpus_whole_side(corpus, i, side))
            return c;
    }
    return -1;
}

static int64_t longest_column(const Corpus *corpus, int64_t i)
{
    int64_t longest = 0;
    for (int c = 0; c < corpus->options.n_columns; c++)
        if (corpus->options.columns[c].side >= 0 && corpus_positions(corpus, c, i) > longest)
            longest = corpus_positions(corpus, c, i);
    return longest;
}

/* The text whose words a column labels; -1: none. */
static int labelled_text(const Corpus *corpus, int column)
{
    const ColumnSpec *spec = &corpus->options.columns[column];
    return column_none(spec) ? text_by_words(corpus, spec->side) : -1;
}

/* Cuts the last row to so many ids; whether it had more. */
static bool cut_row(Rows *rows, int64_t keep)
{
    if (rows_length(rows, rows->n - 1) <= keep)
        return false;
    rows->ids.count = (size_t)(rows->start[rows->n - 1] + keep);
    rows->start[rows->n] = (int64_t)rows->ids.count;
    return true;
}

/* Cuts what is known of the last row's words to those of a row of so many ids. */
static void cut_words(const TextFrame *frame, int64_t keep, Rows *words)
{
    text_frame_cut_words(frame, keep, (size_t)words->start[words->n - 1], &words->ids);
    words->start[words->n] = (int64_t)words->ids.count;
}

/* Cuts the last row of each column to what is kept of its side, or as many positions as others then
 * have that its side is made of; a text keeps its last special token, which has no label. Whether
 * any was cut. */
static bool cut_columns(Corpus *corpus, const KeptRow *row)
{
    bool any = false;
    for (int c = 0; c < corpus->options.n_columns; c++) {
        const ColumnSpec *spec = &corpus->options.columns[c];
        Rows *rows = &corpus->columns[c];
        const int64_t keep = spec->side < 0 ? 0 : row->keep[spec->side];
        if (spec->side < 0 || corpus_formula(corpus, spec->side) ||
            corpus_positions(corpus, c, rows->n - 1) <= keep)
            continue;
        any = true;
        const int text = labelled_text(corpus, c);
        const TextFrame frame = frame_of(corpus, text < 0 ? c : text);
        cut_row(rows, keep * spec->width);
        if (frame.end >= 0 && column_none(spec))
            rows->ids.data[rows->ids.count - 1] = -1;
        else
            text_frame_cut(&frame, rows->ids.data + rows->start[rows->n - 1], keep);
        if (spec->kind == COLUMN_TEXT && spec->by_words)
            cut_words(&frame, keep, &corpus->words[c]);
    }
    for (int c = 0; c < corpus->options.n_columns; c++) {
        const ColumnSpec *spec = &corpus->options.columns[c];
        if (spec->side >= 0 && corpus_formula(corpus, spec->side))
            cut_row(&corpus->columns[c],
                    spec->width * corpus_side_length(corpus, corpus->columns[c].n - 1, spec->side));
    }
    return any;
}

/* ---- rows ---- */

/* Calls `act` with the rows of each side and column that the corpus has, and of words. */
static void each_rows(Corpus *corpus, void (*act)(const Corpus *corpus, Rows *rows))
{
    for (int k = 0; k < corpus_values(&corpus->options); k++)
        if (k >= FIRST_COLUMN || corpus_has(corpus, k))
            act(corpus, &corpus->values[k]);
    for (int c = 0; c < corpus->options.n_columns; c++)
        act(corpus, &corpus->words[c]);
}

static void resize_rows(const Corpus *corpus, Rows *rows)
{
    rows->start = memory_resized(rows->start, (size_t)corpus->room * sizeof(int64_t));
}

static void empty_rows(const Corpus *corpus, Rows *rows)
{
    rows->n = 0;
    rows->ids.count = 0;
    rows->start[0] = 0;
}

static void close_row(const Corpus *corpus, Rows *rows) { rows_close(rows); }

static void take_back_row(const Corpus *corpus, Rows *rows)
{
    rows->ids.count = (size_t)rows->start[--rows->n];
}

static void free_rows(const Corpus *corpus, Rows *rows)
{
    free(rows->start);
    ids_free(&rows->ids);
}

static void resize_starts(Corpus *corpus, int64_t rows)
{
    corpus->room = rows;
    corpus->line = memory_resized(corpus->line, (size_t)rows * sizeof(int64_t));
    each_rows(corpus, resize_rows);
}

/* For one more row. */
static void make_room(Corpus *corpus)
{
    if (corpus->n + 2 > corpus->room)
        resize_starts(corpus, 2 * corpus->room + 64);
}

void corpus_reserve(Corpus *corpus, int64_t rows)
{
    if (rows + 2 > corpus->room)
        resize_starts(corpus, rows + 2);
}

Corpus *corpus_new(const Vocabulary *vocab, const CorpusOptions *options)
{
    Corpus *corpus = memory_resized(NULL, sizeof *corpus);
    *corpus = (Corpus){.options = *options, .vocab = vocab};
    make_room(corpus);
    corpus_clear(corpus);
    return corpus;
}

void corpus_clear(Corpus *corpus)
{
    corpus->n = corpus->own = corpus->lines = corpus->empty = corpus->long_ = 0;
    corpus->cut_sources = corpus->cut_targets = corpus->refused = 0;
    each_rows(corpus, empty_rows);
}

/* Whether the row just added has no text, nothing to predict, or a column without values. */
static bool row_is_empty(const Corpus *corpus)
{
    int64_t from;
    return (corpus_has(corpus, SIDE_SOURCE) && rows_length(&corpus->source, corpus->n) == 0) ||
           (corpus_has(corpus, SIDE_TARGET) &&
            (rows_length(&corpus->target, corpus->n) == corpus_has_first(corpus) ||
             !corpus_predicted(corpus, corpus->n, &from))) ||
           empty_column(corpus, corpus->n) >= 0;
}

/* Decides about the row just added. */
static CorpusRow judge_row(const Corpus *corpus)
{
    const CorpusKind kind = corpus->options.kind;
    int64_t source = whole_text(corpus, corpus->n, SIDE_SOURCE);
    int64_t target = whole_text(corpus, corpus->n, SIDE_TARGET), limit = corpus->options.max_length;
    const int64_t lengths[] = {source, target, longest_column(corpus, corpus->n),
                               corpus_joined(corpus, corpus->n)};
    CorpusRow row = {.source = source,
                     .target = target,
                     .wrong_column = -1,
                     .uneven_column = uneven_column(corpus, corpus->n)};
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++)
        row.tokens = lengths[i] > row.tokens ? lengths[i] : row.tokens;
    if (row.uneven_column >= 0) {
        row.uneven_length = corpus_positions(corpus, row.uneven_column, corpus->n);
        row.side_length =
            corpus_whole_side(corpus, corpus->n, corpus->options.columns[row.uneven_column].side);
    }
    row.is_empty = row_is_empty(corpus);
    row.is_long = (limit > 0 && row.tokens > limit) || corpus_is_over_joined(corpus, corpus->n);
    row.is_kept = corpus->options.pass_empty && has_empty_cell(corpus, corpus->n) ? false
                  : corpus->options.keep_all ? !row.is_long || !corpus->options.refuse_long
                                             : !row.is_empty && !row.is_long;
    row.is_uneven = row.is_kept &&
                    ((corpus->options.same_lengths && kind == CORPUS_PAIRS && source != target) ||
                     row.uneven_column >= 0);
    row.is_kept = row.is_kept && !row.is_uneven;
    return row;
}

bool corpus_encode_text(Corpus *corpus, const Vocabulary *vocab, const char *text, size_t length,
                        int64_t line, Ids *ids)
{
    if (vocab_encode(vocab, text, length, ids))
        return true;
    if (!corpus->refused++)
        corpus->refused_line = line;
    if (!corpus->refusal)
        memory_need((corpus->refusal = strdup(tokenizer_problem())) != NULL);
    return false;
}

/* A cell without positions in a row that is kept in any case: a fault of the cell, for a batch has
 * no empty rows. */
static int find_empty(Corpus *corpus)
{
    const int column = corpus->options.keep_all ? empty_column(corpus, corpus->n) : -1;
    if (column < 0 || corpus_positions(corpus, column, corpus->n) || corpus->options.pass_empty)
        return -1;
    row_is_wrong(&corpus->fault, 0, "the cell of `%s` is empty",
                 corpus->options.columns[column].input);
    return column;
}

/* wrong: the column of a wrong cell; -1: none is. */
static CorpusRow close_judged(Corpus *corpus, int64_t line, bool refused, int wrong)
{
    make_room(corpus);
    each_rows(corpus, close_row);
    CorpusRow row = judge_row(corpus);
    row.is_refused = refused;
    row.wrong_column = wrong >= 0 ? wrong : find_empty(corpus);
    if (refused || row.wrong_column >= 0)
        row.is_kept = row.is_uneven = row.is_empty = row.is_long = false;
    corpus->lines++;
    corpus->empty += row.is_empty;
    corpus->long_ += row.is_long;
    if (!row.is_kept)
        each_rows(corpus, take_back_row);
    if (row.is_kept && row.is_long) {
        int64_t limit = corpus->options.max_length;
        const int64_t own = rows_length(&corpus->source, corpus->n);
        const KeptRow kept = corpus_kept(corpus);
        row.cuts_source = cut_row(&corpus->source, own - (row.source - limit));
        row.cuts_target = row.target > limit;
        row.cuts_source = cut_columns(corpus, &kept) || row.cuts_source;
    }
    corpus->cut_sources += row.cuts_source;
    corpus->cut_targets += row.cuts_target;
    if (row.is_kept)
        corpus->line[corpus->n++] = line, corpus->own++;
    return row;
}

CorpusRow corpus_close_row(Corpus *corpus, int64_t line)
{
    return close_judged(corpus, line, false, -1);
}

/* Finds the words of a text that was added. False: a word has no token. */
static bool add_words(Corpus *corpus, int column, const Line *text)
{
    const Vocabulary *vocab = column_vocab(&corpus->options.columns[column], corpus->vocab);
    const TextFrame frame = frame_of(corpus, column);
    int64_t n;
    const int32_t *ids = rows_open(&corpus->columns[column], &n);
    const bool ok = text_frame_words(&frame, vocab_tokenizer(vocab), text, ids, n,
                                     &corpus->words[column].ids, &corpus->fault);
    memory_need(ok || corpus->fault.text[0]);
    return ok;
}

/* Puts the labels of a text's words to the words' first tokens. False: there are more or fewer. */
static bool spread_labels(Corpus *corpus, int column)
{
    const ColumnSpec *spec = &corpus->options.columns[column];
    const int text = labelled_text(corpus, column);
    int64_t n_tokens, n_words, n;
    rows_open(&corpus->columns[text], &n_tokens);
    const int32_t *firsts = rows_open(&corpus->words[text], &n_words);
    rows_open(&corpus->columns[column], &n);
    if (n != n_words) {
        return row_is_wrong(
            &corpus->fault, 0, "`%s` has %lld label%s and `%s` %lld word%s: give each word one",
            spec->input, (long long)n, text_plural(n, "", "s"), corpus->options.columns[text].input,
            (long long)n_words, text_plural(n_words, "", "s"));
    }
    for (int64_t i = n; i < n_tokens; i++)
        ids_push(&corpus->columns[column].ids, -1);
    int32_t *labels = rows_open(&corpus->columns[column], &n);
    for (int64_t i = n_words; i-- > 0;) { /* firsts[i] >= i */
        const int32_t label = labels[i];
        labels[i] = -1;
        labels[firsts[i]] = label;
    }
    return true;
}

/* The number of the first column whose cell is wrong; -1: none. target: the text that was added;
 * NULL: none was. */
static int add_cells(Corpus *corpus, const Cell *cells, const Line *target)
{
    const ColumnSpec *specs = corpus->options.columns;
    for (int c = 0; c < corpus->options.n_columns; c++)
        if (!column_read(&specs[c], corpus->vocab, &cells[c], &corpus->columns[c].ids,
                         &corpus->fault))
            return c;
    for (int c = 0; c < corpus->options.n_columns; c++)
        if (specs[c].kind == COLUMN_TEXT && specs[c].by_words &&
            !add_words(corpus, c, &cells[c].text))
            return c;
    for (int c = 0; c < corpus->options.n_columns; c++)
        if (labelled_text(corpus, c) >= 0 && !spread_labels(corpus, c))
            return c;
    for (int c = 0; c < corpus->options.n_columns; c++)
        if (target && corpus_is_beside_target(corpus, c) && !corpus_fit_target(corpus, c, target))
            return c;
    return -1;
}

CorpusRow corpus_add(Corpus *corpus, int64_t line, const Line *source, const Line *target)
{
    assert(!corpus->options.n_columns);
    return corpus_add_record(corpus, line, source, target, NULL);
}

CorpusRow corpus_add_record(Corpus *corpus, int64_t line, const Line *source, const Line *target,
                            const Cell *cells)
{
    const Line *texts[] = {source, corpus->options.kind & HAS_SOURCE ? target : source};
    bool refused = false;
    for (int side = 0; side < FIRST_COLUMN && !refused; side++) {
        if (side == SIDE_TARGET && corpus_has_first(corpus))
            ids_push(&corpus->target.ids, vocab_rules(corpus->vocab)->first);
        if (corpus_has(corpus, side))
            refused = !corpus_encode_text(
                corpus, corpus_vocab(&corpus->options, corpus->vocab, side), texts[side]->text,
                texts[side]->length, line, &corpus->values[side].ids);
    }
    return close_judged(corpus, line, refused,
                        add_cells(corpus, cells, refused ? NULL : texts[SIDE_TARGET]));
}

void corpus_free(Corpus *corpus)
{
    if (!corpus)
        return;
    each_rows(corpus, free_rows);
    token_text_free(&corpus->pending);
    free(corpus->refusal);
    free(corpus->line);
    free(corpus->parts);
    free(corpus->draws);
    free(corpus->numbers);
    free(corpus);
}
