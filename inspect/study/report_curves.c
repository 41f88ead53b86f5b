/* The curves of a run, from its log. */
#include "inspect/study/report.h"

#include <inttypes.h>
#include <math.h>

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
        report_detail(job, view, arena_printf(job->arena, "highest %s", measure->title),
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

void report_curves(Job *job, const RunLog *log, RunView *view)
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
