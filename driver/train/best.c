/* By which measure, and of which validation text, the best checkpoint of a run is chosen; what was
 * logged is judged anew where a resumed run has another. */
#include "driver/train/best.h"

#include "base/file.h"
#include "base/map.h"
#include "base/median.h"
#include "runtime/train/runlog.h"

#include <inttypes.h>
#include <string.h>

#define FACT "best by" /* in run.json: TrainBest.by */

/* BLEU counts runs of this many words: of shorter texts it says little. */
enum { LEAST_WORDS = BLEU_ORDER };

/* ---- the option ---- */

static bool is_text(const TrainOptions *o, const char *name)
{
    size_t length = strlen(name);
    for (size_t i = 0; i < o->valid.count; i++)
        if (!strncmp(o->valid.data[i], name, length) && o->valid.data[i][length] == '=')
            return true;
    return !strcmp(name, TRAIN_MEAN);
}

BestOption training_best_option(Arena *arena, const TrainOptions *o)
{
    const char *best = o->best, *colon = best ? strrchr(best, ':') : NULL;
    if (!best || is_text(o, best)) /* of older runs a text may have the name of a measure */
        return (BestOption){.text = best};
    const TrainMeasure *whole = train_measure_find(best),
                       *behind = colon ? train_measure_find(colon + 1) : NULL;
    if (whole || !behind)
        return (BestOption){.text = whole ? NULL : best, .measure = whole};
    return (BestOption){arena_strndup(arena, best, (size_t)(colon - best)), behind};
}

/* "loss, bleu, …". */
static const char *measure_names(Arena *arena)
{
    const char *names = "";
    for (int i = 0; i < TRAIN_MEASURES; i++)
        names = arena_printf(arena, "%s%s%s", names, i ? ", " : "", train_measures[i].name);
    return names;
}

const char *training_best_mistake(Arena *arena, const TrainOptions *o)
{
    const char *text = training_best_option(arena, o).text;
    if (!text || is_text(o, text))
        return NULL;
    const char **names = ARENA_ARRAY(arena, const char *, o->valid.count + TRAIN_MEASURES);
    size_t n = 0;
    for (size_t i = 0; i < o->valid.count; i++)
        names[n++] = arena_strndup(arena, o->valid.data[i], strcspn(o->valid.data[i], "="));
    for (int i = 0; i < TRAIN_MEASURES; i++)
        names[n++] = train_measures[i].name;
    return arena_printf(arena, "--best %s: '%s' is no measure (%s), and no --valid has this name%s",
                        o->best, text, measure_names(arena),
                        text_suggest(arena, "'", text, names, n));
}

bool training_read_best(Training *t)
{
    BestOption *best = &t->best;
    *best = training_best_option(t->job->arena, t->options);
    t->best_text = -1;
    for (int i = 0; i < t->n_valid; i++)
        if (best->text ? t->valid[i].name && !strcmp(t->valid[i].name, best->text)
                       : !t->valid[i].name)
            t->best_text = i;
    const char *mistake =
        t->best_text < 0 ? training_best_mistake(t->job->arena, t->options) : NULL;
    if (mistake)
        return job_error(t->job, "%s", mistake);
    if (t->best_text < 0)
        best->text = TRAIN_MEAN;
    return true;
}

/* ---- the measure where none was named ---- */

static int64_t count_words(const Training *t, const Line *line, Arena *arena)
{
    const char *text = inference_reference(&t->inference, line, arena);
    Text words = {0};
    bleu_tokenize(inference_tokenize(&t->inference), text, strlen(text), &words);
    int64_t n = words.length > 0;
    for (size_t i = 0; i < words.length; i++)
        n += words.data[i] == ' ';
    text_free(&words);
    return n;
}

/* Of the targets that are not empty, in words as BLEU counts them. */
static double median_words(const Training *t)
{
    Arena *arena = arena_new();
    int64_t most = 0, n = 0;
    int first = t->best_text < 0 ? 0 : t->best_text,
        last = t->best_text < 0 ? t->n_valid - 1 : t->best_text;
    for (int i = first; i <= last; i++)
        most += corpus_targets(&t->valid[i].text)->n;
    double *words = ARENA_ARRAY(arena, double, most + 1);
    for (int i = first; i <= last; i++) {
        const Lines *targets = corpus_targets(&t->valid[i].text);
        for (int64_t k = 0; k < targets->n; k++)
            n += (words[n] = (double)count_words(t, &targets->at[k], arena)) > 0;
    }
    double median = n ? (median_sort(words, (size_t)n) + words[(n - 1) / 2]) / 2 : LEAST_WORDS;
    arena_free(arena);
    return median;
}

/* Whether validations compute the figure. */
static bool is_measured(const Training *t, const TrainMeasure *measure)
{
    bool translates = inference_answers(&t->inference);
    return measure->needs == NEEDS_NOTHING ||
           (measure->needs == NEEDS_TRANSLATIONS && translates) ||
           predictor_measures(&t->predictor, (int)(measure - train_measures));
}

static const TrainMeasure *default_measure(Training *t)
{
    if (!is_measured(t, &train_measures[MEASURE_bleu]))
        return &train_measures[MEASURE_loss];
    double median = median_words(t);
    if (median >= LEAST_WORDS)
        return &train_measures[MEASURE_bleu];
    const TrainMeasure *measure = &train_measures[MEASURE_symbol_error_rate];
    diag_remark(
        &t->job->diags, (Loc){0},
        "the median validation target has %g word%s, of which BLEU says little: the best checkpoint is chosen by the "
        "%s (--best %s)",
        median, median == 1 ? "" : "s", measure->title, measure->name);
    return measure;
}

const TrainMeasure *training_recorded_best(const RunRecord *record, const char **by)
{
    *by = run_record_fact(record, FACT);
    const char *colon = *by ? strrchr(*by, ':') : NULL;
    return train_measure_find(colon ? colon + 1 : *by);
}

/* What the run was judged by so far; NULL: nothing was recorded, or it cannot be measured any
 * more. */
static const TrainMeasure *recorded_measure(Training *t)
{
    const char *by;
    const TrainMeasure *measure =
        t->options->record ? training_recorded_best(t->options->record, &by) : NULL;
    return measure && is_measured(t, measure) ? measure : NULL;
}

/* Of the texts that decide: their checksums. */
static uint64_t hash_texts(const RunRecord *record, const char *text)
{
    const char *prefix = text ? "valid" : "valid-"; /* the option of those with a name is --valid */
    uint64_t hash = HASH_SEED;
    for (size_t i = 0; i < record->texts.count; i++)
        if (!strncmp(record->texts.data[i].option, prefix, strlen(prefix)))
            hash = hash_string(hash, record->texts.data[i].sha256);
    return hash;
}

bool training_choose_best(Training *t, RunRecord *record)
{
    const BestOption option = t->best;
    const TrainMeasure *measure = option.measure;
    if (!t->n_valid)
        return true;
    if (measure && !is_measured(t, measure))
        return job_error(
            t->job, "--best %s: this model is validated without %s, which the %s is counted on",
            t->options->best,
            measure->needs == NEEDS_TRANSLATIONS ? "translations" : "such predictions",
            measure->title);
    if (!measure)
        measure = recorded_measure(t);
    if (!measure)
        measure = default_measure(t);
    const char *by = train_best_text(t->job->arena, option.text, measure);
    t->settings.best = (TrainBest){measure, option.text, by, hash_texts(record, option.text)};
    vec_push(t->job->arena, record->facts, ((RunFact){FACT, by}));
    return true;
}

/* ---- judging the log anew ---- */

/* The steps whose checkpoints are in the folder. */
typedef struct Kept {
    const int64_t *steps;
    int n;
    int64_t best; /* that of best.safetensors; 0: there is none that can be read */
} Kept;

static bool has_step(void *user, int64_t step)
{
    const Kept *kept = user;
    for (int i = 0; i < kept->n; i++)
        if (kept->steps[i] == step)
            return true;
    return kept->best == step;
}

/* best.safetensors becomes the checkpoint of that step. */
static bool link_best(Training *t, const char *path, int64_t step)
{
    Arena *arena = t->job->arena;
    const char *from = run_step_path(arena, t->options->out, step);
    return run_link(from, path) || checkpoint_average(&t->job->diags, arena, path, &from, 1,
                                                      t->store, NULL, NULL); /* of one: a copy */
}

/* "step 780 (0.0 %)". */
static const char *step_text(const Training *t, const TrainState *state)
{
    const TrainBest *best = &t->settings.best;
    const char *figure =
        train_measure_text(best->measure, t->job->arena, train_best_figure(best, state));
    return arena_printf(t->job->arena, "step %" PRId64 " (%s)", state->best_step, figure);
}

/* Why validations are judged anew. */
static const char *reason(const Training *t, bool other_texts)
{
    const char *was, *by = t->settings.best.by;
    training_recorded_best(t->options->record, &was);
    if (other_texts)
        return "the texts that it is validated on are others than they were: earlier validations do not count";
    if (!was)
        return arena_printf(
            t->job->arena,
            "the best checkpoint was chosen by an older version, by BLEU at some validations and by the "
            "loss at others, and is chosen by --best %s now",
            by);
    if (!strcmp(was, by))
        return "the best checkpoint is chosen anew";
    return arena_printf(t->job->arena,
                        "the best checkpoint was chosen by --best %s, and is by --best %s now", was,
                        by);
}

/* `all`: the best of all validations; `left`: of those whose params are there. */
static void tell_best(Training *t, const char *why, TrainJudged judged, const TrainState *all,
                      const TrainState *left)
{
    Diagnostics *diags = &t->job->diags;
    Arena *arena = t->job->arena;
    const char *next = "the next validation makes best.safetensors";
    if (left->best_step != all->best_step) {
        const char *best = next;
        if (left->best_step)
            best = arena_printf(arena, "best.safetensors is the best that is left, of %s",
                                step_text(t, left));
        diag_warning(diags, (Loc){0},
                     "%s; of %" PRId64
                     " logged validations the best was %s, whose params are gone: %s",
                     why, judged.validations, step_text(t, all), best);
    } else if (all->best_step)
        diag_remark(diags, (Loc){0}, "%s: of %" PRId64 " logged validations the best is %s", why,
                    judged.validations, step_text(t, all));
    else
        diag_remark(diags, (Loc){0}, "%s; %s", why, next);
    if (judged.lacking)
        diag_warning(diags, (Loc){0},
                     "%" PRId64 " of %" PRId64
                     " validations in log.jsonl have no %s, and do not count",
                     judged.lacking, judged.validations, t->settings.best.measure->field);
}

/* best.safetensors becomes that of the best validation whose params are there; told where something
 * changes, or always. */
static bool judge_log(Training *t, const char *why, bool always)
{
    Arena *arena = t->job->arena;
    const char *folder = t->options->out, *path = file_in(arena, folder, "best.safetensors");
    int64_t *steps, was = t->state.best_step;
    RunLog log;
    if (!runlog_read(&t->job->diags, arena, job_reach(t->job, folder), &log))
        return false;
    int n = run_steps(arena, folder, t->state.step, &steps);
    Kept kept = {steps, n, run_checkpoint_step(t->job, folder, "best.safetensors")};
    TrainState all = t->state, left = t->state;
    TrainJudged judged = train_judge_log(&t->settings.best, &log, NULL, NULL, &all);
    train_judge_log(&t->settings.best, &log, has_step, &kept, &left);
    t->state = left;
    t->state.bad = all.bad;
    if (all.best_step != was || left.best_step != was || judged.lacking || always)
        tell_best(t, why, judged, &all, &left);
    return !left.best_step || left.best_step == kept.best || link_best(t, path, left.best_step);
}

bool training_judge_anew(Training *t)
{
    const RunRecord *record = t->options->record;
    const TrainBest *best = &t->settings.best;
    TrainState *state = &t->state;
    const char *was;
    if (!record || !t->n_valid || t->options->verify)
        return true;
    training_recorded_best(record, &was);
    uint64_t texts = state->judge ? state->judge_texts : hash_texts(record, best->text);
    bool other_texts = texts != best->texts;
    if (state->judge == train_best_hash(best) && !other_texts && was && !strcmp(was, best->by))
        return true;
    if (other_texts)
        state->judge_from = state->step;
    return judge_log(t, reason(t, other_texts), was != NULL);
}
