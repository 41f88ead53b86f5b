/* Windows of lines, bad lines, and the way out. */
#define _GNU_SOURCE
#include "cli/stream.h"

#include "base/arena.h"
#include "driver/corpus/pair_files.h"
#include "runtime/data/pairing.h"
#include "runtime/exec/trace.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void stream_tell_terminal(Job *job)
{
    if (isatty(STDIN_FILENO))
        diag_remark(
            &job->diags, (Loc){0},
            "waiting for lines on this terminal: Ctrl-D ends them; --input FILE reads a file");
}

/* Opens all files, so that a missing one is an error before the first answer. False after an
 * error. */
static bool open_files(TextStream *stream, const TextList *paths, LineReader ***readers)
{
    Job *job = stream->job;
    *readers = ARENA_ARRAY(job->arena, LineReader *, paths->count + 1);
    int stdins = 0;
    for (size_t i = 0; i < paths->count; i++) {
        stdins += !strcmp(paths->data[i], "-");
        if (stdins > 1)
            return job_error(job,
                             "standard input (-) stands twice among the files, and is read once");
        if (!strcmp(paths->data[i], "-"))
            stream_tell_terminal(job);
        (*readers)[i] = line_reader_open(&job->diags, paths->data[i], stream->options.line_limit);
        if (!(*readers)[i])
            return false;
    }
    return true;
}

static bool open_texts(TextStream *stream, const StreamOptions *options)
{
    const CorpusOptions rows = {.kind = options->kind,
                                .keep_all = true,
                                .refuse_long = true,
                                .same_lengths = options->same_lengths,
                                .max_length = options->max_length};
    stream->corpus = corpus_new(options->vocab, &rows);
    stream->n_files = options->sources ? 1 : options->source.count;
    if (options->sources)
        return true;
    return open_files(stream, &options->source, &stream->source) &&
           (!options->target.count || open_files(stream, &options->target, &stream->target));
}

bool stream_open(TextStream *stream, Job *job, const StreamOptions *options)
{
    *stream = (TextStream){.job = job, .options = *options};
    if (!options->window_lines)
        stream->options.window_lines = WINDOW_LINES;
    stream->row = ARENA_ARRAY(job->arena, int64_t, stream->options.window_lines);
    stream->kept_at = ARENA_ARRAY(job->arena, size_t, stream->options.window_lines);
    if (options->table) {
        const CorpusOptions records = predictor_options(options->predictor);
        stream->corpus = corpus_new(options->predictor->inference->vocab, &records);
    } else if (!open_texts(stream, options))
        return false;
    if (options->output && !options->silent)
        stream->output = file_create(&job->diags, options->output);
    return !options->output || options->silent || stream->output;
}

/* ---- bad lines ---- */

/* Told at once, and in memory that is free again: there may be a million. */
static void tell(const TextStream *s, const char *name, int64_t number, int column,
                 const char *message)
{
    if (s->options.silent)
        return;
    Arena *arena = arena_new();
    Diagnostics diags;
    Text text = {0};
    const Source source = {.path = name};
    diag_init(&diags, arena);
    diag_warning(&diags, (Loc){&source, (int)number, column, 1, NULL}, "%s", message);
    diag_render(&diags, &text);
    fputs(text.data, stderr);
    text_free(&text);
    arena_free(arena);
}

/* Nothing more is read; why is told after the answers to what was. */
static void stop(TextStream *s, const char *name, int64_t line, int column, const char *message)
{
    Arena *arena = s->job->arena;
    Source *source = ARENA_NEW(arena, Source);
    source->path = name;
    s->is_over = true;
    s->failure = arena_strdup(arena, message);
    s->place = (Loc){name ? source : NULL, (int)line, column, 1, NULL};
}

static void bad_line(TextStream *s, const char *name, int64_t number, int column,
                     const char *message)
{
    if (s->options.keep_going) {
        tell(s, name, number, column, message);
        s->row[s->n++] = -1;
    } else
        stop(s, arena_strdup(s->job->arena, name), number, column, message);
}

/* ---- sources ---- */

/* Where the source that was read last stands, for messages. */
static const char *source_name(const TextStream *s)
{
    return s->options.sources ? s->part.source->source->path : line_reader_name(s->source[s->file]);
}

/* The source of the next record. Errors of the table are reported at once, as those of records. */
static LineResult next_record_source(TextStream *s)
{
    if (s->at == s->part_n) {
        s->at = s->part_n = 0;
        s->has_failed = !table_stream_next(s->options.sources, &s->part, &s->part_n);
        if (s->has_failed || !s->part_n)
            return (LineResult){.status = LINE_END};
    }
    const Loc place = lines_place(s->part.source, s->at);
    s->side.length = 0;
    pair_put_side(&s->side, &s->part.source->at[s->at++]);
    return (LineResult){
        .status = LINE_READ, .number = place.line, .line = {s->side.data, s->side.length}};
}

static LineResult next_source(TextStream *s)
{
    return s->options.sources ? next_record_source(s) : line_reader_next(s->source[s->file]);
}

/* ---- windows ---- */

/* One of two texts has ended, the other has not. */
static void stop_uneven(TextStream *s, const LineReader *shorter, int64_t lines,
                        const LineReader *longer)
{
    stop(s, NULL, 0, 0,
         pairing_counts_text(s->job->arena, line_reader_name(shorter), lines,
                             line_reader_name(longer), -1));
}

static void add_row(TextStream *s, const LineResult *source, const LineResult *target)
{
    Arena *scratch = arena_new();
    CorpusRow row =
        corpus_add(s->corpus, s->first + s->n, &source->line, target ? &target->line : NULL);
    const char *unknown = !s->options.tell_unknown
                              ? NULL
                              : vocab_unknown(vocab_source(s->options.vocab), scratch,
                                              source->line.text, source->line.length);
    if (unknown)
        tell(s, source_name(s), source->number, 1,
             arena_printf(scratch, "the model has no token for %s", unknown));
    if (row.is_kept && s->options.keeps_lines) {
        s->kept_at[s->n] = s->kept.length;
        text_put(&s->kept, source->line.text, source->line.length);
        text_put(&s->kept, "", 1);
    }
    if (row.is_kept)
        s->row[s->n++] = s->corpus->n - 1;
    else
        bad_line(s, source_name(s), source->number, 1,
                 row.is_refused ? arena_strdup(scratch, tokenizer_problem())
                 : row.is_uneven
                     ? corpus_uneven_text(scratch, s->corpus, &row)
                     : arena_printf(scratch,
                                    "the line has %lld tokens, the model takes %lld at most",
                                    (long long)row.tokens, (long long)s->options.max_length));
    arena_free(scratch);
}

static void take_line(TextStream *s)
{
    LineReader *readers[] = {s->source ? s->source[s->file] : NULL,
                             s->target ? s->target[s->file] : NULL};
    LineResult results[2] = {{0}};
    int sides = s->target ? 2 : 1;
    for (int i = 0; i < sides; i++) {
        results[i] = i ? line_reader_next(readers[i]) : next_source(s);
        if (results[i].status == LINE_FAILED) {
            stop(s, arena_strdup(s->job->arena, line_reader_name(readers[i])), 0, 0,
                 results[i].message);
            return;
        }
    }
    bool ended = results[0].status == LINE_END;
    if (sides == 2 && ended != (results[1].status == LINE_END)) {
        stop_uneven(s, readers[ended ? 0 : 1], results[ended ? 0 : 1].number,
                    readers[ended ? 1 : 0]);
        return;
    }
    if (ended) {
        s->is_over = ++s->file == s->n_files;
        return;
    }
    for (int i = 0; i < sides; i++)
        if (results[i].status == LINE_BAD) {
            bad_line(s, line_reader_name(readers[i]), results[i].number, results[i].column,
                     results[i].message);
            return;
        }
    add_row(s, &results[0], s->target ? &results[1] : NULL);
}

static bool is_full(const TextStream *s)
{
    const Corpus *corpus = s->corpus;
    size_t tokens = corpus->source.ids.count > corpus->target.ids.count ? corpus->source.ids.count
                                                                        : corpus->target.ids.count;
    return s->n == s->options.window_lines ||
           (s->options.window_tokens && (int64_t)tokens + corpus->n >= s->options.window_tokens);
}

static bool is_ready(const TextStream *s)
{
    if (s->options.sources)
        return s->at < s->part_n;
    return line_reader_ready(s->source[s->file]) &&
           (!s->target || line_reader_ready(s->target[s->file]));
}

/* Goes to the next part of a table; false: there is none, or after an error. The first part stays
 * valid. */
static bool next_part(TextStream *s)
{
    s->at = s->part_n = 0;
    s->has_failed = !table_stream_next(s->options.table, &s->part, &s->part_n);
    if (s->has_failed || !s->part_n)
        return false;
    if (!s->first) {
        s->told_text = s->part;
        table_stream_keep(s->options.table);
    }
    return true;
}

/* The values of the record's predictions; a wrong one is reported by the next window. */
static int64_t take_record(TextStream *s)
{
    Corpus *corpus = s->corpus;
    const int64_t row = corpus->n;
    Diagnostics found;
    diag_init(&found, s->job->arena);
    s->is_wrong = !corpus_add_records(&found, corpus, &s->part, s->at, 1, &s->told);
    if (s->is_wrong)
        return 0;
    const bool has_row = corpus->n > row;
    s->row[s->n] = has_row ? row : -1;
    if (has_row)
        corpus->line[row] = s->first + s->n;
    s->n++;
    s->at++;
    return has_row ? predictor_values(s->options.predictor, corpus, row) : 0;
}

/* Reports what is wrong in the rest of the part. */
static bool stop_at_wrong(TextStream *s)
{
    CorpusTold told = {0};
    corpus_free(
        predictor_corpus(s->options.predictor, s->job, &s->part, s->at, s->part_n - s->at, &told));
    s->has_failed = true;
    return false;
}

/* The next records; false after an error, too. */
static bool next_records(TextStream *s)
{
    const int64_t most = s->options.window_values;
    int64_t values = 0;
    if (!s->is_wrong && s->at == s->part_n && !next_part(s))
        return false;
    const bool had_cut = s->told.cut_sources || s->told.cut_targets;
    while (!s->is_wrong && s->at < s->part_n && s->n < s->options.window_lines &&
           (!most || values < most))
        values += take_record(s);
    if (!s->n)
        return stop_at_wrong(s);
    if (!had_cut && (s->told.cut_sources || s->told.cut_targets)) {
        s->told_text = s->part;
        table_stream_keep(s->options.table);
    }
    return true;
}

Loc stream_record(const TextStream *s, int64_t i)
{
    return lines_place(corpus_lines(&s->part), s->at - s->n + i);
}

const char *stream_line(const TextStream *stream, int64_t i)
{
    return stream->row[i] < 0 ? "" : stream->kept.data + stream->kept_at[i];
}

bool stream_next(TextStream *stream)
{
    int64_t begin = trace_begin();
    stream->first += stream->n;
    stream->n = 0;
    stream->kept.length = 0;
    corpus_clear(stream->corpus);
    if (stream->options.table) {
        const bool any = next_records(stream);
        trace_end("read input", begin);
        return any;
    }
    while (!stream->is_over && !is_full(stream) && (!stream->n || is_ready(stream)))
        take_line(stream);
    corpus_count_unknown(stream->corpus, 0, &stream->unknown);
    trace_end("read input", begin);
    return stream->n > 0;
}

/* ---- the way out ---- */

void put_one_line(Text *out, const char *text)
{
    TokenText line = {0};
    memory_need(token_text_put(&line, text, strlen(text)) && token_text_one_line(&line, 0));
    text_put(out, line.data, line.length);
    token_text_free(&line);
}

int64_t count_replaced(const char *text, size_t length)
{
    int64_t lines = 0;
    const char *end = text + length;
    for (const char *at = text; at && at < end;) {
        const char *found = memmem(at, (size_t)(end - at), "\357\277\275", 3);
        lines += found != NULL;
        at = found ? memchr(found, '\n', (size_t)(end - found)) : NULL;
    }
    return lines;
}

void tell_replaced(Job *job, int64_t answers)
{
    if (answers)
        diag_remark(
            &job->diags, (Loc){0},
            "%lld answer%s U+FFFD: it stands for tokens that make no valid UTF-8 together, and for characters that "
            "the vocabulary lacks",
            (long long)answers, text_plural(answers, " has", "s have"));
}

void stream_put(TextStream *stream, const char *text, size_t length)
{
    if (!stream->options.gives_names)
        stream->replaced += count_replaced(text, length);
    if (stream->output)
        file_write(stream->output, text, length);
    else
        fwrite(text, 1, length, stdout);
}

bool stream_flush(TextStream *stream)
{
    int64_t begin = trace_begin();
    bool ok = stream->output ? file_flush(stream->output) : !fflush(stdout) && !ferror(stdout);
    trace_end("write output", begin);
    stream->answered += stream->n;
    return ok;
}

/* The share of unknown tokens, once everything is answered. */
static void tell_share(const TextStream *stream)
{
    const Source *texts[2] = {0};
    if (stream->options.table) {
        if (stream->first + stream->n)
            predictor_tell(stream->options.predictor, stream->job, &stream->told_text,
                           &stream->told);
        return;
    }
    LineReader **const readers[] = {stream->source, stream->target};
    for (int k = 0; k < 2; k++)
        if (readers[k] && stream->n_files == 1)
            texts[k] = diag_source(stream->job->arena, line_reader_name(readers[k][0]), "", 0);
    corpus_tell_unknown(&stream->job->diags, stream->options.kind, &stream->unknown, texts);
}

bool stream_close(TextStream *stream, bool ok)
{
    Job *job = stream->job;
    ok = ok && !stream->has_failed;
    if (!stream->options.silent && !stream->options.tell_unknown && ok)
        tell_share(stream);
    if (!stream->options.silent)
        tell_replaced(job, stream->replaced);
    if (stream->options.silent) {
        stream->failure = NULL; /* the first rank tells it */
    } else if (stream->failure) {
        diag_error(&job->diags, stream->place, "%s", stream->failure);
        ok = false;
    }
    if (stream->failure && stream->place.line)
        diag_note(&job->diags, (Loc){0}, "--keep-going passes over such lines");
    if (stream->output && !ok && !stream->answered)
        file_discard(stream->output);
    else if (stream->output && !file_commit(stream->output, &job->diags))
        ok = false;
    else if (stream->output && !ok)
        diag_note(&job->diags, (Loc){0}, "%s has the %lld line%s before that",
                  stream->options.output, (long long)stream->answered,
                  text_plural(stream->answered, "", "s"));
    corpus_free(stream->corpus);
    text_free(&stream->kept);
    table_stream_close(stream->options.table);
    table_stream_close(stream->options.sources);
    text_free(&stream->side);
    for (size_t i = 0; i < stream->n_files; i++) {
        line_reader_close(stream->source ? stream->source[i] : NULL);
        line_reader_close(stream->target ? stream->target[i] : NULL);
    }
    return ok;
}
