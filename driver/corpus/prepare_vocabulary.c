/* Making the vocabulary of prepared data from a sample of its texts. */
#define _GNU_SOURCE
#include "driver/corpus/prepare_vocabulary.h"

#include <inttypes.h>
#include <string.h>

/* Sample: lines of both sides, or of the one. */
typedef struct Sample {
    Text sides[2];
    int64_t lines, of;
} Sample;

static void put_line(Text *out, const Line *line)
{
    text_put(out, line->text, line->length);
    text_put(out, "\n", 1);
}

/* The beginning of a part: as many lines as its share of the sample has. */
static bool sample_part(Job *job, const PrepareOptions *o, const TextPart *part, int n_parts,
                        Sample *sample)
{
    const TextCut beginning = {0};
    const int64_t lines = PREPARE_SAMPLE_LINES / n_parts, bytes = PREPARE_SAMPLE_BYTES / n_parts;
    size_t before = sample->sides[0].length + sample->sides[1].length;
    bool pairs = part->n == 2 || part->has_columns;
    PairReader reader;
    bool ok = pair_reader_open(&job->diags, part, &beginning, o->line_limit, &reader);
    for (int64_t i = 0; ok && i < part->text[0].lines && i < lines; i++) {
        Line sides[2];
        ok = pair_reader_next(&job->diags, &reader, sides);
        size_t length = sample->sides[0].length + sample->sides[1].length - before;
        if (!ok || (int64_t)length > bytes)
            break;
        put_line(&sample->sides[0], &sides[0]);
        if (pairs)
            put_line(&sample->sides[1], &sides[1]);
        sample->lines++;
    }
    sample->of += part->text[0].lines;
    pair_reader_close(&reader);
    return ok;
}

/* As they were put: a column may end with CR, or begin with a byte order mark, which belong to a
 * file's line. */
static const Lines *lines_of(Job *job, const Sample *sample, const Text *text)
{
    Lines *lines = ARENA_NEW(job->arena, Lines);
    lines->source = diag_source(job->arena, "the sample of the texts", "", 0);
    lines->at = ARENA_ARRAY(job->arena, Line, sample->lines + 1);
    for (const char *at = text->data; lines->n < sample->lines;
         at += lines->at[lines->n++].length + 1)
        lines->at[lines->n] = (Line){at, (size_t)((const char *)rawmemchr(at, '\n') - at)};
    return lines;
}

static Vocabulary *make_from_sample(Job *job, const PrepareOptions *o,
                                    const VocabularyChoice *choice, const TextParts *parts)
{
    Sample sample = {0};
    bool ok = true;
    for (int i = 0; ok && i < parts->n; i++)
        ok = sample_part(job, o, &parts->data[i], parts->n, &sample);
    const Lines *source = ok ? lines_of(job, &sample, &sample.sides[0]) : NULL;
    const Lines *target =
        ok && sample.sides[1].data ? lines_of(job, &sample, &sample.sides[1]) : NULL;
    if (ok)
        vocabulary_note(job, choice, target != NULL,
                        sample.lines < sample.of
                            ? arena_printf(job->arena,
                                           " from the first %" PRId64 " of %" PRId64 " lines",
                                           sample.lines, sample.of)
                            : "");
    job_show(job);
    const Lines *texts[] = {source, target};
    const VocabularyTexts from = {
        .texts = texts, .n = target ? 2 : 1, .n_source = 1, .pairs = target != NULL};
    Vocabulary *vocab = source ? vocabulary_make(job, choice, &from) : NULL;
    text_free(&sample.sides[0]);
    text_free(&sample.sides[1]);
    return vocab;
}

/* A run's vocabulary has the run's rules, and those given beside them. */
static bool add_rules(Job *job, VocabularyChoice *choice)
{
    RunRecord record;
    if (!is_run_folder(choice->spec))
        return true;
    if (!run_record_read(job, choice->spec, &record))
        return false;
    TextList tokens = record.tokens;
    for (size_t i = 0; i < choice->tokens.count; i++)
        vec_push(job->arena, tokens, choice->tokens.data[i]);
    choice->tokens = tokens;
    return true;
}

Vocabulary *prepare_vocabulary(Job *job, const PrepareOptions *o, const TextParts *parts,
                               TextList *tokens)
{
    VocabularyChoice choice = o->vocab;
    if (!add_rules(job, &choice))
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
