/* Encoding text into rows of ids, leaving out or cutting what does not fit. */
#define _GNU_SOURCE
#include "runtime/data/corpus.h"

#include "base/arena.h"
#include "runtime/data/pairing.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool has_source(CorpusKind kind) { return kind <= CORPUS_SENTENCES; }
static bool has_target(CorpusKind kind)
{
    return kind != CORPUS_SOURCES && kind != CORPUS_SENTENCES;
}

SourceFrame corpus_source_frame(const Corpus *corpus, int64_t i)
{
    const TokenRules *rules = vocab_rules(corpus->vocab);
    SourceFrame frame = {rules->source_begin, rules->source_end};
    if (frame.before < 0 && corpus->options.kind == CORPUS_SENTENCES)
        frame.before = rules->begin;
    if (frame.before < 0 && frame.after < 0 && !rows_length(&corpus->source, i))
        frame.after = vocab_rules(vocab_source(corpus->vocab))->end;
    return frame;
}

/* How many special tokens a batch adds to the row. */
static int64_t source_specials(const Corpus *corpus, int64_t i)
{
    SourceFrame frame = corpus_source_frame(corpus, i);
    return (frame.before >= 0) + (frame.after >= 0);
}

int64_t corpus_source_length(const Corpus *corpus, int64_t i)
{
    return has_source(corpus->options.kind)
               ? rows_length(&corpus->source, i) + source_specials(corpus, i)
               : 0;
}

SourceFrame corpus_target_frame(const Corpus *corpus)
{
    const TokenRules *rules = vocab_rules(corpus->vocab);
    return corpus->options.kind == CORPUS_PAIRS ? (SourceFrame){rules->begin, rules->end}
                                                : (SourceFrame){rules->text.begin, rules->text.end};
}

int64_t corpus_predicted(const Corpus *corpus, int64_t i, int64_t *from)
{
    SourceFrame frame = corpus_target_frame(corpus);
    *from = frame.before < 0;
    int64_t n = rows_length(&corpus->target, i) + (frame.after >= 0) - *from;
    return n > 0 ? n : 0;
}

/* Tokens of the target, were it whole in a batch. */
static int64_t whole_target(const Corpus *corpus, int64_t i)
{
    int64_t from, n = has_target(corpus->options.kind) ? corpus_predicted(corpus, i, &from) : -1;
    return n < 0 ? 0 : n ? n : 1;
}

int64_t corpus_target_length(const Corpus *corpus, int64_t i)
{
    int64_t length = whole_target(corpus, i), limit = corpus->options.max_length;
    return limit > 0 && length > limit ? limit : length;
}

static void close_row(Rows *rows) { rows->start[++rows->n] = (int64_t)rows->ids.count; }

static void take_back_row(Rows *rows) { rows->ids.count = (size_t)rows->start[--rows->n]; }

/* Cuts the last row to so many ids; whether it had more. */
static bool cut_row(Rows *rows, int64_t keep)
{
    if (rows_length(rows, rows->n - 1) <= keep)
        return false;
    rows->ids.count = (size_t)(rows->start[rows->n - 1] + keep);
    rows->start[rows->n] = (int64_t)rows->ids.count;
    return true;
}

/* ---- rows ---- */

/* For one more row. */
static void make_room(Corpus *corpus)
{
    if (corpus->n + 2 <= corpus->room)
        return;
    corpus->room = 2 * corpus->room + 64;
    size_t bytes = (size_t)corpus->room * sizeof(int64_t);
    corpus->source.start = memory_resized(corpus->source.start, bytes);
    corpus->target.start = memory_resized(corpus->target.start, bytes);
    corpus->line = memory_resized(corpus->line, bytes);
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
    corpus->source.n = corpus->target.n = 0;
    corpus->source.ids.count = corpus->target.ids.count = 0;
    corpus->source.start[0] = corpus->target.start[0] = 0;
}

/* Decides about the row just added. */
static CorpusRow judge_row(const Corpus *corpus)
{
    CorpusKind kind = corpus->options.kind;
    int64_t source = corpus_source_length(corpus, corpus->n);
    int64_t target = whole_target(corpus, corpus->n), limit = corpus->options.max_length;
    CorpusRow row = {
        .source = source, .target = target, .tokens = source > target ? source : target};
    bool has_first = kind == CORPUS_PAIRS && vocab_rules(corpus->vocab)->first >= 0;
    int64_t from;
    row.is_empty = (has_source(kind) && rows_length(&corpus->source, corpus->n) == 0) ||
                   (has_target(kind) && (rows_length(&corpus->target, corpus->n) == has_first ||
                                         !corpus_predicted(corpus, corpus->n, &from)));
    row.is_long = limit > 0 && row.tokens > limit;
    row.is_kept = corpus->options.keep_all ? !row.is_long || !corpus->options.refuse_long
                                           : !row.is_empty && !row.is_long;
    row.is_uneven =
        row.is_kept && corpus->options.same_lengths && kind == CORPUS_PAIRS && source != target;
    row.is_kept = row.is_kept && !row.is_uneven;
    return row;
}

/* Appends, or counts the line among those that are refused. */
static bool encode_text(Corpus *corpus, const Vocabulary *vocab, const char *text, size_t length,
                        int64_t line, Ids *ids)
{
    if (vocab_encode(vocab, text, length, ids))
        return true;
    if (!corpus->refused++)
        corpus->refused_line = line;
    if (!corpus->refusal)
        corpus->refusal = strdup(tokenizer_problem());
    return false;
}

static CorpusRow close_judged(Corpus *corpus, int64_t line, bool refused)
{
    CorpusKind kind = corpus->options.kind;
    bool on_source = has_source(kind), on_target = has_target(kind);
    make_room(corpus);
    if (on_source)
        close_row(&corpus->source);
    if (on_target)
        close_row(&corpus->target);
    CorpusRow row = judge_row(corpus);
    row.is_refused = refused;
    row.is_kept = row.is_kept && !refused;
    row.is_uneven = row.is_uneven && !refused;
    row.is_empty = row.is_empty && !refused;
    row.is_long = row.is_long && !refused;
    corpus->lines++;
    corpus->empty += row.is_empty;
    corpus->long_ += row.is_long;
    if (!row.is_kept && on_source)
        take_back_row(&corpus->source);
    if (!row.is_kept && on_target)
        take_back_row(&corpus->target);
    if (row.is_kept && row.is_long) {
        int64_t limit = corpus->options.max_length;
        row.cuts_source =
            on_source && cut_row(&corpus->source, limit - source_specials(corpus, corpus->n));
        row.cuts_target = whole_target(corpus, corpus->n) > limit;
    }
    corpus->cut_sources += row.cuts_source;
    corpus->cut_targets += row.cuts_target;
    if (row.is_kept)
        corpus->line[corpus->n++] = line, corpus->own++;
    return row;
}

CorpusRow corpus_close_row(Corpus *corpus, int64_t line)
{
    return close_judged(corpus, line, false);
}

CorpusRow corpus_add(Corpus *corpus, int64_t line, const Line *source, const Line *target)
{
    CorpusKind kind = corpus->options.kind;
    const Line *wanted = kind == CORPUS_PAIRS ? target : source;
    bool refused = false;
    if (has_source(kind))
        refused = !encode_text(corpus, vocab_source(corpus->vocab), source->text, source->length,
                               line, &corpus->source.ids);
    if (kind == CORPUS_PAIRS && vocab_rules(corpus->vocab)->first >= 0)
        ids_push(&corpus->target.ids, vocab_rules(corpus->vocab)->first);
    if (has_target(kind) && !refused)
        refused = !encode_text(corpus, corpus->vocab, wanted->text, wanted->length, line,
                               &corpus->target.ids);
    return close_judged(corpus, line, refused);
}

/* ---- streams ---- */

enum { MOST_PENDING = 64 << 20 }; /* bytes that are encoded at once */

static void push_some(Corpus *corpus, int32_t id)
{
    if (id >= 0)
        ids_push(&corpus->target.ids, id);
}

/* What stands before the stream's first token. */
static void begin_stream(Corpus *corpus)
{
    const TokenRules *rules = vocab_rules(corpus->vocab);
    bool is_published = rules->text.newline < 0;
    if (is_published && corpus->options.place == STREAM_FOLLOWS)
        push_some(corpus, rules->end);
    if (is_published ? corpus->options.place != STREAM_GOES_ON : corpus->options.keep_all)
        push_some(corpus, rules->text.begin);
}

static void encode_pending(Corpus *corpus)
{
    if (!corpus->pending.length)
        return;
    encode_text(corpus, corpus->vocab, corpus->pending.data, corpus->pending.length,
                corpus->pending_line, &corpus->target.ids);
    corpus->pending.length = 0;
}

static void put_pending(Corpus *corpus, const char *text, size_t length)
{
    memory_need(token_text_put(&corpus->pending, text, length));
}

void corpus_add_stream(Corpus *corpus, const Line *line)
{
    int32_t newline = vocab_rules(corpus->vocab)->text.newline;
    bool is_first = !corpus->lines++;
    if (is_first)
        begin_stream(corpus);
    if (newline >= 0) {
        encode_text(corpus, corpus->vocab, line->text, line->length, corpus->lines - 1,
                    &corpus->target.ids);
        ids_push(&corpus->target.ids, newline);
        return;
    }
    if (corpus->pending.length > MOST_PENDING)
        encode_pending(corpus);
    if (!corpus->pending.length)
        corpus->pending_line = corpus->lines - 1;
    if (!is_first || corpus->options.place == STREAM_GOES_ON)
        put_pending(corpus, "\n", 1);
    put_pending(corpus, line->text, line->length);
}

void corpus_close_stream(Corpus *corpus, bool ends)
{
    encode_pending(corpus);
    if (ends && vocab_rules(corpus->vocab)->text.newline < 0)
        push_some(corpus, vocab_rules(corpus->vocab)->text.end);
    close_row(&corpus->target);
    corpus->n = corpus->own = 1;
}

/* Where the first line of each sort was, for messages. */
typedef struct Seen {
    int64_t first_empty, first_long, first_source, first_target, first_uneven;
    CorpusRow uneven; /* that line's row; is_uneven false: there is none */
} Seen;

static void add_rows(Corpus *corpus, const Lines *source, const Lines *target, Seen *seen)
{
    for (int64_t i = 0; i < source->n; i++) {
        CorpusRow row = corpus_add(corpus, i, &source->at[i], target ? &target->at[i] : NULL);
        if (row.is_empty && corpus->empty == 1)
            seen->first_empty = i;
        if (row.is_long && corpus->long_ == 1)
            seen->first_long = i;
        if (row.cuts_source && corpus->cut_sources == 1)
            seen->first_source = i;
        if (row.cuts_target && corpus->cut_targets == 1)
            seen->first_target = i;
        if (row.is_uneven && !seen->uneven.is_uneven) {
            seen->first_uneven = i;
            seen->uneven = row;
        }
    }
}

/* ---- messages ---- */

void corpus_count_unknown(const Corpus *corpus, int64_t first, SidesUnknown *sides)
{
    const struct {
        const Rows *rows;
        const Vocabulary *vocab;
        UnknownCount *count;
    } all[] = {{&corpus->source, vocab_source(corpus->vocab), &sides->source},
               {&corpus->target, corpus->vocab, &sides->target}};
    for (int k = 0; k < 2; k++) {
        const Rows *rows = all[k].rows;
        size_t begin = rows->n ? (size_t)rows->start[first] : 0;
        if (rows->n && rows->ids.count > begin)
            unknown_add(all[k].count, rows->ids.data + begin, rows->ids.count - begin,
                        vocab_rules(all[k].vocab)->unk);
    }
}

void corpus_tell_unknown(Diagnostics *diags, CorpusKind kind, const SidesUnknown *sides,
                         const Source *const texts[2])
{
    const UnknownCount *counts[] = {&sides->source, &sides->target};
    bool pairs = kind == CORPUS_PAIRS;
    for (int k = 0; k < 2; k++) {
        char note[UNKNOWN_NOTE_BYTES];
        if (!unknown_is_above(counts[k], UNKNOWN_TOLD))
            continue;
        unknown_note(counts[k],
                     !pairs ? "the tokens"
                     : k    ? "the targets' tokens"
                            : "the sources' tokens",
                     note);
        diag_note(diags, (Loc){.source = texts[pairs ? k : 0]},
                  "%s; tfc data --vocab lists what it lacks", note);
    }
}

static const char *are(int64_t n) { return text_plural(n, "is", "are"); }

/* What was kept and is longer than the model takes. */
static void warn_cut(Diagnostics *diags, const Corpus *corpus, const Lines *source,
                     const Lines *target, const Seen *seen)
{
    const char *what = corpus->options.kind == CORPUS_PAIRS ? "source" : "line",
               *s = text_plural(corpus->lines, "", "s");
    long long lines = corpus->lines, limit = corpus->options.max_length;
    if (corpus->cut_sources)
        diag_warning(diags, (Loc){.source = source->source},
                     "%lld of %lld %s%s %s longer than %lld tokens and cut (the first on %s)",
                     (long long)corpus->cut_sources, lines, what, s, are(corpus->cut_sources),
                     limit, lines_where(diags->arena, source, seen->first_source));
    if (corpus->cut_targets)
        diag_warning(
            diags, (Loc){.source = (target ? target : source)->source},
            "%lld of %lld %s%s %s longer than %lld tokens: the loss is over the first %lld of each "
            "(the first on %s)",
            (long long)corpus->cut_targets, lines, target ? "target" : what, s,
            are(corpus->cut_targets), limit, limit,
            lines_where(diags->arena, target ? target : source, seen->first_target));
}

/* Of the rows from `first` on. */
static void warn(Diagnostics *diags, const Corpus *corpus, int64_t first, const Lines *text,
                 const Lines *target, const Seen *seen)
{
    SidesUnknown sides = {0};
    const Source *const texts[] = {text->source, target ? target->source : NULL};
    corpus_count_unknown(corpus, first, &sides);
    corpus_tell_unknown(diags, corpus->options.kind, &sides, texts);
    bool keep = corpus->options.keep_all;
    const char *what = corpus->options.kind == CORPUS_PAIRS ? "sentence pair" : "line",
               *s = text_plural(corpus->lines, "", "s");
    if (corpus->empty && !keep)
        diag_warning(diags, (Loc){.source = text->source},
                     "%lld of %lld %s%s %s an empty side and %s left out (the first on %s)",
                     (long long)corpus->empty, (long long)corpus->lines, what, s,
                     text_plural(corpus->empty, "has", "have"), are(corpus->empty),
                     lines_where(diags->arena, text, seen->first_empty));
    if (corpus->long_ && (!keep || corpus->options.refuse_long))
        diag_warning(
            diags, (Loc){.source = text->source},
            "%lld of %lld %s%s %s longer than %lld tokens and %s left out (the first on %s)",
            (long long)corpus->long_, (long long)corpus->lines, what, s, are(corpus->long_),
            (long long)corpus->options.max_length, are(corpus->long_),
            lines_where(diags->arena, text, seen->first_long));
}

const char *corpus_uneven_text(Arena *arena, const CorpusRow *row)
{
    return arena_printf(
        arena,
        "the source has %lld tokens and the target %lld, but the model's source and "
        "target share a ragged dimension: give sides of the same length",
        (long long)row->source, (long long)row->target);
}

static bool check_even(Diagnostics *diags, const Lines *source, const Seen *seen)
{
    if (seen->uneven.is_uneven)
        diag_error(diags, lines_place(source, seen->first_uneven), "%s",
                   corpus_uneven_text(diags->arena, &seen->uneven));
    return !seen->uneven.is_uneven;
}

bool corpus_check_counts(Diagnostics *diags, const Lines *source, const Lines *target)
{
    if (!target || source->n == target->n)
        return true;
    diag_error(diags, (Loc){0}, "%s",
               pairing_counts_text(diags->arena, source->source->path, source->n,
                                   target->source->path, target->n));
    return false;
}

/* What the tokenizer refuses is left out of a training, with a warning; otherwise, and in a stream,
 * it is an error. */
static bool check_refused(Diagnostics *diags, const Corpus *corpus, const Lines *source)
{
    if (!corpus->refused)
        return true;
    Loc place = lines_place(source, corpus->refused_line);
    if (corpus->options.keep_all || corpus->options.kind == CORPUS_STREAM) {
        diag_error(diags, place, "%s: shorten the line", corpus->refusal);
        return false;
    }
    diag_warning(diags, place, "%s; %lld of %lld lines are left out for such a reason",
                 corpus->refusal, (long long)corpus->refused, (long long)corpus->lines);
    return true;
}

static bool check_usable(Diagnostics *diags, const Corpus *corpus, const Lines *text)
{
    Loc loc = {.source = text->source};
    bool stream = corpus->options.kind == CORPUS_STREAM;
    if (stream && corpus->target.ids.count < 2)
        diag_error(diags, loc, "the text is too short: it has %zu token%s",
                   corpus->target.ids.count,
                   text_plural((int64_t)corpus->target.ids.count, "", "s"));
    else if (!stream && corpus->n == 0 && !corpus->options.keep_all)
        diag_error(diags, loc, "no line of %lld can be used: %lld empty, %lld longer than %s",
                   (long long)corpus->lines, (long long)corpus->empty, (long long)corpus->long_,
                   corpus->options.longest ? corpus->options.longest : "--max-length");
    else
        return true;
    return false;
}

/* ---- interface ---- */

Corpus *corpus_encode(Diagnostics *diags, const Vocabulary *vocab, const CorpusOptions *options,
                      const Lines *source, const Lines *target)
{
    assert((options->kind == CORPUS_PAIRS) == (target != NULL));
    if (!corpus_check_counts(diags, source, target))
        return NULL;
    Corpus *corpus = corpus_new(vocab, options);
    Seen seen = {0};
    if (options->kind == CORPUS_STREAM) {
        for (int64_t i = 0; i < source->n; i++)
            corpus_add_stream(corpus, &source->at[i]);
        corpus_close_stream(corpus, true);
    } else
        add_rows(corpus, source, target, &seen);
    warn(diags, corpus, 0, source, target, &seen);
    warn_cut(diags, corpus, source, target, &seen);
    if (check_even(diags, source, &seen) && check_refused(diags, corpus, source) &&
        check_usable(diags, corpus, source))
        return corpus;
    corpus_free(corpus);
    return NULL;
}

bool corpus_mix(Diagnostics *diags, Corpus *corpus, double weight, const Lines *source,
                const Lines *target)
{
    assert(corpus->options.kind != CORPUS_STREAM && weight > 0);
    if (!corpus_check_counts(diags, source, target))
        return false;
    int64_t own = corpus->own, first = corpus->n, lines = corpus->lines;
    Seen seen = {0};
    corpus->lines = corpus->empty = corpus->long_ = corpus->refused = 0;
    add_rows(corpus, source, target, &seen);
    corpus->own = own;
    warn(diags, corpus, first, source, target, &seen);
    bool is_read = check_refused(diags, corpus, source);
    corpus->lines += lines;
    if (!check_even(diags, source, &seen) || !is_read)
        return false;
    if (corpus->n == first) {
        diag_error(diags, (Loc){.source = source->source}, "no line of %lld can be used",
                   (long long)source->n);
        return false;
    }
    corpus->parts =
        memory_resized(corpus->parts, sizeof *corpus->parts * ((size_t)corpus->n_parts + 1));
    corpus->parts[corpus->n_parts++] = (CorpusPart){first, corpus->n - first, weight};
    return true;
}

void corpus_free(Corpus *corpus)
{
    if (!corpus)
        return;
    free(corpus->source.start);
    free(corpus->target.start);
    ids_free(&corpus->source.ids);
    ids_free(&corpus->target.ids);
    token_text_free(&corpus->pending);
    free(corpus->refusal);
    free(corpus->line);
    free(corpus->parts);
    free(corpus);
}
