/* What the folder of a run tells without running its model. */
#include "cli/report/report.h"

#include "base/file.h"
#include "base/median.h"
#include "cli/progress.h"
#include "driver/train/best.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

bool report_read(Job *job, const char *path, RunReport *report)
{
    *report = (RunReport){.path = path};
    if (!run_record_read(job, path, &report->record))
        return false;
    report->is_table = run_record_fact(&report->record, "columns") != NULL;
    return runlog_read(&job->diags, job->arena, job_reach(job, path), &report->log);
}

/* ---- texts ---- */

static const RunText *find_text(const RunReport *report, const char *option)
{
    for (size_t i = 0; i < report->record.texts.count; i++)
        if (!strcmp(report->record.texts.data[i].option, option))
            return &report->record.texts.data[i];
    return NULL;
}

const char *report_argument(const RunReport *report, const char *option)
{
    const TextList *arguments = &report->record.arguments;
    for (size_t i = 0; i + 1 < arguments->count; i++)
        if (!strcmp(arguments->data[i], option))
            return arguments->data[i + 1];
    return NULL;
}

TextFiles report_files(Job *job, const RunReport *report, const char *prefix)
{
    TextFiles files = {0};
    const struct {
        const char *name;
        TextList *list;
    } lists[] = {{"source", &files.source},
                 {"target", &files.target},
                 {"data", &files.data},
                 {"text", &files.text}};
    size_t length = strlen(prefix);
    for (size_t i = 0; i < report->record.texts.count; i++) {
        const RunText *text = &report->record.texts.data[i];
        for (size_t k = 0;
             k < sizeof lists / sizeof lists[0] && !strncmp(text->option, prefix, length); k++)
            if (!strcmp(text->option + length, lists[k].name))
                vec_push(job->arena, *lists[k].list, text->file);
    }
    const TextList *arguments = &report->record.arguments;
    for (size_t i = 0; i + 1 < arguments->count; i++)
        if (!strcmp(arguments->data[i], "--column"))
            vec_push(job->arena, files.columns, arguments->data[i + 1]);
    return files;
}

/* Whether files are named and all of them are there; a note tells of one that is not. */
static bool are_there(Job *job, const TextFiles *files, RunView *view)
{
    const TextList paths = text_files_paths(job->arena, files);
    for (size_t i = 0; i < paths.count; i++)
        if (!file_exists(paths.data[i])) {
            vec_push(job->arena, view->notes,
                     arena_printf(job->arena, "%s is not there any more.", paths.data[i]));
            return false;
        }
    return paths.count > 0;
}

/* Lines of the files; *target NULL of a text with one side. */
static Lines *read_files(Job *job, const RunReport *report, const TextFiles *files, int64_t limit,
                         Lines **target)
{
    return text_files_read(job, files, report_argument(report, "--languages"), limit, target);
}

/* The text without a name, else the first of those with one. */
TextFiles report_valid_files(Job *job, const RunReport *report, RunView *view, bool *there)
{
    TextFiles files = report_files(job, report, "valid-");
    const RunText *named = find_text(report, "valid");
    const bool is_data = report->is_table || report->record.kind == CORPUS_PAIRS;
    if (!text_files_given(&files) && named)
        vec_push(job->arena, *(is_data ? &files.data : &files.text), named->file);
    *there = are_there(job, &files, view);
    return files;
}

static bool read_valid(Job *job, RunReport *report, int64_t limit, RunView *view)
{
    bool there;
    const TextFiles files = report_valid_files(job, report, view, &there);
    if (!there)
        return true;
    Lines *target;
    report->text.source = read_files(job, report, &files, limit, &target);
    report->text.target = target;
    return report->text.source != NULL;
}

/* Targets of the training text, unless it is so large that counting its words would take long. */
static bool read_train(Job *job, RunReport *report, int64_t limit, RunView *view)
{
    enum { MOST_BYTES = 300000000 };
    TextFiles files = report_files(job, report, "");
    int64_t bytes = 0;
    if (files.target.count)
        files = (TextFiles){.text = files.target};
    for (size_t i = 0; i < report->record.texts.count; i++)
        if (!strcmp(report->record.texts.data[i].option, files.text.count ? "target" : "data"))
            bytes += report->record.texts.data[i].bytes;
    if (report->record.kind != CORPUS_PAIRS || !are_there(job, &files, view))
        return true;
    if (bytes > MOST_BYTES) {
        vec_push(job->arena, view->notes,
                 "Rare words are not counted: the training text is large.");
        return true;
    }
    Lines *target, *first = read_files(job, report, &files, limit, &target);
    report->text.train = target ? target : first;
    return first != NULL;
}

bool report_read_texts(Job *job, RunReport *report, int64_t line_limit, RunView *view)
{
    if (report->is_table)
        return true;
    if (!read_valid(job, report, line_limit, view))
        return false;
    if (!report->text.source)
        vec_push(job->arena, view->notes,
                 "There is no validation text, so nothing is said about single lines.");
    return !report->text.source || read_train(job, report, line_limit, view);
}

static void add_detail(Job *job, RunView *view, const char *name, const char *value, bool is_told)
{
    if (value && *value)
        vec_push(job->arena, view->details, ((RunDetail){name, value, is_told}));
}

/* ---- curves ---- */

typedef double FigureOf(const TrainReport *report, int valid);

static double loss_of(const TrainReport *r, int valid) { return r->loss; }
/* Of what tells the best, or of one text. */
enum { TELLING = -1 };
static TrainFigures figures_of(const TrainReport *r, int valid)
{
    return valid == TELLING     ? r->figures
           : valid < r->n_valid ? r->valid[valid].figures
                                : train_no_figures();
}
static double valid_loss_of(const TrainReport *r, int valid) { return figures_of(r, valid).loss; }
static double bleu_of(const TrainReport *r, int valid) { return figures_of(r, valid).bleu; }
static double lines_of(const TrainReport *r, int valid)
{
    return 100 * figures_of(r, valid).line_error_rate;
}
static double symbols_of(const TrainReport *r, int valid)
{
    return 100 * figures_of(r, valid).symbol_error_rate;
}
static double rate_of(const TrainReport *r, int valid) { return r->rate; }
static double norm_of(const TrainReport *r, int valid) { return r->gradient_norm; }
static double speed_of(const TrainReport *r, int valid) { return r->tokens_per_second; }
static double memory_of(const TrainReport *r, int valid)
{
    return r->memory ? (double)r->memory : NAN;
}
/* Of the measure of that number. */
static double predicted_of(const TrainReport *r, int measure)
{
    return 100 * train_measure_figure(&train_measures[measure], &r->figures);
}

/* Reports: lines of a log, in order. */
typedef struct Reports {
    const TrainReport **data;
    size_t n;
} Reports;

static Reports list_reports(Job *job, const RunLog *log)
{
    Reports reports = {ARENA_ARRAY(job->arena, const TrainReport *, log->count + 1), log->count};
    for (size_t i = 0; i < log->count; i++)
        reports.data[i] = &log->data[i];
    return reports;
}

/* A series has points where there is a figure: a log may have a validation of many names, and many
 * lines without one. */
static void add_series(Job *job, const Reports *reports, RunPlot plot, const char *name,
                       bool marked, FigureOf *figure, int valid, RunView *view)
{
    size_t n = 0;
    for (size_t i = 0; i < reports->n; i++)
        n += isfinite(figure(reports->data[i], valid)) != 0;
    if (n == 0)
        return;
    double *steps = ARENA_ARRAY(job->arena, double, n),
           *minutes = ARENA_ARRAY(job->arena, double, n),
           *values = ARENA_ARRAY(job->arena, double, n);
    n = 0;
    for (size_t i = 0; i < reports->n; i++) {
        const TrainReport *report = reports->data[i];
        const double value = figure(report, valid);
        if (!isfinite(value))
            continue;
        steps[n] = (double)report->step;
        minutes[n] = report->seconds / 60;
        values[n++] = value;
    }
    vec_push(job->arena, view->series,
             ((RunSeries){plot, name, marked, steps, minutes, values, n}));
}

/* The measures of predictions, of what tells the best; its greatest value is a detail. */
static void add_predictions(Job *job, const Reports *reports, RunView *view)
{
    for (int m = 0; m < TRAIN_MEASURES; m++) {
        const TrainMeasure *measure = &train_measures[m];
        const TrainReport *best = NULL;
        for (size_t i = 0; i < reports->n && measure->needs == NEEDS_PREDICTIONS; i++) {
            const TrainReport *report = reports->data[i];
            const double value = predicted_of(report, m);
            if (isfinite(value) && (!best || value > predicted_of(best, m)))
                best = report;
        }
        if (!best)
            continue;
        const double figure = train_measure_figure(measure, &best->figures);
        add_series(job, reports, RUN_PLOT_predictions, measure->title, true, predicted_of, m, view);
        add_detail(job, view, arena_printf(job->arena, "highest %s", measure->title),
                   arena_printf(job->arena, "%s at step %" PRId64,
                                train_measure_text(measure, job->arena, figure), best->step),
                   false);
    }
}

/* Those of the reports, in their place, that have a validation of this number. */
static void keep_validated(Reports *reports, int valid)
{
    size_t n = 0;
    for (size_t i = 0; i < reports->n; i++)
        if (reports->data[i]->n_valid > valid)
            reports->data[n++] = reports->data[i];
    reports->n = n;
}

/* Validation texts with names, as the last validation has them. */
static void add_named(Job *job, const RunLog *log, RunView *view)
{
    Reports reports = list_reports(job, log);
    keep_validated(&reports, 0);
    const TrainReport *last = reports.n ? reports.data[reports.n - 1] : NULL;
    for (int v = 0; last && v < last->n_valid; v++) {
        const char *name = last->valid[v].name;
        keep_validated(&reports, v);
        add_series(job, &reports, RUN_PLOT_loss, name, true, valid_loss_of, v, view);
        add_series(job, &reports, RUN_PLOT_bleu, name, true, bleu_of, v, view);
        add_series(job, &reports, RUN_PLOT_errors, arena_printf(job->arena, "%s, lines", name),
                   true, lines_of, v, view);
        add_series(job, &reports, RUN_PLOT_errors, arena_printf(job->arena, "%s, symbols", name),
                   true, symbols_of, v, view);
    }
}

static void add_curves(Job *job, const RunLog *log, RunView *view)
{
    const Reports all = list_reports(job, log);
    add_series(job, &all, RUN_PLOT_loss, "training", false, loss_of, 0, view);
    add_series(job, &all, RUN_PLOT_loss, "validation", true, valid_loss_of, TELLING, view);
    add_series(job, &all, RUN_PLOT_bleu, NULL, true, bleu_of, TELLING, view);
    add_series(job, &all, RUN_PLOT_errors, "lines", true, lines_of, TELLING, view);
    add_series(job, &all, RUN_PLOT_errors, "symbols", true, symbols_of, TELLING, view);
    add_named(job, log, view);
    add_predictions(job, &all, view);
    add_series(job, &all, RUN_PLOT_rate, NULL, false, rate_of, 0, view);
    add_series(job, &all, RUN_PLOT_gradient, NULL, false, norm_of, 0, view);
    add_series(job, &all, RUN_PLOT_speed, NULL, false, speed_of, 0, view);
    add_series(job, &all, RUN_PLOT_memory, NULL, false, memory_of, 0, view);
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
            add_detail(job, view, "best checkpoint",
                       arena_printf(job->arena, "step %" PRId64 ", by %s: %s", step, measure->title,
                                    train_measure_text(measure, job->arena, figure)),
                       false);
    }
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
        add_detail(job, view, "trained",
                   arena_printf(job->arena, "%" PRId64 " step%s, epoch %" PRId64 ", %s", last->step,
                                text_plural(last->step, "", "s"), last->epoch,
                                duration_text(last->seconds)),
                   false);
    if (loss)
        add_detail(
            job, view, "least validation loss",
            arena_printf(job->arena, "%.4f at step %" PRId64, loss->figures.loss, loss->step),
            false);
    if (bleu)
        add_detail(
            job, view, "best BLEU",
            arena_printf(job->arena, "%.2f at step %" PRId64, bleu->figures.bleu, bleu->step),
            false);
    if (errors)
        add_detail(job, view, "fewest errors",
                   arena_printf(job->arena,
                                "%.2f %% of symbols, %.2f %% of lines, at step %" PRId64,
                                100 * errors->figures.symbol_error_rate,
                                100 * errors->figures.line_error_rate, errors->step),
                   false);
    add_detail(job, view, "speed", median_speed(job, log), false);
    if (memory)
        add_detail(job, view, "memory",
                   arena_printf(job->arena, "%s resident at most", bytes_text(memory)), false);
}

static void add_told(Job *job, const RunReport *report, RunView *view)
{
    static const char *const hidden[] = {"model", "vocabulary", "products", "version", "passes"};
    const RunRecord *record = &report->record;
    Text settings = {0};
    for (size_t i = 0; i < record->settings.count; i++)
        text_add(&settings, "%s%s", i ? ", " : "", record->settings.data[i]);
    add_detail(job, view, "model", record->model, true);
    add_detail(job, view, "settings", arena_strdup(job->arena, settings.data ? settings.data : ""),
               true);
    text_free(&settings);
    for (size_t i = 0; i < record->facts.count; i++) {
        const RunFact *fact = &record->facts.data[i];
        bool is_hidden = false;
        for (size_t h = 0; h < sizeof hidden / sizeof hidden[0]; h++)
            is_hidden = is_hidden || !strcmp(fact->name, hidden[h]);
        if (!is_hidden)
            add_detail(job, view, fact->name, fact->value, true);
    }
    for (size_t i = 0; i < record->texts.count; i++) {
        const RunText *text = &record->texts.data[i];
        add_detail(job, view, text->option,
                   arena_printf(job->arena, "%s, %" PRId64 " line%s", file_name(text->file),
                                text->lines, text_plural(text->lines, "", "s")),
                   true);
    }
    add_detail(job, view, "processor", record->processor, true);
    add_detail(job, view, "tfc", record->version, true);
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

/* At most so many steps, at equal distances, the first and the last among them. */
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
        const StudyText *text = &report->text;
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
        vec_push(job->arena, view->commands, arena_strdup(job->arena, text.data));
    text_free(&text);
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
    add_curves(job, &report->log, view);
    add_best(job, report, view);
    add_figures(job, &report->log, view);
    add_told(job, report, view);
    add_samples(job, report, view);
    add_commands(job, report, view);
}
