/* Whole texts to a corpus, with messages of what was left out, cut or is wrong. */
#include "runtime/data/corpus_rows.h"

#include "runtime/data/pairing.h"

#include <assert.h>

/* Where the first line of each sort was, for messages. */
typedef struct Seen {
    int64_t first_empty, first_long, first_source, first_target, first_uneven;
    CorpusRow uneven; /* that line's row; is_uneven false: there is none */
    int64_t wrong;    /* rows with a wrong cell */
} Seen;

const Lines *corpus_lines(const CorpusText *text)
{
    const Lines *lines = NULL;
    for (int k = 0; !lines && k < MOST_VALUES; k++)
        lines = text->values[k];
    return lines;
}

enum { MOST_WRONG = 5 }; /* wrong cells that are reported */

static void tell_wrong(Diagnostics *diags, const Corpus *corpus, const Lines *cells, int64_t line,
                       Seen *seen)
{
    if (seen->wrong++ >= MOST_WRONG)
        return;
    if (cells->tensor)
        diag_error(diags, (Loc){.source = cells->source}, "tensor '%s', row %lld: %s",
                   cells->tensor->name, (long long)line, corpus->fault.text);
    else
        diag_error(diags, lines_place_within(cells, line, corpus->fault.at), "%s",
                   corpus->fault.text);
}

static Cell cell_of(const Lines *column, int64_t i)
{
    return column->tensor ? (Cell){.tensor = column->tensor, .row = i}
                          : (Cell){.text = column->at[i]};
}

/* n lines from `first` on. */
static void add_rows(Diagnostics *diags, Corpus *corpus, const CorpusText *text, int64_t first,
                     int64_t n, Seen *seen)
{
    Cell cells[MOST_COLUMNS];
    const Lines *source = text->source, *target = text->target;
    for (int64_t i = first; i < first + n; i++) {
        for (int c = 0; c < corpus->options.n_columns; c++)
            cells[c] = cell_of(text->columns[c], i);
        CorpusRow row = corpus_add_record(corpus, i, source ? &source->at[i] : NULL,
                                          target ? &target->at[i] : NULL, cells);
        if (row.wrong_column >= 0)
            tell_wrong(diags, corpus, text->columns[row.wrong_column], i, seen);
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

/* Of values[k], a text, without the special tokens around the rows of a column. */
static void count_text(const Corpus *corpus, int k, int64_t first, UnknownCount *count)
{
    const CorpusOptions *o = &corpus->options;
    const Rows *rows = &corpus->values[k];
    const int32_t unk = vocab_rules(corpus_vocab(o, corpus->vocab, k))->unk;
    const TextFrame frame = k < FIRST_COLUMN
                                ? TEXT_UNFRAMED
                                : column_frame(&o->columns[k - FIRST_COLUMN], corpus->vocab);
    const int64_t before = frame.begin >= 0;
    for (int64_t i = first; i < rows->n; i++) {
        const int64_t n = rows_length(rows, i) - text_frame_size(&frame);
        if (n > 0)
            unknown_add(count, rows->ids.data + rows->start[i] + before, (size_t)n, unk);
    }
}

void corpus_count_unknown(const Corpus *corpus, int64_t first, SidesUnknown *sides)
{
    for (int k = 0; k < corpus_values(&corpus->options); k++)
        if (corpus_is_text(&corpus->options, k))
            count_text(corpus, k, first, k == SIDE_TARGET ? &sides->target : &sides->source);
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
        diag_remark(diags, (Loc){.source = texts[pairs ? k : 0]},
                    "%s; tfc data --vocab lists what it lacks", note);
    }
}

static const char *are(int64_t n) { return text_plural(n, "is", "are"); }

/* What was kept and is longer than the model takes. */
static void warn_cut(Diagnostics *diags, const CorpusOptions *options, const CorpusText *text,
                     const CorpusTold *told)
{
    const Lines *source = corpus_lines(text), *target = text->target;
    const char *what = options->kind == CORPUS_PAIRS ? "source" : "line",
               *s = text_plural(told->lines, "", "s");
    long long lines = told->lines, limit = corpus_limit(options);
    if (told->cut_sources)
        diag_warning(diags, (Loc){.source = source->source},
                     "%lld of %lld %s%s %s longer than %lld tokens and cut (the first on %s)",
                     (long long)told->cut_sources, lines, what, s, are(told->cut_sources), limit,
                     lines_where(diags->arena, source, told->first_source));
    if (told->cut_targets)
        diag_warning(
            diags, (Loc){.source = (target ? target : source)->source},
            "%lld of %lld %s%s %s longer than %lld tokens: the loss is over the first %lld of each "
            "(the first on %s)",
            (long long)told->cut_targets, lines, target ? "target" : what, s,
            are(told->cut_targets), limit, limit,
            lines_where(diags->arena, target ? target : source, told->first_target));
}

static void tell_unknown(Diagnostics *diags, CorpusKind kind, const CorpusText *all,
                         const SidesUnknown *sides)
{
    const Source *const texts[] = {corpus_lines(all)->source,
                                   all->target ? all->target->source : NULL};
    corpus_tell_unknown(diags, kind, sides, texts);
}

/* Adds the counts of the rows that a corpus has more than `before`. */
static void add_told(const Corpus *corpus, const Corpus *before, const Seen *seen, CorpusTold *told)
{
    if (!told->cut_sources)
        told->first_source = seen->first_source;
    if (!told->cut_targets)
        told->first_target = seen->first_target;
    told->lines += corpus->lines - before->lines;
    told->cut_sources += corpus->cut_sources - before->cut_sources;
    told->cut_targets += corpus->cut_targets - before->cut_targets;
    corpus_count_unknown(corpus, before->n, &told->unknown);
}

void corpus_tell(Diagnostics *diags, const CorpusOptions *options, const CorpusText *text,
                 const CorpusTold *told)
{
    tell_unknown(diags, options->kind, text, &told->unknown);
    warn_cut(diags, options, text, told);
}

/* What is left out. */
static void warn(Diagnostics *diags, const Corpus *corpus, const Lines *text, const Seen *seen)
{
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
            (long long)corpus_limit(&corpus->options), are(corpus->long_),
            lines_where(diags->arena, text, seen->first_long));
}

const char *corpus_uneven_text(Arena *arena, const Corpus *corpus, const CorpusRow *row)
{
    if (row->uneven_column < 0)
        return arena_printf(
            arena,
            "the source has %lld tokens and the target %lld, but the model's source and "
            "target share a ragged dimension: give sides of the same length",
            (long long)row->source, (long long)row->target);
    const ColumnSpec *spec = &corpus->options.columns[row->uneven_column];
    const SideFormula *made =
        corpus->options.formulas ? &corpus->options.formulas[spec->side] : NULL;
    if (made && made->formula.n)
        return arena_printf(arena,
                            "`%s` has %lld positions, but its dimension %s, which is made of "
                            "others, has %lld here",
                            spec->input, (long long)row->uneven_length, made->dim,
                            (long long)row->side_length);
    return arena_printf(
        arena, "`%s` has %lld positions and %s %lld, but they share a dimension: give both as many",
        spec->input, (long long)row->uneven_length, corpus_side_name(corpus, arena, spec->side),
        (long long)row->side_length);
}

static bool check_even(Diagnostics *diags, const Corpus *corpus, const CorpusText *text,
                       const Seen *seen)
{
    const int column = seen->uneven.uneven_column;
    if (!seen->uneven.is_uneven)
        return true;
    diag_error(diags,
               lines_place(column < 0 ? text->source : text->columns[column], seen->first_uneven),
               "%s", corpus_uneven_text(diags->arena, corpus, &seen->uneven));
    return false;
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

/* Wrong cells have been told, the first of them. */
static bool check_cells(Diagnostics *diags, const Seen *seen)
{
    if (seen->wrong > MOST_WRONG)
        diag_note(diags, (Loc){0}, "%lld records in all have such a cell", (long long)seen->wrong);
    return !seen->wrong;
}

static bool refuse_line(Diagnostics *diags, const Corpus *corpus, Loc place)
{
    diag_error(diags, place, "%s: shorten the line", corpus->refusal);
    return false;
}

/* What the tokenizer refuses is left out of a training, with a warning; otherwise, and in a stream,
 * it is an error. */
static bool check_refused(Diagnostics *diags, const Corpus *corpus, const Lines *source)
{
    if (!corpus->refused)
        return true;
    Loc place = lines_place(source, corpus->refused_line);
    if (corpus->options.keep_all || corpus->options.kind == CORPUS_STREAM)
        return refuse_line(diags, corpus, place);
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

/* told NULL: it is told now. */
static Corpus *encode_part(Diagnostics *diags, const Vocabulary *vocab,
                           const CorpusOptions *options, const CorpusText *text, int64_t first,
                           int64_t n, CorpusTold *told)
{
    const Lines *source = corpus_lines(text);
    assert((options->kind == CORPUS_PAIRS) == (text->target != NULL));
    if (!corpus_check_counts(diags, source, text->target))
        return NULL;
    Corpus *corpus = corpus_new(vocab, options);
    Seen seen = {0};
    if (options->kind == CORPUS_STREAM) {
        for (int64_t i = first; i < first + n; i++)
            corpus_add_stream(corpus, &source->at[i]);
        corpus_close_stream(corpus, true);
    } else {
        corpus_reserve(corpus, n);
        add_rows(diags, corpus, text, first, n, &seen);
    }
    CorpusTold all = {0};
    add_told(corpus, &(Corpus){0}, &seen, told ? told : &all);
    if (!told) {
        tell_unknown(diags, options->kind, text, &all.unknown);
        warn(diags, corpus, source, &seen);
        warn_cut(diags, options, text, &all);
    }
    if (check_cells(diags, &seen) && check_even(diags, corpus, text, &seen) &&
        check_refused(diags, corpus, source) && check_usable(diags, corpus, source))
        return corpus;
    corpus_free(corpus);
    return NULL;
}

Corpus *corpus_encode(Diagnostics *diags, const Vocabulary *vocab, const CorpusOptions *options,
                      const CorpusText *text)
{
    return encode_part(diags, vocab, options, text, 0, corpus_lines(text)->n, NULL);
}

Corpus *corpus_encode_part(Diagnostics *diags, const Vocabulary *vocab,
                           const CorpusOptions *options, const CorpusText *text, int64_t first,
                           int64_t n, CorpusTold *told)
{
    assert(options->keep_all && told);
    return encode_part(diags, vocab, options, text, first, n, told);
}

bool corpus_add_records(Diagnostics *diags, Corpus *corpus, const CorpusText *text, int64_t first,
                        int64_t n, CorpusTold *told)
{
    Seen seen = {0};
    const Corpus before = *corpus;
    add_rows(diags, corpus, text, first, n, &seen);
    if (told)
        add_told(corpus, &before, &seen, told);
    return check_cells(diags, &seen) && check_even(diags, corpus, text, &seen) &&
           (!corpus->refused ||
            refuse_line(diags, corpus, lines_place(corpus_lines(text), corpus->refused_line)));
}

bool corpus_mix(Diagnostics *diags, Corpus *corpus, double weight, const CorpusText *text)
{
    const Lines *source = corpus_lines(text);
    assert(corpus->options.kind != CORPUS_STREAM && weight > 0);
    if (!corpus_check_counts(diags, source, text->target))
        return false;
    int64_t own = corpus->own, first = corpus->n, lines = corpus->lines;
    Seen seen = {0};
    corpus->lines = corpus->empty = corpus->long_ = corpus->refused = 0;
    add_rows(diags, corpus, text, 0, source->n, &seen);
    corpus->own = own;
    SidesUnknown sides = {0};
    corpus_count_unknown(corpus, first, &sides);
    tell_unknown(diags, corpus->options.kind, text, &sides);
    warn(diags, corpus, source, &seen);
    bool is_read = check_refused(diags, corpus, source);
    corpus->lines += lines;
    if (!check_cells(diags, &seen) || !check_even(diags, corpus, text, &seen) || !is_read)
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
