/* What the folder of a run tells without running its model. */
#include "inspect/study/report.h"

#include "base/file.h"
#include "base/median.h"
#include "driver/train/best.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

void report_detail(Job *job, RunView *view, const char *name, const char *value, bool is_told)
{
    if (value && *value)
        vec_push(job->arena, view->details, ((RunDetail){name, value, is_told}));
}

/* ---- facts ---- */

static const char *median_speed(Job *job, const RunLog *log)
{
    double *speeds = ARENA_ARRAY(job->arena, double, log->count + 1);
    size_t n = 0;
    for (size_t i = 0; i < log->count; i++)
        if (isfinite(log->data[i].tokens_per_second))
            speeds[n++] = log->data[i].tokens_per_second;
    return n ? arena_printf(job->arena, "%.0f target tokens a second (median)",
                            median_sort(speeds, n))
             : NULL;
}

/* What best.safetensors is, and the figure that it was chosen by. */
static void add_best(Job *job, const RunReport *report, RunView *view)
{
    const char *by;
    const TrainMeasure *measure = training_recorded_best(&report->record, &by);
    int64_t step = run_checkpoint_step(job, report->path, "best.safetensors");
    for (size_t i = 0; measure && i < report->log.count; i++) {
        const TrainReport *r = &report->log.data[i];
        double figure = train_measure_figure(measure, &r->figures);
        if (r->step == step && isfinite(figure))
            report_detail(job, view, "best checkpoint",
                          arena_printf(job->arena, "step %" PRId64 ", by %s: %s", step,
                                       measure->title,
                                       train_measure_text(measure, job->arena, figure)),
                          false);
    }
}

static const char *trained_text(Job *job, const TrainReport *last)
{
    Text text = {0};
    text_add(&text, "%" PRId64 " step%s, epoch %" PRId64 ", ", last->step,
             text_plural(last->step, "", "s"), last->epoch);
    text_duration(&text, last->seconds);
    return text_keep(job->arena, &text);
}

static const char *resident_text(Job *job, int64_t memory)
{
    Text text = {0};
    text_bytes(&text, memory);
    text_add(&text, " resident at most");
    return text_keep(job->arena, &text);
}

/* What the log says of the best validations by each figure, and of the end. */
static void add_figures(Job *job, const RunLog *log, RunView *view)
{
    const TrainReport *loss = NULL, *bleu = NULL, *errors = NULL,
                      *last = log->count ? &log->data[log->count - 1] : NULL;
    int64_t memory = 0;
    for (size_t i = 0; i < log->count; i++) {
        const TrainReport *r = &log->data[i];
        const TrainFigures *f = &r->figures;
        loss = isfinite(f->loss) && (!loss || f->loss < loss->figures.loss) ? r : loss;
        bleu = isfinite(f->bleu) && (!bleu || f->bleu > bleu->figures.bleu) ? r : bleu;
        errors = isfinite(f->symbol_error_rate) &&
                         (!errors || f->symbol_error_rate < errors->figures.symbol_error_rate)
                     ? r
                     : errors;
        memory = r->memory > memory ? r->memory : memory;
    }
    if (last)
        report_detail(job, view, "trained", trained_text(job, last), false);
    if (loss)
        report_detail(
            job, view, "least validation loss",
            arena_printf(job->arena, "%.4f at step %" PRId64, loss->figures.loss, loss->step),
            false);
    if (bleu)
        report_detail(
            job, view, "best BLEU",
            arena_printf(job->arena, "%.2f at step %" PRId64, bleu->figures.bleu, bleu->step),
            false);
    if (errors)
        report_detail(job, view, "fewest errors",
                      arena_printf(job->arena,
                                   "%.2f %% of symbols, %.2f %% of lines, at step %" PRId64,
                                   100 * errors->figures.symbol_error_rate,
                                   100 * errors->figures.line_error_rate, errors->step),
                      false);
    report_detail(job, view, "speed", median_speed(job, log), false);
    if (memory)
        report_detail(job, view, "memory", resident_text(job, memory), false);
}

static void add_told(Job *job, const RunReport *report, RunView *view)
{
    static const char *const hidden[] = {"model", "vocabulary", "products", "version", "passes"};
    const RunRecord *record = &report->record;
    Text settings = {0};
    for (size_t i = 0; i < record->settings.count; i++)
        text_add(&settings, "%s%s", i ? ", " : "", record->settings.data[i]);
    report_detail(job, view, "model", record->model, true);
    report_detail(job, view, "settings", text_keep(job->arena, &settings), true);
    for (size_t i = 0; i < record->facts.count; i++) {
        const RunFact *fact = &record->facts.data[i];
        bool is_hidden = false;
        for (size_t h = 0; h < sizeof hidden / sizeof hidden[0]; h++)
            is_hidden = is_hidden || !strcmp(fact->name, hidden[h]);
        if (!is_hidden)
            report_detail(job, view, fact->name, fact->value, true);
    }
    for (size_t i = 0; i < record->texts.count; i++) {
        const RunText *text = &record->texts.data[i];
        report_detail(job, view, text->option,
                      arena_printf(job->arena, "%s, %" PRId64 " line%s", file_name(text->file),
                                   text->lines, text_plural(text->lines, "", "s")),
                      true);
    }
    report_detail(job, view, "processor", record->processor, true);
    report_detail(job, view, "tfc", record->version, true);
}

/* ---- runs beside each other ---- */

static bool is_same_fact(const RunReport *a, const RunReport *b, const char *name)
{
    const char *x = run_record_fact(&a->record, name), *y = run_record_fact(&b->record, name);
    return !x || !y || !strcmp(x, y);
}

/* Whether each validation text of `a` is one of `b`. */
static bool is_validated_alike(const RunReport *a, const RunReport *b)
{
    for (size_t i = 0; i < a->record.texts.count; i++) {
        const RunText *text = &a->record.texts.data[i];
        bool found = strncmp(text->option, "valid", 5) != 0;
        for (size_t k = 0; k < b->record.texts.count; k++)
            found = found || !strcmp(b->record.texts.data[k].sha256, text->sha256);
        if (!found)
            return false;
    }
    return true;
}

const char *report_units(Job *job, const RunReport *first, const RunReport *other)
{
    if (!is_same_fact(first, other, "vocabulary"))
        return arena_printf(
            job->arena,
            "The vocabulary is another than that of %s: losses and shares of wrong symbols, which "
            "are counted in tokens, do not compare.",
            first->path);
    if (!is_validated_alike(first, other) || !is_validated_alike(other, first))
        return arena_printf(
            job->arena,
            "The validation text is another than that of %s: figures of validations do not "
            "compare.",
            first->path);
    return NULL;
}

/* ---- samples ---- */

/* Keeps at most MOST steps of the sample, at equal distances, with the first and the last. */
static void thin_sample(RunSample *sample, int64_t *steps, const char **texts)
{
    enum { MOST = 8 };
    if (sample->n <= MOST)
        return;
    for (size_t i = 0; i < MOST; i++) {
        size_t at = i * (sample->n - 1) / (MOST - 1);
        steps[i] = steps[at];
        texts[i] = texts[at];
    }
    sample->n = MOST;
}

/* What a validation made of a line; NULL: it kept another. */
static const TrainSample *sample_of(const TrainReport *report, int64_t line)
{
    for (int k = 0; k < report->n_samples; k++)
        if (report->samples[k].line == line)
            return &report->samples[k];
    return NULL;
}

/* The lines that the last validation kept, over all validations. */
static void add_samples(Job *job, const RunReport *report, RunView *view)
{
    const RunLog *log = &report->log;
    const TrainReport *last = NULL;
    for (size_t i = 0; i < log->count; i++)
        last = log->data[i].n_samples ? &log->data[i] : last;
    for (int s = 0; last && s < last->n_samples; s++) {
        const TrainSample *kept = &last->samples[s];
        const int64_t line = kept->line;
        VEC(int64_t) steps = {0};
        VEC(const char *) texts = {0};
        for (size_t i = 0; i < log->count; i++) {
            const TrainSample *of = sample_of(&log->data[i], line);
            if (of) {
                vec_push(job->arena, steps, log->data[i].step);
                vec_push(job->arena, texts, of->text);
            }
        }
        RunSample sample = {.line = line + 1,
                            .prompt = kept->prompt,
                            .n = steps.count,
                            .steps = steps.data,
                            .texts = texts.data};
        thin_sample(&sample, steps.data, texts.data);
        const CorpusText *text = &report->text.text;
        if (text->source && line >= 0 && line < text->source->n) {
            sample.source = arena_strndup(job->arena, text->source->at[line].text,
                                          text->source->at[line].length);
            sample.target = text->target ? arena_strndup(job->arena, text->target->at[line].text,
                                                         text->target->at[line].length)
                                         : NULL;
        }
        vec_push(job->arena, view->samples, sample);
    }
}

/* ---- commands ---- */

static void add_command(Job *job, RunView *view, const char *format, const char *path)
{
    vec_push(job->arena, view->commands, arena_printf(job->arena, format, path));
}

static void add_commands(Job *job, const RunReport *report, RunView *view)
{
    Text text = {0};
    for (size_t i = 0; i < report->record.command.count; i++)
        text_add(&text, "%s%s", i ? " " : "",
                 text_shell_word(job->arena, report->record.command.data[i]));
    if (text.length)
        vec_push(job->arena, view->commands, text_keep(job->arena, &text));
    const char *path = text_shell_word(job->arena, report->path);
    bool pairs = report->record.kind == CORPUS_PAIRS;
    add_command(job, view, "tfc train %s --resume", path);
    if (report->is_table) {
        add_command(job, view, "tfc eval %s --data TABLE", path);
        add_command(job, view,
                    report->record.kind == CORPUS_RECORDS ? "tfc predict %s --input TABLE"
                                                          : "tfc translate %s --input TABLE",
                    path);
    } else if (pairs)
        add_command(job, view, "tfc translate %s --input TEXT", path);
    else if (report->record.kind != CORPUS_SENTENCES)
        add_command(job, view, "tfc generate %s --prompt TEXT", path);
    add_command(job, view,
                report->is_table ? "tfc attend %s --input TABLE -o attention.html"
                : pairs          ? "tfc attend %s --source TEXT -o attention.html"
                                 : "tfc attend %s --text TEXT -o attention.html",
                path);
    add_command(job, view, "tfc compile %s -o model.so", path);
}

void report_view(Job *job, const RunReport *report, RunView *view)
{
    const Source *model = NULL;
    const char *path = file_in(job->arena, report->path, "model.tfg");
    if (file_exists(path))
        model = job_read(job, report->path, path, MODEL_MAX_BYTES);
    size_t length = strlen(report->path);
    while (length > 1 && report->path[length - 1] == '/')
        length--;
    view->name = file_name(arena_strndup(job->arena, report->path, length));
    view->model = model ? model->text : "";
    report_curves(job, &report->log, view);
    add_best(job, report, view);
    add_figures(job, &report->log, view);
    add_told(job, report, view);
    add_samples(job, report, view);
    add_commands(job, report, view);
}
