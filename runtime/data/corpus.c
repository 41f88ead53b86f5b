/* Encoding text into rows of ids, leaving out or cutting what does not fit. */
#include "runtime/data/corpus.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

static void *allocate(size_t size)
{
    void *memory = calloc(1, size ? size : 1);
    if (!memory) {
        fputs("tfc: out of memory\n", stderr);
        abort();
    }
    return memory;
}

static bool has_source(CorpusKind kind) { return kind <= CORPUS_SENTENCES; }
static bool has_target(CorpusKind kind)
{
    return kind != CORPUS_SOURCES && kind != CORPUS_SENTENCES;
}

/* How many special tokens a batch adds to a row of the side. */
static int64_t source_specials(CorpusKind kind) { return kind == CORPUS_SENTENCES ? 2 : 1; }

int64_t corpus_source_length(const Corpus *corpus, int64_t i)
{
    CorpusKind kind = corpus->options.kind;
    return has_source(kind) ? rows_length(&corpus->source, i) + source_specials(kind) : 0;
}

int64_t corpus_target_length(const Corpus *corpus, int64_t i)
{
    return has_target(corpus->options.kind) ? rows_length(&corpus->target, i) + 1 : 0;
}

static void close_row(Rows *rows) { rows->start[++rows->n] = (int64_t)rows->ids.count; }

static void take_back_row(Rows *rows) { rows->ids.count = (size_t)rows->start[--rows->n]; }

/* Cuts the last row to so many ids. */
static void cut_row(Rows *rows, int64_t keep)
{
    if (rows_length(rows, rows->n - 1) > keep) {
        rows->ids.count = (size_t)(rows->start[rows->n - 1] + keep);
        rows->start[rows->n] = (int64_t)rows->ids.count;
    }
}

/* ---- rows ---- */

/* Where the first line of each sort was, for the warnings. */
typedef struct Seen {
    int64_t first_empty, first_long;
} Seen;

/* Decides about the row just added; false takes it back. */
static bool keep_row(Corpus *corpus, int64_t line, Seen *seen)
{
    CorpusKind kind = corpus->options.kind;
    int64_t limit = corpus->options.max_length, last = corpus->n;
    bool empty = (has_source(kind) && rows_length(&corpus->source, last) == 0) ||
                 (has_target(kind) && rows_length(&corpus->target, last) == 0);
    bool too_long = limit > 0 && (corpus_source_length(corpus, last) > limit ||
                                  corpus_target_length(corpus, last) > limit);
    if (empty && corpus->empty++ == 0)
        seen->first_empty = line;
    if (too_long && corpus->long_++ == 0)
        seen->first_long = line;
    if (!corpus->options.keep_all)
        return !empty && !too_long;
    if (too_long && has_source(kind))
        cut_row(&corpus->source, limit - source_specials(kind));
    if (too_long && has_target(kind))
        cut_row(&corpus->target, limit - 1);
    return true;
}

static void add_side(Corpus *corpus, Rows *rows, const Line *line)
{
    vocab_encode(corpus->vocab, line->text, line->length, &rows->ids);
    close_row(rows);
}

static void add_rows(Corpus *corpus, const Lines *source, const Lines *target, Seen *seen)
{
    CorpusKind kind = corpus->options.kind;
    const Lines *target_text = kind == CORPUS_PAIRS ? target : source;
    for (int64_t i = 0; i < source->n; i++) {
        if (has_source(kind))
            add_side(corpus, &corpus->source, &source->at[i]);
        if (has_target(kind))
            add_side(corpus, &corpus->target, &target_text->at[i]);
        if (keep_row(corpus, i, seen)) {
            corpus->line[corpus->n++] = i;
            continue;
        }
        if (has_source(kind))
            take_back_row(&corpus->source);
        if (has_target(kind))
            take_back_row(&corpus->target);
    }
}

static void add_stream(Corpus *corpus, const Lines *text)
{
    bool characters = vocab_is_characters(corpus->vocab);
    for (int64_t i = 0; i < text->n; i++) {
        vocab_encode(corpus->vocab, text->at[i].text, text->at[i].length, &corpus->target.ids);
        if (characters)
            vocab_encode(corpus->vocab, "\n", 1, &corpus->target.ids);
        else
            ids_push(&corpus->target.ids, vocab_eos(corpus->vocab));
    }
    close_row(&corpus->target);
    corpus->n = 1;
}

/* ---- messages ---- */

static void warn(Diagnostics *diags, const Corpus *corpus, const Lines *text, const Seen *seen)
{
    bool keep = corpus->options.keep_all;
    const char *what = corpus->options.kind == CORPUS_PAIRS ? "sentence pairs" : "lines";
    if (corpus->empty && !keep)
        diag_warning(diags, (Loc){.source = text->source},
                     "%lld of %lld %s have an empty side and are left out (the first on line %lld)",
                     (long long)corpus->empty, (long long)corpus->lines, what,
                     (long long)seen->first_empty + 1);
    if (corpus->long_)
        diag_warning(
            diags, (Loc){.source = text->source},
            "%lld of %lld %s are longer than %lld tokens and are %s (the first on line %lld)",
            (long long)corpus->long_, (long long)corpus->lines, what,
            (long long)corpus->options.max_length, keep ? "cut" : "left out",
            (long long)seen->first_long + 1);
}

static bool check_counts(Diagnostics *diags, const Lines *source, const Lines *target)
{
    if (!target || source->n == target->n)
        return true;
    diag_error(diags, (Loc){0}, "source and target differ: %s has %lld lines, %s has %lld",
               source->source->path, (long long)source->n, target->source->path,
               (long long)target->n);
    return false;
}

static bool check_usable(Diagnostics *diags, const Corpus *corpus, const Lines *text)
{
    Loc loc = {.source = text->source};
    bool stream = corpus->options.kind == CORPUS_STREAM;
    if (stream && corpus->target.ids.count < 2)
        diag_error(diags, loc, "the text is too short: it has %zu tokens",
                   corpus->target.ids.count);
    else if (!stream && corpus->n == 0 && !corpus->options.keep_all)
        diag_error(diags, loc, "no line of %lld can be used", (long long)corpus->lines);
    else
        return true;
    return false;
}

/* ---- interface ---- */

Corpus *corpus_encode(Diagnostics *diags, const Vocabulary *vocab, const CorpusOptions *options,
                      const Lines *source, const Lines *target)
{
    assert((options->kind == CORPUS_PAIRS) == (target != NULL));
    if (!check_counts(diags, source, target))
        return NULL;
    Corpus *corpus = allocate(sizeof *corpus);
    corpus->options = *options;
    corpus->vocab = vocab;
    corpus->lines = source->n;
    size_t rows = (size_t)source->n + 2;
    corpus->source.start = allocate(rows * sizeof(int64_t));
    corpus->target.start = allocate(rows * sizeof(int64_t));
    corpus->line = allocate(rows * sizeof(int64_t));
    Seen seen = {0};
    if (options->kind == CORPUS_STREAM)
        add_stream(corpus, source);
    else
        add_rows(corpus, source, target, &seen);
    warn(diags, corpus, source, &seen);
    if (check_usable(diags, corpus, source))
        return corpus;
    corpus_free(corpus);
    return NULL;
}

Corpus *corpus_read(Diagnostics *diags, const Vocabulary *vocab, const CorpusOptions *options,
                    const char *source_path, const char *target_path)
{
    Arena *scratch = arena_new();
    const Lines *source = lines_read(diags, scratch, source_path);
    const Lines *target = target_path ? lines_read(diags, scratch, target_path) : NULL;
    Corpus *corpus = NULL;
    if (source && (target || !target_path))
        corpus = corpus_encode(diags, vocab, options, source, target);
    arena_free(scratch);
    return corpus;
}

void corpus_free(Corpus *corpus)
{
    if (!corpus)
        return;
    free(corpus->source.start);
    free(corpus->target.start);
    ids_free(&corpus->source.ids);
    ids_free(&corpus->target.ids);
    free(corpus->line);
    free(corpus);
}
