/* Scoring and decoding a validation text for a report. */
#include "inspect/study/study.h"

#include "driver/run/evaluation.h"

#include <math.h>
#include <string.h>

enum { SAMPLES = 6, SHORTEST_LINE = 4 };

/* n of the lines at equal distances; all of them where there are no more. */
static Lines *pick_lines(Arena *arena, const Lines *lines, int64_t n)
{
    Lines *picked = ARENA_ARRAY(arena, Lines, 1);
    n = n < lines->n ? n : lines->n;
    *picked = (Lines){.source = lines->source, .n = n, .at = ARENA_ARRAY(arena, Line, n + 1)};
    for (int64_t i = 0; i < n; i++)
        picked->at[i] = lines->at[i * lines->n / n];
    return picked;
}

/* n of the records at equal distances, if all are texts; else all. */
static CorpusText pick_text(Job *job, const RunFolder *run, const StudyText *text, int64_t n)
{
    CorpusText picked = text->text;
    bool picks = run->kind != CORPUS_STREAM;
    for (int k = 0; k < MOST_VALUES; k++)
        picks = picks && !(picked.values[k] && picked.values[k]->tensor);
    for (int k = 0; picks && k < MOST_VALUES; k++)
        if (picked.values[k])
            picked.values[k] = pick_lines(job->arena, picked.values[k], n);
    return picked;
}

static Corpus *make_corpus(Job *job, RunFolder *run, const CorpusText *text)
{
    if (!text->columns[0] && !run_reads_lines(job, run))
        return NULL;
    CorpusOptions options = evaluation_options(run);
    options.keep_all = options.refuse_long = run->kind != CORPUS_STREAM;
    return corpus_encode(&job->diags, run->vocab, &options, text);
}

/* Study of a corpus: what its tokens get.
 *   wanted, guesses   each target token and the most probable one in its place, ends included */
typedef struct Scored {
    Corpus *corpus;
    double *tokens;
    int32_t *wanted, *guesses;
    int64_t n;
} Scored;

static void fill_wanted(Scored *s)
{
    const Corpus *c = s->corpus;
    if (c->options.kind == CORPUS_STREAM) {
        s->n = (int64_t)c->target.ids.count - 1;
        for (int64_t i = 0; i < s->n; i++)
            s->wanted[i] = c->target.ids.data[i + 1];
        return;
    }
    s->n = score_tokens(c);
    for (int64_t row = 0; row < c->n; row++) {
        int64_t from, n = corpus_predicted(c, row, &from), length = rows_length(&c->target, row);
        const int32_t *ids = c->target.ids.data + c->target.start[row];
        for (int64_t i = 0; i < n; i++)
            s->wanted[score_place(c, row) + i] =
                i + from < length ? ids[i + from] : corpus_target_ends(c).after;
    }
}

static bool score_all(Job *job, RunFolder *run, Scored *s)
{
    int64_t n = score_tokens(s->corpus) + 2;
    s->tokens = ARENA_ARRAY(job->arena, double, n);
    s->wanted = ARENA_ARRAY(job->arena, int32_t, n);
    s->guesses = ARENA_ARRAY(job->arena, int32_t, n);
    for (int64_t i = 0; i < n; i++)
        s->wanted[i] = s->guesses[i] = -1;
    Scores scores;
    int64_t batch = evaluation_batch(run->kind);
    if (!score_corpus(&run->inference.score, s->corpus, batch, s->tokens, s->guesses, &scores))
        return job_no_memory(job);
    fill_wanted(s);
    return true;
}

/* ---- rows ---- */

static double mean_loss(const double *tokens, int64_t n)
{
    double sum = 0;
    for (int64_t i = 0; i < n; i++)
        sum -= tokens[i];
    return sum / (double)n;
}

static const char *copy_line(Arena *arena, const Line *line)
{
    return arena_strndup(arena, line->text, line->length);
}

/* The source of a line or, of a record without one, its first text. */
static const char *source_of(Job *job, const RunFolder *run, const CorpusText *text, int64_t line)
{
    if (text->target)
        return copy_line(job->arena, &text->source->at[line]);
    for (int c = 0; c < run->columns.n; c++)
        if (run->columns.specs[c].kind == COLUMN_TEXT && !text->columns[c]->tensor)
            return copy_line(job->arena, &text->columns[c]->at[line]);
    return "";
}

/* `total`: lines of the text that those of `text` were picked from. */
static int64_t rows_of_corpus(Job *job, RunFolder *run, const Scored *s, const CorpusText *text,
                              int64_t total, const Decoded *decoded, StudyRow *rows)
{
    const Corpus *c = s->corpus;
    const Lines *source = text->source;
    const bool is_reference = text->target || decoded;
    int64_t n = 0;
    for (int64_t row = 0; row < c->n; row++) {
        int64_t from, length = rows_length(&c->target, row), line = c->line[row];
        int64_t predicted = corpus_predicted(c, row, &from);
        if (!length || !predicted)
            continue;
        StudyRow *r = &rows[n++];
        *r = (StudyRow){.line = line * total / source->n,
                        .tokens = length,
                        .loss = mean_loss(s->tokens + score_place(c, row), predicted)};
        const Line *target = &corpus_targets(text)->at[line];
        r->target = is_reference ? inference_reference(&run->inference, target, job->arena)
                                 : copy_line(job->arena, target);
        if (!decoded)
            continue;
        const Hypothesis *best = decoded[row].n ? decoded[row].best : NULL;
        r->source = source_of(job, run, text, line);
        r->output = best ? inference_text(&run->inference, best, job->arena) : "";
        r->exact = !strcmp(r->output, r->target);
    }
    return n;
}

/* Lines of a stream: what stands between two of its ends. */
static int64_t rows_of_stream(Job *job, RunFolder *run, const Scored *s, StudyRow *rows,
                              int64_t most)
{
    const TokenRules *rules = vocab_rules(run->vocab);
    int32_t end = rules->text.newline >= 0 ? rules->text.newline : rules->end;
    int64_t n = 0, line = 0;
    for (int64_t at = 0; at < s->n && n < most; line++) {
        int64_t stop = at;
        while (stop < s->n && s->wanted[stop] != end)
            stop++;
        if (stop - at >= SHORTEST_LINE) {
            Text text = {0};
            vocab_decode(run->vocab, s->wanted + at, (size_t)(stop - at), &text);
            rows[n++] = (StudyRow){.line = line,
                                   .tokens = stop - at,
                                   .loss = mean_loss(s->tokens + at, stop - at),
                                   .target = text_keep(job->arena, &text)};
        }
        at = stop + 1;
    }
    return n;
}

/* ---- the whole ---- */

static void add_samples(Job *job, const RunFolder *run, const StudyRow *rows, int64_t n,
                        RunView *view)
{
    int64_t count = n < SAMPLES ? n : SAMPLES;
    int64_t *step = ARENA_ARRAY(job->arena, int64_t, 1);
    *step = run->state.step;
    for (int64_t i = 0; i < count; i++) {
        const StudyRow *row = &rows[(2 * i + 1) * n / (2 * count)];
        const char **text = ARENA_ARRAY(job->arena, const char *, 1);
        *text = row->output;
        vec_push(job->arena, view->samples,
                 ((RunSample){.line = row->line + 1,
                              .source = row->source,
                              .target = row->target,
                              .steps = step,
                              .texts = text,
                              .n = 1}));
    }
}

static RunTable *add_table(Job *job, RunView *view)
{
    vec_push(job->arena, view->tables, ((RunTable){0}));
    return &view->tables.data[view->tables.count - 1];
}

static void add_tables(Job *job, RunFolder *run, const StudyText *text, const Scored *s,
                       const StudyRow *rows, int64_t n, RunView *view)
{
    BleuTokenize tokenize = inference_tokenize(&run->inference);
    if (inference_answers(&run->inference)) {
        study_by_length(job, rows, n, tokenize, add_table(job, view));
        if (text->train)
            study_by_rarity(job, rows, n, text->train, tokenize, add_table(job, view));
    }
    study_confusions(job, run->vocab, s->wanted, s->guesses, s->n, add_table(job, view));
    study_extremes(job, rows, n, true, add_table(job, view));
    study_extremes(job, rows, n, false, add_table(job, view));
    study_vocabulary(job, run->vocab, s->wanted, s->n, add_table(job, view));
}

static bool decode_all(Job *job, RunFolder *run, const StudyOptions *options, const Corpus *corpus,
                       Decoded **decoded)
{
    DecodeSettings settings = inference_decode_settings(&run->inference);
    settings.beam = (int32_t)options->beam;
    *decoded = ARENA_ARRAY(job->arena, Decoded, corpus->n + 1);
    return inference_decode(&run->inference, corpus, &settings, EVALUATION_SEARCH, job->arena,
                            *decoded) &&
           inference_check_numbers(&run->inference, corpus, *decoded);
}

bool study(Job *job, RunFolder *run, const StudyText *text, const StudyOptions *options,
           RunView *view)
{
    const bool answers = run->kind == CORPUS_PAIRS || run->columns.n;
    if (!ports_predict(&run->inference.ports))
        return job_error(job, "%s: the model gives no probabilities of next tokens", run->path);
    const CorpusText picked = pick_text(job, run, text, options->sentences);
    Scored scored = {.corpus = make_corpus(job, run, &picked)};
    Decoded *decoded = NULL;
    bool ok = scored.corpus && inference_prepare_score(&run->inference, false) &&
              (!answers || inference_prepare_decode_or_note(
                               &run->inference, "the report shows no translations", "")) &&
              run_folder_load(job, run, options->checkpoint) && score_all(job, run, &scored) &&
              (!inference_answers(&run->inference) ||
               decode_all(job, run, options, scored.corpus, &decoded));
    if (ok) {
        int64_t most = run->kind == CORPUS_STREAM ? picked.source->n : scored.corpus->n;
        StudyRow *rows = ARENA_ARRAY(job->arena, StudyRow, most + 1);
        int64_t n =
            run->kind == CORPUS_STREAM
                ? rows_of_stream(job, run, &scored, rows, most)
                : rows_of_corpus(job, run, &scored, &picked, text->text.source->n, decoded, rows);
        if (decoded && !view->samples.count)
            add_samples(job, run, rows, n, view);
        add_tables(job, run, text, &scored, rows, n, view);
    }
    corpus_free(scored.corpus);
    return ok;
}
