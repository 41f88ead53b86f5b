/* Text as token ids in memory, ready for batches (batch.h).
 *
 * Ids are stored without special tokens, except TokenRules.first and those within a stream. The
 * kind says which sides have text of their own, and what a batch makes of it, with the special
 * tokens of the vocabulary's TokenRules; a token that the rules lack is left out:
 *
 *   CORPUS_PAIRS      source: source_begin x1…xm source_end
 *                     target: begin y1…yn  next: y1…yn end
 *   CORPUS_SOURCES    source: as of pairs      (translation)
 *   CORPUS_SENTENCES  source: as of pairs, with `begin` if there is no source_begin (encoder-only)
 *   CORPUS_LINES      target: begin y1…yn      next: y1…yn end  (decoder-only, line by line), by
 *                     the rule of a language model's texts (text_rule.h)
 *   CORPUS_STREAM     the whole text is one stream of tokens, cut into windows of max_length:
 *                     target: t[i…j)  next: t[i+1…j+1). Each line is followed by the
 *                     rule's newline; if the rule has none, line breaks are the tokenizer's, and
 *                     the text stands between the rule's begin and end
 *   CORPUS_RECORDS   neither: columns alone
 *
 * Rows of pairs, lines and records may have columns besides (column.h).
 */
#ifndef RUNTIME_DATA_CORPUS_H
#define RUNTIME_DATA_CORPUS_H

#include "base/unknown.h"
#include "runtime/data/column.h"

/* CorpusKind: facts, each a bit.
 *   HAS_SOURCE   a row has a text that is read
 *   HAS_TARGET   a row has a text whose next tokens are predicted
 *   IS_STREAM    the target is one row, cut into windows
 *   IS_ALONE     the source is all that the model reads; prepared data has it as a target */
typedef enum CorpusKind {
    HAS_SOURCE = 1 << SIDE_SOURCE,
    HAS_TARGET = 1 << SIDE_TARGET,
    IS_STREAM = 4,
    IS_ALONE = 8,
    CORPUS_RECORDS = 0,
    CORPUS_SOURCES = HAS_SOURCE,
    CORPUS_LINES = HAS_TARGET,
    CORPUS_PAIRS = HAS_SOURCE | HAS_TARGET,
    CORPUS_STREAM = HAS_TARGET | IS_STREAM,
    CORPUS_SENTENCES = HAS_SOURCE | IS_ALONE,
    CORPUS_KINDS /* more than any */
} CorpusKind;
/* Words for the kinds that there are, as prepared.json and run.json have them ("pairs"), and
 * numbers, as token shards have them. (corpus.c) */
extern const char *const corpus_kind_words[CORPUS_KINDS];
extern const int corpus_kind_numbers[CORPUS_KINDS];

/* StreamPlace: whether a stream is the first text, follows another text, or is a later part of one
 * text. Beginnings of texts matter if the rule has no newline, and with keep_all. */
typedef enum StreamPlace { STREAM_BEGINS, STREAM_FOLLOWS, STREAM_GOES_ON } StreamPlace;

typedef struct CorpusOptions {
    CorpusKind kind;
    /* the most tokens of a row in a batch, special ones included; 0: no limit, of a stream 1024 */
    int64_t max_length;
    /* where max_length is from, for messages: "the 32 positions of the model"; NULL:
     * --max-length */
    const char *longest;
    /* keep_all false (training): rows with an empty side or longer than max_length are left out.
     * keep_all true (translation, evaluation): every line that the tokenizer takes is a row, an
     * empty line an empty one.
     * With refuse_long a line that is too long is left out. Without refuse_long its source is cut;
     * its target is whole in the row, but a batch has only its beginning, and the last of `next` is
     * the token that follows, not the end. corpus_encode warns of how many. */
    bool keep_all, refuse_long;
    /* with keep_all: a row with a cell without positions, which is a fault else, is left out */
    bool pass_empty;
    /* The model's source and target share a ragged dimension. A pair whose sides have different
     * lengths is not kept; for corpus_encode and corpus_mix it is an error. */
    bool same_lengths;
    StreamPlace place;
    /* MOST_SIDES of them, which outlive the corpus: cells of other lengths are faults; NULL: no
     * side is made of others */
    const SideFormula *formulas;
    const ColumnSpec *columns; /* n_columns of them, which outlive the corpus */
    int n_columns;
} CorpusOptions;

/* CorpusPart: rows of other data that is mixed in. Each epoch has all rows of the corpus's own
 * text, and `weight` times as many rows of the part. These follow an order of the part's own, from
 * where the last epoch ended, so that each row is used again only after all others. */
typedef struct CorpusPart {
    int64_t first, n; /* rows */
    double weight;    /* > 0 */
} CorpusPart;

/* CorpusDraw: a use of a row that is mixed in. */
typedef struct CorpusDraw {
    int64_t row;
    int64_t use; /* how often the row was used before */
} CorpusDraw;

typedef struct Corpus {
    CorpusOptions options;
    const Vocabulary *vocab;
    int64_t n;   /* rows; 1 for a stream */
    int64_t own; /* rows of its own text; rows of parts follow them */
    CorpusPart *parts;
    int n_parts;
    union {
        struct {
            Rows source, target; /* a side that the kind lacks has n = 0 */
            Rows columns[MOST_COLUMNS];
        };
        Rows values[MOST_VALUES]; /* of source, target and columns */
    };
    Rows words[MOST_COLUMNS]; /* of each text that is by_words: which tokens of a row are its words'
                               * first; prepared rows have none */
    int64_t *line;            /* the line a row came from, from 0 */
    /* lines of a text before those that the corpus is of, where it is a window: each is a row of an
     * earlier window */
    int64_t before;
    int64_t lines;        /* in the text */
    int64_t empty, long_; /* of the text added last: lines with an empty side; too long ones */
    int64_t cut_sources, cut_targets; /* rows whose source is cut; whose target is cut in a batch */
    int64_t room;                     /* private */
    RowFault fault;                   /* of the last row with a wrong cell */
    int64_t refused;      /* lines that the tokenizer could not take; of a stream: pieces of text */
    int64_t refused_line; /* the first of them, from 0 */
    char *refusal;        /* why the tokenizer did not take it; NULL: none was refused */
    TokenText pending;    /* private: of a stream without a newline token, not yet encoded */
    int64_t pending_line; /* private: its first line, from 0 */

    /* Prepared data that has the rows (prepared.h); the corpus has only their number n. NULL: the
     * rows are here. What is mixed into prepared data, n_mixed of them. */
    const struct Prepared *prepared;
    const struct PreparedPart *mixed;
    int n_mixed;

    /* Of a window of prepared data, instead of `parts`: what its batches have of the rows that are
     * mixed in, n_draws of them in order, and the number of each row after the own ones. */
    CorpusDraw *draws;
    int64_t n_draws;
    int64_t *numbers; /* NULL: none is mixed in */
} Corpus;

/* Whether the rows have a text of their own on a side. */
static inline bool corpus_has(const Corpus *corpus, int side)
{
    return side <= SIDE_TARGET && corpus->options.kind >> side & 1;
}

/* How many of `values` there may be. */
static inline int corpus_values(const CorpusOptions *options)
{
    return FIRST_COLUMN + options->n_columns;
}
/* The vocabulary of values[k], if they are of a text. */
static inline const Vocabulary *corpus_vocab(const CorpusOptions *options, const Vocabulary *vocab,
                                             int k)
{
    return k == SIDE_SOURCE   ? vocab_source(vocab)
           : k == SIDE_TARGET ? vocab
                              : column_vocab(&options->columns[k - FIRST_COLUMN], vocab);
}
/* Of each of `values` the size of its vocabulary, or column_below. */
static inline void corpus_sizes(const CorpusOptions *options, const Vocabulary *vocab,
                                int64_t sizes[MOST_VALUES])
{
    for (int k = 0; k < corpus_values(options); k++)
        sizes[k] = k < FIRST_COLUMN ? vocab_size(corpus_vocab(options, vocab, k))
                                    : column_below(&options->columns[k - FIRST_COLUMN], vocab);
}
/* Whether values[k] are tokens of a text. */
static inline bool corpus_is_text(const CorpusOptions *options, int k)
{
    return k < FIRST_COLUMN ? options->kind >> k & 1
                            : options->columns[k - FIRST_COLUMN].kind == COLUMN_TEXT;
}

/* CorpusText: what a corpus is made of; all have as many lines, and what there is not is NULL.
 *   source    NULL for records
 *   target    of pairs; else NULL
 *   columns   the cells of each of options->columns */
typedef union CorpusText {
    struct {
        const Lines *source, *target;
        Lines *columns[MOST_COLUMNS];
    };
    const Lines *values[MOST_VALUES];
} CorpusText;

/* The lines of the targets: of a text without sources, of all. */
static inline const Lines *corpus_targets(const CorpusText *text)
{
    return text->target ? text->target : text->source;
}
/* The most tokens of a row, or of texts that are joined (SideFormula.joined), for messages; 0: no
 * limit. */
int64_t corpus_limit(const CorpusOptions *options);
/* The lines that stand for those of all: of the source or, without one, of the first column there
 * is. */
const Lines *corpus_lines(const CorpusText *text);
/* Encodes texts. The vocabulary must outlive the corpus. Freed by corpus_free. NULL after an error:
 * a wrong cell, line counts that differ, an uneven pair (same_lengths), a text that leaves nothing
 * to train on, or, with keep_all and in a stream, a line that the tokenizer does not take. Warnings
 * report lines that are left out or cut, a note reports unknown tokens. */
Corpus *corpus_encode(Diagnostics *diags, const Vocabulary *vocab, const CorpusOptions *options,
                      const CorpusText *text);
/* SidesUnknown: unknown tokens of the sources, and of the targets or of a text with one side. */
typedef struct SidesUnknown {
    UnknownCount source, target;
} SidesUnknown;
/* CorpusTold: counts that notes report once of a text that is encoded in parts; begins as zeros.
 *   lines                       of all parts
 *   cut_sources, cut_targets    as of Corpus
 *   first_source, first_target  the first lines of these */
typedef struct CorpusTold {
    SidesUnknown unknown;
    int64_t lines, cut_sources, cut_targets, first_source, first_target;
} CorpusTold;
/* Adds n records of texts from `first` on to a corpus of rows, whose figures say what was left out.
 * Their counts are added to *told; NULL: not wanted. False after errors, each with its place:
 * wrong cells, sides of different lengths, a text that the tokenizer does not take. */
bool corpus_add_records(Diagnostics *diags, Corpus *corpus, const CorpusText *text, int64_t first,
                        int64_t n, CorpusTold *told);
/* corpus_encode of n lines from `first` on, with keep_all. Their counts are added to *told. */
Corpus *corpus_encode_part(Diagnostics *diags, const Vocabulary *vocab,
                           const CorpusOptions *options, const CorpusText *text, int64_t first,
                           int64_t n, CorpusTold *told);
/* Reports of all parts how many rows are cut, and unknown tokens. */
void corpus_tell(Diagnostics *diags, const CorpusOptions *options, const CorpusText *text,
                 const CorpusTold *told);
/* Adds the ids of the rows from `first` on to the counts. */
void corpus_count_unknown(const Corpus *corpus, int64_t first, SidesUnknown *sides);
/* Adds a note for each side whose share of unknown tokens is above UNKNOWN_TOLD. `texts`: of the
 * sides, for their names; of a text with one side only the first. */
void corpus_tell_unknown(Diagnostics *diags, CorpusKind kind, const SidesUnknown *sides,
                         const Source *const texts[2]);
/* Mixes more text into a corpus of rows (no stream), for training. Returns false after the errors
 * for which corpus_encode returns NULL. */
bool corpus_mix(Diagnostics *diags, Corpus *corpus, double weight, const CorpusText *text);
/* Checks that source and target (may be NULL) have the same number of lines. False after an
 * error. */
bool corpus_check_counts(Diagnostics *diags, const Lines *source, const Lines *target);
void corpus_free(Corpus *corpus); /* NULL is allowed */

/* Rows one by one: for texts that are never whole in memory. */
typedef struct CorpusRow {
    bool is_kept, is_empty, is_long; /* is_empty: a side is */
    bool cuts_source, cuts_target;   /* as Corpus counts them */

    /* not kept because the tokenizer could not take it; corpus->refusal says why, of the first */
    bool is_refused;
    bool is_uneven;         /* not kept because of same_lengths */
    int64_t source, target; /* tokens with specials, before a cut; 0 for a side the kind lacks */
    int64_t tokens;         /* of the longest side, as in a batch */
    int wrong_column;       /* not kept because of this column's cell (corpus->fault); -1: none */
    int uneven_column; /* with is_uneven: the column whose side has another length; -1: the target */
    int64_t uneven_length, side_length; /* its positions, and those of its side */
} CorpusRow;
/* What is wrong with an uneven row: a message's text, without its place. */
const char *corpus_uneven_text(Arena *arena, const Corpus *corpus, const CorpusRow *row);
Corpus *corpus_new(const Vocabulary *vocab, const CorpusOptions *options);
/* Adds a row. `line`: the number of its line, from 0. `target`: for pairs, else NULL. */
CorpusRow corpus_add(Corpus *corpus, int64_t line, const Line *source, const Line *target);
/* The same with a cell of each column; `source` is NULL for records. */
CorpusRow corpus_add_record(Corpus *corpus, int64_t line, const Line *source, const Line *target,
                            const Cell *cells);
/* Adds a row of the ids that were appended to source.ids and target.ids since the last one. */
CorpusRow corpus_close_row(Corpus *corpus, int64_t line);
/* Adds a line to a stream. corpus_close_stream follows the last one; `ends`: it is the text's last
 * line. */
void corpus_add_stream(Corpus *corpus, const Line *line);
void corpus_close_stream(Corpus *corpus, bool ends);
void corpus_clear(Corpus *corpus); /* removes all rows, and keeps their memory for the next */

/* The number of a row among all, by which its hidden tokens are drawn (hiding.h). */
int64_t corpus_number(const Corpus *corpus, int64_t i);
/* Tokens of row i along a side in a batch, specials included: max_length at most; 0 for a side that
 * the corpus lacks; of a side without a text, the positions of its columns. A corpus without any
 * side counts a row as one token. */
int64_t corpus_side_length(const Corpus *corpus, int64_t i, int side);
/* The last side that the corpus has, SIDE_TARGET at least. */
int corpus_last_side(const Corpus *corpus);
/* The words of the text along a side, if it is by_words: how many row i has, and which of its
 * tokens are their first; -1: there is no such text. */
int64_t corpus_words(const Corpus *corpus, int64_t i, int side, const int32_t **firsts);
/* What gives a side its length, for messages: "the source", or the name of an input; in the
 * arena. */
const char *corpus_side_name(const Corpus *corpus, Arena *arena, int side);
/* What stands around the sources and targets of corpora of this kind. A source that would have no
 * token at all gets the `end` of its vocabulary, since a batch has no empty rows. */
TextFrame corpus_source_frame(const Vocabulary *vocab, CorpusKind kind);
TextFrame corpus_target_frame(const Vocabulary *vocab, CorpusKind kind);
TextEnds corpus_source_ends(const Corpus *corpus, int64_t i); /* of row i */
/* Of targets: the token fed before their own tokens, and the one predicted after them. */
TextEnds corpus_target_ends(const Corpus *corpus);
/* How many tokens of row i are predicted, the end included, before a batch cuts the row to
 * max_length. *from: the number of the first of them in the row; the row's first token is not
 * predicted if no special token precedes it. A row that predicts nothing has one place without a
 * label in a batch. */
int64_t corpus_predicted(const Corpus *corpus, int64_t i, int64_t *from);

#endif
