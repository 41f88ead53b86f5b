/* Making the vocabulary of prepared data from a sample of its texts. */
#define _GNU_SOURCE
#include "driver/corpus/prepare_texts.h"

#include "driver/corpus/prepare_report.h"
#include "driver/corpus/prepare_tables.h"

#include <inttypes.h>
#include <string.h>

/* SampleText: lines or cells, which stand one after another in `text`. */
typedef struct SampleText {
    Text text;
    VEC(size_t) lengths;
} SampleText;

/* Sample: of sources, of targets, and of columns that are text.
 *   lines, of   how many lines or records the sample has; of how many */
typedef struct Sample {
    SampleText sides[2], columns[MOST_COLUMNS];
    int64_t lines, of;
} Sample;

static void put_text(Job *job, SampleText *sample, const Line *line)
{
    text_put(&sample->text, line->text, line->length);
    vec_push(job->arena, sample->lengths, line->length);
}

/* Bytes of all texts. */
static int64_t sample_bytes(const Sample *sample)
{
    size_t bytes = sample->sides[0].text.length + sample->sides[1].text.length;
    for (int c = 0; c < MOST_COLUMNS; c++)
        bytes += sample->columns[c].text.length;
    return (int64_t)bytes;
}

/* What a part may give: its share of the sample. */
typedef struct SampleShare {
    int64_t lines, bytes; /* left; bytes: of the whole sample then */
} SampleShare;

static bool sample_lines(Job *job, const PrepareOptions *o, const TextPart *part,
                         const SampleShare *share, Sample *sample)
{
    const TextCut beginning = {0};
    bool pairs = part->n == 2 || part->has_columns;
    PairReader reader;
    bool ok = pair_reader_open(&job->diags, part, &beginning, o->line_limit, &reader);
    for (int64_t i = 0; ok && i < part->text[0].lines && i < share->lines; i++) {
        Line sides[2];
        ok = pair_reader_next(&job->diags, &reader, sides);
        if (!ok || sample_bytes(sample) > share->bytes)
            break;
        put_text(job, &sample->sides[0], &sides[0]);
        if (pairs)
            put_text(job, &sample->sides[1], &sides[1]);
        sample->lines++;
    }
    pair_reader_close(&reader);
    return ok;
}

static void sample_record(Job *job, const PrepareOptions *o, const CorpusText *text, int64_t i,
                          Sample *sample)
{
    const DataColumns *columns = &o->table->columns;
    if (text->source)
        put_text(job, &sample->sides[0], &text->source->at[i]);
    if (text->target)
        put_text(job, &sample->sides[1], &text->target->at[i]);
    for (int c = 0; c < columns->n; c++)
        if (column_is_shared_text(columns, c) && !text->columns[c]->tensor)
            put_text(job, &sample->columns[c], &text->columns[c]->at[i]);
    sample->lines++;
}

static bool sample_records(Job *job, const PrepareOptions *o, const TextPart *part,
                           const SampleShare *share, Sample *sample)
{
    int64_t left = share->lines;
    for (int64_t k = 0; k < part->n_cuts && left > 0 && sample_bytes(sample) <= share->bytes; k++) {
        CorpusText text;
        int64_t first;
        PrepareReport report;
        prepare_report_begin(&report);
        const bool ok =
            table_part_read(&report.diags, report.arena, o, part, &part->cuts[k], &text, &first);
        for (int64_t i = 0; ok && i < part->cuts[k].lines && left > 0; i++, left--) {
            if (sample_bytes(sample) > share->bytes)
                break;
            sample_record(job, o, &text, first + i, sample);
        }
        if (!prepare_reports_tell(job, &report, 1, sizeof report))
            return false;
    }
    return true;
}

/* As they were put: a column may end with CR, or begin with a byte order mark, which belong to a
 * file's line. */
static const Lines *lines_of(Job *job, const SampleText *sample)
{
    Lines *lines = ARENA_NEW(job->arena, Lines);
    const char *at = sample->text.data ? sample->text.data : "";
    lines->source = diag_source(job->arena, "the sample of the texts", "", 0);
    lines->at = ARENA_ARRAY(job->arena, Line, sample->lengths.count + 1);
    for (; lines->n < (int64_t)sample->lengths.count; at += lines->at[lines->n++].length)
        lines->at[lines->n] = (Line){at, sample->lengths.data[lines->n]};
    return lines;
}

/* The columns that are text of the sources, or of the others. */
static int list_columns(Job *job, const PrepareOptions *o, const Sample *sample, bool source,
                        const Lines **texts, int n)
{
    for (int c = 0; o->table && c < o->table->columns.n; c++)
        if (sample->columns[c].lengths.count && o->table->columns.specs[c].is_source == source)
            texts[n++] = lines_of(job, &sample->columns[c]);
    return n;
}

static Vocabulary *make_from_lines(Job *job, const PrepareOptions *o,
                                   const VocabularyChoice *choice, const Sample *sample)
{
    const Lines *texts[MOST_COLUMNS + 2];
    const bool pairs = sample->sides[1].lengths.count > 0;
    int n = 0;
    if (sample->sides[0].lengths.count)
        texts[n++] = lines_of(job, &sample->sides[0]);
    const int n_source = n = list_columns(job, o, sample, true, texts, n);
    if (pairs)
        texts[n++] = lines_of(job, &sample->sides[1]);
    n = list_columns(job, o, sample, false, texts, n);
    vocabulary_note(job, choice, pairs,
                    sample->lines < sample->of
                        ? arena_printf(job->arena, " from the first %" PRId64 " of %" PRId64 " %s",
                                       sample->lines, sample->of, o->table ? "records" : "lines")
                        : "");
    job_show(job);
    const bool hides = o->table && columns_hide(&o->table->columns);
    const VocabularyTexts all = {texts, n, n_source, pairs, hides};
    return vocabulary_make(job, choice, &all);
}

static Vocabulary *make_from_sample(Job *job, const PrepareOptions *o,
                                    const VocabularyChoice *choice, const TextParts *parts)
{
    Sample sample = {0};
    bool ok = true;
    for (int i = 0; ok && i < parts->n; i++) {
        const TextPart *part = &parts->data[i];
        const SampleShare share = {PREPARE_SAMPLE_LINES / parts->n,
                                   sample_bytes(&sample) + PREPARE_SAMPLE_BYTES / parts->n};
        ok = (part->table ? sample_records : sample_lines)(job, o, part, &share, &sample);
        sample.of += part->text[0].lines;
    }
    Vocabulary *vocab = ok ? make_from_lines(job, o, choice, &sample) : NULL;
    for (int k = 0; k < 2; k++)
        text_free(&sample.sides[k].text);
    for (int c = 0; c < MOST_COLUMNS; c++)
        text_free(&sample.columns[c].text);
    return vocab;
}

Vocabulary *prepare_vocabulary(Job *job, const PrepareOptions *o, const TextParts *parts,
                               TextList *tokens)
{
    VocabularyChoice choice = o->vocab;
    if (!choice.spec) /* no column is text */
        return vocab_empty(&job->diags, job->arena);
    if (!vocabulary_take_rules(job, &choice))
        return NULL;
    *tokens = choice.tokens;
    return vocabulary_needs_text(&choice) ? make_from_sample(job, o, &choice, parts)
                                          : vocabulary_make(job, &choice, NULL);
}

bool prepare_vocabulary_save(Job *job, const PrepareOptions *o, const Vocabulary *vocab,
                             const TextList *tokens)
{
    const VocabularyChoice saved = {.spec = o->folder, .tokens = *tokens};
    if (!vocab_save(vocab, &job->diags, o->folder))
        return false;
    const Vocabulary *again = vocabulary_make(job, &saved, NULL);
    return again &&
           (vocab_hash(again) == vocab_hash(vocab) ||
            job_error(job,
                      "%s has files of another vocabulary: remove them, or take another folder",
                      o->folder)); /* which of them is meant cannot be known */
}
