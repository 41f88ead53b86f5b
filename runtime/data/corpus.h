/* Text as token ids in memory, ready for batches (batch.h).
 *
 * Ids are stored without special ones; the kind says what a batch makes of them, by the
 * vocabulary's TokenRules:
 *
 *   CORPUS_PAIRS      source: x1…xm end        target: begin y1…yn  next: y1…yn end
 *   CORPUS_SOURCES    source: x1…xm end        (translation)
 *   CORPUS_SENTENCES  source: begin x1…xm end  (encoder-only models)
 *   CORPUS_LINES      target: begin y1…yn      next: y1…yn end  (decoder-only, line by line), by the
 *                     rule of a language model's texts (text_rule.h), which may lack both
 *   CORPUS_STREAM     the whole text is one stream of tokens, cut into windows of max_length:
 *                     target: t[i…j)  next: t[i+1…j+1). Each line is followed by the rule's newline;
 *                     without one line breaks are the tokenizer's, and the text stands between the
 *                     rule's begin and end
 */
#ifndef RUNTIME_DATA_CORPUS_H
#define RUNTIME_DATA_CORPUS_H

#include "base/unknown.h"
#include "runtime/data/vocabulary.h"

typedef enum CorpusKind {
    CORPUS_PAIRS,
    CORPUS_SOURCES,
    CORPUS_SENTENCES,
    CORPUS_LINES,
    CORPUS_STREAM
} CorpusKind;

/* Row i is ids[start[i]] … ids[start[i + 1] - 1]. */
typedef struct Rows {
    int64_t n;
    int64_t *start; /* n + 1 */
    Ids ids;
} Rows;

/* What a stream begins after: nothing, another text, or an earlier part of its text. A text's beginning
 * counts where the rule has no newline, and with keep_all. */
typedef enum StreamPlace { STREAM_BEGINS, STREAM_FOLLOWS, STREAM_GOES_ON } StreamPlace;

typedef struct CorpusOptions {
    CorpusKind kind;
    /* In tokens of a batch, so special ones included; 0: no limit. */
    int64_t max_length;
    /* False (training): rows with an empty side or longer than max_length are left out.
     * True (translation, evaluation): every line stays; empty ones are empty rows, and longer
     * ones are left out with refuse_long. Without it a longer source is cut, and a longer target is
     * whole in its row, of which a batch has the beginning, with the token that follows it, not the
     * end, as the last of `next`. A warning of corpus_encode says how many. */
    bool keep_all, refuse_long;
    /* The model's source and target share a ragged dimension: a pair whose sides have different
     * lengths is not kept, and an error of corpus_encode and corpus_mix. */
    bool same_lengths;
    StreamPlace place;
} CorpusOptions;

/* CorpusPart: rows that other data was mixed in with. Each epoch has all rows of the corpus's own
 * text, and `weight` times as many of the part: drawn in an order of its own, from where the last
 * epoch ended, so that each row comes again only after all others. */
typedef struct CorpusPart {
    int64_t first, n; /* rows */
    double weight;    /* > 0 */
} CorpusPart;

typedef struct Corpus {
    CorpusOptions options;
    const Vocabulary *vocab;
    int64_t n;            /* rows; 1 for a stream */
    int64_t own;          /* rows of its own text; those of parts stand behind */
    CorpusPart *parts;
    int n_parts;
    Rows source, target;  /* the side a kind lacks has n = 0 */
    int64_t *line;        /* the line a row came from, from 0 */
    int64_t lines;        /* in the text */
    int64_t empty, long_; /* lines with an empty side, and lines longer than max_length */
    int64_t cut_sources, cut_targets; /* rows of those: cut, and whole but for the batch */
    int64_t room;         /* private: */
    int64_t refused;      /* lines that are too much for the tokenizer; of a stream: places */
    int64_t refused_line; /* the first of them */
    char *refusal;        /* … and why; NULL: there is none */
    TokenText pending;    /* of a stream without a newline token, not yet encoded */
    int64_t pending_line; /* … its first line, from 0 */
    /* The rows lie there, not here, and n tells how many (prepared.h); NULL: they are here. */
    const struct Prepared *prepared;
} Corpus;

/* Encodes texts; `target` for pairs only, else NULL. Line counts that differ are an error,
 * and so is a text that leaves no row in training. NULL after an error; freed by
 * corpus_free. Warnings tell what is left out or cut, a note unknown tokens. */
Corpus *corpus_encode(Diagnostics *diags, const Vocabulary *vocab, const CorpusOptions *options,
                      const Lines *source, const Lines *target);
/* SidesUnknown: unknown tokens of the sources, and of the targets or of a text with one side. */
typedef struct SidesUnknown {
    UnknownCount source, target;
} SidesUnknown;
/* Adds the ids of the rows from `first` on. */
void corpus_count_unknown(const Corpus *corpus, int64_t first, SidesUnknown *sides);
/* Notes the sides whose share is above UNKNOWN_TOLD; `texts`: where the sides are from. */
void corpus_tell_unknown(Diagnostics *diags, CorpusKind kind, const SidesUnknown *sides,
                         const Source *const texts[2]);
/* Mixes more text into a corpus of rows (no stream), for training. False after errors, as above. */
bool corpus_mix(Diagnostics *diags, Corpus *corpus, double weight, const Lines *source,
                const Lines *target);
/* Whether source and target (may be NULL) have as many lines; an error tells if not. */
bool corpus_check_counts(Diagnostics *diags, const Lines *source, const Lines *target);
void corpus_free(Corpus *corpus); /* NULL is allowed */

/* Rows one by one: for texts that are never whole in memory. */
typedef struct CorpusRow {
    bool is_kept, is_empty, is_long; /* is_empty: a side is */
    bool cuts_source, cuts_target;   /* as Corpus counts them */
    bool is_refused;                 /* not kept because of the tokenizer: corpus->refusal of the first */
    bool is_uneven;                  /* not kept because of same_lengths */
    int64_t source, target;          /* whole, in tokens; 0 for a side the kind lacks */
    int64_t tokens;                  /* of the longer side, as in a batch */
} CorpusRow;
/* What is wrong with an uneven row, for a message behind its place. */
const char *corpus_uneven_text(Arena *arena, const CorpusRow *row);
Corpus *corpus_new(const Vocabulary *vocab, const CorpusOptions *options);
/* `line`: its number, from 0. `target` for pairs, else NULL. */
CorpusRow corpus_add(Corpus *corpus, int64_t line, const Line *source, const Line *target);
/* The same of ids that were appended to source.ids and target.ids since the last row. */
CorpusRow corpus_close_row(Corpus *corpus, int64_t line);
/* A line of a stream; corpus_close_stream when all are there: `ends`: with the text's last line. */
void corpus_add_stream(Corpus *corpus, const Line *line);
void corpus_close_stream(Corpus *corpus, bool ends);
void corpus_clear(Corpus *corpus); /* no rows any more; the memory is kept for others */

static inline int64_t rows_length(const Rows *rows, int64_t i)
{
    return rows->n ? rows->start[i + 1] - rows->start[i] : 0;
}
/* Tokens of row i in a batch, specials included: max_length at most; 0 for a side the kind lacks. */
int64_t corpus_source_length(const Corpus *corpus, int64_t i);
/* What stands before and after a source's own tokens; -1: nothing. A source without tokens and
 * without an end gets the target's end: a batch has no empty rows. */
typedef struct SourceFrame {
    int32_t before, after;
} SourceFrame;
SourceFrame corpus_source_frame(const Corpus *corpus, int64_t i);
int64_t corpus_target_length(const Corpus *corpus, int64_t i);
/* The same of a target: what is fed before its tokens, and predicted behind them. */
SourceFrame corpus_target_frame(const Corpus *corpus);
/* How many tokens of row i a batch predicts; *from: the first of them among the row's own, which is not
 * predicted where nothing stands before it. A batch has one without a label where there are none. */
int64_t corpus_predicted(const Corpus *corpus, int64_t i, int64_t *from);

#endif
